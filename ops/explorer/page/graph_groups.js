// Groups of a large graph, so that it fits on a screen. Connected instructions between others, such
// as those that compute element by element, are a region; nodes that follow each other are a part,
// which ends where few values are alive. Each group is a box that opens.

/** Boxes of a graph of which none are folded: more fit on no screen. */
const MAX_BOXES = 40;

/** Boxes of a group when it is open, beside those of the groups around it; and parts of a group. */
const MAX_INSIDE = 20;
const MAX_PARTS = 8;

/** Instructions of a region; fewer are boxes of their own. */
const LEAST_REGION = 3;

/** What the chosen instruction reads, and is always drawn: some read hundreds of arrays. */
const MAX_READ = 12;

/** A box of several nodes, which are numbers of instructions and groups. */
class Group {
  constructor(children) {
    this.children = children;
    this.members = children.flatMap((each) => each.members ?? [each]);
    this.own = new Set(this.members);
  }
}

/**
 * The tree of a graph; a small one has no groups inside.
 * @param {{instructions: object[], folded: object}} data the words of the opcodes that are folded
 * @param {{members: number[], outside: number[], roots: number[]}} view
 */
export function treeOf(data, { members, outside, roots }) {
  const all = [...outside, ...members];
  if (all.length <= MAX_BOXES) return new Group(all);
  const graph = new Graph(data, all, new Set(roots));
  const nodes = graph.regions().map((region) =>
    region.length < LEAST_REGION ? region : [new Group(graph.parts(region))],
  );
  return new Group(graph.parts(graph.ordered(nodes.flat()), MAX_BOXES));
}

/** The groups that hold an instruction, the largest first. */
export function groupsAround(group, number) {
  const inner = group.children.find((each) => each.own?.has(number));
  return inner ? [inner, ...groupsAround(inner, number)] : [];
}

/** What the question about an instruction is about: what it reads, at once and in the end. */
export function askedOf(instructions, number) {
  const { operands, results } = instructions[number];
  const far = results.flatMap(({ parameters }) => parameters ?? []).map(({ of }) => of);
  return new Set([number, ...operands.slice(0, MAX_READ), ...far.slice(0, MAX_READ)]);
}

/**
 * What is drawn of a tree: open groups as frames around their nodes, others as boxes, and
 * beside those what is asked about.
 * @param {Group} tree
 * @param {Set<Group>} open
 * @param {Set<number>} asked
 * @returns {{boxes: (number|Group)[], frames: Group[], frameOf: Map, boxOf: Map<number, number|Group>}}
 */
export function drawnOf(tree, open, asked) {
  const drawn = { boxes: [], frames: [], frameOf: new Map(), boxOf: new Map() };
  const draw = (box, frame) => {
    drawn.boxes.push(box);
    drawn.frameOf.set(box, frame);
  };
  const visit = (group, frame) => {
    for (const each of group.children) {
      if (open.has(each)) {
        drawn.frames.push(each);
        drawn.frameOf.set(each, frame);
        visit(each, each);
        continue;
      }
      const members = each.members ?? [each];
      const alone = members.filter((number) => number === each || asked.has(number));
      for (const number of members) drawn.boxOf.set(number, each);
      for (const number of alone) drawn.boxOf.set(number, number);
      for (const number of alone) draw(number, frame);
      if (alone.length < members.length) draw(each, frame);
    }
  };
  visit(tree, null);
  return drawn;
}

/**
 * The lines between boxes, from what is read to what reads it, and how many each stands for.
 * @returns {{from: number|Group, to: number|Group, count: number}[]}
 */
export function linesOf(instructions, boxOf) {
  const lines = new Map();
  for (const [number, to] of boxOf) {
    for (const operand of new Set(instructions[number].operands)) {
      const from = boxOf.get(operand);
      if (from === undefined || from === to) continue;
      if (!lines.has(to)) lines.set(to, new Map());
      lines.get(to).set(from, (lines.get(to).get(from) ?? 0) + 1);
    }
  }
  return [...lines].flatMap(([to, each]) => [...each].map(([from, count]) => ({ from, to, count })));
}

/** What a group holds, such as `2 dot, 12 elementwise`: opcodes that are never folded come first. */
export function contentsOf({ instructions, folded }, { members }) {
  const counts = new Map();
  for (const each of members) {
    const { opcode } = instructions[each];
    const word = folded[opcode] ?? opcode;
    const isFirst = !(opcode in folded) && opcode !== "parameter";
    counts.set(word, { isFirst, count: (counts.get(word)?.count ?? 0) + 1 });
  }
  const words = [...counts].sort(
    ([, left], [, right]) => right.isFirst - left.isFirst || right.count - left.count,
  );
  return words.map(([word, { count }]) => `${count} ${word}`).join(", ");
}

/** The instructions of a graph, and what each reads in it. */
class Graph {
  constructor({ instructions, folded }, members, roots) {
    this.members = members;
    const inside = new Set(members);
    this.operands = new Map(
      members.map((each) => [each, instructions[each].operands.filter((one) => inside.has(one))]),
    );
    this.isFolded = (each) => instructions[each].opcode in folded && !roots.has(each);
    this.isProjection = (each) => instructions[each].opcode === "get-tuple-element";
  }

