"""cs-score: scoring for knowledge-base population and evidence-based fact checking.

    import cs_score as cs

    gold = cs.prepare(queries=["queries.xml"], pool=["pool.tab"], expand="CSSF17")
    run = gold.score("run.tab.txt")
    print(run.scores["LDC-MEAN-ALL-Macro-F1"])

The names in `__all__` are the public API, and stable (docs/api.md); all modules below are private. A name is loaded
when it is first used, so that importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING

from cs_score.foundation.version import VERSION

if TYPE_CHECKING:
    from cs_score.api import *

__version__ = VERSION

__all__ = [
    "CsScoreError",
    "Gold",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "Policy",
    "ProblemRow",
    "QueryRow",
    "RankingRow",
    "ResponseRow",
    "RunResult",
    "ScoringStopped",
    "Signature",
    "TableRow",
    "UsageError",
    "__version__",
    "load",
    "prepare",
    "score",
]


if not TYPE_CHECKING:  # to a type checker it would make every name an object

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from cs_score import api

        return getattr(api, name)


def __dir__() -> list[str]:
    return __all__
