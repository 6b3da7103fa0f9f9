"""Straight-line code of forms: a form used twice gets a name, a small one 32 bits.

A :class:`Coder` writes any number of forms over the variables of a domain.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, count
from typing import Final, TypeAlias

from indexing.code.language import NARROW, WIDE, Language
from indexing.domain import Constraint, Domain, without_implied_ends
from indexing.simplify import scope_with_facts
from simplifier import forms
from simplifier.forms import BITWISE, CONDITIONS, Atom, AtomKind, Form, Interval, Printer

DIVISIONS: Final = (AtomKind.FLOORDIV, AtomKind.QUOTIENT, AtomKind.MOD, AtomKind.CEILDIV)
"""The operations that fail for a divisor of 0."""

_MAX_LENGTH: Final = 200
"""Characters of an expression before it gets a name: compilers are slow on deep nesting."""
_MAX_DEPTH: Final = 4
"""More deeply nested operations are not asked about their range: it takes long."""
_NEGATED: Final = "-{0}"
"""In the template of an operation that changes the sign of its operand."""
_NEVER: Final = frozenset(keyword.kwlist) | {"results"}


def names_in(domain: Domain, reserved: frozenset[str]) -> tuple[str, ...]:
    """The variables' names if the language can use them all, else their identifiers."""
    usable = all(is_usable(name, reserved) for name in domain.names)
    return domain.names if usable else domain.identifiers


def is_usable(name: str, reserved: frozenset[str]) -> bool:
    """Whether a language can call something by this name."""
    return name.isidentifier() and name.isascii() and name not in reserved | _NEVER


class Ranges:
    """Ranges of the values of forms on a domain, as far as they are cheap to find."""

    def __init__(self, domain: Domain) -> None:
        self._scope = scope_with_facts(domain)
        self._known: dict[Form, Interval] = {}

    def of(self, form: Form) -> Interval:
        """An interval with all values of a form; without ends where it would take long to tell."""
        if form not in self._known:
            is_deep = form.depth > _MAX_DEPTH
            self._known[form] = forms.EVERYTHING if is_deep else forms.range_of(self._scope, form)
        return self._known[form]

    def left_to_ask(self, constraint: Constraint) -> Interval:
        """The interval of a constraint, without an end that its form never passes.

        It is empty if the form is never in it. A form that divides by a variable has no value for a
        divisor of 0, so both ends are asked.
        """
        form, interval = constraint
        values = self.of(form)
        both = interval.intersect(values)
        divisions = (atom for atom in forms.postorder((form,)) if atom.kind in DIVISIONS)
        if both.is_empty or interval.is_point or not all(atom.divisor for atom in divisions):
            return both
        return without_implied_ends(interval, values)

    def natural_numerator(self, atom: Atom) -> Form | None:
        """The numerator of a division, if it is never negative and the divisor at least 1.

        That of a remainder gets as many divisors more as it needs, where 32 bits hold the sum.
        """
        numerator, count = forms.natural_dividend(atom, self.of) or (None, 0)
        if numerator is None or not count:
            return numerator
        fits = atom.kind is AtomKind.MOD and self.bits_of_sum(numerator) == NARROW
        return numerator if fits else None

    def bits_of_sum(self, form: Form) -> int:
        """The bits of a form's atoms, of their multiples, and of all partial sums, in any order.

        Subtracted terms are there with both signs.
        """
        constant = Interval.of(form.constant)
        total, parts = _ZERO.union(constant), [-constant] if form.terms else []
        for atom, factor in form.terms.items():
            values = self.of(Form(0, {atom: 1}))
            total = total + (values * factor).union(_ZERO)
            parts += [values, values * -factor, Interval.of(factor), Interval.of(-factor)]
        return NARROW if all(map(is_narrow, (total, *parts))) else WIDE

    def bits_of_product(self, factors: Iterable[Form]) -> int:
        """The bits of factors and of all their products."""
        size = 1
        for factor in factors:
            lower, upper = self.of(factor).lower, self.of(factor).upper
            if lower is None or upper is None:
                return WIDE
            size *= max(abs(lower), abs(upper), 1)
        return NARROW if is_narrow(Interval(-size, size)) else WIDE

    def bits_of(self, form: Form) -> int:
        """The bits of the values of a form."""
        return NARROW if is_narrow(self.of(form)) else WIDE