  /**
   * Folded instructions that are connected and of one level, and each other one alone.
   *
   * The level is how many instructions that are not folded come before, one behind the other: so no
   * line leaves a region and comes back. Constants, and what is computed of them alone, have no
   * level, and belong to the region that reads them, if that is one only.
   */
  regions() {
    const levels = this.levels();
    const joins = (each) => this.isFolded(each) && levels.has(each);
    const regions = new Regions(this.members);
    const projections = new Map();
    for (const each of this.members.filter(joins)) {
      const operands = this.operands.get(each);
      for (const one of operands) {
        if (joins(one) && levels.get(one) === levels.get(each)) regions.join(each, one);
      }
      if (!this.isProjection(each)) continue;
      regions.join(each, projections.get(operands[0]) ?? each);
      projections.set(operands[0], each);
    }
    const readers = this.readers();
    for (const each of this.members.toReversed().filter((one) => !levels.has(one))) {
      const [region, ...others] = new Set(readers.get(each).map((one) => regions.of(one)));
      if (!others.length && region !== undefined && this.isFolded(region)) regions.join(each, region);
    }
    return regions.all();
  }

  levels() {
    const levels = new Map();
    for (const each of this.members) {
      const before = this.operands.get(each).filter((one) => levels.has(one));
      if (this.isFolded(each) && !before.length) continue;
      levels.set(each, Math.max(0, ...before.map((one) => levels.get(one) + !this.isFolded(one))));
    }
    return levels;
  }

  readers() {
    const readers = new Map(this.members.map((each) => [each, []]));
    for (const [each, operands] of this.operands) {
      for (const one of operands) readers.get(one).push(each);
    }
    return readers;
  }

  /** Nodes in the order of the text, each behind what it reads; parameters where they are read. */
  ordered(nodes) {
    const nodeOf = new Map(nodes.flatMap((node) => membersOf(node).map((each) => [each, node])));
    const operandsOf = new Map(
      nodes.map((node) => {
        const read = membersOf(node).flatMap((each) => this.operands.get(each));
        return [node, new Set(read.map((each) => nodeOf.get(each)))];
      }),
    );
    const isLeaf = (node) => !operandsOf.get(node).size;
    const [met, ordered] = [new Set(), []];
    const visit = (start) => {
      const stack = [];
      const enter = (node) => {
        if (met.has(node)) return;
        met.add(node);
        stack.push([node, operandsOf.get(node).values()]);
      };
      enter(start);
      while (stack.length) {
        const { value, done } = stack.at(-1)[1].next();
        if (done) ordered.push(stack.pop()[0]);
        else enter(value);
      }
    };
    for (const node of nodes.filter((each) => !isLeaf(each))) visit(node);
    for (const node of nodes.filter(isLeaf)) visit(node);
    return ordered;
  }

  /** Nodes, or, of more than there is room for, groups that each end where few values are alive. */
  parts(nodes, room = MAX_INSIDE) {
    if (nodes.length <= room) return nodes;
    const count = Math.min(MAX_PARTS, Math.ceil(nodes.length / MAX_INSIDE));
    const alive = this.aliveBehind(nodes);
    const ends = Array.from({ length: count - 1 }, (_, each) => {
      return cheapest(alive, ((each + 1) * nodes.length) / count, nodes.length / count / 3);
    });
    const bounds = [0, ...ends, nodes.length];
    return ends.concat(nodes.length).map((end, each) => {
      return new Group(this.parts(nodes.slice(bounds[each], end)));
    });
  }

  /** How many values that stand before each place are read behind it. */
  aliveBehind(nodes) {
    const places = nodes.map((node, place) => membersOf(node).map((each) => [each, place]));
    const placeOf = new Map(places.flat());
    const last = new Map();
    for (const [each, place] of placeOf) {
      for (const one of this.operands.get(each)) {
        if (placeOf.has(one)) last.set(one, Math.max(place, last.get(one) ?? 0));
      }
    }
    const change = Array(nodes.length + 1).fill(0);
    for (const [one, place] of last) {
      change[placeOf.get(one) + 1] += 1;
      change[place + 1] -= 1;
    }
    let alive = 0;
    return change.map((each) => (alive += each));
  }
}

function membersOf(node) {
  return node.members ?? [node];
}

/** Sets of numbers that become one by one fewer. */
class Regions {
  constructor(numbers) {
    this.next = new Map(numbers.map((each) => [each, each]));
  }

  /** The number that stands for the set of another. */
  of(number) {
    let each = number;
    while (this.next.get(each) !== each) {
      this.next.set(each, this.next.get(this.next.get(each)));
      each = this.next.get(each);
    }
    return each;
  }

  join(number, other) {
    this.next.set(this.of(number), this.of(other));
  }

  all() {
    const found = new Map();
    for (const each of this.next.keys()) {
      const region = this.of(each);
      if (!found.has(region)) found.set(region, []);
      found.get(region).push(each);
    }
    return [...found.values()];
  }
}

/** The place near another one where least is alive; the nearest of several. */
function cheapest(alive, wanted, reach) {
  let best = Math.round(wanted);
  for (let place = Math.ceil(wanted - reach); place <= wanted + reach; place += 1) {
    const isNearer = Math.abs(place - wanted) < Math.abs(best - wanted);
    if (alive[place] < alive[best] || (alive[place] === alive[best] && isNearer)) best = place;
  }
  return best;
}
