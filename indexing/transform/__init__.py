"""Maps made of maps: composed, substituted, without unused variables; and their values."""
