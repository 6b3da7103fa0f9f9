import { addressOf, readAddress } from "./address.js";
import { counted, fill, html } from "./dom.js";
import { graphView } from "./graph_view.js";
import { listView } from "./list_view.js";
import { border } from "./panels.js";
import { readsView } from "./reads_view.js";
import { textView } from "./text_view.js";
import { followTheme } from "./theme.js";

// The explorer: its parts, what they show together, and the keyboard.

const KEYS = [
  ["/", "search; arrows and Enter choose what is found"],
  ["↑ ↓", "to the first operand, to the first user"],
  ["← →", "to the instruction before or behind"],
  ["Enter", "into what an instruction calls"],
  ["u", "up to what calls this computation"],
  ["e", "to the elements of the result; arrows move there"],
  ["Escape", "let the element go, close this help"],
  ["Tab Enter", "to a group of the graph; open or close it"],
  ["?", "this help"],
];

/**
 * Build the explorer in an element.
 * @param {HTMLElement} root
 * @param {object} data what Python says of the program
 * @param {Function[]} functions the code of its maps
 * @param {{isPage: boolean}} options whether the address and the keyboard are its own
 */
export function explorer(root, data, functions, { isPage }) {
  const state = { view: 0, instruction: 0, output: 0, element: null, pinned: null };
  const change = (changes) => {
    Object.assign(state, changes);
    for (const part of [parts.list, parts.text, parts.reads]) part.show(state);
    showGraph();
    if (isPage) writeAddress(data, state);
  };
  const select = (instruction) => change(selected(data, instruction));
  const open = (view) => change(opened(data, view));
  const onElement = (element, isPinned) => {
    if (isPinned) change({ element, pinned: element });
    else hover(element);
  };
  const showGraph = behindAFrame(() => parts.graph.show(state));
  const hover = atMostOnceAFrame((element) => {
    state.element = element ?? state.pinned;
    parts.reads.show(state);
  });
  const onFound = ({ view, instruction }) =>
    instruction === null ? open(view) : select(instruction);
  const parts = {
    list: listView(data, { onFound }),
    graph: graphView(data, { onSelect: select, onOpen: open }),
    reads: readsView(data, functions, {
      onElement,
      onOpen: open,
      onSelect: select,
      onOutput: (output) => change({ output, element: null, pinned: null }),
    }),
    text: textView(data, { onSelect: select }),
  };
  const help = helpOf();
  root.classList.add("explorer");
  fill(root, headerOf(data, help), ...layoutOf(root, parts), help);
  listenToKeys(isPage ? document : root, { data, state, parts, help, select, open, change });
  redrawOnChange(root, parts);
  whenSized(root, () => change(isPage && location.hash ? fromAddress(data) : atFirst(data)));
  if (isPage) followAddress(data, state, change);
}

function headerOf({ module, file, instructions }, help) {
  const what = counted(instructions.length, "instruction");
  const button = html("button", { onclick: () => help.showModal(), title: "keys" }, "?");
  button.setAttribute("aria-label", "help");
  return html(
    "header",
    {},
    html("h1", {}, module || "fusion"),
    html("span", { class: "note" }, [file.split("/").at(-1), what].filter(Boolean).join(" · ")),
    button,
  );
}

function layoutOf(root, { list, graph, reads, text }) {
  return [
    list.node,
    border(root, list.node, "list"),
    html("main", {}, graph.node, border(root, graph.node, "graph"), reads.node),
    border(root, text.node, "text"),
    text.node,
  ];
}

function helpOf() {
  const rows = KEYS.map(([key, meaning]) =>
    html("tr", {}, html("th", { scope: "row" }, html("kbd", {}, key)), html("td", {}, meaning)),
  );
  const close = html("button", { onclick: () => dialog.close() }, "close");
  const dialog = html(
    "dialog",
    { "aria-label": "keys" },
    html("h2", {}, "Keys"),
    html("table", {}, html("tbody", {}, ...rows)),
    html("p", {}, "Blue: the result, and what is written. Orange: what it reads; dark, if several times."),
    close,
  );
  return dialog;
}

// What is shown.

/** The state in which an instruction is chosen. */
function selected({ instructions }, instruction) {
  const { view } = instructions[instruction];
  return { view, instruction, output: 0, element: null, pinned: null };
}

/** The state at the beginning: the first element of the kernel that moves most, or of the root. */
function atFirst(data) {
  const [kernel] = data.kernels;
  const state = kernel ? selected(data, kernel.instruction) : opened(data, 0);
  const sizes = data.instructions[state.instruction].arrays[0];
  const element = sizes?.every((size) => size > 0) ? sizes.map(() => 0) : null;
  return { ...state, element, pinned: element };
}

