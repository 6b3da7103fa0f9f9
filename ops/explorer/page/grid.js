// An array as a grid: its last two dimensions, of one slice. A cell of a large array is a block.

/** Cells along an axis: more are too small to be hit with a mouse. */
const MAX_CELLS = 64;

/** Elements of a vector in a row; longer vectors are wrapped. */
const WRAP = 64;

/** Pixels of the widest grid, of a cell at least, and of one at most. */
const WIDTH = 256;
const MIN_CELL = 4;
const MAX_CELL = 14;

/**
 * How an array is drawn.
 * @param {number[]} sizes of the array
 * @returns {{sizes: number[], rows: number, columns: number, block: [number, number],
 *   cell: number, isWrapped: boolean}} `rows` and `columns` count cells, `block` says how many
 *   elements a cell has along each, `cell` is its side in pixels.
 */
export function gridOf(sizes) {
  const isWrapped = sizes.length === 1 && sizes[0] > WRAP;
  const [height, width] = isWrapped
    ? [Math.ceil(sizes[0] / WRAP), WRAP]
    : [sizes.at(-2) ?? 1, sizes.at(-1) ?? 1];
  const block = [Math.ceil(height / MAX_CELLS) || 1, Math.ceil(width / MAX_CELLS) || 1];
  const [rows, columns] = [Math.ceil(height / block[0]), Math.ceil(width / block[1])];
  const side = Math.floor(WIDTH / Math.max(rows, columns, 1));
  const cell = Math.max(MIN_CELL, Math.min(MAX_CELL, side));
  return { sizes, height, width, rows, columns, block, cell, isWrapped };
}

/** The first element of a cell, in a slice of the leading dimensions; `null` beyond the array. */
export function elementOf(grid, row, column, slice) {
  const [y, x] = [row * grid.block[0], column * grid.block[1]];
  if (grid.isWrapped) return y * WRAP + x < grid.sizes[0] ? [y * WRAP + x] : null;
  const inside = row >= 0 && column >= 0 && y < grid.height && x < grid.width;
  const place = [...slice, y, x];
  return inside ? place.slice(place.length - grid.sizes.length) : null;
}

/** The cell of an element: its row and column. */
export function cellOf(grid, element) {
  const [y, x] = grid.isWrapped
    ? [Math.floor(element[0] / WRAP), element[0] % WRAP]
    : [element.at(-2) ?? 0, element.at(-1) ?? 0];
  return [Math.floor(y / grid.block[0]), Math.floor(x / grid.block[1])];
}

/** Whether an element lies in a slice. */
export function isInSlice(element, slice) {
  return slice.every((value, axis) => element[axis] === value);
}

/** How many dimensions are chosen by a slice. */
export function sliceRank(sizes) {
  return Math.max(0, sizes.length - 2);
}

/** What is to be said of a grid, if its cells are not single elements in place. */
export function noteOf(grid) {
  const notes = [];
  if (grid.isWrapped) notes.push(`rows of ${WRAP} elements`);
  if (grid.block[0] * grid.block[1] > 1) {
    notes.push(`each cell is a block of ${grid.block[0]} × ${grid.block[1]} elements`);
  }
  return notes.join("; ");
}

/** The element beside another, as an arrow key means it: by `rows` and `columns`. */
export function beside(grid, element, rows, columns) {
  const [row, column] = cellOf(grid, element);
  const slice = element.slice(0, sliceRank(grid.sizes));
  return elementOf(grid, row + rows, column + columns, slice) ?? element;
}
