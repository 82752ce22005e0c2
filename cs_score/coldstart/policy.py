"""What a response counts as: its category before the policies, and the side that the policies put it on.

Source: specification, sections 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from cs_score.coldstart.equivalence import ClassNode
from cs_score.coldstart.options import IGNORE, RIGHT, WRONG, Policy
from cs_score.coldstart.records import Assessment, Response

INCORRECT_PARENT: Final = "INCORRECT_PARENT"
UNASSESSED: Final = "UNASSESSED"
REDUNDANT: Final = "REDUNDANT"
NOWHERE: Final = ""
"""The nameless list of duplicates when no policy says what to make of them."""

MatchedAssessments = Sequence[Assessment | None]
"""The assessment of each response by index, None where it has none."""

Lists = dict[str, list[Response]]
"""Category name -> its responses; a response may stand in several lists, and twice in one."""


def is_path_correct(node: ClassNode, response: Response, matched: MatchedAssessments, policy: Policy) -> bool:
    """Whether every answer on the way to `response`, which stands in `node`, is right (specification 7.4).

    The first response of the parent class that the query asks about decides; without one the path is incorrect.
    """
    while node.depth > 1:
        assert node.parent is not None
        node = node.parent
        deciding = node.first_answer(response.query)
        if deciding is None:
            return False
        assessment = matched[deciding.index]
        if assessment is None or assessment.judgment not in policy.right:
            return False
        response = deciding
    return True


def pre_policy_category(assessment: Assessment | None) -> str:
    """The assessor's judgment, or UNASSESSED."""
    return UNASSESSED if assessment is None else assessment.judgment


def without(labels: Sequence[str], category: str) -> list[str]:
    """The labels that say something beside the category before the policies."""
    return [label for label in labels if label != category]


def categorise_class(node: ClassNode, matched: MatchedAssessments, policy: Policy) -> Lists:
    """The lists of one class: categories before the policies, and the sides after them (specification 7.5)."""
    lists: Lists = {}
    at_top = node.depth == 1
    for response in node.responses:
        if at_top or is_path_correct(node, response, matched, policy):
            assessment = matched[response.index]
            category: str = UNASSESSED if assessment is None else assessment.judgment
        else:
            category = INCORRECT_PARENT
        if category in lists:
            lists[category].append(response)
        else:
            lists[category] = [response]
    for side, items in ((RIGHT, policy.right), (WRONG, policy.wrong), (IGNORE, policy.ignore)):
        for item in items:
            if item in lists:
                lists.setdefault(side, []).extend(lists[item])
    right = lists.get(RIGHT, [])
    if len(right) > 1:
        named, nominal = _by_mention(right, matched)
        kept, *redundant = *named, *nominal
        lists[RIGHT] = [kept]
        make_redundant(redundant, lists, policy)
    return lists


def make_redundant(responses: Sequence[Response], lists: Lists, policy: Policy) -> None:
    """Count responses as duplicates, and put them where the policies want duplicates."""
    lists.setdefault(REDUNDANT, []).extend(responses)
    lists.setdefault(policy.duplicate_side or NOWHERE, []).extend(responses)


def _by_mention(responses: Sequence[Response], matched: MatchedAssessments) -> tuple[list[Response], list[Response]]:
    """Responses that name their entity, then those that only describe it, each in load order."""

    def is_nominal(response: Response) -> bool:
        assessment = matched[response.index]
        return assessment is not None and assessment.value_mention == "NOM"

    named = [response for response in responses if not is_nominal(response)]
    return named, [response for response in responses if is_nominal(response)]


def blocked_by_mention(
    group: Sequence[Response], matched: MatchedAssessments, is_wrong: Callable[[Response], bool], most: int | None
) -> bool:
    """Whether a node's responses do not count because none of its best ones names the entity (specification 7.7).

    `group` are the node's responses, best first. The first `most` assessed ones are looked at (None: all of them). One
    that is not wrong clears the node if it is a name, or if the class is known only by descriptions.
    """
    looked_at = 0
    for response in group:
        assessment = matched[response.index]
        if assessment is None:
            continue
        if most is not None and looked_at == most:
            break
        looked_at += 1
        if not is_wrong(response) and (assessment.value_mention == "NAM" or assessment.class_mention == "NOM"):
            return False
    return True
