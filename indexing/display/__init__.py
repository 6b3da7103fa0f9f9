"""How maps look outside of plain text."""
