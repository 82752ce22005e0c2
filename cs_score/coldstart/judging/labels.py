"""What a response counts as: its category before the policies, and the sides that the policies put it on.

A response's labels say both: the name of its category, and of each side that it is on. Rules that move a response
rewrite its labels. Source: specification, sections 7.5 to 7.7.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.coldstart.lines.records import JUDGMENT_OF_CODE, Assessment
from cs_score.coldstart.options import IGNORE, RIGHT, SIDES, Policy

INCORRECT_PARENT: Final = "INCORRECT_PARENT"
UNASSESSED: Final = "UNASSESSED"
REDUNDANT: Final = "REDUNDANT"
NOWHERE: Final = ""
"""The nameless side of duplicates when no policy says what to make of them."""

CATEGORIES: Final = (*JUDGMENT_OF_CODE.values(), UNASSESSED, INCORRECT_PARENT)
"""What a response may be before the policies."""

Labels: TypeAlias = tuple[str, ...]
"""Names of categories and sides, sorted; a side that a response is put on twice stands there twice."""


def pre_policy_category(assessment: Assessment | None) -> str:
    """The assessor's judgment, or UNASSESSED."""
    return UNASSESSED if assessment is None else assessment.judgment


@functools.cache
def category_in(labels: Labels) -> str:
    """The category before the policies that labels tell."""
    # A side is called IGNORE, too.
    return next((label for label in labels if label in _TELLING), IGNORE)


_TELLING: Final = frozenset(CATEGORIES) - {IGNORE}


def without(labels: Sequence[str], category: str) -> list[str]:
    """The labels that say something beside the category before the policies."""
    return [label for label in labels if label != category]


@functools.cache
def labels_of_categories(policy: Policy) -> Mapping[str, Labels]:
    """Category before the policies -> the labels of a response to begin with."""
    return {
        category: _labels(category, *(side for side in SIDES for item in policy.items(side) if item == category))
        for category in CATEGORIES
    }


@functools.cache
def as_duplicate(labels: Labels, duplicate_side: str) -> Labels:
    """The labels of a right response that counts as a duplicate instead."""
    at = labels.index(RIGHT)
    return _labels(*labels[:at], *labels[at + 1 :], REDUNDANT, duplicate_side)


@functools.cache
def without_credit(labels: Labels) -> Labels:
    """The labels without those of right and of redundant responses."""
    return tuple(label for label in labels if label not in (RIGHT, REDUNDANT))


@functools.cache
def as_ignored(labels: Labels) -> Labels:
    """The labels with one more, that of ignored responses."""
    return _labels(*labels, IGNORE)


def _labels(*names: str) -> Labels:
    return tuple(sorted(names))
