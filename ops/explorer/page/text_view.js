import { fill, html } from "./dom.js";

// The HLO text. Only the lines on the screen are elements: programs have ten thousands. Long lines are
// wrapped after as many characters as fit, so that it is known without an element where each is.

const LINE_HEIGHT = 18;

/** Lines above and below the screen, so that scrolling does not show holes. */
const SPARE = 20;

/** Characters beside the text: the number of the line, and the margin. */
const MARGIN_COLUMNS = 8;

/** Characters that are shown in a row, also where there is no room for them. */
const LEAST_COLUMNS = 20;

/** Characters by which the rows of a line but the first are indented. */
const INDENT = 4;

/**
 * The text beside the graph; a click on a line chooses its instruction.
 * @param {object} data what Python says of the program
 * @param {{onSelect: Function}} listeners
 */
export function textView(data, { onSelect }) {
  const rows = html("div", { class: "lines" });
  const sized = html("div", { class: "sized" }, rows);
  const node = html("section", { class: "text", "aria-label": "HLO text", tabindex: 0 }, sized);
  const atLine = new Map();
  data.instructions.forEach(({ line }, number) => {
    if (!atLine.has(line)) atLine.set(line, number);
  });
  const shown = { current: -1, columns: 0, tops: [] };
  const wrap = () => {
    const columns = columnsOf(node);
    if (columns === shown.columns) return;
    Object.assign(shown, { columns, tops: topsOf(data.lines, columns) });
    node.style.setProperty("--columns", columns);
    sized.style.height = `${shown.tops.at(-1) * LINE_HEIGHT}px`;
  };
  const redraw = () => {
    wrap();
    const { tops } = shown;
    const first = Math.max(0, lineAt(tops, node.scrollTop / LINE_HEIGHT) - SPARE);
    const end = lineAt(tops, (node.scrollTop + node.clientHeight) / LINE_HEIGHT) + SPARE;
    rows.style.transform = `translateY(${tops[first] * LINE_HEIGHT}px)`;
    const lines = data.lines.slice(first, end);
    fill(rows, ...lines.map((text, each) => lineOf(text, first + each)));
  };
  const lineOf = (text, number) => {
    const instruction = atLine.get(number);
    const choose = instruction === undefined ? null : () => onSelect(instruction);
    return row(rowsOf(text, shown.columns), number, number === shown.current, choose);
  };
  const show = (state) => {
    const line = data.instructions[state.instruction].line;
    if (line !== shown.current) {
      shown.current = line;
      wrap();
      revealLine(node, shown.tops[line]);
    }
    redraw();
  };
  node.addEventListener("scroll", redraw);
  return { node, show, redraw };
}

function row(rows, number, isCurrent, onclick) {
  const classes = ["line", isCurrent ? "current" : null, onclick ? "link" : null];
  return html(
    "div",
    {
      class: classes.filter(Boolean).join(" "),
      "aria-current": isCurrent ? "true" : null,
      onclick,
    },
    html("span", { class: "number" }, number + 1),
    html("span", { class: "content" }, ...rows.map((each) => html("span", {}, each || " "))),
  );
}

/** Characters in a row, of the width that a character has here. */
function columnsOf(node) {
  const probe = html("span", { class: "probe" }, "0".repeat(100));
  node.append(probe);
  const width = probe.getBoundingClientRect().width / 100;
  probe.remove();
  if (!width) return LEAST_COLUMNS;
  return Math.max(LEAST_COLUMNS, Math.floor(node.clientWidth / width) - MARGIN_COLUMNS);
}

/** The rows of a line, which end behind a space if there is one in their second half. */
export function rowsOf(line, columns) {
  const rows = [];
  let [start, room] = [0, columns];
  while (line.length - start > room) {
    const space = line.lastIndexOf(" ", start + room);
    const end = space > start + room / 2 ? space + 1 : start + room;
    rows.push(line.slice(start, end));
    [start, room] = [end, Math.max(1, columns - INDENT)];
  }
  return [...rows, line.slice(start)];
}

/** The row at which each line begins, and the number of rows. */
export function topsOf(lines, columns) {
  const tops = [0];
  for (const line of lines) tops.push(tops.at(-1) + rowsOf(line, columns).length);
  return tops;
}

/** The line that has a row. */
export function lineAt(tops, row) {
  let [low, high] = [0, tops.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (tops[middle] <= row) low = middle;
    else high = middle;
  }
  return low;
}

function revealLine(node, row) {
  const top = row * LINE_HEIGHT;
  const isSeen = top >= node.scrollTop && top + LINE_HEIGHT <= node.scrollTop + node.clientHeight;
  if (!isSeen) node.scrollTop = top - node.clientHeight / 3;
}
