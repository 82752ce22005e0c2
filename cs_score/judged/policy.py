"""A policy: what each label of judged answers counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.outputs import ending_of
from cs_score.base.records import Record
from cs_score.base.sources import open_source

Value: TypeAlias = float | None
"""What a line counts: 1, 1/2 or 0; None where it is ignored."""

VALUES: Final[Mapping[str, Value]] = {"right": 1.0, "half": 0.5, "wrong": 0.0, "ignore": None}
"""The sides of a policy, with what a label on each of them counts."""

UNASSESSED: Final = "UNASSESSED"
"""What a line of the run without an assessment is called."""

DUPLICATE: Final = "DUPLICATE"
"""What a line is called whose class a better line of the unit has found."""

RESERVED: Final[Mapping[str, tuple[str, ...]]] = {
    UNASSESSED: ("wrong", "ignore"),
    DUPLICATE: ("right", "wrong", "ignore"),
}
"""Names that no label of a file may have, with the sides that they may stand on; ignored unless a policy names them."""

SPECIAL: Final = ",:="
"""The characters that stand between the parts of a policy; in a label each has a backslash before it."""

_GUESSES: Final[Mapping[str, tuple[str, ...]]] = {
    "right": (
        "correct",
        "right",
        "yes",
        "true",
        "supported",
        "supports",
        "support",
        "1",
        "relevant",
        "pass",
        "accurate",
    ),
    "half": ("partial", "partially correct", "partially supported", "inexact", "0.5"),
    "wrong": (
        *("incorrect", "wrong", "no", "false", "unsupported", "not supported", "refuted", "0", "not relevant"),
        *("irrelevant", "fail", "inaccurate"),
    ),
    "ignore": (
        "error",
        "judge_error",
        "judge error",
        "n/a",
        "na",
        "skipped",
        "skip",
        "null",
        "none",
        "unknown",
        "idk",
        "not sure",
        "unsure",
    ),
}
"""Common labels, in lower case, with the side that somebody most likely means."""


class Policy(Record):
    """What labels count: the side of each, in the order in which the policy names them."""

    sides: Mapping[str, str]

    @property
    def values(self) -> dict[str, Value]:
        """What each label counts, the two reserved names among them."""
        values: dict[str, Value] = dict.fromkeys(RESERVED)
        for label, side in self.sides.items():
            values[label] = VALUES[side]
        return values

    def labels_on(self, side: str) -> list[str]:
        """Return the labels of a side in the order of the policy."""
        return [label for label, side_of_label in self.sides.items() if side_of_label == side]

    def __str__(self) -> str:
        """Return the policy as `--policy` takes it."""
        parts = []
        for side in VALUES:
            labels = [escaped(label) for label in self.labels_on(side)]
            if labels:
                parts.append(f"{side}={':'.join(labels)}")
        return ",".join(parts)


def escaped(label: str) -> str:
    """Return a label as a policy writes it."""
    for character in ("\\", *SPECIAL):
        label = label.replace(character, f"\\{character}")
    return label


def split_escaped(text: str, separator: str) -> list[str]:
    """Split a text at a separator that has no backslash before it; other escapes are kept for the next split.

    >>> split_escaped(r"a\\,b,c", ",")
    ['a\\\\,b', 'c']
    """
    parts = [""]
    is_escaped = False
    for character in text:
        if character == separator and not is_escaped:
            parts.append("")
        else:
            parts[-1] += character
        is_escaped = character == "\\" and not is_escaped
    return parts


def unescaped(text: str) -> str:
    """Return a label without the backslashes before special characters."""
    plain = ""
    is_escaped = False
    for character in text:
        if is_escaped and character not in (*SPECIAL, "\\"):
            plain += "\\"
        is_escaped = character == "\\" and not is_escaped
        if not is_escaped:
            plain += character
    return plain + "\\" if is_escaped else plain


def read_policy(text: str) -> Policy:
    """Return the policy that `--policy` gives, as a text or as the name of a JSON file.

    Raise UsageError for a text that is no policy, InputError for a file that holds none.
    """
    if ending_of(text) == ".json" and "=" not in text:
        return _policy_of_file(text)
    pairs = []
    for part in split_escaped(text, ","):
        side, *rest = split_escaped(part, "=")
        if len(rest) != 1:
            raise UsageError(f"--policy {one_line(text)}: write right=LABEL:LABEL,wrong=LABEL, not {one_line(part)}")
        pairs.append((side, [unescaped(label) for label in split_escaped(rest[0], ":")]))
    try:
        return Policy(_sides_of(pairs))
    except ValueError as error:
        raise UsageError(f"--policy: {error}") from None


def _policy_of_file(path: str) -> Policy:
    with open_source(path) as source:
        data = source.read_bytes()
    try:
        value = json.loads(data)
        return Policy(_sides_of(_pairs_of(value)))
    except (ValueError, RecursionError) as error:
        remedy = '{"right": ["CORRECT"], "wrong": ["INCORRECT"]}'
        raise InputError(f"no policy: {error}", file=path, remedy=f"write {remedy}") from None


def policy_of_sides(sides: Mapping[str, Sequence[str]]) -> Policy:
    """Return the policy of labels by side. Raise UsageError for what is none."""
    try:
        return Policy(_sides_of(sides.items()))
    except ValueError as error:
        raise UsageError(f"policy: {error}") from None


def _pairs_of(value: object) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the sides of a policy in JSON with their labels. Raise ValueError for anything else."""
    if not isinstance(value, dict):
        raise ValueError("an object is expected")
    for side, labels in value.items():
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise ValueError(f"{side} takes a list of labels")
        yield side, labels


