"""A difference as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.analysis.evidence.difference import Difference, GroupDifference
from cs_score.analysis.evidence.modes.examiner import Part
from cs_score.analysis.evidence.text import LONGEST_NAME, fitted, limited, shortened, unit_name, value_text
from cs_score.analysis.outcome import Outcome
from cs_score.analysis.significance import significance_lines
from cs_score.base.display import one_line
from cs_score.evidence.report import aligned
from cs_score.evidence.result import counted
from cs_score.statistics.options import sentences


def difference_text(difference: Difference, width: int, top: int) -> str:
    """Scores and difference, units by contribution, what became of the parts, groups."""
    blocks = [
        _heading(difference),
        _units(difference, top),
        _outcomes(difference),
        _answers(difference, width, top),
        *(_groups(name, groups, top) for name, groups in difference.groups.items()),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(difference: Difference) -> list[str]:
    names = difference.names
    rows = [(side, f"{score:.4f}", name) for side, score, name in zip("AB", (difference.a, difference.b), names)]
    lines = [
        f"{difference.mode.name}: {difference.measure}",
        *aligned([("", "score", "predictions"), *rows, ("B - A", f"{difference.difference:+.4f}", "")]),
    ]
    lines += significance_lines(difference.compared)
    return [*lines, *map(one_line, sentences(difference.notes))]


def _units(difference: Difference, top: int) -> list[str]:
    unit = difference.mode.unit
    if not difference.units:
        return [f"No {unit} counts differently."]
    rows = [
        (_share(each.contribution), unit_name(each.unit, each.occurrence), _score(each.a), _score(each.b))
        for each in difference.units
    ]
    title = f"{counted(len(rows), unit)} that {'counts' if len(rows) == 1 else 'count'} differently:"
    return [title, *limited(("contribution", unit, "A", "B"), rows, top)]


def _outcomes(difference: Difference) -> list[str]:
    parts = difference.outcomes
    if not parts:
        return []
    rows = [(outcome, *(str(counts[outcome]) for counts in parts.values())) for outcome in Outcome]
    return aligned([("", *(f"{what}s" for what in parts)), *rows])


def _answers(difference: Difference, width: int, top: int) -> list[str]:
    if not difference.answers:
        return []
    rows = [(difference.mode.unit, "part", "value", "A", "B")]
    for each in difference.answers[:top]:
        value = shortened(value_text(each.fates.value), LONGEST_NAME)
        a, b = map(_fate, (each.fates.a, each.fates.b))
        rows.append((unit_name(each.unit, each.occurrence), each.fates.what, value, a, b))
    more = len(difference.answers) - top
    lines = aligned(fitted(rows, width))
    return ["What fared differently:", *lines, *([f"({more} more)"] if more > 0 else [])]


def _fate(part: Part | None) -> str:
    if part is None or part.fate is None:
        return "-"
    return f"{'right' if part.right else 'wrong'}: {part.fate}"


def _groups(dimension: str, groups: Sequence[GroupDifference], top: int) -> list[str]:
    rows = [(group.group, f"{group.a:.4f}", f"{group.b:.4f}", _share(group.contribution)) for group in groups]
    return limited((dimension.replace("_", " "), "A", "B", "contribution"), rows, top)


def _share(contribution: float | None) -> str:
    return "-" if contribution is None else f"{contribution:+.6f}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"
