"""The kinds of random cases: their operations, constants, bounds and limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from random import Random
from typing import Final

from benchmarks import generate
from benchmarks.fuzzing.case import Case
from benchmarks.problems import Ends, happens, published
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.text import parse_form

QUASI_AFFINE: Final = ("sum", "sum", "floordiv", "floordiv", "mod", "mod", "ceildiv", "min", "max")
EVERYTHING: Final = (*QUASI_AFFINE, "product", "quotient", "modulus", "roundup")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of the expressions of one kind."""

    signs: Sequence[str] = QUASI_AFFINE
    names: Sequence[str] = ("x", "y", "z", "w")
    leaves: tuple[int, int] = (1, 7)
    numbers: Sequence[int] = (0, 0, 1, -1, 2, 3, 4, 5, 7, 8, 12, 63, -2, -3, -9)
    divisors: Sequence[int] = (2, 2, 3, 3, 4, 5, 6, 7, 8, 12, 16, 60, -1, -2, -3, -4)
    lowers: Sequence[int | None] = (0, 0, 0, 0, 1, -1, -3, -8, 5, 17)
    widths: Sequence[int | None] = (0, 1, 1, 2, 3, 4, 7, 9, 15, 31, 63, 99)
    limits: int = 0

    def case(self, random: Random) -> Case:
        """A case of this kind."""
        names = sorted(random.sample(self.names, random.randint(1, len(self.names))))
        return Case(
            self.expression(random, names, random.randint(*self.leaves)),
            {name: self.ends(random) for name in names},
            [self.limit(random, names) for _ in range(random.randint(0, self.limits))],
        )

    def ends(self, random: Random) -> Ends:
        """The bounds of a variable."""
        lower, width = random.choice(self.lowers), random.choice(self.widths)
        if lower is None:
            return None, random.choice((None, width))
        return lower, None if width is None else lower + width

    def limit(self, random: Random, names: Sequence[str]) -> tuple[Form, Ends]:
        """A limit of an expression."""
        form = self.expression(random, names, random.randint(1, 3))
        lower = random.choice((None, 0, 0, -4, 1, 3))
        return form, (lower, random.choice((None, (lower or 0) + random.choice((0, 1, 7, 30)))))

    def expression(self, random: Random, names: Sequence[str], leaves: int) -> Form:
        """An expression with at most this many leaves."""
        if leaves <= 1:
            return self._leaf(random, names)
        here = random.randint(1, leaves - 1)
        sign, left = random.choice(self.signs), self.expression(random, names, here)
        if sign in _BY_CONSTANT:
            return _BY_CONSTANT[sign](left, forms.constant(random.choice(self.divisors)))
        right = self.expression(random, names, leaves - here)
        if sign == "sum":
            number = random.choice(self.numbers)
            factors = [random.choice((1, 1, -1, *self.numbers)) for _ in range(2)]
            return left.times(factors[0]).plus(right, factors[1]).plus_constant(number)
        return _OF_EXPRESSIONS[sign](left, right)

    def _leaf(self, random: Random, names: Sequence[str]) -> Form:
        if happens(random, 0.1):
            return forms.constant(random.choice(self.numbers))
        return forms.variable(random.choice(names))


_BY_CONSTANT: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "floordiv": operations.floordiv,
    "mod": operations.mod,
    "ceildiv": operations.ceildiv,
}
_OF_EXPRESSIONS: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "min": lambda left, right: operations.minimum((left, right)),
    "max": lambda left, right: operations.maximum((left, right)),
    "product": lambda left, right: operations.product((left, right)),
    "quotient": operations.floordiv,
    "modulus": operations.mod,
    "roundup": operations.ceildiv,
}

_AFFINE: Final = Recipe()
_HUGE: Final = (10**18 + 9, 2**64, 2**63 - 1, 10**30, -(10**25), 3**80)


def _digits(random: Random) -> Case:
    """Quotients and remainders of one source by a chain of divisors, with new weights."""
    recipe = replace(_AFFINE, signs=("sum",), names=("x", "y", "z"), divisors=(2, 3, 4, 5, 8, 12))
    names = sorted(random.sample(recipe.names, random.randint(1, 2)))
    source = recipe.expression(random, names, random.randint(1, 3))
    total = forms.ZERO
    for _ in range(random.randint(2, 4)):
        chain = random.sample(recipe.divisors, random.randint(1, 2))
        digit = operations.floordiv(source, forms.constant(random.choice((1, *chain))))
        if happens(random, 0.7):
            digit = operations.mod(digit, forms.constant(random.choice(recipe.divisors)))
        total = total.plus(digit, random.choice((1, 1, -1, 2, 3, *chain, *map(int.__neg__, chain))))
    return Case(total, {name: recipe.ends(random) for name in names})


def _deep(random: Random) -> Case:
    """A chain of operations, each applied to the previous one."""
    recipe = replace(_AFFINE, names=("x", "y"))
    form = forms.variable("x")
    for _ in range(random.choice((8, 15, 30, 60, 120))):
        form = random.choice(_LAYERS)(form, forms.constant(random.choice(recipe.divisors)))
    return Case(form, {"x": recipe.ends(random), "y": recipe.ends(random)})


_LAYERS: Final[Sequence[Callable[[Form, Form], Form]]] = (
    operations.floordiv,
    operations.mod,
    operations.ceildiv,
    lambda form, number: form.plus(number),
    lambda form, number: form.times(2).plus(number),
    lambda form, number: operations.maximum((form, number)),
    lambda form, number: operations.minimum((form, forms.variable("y").plus(number))),
    lambda form, _: form.plus(forms.variable("y")),
)


