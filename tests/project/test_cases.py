"""A test of many cases runs all of them and names those that fail; tables of texts are read."""

from __future__ import annotations

import pytest

from tests.cases import by_name, for_all, for_rows, pairs, rows


def test_all_cases_run_and_each_failure_is_named() -> None:
    seen: list[int] = []

    @for_all(range(20))
    def test(number: int) -> None:
        seen.append(number)
        assert number % 2 == 0

    with pytest.raises(ExceptionGroup, match=r"10 of 20 cases fail:\n1\n3\n5\n") as caught:
        test()
    assert seen == list(range(20))
    assert caught.value.exceptions[0].__notes__[-1] == "in the case 1"


def test_a_tuple_is_several_arguments_and_the_first_column_may_be_the_name() -> None:
    def test(low: int, high: int) -> None:
        """Doc."""
        assert low < high

    of_tuples = for_all([(1, 2), (3, 4)])(test)
    of_tuples()
    assert (of_tuples.__name__, of_tuples.__doc__) == ("test", "Doc.")
    with pytest.raises(ExceptionGroup) as caught:
        for_rows([("fine", 1, 2), ("odd", 3, 3)])(test)()
    assert caught.value.message == "1 of 2 cases fail:\nodd\n"


def test_a_row_has_a_name_and_a_line_for_each_column() -> None:
    table = by_name("""
of two
    first
    second, and
        its rest
of one
    [only]
""")
    assert table == {"of two": ("first", "second, and its rest"), "of one": ("[only]",)}
    assert pairs("a\n    b") == {"a": "b"}
    assert rows("# of pairs\n\na => b\nc\n    d") == [("a", "b"), ("c", "d")]
    with pytest.raises(ValueError, match="two rows are called 'a'"):
        by_name("a\n    b\na\n    c")
