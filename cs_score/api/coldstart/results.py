"""The result of scoring a Cold Start run, as people use it from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, overload

from cs_score.api.arguments import Limits, Names, policy_of
from cs_score.api.coldstart.content import Content
from cs_score.api.coldstart.records import RECORDS, ProblemRow, QueryRow, RankingRow, ResponseRow, TableRow
from cs_score.api.coldstart.scored import Scored
from cs_score.api.html import table
from cs_score.api.intervals import IntervalRow, interval_rows
from cs_score.api.kinds import field_types, known
from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.coldstart.options import Policy, as_list
from cs_score.measures.registry import COLD_START_MODE, headline, parse

if TYPE_CHECKING:
    import pandas

    from cs_score.analysis.coldstart.explanation.explanation import Explanation, Wanted
    from cs_score.analysis.coldstart.scored import Scored as ToAnalyse
    from cs_score.api.report import Report
    from cs_score.base.signing.signature import Signature
    from cs_score.statistics.options import IntervalMethod

Kind: TypeAlias = Literal["rows", "queries", "responses", "rankings", "problems"]
"""What records can be about: rows of the tables, queries, lines of the run, ranked nodes, problems."""

_SHOWN: Final = 5
"""Remarks that a notebook shows."""


class RunResult:
    """The result of scoring a run, or all runs of one call.

    Results are made by `Gold.score`, `score`, `rescore` and `load`. They never change, and may be read by several
    threads at a time and pickled.
    """

    def __init__(self, content: Content) -> None:
        self._content = content

    @property
    def run_id(self) -> str:
        """The id of the run. Raises UsageError where the files held none or several (see `run_ids`)."""
        return self._the_run[0]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The ids of the runs that were scored, in order."""
        return tuple(self._content.scores)

    @property
    def scores(self) -> Mapping[str, float]:
        """Every average of the run, by the one name of its measure (`LDC-MEAN-ALL-Macro-F1`, `SF-AP@0`); 0 to 1.

        In the order of `.summary` and `.ap`. Raises UsageError where the files held none or several runs: see
        `scores_by_run`.
        """
        return self._the_run[1]

    @property
    def scores_by_run(self) -> Mapping[str, Mapping[str, float]]:
        """The scores of each run, by its id."""
        return self._content.scores

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._content.policy

    @property
    def justifications(self) -> str:
        """The limits on justifications in force, such as `1:3`."""
        return str(self._content.limits)

    @property
    def errors(self) -> int:
        """Occurrences of problems that are errors: the command line would have left with status 255."""
        return self._content.errors

    @property
    def warnings(self) -> int:
        """Occurrences of problems that are warnings."""
        return self._content.warnings

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each: a run that met no assessment, a doubtful policy."""
        return tuple(self._content.remarks)

    @property
    def signature(self) -> Signature:
        """One citable line that tells what the scores were computed from: `str` prints it, `Signature.parse` reads it.

        `signature.of("SF-AP")` is that of another measure.
        """
        return self._content.origin.signature

    def rescore(self, policy: str | Policy | None = None, *, justifications: Limits | None = None) -> RunResult:
        """The same run under another policy; no file is read again, and what the lines met is kept.

        `policy` is `kb`, `sf` (both with their limits on justifications) or a `Policy`; what is not given stays as it
        is. The result equals that of scoring the files anew. Raises UsageError for an unknown policy, for a result that
        was loaded from JSON and for other limits than a run was validated for, InputError where scoring has to stop.
        """
        scored = self._scored("rescore")
        return RunResult(scored.under(*policy_of(policy, justifications, self.policy, scored.limits)))

    @overload
    def rows(self, kind: Literal["rows"] = "rows") -> list[TableRow]: ...
    @overload
    def rows(self, kind: Literal["queries"]) -> list[QueryRow]: ...
    @overload
    def rows(self, kind: Literal["responses"]) -> list[ResponseRow]: ...
    @overload
    def rows(self, kind: Literal["rankings"]) -> list[RankingRow]: ...
    @overload
    def rows(self, kind: Literal["problems"]) -> list[ProblemRow]: ...

    def rows(self, kind: Kind = "rows") -> Sequence[TableRow | QueryRow | ResponseRow | RankingRow | ProblemRow]:
        """The records of a kind: `rows` (of the tables), `queries`, `responses`, `rankings` or `problems`.

        Each is a named tuple; its fields are the columns of `to_frame`. Raises UsageError for another kind.
        """
        record = known(RECORDS, kind)
        with paused_collector():
            return list(map(record._make, self._content.values(kind)))

    def to_frame(self, kind: Kind = "rows") -> pandas.DataFrame:
        """The same records as a pandas data frame, whose `attrs` hold the `signature` and, as in JSON, its `origin`.

        Texts that repeat are categories, numbers that may be missing are `Int64` or NaN. Raises UsageError for another
        kind, MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        from cs_score.api.frames import frame_of

        fields = field_types(known(RECORDS, kind))
        attrs = {"signature": str(self.signature), "origin": self._content.origin.as_json()}
        with paused_collector():
            return frame_of(fields, self._content.values(kind), attrs)

    def intervals(
        self, resamples: int = 10_000, *, seed: int = 0, confidence: float = 95.0, method: IntervalMethod = "percentile"
    ) -> list[IntervalRow]:
        """Bootstrap intervals of all scores, from resamples of LDC queries (of SF queries where none are known).

        `confidence` is a percentage, `method` `percentile` or `bca`. Raises UsageError for impossible arguments, where
        the files held no run or several, and for a result that was loaded from JSON.
        """
        from cs_score.coldstart.unit_statistics import intervals
        from cs_score.statistics.options import Resampling

        _ = self.run_id
        settings = Resampling(resamples, seed, confidence, method)
        return interval_rows(intervals(self._scored("intervals").result, settings)[0])

    def explain(
        self,
        *,
        line: Wanted = (),
        query: Wanted = (),
        class_name: Wanted = (),
        node: Wanted = (),
        answer: Wanted = (),
        measure: str | None = None,
        policy: str | Policy | None = None,
    ) -> Explanation:
        """Why lines, queries, classes and nodes scored as they did; without any of them, the run as a whole.

        Each is one name or several, as in `cs-score explain`: `line` takes numbers or `FILE:N`, `query` ids of any form
        and hop, `answer` values in which `*` stands for any text. `measure` is what things are worth in; None for the
        one that ranks leaderboards; `policy` is the one in force, None for that of the result. Raises InputError for
        what is not there, with the nearest names, UsageError where
        the files held no run or several, and for a result that was loaded from JSON.
        """
        from cs_score.analysis.coldstart.explanation.explanation import explain

        _ = self.run_id
        given = (self if policy is None else self.rescore(policy))._for_analysis("explain")
        return explain(given, line=line, query=query, class_name=class_name, node=node, answer=answer, measure=measure)

    def report(
        self, measure: str | None = None, *, policy: str | Policy | None = None, run_id: str | None = None
    ) -> Report:
        """A page of what each mistake of the run costs, as `cs-score report` makes it; a notebook shows it.

        `measure` is what gains are measured by, None for the one that ranks leaderboards; `policy` is the one in force,
        None for that of the result; `run_id` chooses one of several runs. Raises UsageError for a measure that there is
        not and for a result that was loaded from JSON, InputError for a run without that score, MissingExtraError
        without jinja2 (`pip install 'cs-score[report]'`).
        """
        from cs_score.analysis.coldstart.analysis import analyze
        from cs_score.api.report import Report

        result = self if policy is None else self.rescore(policy)
        return Report(analyze(result._for_analysis("report", run_id), measure).as_json())

    def write(
        self,
        prefix: str | os.PathLike[str],
        *,
        fields: Names | None = None,
        tabs: bool = False,
        error_file: str | os.PathLike[str] | None = None,
    ) -> list[str]:
        """Write the files of the command line, `PREFIX.sf` and so on, with the same bytes; returns their paths.

        `fields` and `tabs` are the switches -fields and -tabs; `error_file` names a new file for the problem report.
        Each file appears whole or not at all, and no input is overwritten. Raises UsageError for an output that may
        not be written and an unknown field, OutputError for one that cannot be, and UsageError for a result that was
        loaded from JSON.
        """
        from cs_score.api.coldstart.writing import write

        names = None if fields is None else as_list(fields, "fields")
        with paused_collector():
            return write(self._scored("write"), prefix, names, tabs, error_file)

    def to_json(self) -> str:
        """The whole result as JSON, the text that `--json` writes; `load` reads it."""
        with paused_collector():
            return self._content.json()

    def __repr__(self) -> str:
        runs = " ".join(self.run_ids) or "no run"
        shown = next(iter(self.scores_by_run.values()), {}) if len(self.run_ids) == 1 else {}
        scores = [f"{name} {shown[name]:.4f}" for name in headline(COLD_START_MODE) if name in shown]
        under = f"{runs} under {self._policy_name}, {self.justifications}"
        return one_line(f"<{under}{': ' if scores else ''}{', '.join(scores[:3])}>")

    def _repr_html_(self) -> str:
        """The summary: every average by table, average and hop, as in `.summary` and `.ap`."""
        statistics = dict.fromkeys(parse(name).statistic for scores in self.scores_by_run.values() for name in scores)
        found: dict[tuple[str, str, str], dict[str, float]] = {}
        for run_id, scores in self.scores_by_run.items():
            for name, score in scores.items():
                measure = parse(name)
                averaged = f"{measure.table}-ALL-{measure.average}" if measure.average else measure.table
                found.setdefault((run_id, averaged, measure.level), {})[measure.statistic] = score
        rows = [(*key, *map(of_row.get, statistics)) for key, of_row in found.items()]
        problems = f"{self.errors} errors, {self.warnings} warnings"
        caption = f"{self._policy_name}, {self.justifications}; {problems}"
        notes = (*self.remarks[:_SHOWN], str(self.signature))
        return table(caption, ("run", "average", "hop", *statistics), rows, notes)

    @property
    def _policy_name(self) -> str:
        return self._content.origin.settings[0]

    @property
    def _the_run(self) -> tuple[str, Mapping[str, float]]:
        """The id and the scores of the only run."""
        runs = self.scores_by_run
        if len(runs) != 1:
            there = f"{len(runs)} runs ({', '.join(runs)})" if runs else "no run"
            raise UsageError(f"the result holds {there}, not one; see run_ids and scores_by_run")
        return next(iter(runs.items()))

    def _for_analysis(self, what: str, run_id: str | None = None) -> ToAnalyse:
        """The run, or that of this id, as analyses take it. Raises UsageError, for a result that was loaded, too."""
        from cs_score.analysis.coldstart.scored import Scored as ToAnalyse
        from cs_score.analysis.coldstart.scored import score_for_analysis

        scored = self._scored(what)
        if len(self.run_ids) != 1 or run_id not in (None, self.run_id):
            return score_for_analysis(scored.run, self.policy, run_id)
        (result,) = scored.result.runs
        return ToAnalyse(scored.run, self.run_id, scored.policy, result, None, scored.origin, self.signature)

    def _scored(self, what: str) -> Scored:
        if not isinstance(self._content, Scored):
            raise UsageError(f"{what} needs the lines of the run, which JSON does not hold; score its files again")
        return self._content
