"""The mixed-radix form: a canonical form by its digits, ``((x floordiv a) mod b) * stride``.

The digit view of the form says which quotients belong together; each digit is written as a
remainder of the cheapest number that is congruent to its source. Where the reading is plain, no
form is easier to read, and no search is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from simplifier.bounds.context import DigitView
from simplifier.bounds.digits import is_clamp
from simplifier.canonical.scope import Scope
from simplifier.expr import form as forms
from simplifier.expr.form import FLOORDIV, MAX, VARIABLE, Atom, AtomKind, Form, postorder
from simplifier.extraction.cost import overlaps
from simplifier.extraction.width import reduced
from simplifier.laws.catalogue.floordiv import REFLECT
from simplifier.laws.catalogue.steps import CONGRUENT_RESIDUES, DIGIT
from simplifier.laws.rewrite_log import Rewrite


class _Remainder(NamedTuple):
    """``weight * (source mod radix)`` in a form, where it stands as ``weight * value``."""

    weight: int
    value: Form
    source: Form
    radix: int

    def reflected(self) -> _Remainder:
        """The digit counted from its other end, ``L mod n = n - 1 - (n - 1 - L) mod n``."""
        last = self.radix - 1
        value, source = last - self.value, last - self.source
        return self._replace(weight=-self.weight, value=value, source=source)

    def written(self, form: Form, numerator: Form) -> Form:
        """The form with a remainder of this numerator, which is congruent to the source."""
        return form.plus(self.value, -self.weight).plus(numerator % self.radix, self.weight)


Residue: TypeAlias = "Callable[[Form, int], Form]"
"""The cheapest number congruent to a source by a radix."""

CostOfRemainder: TypeAlias = "Callable[[Form, int], int]"
"""What the remainder of a form by a radix costs."""


def natural_reading(scope: Scope, form: Form, residue: Residue) -> list[Rewrite]:
    """The steps that write the digits of a canonical form as remainders, one after the other."""
    steps: list[Rewrite] = []
    if form.has_quotient_or_maximum and scope.ranges.keys() >= form.terms.keys():
        for found in _digits(scope, form):
            digit, laws = found, (DIGIT,)
            beside = form.constant - digit.weight * digit.value.constant
            if digit.source.constant and beside == -digit.weight * (digit.radix - 1) > 0:
                digit, laws = found.reflected(), (DIGIT, REFLECT)
            numerator = residue(digit.source, digit.radix)
            if numerator != digit.source:
                laws = (*laws, CONGRUENT_RESIDUES)
            after = digit.written(form, numerator)
            steps.append(Rewrite(laws, form, after))
            form = after
    return steps


def _digits(scope: Scope, form: Form) -> Iterator[_Remainder]:
    for weight, unit in scope.view(form).units:
        if unit.quotient is not None:
            yield _Remainder(weight, unit.value, unit.source, unit.radix)


def cheapest_residue(scope: Scope, source: Form, radix: int, cost_of: CostOfRemainder) -> Form:
    """The number congruent to the source whose remainder is the cheapest."""
    residues = dict.fromkeys(_residues(scope, source, radix))
    if any(atom.kind is MAX for atom in source.terms):
        residues |= dict.fromkeys(_shifted_clamps(reduced(source, radix), radix))
    if len(residues) == 1:
        return source

    def cost(residue: Form) -> int:
        readings = dict.fromkeys((residue, _by_digits(scope, residue)))
        return min(cost_of(reading, radix) for reading in readings)

    return min(residues, key=cost)


def _residues(scope: Scope, source: Form, radix: int) -> Iterator[Form]:
    """The source, and congruent numbers of small weights: none negative, near zero, its signs."""
    weighted = list(_weighted(scope.view(source)))
    if all(0 < 2 * weight <= radix for weight, _ in weighted):
        if source.constant >= radix:
            yield Form(source.constant % radix, source.terms)
        yield source
        return
    for near in _REDUCED:
        whole = forms.weighted_sum([(near(weight, radix), part) for weight, part in weighted])
        digits = sum(weight * part.constant for weight, part in weighted)
        yield Form((whole.constant + source.constant - digits) % radix, whole.terms)
    yield source


def _shifted_clamps(positive: Form, radix: int) -> Iterator[Form]:
    """Congruent forms whose constant moves into a clamp: ``max(0, x + 6) - 6 = max(-6, x)``."""
    for atom, factor in positive.terms.items():
        if is_clamp(atom):
            for weight in (factor, factor - radix):
                offset = -weight * atom.arguments[1].constant
                if (offset - positive.constant) % radix == 0:
                    yield Form(offset, {**positive.terms, atom: weight})


def _weighted(view: DigitView) -> Iterator[tuple[int, Form]]:
    """The parts of a view with their weights; a quotient without the multiples taken with it."""
    for weight, unit in view.units:
        if unit.holds_quotient and len(unit.value.terms) > 1:
            for atom, factor in unit.value.terms.items():
                yield weight * factor, Form(0, {atom: 1})
        else:
            yield weight, unit.value


_REDUCED: Final[tuple[Callable[[int, int], int], ...]] = (
    lambda weight, radix: weight % radix,
    lambda weight, radix: (weight + (radix - 1) // 2) % radix - (radix - 1) // 2,
    lambda weight, radix: weight % radix if weight > 0 else -(-weight % radix),
)


def _by_digits(scope: Scope, form: Form) -> Form:
    """The form with a remainder for each digit, whatever its numerator costs."""
    for digit in _digits(scope, form):
        form = digit.written(form, digit.source)
    return form


def is_plain(form: Form) -> bool:
    """Whether a reading is a sum of digits times strides, each digit in one term.

    Nothing in it can then vanish, merge or turn its sign.

    >>> from simplifier.expr.text import parse_form
    >>> for text in ("(x mod 8) * 4 + x floordiv 8", "x + x floordiv 8", "7 - (x + 1) mod 8"):
    ...     print(is_plain(parse_form(text)))
    True
    False
    False
    """
    divisions = [atom for atom in form.terms if atom.kind is not VARIABLE]
    if len(divisions) > 1 and any(form.terms[atom] < 0 for atom in divisions):
        return False
    return all(_is_settled(form, atom) for atom in divisions) and not (
        len(divisions) > 1 and (overlaps(form) or _may_merge(form, divisions))
    )


def _is_settled(form: Form, atom: Atom) -> bool:
    """Whether a division has nothing to take in or to turn."""
    if atom.kind not in DIGITS or not _is_positive_affine(atom.numerator):
        return False
    factor, constant = form.terms[atom], form.constant
    if atom.numerator.constant and (factor < 0 or (constant and constant % factor == 0)):
        return False
    if factor < 0 and constant == -factor * (atom.divisor - 1):
        return False
    is_rounded_up = factor > 1 and atom.numerator.constant == atom.divisor - 1
    if is_rounded_up and any(each > 1 for each in atom.numerator.terms.values()):
        return False  # k*floor((N + c - 1)/c) = -k*floor(-N/c), whose signs cost nothing
    return all(inner not in form.terms for inner in atom.numerator.terms)


DIGITS: Final = (FLOORDIV, AtomKind.MOD)
"""Operations that read digits of a number."""


def _is_positive_affine(numerator: Form) -> bool:
    terms = numerator.terms.items()
    return all(factor > 0 and (not atom.arguments or _is_division(atom)) for atom, factor in terms)


def _is_division(atom: Atom) -> bool:
    """Whether the atom divides by a number, and holds no maximum."""
    return atom.divisor > 0 and all(inner.kind is not MAX for inner in postorder((atom.numerator,)))


def _may_merge(form: Form, divisions: list[Atom]) -> bool:
    """Whether quotients of one divisor may add up to one."""
    quotients = [atom for atom in divisions if atom.kind is FLOORDIV]
    return len({(atom.divisor, form.terms[atom]) for atom in quotients}) < len(quotients)