def _sides_of(pairs: Iterable[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return the side of each label. Raise ValueError for what no policy can say."""
    sides: dict[str, str] = {}
    for side, labels in pairs:
        if side not in VALUES:
            raise ValueError(
                f"no side is called {one_line(side)}; there are {', '.join(VALUES)}{nearest(side, VALUES)}"
            )
        for label in labels:
            if not label:
                raise ValueError(f"a label of {side} is empty")
            if sides.get(label, side) != side:
                raise ValueError(f"{one_line(label)} is named twice: {sides[label]} and {side}")
            if side not in RESERVED.get(label, VALUES):
                allowed = " or ".join(RESERVED[label])
                raise ValueError(f"{label} cannot be {side}; it may be {allowed}")
            sides[label] = side
    return sides


def check_labels(policy: Policy | None, count_by_label: Mapping[str, int], file: str) -> Policy:
    """Return the policy, which names every label of a file.

    Raise InputError where none was given, or some label of a file is on none of its sides: the line has the labels with
    their numbers, and the option to type.
    """
    for label in RESERVED:
        if label in count_by_label:
            problem = f"the label {label} has a meaning of its own and may not be used in a file"
            raise InputError(problem, file=file, remedy="call it something else")
    sides = {} if policy is None else policy.sides
    unknown = [label for label in count_by_label if label not in sides]
    if policy is not None and not unknown:
        return policy
    counts = ", ".join(
        f"{one_line(label, 60)} {count:,}" for label, count in count_by_label.items() if label in unknown
    )
    which = "labels" if policy is None else "labels that the policy does not name"
    option = suggested(policy, list(count_by_label))
    raise InputError(f"{which}: {counts}", file=file, remedy=f"say what they count as: --policy {option}")


def suggested(policy: Policy | None, labels: Sequence[str]) -> str:
    """Return a policy to type that names all labels: as the given one does, else by a guess from common names."""
    sides = {} if policy is None else dict(policy.sides)
    unclear = []
    for label in labels:
        if label in sides:
            continue
        side = guessed_side(label)
        if side is None:
            unclear.append(label)
        else:
            sides[label] = side
    text = str(Policy(sides))
    if unclear:
        places = ":".join(escaped(label) for label in unclear)
        text = ",".join(part for part in (text, f"SIDE={places} (SIDE: right, half, wrong or ignore)") if part)
    return one_line(text, 400)


def guessed_side(label: str) -> str | None:
    """Return the side that a common label most likely belongs to; None where nothing is known of it."""
    plain = label.strip().casefold()
    for side, names in _GUESSES.items():
        if plain in names or plain.replace("_", " ").replace("-", " ") in names:
            return side
    return None
