import { arrayView, isDrawable, noArrayView } from "./array_view.js";
import { fill, grouped, html, withoutMiddle } from "./dom.js";
import { inWords, MAX_VISITS, readsOf } from "./evaluation.js";

// What one element of an instruction's result reads: the result, and each array that is read.

/** Runs of elements that are listed below an array. */
const MAX_RUNS = 12;

/** Elements that are listed: joining more to boxes takes longer than a mouse rests. */
const MAX_LISTED = 20000;

/** Characters of a shape: tuples have hundreds of arrays. */
const MAX_SHAPE = 80;

/** Which of the two answers of Python is shown, and the words for it. */
const TARGETS = { parameters: "parameters", operands: "operands" };

/**
 * The panel below the graph.
 * @param {object} data what Python says of the program
 * @param {Function[]} functions the code of its maps
 * @param {{onElement: Function, onOutput: Function, onOpen: Function}} listeners
 */
export function readsView(data, functions, listeners) {
  const node = html("section", { class: "reads", "aria-label": "what an element reads" });
  const parts = { target: "parameters", panel: null, key: "" };
  const show = (state) => {
    const key = `${state.instruction} ${state.output}`;
    if (key !== parts.key) {
      parts.key = key;
      build(state);
    }
    parts.panel?.light(state.element);
  };
  const build = (state) => {
    const onTarget = (target) => {
      parts.target = target;
      build(state);
      parts.panel.light(parts.element);
    };
    parts.panel = panelOf(data, functions, state, { ...listeners, onTarget }, parts.target);
    const { light } = parts.panel;
    parts.panel.light = (element) => {
      parts.element = element;
      light(element);
    };
    fill(node, ...parts.panel.nodes);
  };
  const redraw = () => parts.panel?.redraw();
  return { node, show, redraw };
}

function panelOf(data, functions, state, listeners, wanted) {
  const instruction = data.instructions[state.instruction];
  const result = instruction.results[state.output];
  const target = result?.parameters ? wanted : "operands";
  const reads = result?.[target] ?? [];
  const own = ownView(instruction, state, listeners);
  const others = reads.map((read) => readView(data, functions, read, instruction.arrays[state.output], listeners));
  const hint = hintOf(result, reads, own.isDrawn);
  const place = html("p", { class: "place", "aria-live": "polite" });
  const light = (element) => {
    const at = own.isDrawn ? element : null;
    own.view.show(new Map(), at);
    fill(place, at && reads.length ? `element (${at.join(", ")})` : hint);
    for (const other of others) other.light(at);
  };
  const targets = result?.parameters ? targetChoice(target, listeners.onTarget) : null;
  const head = headOf(data, instruction, state, listeners);
  const read = html("div", { class: "others" }, ...others.map(({ node }) => node));
  const figures = html("div", { class: "figures" }, own.node, read);
  const redraw = () => [own.view, ...others.map(({ view }) => view)].map((each) => each.redraw());
  const nodes = [head, targets, place, figures];
  return { nodes: nodes.filter(Boolean), light, redraw };
}

function hintOf(result, reads, isDrawn) {
  if (result?.error) return result.error;
  if (!reads.length) return "It reads nothing.";
  if (!isDrawn) return "";
  return "Point at an element of the result to see what it reads; a click keeps it.";
}

function headOf(data, instruction, state, { onOutput, onOpen }) {
  const outputs = instruction.arrays.map((_, number) =>
    html("option", { value: number, selected: number === state.output }, `result ${number}`),
  );
  const choice = html(
    "select",
    { "aria-label": "result", onchange: (event) => onOutput(Number(event.target.value)) },
    ...outputs,
  );
  const calls = instruction.calls.map((view) =>
    html("button", { onclick: () => onOpen(view) }, `open ${data.views[view].name}`),
  );
  return html(
    "h2",
    {},
    html("code", {}, `%${instruction.name}`),
    ` ${instruction.opcode} `,
    html("code", { title: instruction.shape }, withoutMiddle(instruction.shape, MAX_SHAPE)),
    instruction.source === null ? null : html("small", {}, data.sources[instruction.source]),
    outputs.length > 1 ? choice : null,
    ...calls,
    instruction.note ? html("pre", { class: "advice" }, instruction.note) : null,
  );
}

