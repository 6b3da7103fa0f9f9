// What the page shows as the part of its address behind "#", so that each view has a link.

/**
 * @param {{view: string, instruction: string, output: number, element: number[]|null}} shown
 * @returns {string} such as `#c=main&i=add.1&at=0,3`
 */
export function addressOf({ view, instruction, output, element }) {
  const parts = [["c", view]];
  if (instruction !== null) parts.push(["i", instruction]);
  if (output) parts.push(["o", output]);
  if (element !== null) parts.push(["at", element.join(",")]);
  return `#${parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`;
}

/** What {@link addressOf} was given; parts that are missing or make no sense are `null` or 0. */
export function readAddress(address) {
  const parts = new URLSearchParams(address.replace(/^#/, ""));
  const at = parts.get("at");
  const isIndex = at !== null && /^(\d+(,\d+)*)?$/.test(at);
  return {
    view: parts.get("c"),
    instruction: parts.get("i"),
    output: Number.parseInt(parts.get("o") ?? "0", 10) || 0,
    element: isIndex ? (at === "" ? [] : at.split(",").map(Number)) : null,
  };
}
