"""The command line as tests call it, and the files that it reads."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.cli.small_modules import FILES

SOFTMAX = "examples/softmax.hlo"

OF_KERNELS = ("maps", "fusions", "why", "reads", "summary", "utilization", "tiles")
OF_MODULES = (*OF_KERNELS, "schedule", "coalescing", "loops")
"""The commands that read modules, many at once."""

Json: TypeAlias = "dict[str, Any]"


class CommandLine:
    """Calls in this process; only what ends with 1 may say a word to the stream of errors."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys

    def file(self, content: str | bytes, name: str = "module.hlo") -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def streams(self, *arguments: object, code: int | None = 0) -> tuple[str, str]:
        """What goes to the two streams, of a call with this exit code, or with any."""
        found = _main(arguments)
        out, err = self._capsys.readouterr()
        assert found == (found if code is None else code), err
        assert bool(err) == (found == 1)
        return out, err

    def __call__(self, *arguments: object, code: int = 0) -> str:
        return self.streams(*arguments, code=code)[0]

    def words(self, call: str) -> list[str]:
        """The words of a call that may name small modules, and FOLDER."""
        words = shlex.split(call.replace("FOLDER", str(self.folder)))
        return [str(self.file(FILES[word], word)) if word in FILES else word for word in words]

    def document(self, *arguments: object, code: int | None = 0) -> Json:
        found: Json = json.loads(self.streams(*arguments, "--json", code=code)[0])
        return found

    def error(self, *arguments: object) -> str:
        """What is said where there is no answer."""
        out, err = self.streams(*arguments, code=1)
        assert out == ""
        return err

    def stopped(self, *arguments: object, code: int = 2) -> tuple[str, str]:
        """What a call says that ends before it begins, for help or for wrong use."""
        with pytest.raises(SystemExit) as stopped:
            _main(arguments)
        assert stopped.value.code == code
        return self._capsys.readouterr()

    def misuse(self, *arguments: object) -> str:
        """What is said of arguments that make no sense."""
        out, err = self.stopped(*arguments)
        assert out == ""
        return err


def _main(arguments: Iterable[object]) -> int:
    from ops.cli import main  # seldom asked, and slow to load

    return main([*map(str, arguments)])


def sessions(text: str) -> list[Any]:
    """Calls and their answers, as a terminal shows them below a name, with blank lines between."""
    blocks = (block.split("\n", 2) for block in text.strip("\n").split("\n\n"))
    return [
        pytest.param(call.removeprefix("$ "), f"{answer}\n", id=name.removeprefix("# "))
        for name, call, answer in blocks
    ]
