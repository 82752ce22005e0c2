"""Problem codes of what lines mean together: limits on justifications, run ids, assessments, whole inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.problems.kind import ENDS, KEPT, ProblemKind, condition, error, fatal, warning

_LEFT_OUT: Final = "The line is left out of a validated run."

KINDS: Final[Mapping[str, ProblemKind]] = {
    "AP_ABOVE_ONE": condition(
        "An average precision above 1: a run that was not validated is being scored.",
        "two lines of one node in one document",
        "The scoring ends.",
        "Validate the run with the same -justifications, or score with --validate.",
    ),
    "CLASS_WITHOUT_CORRECT": condition(
        "An assessment has an equivalence class though it is neither correct nor inexact.",
        "code W and class CSX_ENG_00fb79cef8:1",
        ENDS,
        "Write 0 for the class, or C or X for the code.",
    ),
    "CORRECT_WITHOUT_CLASS": condition(
        "An assessment is correct or inexact and has no equivalence class.",
        "code C and class 0",
        ENDS,
        "Name the class.",
    ),
    "DISCARDED_DEPENDENT": warning(
        "Following line has been discarded because all of its parents were discarded due to constraints on multiple "
        "justifications: %s",
        "A second-hop line answers a query about an answer whose lines were all discarded, or were never accepted.",
        "-justifications 1:1, the only line with the answer Bo is the second of its node, and a line asks about Bo",
        _LEFT_OUT,
        "Keep a line of the parent answer within the limits, or drop the lines below it.",
        offender=0,
    ),
    "DISCARDED_DEPENDENT_DEPTH": warning(
        "Following line has been discarded because all of its parents were discarded due to depth constraints: %s",
        "A second-hop line answers a query about an answer whose lines all fell to the depth limit.",
        "-depth B:1, and the answer that a line asks about belongs to the second best node",
        _LEFT_OUT,
        "None needed; take a greater depth to keep it.",
        offender=0,
    ),
    "DISCARDED_ENTRY": warning(
        "Following line has been discarded due to constraints on multiple justifications: %s",
        "A node has more justifications than allowed (-justifications A:B: A for each document, B in all), or it is "
        "one node too many for a slot that takes one value. The most confident lines stay, the earliest among equals.",
        "two lines with node :E1 whose provenances lie in the same document",
        _LEFT_OUT,
        "Submit no more lines for a node than the task allows, and one node for a single-valued slot.",
        offender=0,
    ),
    "DISCARDED_ENTRY_DEPTH": warning(
        "Following line has been discarded due to depth constraints: %s",
        "The node of this line is not among those that -depth takes.",
        "-depth B:1, and another node of the same query is more confident",
        _LEFT_OUT,
        "None needed; take a greater depth to keep it.",
        offender=0,
    ),
    "FATAL": condition(
        "A condition that the program cannot go on with; the message says which.",
        "an output folder that is not there",
        ENDS,
        "See the message.",
    ),
    "FILE_MISSING": condition(
        "An input does not exist.",
        "a name with a typing error",
        ENDS,
        "Check the name.",
    ),
    "MISMATCHED_RUNID": fatal(
        "Multiple runids were used: %s",
        "The rounds that are packaged together have different run ids.",
        "RUN1 in the first file, RUN2 in the second",
        "Fatal: nothing is written.",
        "Give all lines of a submission one run id.",
        column="RUNID",
        offender=0,
    ),
    "MULTIPLE_CORRECT_GROUND_TRUTH": warning(
        "More than one correct choice for ground truth for query %s",
        "More than one correct assessment fits a line.",
        "the same answer and provenance assessed twice as correct",
        "The first is used.",
        "Remove the repeated assessment.",
    ),
    "MULTIPLE_RUNIDS": warning(
        "File contains multiple run IDs (%s, %s)",
        "A line has another run id than the first line.",
        "RUN1 in line 1, RUN2 in line 2",
        "A validated run has the first run id in all lines.",
        "Give all lines one run id.",
        column="RUNID",
        offender=1,
    ),
    "RUN_WITH_ERRORS": condition(
        "A run that is to be validated and scored in one call (--validate) has errors.",
        "a confidence of 1.1",
        "The scoring ends.",
        "Mend the errors that are listed.",
    ),
    "SOURCE_DOCUMENT_MISSING": condition(
        "The document list names a file that cannot be read.",
        "a path that is relative to another folder",
        ENDS,
        "Paths in the list are relative to the working directory; leave the column empty where there is no file.",
    ),
    "UNEXPECTED_ASSESSMENT_ENTRY": error(
        "Child with no correct parent found in assessment file. %s %s",
        "An assessment without class answers a query about an answer that was not judged correct.",
        "a hop-1 assessment with code W below a hop-0 answer with code W",
        f"{KEPT} The assessment is not used.",
        "Remove it, or mend the assessment of the parent answer.",
    ),
    "UNEXPECTED_MENTION_TYPE": condition(
        "The mention types of an equivalence class contradict each other, or one of them is no known text.",
        "a class with both NAM and NOM assessments in one language",
        ENDS,
        "Mend the mention types of the class.",
    ),
    "UNKNOWN_ASSESSMENT_CODE": condition(
        "An assessment code is none of C W X I S L.",
        "Y",
        ENDS,
        "Use one of the codes.",
    ),
}
