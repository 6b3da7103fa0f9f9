from typing import Any

PRECEDENCE: dict[str, int]

def precedence(item: Any) -> int: ...
