import { fill, grouped, html, withoutMiddle } from "./dom.js";
import { entriesOf, MAX_RESULTS, search } from "./search.js";

// Search, and below it what was found; without a question, the computations.

/** Characters of a name: three lines of them. */
const MAX_TITLE = 60;

/**
 * The list at the side.
 * @param {object} data what Python says of the program
 * @param {{onFound: Function}} listeners called with an entry of the search
 */
export function listView(data, { onFound }) {
  const entries = entriesOf(data);
  const views = entries.filter(({ instruction }) => instruction === null);
  const shown = { found: [], active: -1 };
  const input = html("input", {
    type: "search",
    role: "combobox",
    placeholder: "Search (press /)",
    "aria-label": "search computations, instructions, shapes, source lines",
    "aria-controls": "explorer-found",
    "aria-expanded": "true",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => find(),
    onkeydown: (event) => move(event),
  });
  const count = html("p", { class: "note", "aria-live": "polite" });
  const list = html("ul", { id: "explorer-found", role: "listbox", "aria-label": "found" });
  const node = html("nav", { class: "list", "aria-label": "search" }, input, count, list);
  const find = () => {
    const question = input.value.trim();
    const { found, total } = question
      ? search(entries, question)
      : { found: views.slice(0, MAX_RESULTS), total: views.length };
    Object.assign(shown, { found, active: question ? 0 : -1 });
    const more = total > found.length ? `, the first ${found.length} are listed` : "";
    const things = question ? "found" : total === 1 ? "graph" : "graphs";
    fill(count, `${grouped(total)} ${things}${more}`);
    fill(list, ...found.map((each, number) => itemOf(each, number, () => choose(number))));
    markActive();
  };
  const choose = (number) => {
    if (shown.found[number]) onFound(shown.found[number]);
  };
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      shown.active = Math.min(shown.found.length - 1, Math.max(0, shown.active + step));
      markActive();
      event.preventDefault();
    } else if (event.key === "Enter") {
      choose(shown.active);
    } else if (event.key === "Escape") {
      input.value = "";
      find();
      input.blur();
    }
  };
  const markActive = () => {
    [...list.children].forEach((item, number) => {
      item.setAttribute("aria-selected", String(number === shown.active));
    });
    list.children[shown.active]?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", shown.active < 0 ? "" : `found-${shown.active}`);
  };
  const show = (state) => {
    [...list.children].forEach((item, number) => {
      const { view, instruction } = shown.found[number];
      const isView = instruction === null && view === state.view;
      item.classList.toggle("open", isView || instruction === state.instruction);
    });
  };
  find();
  return { node, show, focus: () => input.focus() };
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
