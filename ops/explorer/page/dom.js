// Elements of a page. Text becomes text nodes, never markup: names in a program are anybody's.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of HTML.
 * @param {string} name
 * @param {object} properties attributes; functions are listeners, such as `onclick`
 * @param {...(Node|string|number|null)} children
 */
export function html(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** An element of SVG, as {@link html}. */
export function svg(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

/** Put children in the place of those that an element has. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((each) => each !== null).map(asNode));
}

function filled(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      element.addEventListener(key.slice(2), value);
    } else if (value !== null && value !== false) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((each) => each !== null).map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** A text without its middle, if it is longer than `most` characters. */
export function withoutMiddle(text, most) {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - end)}…${text.slice(-end)}`;
}

/** A number and what it counts: `1 kernel`, `2 kernels`. */
export function counted(number, what) {
  return `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** A number with a comma after each thousand. */
export function grouped(number) {
  return number.toLocaleString("en");
}
