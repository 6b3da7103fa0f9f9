"""Maps in the languages of other tools, and back."""
