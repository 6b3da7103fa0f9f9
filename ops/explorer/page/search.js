import { counted } from "./dom.js";

// Search: every word must occur in what is found.

/** Results that are listed: more are not read, but better asked for by another word. */
export const MAX_RESULTS = 200;

/**
 * What can be found in a program.
 * @returns {{kind: string, title: string, detail: string, view: number,
 *   instruction: number|null, text: string}[]}
 */
export function entriesOf(data) {
  const views = data.views.map((view, number) =>
    entry(view.kind, view.name, counted(view.members.length, "instruction"), number, null),
  );
  const instructions = data.instructions.map((each, number) => {
    const source = each.source === null ? "" : data.sources[each.source];
    const detail = [each.opcode, each.shape, source].filter(Boolean).join(" · ");
    return entry(each.opcode, each.name, detail, each.view, number);
  });
  return [...views, ...instructions];
}

function entry(kind, title, detail, view, instruction) {
  const text = `${kind} ${title} ${detail}`.toLowerCase();
  return { kind, title, detail, view, instruction, text };
}

/**
 * The entries in which all words of a question occur, those with the question in their name first.
 * @returns {{found: object[], total: number}} at most {@link MAX_RESULTS}, and how many there are
 */
export function search(entries, question) {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = entries.filter(({ text }) => words.every((word) => text.includes(word)));
  const wanted = words.join(" ").replace(/^%/, "");
  const ranked = matching.map((each) => [rank(each, wanted), each]);
  ranked.sort(([left], [right]) => left - right);
  return { found: ranked.slice(0, MAX_RESULTS).map(([, each]) => each), total: matching.length };
}

function rank({ title, instruction }, wanted) {
  const name = title.toLowerCase();
  const how = name === wanted ? 0 : name.startsWith(wanted) ? 2 : name.includes(wanted) ? 4 : 6;
  return how + (instruction === null ? 0 : 1);
}
