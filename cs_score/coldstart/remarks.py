"""What a person should be told beside the scores: doubtful input, and why a run cannot be scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cs_score.base.errors import InputError
from cs_score.coldstart.gold import Run
from cs_score.coldstart.lines import LinkedQuery, Response
from cs_score.coldstart.options import DUPLICATE, SIDES, Policy
from cs_score.coldstart.queries import QuerySet
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.samples import SampleFile
from cs_score.coldstart.tab_files import FileKind

_SHOWN = 3


def check_lines(run: Run) -> None:
    """Raises InputError where files have lines and none of them was accepted. Files of size zero are only warned of."""
    if run.layouts and not run.links.responses and not run.gold.links.assessments:
        raise InputError(
            f"nothing was loaded: no line of {_some(run.layouts)} was accepted",
            remedy="the problems reported say why",
        )


def remarks_on_runs(run: Run, run_ids: Sequence[str]) -> Iterator[str]:
    """Remarks on the runs as loaded: several of them, second-hop lines before their parents."""
    without_parent = run.links.without_parent
    if len(run_ids) > 1:
        yield (
            f"{len(run_ids)} runs are scored in one invocation ({_some(run_ids)}): average precision pools the nodes "
            "of all of them, so score each run by itself to compare them by AP"
        )
        if run.gold.options.samples is not None:
            yield (
                "-samples with several runs: the resampling of the first run narrows the queries of all later ones, "
                "whose scores are then wrong; score each run by itself"
            )
    if without_parent:
        first = without_parent[0]
        lines = _some([str(response.place) for response in without_parent])
        yield (
            f"{len(without_parent)} second-hop line(s) come before their parent line or have none ({lines}): their "
            f"nodes, such as {first.node}, are missing from average precision; put parent lines first"
        )


def remark_on_no_run(run: Run) -> str:
    """The remark that there is no run to score, and why."""
    runs = [name for name, schema in run.layouts.items() if schema.kind is FileKind.RUN]
    pools = [name for name in run.layouts if name not in runs]
    if runs:
        return f"nothing was scored: no line of {_some(runs)} was accepted"
    found = f" ({_some(pools)}: assessments)" if pools else ""
    return f"nothing was scored: none of the files is a run with lines{found}; name the run, too"


def remarks_on_policy(policy: Policy) -> Iterator[str]:
    """Remarks on categories that a policy names more than once (specification 7.5)."""
    named = [(item, side) for side in SIDES for item in policy.items(side)]
    for item in dict.fromkeys(item for item, _ in named):
        sides = [side for other, side in named if other == item]
        if len(sides) == 1:
            continue
        switches = " and ".join(f"-{side.lower()}" for side in sides)
        if item == DUPLICATE:
            yield f"DUPLICATE is in {switches}: duplicates count as {policy.duplicate_side} only, the last of these"
        else:
            yield f"{item} is in {switches}: such responses count {len(sides)} times; name it once"


def remark_on_matches(run: Run, run_id: str, lines: int, has_met: bool) -> str | None:
    """A remark where a run has no line, or none of them met an assessment, which usually means a wrong id or pool."""
    if not lines:
        return f"no line of run {run_id} was loaded, so it is scored as if it had answered nothing; is the id right?"
    if has_met:
        return None
    if all(schema.kind is FileKind.RUN for schema in run.layouts.values()):
        return f"no file holds assessments, so all {lines} lines of run {run_id} are unassessed; name the pool, too"
    hint = "" if run.gold.options.queries is None else ", and are their queries among those of -queries"
    return f"none of the {lines} lines of run {run_id} met an assessment; is this the right assessment file{hint}?"


def remarks_on_samples(name: str, file: SampleFile, queries: QuerySet) -> Iterator[str]:
    """Remarks on a file of resamples: what the scorer takes without a word although it is hardly meant."""
    if not file.exists:
        yield f"{name} does not exist, so nothing is resampled"
    elif not file.samples:
        yield f"{name} is empty, so nothing is resampled"
    if file.blank:
        lines = _some([str(line) for line in file.blank])
        yield f"{name}: blank line(s) {lines} count as one more sample, which draws no query; remove them"
    if file.repeated:
        lines = _some([str(line) for line in file.repeated])
        yield f"{name}: line(s) {lines} replace an earlier sample of the same number; number the samples through"
    drawn = dict.fromkeys(short_id for sample in file.samples for draw in sample.draws for short_id in draw.short_ids)
    unknown = [short_id for short_id in drawn if short_id not in queries.by_id]
    if unknown:
        yield (
            f"{name} draws {len(unknown)} of {len(drawn)} queries that are not in the query files ({_some(unknown)}); "
            "they add nothing to any sample"
        )


def above_one(
    ranking: Ranking, query: LinkedQuery, lines_of: Mapping[str, Sequence[Response]], most: str
) -> InputError:
    """The condition that average precision exceeds 1: query, nodes, lines, and what to do (specification 13.6).

    `most` is the limit on justifications of a node, a digit or `M`.
    """
    crowded = [node for node in ranking.nodes if node.value > 1]
    if crowded:
        reason = "several lines of one node come from one document"
        nodes = crowded
    else:
        reason = "more than one node of a single-valued slot is right"
        nodes = [node for node in ranking.nodes if node.value > 0]
    shown = "; ".join(
        f"node {node.name}, {_lines(lines_of.get(node.name, [node.first]))}, V = {node.value:.4f}"
        for node in nodes[:_SHOWN]
    )
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    run = nodes[0].first.file if nodes else "RUN"
    from shlex import quote

    return InputError(
        f"AP is greater than 1.0: {ranking.score:.4f} for query {query.full_id}, level {ranking.level}, "
        f"because {reason} ({shown}{more})",
        file=nodes[0].first.file if nodes else None,
        remedy="a run must be validated before it is scored: "
        f"cs-score validate-run -justifications 1:{most} -output_file {quote(f'{run}.valid')} QUERIES.xml "
        f"{quote(run)} (QUERIES.xml: the slot-filling queries; cs-score validate-queries -expand makes them from "
        "others), or score with --validate",
        code="AP_ABOVE_ONE",
    )


def _lines(responses: Sequence[Response]) -> str:
    files = dict.fromkeys(response.file for response in responses)
    numbers = ", ".join(str(response.number) for response in responses[:_SHOWN])
    rest = f" and {len(responses) - _SHOWN} more" if len(responses) > _SHOWN else ""
    return f"{' and '.join(files)} line {numbers}{rest}"


def _some(texts: Iterable[str]) -> str:
    texts = list(texts)
    return ", ".join(texts[:_SHOWN]) + (f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")
