"""The benchmark of whole modules measures what it says, on files and on models that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import modules
from benchmarks.transformer import train_step
from ops import hlo

FUSED = """HloModule fused
f { p = f32[8,4] parameter(0) ROOT t = f32[4,8] transpose(p), dimensions={1,0} }
ENTRY e { q = f32[8,4] parameter(0) ROOT r = f32[4,8] fusion(q), kind=kLoop, calls=f }
"""


def test_each_file_and_all_of_them_have_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{name}.hlo" for name in "ab"]
    for path in paths:
        path.write_text(FUSED, "utf-8")
    modules.main(["--layers=", "--profile", *map(str, paths)])
    printed = capsys.readouterr().out.splitlines()
    head, *lines = [line for line in printed if not line.startswith("no ")]
    assert head == modules.HEAD
    rows, profile = lines[:3], lines[5:]
    assert any(line.endswith("ops/hlo/parser.py: parse") for line in profile)
    names = [f"{tmp_path.name}/a", f"{tmp_path.name}/b", "all 2 files"]
    assert [row.split("  ")[0] for row in rows] == names
    assert [int(row[36:43]) for row in rows] == [4, 4, 8]


def test_every_stage_is_timed() -> None:
    found = modules.measured([FUSED])
    assert found.spent.keys() == {"read", *modules.STAGES}
    assert all(seconds > 0 for seconds in found.spent.values())
    assert found.instructions == 4
    assert found.megabytes > 10


@pytest.mark.needs("jax")
def test_a_deeper_model_has_more_of_the_same() -> None:
    one, two, three = (hlo.parse(train_step(layers)) for layers in (1, 2, 3))
    results, parameters = (
        [len(module.entry.root.shape.elements) for module in (one, two, three)],
        [len(module.entry.parameters) for module in (one, two, three)],
    )
    assert results == parameters
    assert results[1] - results[0] == results[2] - results[1] == 3 * 12
