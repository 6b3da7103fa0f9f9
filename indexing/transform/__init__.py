"""Maps made of maps: composed, with other variables, one for many; and their values."""

from __future__ import annotations
