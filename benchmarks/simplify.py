"""Compares the simplifier with others: cost of results, machine code, correctness, speed.

    python -m benchmarks.simplify
    python -m benchmarks.simplify --quick
    python -m benchmarks.simplify --parts growth --plots docs/images

The problems are the published ones of tests/data/conformance, and random ones from a seed. The
peers are isl, TVM, tinygrad, PyTorch Inductor, XLA, MLIR and sympy, as far as they are installed.
Each gets the expression as written and with like terms collected; XLA only gets chains of reshapes
and transposes, as programs. The cheapest narrow result counts, under our cost function; a problem
without an answer costs what it costs as written. A result is wide if it needs greater integers than
the mixed-radix form of the problem (see benchmarks/width.py), and negative if it divides by a
negative number. The same results are compiled by gcc and by nvcc, as far as they are installed, and
their instructions counted (see benchmarks/machine.py). There a result is negative if it divides
what may be negative, and the input does not; by powers of two that costs nothing, by others it
does. Times of peers exclude building their expressions; our times begin with the text. All times
are the least of several cold runs in this run, on this machine.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Final, TypeAlias

from benchmarks import generate, growth, ours, peers
from benchmarks.comparison import (
    Bill,
    Code,
    Excess,
    Row,
    Standing,
    bill,
    compared,
    standing,
    summary,
)
from benchmarks.machine import MACHINES, Machine, is_power_of_two
from benchmarks.ours import Stages
from benchmarks.peers import Peer
from benchmarks.problems import Problem, published
from simplifier.expr.printer import format_form

Report: TypeAlias = "dict[str, object]"


US: Final = "ours"
PARTS: Final = ("published", "random", "speed", "growth")
QUICK_COUNT: Final = 150
STAGES: Final[Sequence[tuple[str, Callable[[Stages], float], tuple[int, int]]]] = (
    ("text to canonical form", lambda found: found.canonical, (100, 2000)),
    ("text to cheapest form", lambda found: found.canonical + found.spelled, (100, 2000)),
    ("cheapest form to sympy", lambda found: found.exported, (100, 2000)),
    ("an equal question again", lambda found: found.again, (3, 3)),
)
"""The stages, and their goals: microseconds at the median and at most."""


def main(arguments: list[str] | None = None) -> None:
    """Print the results of each part."""
    options = _options(arguments)
    report: Report = {}
    gc.freeze()  # the garbage collector skips what the peers imported
    if {"published", "random"} & set(options.parts):
        sides = [ours.load(), *_installed(options.peers)]
        machines = [*_machines()]
        gc.freeze()
        for part, problems in _problems(options):
            report[part] = _comparison(part, problems, sides, machines, options.runs)
    if "speed" in options.parts:
        report["speed"] = _speed(options.runs)
    if "growth" in options.parts:
        report["growth"] = growth.report(1000 if options.quick else 10_000, options.plots)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(peers.ADAPTERS)
    parser.add_argument("--quick", action="store_true", help="fewer problems, runs and sizes")
    parser.add_argument("--parts", type=_list_of(PARTS), default=PARTS, help=", ".join(PARTS))
    parser.add_argument(
        "--peers", type=_list_of(peers.ADAPTERS), default=peers.ADAPTERS, help=names
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of the random problems (0)")
    parser.add_argument("--count", type=int, help="the number of random problems (1000)")
    parser.add_argument("--runs", type=int, help="the number of timed runs of each problem (3)")
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    parser.add_argument("--plots", type=Path, help="draw growth into this folder")
    options = parser.parse_args(arguments)
    options.count = options.count or (QUICK_COUNT if options.quick else 1000)
    options.runs = options.runs or (1 if options.quick else 3)
    return options


def _list_of(known: Sequence[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        found = text.split(",") if text else []
        for name in found:
            if name not in known:
                expected = f"expected some of {', '.join(known)}"
                raise argparse.ArgumentTypeError(f"{name!r} is not known; {expected}")
        return found

    return names


def _installed(adapters: Sequence[str]) -> Iterator[Peer]:
    for adapter in adapters:
        peer = peers.load(adapter)
        if isinstance(peer, str):
            print(f"absent: {peer}")
        else:
            print(f"present: {peer.name} {peer.version}")
            yield peer


def _machines() -> Iterator[Machine]:
    for machine in MACHINES:
        if machine.is_there:
            yield machine
        else:
            print(f"absent: {machine.name}: there is no {machine.compiler}")


def _problems(options: argparse.Namespace) -> Iterator[tuple[str, list[Problem]]]:
    if "published" in options.parts:
        yield "published", published()
    if "random" in options.parts:
        yield "random", generate.problems(options.seed, options.count)


# Comparison.

_TITLES: Final = (
    *("at best", "cost", "x our cost", "wide", "negative", "wrong", "no answer"),
    *("median us", "worst us", "x our time"),
)


def _comparison(
    part: str, problems: list[Problem], sides: list[Peer], machines: list[Machine], runs: int
) -> Report:
    """Print the tables for one set of problems, and every row in which we are behind a peer."""
    rows: list[Row] = []
    for row in compared(problems, sides, runs):
        rows.append(row)
        print(f"\r{part}: {len(rows)} of {len(problems)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    _print_heading(f"{part}: {len(problems)} problems")
    print(f"{'':18}" + "".join(f"{title:>11}" for title in _TITLES))
    summaries = [summary(rows, side.name, US) for side in sides]
    for found in summaries:
        print(
            f"{found.name:18}{found.at_best:11}{found.total_cost:11}{found.cost_ratio:11.2f}"
            f"{found.wide:11}{found.negative:11}{found.wrong:11}{found.unanswered:11}"
            f"{found.median_seconds * 1e6:11.0f}{found.worst_seconds * 1e6:11.0f}"
            f"{found.median_ratio:11.1f}"
        )
    position = standing(rows, US)
    _print_standing(position)
    behind = sorted((row for row in rows if not row.is_at_best(US, US)), key=_excess, reverse=True)
    for row in behind:
        print("\n".join(_lines(row)))
    return {
        "summaries": [asdict(found) for found in summaries],
        "standing": asdict(position),
        "behind": [*map(_record, behind)],
        "instructions": _instructions(rows, machines),
    }


def _excess(row: Row) -> tuple[bool, int]:
    return row.outcomes[US].is_wide, row.excess(US)


def _print_standing(found: Standing) -> None:
    """Print how often our result is as cheap as the best narrow result of the peers, or cheaper."""
    if not found.problems:
        return
    print(
        f"at or below the best narrow result of the peers: {found.at_best} of {found.problems} "
        f"({found.at_best / found.problems:.1%}), below: {found.below}"
    )
    if found.best_cost:
        print(
            f"where ours is narrow it costs {found.our_cost} in total, the best of the peers "
            f"{found.best_cost} ({found.our_cost / found.best_cost - 1:+.1%})"
        )
    if found.wide:
        print(f"where ours is wide, {found.wide} times, theirs costs {found.best_cost_of_wide}")


def _lines(row: Row) -> Iterator[str]:
    """A row in which our result is wide or a narrow one of a peer is cheaper, as text."""
    record = _record(row)
    kind = "wide" if row.outcomes[US].is_wide else f"+{row.excess(US)}"
    yield f"\n{row.problem.name}, {kind}: {row.problem.text}"
    yield f"    bounds {record['bounds']}"
    for name in (US, row.best_peer(US)):
        if name is not None:
            yield f"    {name} {row.outcomes[name].cost}: {record.get(name, 'no answer')}"


def _record(row: Row) -> Report:
    best = row.best_peer(US)
    results = {
        name: format_form(form)
        for name in (US, best)
        if name is not None and (form := row.outcomes[name].form) is not None
    }
    return {
        "name": row.problem.name,
        "expr": row.problem.text,
        "bounds": dict(row.problem.ends),
        "is_wide": row.outcomes[US].is_wide,
        "excess": row.excess(US),
        "best": best,
        **results,
    }


# Machine code.


def _instructions(rows: Sequence[Row], machines: Sequence[Machine]) -> Report:
    """Print what machines execute for the results, and for what they were made of."""
    if not machines:
        return {}
    codes = [Code.of(row, US) for row in rows]
    bills = [bill(codes, machine, US) for machine in machines]
    titles = (title for each in bills for title in (each.machine, "x ours"))
    heading = "".join(f"{title:>11}" for title in (*titles, "negative", "by others"))
    print(f"\n{'instructions':18}{heading}")
    for name in bills[0].totals:
        cells = "".join(
            f"{each.totals[name]:11}{each.totals[name] / each.totals[US]:11.2f}" for each in bills
        )
        signs = [divisors for code in codes if (divisors := code.new_signs(name))]
        dear = [divisors for divisors in signs if not all(map(is_power_of_two, divisors))]
        print(f"{name:18}{cells}{len(signs):11}{len(dear):11}")
    for each in bills:
        _print_bill(each, len(rows))
    return {
        **{each.machine: _bill_record(each) for each in bills},
        "new negative": [_record(code.row) for code in codes if code.new_signs(US)],
    }


def _print_bill(found: Bill, problems: int) -> None:
    """Print where a machine executes more for our results than for those of the peers."""
    if found.best_peer is None:
        return
    for name, excesses in found.excesses.items():
        ratio = found.totals[name] / found.totals[found.best_peer]
        print(
            f"{found.machine}, {name}: {ratio - 1:+.1%} beside {found.best_peer}, the best of the "
            f"peers; more than the best narrow result of them all for {len(excesses)} of "
            f"{problems} ({len(excesses) / problems:.1%})"
        )


def _bill_record(found: Bill) -> Report:
    return {
        "totals": found.totals,
        "best_peer": found.best_peer,
        "dearer": {name: [*map(_excess_record, each)] for name, each in found.excesses.items()},
    }


def _excess_record(found: Excess) -> Report:
    results = {
        name: format_form(form)
        for name in (US, found.peer)
        if (form := found.row.outcomes[name].form) is not None
    }
    return {
        "name": found.row.problem.name,
        "expr": found.row.problem.text,
        "bounds": dict(found.row.problem.ends),
        "best": found.peer,
        "instructions": (found.ours, found.theirs),
        **results,
    }


# Speed of the stages.


def _speed(runs: int) -> Report:
    """Print the times of the stages on the published problems, and the goals."""
    _print_heading("speed on the published problems: least of the runs, microseconds")
    measured = [[ours.stages(problem) for _ in range(runs)] for problem in published()]
    report: Report = {}
    print(f"{'':34}{'median':>10}{'goal':>8}{'worst':>10}{'goal':>8}")
    for title, seconds, goal in STAGES:
        times = [min(map(seconds, found)) * 1e6 for found in measured]
        print(f"{title:34}{median(times):10.1f}{goal[0]:8}{max(times):10.1f}{goal[1]:8}")
        report[title] = {"median": median(times), "worst": max(times), "goal": goal}
    return report


def _print_heading(title: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}")


if __name__ == "__main__":
    main()
