"""cs-score: scoring for knowledge-base population and evidence-based fact checking.

    import cs_score as cs

    gold = cs.prepare(queries="queries.xml", pool="pool.tab", expand="CSSF17")
    run = gold.score("run.tab.txt")
    print(run.scores["LDC-MEAN-ALL-Macro-F1"])

The names in `__all__` are the public API, and stable (docs/python/index.md); all modules below are private. A name is
loaded when it is first used, so that importing the package costs next to nothing. In the process of the command
`cs-score` the package cares for signals before anything else: Ctrl-C finds no module of ours at work, however early.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from cs_score.api.findings import Analysis, Comparison, Difference, Explanation
    from cs_score.api.loading import load
    from cs_score.api.pages import Report
    from cs_score.api.prediction_results import EvidenceResult, ScoringTask, claims, hotpotqa, pool, r4c, scifact, task
    from cs_score.api.prepared_gold import Gold, prepare, score
    from cs_score.api.run_results import RunResult
    from cs_score.base.errors import CsScoreError, InputError, MissingExtraError, OutputError, UsageError
    from cs_score.base.signature import Signature
    from cs_score.coldstart.options import Policy
    from cs_score.coldstart.result import ScoringStopped
    from cs_score.verbs.analyze.api import analyze
    from cs_score.verbs.batch.api import Leaderboard, batch
    from cs_score.verbs.compare.api import compare
    from cs_score.verbs.diff.api import diff
    from cs_score.verbs.preparation.api import ValidatedRun, validate_run
    from cs_score.verbs.studies.api import (
        Assessors,
        PoolBias,
        Power,
        SampledPool,
        assessors,
        pool_bias,
        power,
        sampled_pool,
    )

    __version__: str


def _leave(number: int, frame: "FrameType | None") -> None:
    """End the process with the exit status of a signal, without any cleaning up."""
    os._exit(128 + number)


def _leave_at_once_on_signals() -> None:
    """Let signals end the process, as long as there is nothing to clean up."""
    # Importing `signal` takes time, because it makes enumerations of all signals, and a signal may come meanwhile.
    # `_signal`, which has its functions, is part of the interpreter.
    import _signal  # type: ignore[import-not-found]

    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:  # ignored already, as for a background job of a script
            _signal.signal(number, _leave)


# The script that pip installs imports this package before it calls anything. For a library's user, signals stay as
# they are. The name is read without a method of `os.path`, of which a signal would show the lines.
if sys.argv and sys.argv[0].replace("\\", "/").rpartition("/")[2] in ("cs-score", "cs-score.exe", "cs-score-script.py"):
    _leave_at_once_on_signals()

__all__ = [
    "Analysis",
    "Assessors",
    "Comparison",
    "CsScoreError",
    "Difference",
    "EvidenceResult",
    "Explanation",
    "Gold",
    "InputError",
    "Leaderboard",
    "MissingExtraError",
    "OutputError",
    "Policy",
    "PoolBias",
    "Power",
    "Report",
    "RunResult",
    "SampledPool",
    "ScoringStopped",
    "ScoringTask",
    "Signature",
    "UsageError",
    "ValidatedRun",
    "__version__",
    "analyze",
    "assessors",
    "batch",
    "claims",
    "compare",
    "diff",
    "hotpotqa",
    "load",
    "pool",
    "pool_bias",
    "power",
    "prepare",
    "r4c",
    "sampled_pool",
    "scifact",
    "score",
    "task",
    "validate_run",
]

_HOMES = {
    "api.prediction_results": "EvidenceResult ScoringTask claims hotpotqa pool r4c scifact task",
    "api.loading": "load",
    "api.prepared_gold": "Gold prepare score",
    "api.run_results": "RunResult",
    "coldstart.options": "Policy",
    "coldstart.result": "ScoringStopped",
    "base.errors": "CsScoreError InputError MissingExtraError OutputError UsageError",
    "base.signature": "Signature",
}
"""The public names of each module outside the folders of commands; the table of those folders has the other names."""

if not TYPE_CHECKING:  # to a type checker it would make every name an object

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from cs_score.base import VERSION

            return VERSION
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module = import_module(f"{__name__}.{_module_with(name)}")
        value = getattr(module, name)
        globals()[name] = value  # so that Python does not call this function for the name again
        return value


def _module_with(name: str) -> str:
    """Return the module of this package that defines a public name: `api.run_results` for `RunResult`.

    Raises AttributeError if the name belongs to a command whose folder is not installed.
    """
    from cs_score.verbs import SLICES  # a slice is the folder of a command

    for names_by_module in (_HOMES, *[slice_.names for slice_ in SLICES]):
        for module, names in names_by_module.items():
            if name in names.split():  # the names are a single text, separated by blanks
                return module
    raise AttributeError(f"this installation of {__name__} lacks {name}")


def __dir__() -> list[str]:
    return __all__
