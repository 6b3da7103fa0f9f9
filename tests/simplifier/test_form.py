"""Forms: one object for equal atoms, an order that depends on structure alone, any depth."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import permutations

import pytest
from hypothesis import given

from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind, Form
from simplifier.expr.printer import format_form
from simplifier.expr.text import parse_form
from tests.cases import for_all
from tests.evaluation import values_of
from tests.extent import IN_CI
from tests.strategies import NAMES, Problem, boxes, expressions, points_of, problems, quasi_affine

x, y, z = map(forms.variable, NAMES)
TWO, THREE = forms.constant(2), forms.constant(3)
DEEP = 5_000 if IN_CI else 2_000


@lru_cache
def nested(name: str, depth: int = DEEP) -> Form:
    form = x
    for _ in range(depth):
        form = NESTS[name](form)
    return form


NESTS: dict[str, Callable[[Form], Form]] = {
    "floordiv": lambda form: operations.floordiv(form + 1, TWO),
    "mod": lambda form: operations.mod(form * 3 + y, forms.constant(7)),
    "min": lambda form: operations.minimum([form + 1, y]),
    "product": lambda form: operations.product([form + 1, y]),
    "divisor": lambda form: operations.floordiv(y, form + 1),
}

COLLECTED = {
    "like terms": (x + y * 2 + x, "x * 2 + y * 2"),
    "nothing is left": ((x + y) - (y + x), "0"),
    "constants are folded": (operations.floordiv(forms.constant(-7), TWO), "-4"),
    "negative divisor": (operations.mod(forms.constant(7), forms.constant(-3)), "-2"),
    "rounded up": (operations.ceildiv(forms.constant(-7), TWO), "-3"),
    "division by zero stays": (operations.floordiv(THREE, forms.ZERO), "3 floordiv 0"),
    "equal operands count once": (operations.minimum([x, x]), "x"),
    "constants of an extremum": (operations.maximum([x, TWO, THREE]), "max(x, 3)"),
    "scale leaves a product": (operations.product([x * 2, TWO, y * 3]), "x * y * 12"),
    "product with zero": (operations.product([x, forms.ZERO]), "0"),
    "a quotient stays": (operations.floordiv(x * 8, forms.constant(8)), "(x * 8) floordiv 8"),
}


@for_all(COLLECTED)
def test_constructors_collect_and_fold(form: Form, text: str) -> None:
    assert str(form) == text
    assert repr(form) == f"Form({text})"


def test_equal_atoms_are_one_object_as_long_as_somebody_holds_it() -> None:
    (atom,), (second,) = (operations.floordiv(x + 1, forms.constant(977)).terms for _ in range(2))
    assert atom is second
    assert forms.variable_atom("x") is forms.variable_atom("x")
    held = weakref.ref(atom)
    del second
    del atom
    gc.collect(0)  # it is young
    assert held() is None
    table = forms._Atoms()
    for number in range(3 * forms._FIRST_SWEEP):
        table.intern(forms.AtomKind.VARIABLE, name=f"x{number}")
    assert len(table._references) <= forms._FIRST_SWEEP


@given(expressions())
def test_equal_forms_have_equal_hashes_and_orders(form: Form) -> None:
    (again,) = operations.substitute([form], {"x": forms.variable("w")})
    (again,) = operations.substitute([again], {"w": forms.variable("x")})
    assert again == form
    assert (hash(again), again.key, again.order) == (hash(form), form.key, form.order)


def test_order_is_by_structure() -> None:
    variables = map(forms.variable, ("d10", "d2"))
    terms = [*variables, operations.mod(x, TWO), operations.floordiv(x, TWO)]
    sums = {str(sum(order, start=forms.ZERO)) for order in permutations(terms)}
    assert sums == {"x mod 2 + x floordiv 2 + d2 + d10"}


@given(quasi_affine(), quasi_affine(), boxes())
def test_arithmetic_on_forms_is_that_on_values(a: Form, b: Form, box: dict[str, Interval]) -> None:
    points = points_of(box)
    left, right = values_of(a, points)[0], values_of(b, points)[0]
    forms_and_values = [(a + b, left + right), (a - b, left - right), (3 - a * 2, 3 - left * 2)]
    for form, values in (*forms_and_values, (-a, -left)):
        assert (values_of(form, points)[0] == values).all()


@given(problems())
def test_substitution_replaces_values(problem: Problem) -> None:
    replacement = operations.mod(y * 5 + z - 3, forms.constant(7))
    (replaced,) = operations.substitute([problem.form], {"x": replacement})
    points = problem.points()
    moved = {**points, "x": values_of(replacement, points)[0]}
    expected, defined = values_of(problem.form, moved)
    found, still_defined = values_of(replaced, points)
    assert (found == expected)[defined & still_defined].all()
    assert (still_defined >= defined).all()


@given(expressions(), expressions())
def test_variables_alone_are_walked_as_all_forms_are(one: Form, other: Form) -> None:
    for walked in ((one, other), (x + y, y + z), (one, x)):
        assert forms.postorder(walked) == forms.postorder(walked, skip=lambda _: False)


@given(expressions())
def test_text_and_pickle_keep_the_form(form: Form) -> None:
    assert parse_form(format_form(form)) == form
    copy = pickle.loads(pickle.dumps(form))  # noqa: S301 - our own
    assert copy == form
    assert all(mine is other for mine, other in zip(copy.terms, form.terms, strict=True))


@pytest.mark.parametrize("name", NESTS)
def test_deep_nests_need_no_recursion(name: str) -> None:
    form = nested(name)
    assert form.depth == DEEP
    assert len(forms.postorder([form])) >= DEEP
    assert list(forms.variables_of([form])).count("x") == 1
    (renamed,) = operations.substitute([form], {"x": z})
    (back,) = operations.substitute([renamed], {"z": x})
    assert renamed != form
    assert back == form
    assert pickle.loads(pickle.dumps(form)) == form  # noqa: S301 - our own
    shallower = nested(name, 1_000)
    assert parse_form(format_form(shallower)) == shallower


def test_threads_agree_on_atoms() -> None:
    def build(_: int) -> list[Form]:
        rests = (operations.mod(x * step + y, forms.constant(97)) for step in range(1, 300))
        return [operations.floordiv(rest + z, forms.constant(11)) for rest in rests]

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(build, range(8))
    atoms = [atom for form in first for atom in form.terms]
    for other in others:
        assert [form.key for form in other] == [form.key for form in first]
        same = [atom for form in other for atom in form.terms]
        assert all(mine is theirs for mine, theirs in zip(atoms, same, strict=True))


def test_kinds_of_divisions() -> None:
    constant = forms.constant(-4)
    for divisor, *expected in ((y, AtomKind.QUOTIENT, 0), (constant, AtomKind.FLOORDIV, -4)):
        (atom,) = operations.floordiv(x, divisor).terms
        assert [atom.kind, atom.divisor] == expected


@given(quasi_affine())
def test_an_atom_keeps_what_is_inside_it(form: Form) -> None:
    for atom in forms.postorder([form]):
        inside = forms.postorder(atom.arguments[::-1])
        assert atom.inside is not None
        assert set(atom.inside) == set(inside)
        places = {each: place for place, each in enumerate(atom.inside)}
        for each in inside:
            parts = [places[other] for part in each.arguments for other in part.terms]
            assert max(parts, default=-1) < places[each]


def test_no_atom_keeps_very_many_others() -> None:
    (atom,) = nested("floordiv").terms
    assert atom.inside is None
    assert len(forms.postorder([Form(0, {atom: 1})])) == DEEP + 1
