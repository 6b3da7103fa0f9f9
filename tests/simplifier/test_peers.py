"""What the published tests of other simplifiers expect: we reach it on every case, or better it.

What peers expect does not count where it divides by a negative number, or is wide.
"""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path

import sympy

from simplifier import Interval, bounds_of, cost, parse_expr, simplify
from tests.cases import for_all
from tests.conformance import Row
from tests.evaluation import Bounds, Constraints, differing_point
from tests.extent import in_ci, part
from tests.simplifier.objective import is_good

FOLDER = Path(__file__).parents[1] / "data" / "simplifier" / "peers"
ROWS: list[Row] = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]
SIMPLIFICATIONS = [row for row in ROWS if "expected" in row]
DEARER = {"tvm_rewrite_scalable_9": "vscale * 4 is computed anyway, so 4 % (vscale * 4) is cheaper"}
"""Results that cost more than what a peer expects, and why it is cheaper."""
RANGES = [row for row in ROWS if "expected_bounds" in row]


@for_all(part(SIMPLIFICATIONS, 400), itemgetter("id"))
def test_no_peer_expects_a_cheaper_result(row: Row) -> None:
    expression, bounds, constraints = question(row)
    result = simplify(expression, bounds, constraints)
    assert differing_point(expression, result, bounds, constraints) is None, result
    expected = parse_expr(row["expected"])
    known = bounds, constraints
    is_reached = cost(result, *known) <= cost(expected, *known) or not is_good(expected, *known)
    assert is_reached != (row["id"] in DEARER), result
    assert simplify(result, bounds, constraints) == result


@in_ci
@for_all(SIMPLIFICATIONS, itemgetter("id"))
def test_what_peers_expect_is_equal(row: Row) -> None:
    expression, bounds, constraints = question(row)
    expected = parse_expr(row["expected"])
    assert differing_point(expression, expected, bounds, constraints) is None


@for_all(RANGES, itemgetter("id"))
def test_no_peer_expects_tighter_bounds(row: Row) -> None:
    expression, bounds, constraints = question(row)
    assert Interval(*row["expected_bounds"]).contains(bounds_of(expression, bounds, constraints))


def question(row: Row) -> tuple[sympy.Expr, Bounds, Constraints]:
    """An expression, its bounds, its constraints."""
    bounds = {name: Interval(*ends) for name, ends in row["bounds"].items()}
    constraints = [(parse_expr(text), Interval(*ends)) for text, ends in row.get("constraints", ())]
    return parse_expr(row["expression"]), bounds, constraints
