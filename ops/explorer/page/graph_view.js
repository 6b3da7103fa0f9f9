import { fill, grouped, html, svg, withoutMiddle } from "./dom.js";
import { askedOf, contentsOf, drawnOf, groupsAround, linesOf, treeOf } from "./graph_groups.js";
import { laidOut, MAX_NAME } from "./graph_layout.js";

// The graph of a computation: boxes for instructions and groups, operands above what reads them.

/** How small and large a graph may become, by which step; and how small to fit by itself. */
const ZOOM = { least: 0.1, most: 2, step: 1.25, readable: 0.75 };

/** What an instruction is, for its color. */
const KINDS = { parameter: "input", constant: "constant", iota: "constant" };

/**
 * The graph and its buttons.
 * @param {object} data what Python says of the program
 * @param {{onSelect: Function, onOpen: Function}} listeners
 */
export function graphView(data, listeners) {
  const canvas = html("div", { class: "canvas" });
  const note = html("p", { class: "note" });
  const legend = html("span", { class: "legend" });
  const known = new Map();
  const shown = { view: null, state: null, drawing: null, zoom: 1 };
  const ofView = (view) => {
    if (!known.has(view)) {
      const tree = treeOf(data, data.views[view]);
      known.set(view, { tree, opened: new Set(), around: new Set() });
    }
    return known.get(view);
  };
  const onToggle = (group) => {
    const { opened, around } = ofView(shown.view);
    const wasOpen = [opened, around].map((each) => each.delete(group));
    if (!wasOpen.includes(true)) opened.add(group);
    redraw();
    shown.drawing.nodes.get(group).focus({ preventScroll: true });
    reveal(canvas, shown, group);
  };
  /** Open the groups around an instruction, and no longer those around another one. */
  const open = (instruction) => {
    const { tree, opened, around } = ofView(shown.view);
    const now = new Set(groupsAround(tree, instruction));
    ofView(shown.view).around = now;
    return [...around].every((each) => now.has(each) || opened.has(each));
  };
  const isDrawn = (number) => !shown.drawing.isHidden(number);
  const choose = () => {
    mark(shown);
    fill(legend, ...legendOfGraph(shown.drawing));
  };
  const redraw = () => {
    const { tree, opened, around } = ofView(shown.view);
    const asked = askedOf(data.instructions, shown.state.instruction);
    const drawn = drawnOf(tree, new Set([...opened, ...around]), asked);
    shown.drawing = drawing(data, drawn, shown.state, { ...listeners, onToggle });
    fill(canvas, shown.drawing.node);
    fill(note, numberOfBoxes(tree, shown.drawing));
    choose();
    zoom(1);
  };
  const fit = () => {
    const { width, height } = shown.drawing;
    return Math.min(1, canvas.clientWidth / width, canvas.clientHeight / height);
  };
  const zoom = (factor) => {
    shown.zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, shown.zoom * factor));
    shown.drawing.node.setAttribute("width", shown.drawing.width * shown.zoom);
    shown.drawing.node.setAttribute("height", shown.drawing.height * shown.zoom);
  };
  const onFit = () => {
    shown.zoom = fit();
    zoom(1);
  };
  const show = (state) => {
    const isOther = shown.view !== state.view;
    const isStep = isOther || shown.state.instruction !== state.instruction;
    Object.assign(shown, { view: state.view, state: { ...state } });
    if (isStep) {
      const asked = [...askedOf(data.instructions, state.instruction)];
      const areLikeBefore = open(state.instruction);
      if (!isOther && areLikeBefore && asked.every(isDrawn)) choose();
      else redraw();
    }
    if (isOther) {
      shown.zoom = Math.max(ZOOM.readable, fit());
      zoom(1);
    }
    if (isStep) reveal(canvas, shown, state.instruction);
  };
  letDrag(canvas);
  const node = html(
    "section",
    { class: "graph", "aria-label": "graph" },
    html("div", { class: "tools" }, legend, note, zoomButtons(zoom, onFit)),
    canvas,
  );
  return { node, show };
}

