"""What depends on what: the questions about instructions, computations and whole programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.analysis.calls import check_output, operand_number
from ops.analysis.findings import Addressing, Question, findings_in, flow_in
from ops.analysis.slices import Level, by_instruction, levels_inside, union_of
from ops.hlo.module import INSTRUCTION, HloModule, Instruction
from ops.rules.op_indexing import Direction
from ops.rules.registry import REGISTRY, check_registry
from simplifier.errors import INTEGER, check_type

if TYPE_CHECKING:
    from ops.analysis.calls import DataFlow
    from ops.analysis.findings import InstructionIndexing
    from ops.dependence.dependence import AnyDependence
    from ops.rules.registry import Registry


def output_to_input(
    instruction: Instruction,
    output: int = 0,
    *,
    physical_layout: bool = False,
    linear_offsets: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Which elements of every operand an element of the result is computed from.

    Args:
        instruction: any instruction; a fusion or call is followed through the computation that
            it calls.
        output: which array of the result, where that is a tuple, counted through nested tuples.
        physical_layout: tell elements by the dimensions in memory, major first, with all tiles
            cut (:func:`indexing.layout.tiled_sizes`), instead of by the dimensions that their
            shapes list. Where an array has padding, maps are not defined.
        linear_offsets: end every map at the offset in memory, counted in elements, and not at an
            index; those of the origins of runtime variables, too.
        registry: what is known of operations; by default, what the library knows.

    Returns:
        ``indexing[k]`` is, for operand ``k``, a tuple of :class:`OperandIndexing`, empty if the
        operand is not needed, or :class:`Unknown` with the reason: the error with its place, where
        shapes and attributes of an instruction do not fit. Maps along a fusion or call, and
        those in memory, are simplified; others of one operation are as its rule makes them.

    Raises:
        ShapeError: there is no such output.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> ((indexing,),) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(indexing)
    (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    >>> text = "ENTRY e { p = f32[9,200]{1,0:T(8,128)} parameter(0)"
    >>> text += "ROOT r = f32[200,9]{0,1:T(8,128)} transpose(p), dimensions={1,0} }"
    >>> root = hlo.parse(text).entry.root
    >>> ((indexing,),) = output_to_input(root, physical_layout=True).indexing
    >>> print(indexing)
    (d0, d1, d2, d3) -> (d0, d1, d2, d3), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 7],
    d3 in [0, 127], d0 * 8 + d2 in [0, 8], d1 * 128 + d3 in [0, 199]
    >>> ((indexing,),) = output_to_input(root, linear_offsets=True).indexing
    >>> print(indexing)
    (d0, d1) -> ((d1 mod 8) * 128 + (d0 floordiv 128) * 1024 + (d1 floordiv 8) * 2048 + d0 mod 128),
    domain: d0 in [0, 199], d1 in [0, 8]
    """
    addressing = Addressing(physical_layout, linear_offsets)
    module = _module_of("output_to_input", instruction, output, registry)
    question = Question(Direction.OUTPUT_TO_INPUT, output, addressing)
    return findings_in(module, registry).answer(instruction, question).of(instruction)


def input_to_output(
    instruction: Instruction,
    input: int | str | Instruction = 0,  # noqa: A002 - the name of the thing
    *,
    physical_layout: bool = False,
    linear_offsets: bool = False,
    registry: Registry = REGISTRY,
) -> InstructionIndexing:
    """Which elements of every result an element of operand ``input`` takes part in.

    The operand is given by its number or name, or is itself given, if it is read once. Other
    arguments and errors are those of :func:`output_to_input`. ``indexing[k]`` is the answer for
    array ``k`` of the result, of which there are several where that is a tuple.

    >>> from ops import hlo
    >>> text = "HloModule m ENTRY e { p = f32[4,8] parameter(0) ROOT r = f32[32] reshape(p) }"
    >>> print(input_to_output(hlo.parse(text).entry.root, "p").map())
    (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]
    """
    addressing = Addressing(physical_layout, linear_offsets)
    number = operand_number("input_to_output", instruction, input)
    module = _module_of("input_to_output", instruction, number, registry)
    question = Question(Direction.INPUT_TO_OUTPUT, number, addressing)
    return findings_in(module, registry).answer(instruction, question)


def fusion_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, AnyDependence]:
    """Which elements of every instruction are needed for an element of one of them.

    From array ``output`` of the result of ``root``, such as the root of a fused computation,
    the maps to every instruction that it depends on: in the same computation, and in the
    computations that these instructions call. Each set holds every map once, however many paths
    lead there; ``root`` itself has the identity. Of a tuple, only the arrays that are needed
    count, and ``element`` tells which. ``registry`` holds what is known of operations.

    Raises:
        ShapeError: ``root`` has no such result.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.parse('''HloModule m
    ... ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for indexing in fusion_indexing(module.entry.root)[module.entry.parameters[0]]:
    ...     print(indexing)
    (d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 19]
    (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
    """
    module = _module_of("fusion_indexing", root, output, registry)
    return slice_from(flow_in(module, Direction.OUTPUT_TO_INPUT, registry), root, output)


def slice_from(flow: DataFlow, root: Instruction, output: int) -> dict[Instruction, AnyDependence]:
    """The answer of :func:`fusion_indexing` by a data flow from results to operands."""
    check_output(root, output)
    return by_instruction(union_of(levels_inside(Level.at((root, output)), flow)))


def parameter_indexing(
    root: Instruction, output: int = 0, *, registry: Registry = REGISTRY
) -> dict[Instruction, AnyDependence]:
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
    >>> ((parameter, (indexing,)),) = parameter_indexing(module.entry.root).items()
    >>> print(parameter.name, indexing)
    p (d0, d1) -> ((d0 mod 2) * 10 + d1, d0 floordiv 2), domain: d0 in [0, 19], d1 in [0, 9]
    """
    module = _module_of("parameter_indexing", root, output, registry)
    return parameters_from(flow_in(module, Direction.OUTPUT_TO_INPUT, registry), root, output)


def parameters_from(
    flow: DataFlow, root: Instruction, output: int
) -> dict[Instruction, AnyDependence]:
    """The answer of :func:`parameter_indexing` by a data flow from results to operands."""
    check_output(root, output)
    return by_instruction(flow.follow_through((root, output)))


def _module_of(asker: str, instruction: Instruction, number: int, registry: Registry) -> HloModule:
    """The module of an instruction, after a look at what was asked.

    Raises:
        ArgumentError: it is no instruction, an array of it is not named by its number, or no
            registry is given.
        DetachedError: the instruction belongs to no module.
    """
    check_type(instruction, Instruction, f"{asker}: the instruction", INSTRUCTION)
    check_type(number, INTEGER, f"{asker}: the number of the array", "an integer")
    check_registry(asker, registry)
    return instruction.computation.module
