"""The explorer: one page to look at a program, to click on instructions, and to see what they read.

``exploration`` is the door. ``views`` says which graphs a page has, ``page_data`` what it knows of
their instructions, ``page_code`` makes JavaScript of maps. The folder ``page`` holds the page
itself: markup, style, and modules of JavaScript, which Python only puts together.
"""

from ops.explorer.exploration import Exploration, explore
from ops.explorer.views import Explored

__all__ = ["Exploration", "Explored", "explore"]