function numberOfBoxes(tree, { boxes }) {
  const folded = [...boxes.keys()].filter((each) => each.members).length;
  return folded
    ? `${grouped(tree.members.length)} instructions in ${boxes.size} boxes: more fit on no screen`
    : "";
}

function zoomButtons(zoom, onFit) {
  const button = (label, text, onclick) =>
    html("button", { "aria-label": label, title: label, onclick }, text);
  return html(
    "span",
    { class: "zoom" },
    button("all of it", "fit", onFit),
    button("smaller", "−", () => zoom(1 / ZOOM.step)),
    button("larger", "+", () => zoom(ZOOM.step)),
  );
}

/** What the colors of boxes and lines mean that occur. */
const MEANINGS = {
  ".input": "parameter",
  ".constant": "constant",
  ".call": "calls a computation",
  ".group": "folded: click to open",
  ".root": "root",
  ".noted": "advice",
  ".read": "it reads",
  ".used": "reads it",
};

function legendOfGraph({ node }) {
  const drawn = Object.entries(MEANINGS).filter(([kind]) => node.querySelector(kind));
  return drawn.map(([kind, words]) =>
    html("span", { class: "note" }, html("span", { class: `swatch of-graph ${kind.slice(1)}` }), words),
  );
}

function titleOf({ name, shape, opcode }) {
  return `%${name} = ${shape} ${opcode}`;
}

/** The two lines of a box. */
function textOf(data, box) {
  if (box.members) {
    const title = `${grouped(box.members.length)} instructions`;
    return [title, beginningOf(contentsOf(data, box), MAX_NAME + 6)];
  }
  const { name, opcode, shape } = data.instructions[box];
  return [
    withoutMiddle(`%${name}`, MAX_NAME),
    withoutMiddle(`${opcode} ${shape}`, MAX_NAME + 6),
  ];
}

function beginningOf(text, most) {
  return text.length <= most ? text : `${text.slice(0, text.lastIndexOf(",", most - 3))}, …`;
}

/** The picture of what is drawn, and the nodes in it. */
function drawing(data, drawn, { view }, listeners) {
  const { boxOf } = drawn;
  const placed = laidOut(drawn, linesOf(data.instructions, boxOf), (box) => textOf(data, box));
  const { width, height, boxes, frames } = placed;
  const roots = new Set(data.views[view].roots);
  const lines = placed.lines.map((line, each) => ({ ...line, node: lineOf(line, each) }));
  const nodes = new Map();
  for (const [frame, place] of frames) nodes.set(frame, frameOf(data, frame, place, listeners));
  for (const [box, place] of boxes) {
    const draw = box.members ? groupOf : boxOfInstruction;
    nodes.set(box, draw(data, box, place, roots, listeners));
  }
  const node = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "instructions" },
    svg("g", {}, ...[...frames.keys()].map((each) => nodes.get(each))),
    svg("g", { class: "edges" }, ...lines.map((line) => line.node)),
    svg("g", {}, ...[...boxes.keys()].map((each) => nodes.get(each))),
  );
  const isHidden = (number) => boxOf.has(number) && boxOf.get(number) !== number;
  return { node, nodes, lines, boxes, frames, boxOf, width, height, isHidden };
}

function boxOfInstruction(data, number, place, roots, { onSelect, onOpen }) {
  const instruction = data.instructions[number];
  const kind = instruction.calls.length ? "call" : (KINDS[instruction.opcode] ?? "plain");
  const attributes = {
    class: `box ${kind}${roots.has(number) ? " root" : ""}${instruction.note ? " noted" : ""}`,
    tabindex: -1,
    "aria-label": `${instruction.name}, ${instruction.opcode} ${instruction.shape}`,
    onclick: () => onSelect(number),
    ondblclick: () => instruction.calls.length && onOpen(instruction.calls[0]),
  };
  const title = [titleOf(instruction), instruction.note].filter(Boolean).join("\n");
  return boxAt(place, attributes, title, textOf(data, number));
}

