"""List the mistakes of a run, each with the gain in the score if it were corrected: the cost list of an analysis. A
fault is a wrong line, a node with a wrong line, or an equivalence class not found. It is corrected by removing lines or
by adding an answer. A mistake is a fault in the form in which documents list it, with the effects of its correction.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import At, Change, Editor
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.faults import RunFault
from cs_score.base.records import Record, field
from cs_score.coldstart.lines import Response

_COMPARED_DIGITS: Final = 12
"""Digits after the point by which gains are compared: equal gains may be computed in ways that differ beyond these."""


class Mistake(Record, kw_only=True):
    """A mistake with what changes if it is corrected.

    `kind` and `change` say what is corrected and how: a line or a node is `absent`, a class is `found`. `file` and
    `line` are those of the line, of the node's first line, or of the assessment by which the class would be found.
    `node` is the FQ node id, `category` that of the line as policies name it, MISSED for a class; None for a node.
    `gain` is the effect on the measure that is asked about. The effects are those of the files without the lines
    `removed` and with `added` at the end of `added_to`.
    """

    kind: Literal["line", "node", "class"]
    change: Literal["absent", "found"]
    file: str
    line: int
    query: str
    slot: str
    hop: int
    value: str
    category: str | None
    node: str | None
    class_name: str | None = field(name="class")
    gain: float | None
    effects: Mapping[str, float | None]
    reachable: bool | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    removed: Sequence[At]
    added: Sequence[str]


_Rank: TypeAlias = tuple[float, int, int, str]
"""The sort key of mistakes: gain from the highest, place in load order, kind."""


def cost_list(effects: Effects, faults: Iterable[RunFault], top: int | None = None) -> list[Mistake]:
    """Return the faults of a run as mistakes, with the gains of correcting them, the greatest gain first.

    Equal gains are in the order of files and lines. Mistakes whose correction the scorer would refuse have no gain and
    come last. `top` is the number of mistakes to return, None for all. Each gain is exact, but correcting two mistakes
    need not gain the sum of both gains.
    """
    if top is None:
        position_by_file = effects.editor.position_by_file
        mistakes = [_mistake_of(fault, effects) for fault in faults]
        return sorted(mistakes, key=lambda mistake: _rank_in_cost_list(mistake, position_by_file))
    # Effects on one measure take less time: those on the others are only computed for the mistakes that are listed.
    costliest_faults = _costliest_faults(effects.for_first_measure(), faults, top)
    return [_mistake_of(fault, effects) for fault in costliest_faults]


def _costliest_faults(effects: Effects, faults: Iterable[RunFault], count: int) -> list[RunFault]:
    """Return the faults whose correction gains most by the first measure of `effects`, in order of the cost list.

    `effects` computes the gains, and `count` is the number of faults to return.
    """
    position_by_file = effects.editor.position_by_file
    return heapq.nsmallest(
        count, faults, key=lambda fault: _rank_in_cost_list(_mistake_of(fault, effects), position_by_file)
    )


def _rank_in_cost_list(mistake: Mistake, position_by_file: Mapping[str, int]) -> _Rank:
    """Return the sort key of a mistake in the cost list; `position_by_file` has the position of files in load order."""
    gain_rank = math.inf if mistake.gain is None else -round(mistake.gain, _COMPARED_DIGITS)
    file_position = position_by_file.get(mistake.file, len(position_by_file))
    return gain_rank, file_position, mistake.line, mistake.kind


def _mistake_of(fault: RunFault, effects: Effects) -> Mistake:
    """Return a fault of the run as a mistake, with the differences that its correction would make to the scores.

    `effects` computes these differences, one for each of its measures. The mistake is `reachable` if it is a class that
    some answer of the pool would find; UNSET for lines.
    """
    line = fault.listed_line  # for a missed class: an answer of the pool
    change = _correction_of(fault, effects.editor)
    effect = effects.effect_of(change)
    is_class = fault.kind == "class"
    is_reachable = fault.why_unreachable is None
    return Mistake(
        kind=fault.kind,
        change="found" if is_class else "absent",
        file=line.file,
        line=line.number,
        query=line.query.full_id,
        slot=line.query.slots[0],
        hop=line.query.level,
        value=line.value,
        category=fault.category,
        node=line.node if isinstance(line, Response) else None,
        class_name=fault.class_name,
        gain=effect.gain,
        effects=effect.differences,
        reachable=is_reachable if is_class else UNSET,
        reason=_reasons_in_words(fault, effect) or UNSET,
        removed=effects.editor.places_removed_by(change),
        added=change.added_texts,
    )


def _reasons_in_words(fault: RunFault, effect: Effect) -> str:
    """Return why no answer of the pool finds a class and why its correction has no score; empty if neither applies."""
    reasons = (fault.why_unreachable, effect.reason)
    return "; ".join([reason for reason in reasons if reason])


def _correction_of(fault: RunFault, editor: Editor) -> Change:
    """Return the change that corrects a fault, as the `editor` makes it.

    It removes wrong lines, or adds a line with the answer of the pool that finds a missed class.
    """
    if fault.missed_answer is not None:
        return Change(added_lines=editor.lines_to_add([fault.missed_answer]))
    return editor.removal_of(fault.lines_to_remove)
