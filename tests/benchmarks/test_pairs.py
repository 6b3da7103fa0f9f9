"""The benchmark of pairs to be fused runs, and judges each pair once."""

from __future__ import annotations

import pytest

from benchmarks import pairs
from ops import hlo

CHAIN = """ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] negate(p)
  b = f32[4] add(a, a)
  ROOT c = f32[4] add(b, p)
}"""


def test_each_pair_is_judged_once() -> None:
    module = hlo.parse(CHAIN)
    names = [(producer.name, consumer.name) for producer, consumer in pairs.pairs_of(module)]
    assert names == [("p", "a"), ("a", "b"), ("b", "c"), ("p", "c")]
    found = pairs.judged(module, 3)
    assert (found.instructions, found.pairs, found.bounds) == (4, 3, 0)


@pytest.mark.needs("jax")
def test_models_of_growing_depth(capsys: pytest.CaptureFixture[str]) -> None:
    pairs.main(["--layers", "1,2", "--pairs", "20"])
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split()[-1] == "ratio"
    assert [row.split()[::2][0] for row in rows] == ["1", "2"]
    assert rows[0].endswith("1.00")
