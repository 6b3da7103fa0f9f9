"""The schema of the JSON documents, which is installed with the library."""

from __future__ import annotations

from importlib.resources import files


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of what every command prints with ``--json``.

    >>> import json
    >>> json.loads(schema_text())["title"]
    'What python -m indexing COMMAND --json prints'
    """
    return files("ops.cli").joinpath("schema.json").read_text("utf-8").rstrip("\n")
