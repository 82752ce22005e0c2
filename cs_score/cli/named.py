"""What a command line names: runs with queries and assessments, or gold with predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.coldstart.groups import crossed
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.analysis.comparison import system_names
from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import name_of
from cs_score.cli.core import Line, Option
from cs_score.cli.options import ALSO, KNOWLEDGE_BASE, defaults_of, options_of, policy_texts, read_resampling
from cs_score.cli.output import warn
from cs_score.cli.predictions import UNIT, Predictions
from cs_score.cli.scoring import held, knowledge_bases_in, load_as_prepared, runs_and_pool, say_policy
from cs_score.coldstart.editions import EDITIONS
from cs_score.coldstart.gold import load_run, noting_folders, open_gold, with_pool
from cs_score.coldstart.options import PRESETS, read_policies
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.several import OneRun, score_each
from cs_score.problems.log import ProblemLog
from cs_score.tasks import COLD_START

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.base.sources import Input
    from cs_score.coldstart.gold import Gold, Run
    from cs_score.coldstart.options import Options

POLICY_B: Final = Option(
    "--policy-b", "NAME[:LIST]", "Take one run, and score it as B under this policy; see below", choices=tuple(PRESETS)
)
POOL_B: Final = Option("--pool-b", "FILE", "Take one run, and score it as B with these assessments")
FOLLOW_B: Final = Option(
    "--follow-b", "VERSION", "Take one run, and score it as B under this edition", choices=tuple(EDITIONS)
)


class Runs:
    """Queries, assessments and runs, which are recognised by their content."""

    def __init__(self, line: Line) -> None:
        self._line, self._defaults = line, defaults_of(line)
        self._options = replace(options_of(line, self._defaults), runids=None)
        self._queries = [word for word in line.words if is_query_file(word)]
        named = line.texts(KNOWLEDGE_BASE.long)
        self._files: list[Input] = [*(word for word in line.words if not is_query_file(word)), *named]
        self._loaded: list[OneRun] = []

    @property
    def settings(self) -> Mapping[str, Any]:
        """Policies and groups that are wanted beside the usual ones, and the settings of intervals."""
        also = self._line.texts(ALSO.long)
        return {
            "policies": read_policies(also, self._options, policy_texts(self._line, self._defaults), ALSO.long),
            "by": crossed(self._line.texts("--by")),
            "resampling": read_resampling(self._line),
        }

    @cached_property
    def _knowledge_bases(self) -> frozenset[Input]:
        """Those that are named or recognised."""
        return knowledge_bases_in(self._files) | frozenset(self._line.texts(KNOWLEDGE_BASE.long))

    def _found(self) -> tuple[list[OneRun], list[Input]]:
        """The runs and the assessments."""
        self._files = list(map(held, self._files))
        return runs_and_pool(self._line, self._queries, self._files, self._knowledge_bases)

    def _the_run(self) -> tuple[OneRun, list[Input]]:
        """The one run, in its last file, and what comes before that: assessments, and its other files."""
        runs, assessments = self._found()
        if len({run.run_id for run in runs}) > 1:
            raise UsageError(f"there are {len(runs)} runs ({', '.join(map(_called, runs))}): choose one with --run ID")
        run = replace(runs[-1], is_shared=any(each.is_shared for each in runs))
        return run, [*assessments, *(each.file for each in runs[:-1])]

    def _load(
        self, gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
    ) -> Run:  # fmt: skip
        """The run by itself, with assessments where gold has none; a knowledge base is resolved. Raises InputError."""
        gold, files = run.over(gold), [*pool, run.file]
        problems = gold.problems.branch() if problems is None else problems
        if known := [str(file) for file in files if file in self._knowledge_bases]:
            return load_as_prepared(gold, files, known, problems, validates=False)
        return load_run(gold, files, problems=problems)

    def _gold(self, options: Options, pool: Sequence[Input]) -> Gold:
        return with_pool(open_gold(self._queries, options), pool)

    def one(self) -> Scored:
        """The run, scored; remarks go to standard error."""
        run, assessments = self._the_run()
        with paused_collector():
            gold = noting_folders(open_gold(self._queries, self._options), self._files)
            loaded = self._load(gold, run, assessments)
            scored = score_for_analysis(loaded, self._options.policy)
        _warn_of(loaded)
        say_policy(self._line, scored.result.duplicates)
        if scored.stopped is not None:
            warn(f"there is no average precision: {scored.stopped}")
        return scored

    def explained(self, measure: str | None) -> Any:
        """The explanation of what the selectors name."""
        from cs_score.analysis.coldstart.explanation.explanation import (
            explain,
            load_as_far_as_possible,
            score_as_far_as_possible,
        )

        line = self._line
        self._options.check()
        run, assessments = self._the_run()
        with paused_collector():
            gold = noting_folders(open_gold(self._queries, self._options), self._files)
            if self._knowledge_bases:
                loaded, stop = self._load(gold, run, assessments), None
            else:
                loaded, stop = load_as_far_as_possible(run.over(gold), [*assessments, run.file])
            if stop is not None and not loaded.layouts:
                raise stop
            scored = score_as_far_as_possible(loaded, self._options.policy, stop=stop)
        _warn_of(loaded)
        say_policy(line, scored.result.duplicates)
        if scored.stopped is not None and scored.result.tables.sf.rows:
            warn(f"there is no average precision: {scored.stopped}")
        names = {"line": "--line", "query": UNIT.long, "class_name": "--class", "node": "--node", "answer": "--answer"}
        return explain(scored, **{key: line.texts(name) for key, name in names.items()}, measure=measure)

    def both(self) -> tuple[Scored, Scored, tuple[str, str]]:
        """A and B, scored, and what they are called."""
        line = self._line
        policy_b, pool_b, follow_b = (line.switches.get(option.long) for option in (POLICY_B, POOL_B, FOLLOW_B))
        if "-" in (*self._files, pool_b):
            raise UsageError("standard input cannot be read once for each of the two: name a file")
        runs, pool = self._found()
        wanted = 2 if policy_b is None and pool_b is None and follow_b is None else 1
        if len(runs) != wanted:
            shown = "two runs" if wanted == 2 else "one run, with --policy-b, --pool-b or --follow-b"
            there = f"{len(runs)} among the files ({', '.join(map(_called, runs))})"
            choose = "; choose with --run ID" if len(runs) > wanted else ""
            verb = "is" if len(runs) == 1 else "are"
            raise UsageError(f"name {shown}; there {verb} {there}{choose}; see cs-score diff -help")

        def scored(gold: Gold, run: OneRun, options: Options) -> Scored:
            loaded = self._load(gold, run)
            _warn_of(loaded, name_of(run.file))
            return score_for_analysis(loaded, options.policy)

        with paused_collector():
            gold = self._gold(self._options, pool)
            a = scored(gold, runs[0], self._options)
            if wanted == 2:
                first, second = _names(runs)
                b = scored(gold, runs[1], self._options)
                say_policy(line, a.result.duplicates + b.result.duplicates)
                return a, b, (first, second)

            def again(options: Options) -> Scored:
                return score_for_analysis(self._load(self._gold(options, pool), runs[0]), options.policy)

            a = replace(a, again=again)
            other, name = self._options, []
            if follow_b is not None:
                line = line.with_value("--follow", follow_b)
                other = replace(options_of(line, defaults_of(line)), runids=None)
                name.append(f"edition {other.follow}")
            if policy_b is not None:
                [policy] = read_policies([policy_b], other, policy_texts(line, defaults_of(line)), POLICY_B.long)
                other = policy.options(other)
                name.append(f"policy {policy.name}")
            if pool_b is not None or other != self._options:
                gold = self._gold(other, pool if pool_b is None else [pool_b])
                name += [] if pool_b is None else [f"pool {pool_b}"]
            return a, scored(gold, runs[0], other), ("as given", ", ".join(name))

    def several(self) -> Mapping[str, Any]:
        """The results of several runs by name."""
        with paused_collector():
            opened, pool, runs = self.opened()
            if len(runs) < 2:
                there = f"there is {_called(runs[0])} among the files"
                raise UsageError(f"a comparison needs at least two runs; {there}; see cs-score compare coldstart -help")
            scored = score_each(with_pool(opened, pool), runs, self._load)
        say_policy(self._line, sum(run.duplicates for result in scored for run in result.runs))
        results = dict(zip(_names(runs), scored))
        for name, result in results.items():
            warn(*result.warnings, file=name)
            if result.error_count:
                warn(f"{result.error_count} errors in the input; score the run by itself to see them", file=name)
        return results

    def opened(self) -> tuple[Gold, list[Input], list[OneRun]]:
        """Queries, assessments and runs, for scores against one pool or another. Raises UsageError."""
        if "-" in self._files:
            raise UsageError("standard input cannot be read once for each run: name a file")
        self._options.check()
        runs, pool = self._found()
        return open_gold(self._queries, self._options), pool, runs

    def load(
        self, gold: Gold, run: OneRun, pool: Sequence[Input] = (), problems: ProblemLog | None = None
    ) -> Run:  # fmt: skip
        """The run by itself; what is to be known of it is said once. Raises InputError."""
        loaded = self._load(gold, run, pool, problems)
        if run not in self._loaded:
            self._loaded.append(run)
            _warn_of(loaded, name_of(run.file))
        return loaded


def _called(run: OneRun) -> str:
    return f"{run.run_id} in {name_of(run.file)}"


def _names(runs: Sequence[OneRun]) -> list[str]:
    """What runs are called in a table: as their files, or by their ids where a file has several."""
    often = Counter(run.run_id for run in runs)
    return [
        file if not run.is_shared else run.run_id if often[run.run_id] == 1 else f"{run.run_id} ({file})"
        for run, file in zip(runs, system_names([run.file for run in runs]))
    ]


def _warn_of(run: Run, name: str | None = None) -> None:
    warn(*run.remarks, file=name)
    if run.problems.has_errors:
        warn("there are errors in the input; score the run to see them", file=name)


def named_by(task: str, line: Line, *, fewest: int = 1, most: int | None = 1) -> Runs | Predictions:
    """What a command line names. Raises UsageError."""
    return Runs(line) if task == COLD_START else Predictions(task, line, fewest, most)