_ZERO: Final = Interval(0, 0)
_NARROW_VALUES: Final = Interval(-(1 << (NARROW - 1)), (1 << (NARROW - 1)) - 1)


def is_narrow(values: Interval) -> bool:
    """Whether 32 bits hold all values."""
    return _NARROW_VALUES.contains(values)


Bits: TypeAlias = "tuple[int | None, int]"
"""The bits of variables, ``None`` for those that their bounds need; and the least of a value."""

FEWEST: Final[Bits] = None, NARROW


class Coder(Printer):
    """Writes forms in one language; equal parts are computed once, whichever form has them.

    ``names`` are those of the domain's variables in the code, ``taken`` the names that no line may
    give again, ``bits`` what variables have (0 for any), and the least to compute with.
    """

    writes_relations = False

    def __init__(
        self, domain: Domain, language: Language, taken: Iterable[str] = (), bits: Bits = FEWEST
    ) -> None:
        super().__init__(domain.identifiers)
        self.names = dict(zip(domain.identifiers, names_in(domain, language.reserved), strict=True))
        self.lines: list[str] = []
        self._language = language
        self._ranges = Ranges(domain)
        self._parameter_bits, self._narrow = bits
        self._bounds = domain.bounds
        self.taken = {*self.names.values(), *taken}
        """The names that nothing else may have."""
        self._bits: dict[Atom, int] = {}
        self._named_sums: dict[Form, tuple[str, int]] = {}
        self._named_atoms: set[Atom] = set()
        self._uses: Counter[Atom | Form] = Counter()
        self._target = WIDE

    def bits_of_variable(self, identifier: str) -> int:
        """The bits that a variable has in the code."""
        if self._parameter_bits is not None:
            return self._parameter_bits
        return max(self._narrow, NARROW if is_narrow(self._bounds[identifier]) else WIDE)

    def write_all(self, wanted: Sequence[Form]) -> tuple[str, ...]:
        """The texts of forms; :attr:`lines` gets the lines to compute before them."""
        atoms = [atom for atom in forms.postorder(wanted) if atom not in self.texts]
        self._uses.update(_uses(atoms, wanted))
        for atom in atoms:
            self._prepare(atom)
        for form in wanted:
            self._name_sum(form)
        return tuple(self.sum(form) for form in wanted)

    def _prepare(self, atom: Atom) -> None:
        """Sets the text of an atom and its bits; adds the line that names it if it gets a name."""
        for argument in atom.arguments:
            self._name_sum(argument)
        text = self.texts[atom] = self.atom(atom)
        if not atom.arguments or (self._uses[atom] <= 1 and len(text) <= _MAX_LENGTH):
            return
        known = max(self._narrow, self._ranges.bits_of(Form(0, {atom: 1})))
        bits = min(self._bits[atom], known)
        if bits != self._bits[atom]:
            text = self._cast(f"({text})", bits)
        self._bits[atom] = bits
        self.texts[atom] = self._assigned(_said(atom, self.names), text, bits)
        self._named_atoms.add(atom)

    def _name_sum(self, form: Form) -> None:
        """Names the terms of a sum that is computed again, perhaps with another constant."""
        bare = Form(0, form.terms)
        if self._uses[bare] > 1 and bare not in self._named_sums and len(bare.terms) > 1:
            bits = self._bits_of_sum(bare)
            name = self._assigned("", self.sum(bare), bits)
            self._named_sums[bare] = name, bits

    def _assigned(self, wish: str, value: str, bits: int) -> str:
        name = self.fresh_name(wish)
        self.lines.append(self._language.assigned(name, alone(value), bits))
        return name

    def fresh_name(self, wish: str = "") -> str:
        """A name that nothing has yet: the wished one, or ``t0``, ``t1``, and so on."""
        wishes = (wish, *(f"{wish}_{number}" for number in (2, 3))) if wish else ()
        free = (name for name in wishes if name not in self.taken | self._language.reserved)
        numbered = (f"t{number}" for number in count() if f"t{number}" not in self.taken)
        name = next(chain(free, numbered))
        self.taken.add(name)
        return name

    # Bits.

    def _bits_of_sum(self, form: Form) -> int:
        return max(self._narrow, self._ranges.bits_of_sum(form))

    def bits_of(self, form: Form) -> int:
        """The bits that the text of a form has."""
        return self._own_bits(form) or self._bits_of_sum(form)

    def _own_bits(self, form: Form) -> int:
        """The bits of a form before any cast: 0 for a parameter of any type."""
        atom = form.only_atom
        return self._bits_of_sum(form) if atom is None else self._bits[atom]

    def _cast(self, text: str, bits: int) -> str:
        language = self._language
        if not language.integer:
            return text
        is_call = not language.cast.endswith("{0}")
        inner = alone(text) if is_call else text
        return language.cast.format(inner, type=language.integer[bits])

    # Texts.

    def atom(self, atom: Atom) -> str:
        """The text of an atom whose inner atoms have theirs."""
        if atom.kind is AtomKind.VARIABLE:
            self._bits[atom] = self.bits_of_variable(atom.name)
            return self.names[atom.name]
        self._bits[atom] = bits = self._bits_of_operation(atom)
        if atom.kind is AtomKind.PRODUCT:
            ordered = sorted(atom.arguments, key=self._factor_order)
            return " * ".join(self.in_bits(factor, bits, self.operand) for factor in ordered)
        if atom.kind is AtomKind.SUM:
            return f"({self.sum(*atom.arguments)})"
        template, operands = self._operation(atom)
        if atom.kind in (*CONDITIONS, AtomKind.SELECT) and atom.kind is not AtomKind.AND:
            return template.format(*operands, bits=bits)
        return reduce(lambda left, right: template.format(left, right, bits=bits), operands)

    def _bits_of_operation(self, atom: Atom) -> int:
        """The bits of all that an operation reads, computes on the way, and gives.

        A quotient by -1 has the numerator's other sign. Other operations on bits give no more of
        them than they read.
        """
        if atom.kind in CONDITIONS:
            return self._narrow
        if atom.kind is AtomKind.PRODUCT:
            return max(self._narrow, self._ranges.bits_of_product(atom.arguments))
        bits = max(self._narrow, *map(self.bits_of, atom.arguments))
        if atom.kind not in DIVISIONS:
            return bits
        is_negated = _NEGATED in self._language.general[atom.kind]
        if is_negated or -1 in self._ranges.of(atom.arguments[1]):
            return max(bits, self._ranges.bits_of(-atom.numerator))
        return bits

    def in_bits(self, form: Form, bits: int, write: Callable[[Form], str]) -> str:
        """The text of an operand, cast where it has other bits; a number has any."""
        if not (form.terms and self._language.integer) or self._own_bits(form) == bits:
            return write(form)
        atom = form.only_atom
        return self._cast(self.operand(form) if atom is None else _enclosed(self.texts[atom]), bits)

    def _operation(self, atom: Atom) -> tuple[str, Sequence[str]]:
        """The template of an operation, and the texts of its operands."""
        template = self._template(atom)
        is_tight = is_operator(template) or _NEGATED in template or atom.kind in BITWISE
        write = self.operand if is_tight else self.sum
        operands = self._operand_texts(atom, template, write)
        if template is self._language.by_power.get(atom.kind):
            is_quotient = atom.kind is AtomKind.FLOORDIV
            divisor = atom.divisor
            operands[1] = str(divisor.bit_length() - 1 if is_quotient else divisor - 1)
        return template, operands

    def _operand_texts(self, atom: Atom, template: str, write: Callable[[Form], str]) -> list[str]:
        """The texts of operands, all of the operation's bits unless it takes any."""
        arguments = forms.as_written(atom, atom.arguments)
        if template is self._language.natural.get(atom.kind):
            arguments = (self._ranges.natural_numerator(atom) or arguments[0], arguments[1])
        if "{bits}" in template or atom.kind in CONDITIONS:
            return [write(argument) for argument in arguments]
        bits, first = self._bits[atom], int(atom.kind is AtomKind.SELECT)
        texts = [write(argument) for argument in arguments[:first]]
        texts += [self.in_bits(argument, bits, write) for argument in arguments[first:]]
        if bits > NARROW and not any(argument.terms for argument in arguments[first:]):
            texts[-1] = self._cast(texts[-1], bits)
        return texts

    def _template(self, atom: Atom) -> str:
        language = self._language
        if self._bits[atom] > NARROW and atom.kind in language.wide:
            return language.wide[atom.kind]
        if atom.kind in language.by_power and atom.divisor > 0 and atom.divisor.bit_count() == 1:
            return language.by_power[atom.kind]
        if atom.kind in language.natural and self._ranges.natural_numerator(atom) is not None:
            return language.natural[atom.kind]
        return language.general[atom.kind]

    def is_infix(self, atom: Atom) -> bool:
        """Whether the atom's text is an operator between operands."""
        may_be = atom.kind in DIVISIONS and atom not in self._named_atoms
        return may_be and is_operator(self._template(atom))

    def sum(self, form: Form) -> str:
        """The text of a form whose atoms have theirs."""
        bare = Form(0, form.terms)
        if bare in self._named_sums:
            return self._with_constant(form, *self._named_sums[bare])
        outer, self._target = self._target, self.bits_of(form)
        text = super().sum(form)
        self._target = outer
        return f"{text} + 0" if self._may_be_signed(form) else text

    def _may_be_signed(self, form: Form) -> bool:
        """Whether a sum may be -0, where that is a number: only if each of its terms may be."""
        if not self._language.has_signed_zeros or form.constant:
            return False
        terms = form.terms.items()
        is_any = all(factor < 0 or atom.kind is AtomKind.PRODUCT for atom, factor in terms)
        return bool(terms) and is_any

    def _with_constant(self, form: Form, name: str, bits: int) -> str:
        if not form.constant:
            return name
        if self._bits_of_sum(form) > bits:
            name = self._cast(name, WIDE)
        return f"{name} {'-' if form.constant < 0 else '+'} {abs(form.constant)}"

    def operand(self, form: Form) -> str:
        """The text of a form, in parentheses where it is composed."""
        if Form(0, form.terms) in self._named_sums:
            return f"({self.sum(form)})" if form.constant else self.sum(form)
        text = super().operand(form)
        inner = alone(text)
        if inner.isidentifier() or is_enclosed(inner):
            return inner
        is_bits = form.only_atom is not None and self.is_infix(form.only_atom)
        return f"({text})" if is_bits and not is_enclosed(text) else text

    def scaled(self, atom: Atom, factor: int) -> str:
        """The text of a term, in the bits of its sum."""
        text = self.texts[atom]
        if self._bits[atom] != self._target and self._language.integer:
            text = self._cast(_enclosed(text), self._target)
            return text if factor == 1 else f"-{text}" if factor == -1 else f"{text} * {factor}"
        if self.is_infix(atom) and _is_of_bits(self._template(atom)) and factor == 1:
            return f"({text})"
        return super().scaled(atom, factor)


