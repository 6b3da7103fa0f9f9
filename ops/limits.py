"""How much the analyses of programs do before they give one wide, marked map instead of many.

No limit makes a result wrong: what is beyond one is widened and marked as an approximation, found
again, or left in a longer form. Each entry names the test that shows why it is there.
"""

from __future__ import annotations

from typing import Final

# How many maps there may be.

MAX_MAPS: Final = 128
"""If more different maps lead to an array, one map that holds them all takes their place.

A chain of shifts or butterflies doubles its maps with each step. So does a chain of updates, whose
maps depend on more and more values, too: one of ``n`` values counts ``n**2`` times.
Test: ``test_budgets.test_one_map_takes_the_place_of_many_and_is_marked``."""

MAX_MAPS_OF_LOOP: Final = 64
"""If a loop leads along more different maps between two arrays, one map takes their place.

A loop that moves an element by one has as many maps as iterations, and often that is millions.
Test: ``test_budgets.test_one_map_takes_the_place_of_rounds_without_end``."""

MAX_COMPOSITIONS: Final = 4096
"""So many different compositions are made for a question; beyond, each set of maps becomes one map.

It bounds the time of a question to seconds, whatever the program is.
Test: ``test_budgets.test_what_is_exact_is_held``."""

USUAL_WEIGHT: Final = 16
"""An indexing with so many terms costs one composition; with more, it costs their square.

Test: ``test_budgets.test_a_map_that_only_grows_comes_to_an_end``."""

MAX_INLINED: Final = 1 << 14
"""So many arrays are followed run by run into what a fusion calls; beyond, a call is one step.

Calls of calls double the runs with each level.
Test: ``test_reads.test_calls_without_end_are_one_step``."""

# How long a formula may be.

MAX_TERMS: Final = 160
"""A formula that compositions have made longer becomes a table of its values, or else a range.

Shuffled bits nest deeper with each operation; simplifying them takes the square of their length.
Tests: ``test_budgets.test_what_is_exact_is_held``, ``test_bounded_work`` (shuffles of thirty
elements)."""

MAX_TERMS_OF_WIDE: Final = 8
"""Where no compositions are left, formulas have no more terms than this.

Test: ``test_budgets.test_a_map_that_only_grows_comes_to_an_end``."""

# What is remembered.

MAX_REMEMBERED_COMPOSITIONS: Final = 1 << 14
"""So many compositions of maps are remembered: the layers of a model repeat them.

It only saves time, and mostly between questions; no test fails without it."""

MAX_INTERNED: Final = 1 << 16
"""When so many dependences are interned, all are forgotten, and memory stays bounded.

Equal ones are then found again, no more.
Test: ``test_budgets.test_what_is_forgotten_is_found_again``."""

MAX_REMEMBERED_INSTRUCTIONS: Final = 1 << 15
"""So many different instructions are remembered with their maps, for the next modules.

After that a module begins with none, and finds again what it needs. Test:
``test_value_numbering.test_what_is_too_much_to_remember_is_found_again``."""

MAX_REMEMBERED_MODULES: Final = 4
"""So many modules are remembered with what was found about them: questions come in groups.

Test: ``test_work_of_paths.test_equal_maps_are_composed_once`` fails if none is."""

MAX_REMEMBERED_COMPUTATIONS: Final = 64
"""So many computations are remembered with the users of their instructions.

Test: ``test_work_of_fusions.test_a_question_goes_through_no_other_instructions`` fails if none
is."""

# How much other tools do.

MAX_STEPS_OF_COMPARISON: Final = 100_000
"""isl spends so many operations to see that one map is a part of another.

A comparison that is given up leaves one map more. Tests:
``test_control_flow.test_a_loop_runs_any_number_of_rounds``,
``test_containment.test_what_takes_long_to_compare_stays``."""

MAX_PATHS: Final = 8
"""So many paths of provenance are listed unless somebody asks for more.

Test: ``test_why.test_more_paths_than_anyone_can_list_are_counted``."""

MAX_OPERANDS: Final = 100_000
"""An operation that is described by numbers alone has no more operands, of which each takes a map.

Test: ``test_refusals.test_odd_arguments_are_refused_in_words``."""
