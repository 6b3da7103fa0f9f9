"""Pictures: SVG, axes of grids, and which elements a map reads."""