def is_operator(template: str) -> bool:
    """Whether a template has no parentheses."""
    return "(" not in template


def _is_of_bits(template: str) -> bool:
    """Whether an operator binds less tightly than a sum."""
    return ">>" in template or "&" in template


def is_enclosed(text: str) -> bool:
    """Whether one pair of parentheses is around a whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _enclosed(text: str) -> str:
    return text if text.isidentifier() or is_enclosed(text) else f"({text})"


def alone(text: str) -> str:
    """A text without the parentheses around it: it stands for itself."""
    return text[1:-1] if is_enclosed(text) else text


def _uses(atoms: Iterable[Atom], wanted: Iterable[Form]) -> Iterator[Atom | Form]:
    """Atoms and sums without constants, once for each form that has them."""
    inner = {argument for atom in atoms for argument in atom.arguments}
    for form in {*inner, *wanted}:
        yield from form.terms
    arguments = [argument for atom in atoms for argument in atom.arguments]
    for form in (*arguments, *wanted):
        if len(form.terms) > 1:
            yield Form(0, form.terms)


_WORDS: Final = {AtomKind.FLOORDIV: "div", AtomKind.MOD: "mod", AtomKind.CEILDIV: "ceildiv"}


def _said(atom: Atom, names: Mapping[str, str]) -> str:
    """Name for a division of a variable, ``d0_div_8``; empty for other divisions."""
    variable = atom.arguments[0].single_variable() if atom.kind in _WORDS else None
    if variable is None or atom.divisor <= 0:
        return ""
    return f"{names[variable]}_{_WORDS[atom.kind]}_{atom.divisor}"


def helpers_in(code: Iterable[str], helpers: Mapping[str, str]) -> list[str]:
    """The texts of the helper functions that the lines call."""
    called = set(re.findall(r"\w+(?=\()", "\n".join(code)))
    return [text for name, text in helpers.items() if name in called]
