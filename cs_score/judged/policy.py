"""Policies for judged answers: which labels count as right, half right or wrong, and which are ignored.

These are the four sides of a policy. cs-score gives reserved labels itself, such as UNASSESSED; files may not have
them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.outputs import ending_of
from cs_score.base.records import Record
from cs_score.base.separators import escape_separators, split_unescaped, unescape_separators
from cs_score.base.sources import open_source

Value: TypeAlias = float | None
"""The value of a line: 1 for right, 0.5 for half right, 0 for wrong, or None if the line is ignored."""

VALUE_BY_SIDE: Final[Mapping[str, Value]] = {"right": 1.0, "half": 0.5, "wrong": 0.0, "ignore": None}
"""The value that a policy gives to the labels on each of its sides."""

UNASSESSED: Final = "UNASSESSED"
"""The label of a line of the run that nobody has assessed."""

DUPLICATE: Final = "DUPLICATE"
"""The label of a line if a better line of the unit counts for the same equivalence class."""

RESERVED_LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    UNASSESSED: ("wrong", "ignore"),
    DUPLICATE: ("right", "wrong", "ignore"),
}
"""The labels that cs-score gives itself and no file may have, with the sides on which a policy may put each.

Lines with such a label are ignored if the policy does not name the label.
"""

# fmt: off
_COMMON_LABELS_BY_SIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "right": (
        "correct", "right", "yes", "true", "supported", "supports", "support", "1", "relevant", "pass", "accurate",
    ),
    "half": ("partial", "partially correct", "partially supported", "inexact", "0.5"),
    "wrong": (
        "incorrect", "wrong", "no", "false", "unsupported", "not supported", "refuted", "0", "not relevant",
        "irrelevant", "fail", "inaccurate",
    ),
    "ignore": (
        "error", "judge_error", "judge error", "n/a", "na", "skipped", "skip", "null", "none", "unknown", "idk",
        "not sure", "unsure",
    ),
}
# fmt: on
"""Common labels in lower case, by the side of a policy to which they most likely belong."""


class LabelPolicy(Record):
    """A policy, which says whether a label counts as right, half right or wrong, or is ignored.

    `sides` holds the side of each label: `{"CORRECT": "right", "INCORRECT": "wrong"}`.
    """

    sides: Mapping[str, str]

    @property
    def values(self) -> dict[str, Value]:
        """The value of each label: `{"CORRECT": 1.0, "INCORRECT": 0.0, "UNASSESSED": None, "DUPLICATE": None}`.

        A reserved label that the policy does not name is ignored, so that its value is None.
        """
        value_by_label: dict[str, Value] = dict.fromkeys(RESERVED_LABELS)
        for label, side in self.sides.items():
            value_by_label[label] = VALUE_BY_SIDE[side]
        return value_by_label

    def labels_on(self, side: str) -> list[str]:
        """Return the labels on a side, such as "right", in the order of the policy."""
        return [label for label, side_of_label in self.sides.items() if side_of_label == side]

    def __str__(self) -> str:
        """Return the policy as `--policy` takes it: "right=CORRECT,half=PARTIAL,wrong=INCORRECT"."""
        parts = []
        for side in VALUE_BY_SIDE:
            labels = [escape_separators(label) for label in self.labels_on(side)]
            if labels:
                parts.append(f"{side}={':'.join(labels)}")
        return ",".join(parts)


def read_policy(text: str) -> LabelPolicy:
    """Return the policy that the value of `--policy` describes.

    The value is a text such as "right=A:B,wrong=C", or the name of a JSON file. Raises UsageError for a text that does
    not describe a policy, and InputError for such a file.
    """
    if ending_of(text) == ".json" and "=" not in text:
        return _read_policy_file(text)
    labels_of_sides = _labels_of_sides_in_text(text)
    try:
        return LabelPolicy(_side_by_label(labels_of_sides))
    except ValueError as error:
        raise UsageError(f"--policy: {error}") from None


def _labels_of_sides_in_text(text: str) -> list[tuple[str, list[str]]]:
    """Return each side of a policy with its labels: "right=A:B,wrong=C" -> [("right", ["A", "B"]), ("wrong", ["C"])].

    Raises UsageError for a text of any other form; the names of the sides are not checked.
    """
    labels_of_sides = []
    for part in split_unescaped(text, ","):
        side_and_labels = split_unescaped(part, "=")
        if len(side_and_labels) != 2:
            raise UsageError(f"--policy {one_line(text)}: write right=LABEL:LABEL,wrong=LABEL, not {one_line(part)}")
        side, labels_text = side_and_labels
        labels = [unescape_separators(label) for label in split_unescaped(labels_text, ":")]
        labels_of_sides.append((side, labels))
    return labels_of_sides


def _read_policy_file(path: str) -> LabelPolicy:
    """Return the policy in a JSON file, which holds an object such as {"right": ["A", "B"], "wrong": ["C"]}.

    Raises InputError for any other file.
    """
    with open_source(path) as source:
        data = source.read_bytes()
    try:
        value = json.loads(data)
        return LabelPolicy(_side_by_label(_labels_of_sides(value)))
    except (ValueError, RecursionError) as error:
        remedy = 'write {"right": ["CORRECT"], "wrong": ["INCORRECT"]}'
        raise InputError(f"no policy: {error}", file=path, remedy=remedy) from None


def policy_of_sides(sides: Mapping[str, Sequence[str]]) -> LabelPolicy:
    """Return the policy for a mapping such as `{"right": ["CORRECT"], "wrong": ["INCORRECT"]}`.

    Raises UsageError for an unknown side, and for a label that may not be on its side.
    """
    try:
        return LabelPolicy(_side_by_label(sides.items()))
    except ValueError as error:
        raise UsageError(f"policy: {error}") from None


def _labels_of_sides(value: object) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each side of a policy with its labels, such as ("right", ["A", "B"]), from the JSON value of the policy.

    Raises ValueError if the value is not an object of lists of texts.
    """
    if not isinstance(value, dict):
        raise ValueError("an object is expected")
    for side, labels in value.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise ValueError(f"{side} takes a list of labels")
        yield side, labels


