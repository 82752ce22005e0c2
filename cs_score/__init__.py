"""cs-score: scoring for knowledge-base population and evidence-based fact checking.

    import cs_score as cs

    gold = cs.prepare(queries="queries.xml", pool="pool.tab", expand="CSSF17")
    run = gold.score("run.tab.txt")
    print(run.scores["LDC-MEAN-ALL-Macro-F1"])

The names in `__all__` are the public API, and stable (docs/python/index.md); all modules below are private. A name is
loaded when it is first used, so that importing the package costs next to nothing, and so that the command can care for
signals before anything is imported.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cs_score.api.batches import Leaderboard, batch
    from cs_score.api.evidence import EvidenceResult, ScoringTask, claims, hotpotqa, pool, r4c, scifact, task
    from cs_score.api.findings import Analysis, Comparison, Difference, Explanation
    from cs_score.api.gold import Gold, ValidatedRun, prepare, score, validate_run
    from cs_score.api.insight import analyze, compare, diff
    from cs_score.api.loading import load
    from cs_score.api.many import Assessors, PoolBias, Power, SampledPool, assessors, pool_bias, power, sampled_pool
    from cs_score.api.pages import Report
    from cs_score.api.runs import RunResult
    from cs_score.base.errors import CsScoreError, InputError, MissingExtraError, OutputError, UsageError
    from cs_score.base.signature import Signature
    from cs_score.coldstart.options import Policy
    from cs_score.coldstart.result import ScoringStopped

    __version__: str

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
    "api.batches": "Leaderboard batch",
    "api.findings": "Analysis Comparison Difference Explanation",
    "api.evidence": "EvidenceResult ScoringTask claims hotpotqa pool r4c scifact task",
    "api.insight": "analyze compare diff",
    "api.loading": "load",
    "api.many": "Assessors PoolBias Power SampledPool assessors pool_bias power sampled_pool",
    "api.pages": "Report",
    "api.gold": "Gold ValidatedRun prepare score validate_run",
    "api.runs": "RunResult",
    "coldstart.options": "Policy",
    "coldstart.result": "ScoringStopped",
    "base.errors": "CsScoreError InputError MissingExtraError OutputError UsageError",
    "base.signature": "Signature",
}
"""The names of each module."""

if not TYPE_CHECKING:  # to a type checker it would make every name an object

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from cs_score.base.version import VERSION

            return VERSION
        for module, names in _HOMES.items():
            if name in names.split():
                from importlib import import_module

                value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Package(type(sys)):  # type: ignore[misc]  # the type of modules
    """The package keeps its names: `cs.batch` is the function, also when the package of that name has been imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in __all__ or not isinstance(value, type(sys)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
