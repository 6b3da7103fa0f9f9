"""Limits on work: with them every problem ends in time that grows with its size alone.

A limit is about the forms at hand, never about the work done so far, so results do not depend on
earlier questions. Beyond a limit a form is read term by term, which is always sound.
The names in brackets are inputs of ``tests/simplifier/large.py``, which ``test_budget.py`` runs.
They took several times as long, or did not end, when the limit was lifted.
"""

from __future__ import annotations

from typing import Final

# Forms.

MAX_DEPTH: Final = 20
"""Operations on forms that are nested deeper are kept as they stand.

Each level may ask for several readings of the level below [levels of (f * 5 + y) // n].
"""

MAX_QUOTIENTS: Final = 12
"""A form of more quotients is crowded: comparing each with each takes too long [x // n % m].

With 24, an index that is split and joined with others at each of eight levels takes 20 s. Nor are
more digits of one number compared for overlaps [x // n].
"""

# Products.

MAX_PRODUCT_TERMS: Final = 24
"""A product that would have more terms is not multiplied out [quotient of products]."""

MAX_FACTORS: Final = 16
"""A product of more atoms is not multiplied out: powers of powers never end [(x + 1) ** 200]."""

MAX_FACTORS_JOINED: Final = 64
"""A product with more factors is one factor of another product.

[8 levels of max(min(f * 3, 50) % 11, f // 3) + f]
"""

MAX_BITS: Final = 1 << 13
"""A product whose ends need more bits counts as unbounded: repeated squares double their digits."""

MAX_FLATTENED_TERMS: Final = 8
"""A quotient of a quotient by symbols is flattened to at most so many products."""

# Ranges.

MAX_RANGE_DEPTH: Final = 3
"""How often a reading of a range may ask for the range of a smaller form [clamps]."""

MAX_CONTENT: Final = 16
"""How great a common factor of what was divided is looked for where digits are put together.

Tensors have small ones; each number is tried [24 levels of f + f // 2].
"""

# Maxima.

MAX_OPERANDS: Final = 24
"""Of more operands a maximum compares only those that differ by a constant.

[max of 1,000 clamps]
"""

MAX_OPERANDS_COMPARED: Final = 6
"""Of more operands a maximum compares only pairs, not one with two others together [clamps]."""

MAX_CASES: Final = 8
"""How many cases are distinguished to find the greatest of several forms.

[8 levels of max((f + 1) // 2, f % 7)]
"""

MAX_NESTED_SIZE: Final = 10
"""Variables and operations in a form of maxima inside maxima that is compared with others.

[8 levels of max((f + 1) // 2, f % 7)]
"""

# Constraints.

MAX_FACTS: Final = 32
"""Facts from which no more are concluded about what is inside their atoms [test_facts.py]."""

MAX_EQUATIONS: Final = 8
"""How many equations of a problem are solved, one after the other [test_facts.py]."""

MAX_PROPAGATIONS: Final = 3
"""How often constraints are read again under the bounds that they have narrowed.

Some pairs narrow each other by one, again and again.
"""

MAX_ROUNDS_OF_FACTS: Final = 3
"""How often facts and ranges may sharpen each other in one reading, for the same reason."""

MAX_LINKED_ATOMS: Final = 16
"""Facts are combined while they speak of so many atoms together: each is a row of a tableau."""

MAX_TERMS_LINKED: Final = 3
"""Of a sum of more terms it is not asked what facts imply together: most of them are no question
of their own, and each takes a program [a maximum of two minima of quotients]."""

MAX_TERMS_MULTIPLIED: Final = 16
"""Of a sum of more terms no product is bounded by facts about its factors: each step looks at all
factors of all terms, and an index of eight dimensions of symbolic size has nine terms."""

MAX_PIVOTS: Final = 24
"""How often the facts that bound a form are exchanged for better ones."""

MAX_ENDS: Final = 4
"""Of more inequalities that bound an atom on one side the first are used to eliminate it.

Their consequences may be as many as their squares [five facts, test_symbolic_bounds.py].
"""

MAX_END_SIZE: Final = 12
"""A bound by parameters with more variables and operations is not worked with: it would grow.

[levels of min(max((f * 5 + x) floordiv N, f - 3), N) + f floordiv 7, test_symbolic_bounds.py]
"""

# Choices.

MAX_CONDITIONS: Final = 8
"""How many conditions of a choice that do not hold are facts about a later branch.

[choice of 64 values]
"""

MAX_CONDITIONS_JOINED: Final = 8
"""Of more conditions that are joined, not each is looked at under the others.

[64 conditions]
"""

MAX_NESTED_CHOICES: Final = 8
"""Choices that are nested deeper are left as they stand [levels of select(y > n, f, m)]."""

MAX_NESTED_BITS: Final = 8
"""Functions of bits that are nested deeper are divided no further [bitxor(f, bitxor(g, h))]."""

MAX_BITS_JOINED: Final = 64
"""A function of bits with more operands is one operand of others [levels of bitxor(f, y + n)]."""

MAX_RESIDUES: Final = 1024
"""A polynomial is evaluated for so many residues of its variables [n*(n + 1)*(n + 2)/6]."""

# Extraction.

MAX_EXTRACTED_TERMS: Final = 128
"""A sum with more terms, those inside its operations counted, is left as it stands [clamps]."""

MAX_QUOTIENTS_SEARCHED: Final = (5, 8)
"""How many quotients a sum may have for all steps of extraction, and for its digits alone.

The steps grow with the square of the quotients [x // n * n].
"""

MAX_MAXIMA_SEARCHED: Final = 2
"""Of more maxima in a form, what a step brings in is read and not searched [clamps].

Terms move in and out of each, and each such step asks for all of the others.
"""

MAX_WIDENING: Final = 64
"""A cheaper form that is given stays if it divides or compares at most so many natural widths.

Canonical forms divide common factors out, so the width of a plain linear index may be a few bits
more than that of its digits. Formulas that exploit wide products need many more.
"""

MAX_DEPTH_SEARCHED: Final = 2
"""What a step brings in is only searched if its operations are nested no deeper."""

MAX_DEPTH_ABSTRACTED: Final = 8
"""Operations that are nested deeper are not written again with variables for inner ones.

[levels of (f * 5 + y) // n, test_budget.py]
"""

MAX_STEPS: Final = 2
"""How many steps in a row a form is rewritten by on its way to a cheaper one: more hardly help."""

MAX_EXPANDED: Final = 1 << 12
"""A sum of products with more operators is left as the cheapest form: nested dividends double."""

# Exact answers.

MAX_EXACT_ATOMS: Final = 100
"""Expressions of more variables and operations are not improved by isl: it tries each atom."""

MAX_TABLE: Final = 4096
"""Values of a variable at all of which the exact way looks: a millisecond for each operation."""

MAX_EXACT_PIECES: Final = 3
"""Of more pieces a piecewise value is hardly ever one minimum or maximum."""

MAX_EXACT_GROUP: Final = 8
"""So many sub-expressions are related at once: isl's time grows steeply with their number."""
