import { html } from "./dom.js";

// The borders between panels: a mouse or the arrows move them.

/** What each border moves: a length of the layout, its direction, and how much of it is least. */
const BORDERS = {
  list: { property: "--list", axis: "x", sign: 1, label: "width of the list" },
  text: { property: "--text", axis: "x", sign: -1, label: "width of the text" },
  graph: { property: "--graph", axis: "y", sign: 1, label: "height of the graph" },
};

/** The least size of a panel, and how far an arrow moves a border, in pixels. */
const [LEAST, STEP] = [120, 24];

const MOVES = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP };

/**
 * The border at which a panel ends.
 * @param {HTMLElement} root whose style holds the lengths
 * @param {HTMLElement} panel
 * @param {"list"|"text"|"graph"} name
 */
export function border(root, panel, name) {
  const { property, axis, sign, label } = BORDERS[name];
  const sizeOf = () => panel.getBoundingClientRect()[axis === "x" ? "width" : "height"];
  const resize = (size) => root.style.setProperty(property, `${Math.max(LEAST, size)}px`);
  const drag = { from: null, size: 0 };
  return html("div", {
    class: `border of-${name}`,
    role: "separator",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": axis === "x" ? "vertical" : "horizontal",
    onpointerdown: (event) => {
      event.target.setPointerCapture(event.pointerId);
      Object.assign(drag, { from: event[axis], size: sizeOf() });
    },
    onpointermove: (event) => {
      if (drag.from !== null) resize(drag.size + sign * (event[axis] - drag.from));
    },
    onpointerup: () => Object.assign(drag, { from: null }),
    onkeydown: (event) => {
      if (!MOVES[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      resize(sizeOf() + sign * MOVES[event.key]);
    },
  });
}
