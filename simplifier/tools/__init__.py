"""Tools that know nothing of expressions."""
