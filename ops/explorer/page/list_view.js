import { fill, grouped, html, withoutMiddle } from "./dom.js";
import { entriesOf, MAX_RESULTS, search } from "./search.js";

// Search, and below it what was found; without a question, the computations.

/** Characters of a name: three lines of them. */
const MAX_TITLE = 60;

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
  const shown = { found: [], active: -1 };
  const listeners = { oninput: () => find(), onkeydown: (event) => move(event) };
  const input = html("input", { ...SEARCH_FIELD, ...listeners });
  const count = html("p", { class: "note", "aria-live": "polite" });
  const list = html("ul", { id: "explorer-found", role: "listbox", "aria-label": "found" });
  const node = html("nav", { class: "list", "aria-label": "search" }, input, count, list);
  const find = () => {
    const question = input.value.trim();
    const { found, total } = answerTo(question, entries);
    shown.found = found;
    fill(count, numberOfFound(question, found, total));
    fill(list, ...found.map((each, number) => itemOf(each, number, () => choose(number))));
    activate(question ? 0 : -1);
  };
  const choose = (number) => {
    if (shown.found[number]) onFound(shown.found[number]);
  };
  const activate = (number) => {
    shown.active = number;
    markActive(input, list, number);
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
  return { node, show: (state) => markOpen(list, shown.found, state), focus: () => input.focus() };
}

/** What is found; without a question, the computations. */
function answerTo(question, entries) {
  if (question) return search(entries, question);
  const views = entries.filter(({ instruction }) => instruction === null);
  return { found: views.slice(0, MAX_RESULTS), total: views.length };
}

function numberOfFound(question, found, total) {
  const more = total > found.length ? `, the first ${found.length} are listed` : "";
  const things = question ? "found" : total === 1 ? "graph" : "graphs";
  return `${grouped(total)} ${things}${more}`;
}

/** Mark the item that Enter chooses. */
function markActive(input, list, active) {
  [...list.children].forEach((item, number) => {
    item.setAttribute("aria-selected", String(number === active));
  });
  list.children[active]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", active < 0 ? "" : `found-${active}`);
}

/** Mark the items of the computation and the instruction that are looked at. */
function markOpen(list, found, state) {
  [...list.children].forEach((item, number) => {
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
    html("span", { class: "kind" }, found.kind),
    html("span", { class: "detail" }, found.detail),
  );
}
