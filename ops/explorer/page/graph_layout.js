/* global dagre */
// Where the boxes of a graph stand, and the lines between them.

const CHARACTER = 7.3;
const HEIGHT = 40;
const MARGIN = 16;

/** Characters of a name in a box. */
export const MAX_NAME = 30;

/**
 * Places of boxes, operands above what reads them, of frames around boxes, and of lines.
 * @param {{boxes: Array, frames: Array, frameOf: Map}} drawn what is drawn, and the frame around it
 * @param {{from: any, to: any, count: number}[]} lines
 * @param {(box: any) => string[]} textOf the lines of text in a box
 * @returns {{width: number, height: number, boxes: Map, frames: Map, lines: object[]}} boxes and
 *   frames have `x` and `y` of their middle, `width` and `height`; lines have `points`
 */
export function laidOut({ boxes, frames, frameOf }, lines, textOf) {
  const graph = new dagre.graphlib.Graph({ compound: true });
  graph.setGraph({ ranksep: 36, nodesep: 18, marginx: MARGIN, marginy: MARGIN });
  const keys = new Map([...boxes, ...frames].map((each, number) => [each, String(number)]));
  for (const each of boxes) {
    const longest = Math.max(...textOf(each).map((line) => line.length));
    graph.setNode(keys.get(each), { width: longest * CHARACTER + 20, height: HEIGHT });
  }
  for (const each of frames) graph.setNode(keys.get(each), {});
  for (const [each, frame] of frameOf) {
    if (frame) graph.setParent(keys.get(each), keys.get(frame));
  }
  for (const { from, to } of lines) graph.setEdge(keys.get(from), keys.get(to), {});
  dagre.layout(graph);
  const { width, height } = graph.graph();
  const placesOf = (all) => new Map(all.map((each) => [each, graph.node(keys.get(each))]));
  return {
    width: width ?? 0,
    height: height ?? 0,
    boxes: placesOf(boxes),
    frames: placesOf(frames),
    lines: lines.map((line) => {
      return { ...line, points: graph.edge(keys.get(line.from), keys.get(line.to)).points };
    }),
  };
}
