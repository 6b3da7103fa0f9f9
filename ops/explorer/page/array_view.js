import { html } from "./dom.js";
import { beside, cellOf, elementOf, gridOf, isInSlice, noteOf, sliceRank } from "./grid.js";

// One array: a grid on a canvas, a slider for each dimension that the grid leaves out.

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Pixels of a cell from which there are gaps between cells. */
const GAPS_FROM = 4;

/**
 * An array that shows elements, and may tell which one is pointed at.
 * @param {string} label what people who see no grid are told it is
 * @param {number[]} sizes
 * @param {{onHover?: Function, onPin?: Function}} listeners called with an element; without them,
 *   the array is only looked at
 * @returns {{node: HTMLElement, show: (lit: Map, chosen: number[]|null) => void}}
 */
export function arrayView(label, sizes, { onHover, onPin } = {}) {
  const grid = gridOf(sizes);
  const isActive = Boolean(onHover);
  const canvas = html("canvas", {
    class: isActive ? "grid active" : "grid",
    role: "img",
    tabindex: isActive ? 0 : null,
    "aria-label": label,
    "data-rows": grid.rows,
    "data-columns": grid.columns,
    "data-block": grid.block.join(" "),
  });
  const shown = { lit: new Map(), chosen: null, slice: Array(sliceRank(sizes)).fill(0) };
  const redraw = () => draw(canvas, grid, shown);
  const sliders = shown.slice.map((_, axis) => slider(sizes, axis, (value) => {
    shown.slice[axis] = value;
    redraw();
    if (isActive) onPin([...shown.slice, ...(shown.chosen ?? sizes.map(() => 0)).slice(-2)]);
  }));
  const elementAt = (event) => elementOf(grid, ...cellAt(canvas, grid, event), shown.slice);
  if (isActive) listen(canvas, grid, shown, { onHover, onPin, elementAt });
  const note = html("p", { class: "note" }, noteOf(grid));
  const show = (lit, chosen) => {
    Object.assign(shown, { lit, chosen });
    keepInSight(shown, sliders);
    redraw();
  };
  resize(canvas, grid);
  const controls = html("div", { class: "sliders" }, ...sliders.map(({ node }) => node));
  return { node: html("div", { class: "array" }, controls, canvas, note), show, redraw };
}

function listen(canvas, grid, shown, { onHover, onPin, elementAt }) {
  const hover = (event) => {
    const element = elementAt(event);
    if (element) onHover(element);
  };
  const pin = (event) => {
    const element = elementAt(event);
    if (element) onPin(element);
  };
  canvas.addEventListener("mousemove", hover);
  canvas.addEventListener("click", pin);
  canvas.addEventListener("mouseleave", () => onHover(null));
  canvas.addEventListener("keydown", (event) => {
    const step = ARROWS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const from = shown.chosen ?? grid.sizes.map(() => 0);
    onPin(beside(grid, from, ...step));
  });
}

/** Show the slice of the element that is chosen, or one in which something is lit. */
function keepInSight(shown, sliders) {
  const first = shown.chosen ?? shown.lit.values().next().value?.index;
  const isSeen = (element) => isInSlice(element, shown.slice);
  const isFine = shown.chosen
    ? isSeen(shown.chosen)
    : [...shown.lit.values()].some(({ index }) => isSeen(index));
  if (!first || isFine) return;
  sliders.forEach(({ set }, axis) => {
    shown.slice[axis] = first[axis];
    set(first[axis]);
  });
}

function slider(sizes, axis, onChange) {
  const value = html("output", {}, "0");
  const set = (number) => {
    input.value = String(number);
    value.textContent = String(number);
  };
  const input = html("input", {
    type: "range",
    min: 0,
    max: Math.max(0, sizes[axis] - 1),
    value: 0,
    "aria-label": `index along dimension ${axis}`,
    oninput: () => {
      value.textContent = input.value;
      onChange(Number(input.value));
    },
  });
  return { node: html("label", {}, `d${axis}`, input, value), set };
}

function resize(canvas, grid) {
  const scale = globalThis.devicePixelRatio || 1;
  const [width, height] = [grid.columns * grid.cell, grid.rows * grid.cell];
  canvas.width = Math.max(1, width * scale);
  canvas.height = Math.max(1, height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/** The row and column of the cell below the mouse. */
function cellAt(canvas, grid, event) {
  const box = canvas.getBoundingClientRect();
  const place = [event.clientY - box.top, event.clientX - box.left];
  const sides = [box.height / grid.rows, box.width / grid.columns];
  return place.map((each, axis) => Math.floor(each / sides[axis]));
}

function draw(canvas, grid, { lit, chosen, slice }) {
  const colors = getComputedStyle(canvas);
  const context = canvas.getContext("2d");
  const scale = canvas.width / (grid.columns * grid.cell || 1);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const side = grid.cell - (grid.cell >= GAPS_FROM ? 1 : 0);
  const fillCell = ([row, column], color) => {
    context.fillStyle = colors.getPropertyValue(color);
    context.fillRect(column * grid.cell, row * grid.cell, side, side);
  };
  for (let row = 0; row < grid.rows; row += 1) {
    for (let column = 0; column < grid.columns; column += 1) {
      if (elementOf(grid, row, column, slice)) fillCell([row, column], "--cell");
    }
  }
  for (const [cell, count] of cellsOf(grid, lit, slice)) {
    fillCell(cell, count > 1 ? "--lit-often" : "--lit");
  }
  if (chosen && isInSlice(chosen, slice)) fillCell(cellOf(grid, chosen), "--chosen");
}

/** The cells with elements that are lit, and how often the one of each that is read most is. */
function cellsOf(grid, lit, slice) {
  const cells = new Map();
  for (const { index, count } of lit.values()) {
    if (!isInSlice(index, slice)) continue;
    const [row, column] = cellOf(grid, index);
    const key = row * grid.columns + column;
    const known = cells.get(key);
    cells.set(key, [[row, column], Math.max(count, known ? known[1] : 0)]);
  }
  return cells.values();
}

/** An array that cannot be drawn, in words. */
export function noArrayView(reason) {
  return { node: html("p", { class: "note" }, reason), show: () => {}, redraw: () => {} };
}

/** Whether an array has elements that a grid can show. */
export function isDrawable(sizes) {
  return Boolean(sizes) && sizes.every((size) => size > 0);
}