def _side_by_label(labels_of_sides: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return the side of each label, given pairs of a side and its labels.

    Raises ValueError for an unknown side, an empty label, a label on two sides, and a reserved label on a side that it
    may not have.
    """
    side_by_label: dict[str, str] = {}
    for side, labels in labels_of_sides:
        _refuse_unknown_side(side)
        for label in labels:
            _refuse_label_on_side(label, side, earlier_side=side_by_label.get(label))
            side_by_label[label] = side
    return side_by_label


def _refuse_unknown_side(side: str) -> None:
    """Raise ValueError if a policy has no side with this name."""
    if side not in VALUE_BY_SIDE:
        sides_there = ", ".join(VALUE_BY_SIDE)
        suggestion = did_you_mean(side, VALUE_BY_SIDE)
        raise ValueError(f"no side is called {one_line(side)}; there are {sides_there}{suggestion}")


def _refuse_label_on_side(label: str, side: str, *, earlier_side: str | None) -> None:
    """Raise ValueError for a label that may not be on a side of a policy.

    A label may not be empty, and it may not be on two sides; `earlier_side` is the other side of the label, if it has
    one. A reserved label may be on certain sides only.
    """
    if not label:
        raise ValueError(f"a label of {side} is empty")
    if earlier_side not in (None, side):
        raise ValueError(f"{one_line(label)} is named twice: {earlier_side} and {side}")
    if label in RESERVED_LABELS and side not in RESERVED_LABELS[label]:
        allowed_sides = " or ".join(RESERVED_LABELS[label])
        raise ValueError(f"{label} cannot be {side}; it may be {allowed_sides}")


def check_labels(policy: LabelPolicy | None, count_by_label: Mapping[str, int], file: str) -> LabelPolicy:
    """Return the policy if it has a side for every label of a file.

    `count_by_label` says how many lines of the file have each label. Raises InputError if there is no policy, if a
    label of the file has no side, or if the file uses a reserved label. The message lists the labels without a side and
    their counts, and it suggests an option to type.
    """
    _refuse_reserved_labels(count_by_label, file)
    if policy is None:
        problem = f"labels: {_counts_in_words(count_by_label)}"
    else:
        counts_without_side = {label: count for label, count in count_by_label.items() if label not in policy.sides}
        if not counts_without_side:
            return policy
        problem = f"labels that the policy does not name: {_counts_in_words(counts_without_side)}"
    option = suggest_policy(policy, list(count_by_label))
    raise InputError(problem, file=file, remedy=f"say what they count as: --policy {option}")


def _refuse_reserved_labels(labels: Collection[str], file: str) -> None:
    """Raise InputError if a file has a label that cs-score gives itself, such as `UNASSESSED`."""
    for label in RESERVED_LABELS:
        if label in labels:
            problem = f"the label {label} has a meaning of its own and may not be used in a file"
            raise InputError(problem, file=file, remedy="call it something else")


def _counts_in_words(count_by_label: Mapping[str, int]) -> str:
    """Return how many lines have each label, such as "CORRECT 1,204, WRONG 310"."""
    return ", ".join([f"{one_line(label, 60)} {count:,}" for label, count in count_by_label.items()])


def suggest_policy(policy: LabelPolicy | None, labels: Sequence[str]) -> str:
    """Return a value of `--policy` that names all labels, for a user to complete and type.

    A label that the policy does not name gets the side that its name suggests. If the name suggests no side, the word
    SIDE stands in its place: "right=CORRECT,SIDE=B2 (SIDE: right, half, wrong or ignore)".
    """
    side_by_label: dict[str, str] = {}
    if policy is not None:
        side_by_label.update(policy.sides)
    labels_without_side = []
    for label in labels:
        if label in side_by_label:
            continue
        side = guess_side(label)
        if side is None:
            labels_without_side.append(escape_separators(label))
        else:
            side_by_label[label] = side
    parts = []
    if side_by_label:
        parts.append(str(LabelPolicy(side_by_label)))
    if labels_without_side:
        parts.append(f"SIDE={':'.join(labels_without_side)} (SIDE: right, half, wrong or ignore)")
    most_characters = 400
    return one_line(",".join(parts), most_characters)


def guess_side(label: str) -> str | None:
    """Return the side of a policy to which a common label most likely belongs, such as "right" for "Yes".

    Return None for a label that is not common. Letter case is ignored, and underscores and hyphens count as blanks.
    """
    name = label.strip().casefold()
    name_with_blanks = name.replace("_", " ").replace("-", " ")
    for side, common_names in _COMMON_LABELS_BY_SIDE.items():
        if name in common_names or name_with_blanks in common_names:
            return side
    return None
