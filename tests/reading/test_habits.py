"""Each habit is counted where it is, and not where the code is plain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading.habits import Habit, read_functions, signs_of

PLAIN = '''
def count_right(labels, policy):
    """Return how many labels the policy counts as right."""
    right = 0
    for label in sorted(labels, key=lambda label: label.name):
        if label in policy.right:
            right += 1
    return right
'''

WITH_HABIT = {
    Habit.PARTICIPLE: "    found = labels\n    return found\n",
    Habit.NO_VERB: '    """The labels that are right."""\n    return labels\n',
    Habit.RELATIVE_CLAUSE: '    """Return what is right."""\n    return labels\n',
    Habit.CONDITION_IN_ITERABLE: "    for label in labels if labels else ():\n        print(label)\n",
    Habit.STARRED_WORK: "    return [1, *sorted(labels)]\n",
    Habit.UNRELATED_VALUES: "    first, names = labels[0], len(labels)\n    return first + names\n",
    Habit.NESTED_COMPREHENSION: "    return [letter for label in labels for letter in label]\n",
    Habit.HAND_OVER: "    return list(map(str, labels))\n",
    Habit.WALRUS: "    if number := len(labels):\n        print(number)\n",
    Habit.NESTED_CONDITIONAL: "    return 1 if labels else 2 if policy else 3\n",
    Habit.INNER_FUNCTION: "    def right():\n        return labels\n    return right\n",
    Habit.DEEP_NESTING: (
        "    for label in labels:\n        if label:\n            for letter in label:\n"
        "                if letter:\n                    print(letter)\n"
    ),
}


def _habits_of(source: str, folder: Path) -> set[Habit]:
    (folder / "module.py").write_text(source, "utf-8")
    return {habit for function in read_functions(folder) for habit, count in function.habits.items() if count}


def test_plain_code_has_no_habit(tmp_path: Path) -> None:
    assert _habits_of(PLAIN, tmp_path) == set()


@pytest.mark.parametrize("habit", WITH_HABIT)
def test_a_habit_is_counted(habit: Habit, tmp_path: Path) -> None:
    body = WITH_HABIT[habit] + "    pass\n" * 3
    assert _habits_of(f"def rights(labels, policy):\n{body}", tmp_path) == {habit}


def test_many_parameters_are_a_habit(tmp_path: Path) -> None:
    source = (
        "def rights(labels, policy, run, pool, query, slot):\n    print(labels)\n    print(policy)\n    print(run)\n"
    )
    assert _habits_of(source, tmp_path) == {Habit.MANY_PARAMETERS}


def test_short_functions_and_init_files_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text(PLAIN, "utf-8")
    (tmp_path / "short.py").write_text("def rights(found):\n    found += 1\n    return found\n", "utf-8")
    assert read_functions(tmp_path) == []


def test_elif_is_no_deeper_than_its_if(tmp_path: Path) -> None:
    branches = "".join(f"    elif labels == {number}:\n        print(policy)\n" for number in range(9))
    assert (
        _habits_of(f"def rights(labels, policy):\n    if labels:\n        print(labels)\n{branches}", tmp_path) == set()
    )


def test_signs_are_shares_and_counts_in_1000_lines(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(
        PLAIN + "def rights(labels):\n" + WITH_HABIT[Habit.WALRUS] + "    pass\n", "utf-8"
    )
    signs = signs_of(read_functions(tmp_path))
    assert signs.functions == 2
    assert signs.verb_first == 100
    assert signs.per_1000_lines[Habit.WALRUS] == pytest.approx(1000 / 10)