function targetChoice(target, onTarget) {
  const buttons = Object.entries(TARGETS).map(([key, words]) =>
    html("button", { "aria-pressed": String(key === target), onclick: () => onTarget(key) }, words),
  );
  const label = html("span", { class: "note" }, "what it reads of its");
  return html("div", { class: "targets", role: "group", "aria-label": "what is shown" }, label, ...buttons);
}

/** The array of the result, at whose elements people point. */
function ownView(instruction, state, { onElement }) {
  const sizes = instruction.arrays[state.output];
  const isDrawn = isDrawable(sizes);
  const view = isDrawn
    ? arrayView(`result of ${instruction.name}, ${sizeWords(sizes)}`, sizes, {
        onHover: (element) => onElement(element, false),
        onPin: (element) => onElement(element, true),
      })
    : noArrayView(reasonOf(sizes));
  const caption = html("figcaption", {}, html("b", {}, "result"), ` ${sizeWords(sizes)}`);
  return { view, isDrawn, node: html("figure", { class: "own" }, caption, view.node) };
}

function reasonOf(sizes) {
  return sizes ? "It has no elements." : "It is no array of a known size.";
}

function sizeWords(sizes) {
  return sizes ? `[${sizes.join(", ")}]` : "";
}

/** One array that is read, with the formulas. */
function readView(data, functions, read, own, { onSelect }) {
  const { name, arrays } = data.instructions[read.of];
  const sizes = arrays[read.array];
  const isDrawn = isDrawable(sizes) && !read.unknown;
  const why = read.unknown ? `unknown: ${read.unknown}` : reasonOf(sizes);
  const view = isDrawn ? arrayView(`${name}, ${sizeWords(sizes)}`, sizes) : noArrayView(why);
  const indexings = (read.indexings ?? []).map((number) => data.indexings[number]);
  const said = html("p", { class: "elements" });
  const title = html("button", { class: "name", onclick: () => onSelect(read.of) }, `%${name}`);
  const part = arrays.length > 1 ? `, result ${read.array}` : "";
  const caption = html("figcaption", {}, title, `${part} ${sizeWords(sizes)}`);
  const node = html(
    "figure",
    { "data-name": name },
    caption,
    formulaList(indexings, own),
    view.node,
    said,
  );
  const light = (element) => {
    const found = element && isDrawn ? readsOf(indexings, functions, element) : null;
    view.show(found ? found.reads : new Map(), null);
    fill(said, ...(found ? [wordsOf(found)] : []));
  };
  return { node, view, light };
}

function formulaList(indexings, sizes) {
  const items = indexings.map((indexing) => {
    const conditions = domainOf(indexing, sizes);
    const notes = indexing.notes ?? [];
    return html(
      "li",
      { title: indexing.map },
      html("code", {}, indexing.formula),
      conditions ? html("small", {}, conditions) : null,
      ...notes.map((note) => html("small", {}, note)),
    );
  });
  return html("ul", { class: "formulas" }, ...items);
}

/** The domain in short: bounds of dimensions only where they are not those of the result. */
function domainOf({ dims, where }, sizes) {
  const isWhole = ([lower, upper], axis) => lower === 0 && upper === sizes?.[axis] - 1;
  const narrow = dims.flatMap((bounds, axis) =>
    isWhole(bounds, axis) ? [] : [`d${axis} in [${bounds.map((each) => each ?? "inf").join(", ")}]`],
  );
  return [...narrow, ...(where ?? [])].join(", ");
}

/** What is read, as a sentence. */
function wordsOf({ reads, visits, isCut, mayRead, refused }) {
  if (refused.length && !reads.size) return `A map is not evaluated: ${refused.join("; ")}.`;
  const verb = mayRead ? "may read" : "reads";
  const count = `${grouped(reads.size)} element${reads.size === 1 ? "" : "s"}`;
  const times = visits > reads.size && !mayRead ? ` in ${grouped(visits)} reads` : "";
  const listed = reads.size <= MAX_LISTED ? [...reads.values()].map(({ index }) => index) : [];
  const where = inWords(listed, MAX_RUNS).join(" ");
  const notes = refused.map((reason) => ` A map is not evaluated: ${reason}.`);
  if (isCut) notes.push(` Only the first ${grouped(MAX_VISITS)} reads are shown.`);
  return `${verb} ${count}${times}${where ? `: ${where}` : ""}${notes.length ? "." : ""}${notes.join("")}`;
}
