import { fill, html } from "./dom.js";

// The HLO text. Only the lines on the screen are elements: programs have ten thousands.

const LINE_HEIGHT = 18;

/** Lines above and below the screen, so that scrolling does not show holes. */
const SPARE = 20;

/**
 * The text beside the graph; a click on a line chooses its instruction.
 * @param {object} data what Python says of the program
 * @param {{onSelect: Function}} listeners
 */
export function textView(data, { onSelect }) {
  const rows = html("div", { class: "lines" });
  const sized = html("div", { class: "sized" }, rows);
  sized.style.height = `${data.lines.length * LINE_HEIGHT}px`;
  const node = html("section", { class: "text", "aria-label": "HLO text", tabindex: 0 }, sized);
  const atLine = new Map();
  data.instructions.forEach(({ line }, number) => {
    if (!atLine.has(line)) atLine.set(line, number);
  });
  const shown = { current: -1 };
  const redraw = () => {
    const first = Math.max(0, Math.floor(node.scrollTop / LINE_HEIGHT) - SPARE);
    const count = Math.ceil(node.clientHeight / LINE_HEIGHT) + 2 * SPARE;
    rows.style.transform = `translateY(${first * LINE_HEIGHT}px)`;
    const lines = data.lines.slice(first, first + count);
    fill(rows, ...lines.map((text, each) => lineOf(text, first + each)));
  };
  const lineOf = (text, number) => {
    const instruction = atLine.get(number);
    const choose = instruction === undefined ? null : () => onSelect(instruction);
    return row(text, number, number === shown.current, choose);
  };
  const show = (state) => {
    const line = data.instructions[state.instruction].line;
    if (line !== shown.current) {
      shown.current = line;
      revealLine(node, line);
    }
    redraw();
  };
  node.addEventListener("scroll", redraw);
  return { node, show, redraw };
}

function row(text, number, isCurrent, onclick) {
  const classes = ["line", isCurrent ? "current" : null, onclick ? "link" : null];
  return html(
    "div",
    {
      class: classes.filter(Boolean).join(" "),
      "aria-current": isCurrent ? "true" : null,
      onclick,
    },
    html("span", { class: "number" }, number + 1),
    text,
  );
}

function revealLine(node, line) {
  const top = line * LINE_HEIGHT;
  const isSeen = top >= node.scrollTop && top + LINE_HEIGHT <= node.scrollTop + node.clientHeight;
  if (!isSeen) node.scrollTop = top - node.clientHeight / 3;
}
