import { fill, html, svg, withoutMiddle } from "./dom.js";
import { drawn, laidOut, MAX_NAME } from "./graph_layout.js";

// The graph of a computation: boxes for instructions, operands above what reads them.

/** How small and large a graph may become, by which step; and how small to fit by itself. */
const ZOOM = { least: 0.1, most: 2, step: 1.25, readable: 0.6 };

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
  const shown = { view: null, members: [], boxes: new Map(), nodes: new Map(), edges: [], zoom: 1 };
  const redraw = (state) => {
    const { members, outside } = data.views[state.view];
    shown.view = state.view;
    shown.members = drawn(data.instructions, [...members, ...outside], state.instruction);
    const all = members.length + outside.length;
    const isPart = shown.members.length < all;
    const part = `${shown.members.length} of ${all} instructions, near the chosen one: more are hard to read`;
    fill(note, isPart ? part : "");
    fill(canvas, drawing(data, shown, state, listeners));
    shown.zoom = Math.max(ZOOM.readable, Math.min(1, canvas.clientWidth / shown.width));
    zoom(1);
  };
  const fit = () => {
    const room = [canvas.clientWidth / shown.width, canvas.clientHeight / shown.height];
    shown.zoom = Math.min(1, ...room);
    zoom(1);
  };
  const zoom = (factor) => {
    shown.zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, shown.zoom * factor));
    const graph = canvas.firstElementChild;
    graph.setAttribute("width", shown.width * shown.zoom);
    graph.setAttribute("height", shown.height * shown.zoom);
  };
  const show = (state) => {
    if (shown.view !== state.view || !shown.nodes.has(state.instruction)) redraw(state);
    mark(shown, state.instruction);
    reveal(canvas, shown, state.instruction);
  };
  letDrag(canvas);
  const node = html(
    "section",
    { class: "graph", "aria-label": "graph" },
    html("div", { class: "tools" }, ...legendOfGraph(), note, zoomButtons(zoom, fit)),
    canvas,
  );
  return { node, show };
}

function zoomButtons(zoom, fit) {
  const button = (label, text, onclick) =>
    html("button", { "aria-label": label, title: label, onclick }, text);
  return html(
    "span",
    { class: "zoom" },
    button("all of it", "fit", fit),
    button("smaller", "−", () => zoom(1 / ZOOM.step)),
    button("larger", "+", () => zoom(ZOOM.step)),
  );
}

/** What the colors of boxes and lines mean. */
function legendOfGraph() {
  const meanings = { input: "parameter", constant: "constant", call: "calls a graph" };
  const boxes = Object.entries(meanings).map(([kind, words]) =>
    html("span", { class: "note" }, html("span", { class: `swatch ${kind}` }), words),
  );
  const lines = { read: "it reads", used: "reads it" };
  const edges = Object.entries(lines).map(([kind, words]) =>
    html("span", { class: "note" }, html("span", { class: `swatch stroke ${kind}` }), words),
  );
  return [...boxes, ...edges];
}

function titleOf({ name, shape, opcode }) {
  return `%${name} = ${shape} ${opcode}`;
}

/** The two lines of a box. */
function linesOf(instruction) {
  return [
    withoutMiddle(`%${instruction.name}`, MAX_NAME),
    withoutMiddle(`${instruction.opcode} ${instruction.shape}`, MAX_NAME + 6),
  ];
}

function drawing(data, shown, state, listeners) {
  const { width, height, boxes, edges } = laidOut(data.instructions, shown.members, linesOf);
  const roots = new Set(data.views[state.view].roots);
  shown.boxes = boxes;
  shown.nodes = new Map();
  shown.edges = edges.map((edge) => ({ ...edge, node: svg("path", { d: curve(edge.points) }) }));
  for (const [number, box] of boxes) {
    shown.nodes.set(number, boxOf(data.instructions[number], number, box, roots, listeners));
  }
  Object.assign(shown, { width, height });
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "instructions" },
    svg("g", { class: "edges" }, ...shown.edges.map(({ node }) => node)),
    svg("g", {}, ...shown.nodes.values()),
  );
}

function boxOf(instruction, number, box, roots, { onSelect, onOpen }) {
  const kind = instruction.calls.length ? "call" : (KINDS[instruction.opcode] ?? "plain");
  const [x, y] = [box.x - box.width / 2, box.y - box.height / 2];
  const [name, what] = linesOf(instruction);
  const open = () => instruction.calls.length && onOpen(instruction.calls[0]);
  return svg(
    "g",
    {
      class: `box ${kind}${roots.has(number) ? " root" : ""}${instruction.note ? " noted" : ""}`,
      transform: `translate(${x} ${y})`,
      role: "button",
      tabindex: -1,
      "aria-label": `${instruction.name}, ${instruction.opcode} ${instruction.shape}`,
      onclick: () => onSelect(number),
      ondblclick: open,
    },
    svg("title", {}, [titleOf(instruction), instruction.note].filter(Boolean).join("\n")),
    svg("rect", { width: box.width, height: box.height, rx: 5 }),
    svg("text", { x: box.width / 2, y: 16 }, name),
    svg("text", { x: box.width / 2, y: 32, class: "what" }, what),
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
function mark(shown, chosen) {
  for (const [number, node] of shown.nodes) {
    const isChosen = number === chosen;
    node.classList.toggle("chosen", isChosen);
    node.setAttribute("aria-pressed", String(isChosen));
  }
  for (const { from, to, node } of shown.edges) {
    node.setAttribute("class", to === chosen ? "read" : from === chosen ? "used" : "");
  }
}

/** Scroll as little as shows the chosen box. */
function reveal(canvas, shown, chosen) {
  const box = shown.boxes.get(chosen);
  if (!box) return;
  const scrolled = (start, size, low, high) =>
    low < start || high > start + size ? (low + high - size) / 2 : start;
  const [left, top] = [box.x - box.width / 2, box.y - box.height / 2].map((v) => v * shown.zoom);
  const [right, bottom] = [box.x + box.width / 2, box.y + box.height / 2].map(
    (v) => v * shown.zoom,
  );
  canvas.scrollTo(
    scrolled(canvas.scrollLeft, canvas.clientWidth, left, right),
    scrolled(canvas.scrollTop, canvas.clientHeight, top, bottom),
  );
}

/** The background is moved with the mouse. */
function letDrag(canvas) {
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && !event.target.closest(".box")) {
      from = { x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop };
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from && event.buttons) canvas.scrollTo(from.x - event.clientX, from.y - event.clientY);
    else from = null;
  });
}
