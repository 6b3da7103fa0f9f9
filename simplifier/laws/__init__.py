"""Laws: rewritings of the simplifier, stated as data, and the log of their uses.

A law is an identity over the integers with a side condition. Ranges decide the condition; one that
is not known to hold counts as false. The code that applies the laws is in the rooms above.
"""

from __future__ import annotations
