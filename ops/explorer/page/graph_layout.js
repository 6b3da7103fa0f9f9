/* global dagre */
// Where the instructions of a graph stand; those near one of them, if there are many.

/** Instructions that are drawn at once: more take seconds to lay out, and fit on no screen. */
const MAX_DRAWN = 150;

/** Neighbours of an instruction that are drawn if not all are: some have hundreds. */
const MAX_NEIGHBOURS = 12;

const CHARACTER = 7.3;
const HEIGHT = 40;
const MARGIN = 16;

/** Characters of a name in a box. */
export const MAX_NAME = 30;

/**
 * The instructions to draw: all of them, or those nearest to one.
 * @param {object[]} instructions all of the program
 * @param {number[]} members numbers of those of the graph
 * @param {number} focus the number of the one that must be drawn
 */
export function drawn(instructions, members, focus) {
  if (members.length <= MAX_DRAWN) return members;
  const neighbours = neighboursIn(instructions, members);
  const found = new Set([focus]);
  for (const each of found) {
    for (const near of neighbours.get(each).slice(0, MAX_NEIGHBOURS)) {
      if (found.size < MAX_DRAWN) found.add(near);
    }
  }
  return members.filter((each) => found.has(each));
}

/** What each instruction of a graph reads and is read by, as far as that is in the graph. */
function neighboursIn(instructions, members) {
  const neighbours = new Map(members.map((each) => [each, []]));
  for (const each of members) {
    const operands = instructions[each].operands.filter((operand) => neighbours.has(operand));
    for (const operand of operands) {
      neighbours.get(each).push(operand);
      neighbours.get(operand).push(each);
    }
  }
  return neighbours;
}

/**
 * Boxes and edges, operands above what reads them.
 * @returns {{width: number, height: number, boxes: Map<number, {x: number, y: number,
 *   width: number, height: number}>, edges: {from: number, to: number,
 *   points: {x: number, y: number}[]}[]}} `x` and `y` are those of the middle of a box
 */
export function laidOut(instructions, shown, lines) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ ranksep: 36, nodesep: 18, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const each of shown) {
    const longest = Math.max(...lines(instructions[each]).map((line) => line.length));
    graph.setNode(String(each), { width: longest * CHARACTER + 20, height: HEIGHT });
  }
  const inside = new Set(shown);
  for (const each of shown) {
    for (const operand of instructions[each].operands) {
      if (inside.has(operand)) graph.setEdge(String(operand), String(each));
    }
  }
  dagre.layout(graph);
  const { width, height } = graph.graph();
  const boxes = new Map(shown.map((each) => [each, graph.node(String(each))]));
  const edges = graph.edges().map(({ v, w }) => {
    return { from: Number(v), to: Number(w), points: graph.edge({ v, w }).points };
  });
  return { width: width ?? 0, height: height ?? 0, boxes, edges };
}
