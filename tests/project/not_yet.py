from typing import Any

IMPORTS: Any = frozenset()
HIDDEN_IMPORTS: Any = frozenset()
UNBUILT: Any = frozenset()
UNNAMED: Any = frozenset()
SHARED_FILE_NAMES: Any = frozenset()
SHARED_CLASS_NAMES: Any = frozenset()
LIMITS: Any = frozenset()
