"""The table of slices. A slice is a folder with all the code of one command, or of a few commands with a common
subject. Each slice has a row in this table, which names its commands, documents, pages and public names.

The table consists of text only. Reading it does not import anything, so every room may read it, and a call imports only
the slices that it uses. To remove a feature, remove its folder and its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

FOLLOWED_VERSION: Final = "2017.2.0"
"""The version of the reference programs that is followed."""

SCORE: Final = "Score"
WHY: Final = "Finding out why a run scored so"
SEVERAL: Final = "Many runs or systems"
BEFORE_SCORER: Final = "Before the Cold Start scorer"
ABOUT: Final = "About cs-score"


class CommandEntry(NamedTuple):
    """The entry of a command in the table of commands."""

    group: str
    """The heading under which the first page of help lists the command."""
    summary: str
    module: str
    """The module with the function that makes the command, below `cs_score`: `cli.score`."""
    is_split_by_task: bool = False
    """Whether each task has a command of this name."""
    followed_version: str | None = None
    """The version of the reference program that the command replaces."""
    listed_after: str = ""
    """The command of another slice after which help lists this one; empty if it follows the one before it."""


class Slice(NamedTuple):
    """A folder below `verbs`, and what it offers to the rest of the package; modules are named below that folder."""

    folder: str
    commands: Mapping[str, CommandEntry]
    documents: Mapping[str, Sequence[str]] = {}
    """The records of each kind of document, `module:class`, that of Cold Start first."""
    pages: Mapping[str, str] = {}
    """The class that makes the page and the charts of each kind of document, `module:class`."""
    views: Mapping[str, str] = {}
    """The function that returns how documents of a kind are shown for a task, `module:function`."""
    names: Mapping[str, str] = {}
    """The public names of the Python API, separated by blanks, by their modules below `cs_score`."""
    findings: Mapping[str, str] = {}
    """The public class that `cs_score.load` returns for each kind of document, `module:class` below `cs_score`."""
    needs: Sequence[str] = ()
    """The folders of the slices whose modules this one imports."""


def _preparation_entry(
    summary: str,
    module: str = "preparation.command",
    *,
    followed_version: str = FOLLOWED_VERSION,
    listed_after: str = "",
) -> CommandEntry:
    """Return the entry of a program that is run before the scorer, such as `validate-run`.

    The program follows the reference program of the same name, in the version `followed_version`. `module` is the
    module with the command, below `cs_score.verbs`. The help lists the entry after the command `listed_after`; if this
    is empty, after the entry before it in this package.
    """
    return CommandEntry(
        BEFORE_SCORER, summary, f"verbs.{module}", followed_version=followed_version, listed_after=listed_after
    )


SLICES: Final[Sequence[Slice]] = (
    Slice(
        "analyze",
        commands={
            "analyze": CommandEntry(
                WHY,
                "List what each mistake costs, with an error budget",
                "verbs.analyze.command",
                is_split_by_task=True,
            )
        },
        documents={"analysis": ("run_analysis:RunAnalysis", "prediction_analysis:EvidenceAnalysis")},
        views={"analysis": "by_task:view_of_analyses"},
        pages={"analysis": "page:AnalysisPage"},
        names={"api.findings": "Analysis", "verbs.analyze.api": "analyze"},
        findings={"analysis": "api.findings:Analysis"},
        needs=("explain",),
    ),
    Slice(
        "explain",
        commands={
            "explain": CommandEntry(
                WHY,
                "Explain how a line, node, query or claim was scored",
                "verbs.explain.command",
                is_split_by_task=True,
            )
        },
        documents={"explanation": ("run_explanation.document:RunExplanation", "unit_explanation:EvidenceExplanation")},
        views={"explanation": "by_task:view_of_explanations"},
        names={"api.findings": "Explanation"},
        findings={"explanation": "api.findings:Explanation"},
    ),
    Slice(
        "diff",
        commands={
            "diff": CommandEntry(
                WHY,
                "Explain why one run or system scores higher than another",
                "verbs.diff.command",
                is_split_by_task=True,
            )
        },
        documents={"difference": ("run_difference:RunDifference", "evidence_documents:EvidenceDifference")},
        views={"difference": "by_task:view_of_differences"},
        pages={"difference": "page:DifferencePage"},
        names={"api.findings": "Difference", "verbs.diff.api": "diff"},
        findings={"difference": "api.findings:Difference"},
    ),
    Slice(
        "report",
        commands={
            "report": CommandEntry(
                WHY, "Make an HTML page of an analysis or a difference", "verbs.report.command", is_split_by_task=True
            ),
            "plot": CommandEntry(WHY, "Draw one chart of an analysis, as SVG", "verbs.report.command"),
        },
        pages={"aggregate": "aggregate_page:AggregatePage"},
        names={"api.pages": "Report"},
    ),
    Slice(
        "batch",
        commands={
            "batch": CommandEntry(
                SEVERAL,
                "Score many runs against one pool, on one machine or several",
                "verbs.batch.command",
                is_split_by_task=True,
            )
        },
        documents={
            "batch": ("batch_documents:BatchOverview",),
            "batch-run": ("batch_documents:Outcome",),
            "leaderboard": ("batch_documents:LeaderboardDocument",),
        },
        pages={"batch": "page:BatchPage"},
        names={"verbs.batch.api": "Leaderboard batch"},
        findings={"leaderboard": "verbs.batch.api:Leaderboard"},
    ),
    Slice(
        "compare",
        commands={
            "compare": CommandEntry(
                SEVERAL,
                "Compare systems: intervals, paired tests, ranks, tiers",
                "verbs.compare.command",
                is_split_by_task=True,
            ),
            "compare table": CommandEntry(
                SEVERAL, "Compare the columns of any table of units by systems", "verbs.compare.command"
            ),
        },
        pages={"comparison": "page:ComparisonPage"},
        names={"api.findings": "Comparison", "verbs.compare.api": "compare"},
        findings={"comparison": "api.findings:Comparison"},
        needs=("studies",),
    ),
    Slice(
        "studies",
        commands={
            "power": CommandEntry(
                SEVERAL,
                "Plan a test: detectable difference, units needed",
                "verbs.studies.command",
                is_split_by_task=True,
            ),
            "pool-bias": CommandEntry(
                SEVERAL, "Score runs without assessments that only they led to", "verbs.studies.command"
            ),
        },
        documents={
            "assessors": ("assessor_comparison:AssessorComparison",),
            "pool-bias": ("pool_bias:PoolBiasDocument",),
        },
        names={"verbs.studies.api": "Assessors PoolBias Power SampledPool assessors pool_bias power sampled_pool"},
        findings={
            "power": "verbs.studies.api:Power",
            "pool-bias": "verbs.studies.api:PoolBias",
            "sampled-pool": "verbs.studies.api:SampledPool",
            "assessors": "verbs.studies.api:Assessors",
        },
    ),
    Slice(
        "bundle",
        commands={
            "bundle codabench": CommandEntry(
                SEVERAL,
                "Pack a scorer with gold for a competition on Codabench",
                "verbs.bundle.command",
                is_split_by_task=True,
            ),
            "bundle evalai": CommandEntry(
                SEVERAL,
                "Pack a scorer with gold for a challenge on EvalAI",
                "verbs.bundle.command",
                is_split_by_task=True,
            ),
        },
        documents={"bundle": ("settings:Bundle",)},
        needs=("check",),
    ),
    Slice(
        "check",
        commands={
            "check": CommandEntry(
                SEVERAL, "Check scores against limits and a baseline", "verbs.check.command", is_split_by_task=True
            )
        },
        documents={"check": ("checking:Checked",), "lock": ("locks:Lock",)},
    ),
    Slice(
        "verify",
        commands={
            "verify": CommandEntry(
                SEVERAL, "Score a recorded result again, and say whether it is reproduced", "verbs.verify.command"
            )
        },
        documents={"verification": ("verifying:Verification",)},
        needs=("batch",),
    ),
    Slice(
        "preparation",
        commands={
            "validate-run": _preparation_entry("Validate a run, and write it for the scorer"),
            "validate-queries": _preparation_entry("Validate queries, and split them by entry point"),
            "expand-queries": _preparation_entry("Superseded by validate-queries -expand"),
            "generate-queries": _preparation_entry(
                "Make the queries of the first round, or those of the second from a run"
            ),
            "package-output": _preparation_entry("Put the answers to both rounds into one run"),
            "validate-assessments": _preparation_entry("Validate assessments, and sort them by language"),
            "apply-k": _preparation_entry("Keep at most K documents for each node of a run, without checking anything"),
            "samples": _preparation_entry(
                "Write bootstrap resamples of LDC queries, for the switch -samples", followed_version="1.1"
            ),
        },
        names={"verbs.preparation.api": "ValidatedRun validate_run"},
    ),
    Slice(
        "knowledge_base",
        commands={
            "validate-kb": _preparation_entry(
                "Validate a knowledge base, and write it in the formats of the evaluations",
                "knowledge_base.command",
                listed_after="validate-assessments",
            ),
            "resolve-queries": _preparation_entry(
                "Ask queries of a validated knowledge base; the answers become a run",
                "knowledge_base.command",
                listed_after="validate-kb",
            ),
        },
        documents={"kb-statistics": ("writers:KbStatistics",)},
        needs=("preparation",),
    ),
)
"""The slices, in the order in which help lists their commands."""