/** The state in which a computation is looked at: at its root. */
function opened(data, view) {
  return { ...selected(data, data.views[view].roots[0]), view };
}

function addressNow(data, { view, instruction, output, pinned }) {
  const [seen, chosen] = [data.views[view].name, data.instructions[instruction].name];
  return addressOf({ view: seen, instruction: chosen, output, element: pinned });
}

/** Another instruction is a step that the back button undoes; another element is none. */
function writeAddress(data, state) {
  const [address, before] = [addressNow(data, state), readAddress(location.hash)];
  const { view, instruction } = readAddress(address);
  const isStep = before.view !== null && (before.view !== view || before.instruction !== instruction);
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

/** The state that the address means; where it means nothing, the first view. */
function fromAddress(data) {
  const wanted = readAddress(location.hash);
  const view = Math.max(0, data.views.findIndex(({ name }) => name === wanted.view));
  const { members, outside } = data.views[view];
  const isWanted = (each) => data.instructions[each].name === wanted.instruction;
  const instruction = [...members, ...outside].find(isWanted);
  if (instruction === undefined) return opened(data, view);
  const sizes = data.instructions[instruction].arrays[wanted.output];
  if (sizes === undefined) return { ...selected(data, instruction), view };
  const isInside =
    sizes !== null &&
    wanted.element?.length === sizes.length &&
    wanted.element.every((each, axis) => each < sizes[axis]);
  const element = isInside ? wanted.element : null;
  return { view, instruction, output: wanted.output, element, pinned: element };
}

/** Show what the address means when it is another one, as behind the back button. */
function followAddress(data, state, change) {
  globalThis.addEventListener("hashchange", () => {
    if (location.hash !== addressNow(data, state)) change(fromAddress(data));
  });
}

// The keyboard, and what else comes from outside.

function listenToKeys(target, { data, state, parts, help, select, open, change }) {
  const actions = {
    "/": () => parts.list.focus(),
    "?": () => help.showModal(),
    ArrowUp: () => step(data.instructions[state.instruction].operands[0]),
    ArrowDown: () => step(firstUser(data, state)),
    ArrowLeft: () => step(neighbour(data, state, -1)),
    ArrowRight: () => step(neighbour(data, state, 1)),
    Enter: () => data.instructions[state.instruction].calls.slice(0, 1).forEach(open),
    u: () => step(data.instructions.findIndex(({ calls }) => calls.includes(state.view))),
    e: () => parts.reads.node.querySelector("canvas.active")?.focus(),
    Escape: () => change({ element: null, pinned: null }),
  };
  const step = (instruction) => {
    if (instruction !== undefined && instruction >= 0) select(instruction);
  };
  target.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    const isForUs = action && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isForUs || help.open || isForOthers(event)) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });
}

/** Whether a key means something where it was pressed. */
function isForOthers({ target, key }) {
  const name = target.closest?.("input, select, button, .text")?.tagName;
  if (name === undefined) return false;
  if (name === "SECTION") return key.startsWith("Arrow");
  return name === "INPUT" || name === "SELECT" || key === "Enter";
}

function firstUser({ instructions, views }, { view, instruction }) {
  return views[view].members.find((each) => instructions[each].operands.includes(instruction));
}

function neighbour({ views }, { view, instruction }, step) {
  const { members } = views[view];
  return members[members.indexOf(instruction) + step];
}

/** Draw again when there is another size, or another theme. */
function redrawOnChange(root, { text, reads }) {
  new ResizeObserver(() => text.redraw()).observe(root);
  followTheme(root, reads.redraw);
}

/** Begin when an element has a size: a notebook attaches it later. */
function whenSized(root, begin) {
  const observer = new ResizeObserver(() => {
    if (!root.clientWidth) return;
    observer.disconnect();
    begin();
  });
  observer.observe(root);
}

/** A function that is called when all else is on the screen: the graph takes longest to draw. */
function behindAFrame(action) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() =>
      setTimeout(() => {
        isAsked = false;
        action();
      }),
    );
  };
}

/** A function that is called with the last argument of a frame. */
function atMostOnceAFrame(action) {
  const waiting = { isAsked: false, argument: null };
  return (argument) => {
    waiting.argument = argument;
    if (waiting.isAsked) return;
    waiting.isAsked = true;
    requestAnimationFrame(() => {
      waiting.isAsked = false;
      action(waiting.argument);
    });
  };
}
