"""The sizes that a kernel takes as arguments: those that only the running program knows.

They are the first variables of the block on top, so that all loops and offsets are over them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from indexing.domain import bare
from indexing.formats.code.coder import alone
from indexing.formats.code.language import LANGUAGES
from indexing.formats.code.loop_nest import LocalNames, LoopBlock
from indexing.layout import UNBOUNDED_SIZE
from indexing.parameters import PARAMETER, parameter_identifier
from indexing.variable import Variable
from ops.hlo.true_sizes import parameters_of, size_facts, size_origins
from ops.kernels.errors import refused
from ops.rules.dynamic_sizes import known_sizes
from ops.rules.op_indexing import OpIndexing, Unknown
from ops.sizes import as_form, not_negative, plain, product
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form, variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexing.domain import Constraint
    from indexing.formats.code.language import Language
    from ops.fusion import Fusion
    from ops.hlo.module import Instruction
    from ops.sizes import Size


class KernelSizes:
    """The parameters of the sizes and maps of a fusion, and the sizes of its arrays over them."""

    def __init__(self, fusion: Fusion, names: LocalNames) -> None:
        module = fusion.computation.module
        declared = parameters_of(module)
        used = {*_parameters_in(fusion)} if declared else set[str]()
        given = sorted((each for each in declared if each.name in used), key=lambda one: one.name)
        self.arguments = tuple(Variable(each.bounds, names.fresh(each.name)) for each in given)
        """Integers, with the names that they have in the kernel."""
        self.known = {
            parameter_identifier(each.name): variable(f"d{number}")
            for number, each in enumerate(given)
        }
        """What parameters of maps are in blocks, by identifier."""
        self.identifiers = frozenset(f"d{number}" for number in range(len(given)))
        self._names = names
        self._origins = [size_origins(module)[each.name] for each in given]
        for argument, origin in zip(self.arguments, self._origins, strict=True):
            made, is_value = origin.instruction, origin.dimension is None
            if is_value and made in fusion.instructions and made not in fusion.operands:
                reason = f"the kernel computes it, and it is the size {argument.name} of an array"
                raise refused(made, f"{reason}; expected sizes that are known before it runs")
        self._facts: tuple[Constraint, ...] = ()
        if given:
            self._learn((*self._told(fusion), *self._sizes_of_all(fusion)))

    # Sizes of arrays.

    def of(self, source: Instruction, output: int) -> tuple[Size, ...]:
        """How many elements an array has in each dimension, over variables of blocks.

        Raises:
            KernelError: a size has several values in a run of the program.
        """
        shape = source.shape.arrays[output]
        if not shape.dynamic_dimensions:
            return shape.dimensions
        found = known_sizes(source, output)
        if isinstance(found, Unknown):
            raise refused(source, found.reason)
        return tuple(self._placed(size) for size in found)

    def in_memory(self, source: Instruction, output: int) -> tuple[Size, ...]:
        """For how many elements memory has a place: as many as the bound of a size says."""
        dimensions = source.shape.arrays[output].dimensions
        pairs = zip(dimensions, self.of(source, output), strict=True)
        return tuple(size if bound == UNBOUNDED_SIZE else bound for bound, size in pairs)

    def may_be_empty(self, source: Instruction, output: int) -> bool:
        """Whether sizes may say that an array has no elements."""
        count = product(self.of(source, output))
        return not isinstance(count, int) and not (self.top().range_of(count).lower or 0)

    def _placed(self, size: Size) -> Size:
        if isinstance(size, int):
            return size
        return plain(operations.substitute((size,), self.known)[0])

    # Facts.

    def top(self, names: LocalNames | None = None) -> LoopBlock:
        """A block in which the sizes are known, and what holds for them."""
        return LoopBlock(names or self._names, self.arguments, self._facts)

    def _learn(self, facts: Iterable[Constraint]) -> None:
        """Take the facts that do not follow from others, short ones first."""
        known = self.top()
        for form, interval in sorted(map(bare, facts), key=lambda row: len(row[0].terms)):
            if not known.holds((known.simplified(form), interval)):
                known.learn([(form, interval)])
        self._facts, self.arguments = known.constraints, known.domain.dims

    def _told(self, fusion: Fusion) -> Iterator[Constraint]:
        """What the module says of the sizes."""
        names = [identifier.removeprefix(PARAMETER) for identifier in self.known]
        for form, interval in size_facts(fusion.instructions[0], names):
            yield operations.substitute((form,), self.known)[0], interval

    def _sizes_of_all(self, fusion: Fusion) -> Iterator[Constraint]:
        """No array has a negative size."""
        for each in _instructions(fusion):
            for output in each.shape.array_indices:
                yield from not_negative(self.of(each, output))

    # Texts.

    def python_function(self, name: str, size: Size) -> list[str]:
        """The lines of a function of Python that computes a size from the arguments."""
        host = self.top(LocalNames(_PYTHON, ["max", "min"]))
        (text,) = host.texts([as_form(size)])
        given = ", ".join(each.name for each in self.arguments)
        lines = [*host.lines, f"return {alone(text)}"]
        return [f"def {name}({given}):", *(f"{_PYTHON.indent}{line}" for line in lines)]

    def comments(self, language: Language) -> list[str]:
        """A line for each argument, and for each condition on several of them."""
        domain = self.top().domain
        texts = [
            f"{given.name} in {given.bounds}: {origin}"
            for given, origin in zip(domain.dims, self._origins, strict=True)
        ]
        texts += [f"{text} in {interval}" for text, (_, interval) in domain.constraint_texts()]
        return [language.comment.format(text) for text in texts]


_PYTHON: Final = replace(
    LANGUAGES["numpy"],
    name="python",
    reserved=frozenset(),
    general={
        **LANGUAGES["numpy"].general,
        AtomKind.MIN: "min({0}, {1})",
        AtomKind.MAX: "max({0}, {1})",
    },
    integer={},
)
"""Its integers have any number of bits."""


def _instructions(fusion: Fusion) -> Iterable[Instruction]:
    return dict.fromkeys((*fusion.operands, *fusion.instructions))


def _parameters_in(fusion: Fusion) -> Iterator[str]:
    """The names of the parameters in the sizes of arrays, and in maps between these."""
    for each in _instructions(fusion):
        for output in each.shape.array_indices:
            sizes = known_sizes(each, output)
            if not isinstance(sizes, Unknown):
                used = forms.variables_of(size for size in sizes if isinstance(size, Form))
                yield from (identifier.removeprefix(PARAMETER) for identifier in used)
    for each in fusion.instructions:
        found = fusion.registry.maps(each)
        maps = found.output_to_input if isinstance(found, OpIndexing) else ()
        for one in maps:
            if not one.is_undefined:
                yield from (parameter.name for parameter in one.parameters)