function groupOf(data, group, place, roots, { onToggle }) {
  const noted = group.members.some((each) => data.instructions[each].note);
  const contents = contentsOf(data, group);
  const attributes = {
    class: `box group${noted ? " noted" : ""}`,
    "aria-label": `${group.members.length} instructions: ${contents}`,
    "aria-expanded": "false",
    ...opensBy(() => onToggle(group)),
  };
  const names = [group.members[0], group.members.at(-1)].map((each) => data.instructions[each].name);
  return boxAt(place, attributes, `%${names.join(" … %")}\n${contents}`, textOf(data, group));
}

function boxAt({ x, y, width, height }, attributes, title, [first, second]) {
  return svg(
    "g",
    { transform: `translate(${x - width / 2} ${y - height / 2})`, role: "button", ...attributes },
    svg("title", {}, title),
    svg("rect", { width, height, rx: 5 }),
    svg("text", { x: width / 2, y: 16 }, first),
    svg("text", { x: width / 2, y: 32, class: "what" }, second),
  );
}

/** An open group: a frame around its boxes; a click closes it. */
function frameOf(data, group, { x, y, width, height }, { onToggle }) {
  const contents = contentsOf(data, group);
  return svg(
    "g",
    {
      class: "frame",
      transform: `translate(${x - width / 2} ${y - height / 2})`,
      role: "button",
      "aria-label": `${group.members.length} instructions: ${contents}`,
      "aria-expanded": "true",
      ...opensBy(() => onToggle(group)),
    },
    svg("title", {}, `${contents}\na click folds them`),
    svg("rect", { width, height, rx: 5 }),
    svg("text", { x: 6, y: 13 }, `− ${beginningOf(contents, MAX_NAME + 6)}`),
  );
}

/** A click, Enter and the space bar do the same. */
function opensBy(action) {
  const onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  return { tabindex: 0, onclick: action, onkeydown };
}

/** A line, with the number of those that it stands for: at another height than its neighbours'. */
function lineOf({ points, count }, each) {
  const middle = points[Math.floor((points.length * (1 + (each % 3))) / 4)];
  return svg(
    "g",
    {},
    svg("path", { d: curve(points) }),
    count > 1 ? svg("text", { x: middle.x + 4, y: middle.y + 4 }, count) : null,
  );
}

function curve(points) {
  const [first, ...rest] = points;
  const parts = rest.slice(0, -1).map((point, each) => {
    const next = rest[each + 1];
    const isLast = each === rest.length - 2;
    const end = isLast ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${parts.join("")}`;
}

/** Mark the chosen box, and the edges to what it reads and what reads it. */
function mark({ drawing: { nodes, lines, boxOf }, state }) {
  const chosen = boxOf.get(state.instruction);
  for (const [box, node] of nodes) {
    node.classList.toggle("chosen", box === chosen);
    if (!box.members) node.setAttribute("aria-pressed", String(box === chosen));
  }
  for (const { from, to, node } of lines) {
    node.setAttribute("class", to === chosen ? "read" : from === chosen ? "used" : "");
  }
}

/** Scroll as little as shows a box. */
function reveal(canvas, { drawing: { boxes, frames, boxOf }, zoom }, wanted) {
  const box = boxes.get(boxOf.get(wanted) ?? wanted) ?? frames.get(wanted);
  if (!box) return;
  const scrolled = (start, size, low, high) =>
    low < start || high > start + size ? (low + high - size) / 2 : start;
  const [left, top] = [box.x - box.width / 2, box.y - box.height / 2].map((v) => v * zoom);
  const [right, bottom] = [box.x + box.width / 2, box.y + box.height / 2].map((v) => v * zoom);
  canvas.scrollTo(
    scrolled(canvas.scrollLeft, canvas.clientWidth, left, right),
    scrolled(canvas.scrollTop, canvas.clientHeight, top, bottom),
  );
}

/** The background is moved with the mouse. */
function letDrag(canvas) {
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && !event.target.closest(".box, .frame")) {
      from = { x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop };
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from && event.buttons) canvas.scrollTo(from.x - event.clientX, from.y - event.clientY);
    else from = null;
  });
}