def _chain(random: Random) -> Case:
    """Index arithmetic, as in the comparison with other simplifiers."""
    drawn = generate.problem(random.getrandbits(32), 0, random.choice(list(generate.KINDS)))
    return Case(drawn.form, drawn.ends)


def _published(random: Random) -> Case:
    """A published expression with some numbers changed a little."""
    problem = random.choice(published())
    changed = re.sub(r"\d+", lambda match: _near(random, int(match[0])), problem.text)
    names = re.compile(r"[a-z]+\d")
    text = problem.text if names.findall(changed) != names.findall(problem.text) else changed
    ends = {
        name: (lower, None if upper is None else max(lower or 0, int(_near(random, upper))))
        for name, (lower, upper) in problem.ends.items()
    }
    return Case(parse_form(text), ends)


def _near(random: Random, number: int) -> str:
    return str(random.choice((number, number, number, number + 1, max(1, number - 1), 2 * number)))


def _sums(random: Random) -> Case:
    """Sums of quotients of linear forms, in which carries occur."""
    names = ("x", "y")
    recipe = replace(_AFFINE, signs=("sum",), names=names)
    quotients = [
        operations.floordiv(
            recipe.expression(random, names, random.randint(1, 3)),
            forms.constant(random.choice(recipe.divisors)),
        ).times(random.choice(recipe.numbers) or 1)
        for _ in range(random.randint(2, 4))
    ]
    return Case(reduce(forms.Form.plus, quotients), {name: recipe.ends(random) for name in names})


def _long(random: Random) -> Case:
    """Quotient chains of some sums, in sums and extrema, with constraints: hundreds of letters."""
    names = _AFFINE.names[: random.randint(1, 4)]
    recipe = replace(_AFFINE, signs=("sum",), numbers=(*_AFFINE.numbers, 32, 64, 128, 253, -61))
    parts = [_quotient_chain(random, recipe, names) for _ in range(random.randint(2, 6))]
    while len(parts) > 1:
        left, right = parts.pop(), parts.pop(0)
        kind = random.choice(("max", "min", "sum", "floordiv"))
        joined = left.plus(right)
        if kind in ("max", "min"):
            joined = (operations.maximum if kind == "max" else operations.minimum)((left, right))
        elif kind == "floordiv":
            joined = operations.floordiv(joined, forms.constant(random.choice(recipe.divisors)))
        parts.append(joined)
    limits = [
        (recipe.expression(random, names, 2), (lower, lower + random.choice((0, 3, 50))))
        for lower in random.choices(range(-5, 20), k=random.choice((0, 0, 1, 2, 4)))
    ]
    return Case(parts[0], {name: recipe.ends(random) for name in names}, limits)


def _quotient_chain(random: Random, recipe: Recipe, names: Sequence[str]) -> Form:
    """Digits of a sum, some of them shifted, with weights that may put them together again."""
    source, radix = recipe.expression(random, names, 3), random.choice((2, 3, 5, 7, 8))
    total, weight = forms.ZERO, 1
    for _ in range(random.randint(2, 4)):
        shifted = source.plus_constant(random.choice((0, 0, *recipe.numbers)))
        digit = operations.floordiv(shifted, forms.constant(weight))
        if happens(random, 0.5):
            digit = operations.mod(digit, forms.constant(random.choice((radix, weight * radix))))
        total = total.plus(digit, random.choice((weight, -weight, *recipe.numbers)))
        weight *= radix
    return total


KINDS: Final[Mapping[str, Callable[[Random], Case]]] = {
    "small": replace(
        _AFFINE,
        names=("x", "y"),
        leaves=(2, 4),
        numbers=(0, 0, 1, -1, 2, 3, 4, 6, 8, -2, -5),
        divisors=(2, 2, 3, 4, 5, 6, 8, -2, -3),
        lowers=(0, 0, 0, 1, -1, -3, 5),
        widths=(0, 1, 2, 3, 4, 6, 7, 9, 12, 15),
    ).case,
    "affine": _AFFINE.case,
    "unbounded": replace(_AFFINE, lowers=(0, 0, 1, -3, None), widths=(None, None, 1, 7, 31)).case,
    "symbolic": replace(_AFFINE, signs=EVERYTHING, leaves=(2, 6), widths=(0, 1, 2, 7, None)).case,
    "huge": replace(
        _AFFINE,
        signs=EVERYTHING,
        numbers=(0, 1, *_HUGE),
        divisors=(2, 3, -7, *_HUGE),
        lowers=(0, 1, -(10**20), None),
        widths=(1, 63, 10**18, 2**70, None),
    ).case,
    "limited": replace(_AFFINE, limits=3, leaves=(1, 5), widths=(1, 3, 7, 31, None)).case,
    "digits": _digits,
    "sums": _sums,
    "deep": _deep,
    "chain": _chain,
    "published": _published,
    "long": _long,
}

WEIGHTS: Final[Mapping[str, float]] = {
    "small": 65,
    "affine": 10,
    "unbounded": 6,
    "symbolic": 7,
    "huge": 3,
    "limited": 7,
    "digits": 1.5,
    "sums": 1,
    "chain": 1,
    "published": 0.2,
    "deep": 0.1,
    "long": 0.1,
}
"""How many of a hundred cases are of a kind: few of those that take long."""
