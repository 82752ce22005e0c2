"""Results of Cold Start runs from Python.

A result is its document (the JSON of `--json`), whose parts are made when they are asked for where lines were scored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cs_score.analysis.coldstart.explanation.explanation import explain
from cs_score.analysis.coldstart.scored import Scored as ToAnalyse
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.api.arguments import Limits, Names, checked, policy_of
from cs_score.api.documents import AnyResult, Explanation
from cs_score.api.tables import PROBLEMS, QUERIES, RANKINGS, RESPONSES, ROWS, SCORES, units_of_runs
from cs_score.base.display import one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, outputs_together, write_whole
from cs_score.base.records import replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.coldstart import outputs
from cs_score.coldstart.documents import Scores, choose, document_of, scores_text
from cs_score.coldstart.gold import Run, under_limits
from cs_score.coldstart.options import Justifications, Options, Policy, as_list, switch_words
from cs_score.coldstart.resampling import bootstrap
from cs_score.coldstart.result import Result
from cs_score.coldstart.result import RunResult as OneRun
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.unit_statistics import intervals
from cs_score.measures.registry import COLD_START_MODE, headline
from cs_score.problems.log import ProblemLog
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import Table
from cs_score.verification.recorded import cold_start_options

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.explanation.explanation import Wanted
    from cs_score.statistics.results import ScoreIntervals


class Lines:
    """The lines of runs as they were scored under a policy, by which they can be scored again.

    What limits on justifications discard changes no score and is only reported, so it is worked out when somebody asks
    for the problems.
    """

    def __init__(
        self,
        loaded: Run,
        policy: Policy,
        limits: Justifications,
        before: Sequence[OneRun] = (),
        *,
        accounts: Sequence[str] = (),
    ) -> None:
        """Score lines that have been loaded. `before`: results of the same lines under another policy.

        `accounts` say what preparing the runs has left out, a sentence for each run. Raises InputError where scoring
        has to stop.
        """
        self._loaded = loaded
        self.accounts = accounts
        self.limits = limits
        self._found = ProblemLog()
        with paused_collector():
            if limits.most is None:
                _ = self.run  # such limits may be impossible
            self.scores_only = score_runs(replace(loaded, limits=limits), policy, self._found, before)

    def under(self, policy: Policy, limits: Justifications) -> Lines:
        """The same lines under another policy and other limits; no file is read.

        Raises UsageError for other limits than those that the run was validated for: they choose its lines.
        """
        if self._loaded.gold.validates and limits != self.limits:
            raise UsageError(
                f"the run was validated for justifications {self.limits}, which leaves out what is beyond; score its "
                f"files again for {limits}, or rescore with justifications={str(self.limits)!r}"
            )
        return Lines(self._loaded, policy, limits, self.scores_only.runs, accounts=self.accounts)

    @cached_property
    def run(self) -> Run:
        """The lines, held to the limits."""
        with paused_collector():
            return under_limits(self._loaded, self.limits)

    @cached_property
    def result(self) -> Result:
        """The whole result."""
        problems = self.run.problems.branch()
        problems.take_over(self._found)
        return replace(self.scores_only, problems=tuple(problems))


class RunResult(AnyResult[Lines]):
    """The result of scoring a run, or all runs of one call; made by `Gold.score`, `score`, `rescore` and `load`.

    Results never change, and may be read by several threads at a time and pickled. Their tables: `rows` of the score
    tables, `queries`, `responses` (lines of the run), `rankings` (their nodes), `problems`, `units` of resampling, and
    `scores`, all averages.
    """

    _default = "rows"
    _needed = "the lines of the run, which JSON does not hold; score its files"

    def __init__(self, lines: Lines | None, stored: Scores | None = None, options: Options | None = None) -> None:
        """What was scored has its lines, what was loaded the stored document and its options."""
        self._source, self._stored = lines, stored
        self._options = options if lines is None else lines.scores_only.options

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each: a run that met no assessment, a doubtful policy.

        Where the run was validated or resolved, the first ones say what that left out. JSON does not hold these.
        """
        accounts = () if self._source is None else tuple(self._source.accounts)
        return (*accounts, *super().remarks)

    @property
    def run_id(self) -> str:
        """The id of the run. Raises UsageError where the files held none or several (see `run_ids`)."""
        return self._the_run[0]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The ids of the runs that were scored, in order."""
        return tuple(self.scores_by_run)

    @property
    def scores(self) -> Mapping[str, float]:
        """Every average of the run, by the one name of its measure (`LDC-MEAN-ALL-Macro-F1`, `SF-AP@0`); 0 to 1.

        In the order of `.summary` and `.ap`. Raises UsageError where the files held none or several runs: see
        `scores_by_run`.
        """
        return self._the_run[1]

    @property
    def undefined(self) -> Mapping[str, str]:
        """The measures that have no value for this run, with the reasons; `scores` lacks them.

        A run whose lines have no node ids has no average precision. Raises UsageError where the files held none or
        several runs.
        """
        _ = self.run_id
        return self._document.runs[0].undefined or {}

    @cached_property
    def scores_by_run(self) -> Mapping[str, Mapping[str, float]]:
        """The scores of each run, by its id."""
        return {run.run_id: run.scores for run in self._document.runs}

    @property
    def units(self) -> tuple[str, ...]:
        """The ids of the units that resampling draws: LDC queries, or SF queries where none are known."""
        return tuple(dict.fromkeys(row["id"] for row in self.rows("units")))

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        assert self._options is not None
        return self._options.policy

    @property
    def justifications(self) -> str:
        """The limits on justifications in force, such as `1:3`."""
        assert self._options is not None
        return str(self._options.justifications if self._source is None else self._source.limits)

    @property
    def errors(self) -> int:
        """Occurrences of problems that are errors: the command line would have left with status 255."""
        return self._document.errors if self._source is None else self._source.result.error_count

    @property
    def warnings(self) -> int:
        """Occurrences of problems that are warnings."""
        return self._document.warnings if self._source is None else self._source.result.warning_count

    def rescore(self, policy: str | Policy | None = None, *, justifications: Limits | None = None) -> RunResult:
        """The same run under another policy; no file is read again, and what the lines met is kept.

        `policy` is `kb`, `sf` (both with their limits on justifications) or a `Policy`; what is not given stays as it
        is. The result equals that of scoring the files anew. Raises UsageError for an unknown policy, for a result that
        was loaded from JSON and for other limits than a run was validated for, InputError where scoring has to stop.
        """
        lines = self._scored("rescore")
        return RunResult(lines.under(*policy_of(policy, justifications, self.policy, lines.limits)))

    @checked
    def explain(
        self,
        unit: Wanted = (),
        *,
        line: Wanted = (),
        class_: Wanted = (),
        node: Wanted = (),
        answer: Wanted = (),
        measure: str | None = None,
    ) -> Explanation:
        """Why lines, queries, classes and nodes scored as they did; without any of them, the run as a whole.

        Each is one name or several, as in `cs-score explain`: `unit` takes ids of queries of any form and hop, `line`
        numbers or `FILE:N`, `answer` values in which `*` stands for any text. `measure` is what effects are given for;
        None for the one that ranks leaderboards. Raises InputError for what is not there, with the nearest names,
        UsageError where the files held no run or several, and for a result that was loaded from JSON.
        """
        _ = self.run_id
        scored = self._for_analysis("explain")
        return Explanation(
            explain(scored, line=line, query=unit, class_name=class_, node=node, answer=answer, measure=measure)
        )

    @checked
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
        layout = outputs.Layout(outputs.DEFAULT_FIELDS if fields is None else as_list(fields, "fields"), tabs)
        try:
            outputs.check_fields(layout.fields)
        except InputError as error:
            raise UsageError(str(error)) from None
        with paused_collector():
            result, stem = self._scored("write").result, os.fspath(prefix)
            options, switches = result.options, switches_of(result.options, layout)
            files = [f"{stem}.{file.ending}" for file in outputs.written(switches, options.edition)]
            planned = [PlannedOutput("prefix", path, Existing.CLEARED) for path in files]
            if error_file is not None:
                planned.append(PlannedOutput("error_file", os.fspath(error_file), Existing.REFUSED))
            OutputPlan([given.name for given in result.origin.inputs], planned).check()
            named = [given.name for given in result.origin.inputs if given.role not in (QUERY_LIST, SAMPLES)]
            params = outputs.params_of(options, switches, ["-output_file", stem, *named], os.getcwd())
            with outputs_together():
                for ending, blocks in outputs.file_blocks(_resampled_as_shown(result, layout), layout, params):
                    write_whole(f"{stem}.{ending}", blocks)
                if error_file is not None:
                    write_whole(error_file, [outputs.doubly_encoded(outputs.whole_report(result), options.edition)])
            return [output.path for output in planned]

    def to_json(self) -> str:
        """The whole result as JSON, the text that `--json` writes; `load` reads it."""
        with paused_collector():
            return json_text(self._stored or document_of(self._scored("to_json").result))

    def __str__(self) -> str:
        """The text that `cs-score score` prints."""
        return scores_text(choose(self._document)).removesuffix("\n")

    def __repr__(self) -> str:
        runs = " ".join(self.run_ids) or "no run"
        shown = next(iter(self.scores_by_run.values()), {}) if len(self.run_ids) == 1 else {}
        scores = [f"{name} {shown[name]:.4f}" for name in headline(COLD_START_MODE) if name in shown]
        under = f"{runs} under {self._document.origin.settings[0]}, {self.justifications}"
        return one_line(f"<{under}{': ' if scores else ''}{', '.join(scores[:3])}>")

    @property
    def _the_run(self) -> tuple[str, Mapping[str, float]]:
        """The id and the scores of the only run."""
        runs = self.scores_by_run
        if len(runs) != 1:
            there = f"{len(runs)} runs ({', '.join(runs)})" if runs else "no run"
            raise UsageError(f"the result holds {there}, not one; see run_ids and scores_by_run")
        return next(iter(runs.items()))

    def _for_analysis(self, what: str, run: str | None = None) -> ToAnalyse:
        lines = self._scored(what)
        if len(self.run_ids) != 1 or run not in (None, self.run_id):
            return score_for_analysis(lines.run, self.policy, run)
        (result,) = lines.result.runs
        return ToAnalyse(lines.run, self.run_id, self.policy, result, None, self._document.origin, self.signature)

    def _to_compare(self) -> Result:
        _ = self.run_id  # one run each
        return self._scored("compare").result

    def _intervals(self, settings: Resampling) -> ScoreIntervals:
        _ = self.run_id
        return intervals(self._scored("intervals").result, settings)[0]

    @cached_property
    def _document(self) -> Scores:
        """The document, of what was scored without the parts of its runs."""
        return self._with()

    def _with(self, *parts: str, all_problems: bool = False) -> Scores:
        """The document with some of its parts; of what was loaded, all."""
        if self._source is None:
            assert self._stored is not None
            return self._stored
        return document_of(self._source.result if all_problems else self._source.scores_only, parts=parts)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple(_TABLES)

    def _table(self, name: str | None) -> Table:
        return self._named(name, _TABLES)(self._with)

    def _notes(self) -> Sequence[str]:
        return f"{self.errors} errors, {self.warnings} warnings", *super()._notes()


_TABLES: Final[Mapping[str, Callable[[Callable[..., Scores]], Table]]] = {
    "rows": lambda document: ROWS.table(document("tables")),
    "queries": lambda document: QUERIES.table(document("queries", "tables", "average_precision")),
    "responses": lambda document: RESPONSES.table(document("responses")),
    "rankings": lambda document: RANKINGS.table(document("average_precision")),
    "problems": lambda document: PROBLEMS.table(document(all_problems=True)),
    "units": lambda document: units_of_runs(document("units")),
    "scores": lambda document: SCORES.table(document()),
}


def loaded_result(scores: Scores, name: str) -> RunResult:
    """The result of a stored document. Raises InputError, which calls it `name`, for options that there are not."""
    return RunResult(None, scores, cold_start_options(scores.origin.options, name, "origin.options"))


def _resampled_as_shown(result: Result, layout: outputs.Layout) -> Result:
    """The result with resamples of just the scores that its tables show: the reference resamples these."""
    metrics = outputs.resampled_metrics(layout.fields)
    if metrics == result.options.metrics:
        return result
    runs = [
        run
        if run.bootstrap is None
        else replace(run, bootstrap=bootstrap(run.tables, run.tables.measures, run.bootstrap.samples, metrics))
        for run in result.runs
    ]
    return replace(result, runs=tuple(runs))


def switches_of(options: Options, layout: outputs.Layout) -> list[str]:
    """Return the words of a command line that scores like this, but for those of the policy and its limits."""
    words = switch_words(options)
    if layout.fields != outputs.DEFAULT_FIELDS:
        words += ["-fields", ":".join(layout.fields)]
    if layout.tabs:
        words.append("-tabs")
    return words
