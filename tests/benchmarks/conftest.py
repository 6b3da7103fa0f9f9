"""Tests of the programs that measure: only in CI, unless they are named."""

from __future__ import annotations

from tests.extent import IN_CI

collect_ignore_glob = [] if IN_CI else ["test_*.py"]
