// Which elements an element reads: functions that Python made of maps are called here.

/** So many reads, or values of runtime variables, are followed: a page stays quick, and says so. */
export const MAX_VISITS = 200000;

/**
 * The elements that one element of a result reads through several indexings.
 *
 * A runtime variable may have any value of its interval, so all of them are followed. It has one at a
 * time: `count` says how often an element is read with those values that read it most.
 * @param {object[]} indexings what Python says of each: its bounds, and the number of its code
 * @param {Function[]} functions the code
 * @param {number[]} element
 * @returns {{reads: Map<string, {index: number[], count: number}>, visits: number, isCut: boolean,
 *   mayRead: boolean, refused: string[]}}
 */
export function readsOf(indexings, functions, element) {
  const found = { reads: new Map(), visits: 0, isCut: false, mayRead: false, refused: [] };
  const sum = (left, right) => left + right;
  for (const indexing of indexings) {
    merge(found.reads, follow(indexing, functions, element, found), sum);
  }
  return found;
}

/** The elements that one indexing reads. */
function follow(indexing, functions, element, found) {
  const reads = new Map();
  if (indexing.code === undefined) {
    found.refused.push(indexing.no_code);
    return reads;
  }
  if (!isWithin(indexing.dims, element)) return reads;
  const runtime = indexing.runtime ?? [];
  if (runtime.length) found.mayRead = true;
  let calls = 0;
  for (const values of pointsOf(runtime)) {
    found.isCut ||= calls === MAX_VISITS;
    if (found.isCut) break;
    const once = new Map();
    functions[indexing.code](...element, ...values, (index) => visit(index, once, found));
    merge(reads, once, Math.max);
    calls += 1;
  }
  return reads;
}

/** Note a read; whether there are too many. */
function visit(index, reads, found) {
  found.isCut ||= found.visits === MAX_VISITS;
  if (found.isCut) return true;
  found.visits += 1;
  merge(reads, [[index.join(","), { index, count: 1 }]], (left, right) => left + right);
  return false;
}

/** Put reads to those that are known; `join` says what becomes of two counts. */
function merge(reads, others, join) {
  for (const [key, { index, count }] of others) {
    const known = reads.get(key);
    reads.set(key, { index, count: known ? join(known.count, count) : count });
  }
}

/** Whether an index lies in a box of closed intervals, of which an end may be open. */
function isWithin(box, index) {
  const holds = ([lower, upper], value) =>
    (lower === null || value >= lower) && (upper === null || value <= upper);
  return box.length === index.length && box.every((bounds, axis) => holds(bounds, index[axis]));
}

/** The points of a box of closed intervals. */
export function* pointsOf(box) {
  if (box.length === 0) {
    yield [];
    return;
  }
  const [[lower, upper], ...rest] = box;
  for (let value = lower; value <= upper; value += 1) {
    for (const others of pointsOf(rest)) yield [value, ...others];
  }
}

/**
 * Indices in words: boxes of them are one, such as `(3, 0…127)`.
 * @param {number[][]} indices each once
 * @param {number} most so many boxes at most; a last word counts the others
 */
export function inWords(indices, most) {
  const rank = indices[0]?.length ?? 0;
  let boxes = indices.map((index) => index.map((value) => [value, value]));
  for (let axis = rank - 1; axis >= 0; axis -= 1) boxes = merged(boxes, axis);
  boxes.sort(inOrder);
  const words = boxes.slice(0, most).map((box) => `(${box.map(wordOf).join(", ")})`);
  return boxes.length > most ? [...words, `and ${boxes.length - most} more`] : words;
}

/** Boxes that lie beside each other along an axis, and are equal along all others, become one. */
function merged(boxes, axis) {
  const lines = new Map();
  for (const box of boxes) {
    const key = box.map((bounds, each) => (each === axis ? "" : bounds.join(":"))).join();
    if (!lines.has(key)) lines.set(key, []);
    lines.get(key).push(box);
  }
  return [...lines.values()].flatMap((line) => joined(line, axis));
}

function joined(line, axis) {
  line.sort((left, right) => left[axis][0] - right[axis][0]);
  const found = [];
  for (const box of line) {
    const last = found.at(-1);
    if (last && last[axis][1] + 1 === box[axis][0]) last[axis] = [last[axis][0], box[axis][1]];
    else found.push([...box]);
  }
  return found;
}

function inOrder(left, right) {
  const axis = left.findIndex(([lower], each) => lower !== right[each][0]);
  return axis < 0 ? 0 : left[axis][0] - right[axis][0];
}

function wordOf([lower, upper]) {
  return lower === upper ? `${lower}` : `${lower}…${upper}`;
}
