"""The laws of the canonical form, one module for each kind of atom.

A law is an identity over the integers with a side condition that is decided by ranges; a condition
that is not known to hold counts as false. Laws take the scope they work in as first argument: it
answers for ranges and builds forms.
"""
