"""From a result to everything that it depends on: fusions, computations, whole programs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ops.analysis.answers import of_element
from ops.analysis.chaining import joined
from ops.analysis.control_flow import Direction
from ops.analysis.findings import paths_in
from ops.analysis.graphs import postorder
from ops.analysis.paths import check_output, itself
from ops.rules.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from ops.analysis.answers import Answer
    from ops.analysis.graphs import Array
    from ops.analysis.paths import Paths
    from ops.hlo import Computation, Instruction
    from ops.rules.registry import Registry


def fusion_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, Answer]:
    """Which elements of every instruction are needed for an element of one of them.

    From array ``output`` of the result of ``root``, such as the root of a fused computation,
    the maps to every instruction that it depends on: in the same computation, and in the
    computations that these instructions call. Each set holds every map once, however many paths
    lead there; ``root`` itself has the identity. Of a tuple, only the arrays that are needed
    count, and ``element`` tells which. ``registry`` holds what is known of operations.

    Raises:
        ShapeError: ``root`` has no such result.
        HloTextError: the shapes and attributes of an instruction do not fit.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for way in fusion_indexing(module.entry.root)[module.entry.parameters[0]]:
    ...     print(way)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
    """
    paths = paths_in(root.computation.module, Direction.OUTPUT_TO_INPUT, registry)
    return reached_from(paths, root, output)


def reached_from(paths: Paths, root: Instruction, output: int) -> dict[Instruction, Answer]:
    """The answer of :func:`fusion_indexing` along paths from results to operands."""
    check_output(root, output)
    return by_instruction(reached({(root, output): itself((root, output))}, paths))


def parameter_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, Answer]:
    """Which elements of the parameters are needed for an element of a result.

    The part of :func:`fusion_indexing` that is about the parameters of the computation of ``root``,
    in their order, at a fraction of its cost: parameters that are not needed are left out.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,10] parameter(0)
    ...   t = f32[10,20] transpose(p), dimensions={1,0}
    ...   ROOT r = f32[20,10] reshape(t)
    ... }''')
    >>> ((parameter, (way,)),) = parameter_indexing(module.entry.root).items()
    >>> print(parameter.name, way)
    p (d0, d1) -> ((d0 mod 2) * 10 + d1, d0 floordiv 2), domain: d0 in [0, 19], d1 in [0, 9]
    """
    paths = paths_in(root.computation.module, Direction.OUTPUT_TO_INPUT, registry)
    return parameters_from(paths, root, output)


def parameters_from(paths: Paths, root: Instruction, output: int) -> dict[Instruction, Answer]:
    """The answer of :func:`parameter_indexing` along paths from results to operands."""
    check_output(root, output)
    return by_instruction(paths.follow_through((root, output)))


def reached(
    starts: Mapping[Array, Answer], paths: Paths, within: Container[Instruction] | None = None
) -> dict[Array, Answer]:
    """From arrays of a computation to all that they depend on, there and in what is called.

    In the computation itself only the instructions ``within`` are followed, by default all.
    """
    own = next(iter(starts))[0].computation
    begun: dict[Computation, dict[Array, Answer]] = defaultdict(dict, {own: {**starts}})
    found: dict[Array, Answer] = {}
    for computation in reversed(postorder([own], paths.callees)):
        limit = within if computation is own else None
        level = paths.follow(begun[computation], limit)
        found |= level
        for (instruction, number), answer in level.items():
            if limit is None or instruction in limit:
                for start, entering in paths.entered(instruction, number, answer):
                    inner = begun[start[0].computation]
                    inner[start] = joined(inner.get(start, ()), entering)
    return found


def by_instruction(found: Mapping[Array, Answer]) -> dict[Instruction, Answer]:
    """The answers for the arrays of each instruction as one, which tells them apart."""
    together: dict[Instruction, list[Answer]] = defaultdict(list)
    for (instruction, number), answer in found.items():
        together[instruction].append(of_element(answer, number))
    return {
        instruction: joined(*answers) if len(answers) > 1 else answers[0]
        for instruction, answers in together.items()
    }
