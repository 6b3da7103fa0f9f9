"""Pages of the documentation that are written by programs between marks."""

from __future__ import annotations


def with_generated(page: str, name: str, generated: str) -> str:
    """The page with this between the marks ``<!-- NAME -->`` and ``<!-- end of NAME -->``."""
    before, after = _around(page, name)
    return f"{before}\n{generated}\n{after}"


def generated_in(page: str, name: str) -> str:
    """What stands between the marks."""
    before, after = _around(page, name)
    return page[len(before) : len(page) - len(after)].strip("\n")


def _around(page: str, name: str) -> tuple[str, str]:
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = page.partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page has no marks {start.strip()} and {end.strip()}")
    return before + start, end + after
