import { counted, fill, grouped, html, svg, withoutMiddle } from "./dom.js";
import { entriesOf, MAX_RESULTS, search } from "./search.js";

// Search, and below it what was found; without a question, the kernels and the computations.

/** Characters of a name: three lines of them. */
const MAX_TITLE = 60;

/** Reads of each byte that are not worth a word. */
const LITTLE_REUSE = 1.05;

/** The field for a question. */
const SEARCH_FIELD = {
  type: "search",
  role: "combobox",
  placeholder: "Search (press /)",
  "aria-label": "search computations, instructions, shapes, source lines",
  "aria-controls": "explorer-found",
  "aria-expanded": "true",
  autocomplete: "off",
  spellcheck: "false",
};

/**
 * The list at the side.
 * @param {object} data what Python says of the program
 * @param {{onFound: Function}} listeners called with an entry of the search
 */
export function listView(data, { onFound }) {
  const entries = entriesOf(data);
  const shown = { found: [], items: [], active: -1 };
  const listeners = { oninput: () => find(), onkeydown: (event) => move(event) };
  const input = html("input", { ...SEARCH_FIELD, ...listeners });
  const count = html("p", { class: "note", "aria-live": "polite" });
  const list = html("ul", { id: "explorer-found", role: "listbox", "aria-label": "found" });
  const node = html("nav", { class: "list", "aria-label": "search" }, input, count, list);
  const find = () => {
    const question = input.value.trim();
    const { found, total } = question ? search(entries, question) : summaryOf(data, entries);
    shown.found = found;
    shown.items = found.map((each, number) => itemOf(each, number, () => choose(number)));
    fill(count, question ? numberOfFound(found, total) : "");
    fill(list, ...withHeadings(data, found, shown.items));
    activate(question ? 0 : -1);
  };
  const choose = (number) => {
    if (shown.found[number]) onFound(shown.found[number]);
  };
  const activate = (number) => {
    shown.active = number;
    markActive(input, shown.items, number);
  };
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      activate(Math.min(shown.found.length - 1, Math.max(0, shown.active + step)));
      event.preventDefault();
    } else if (event.key === "Enter") {
      choose(shown.active);
    } else if (event.key === "Escape") {
      input.value = "";
      find();
      input.blur();
    }
  };
  find();
  return { node, show: (state) => markOpen(shown, state), focus: () => input.focus() };
}

/** Without a question: the kernels that move most, and the computations but for those of scalars. */
function summaryOf({ kernels, views, instructions, sources }, entries) {
  const most = Math.max(1, ...kernels.map(({ bytes }) => bytes[0] + bytes[1]));
  const ranked = kernels.slice(0, MAX_RESULTS).map((kernel) => {
    const entry = entries[views.length + kernel.instruction];
    const { source, note } = instructions[kernel.instruction];
    const [read, written] = kernel.bytes.map(inBytes);
    const moved = `${kernel.is_bound ? "up to " : ""}${read} read, ${written} written`;
    const place = source === null ? "" : sources[source];
    return { ...entry, detail: moved, place, kernel, most, note };
  });
  const graphs = entries.slice(0, views.length).filter(({ view }) => !views[view].is_scalar);
  const found = [...ranked, ...graphs.slice(0, MAX_RESULTS)];
  return { found, total: found.length };
}

/** The items, with a line above the kernels and one above the computations. */
function withHeadings({ kernels, views }, found, items) {
  const ranked = found.filter(({ kernel }) => kernel).length;
  const graphs = found.filter(({ kernel, instruction }) => !kernel && instruction === null).length;
  if (ranked + graphs < found.length) return items;
  const left = kernels.length > ranked ? `; search finds those that move less than these ${ranked}` : "";
  const scalars = views.filter((view) => view.is_scalar).length;
  const hidden = scalars ? `; search finds ${grouped(scalars)} more, of single numbers` : "";
  return [
    ranked ? heading(`${counted(kernels.length, "kernel")}, most bytes first${left}`) : null,
    ranked ? legendOfBars(found) : null,
    ...items.slice(0, ranked),
    heading(`${counted(views.length - scalars, "computation")}${hidden}`),
    ...items.slice(ranked),
  ];
}

function heading(text) {
  return html("li", { class: "heading", role: "presentation" }, text);
}

function legendOfBars(found) {
  const isAdvised = found.some(({ kernel, note }) => kernel && note);
  const isAgain = found.some(({ kernel }) => kernel?.reuse > LITTLE_REUSE);
  return html(
    "li",
    { class: "heading", role: "presentation" },
    html("span", { class: "swatch read" }),
    "read ",
    html("span", { class: "swatch written" }),
    "written ",
    isAdvised ? html("span", { class: "advised" }, "!") : null,
    isAdvised ? " advice " : null,
    isAgain ? html("span", { class: "factor" }, "×2") : null,
    isAgain ? " read twice" : null,
  );
}

function numberOfFound(found, total) {
  const more = total > found.length ? `; another word shortens the list to less than ${found.length}` : "";
  return `${grouped(total)} found${more}`;
}

/** Mark the item that Enter chooses. */
function markActive(input, items, active) {
  items.forEach((item, number) => {
    item.setAttribute("aria-selected", String(number === active));
  });
  items[active]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", active < 0 ? "" : `found-${active}`);
}

/** Mark the items of the computation and the instruction that are looked at. */
function markOpen({ items, found }, state) {
  items.forEach((item, number) => {
    const { view, instruction } = found[number];
    const isView = instruction === null && view === state.view;
    item.classList.toggle("open", isView || instruction === state.instruction);
  });
}

function itemOf(found, number, onclick) {
  return html(
    "li",
    { id: `found-${number}`, role: "option", "aria-selected": "false", onclick },
    html("span", { class: "title", title: found.title }, withoutMiddle(found.title, MAX_TITLE)),
    html("span", { class: "kind" }, found.kernel ? movedBy(found) : found.kind),
    found.kernel ? barOf(found) : null,
    html("span", { class: "detail" }, found.detail),
    found.place ? html("span", { class: "detail", title: found.place }, found.place) : null,
  );
}

/** A number of bytes in three digits. */
function inBytes(count) {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  if (power === 0) return `${count} B`;
  return `${Number((count / 1000 ** power).toPrecision(3))} ${"kMGT"[power - 1]}B`;
}

/** How often a kernel reads each byte, and whether there is advice about it. */
function movedBy({ kernel, note }) {
  const { reuse } = kernel;
  const again = reuse > LITTLE_REUSE ? ` ×${Math.round(reuse * 10) / 10}` : "";
  const mark = note ? html("span", { class: "advised", title: note }, "!") : null;
  return html("span", { title: again ? `reads each byte ${reuse} times` : null }, mark, again);
}

/** Bytes read and written, as long as they are of those of the first kernel. */
function barOf({ kernel, most }) {
  const [read, written] = kernel.bytes.map((bytes) => (100 * bytes) / most);
  return svg(
    "svg",
    { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "read", width: read, height: 6 }),
    svg("rect", { class: "written", x: read, width: written, height: 6 }),
  );
}
