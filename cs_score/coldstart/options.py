"""The options of a Cold Start scoring. The edition is the version of the reference scorer whose rules are followed. The
policy says what counts as right, as wrong, or not at all (its three sides). The discipline says how answers match
assessments. A signature is a short text that names the options and inputs of scores.

An edition stores the rules of the reference scorer of one year as data. The code checks for a rule, never for the name
of an edition.
"""

from __future__ import annotations

import enum
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypedDict

from cs_score.base.errors import UsageError, did_you_mean
from cs_score.base.records import Record, field, force_setattr, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES, Origin, digest_of, short_digest
from cs_score.base.sources import InputDigest
from cs_score.measures import COLD_START_MODE, default_measure


class Edition(Record, kw_only=True, eq=False):
    """The rules of one edition of the reference scorer; the defaults are the rules of edition 2017.2.0.

    `evaluation` is the evaluation whose published scores were computed by the edition. `wrong` and `ignore` are the
    categories of responses that count as wrong and that are ignored, unless the user gives another policy.
    """

    name: str
    evaluation: str
    wrong: tuple[str, ...] = ("INCORRECT", "INCORRECT_PARENT", "INEXACT")
    ignore: tuple[str, ...] = ("UNASSESSED", "DUPLICATE")

    # Which parts of the scorer exist: limits on justifications, runs with node ids, average precision.
    has_limits: bool = True
    has_nodes: bool = True
    has_rankings: bool = True
    slot_filling_only: bool = False
    """There are no slots of events and sentiments, and no value types of the form STRING.x."""

    # Reading files.
    finds_english_anywhere: bool = False
    """A document id with ENG anywhere in it is English; otherwise only one with ENG_ at its beginning or behind a _."""
    hashes_text_once: bool = False
    """The ids of follow-on queries are hashes of text in UTF-8; otherwise the text is encoded to UTF-8 twice."""
    keeps_repeated_lines: bool = False
    """A line that repeats an earlier line counts again; otherwise it is dropped with a warning."""
    longest_span: int = 200
    """The number of characters that a span may have."""
    most_value_spans: int = 2
    """The number of spans that the provenance of a value may have."""
    most_characters: int | None = None
    """The number of characters that the spans of one provenance may have together; None means any number."""
    reads_semicolons: bool = True
    """A semicolon between spans is read as a comma, and reported as an error; otherwise the span is illegal."""
    joins_documents: bool = True
    """All spans of a provenance get the document of the first span; relation and value must have the same document."""
    refuses_further_spans: bool = True
    """More spans than allowed are an error; otherwise they are a warning."""
    names_wrong_slot_in_full: bool = True
    """The message about a wrong slot has the full id of the query; otherwise it has the short id."""
    names_unknown_code: bool = True
    """The message about an unknown code has the code."""
    refuses_orphans: bool = False
    """A wrong answer to a query that no accepted answer leads to ends the program; otherwise it is reported."""
    wordings: Mapping[str, str] = field(default_factory=dict)
    """The templates of messages that differ from those of edition 2017.2.0, by problem code."""

    assumed_mention: str | None = None
    """The mention type of answers and classes in pools without mention types; None means that they have no type."""

    # Counting.
    needs_correct_parent: bool = False
    """An answer of the second hop needs a parent that was assessed as correct; otherwise the parent must be right."""
    ignores_each_nominal: bool = False
    """Nominal answers are ignored line by line; otherwise a node is ignored unless a line of it names the entity."""

    # Average precision.
    ranks_correct_lines: bool = False
    """Every line that was assessed as correct can find a class, and all these lines of a node count in its value V."""
    ranks_all_levels: bool = False
    """All hops are ranked, even beyond the highest hop that is scored, and the rows of ALL count twice in averages."""

    # Writing.
    encodes_report_twice: bool = True
    """The whole error file is encoded to UTF-8 twice; otherwise only the names of files in it are."""
    reports_before_scoring: bool = False
    """The report is written once, before anything is scored, and errors in it end the program."""
    hides_later_unassessed: bool = False
    """The debug file shows the unassessed lines of nodes without their category, except those of the first run."""


_WORDINGS: Final = {
    "FAILED_LANG_INFERENCE": "Unable to infer language from DOCID %s. Using default language %s.",
    "IMPROPER_CONFIDENCE_VALUE": "Confidence value in scientific format: %s ",
}

LATEST: Final = Edition(name="2017.2.0", evaluation="TAC KBP 2017")

EDITIONS: Final = {
    edition.name: edition
    for edition in (
        Edition(
            name="3.0",
            evaluation="TAC KBP 2016",
            wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "DUPLICATE"),
            ignore=("UNASSESSED",),
            has_limits=False,
            has_nodes=False,
            has_rankings=False,
            slot_filling_only=True,
            finds_english_anywhere=True,
            hashes_text_once=True,
            keeps_repeated_lines=True,
            longest_span=150,
            most_value_spans=4,
            reads_semicolons=False,
            joins_documents=False,
            refuses_further_spans=False,
            names_wrong_slot_in_full=False,
            names_unknown_code=False,
            refuses_orphans=True,
            wordings=_WORDINGS,
            needs_correct_parent=True,
            ignores_each_nominal=True,
            encodes_report_twice=False,
            reports_before_scoring=True,
        ),
        Edition(
            name="2017.1.5",
            evaluation="the beginning of TAC KBP 2017, in June",
            most_characters=600,
            refuses_orphans=True,
            wordings=_WORDINGS,
            ignores_each_nominal=True,
            ranks_correct_lines=True,
            ranks_all_levels=True,
            reports_before_scoring=True,
            hides_later_unassessed=True,
        ),
        LATEST,
    )
}
"""The editions by name, in the order in which they appeared."""


# The sides of a policy. They are texts and not an enumeration, because millions of responses are looked up by them.
PolicySide: TypeAlias = Literal["RIGHT", "WRONG", "IGNORE"]
RIGHT: Final = "RIGHT"
WRONG: Final = "WRONG"
IGNORE: Final = "IGNORE"
SIDES: Final[tuple[PolicySide, ...]] = (RIGHT, WRONG, IGNORE)  # in the order in which the policies are applied
DUPLICATE: Final = "DUPLICATE"  # the category that counts on only one side, even if several sides name it


class PolicyCategory(Record):
    """A category of responses: the sides on which a policy may count it, and which responses have the category."""

    sides: frozenset[str]
    meaning: str


POLICY_CATEGORIES: Final[dict[str, PolicyCategory]] = {
    "CORRECT": PolicyCategory(frozenset({RIGHT}), "responses assessed as correct"),
    DUPLICATE: PolicyCategory(frozenset(SIDES), "further right responses in a class that has one already"),
    "INCORRECT": PolicyCategory(frozenset({WRONG}), "responses assessed as incorrect"),
    "INCORRECT_PARENT": PolicyCategory(frozenset({WRONG, IGNORE}), "responses below a response that is not right"),
    "INEXACT": PolicyCategory(frozenset(SIDES), "responses assessed as inexact"),
    "UNASSESSED": PolicyCategory(frozenset({WRONG, IGNORE}), "responses without assessment"),
}


def legal_categories(side: PolicySide) -> tuple[str, ...]:
    """Return the categories that a policy may put on a side: RIGHT -> `("CORRECT", "DUPLICATE", "INEXACT")`."""
    return tuple(name for name, category in POLICY_CATEGORIES.items() if side in category.sides)


DISCIPLINES: Final = {
    "ASSESSED": "only assessments of the same answer with the same justification count",
    "STRING_CASE": "otherwise an assessment of the same text counts, letter case ignored",
    "STRING_EXACT": "otherwise an assessment of exactly the same text counts",
}
MANY: Final = "M"  # any number of justifications


def unknown_discipline_message(name: str) -> str:
    """Return the message for a discipline that does not exist; it lists the disciplines and suggests a similar one."""
    return f"No matcher called {name}; there are {', '.join(DISCIPLINES)}{did_you_mean(name, DISCIPLINES)}"


class JustificationLimits(Record):
    """The limits on the justifications of a node, the lines that support one answer.

    Of the lines of a node at most `justifications_per_document` count from one document, and at most
    `justifications_per_node` from all documents. None means that any number counts.
    """

    justifications_per_document: int | None
    justifications_per_node: int | None

    @classmethod
    def parse(cls, text: str) -> JustificationLimits:
        """Return the limits in the text `A:B`: A is the limit per document, B the limit per node.

        Each limit is a digit, or `M` for any number: `1:M` -> 1 and None. Raises UsageError for any other text, and for
        B = 0 (rule zero-limit).
        """
        text = text.removesuffix("\n")  # the reference scorer allows a line feed at the end
        if not re.fullmatch(r"[0-9M]:[0-9M]", text):
            raise UsageError(
                "Argument to -justifications switch must be of the form A:B where A and B are either positive numbers "
                "or character 'M' representing infinity."
            )
        justifications_per_document, justifications_per_node = [
            None if limit == MANY else int(limit) for limit in text.split(":")
        ]
        if justifications_per_node == 0:
            raise UsageError("-justifications: B = 0 leaves nothing to score; use 1 to 9, or M for any number")
        return cls(justifications_per_document, justifications_per_node)

    def __str__(self) -> str:
        """Return the limits as a text `A:B`, such as `1:M`, where `M` means any number."""
        return ":".join(
            MANY if limit is None else str(limit)
            for limit in (self.justifications_per_document, self.justifications_per_node)
        )


def is_left_out(text: str | None) -> bool:
    """Return whether the value of a switch has the same effect as leaving the switch out.

    This is the case for None and, as in the reference scorer, for an empty text and `0`.
    """
    return text is None or text in ("", "0")


def split_at_colons(text: str) -> tuple[str, ...]:
    """Return the items of a text with colons between them, without empty items at the end: `a:b:` -> `("a", "b")`."""
    text = text.rstrip(":")
    if not text:
        return ()
    return tuple(text.split(":"))


def texts_of_list(value: object, name: str) -> tuple[str, ...]:
    """Return the texts in a list of texts, or in a text with colons between its items: `"a:b"` -> `("a", "b")`.

    Raises UsageError for any other value. The error message refers to the value as `name`.
    """
    if isinstance(value, str):
        return split_at_colons(value)
    if not isinstance(value, Iterable):
        raise UsageError(f"{name} takes a list of texts, not {value!r}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise UsageError(f"{name} takes a list of texts, not {item!r}")
    return items


def _check_categories(side: PolicySide, categories: Iterable[str]) -> None:
    """Raise UsageError if a policy may not put one of the categories on this side, such as `CORRECT` on WRONG."""
    categories_of_side = legal_categories(side)
    for category in categories:
        if category in categories_of_side:
            continue
        # A category that is legal elsewhere is no misspelling.
        suggestion = "" if category in POLICY_CATEGORIES else did_you_mean(category, POLICY_CATEGORIES)
        raise UsageError(
            f"Unexpected choice {category} for {side}; legal are {', '.join(categories_of_side)}{suggestion}"
        )


class Policy(Record):
    """The categories of responses that count as right, that count as wrong, and that are ignored.

    Each of these three sides is a tuple of categories, or a text with colons between the categories. Raises UsageError
    for a category that is not legal on its side.
    """

    right: tuple[str, ...] = ("CORRECT",)
    wrong: tuple[str, ...] = LATEST.wrong
    ignore: tuple[str, ...] = LATEST.ignore

    def __post_init__(self) -> None:
        """Replace each side with a tuple of its categories, and check the categories.

        The text `"CORRECT:INEXACT"` becomes `("CORRECT", "INEXACT")`. Raises UsageError for a category that is not
        legal on its side.
        """
        for side in sorted(SIDES):
            name = side.lower()
            categories = texts_of_list(getattr(self, name), f"{name} of a policy")
            _check_categories(side, categories)
            force_setattr(self, name, categories)

    def categories_on(self, side: PolicySide) -> tuple[str, ...]:
        """Return the categories that the policy puts on a side: RIGHT -> `("CORRECT",)`."""
        return {RIGHT: self.right, WRONG: self.wrong, IGNORE: self.ignore}[side]

    def texts(self) -> dict[str, str]:
        """Return the categories of each side as the switches of the scorer take them: `{"RIGHT": "CORRECT:INEXACT"}`.

        The sides are sorted: IGNORE, RIGHT, WRONG.
        """
        return {side: ":".join(self.categories_on(side)) for side in sorted(SIDES)}

    @property
    def duplicate_side(self) -> PolicySide | None:
        """The side on which duplicates count, such as `IGNORE`; None if the policy does not mention duplicates.

        If several sides mention duplicates, the last of them counts (rule policies).
        """
        for side in reversed(SIDES):
            if DUPLICATE in self.categories_on(side):
                return side
        return None

    def without_irrelevant_order(self) -> dict[str, Sequence[str]]:
        """Return the categories of each side, in an order that is the same for policies with equal results.

        `wrong` and `ignore` are sorted. The order of `right` is kept, since it decides which of several right responses
        of a class is no duplicate.
        """
        return {"right": self.right, "wrong": sorted(self.wrong), "ignore": sorted(self.ignore)}


class NamedPolicy(Record):
    """A policy with a name and with limits on justifications.

    `texts` has the categories of each side as they were typed: `{"RIGHT": "CORRECT:INEXACT"}`. `meaning` says what the
    policy is for.
    """

    name: str
    policy: Policy
    justifications: JustificationLimits
    texts: dict[str, str]
    meaning: str = ""

    def options(self, base: Options) -> Options:
        """Return the options `base` with this policy and its limits in the place of their own."""
        return replace(base, policy=self.policy, justifications=self.justifications)

    def __str__(self) -> str:
        sides = [f"{side.lower()}={text}" for side, text in self.texts.items()]
        return ",".join((*sides, f"justifications={self.justifications}"))


_SLOT_FILLING_POLICY: Final = Policy(wrong=(*LATEST.wrong, DUPLICATE), ignore=("UNASSESSED",))
PRESETS: Final[Mapping[str, NamedPolicy]] = {
    preset.name: preset
    for preset in (
        NamedPolicy(
            name="kb",
            policy=Policy(),
            justifications=JustificationLimits(1, 3),
            texts=Policy().texts(),
            meaning="runs of knowledge bases; the defaults of the scorer",
        ),
        NamedPolicy(
            name="sf",
            policy=_SLOT_FILLING_POLICY,
            justifications=JustificationLimits(1, 1),
            texts=_SLOT_FILLING_POLICY.texts(),
            meaning="runs of slot filling",
        ),
    )
}
"""The policies that were published with the task, by name."""


def find_preset(name: str) -> NamedPolicy:
    """Return the published policy with this name, such as `kb`. Raises UsageError if there is none."""
    if name not in PRESETS:
        raise UsageError(f"no policy called {name}; there are {', '.join(PRESETS)}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]


AS_GIVEN: Final = "as-given"
MENTION_TYPES: Final = {
    AS_GIVEN: "assessments without mention types have none, so that no answer is known to be a name",
    "assume-name": "assessments without mention types are names, as their classes are",
}
"""The meaning of each value of the option `--mention-types`: how pools without mention types are read."""


def edition_of(name: str, mention_types: str = AS_GIVEN) -> Edition:
    """Return the edition with this name: the rules of one version of the reference scorer.

    `mention_types` says how a pool (file of assessments) without mention types is read. It is a key of `MENTION_TYPES`:
    for `assume-name`, the edition treats every mention in the pool as a name. The name 2017.1.6 stands for edition
    2017.1.5, because both produce the same scores. Raises UsageError if either name is unknown, or if the edition does
    not allow this choice of `mention_types`.
    """
    edition = EDITIONS.get("2017.1.5" if name == "2017.1.6" else name)
    if edition is None:
        raise UsageError(f"no edition {name} to follow; there are {', '.join(EDITIONS)}{did_you_mean(name, EDITIONS)}")
    if mention_types not in MENTION_TYPES:
        suggestion = did_you_mean(mention_types, MENTION_TYPES)
        raise UsageError(f"no --mention-types {mention_types}; there are {', '.join(MENTION_TYPES)}{suggestion}")
    if mention_types == AS_GIVEN:
        return edition
    # This edition judges each nominal answer separately. Only editions that ignore whole nodes need mention types.
    if edition.ignores_each_nominal:
        problem = f"{edition.name} scores pools without mention types as they are"
        raise UsageError(f"--mention-types is for {LATEST.name}: {problem}")
    # `assume-name` is the only other key of MENTION_TYPES.
    return replace(edition, assumed_mention="NAM")


def _as_limits(value: object) -> JustificationLimits:
    """Return limits on justifications from a text such as `"1:3"`; limits are returned as they are.

    Raises UsageError for any other value.
    """
    if isinstance(value, str):
        return JustificationLimits.parse(value)
    if not isinstance(value, JustificationLimits):
        raise UsageError(f"justifications takes a text such as 1:3, not {value!r}")
    return value


class Options(Record):
    """Options of a Cold Start scoring, with the reference scorer's defaults.

    - `discipline` says how responses are matched to assessments, a key of `DISCIPLINES`.
    - `expand` is the first part of the ids of the slot-filling queries that are made from LDC queries; None means that
      none are made.
    - `queries` is a file or a colon-separated list of the queries to score; None means all queries.
    - `runids` are the runs to score, in this order; None means all runs.
    - `samples` is a file of bootstrap resamples. `metrics` says for which of P, R and F the resamples have values.
    - `follow` is the name of the edition of the reference whose rules hold.
    - `mention_types` says how pools without mention types are read, a key of `MENTION_TYPES`.

    With an empty text or `0` for `expand` or `samples`, the output files that belong to the option are still written.
    Lists and limits may be given as the texts that switches take. Raises UsageError for impossible values.
    """

    discipline: str = "ASSESSED"
    expand: str | None = None
    justifications: JustificationLimits = JustificationLimits(1, 3)
    policy: Policy = Policy()
    queries: str | None = None
    runids: tuple[str, ...] | None = None
    samples: str | None = None
    metrics: tuple[str, ...] = ("P", "R", "F")
    follow: str = LATEST.name
    mention_types: str = AS_GIVEN

    def __post_init__(self) -> None:
        """Convert texts to limits, run ids and the name of an edition, and check the types of values.

        The limits and the run ids may be given as texts, and the edition by any of its names.
        """
        # The fields of options cannot be changed later, so they are replaced with their final values here. The property
        # `edition` looks up the name in `follow`, because `2017.1.6`, for example, is another name of edition 2017.1.5.
        force_setattr(self, "follow", self.edition.name)
        force_setattr(self, "justifications", _as_limits(self.justifications))
        if self.runids is not None:
            force_setattr(self, "runids", texts_of_list(self.runids, "runids"))
        policy: object = self.policy  # callers without type checks may pass anything
        if not isinstance(policy, Policy):
            raise UsageError(f"policy takes a Policy, not {policy!r}")

    @property
    def edition(self) -> Edition:
        """The edition of the reference scorer whose rules hold, with all its rules."""
        return edition_of(self.follow, self.mention_types)

    def check(self) -> None:
        """Raise UsageError for an unknown discipline.

        The options can be made without this check, because the bare command line reports an unknown discipline only
        when the files are read, as the reference does.
        """
        if self.discipline not in DISCIPLINES:
            raise UsageError(unknown_discipline_message(self.discipline))

    def as_json(self) -> dict[str, object]:
        """Return the options as a JSON object, for the record of how scores were made (their origin).

        The object maps the name of each recorded option to its value: `{"discipline": "ASSESSED", "right": ["CORRECT"],
        ...}`.
        """
        values: dict[str, object] = {}
        for option in SCORING_OPTIONS:
            if option.is_recorded(self):
                values[option.name] = option.to_json(option.value_of(self))
        return values


DEFAULT_OPTIONS: Final = Options()
"""The options with all their defaults."""


# ---- Functions for the table of options below
#
# `ScoringOption` says when each function is called. All functions that are called for the same purpose have the same
# parameters (`option`, `options`, `inputs`), even if some of them need fewer.


def _unchanged(value: Any) -> Any:
    """Return the value unchanged, for options whose values need no conversion."""
    return value


def _is_always_recorded(option: ScoringOption, options: Options) -> bool:
    """Return True, because origins record the option regardless of its value. The arguments are not used."""
    return True


def _is_not_default(option: ScoringOption, options: Options) -> bool:
    """Return whether the value of an option differs from its default."""
    return bool(option.value_of(options) != option.default)


def _has_samples(option: ScoringOption, options: Options) -> bool:
    """Return whether a file of resamples is given; without such a file the option has no effect."""
    return options.samples is not None


def _list_or_none(items: tuple[str, ...] | None) -> list[str] | None:
    """Return the value of a list for JSON: the items as a list, or None (`null`) if there is no value."""
    return None if items is None else list(items)


def _run_ids(text: str) -> tuple[str, ...] | None:
    """Return the run ids in the text of `-runids`, or None for all runs: `RUN1:RUN2` -> `("RUN1", "RUN2")`."""
    return None if is_left_out(text) else split_at_colons(text)


def path_of(argument: object, name: str) -> str | None:
    """Return the path in an argument of a Python function as text, or None if the argument is None.

    The argument may be a text or an object such as `pathlib.Path`. Raises UsageError for any other value. The message
    calls the argument `name`.
    """
    path = os.fspath(argument) if isinstance(argument, os.PathLike) else argument
    if path is not None and not isinstance(path, str):
        raise UsageError(f"{name} takes a path, not {argument!r}")
    return path


def _query_list(argument: object) -> str | None:
    """Return the argument `query_ids` of a Python function as a value of the switch `-queries`.

    This is a path or a text of ids with colons between them: `["CSX_1", "CSX_2"]` -> `"CSX_1:CSX_2"`. None stays None.

    Raises UsageError for a value that is neither a path nor a list of ids.
    """
    if argument is None or isinstance(argument, (str, os.PathLike)):
        return path_of(argument, "query_ids")
    return ":".join(texts_of_list(argument, "query_ids"))


def _run_ids_of_argument(argument: object) -> tuple[str, ...] | None:
    """Return the ids in the argument `runids` of a Python function as a tuple: `"RUN1:RUN2"` -> `("RUN1", "RUN2")`.

    If there are no ids, the result is None, which means all runs. Raises UsageError if the argument is neither a text
    nor a list of texts.
    """
    if argument is None:
        return None
    # A text is split at its colons.
    return texts_of_list(argument, "runids") or None


def _samples_file(argument: object) -> str | None:
    """Return the path in the argument `samples`, None for no file. Raises UsageError for a value that is no path."""
    return path_of(argument, "samples")


def _no_part(option: ScoringOption, options: Options, inputs: Sequence[InputDigest]) -> None:
    """Return None, because the option is not part of signatures. The arguments are not used."""
    return


def _name_and_value(option: ScoringOption, options: Options, inputs: Sequence[InputDigest]) -> str | None:
    """Return the name and the value of an option for a signature: `follow=3.0`, or None if the value is the default.

    `inputs` are the files that were read. This rule does not need them; other rules for signatures do.
    """
    value = option.value_of(options)
    if value == option.default:
        return None
    text = str(value).lower() if option.is_flag else option.to_text(value)
    return f"{option.switch.lstrip('-')}={text}"


def _policy_part(option: ScoringOption, options: Options, inputs: Sequence[InputDigest]) -> str:
    """Return the policy for a signature: the name of a published policy, such as `kb`, or the sides of another policy.

    The sides are written as a text such as `right=CORRECT;wrong=INCORRECT:INEXACT;ignore=UNASSESSED`. The arguments
    `option` and `inputs` are not used.
    """
    categories_by_side = options.policy.without_irrelevant_order()
    for name, preset in PRESETS.items():
        if preset.policy.without_irrelevant_order() == categories_by_side:
            return name
    return ";".join([f"{side}={':'.join(categories)}" for side, categories in categories_by_side.items()])


def _limits_part(option: ScoringOption, options: Options, inputs: Sequence[InputDigest]) -> str | None:
    """Return the limits on justifications for a signature, such as `1:3`, or None if the edition has no limits."""
    return str(options.justifications) if options.edition.has_limits else None


def _queries_part(option: ScoringOption, options: Options, inputs: Sequence[InputDigest]) -> str | None:
    """Return the digest of the queries to score for a signature, such as `queries=5f2c9d`.

    The result is None if all queries are scored. If `-queries` names a file, the digest of this file is taken from
    `inputs`. Otherwise the digest is computed from the list of queries. The argument `option` is not used.
    """
    if options.queries is None:
        return None
    files = [file for file in inputs if file.role == QUERY_LIST]
    ids = options.queries.rstrip(":")  # a colon at the end adds no query to the list
    digest = digest_of(files) if files else short_digest(ids)
    return f"queries={digest}"


def _samples_part(option: ScoringOption, options: Options, inputs: Sequence[InputDigest]) -> str | None:
    """Return the digest of the file of resamples for a signature, such as `samples=5f2c9d`, or None without a file.

    `inputs` are the files that were read, each with its digest. The argument `option` is not used.
    """
    if options.samples is None:
        return None
    files = [file for file in inputs if file.role == SAMPLES]
    return f"samples={digest_of(files)}"


def _editions_text() -> str:
    """Return the names of all editions, each with the evaluation that it scored: `3.0 (TAC KBP 2016), ...`."""
    return ", ".join([f"{edition.name} ({edition.evaluation})" for edition in EDITIONS.values()])


# ---- The table of options, which the command line, JSON, signatures, Python functions, pages and `verify` use


class OptionTopic(enum.Enum):
    """What an option is about, which decides its position in signatures and in the commands shown on pages."""

    EDITION = "the edition of the reference"
    POLICY = "the sides of the policy"
    LIMITS = "the limits on justifications, which belong to a policy"
    SCORING = "all else"


SignatureRule: TypeAlias = "Callable[[ScoringOption, Options, Sequence[InputDigest]], str | None]"
"""A function that returns what an option adds to the signature of scores; None means nothing."""


class ScoringOption(Record, kw_only=True, eq=False):
    """A row of the table of options: the names of one option, and the functions that read and write its value.

    Names and help:

    - `name` is the name of the option in JSON, and of its field in `Options`. The sides of a policy (`is_policy_side`)
      are fields of `Policy` instead.
    - `argument` is the name of the argument of Python functions: an empty text if the argument is also called `name`,
      None if the value comes from another argument.
    - `switch` is the switch of the command line. `value_name` is what the help calls its value; None means that the
      switch is a flag, which takes no value. `meaning` is the sentence of the help, and `shown_default` is the default
      that the help shows if there is no default value.
    - `topic` groups the options, `choices` are the values that are allowed, if there are only a few.
    - `is_for_calls` says that only calls that write the files of the reference have the option.

    Functions:

    - `from_text` converts the text of a switch to the value, `from_python` converts the argument of a Python function.
      Both raise UsageError.
    - `to_text` returns the value as the text of a switch, `to_json` returns it as JSON, which is read as a `json_type`.
    - `recording_rule` and `signature_rule` are called by `is_recorded` and `signature_part`.
    """

    name: str
    switch: str = ""
    value_name: str | None = None
    meaning: str = ""
    topic: OptionTopic = OptionTopic.SCORING
    choices: Sequence[str] = ()
    shown_default: str | None = None
    is_policy_side: bool = False
    is_for_calls: bool = False
    argument: str | None = ""
    from_text: Callable[[str], Any] = str
    from_python: Callable[[Any], Any] = _unchanged
    to_text: Callable[[Any], str] = str
    to_json: Callable[[Any], object] = _unchanged
    json_type: Any = str
    recording_rule: Callable[[ScoringOption, Options], bool] = _is_not_default
    signature_rule: SignatureRule = _name_and_value

    @property
    def is_flag(self) -> bool:
        """Whether the switch of the option takes no value."""
        return self.value_name is None

    @property
    def python_name(self) -> str | None:
        """The name of the argument of Python functions, such as `query_ids`; None if there is no such argument."""
        return self.name if self.argument == "" else self.argument

    def value_of(self, options: Options) -> Any:
        """Return the value of this option in `options`, such as `"ASSESSED"` for the discipline."""
        holder = options.policy if self.is_policy_side else options
        return getattr(holder, self.name)

    def is_recorded(self, options: Options) -> bool:
        """Return whether the origin of scores with these options records the value of this option."""
        return self.recording_rule(self, options)

    def signature_part(self, options: Options, inputs: Sequence[InputDigest]) -> str | None:
        """Return what this option adds to the signature of scores, such as `1:3`, or None if it adds nothing.

        `inputs` are the files that were read: the signature has the digest of a file instead of its name.
        """
        return self.signature_rule(self, options, inputs)

    @property
    def default(self) -> Any:
        """The value of the option if nobody sets it."""
        return self.value_of(DEFAULT_OPTIONS)

    @property
    def default_text(self) -> str | None:
        """The default value as the text of a switch, such as `1:3`; None for flags and if there is no default."""
        if self.is_flag or self.default is None:
            return None
        return self.to_text(self.default)

    def words(self, value: Any) -> list[str]:
        """Return the words of a command line that set this option to a value: `["-expand", "CSX"]`.

        A flag that is True gives only its switch. The list is empty for None (the option is not given) and for False.
        """
        if value is None or value is False:
            return []
        if self.is_flag:
            return [self.switch]
        return [self.switch, self.to_text(value)]


def _policy_side_option(side: PolicySide, meaning: str, signature_rule: SignatureRule) -> ScoringOption:
    """Return the option that sets one side of the policy: `-right`, `-wrong` or `-ignore`.

    The value of the option is a tuple of categories, such as `("CORRECT", "INEXACT")`. `meaning` is the sentence in the
    help, and `signature_rule` determines how the option is written in a signature.
    """
    name = side.lower()
    return ScoringOption(
        name=name,
        switch=f"-{name}",
        value_name="LIST",
        meaning=meaning,
        topic=OptionTopic.POLICY,
        choices=legal_categories(side),
        is_policy_side=True,
        argument=None,  # Python functions take all sides in one argument, a `Policy`
        from_text=split_at_colons,
        to_text=":".join,
        to_json=list,
        json_type=tuple[str, ...],
        recording_rule=_is_always_recorded,
        signature_rule=signature_rule,
    )


SCORING_OPTIONS: Final[tuple[ScoringOption, ...]] = (
    ScoringOption(
        name="discipline",
        switch="-discipline",
        value_name="NAME",
        meaning="How responses are matched to assessments; see below",
        choices=tuple(DISCIPLINES),
        recording_rule=_is_always_recorded,
    ),
    ScoringOption(
        name="expand",
        switch="-expand",
        value_name="BASE",
        meaning="Make a query of each entry point; BASE is the prefix of their ids",
        json_type=str | None,
        recording_rule=_is_always_recorded,
    ),
    ScoringOption(
        name="justifications",
        switch="-justifications",
        value_name="A:B",
        meaning="Justifications that count: A for each node and document, B for each node; 0-9 or M",
        topic=OptionTopic.LIMITS,
        from_text=JustificationLimits.parse,
        to_json=str,
        recording_rule=_is_always_recorded,
        signature_rule=_limits_part,
    ),
    _policy_side_option(RIGHT, "Colon-separated categories that count as right", signature_rule=_policy_part),
    _policy_side_option(WRONG, "Colon-separated categories that count as wrong", signature_rule=_no_part),
    _policy_side_option(IGNORE, "Colon-separated categories that are left out; see below", signature_rule=_no_part),
    ScoringOption(
        name="queries",
        switch="-queries",
        value_name="LIST",
        meaning="File or colon-separated list of the queries to score",
        shown_default="all queries",
        argument="query_ids",
        from_python=_query_list,
        json_type=str | None,
        recording_rule=_is_always_recorded,
        signature_rule=_queries_part,
    ),
    ScoringOption(
        name="runids",
        switch="-runids",
        value_name="LIST",
        meaning="Colon-separated runs to score, in this order",
        shown_default="all runs",
        is_for_calls=True,
        from_text=_run_ids,
        from_python=_run_ids_of_argument,
        to_text=":".join,
        to_json=_list_or_none,
        json_type=tuple[str, ...] | None,
        recording_rule=_is_always_recorded,
    ),
    ScoringOption(
        name="samples",
        switch="-samples",
        value_name="FILE",
        meaning="File of bootstrap resamples",
        is_for_calls=True,
        from_python=_samples_file,
        json_type=str | None,
        recording_rule=_is_always_recorded,
        signature_rule=_samples_part,
    ),
    ScoringOption(
        name="metrics",  # no switch: it follows from the columns of tables
        argument=None,
        to_json=list,
        json_type=tuple[str, ...],
        recording_rule=_has_samples,
        signature_rule=_no_part,
    ),
    ScoringOption(
        name="follow",
        switch="--follow",
        value_name="VERSION",
        meaning=f"Edition of the reference whose rules apply: {_editions_text()}",
        topic=OptionTopic.EDITION,
        choices=tuple(EDITIONS),
    ),
    ScoringOption(
        name="mention_types",
        switch="--mention-types",
        value_name="NAME",
        meaning="How to read pools without mention types; assume-name counts their answers as names",
        topic=OptionTopic.EDITION,
        choices=tuple(MENTION_TYPES),
    ),
)
"""The options of scoring, in the order of JSON.

A new option needs a field of `Options`, a row here, a line of `ScoringArguments`, and the code that follows it.
"""

SWITCHES: Final[tuple[ScoringOption, ...]] = tuple(option for option in SCORING_OPTIONS if option.switch)
"""The options that a command line has."""


class ScoringArguments(TypedDict, total=False):
    """The arguments in Python that control the scoring of runs; they are documented for `prepare`."""

    expand: str | None
    policy: str | Policy
    justifications: str | JustificationLimits | None
    discipline: str
    query_ids: str | os.PathLike[str] | Iterable[str] | None
    follow: str
    mention_types: str


class CallArguments(ScoringArguments, total=False):
    """The arguments in Python of functions that score all runs of a call together."""

    runids: str | Iterable[str] | None
    samples: str | os.PathLike[str] | None


def options_in_order(*topics: OptionTopic) -> list[ScoringOption]:
    """Return the options with a switch that belong to these topics, in the order of the topics.

    For `OptionTopic.LIMITS` this is the option `-justifications`. Options of one topic keep the order of the table.
    """
    options = []
    for topic in topics:
        options += [option for option in SWITCHES if option.topic is topic]
    return options


def options_of_values(values: Mapping[str, Any]) -> Options:
    """Return options with the given values, and with default values for all other options.

    The keys of `values` are the names of options in the JSON output, where each side of the policy has its own key:
    `{"right": ("CORRECT",), "expand": "CSX"}`. Raises UsageError for invalid values.
    """
    fields_of_options = dict(values)
    fields_of_policy = {}
    for option in SCORING_OPTIONS:
        if option.is_policy_side and option.name in fields_of_options:
            fields_of_policy[option.name] = fields_of_options.pop(option.name)
    if fields_of_policy:
        fields_of_options["policy"] = Policy(**fields_of_policy)
    return Options(**fields_of_options)


def switch_words(options: Options) -> list[str]:
    """Return the words of a command line that sets these options, except for the policy and the limits.

    For example: `["-discipline", "ASSESSED", "-expand", "CSX"]`. Options that do not affect scores are left out, as
    they are in the record of how scores were made.
    """
    words = []
    for option in SWITCHES:
        is_of_policy = option.topic in (OptionTopic.POLICY, OptionTopic.LIMITS)
        if not is_of_policy and option.is_recorded(options):
            words += option.words(option.value_of(options))
    return words


_LIMITS_KEY: Final = "justifications"
_POLICY_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_POLICY_FORM: Final = "NAME:right=A:B,wrong=C:D,ignore=E,justifications=1:3"


def read_policies(
    words: Sequence[str], base: Options, default_text_by_side: dict[str, str], switch: str = "--policy"
) -> list[NamedPolicy]:
    """Return the policies that the values of `--policy` switches (`words`) describe.

    Each value is the `NAME` of a published policy, or `NAME:right=...,wrong=...,ignore=...,justifications=A:B`. Parts
    that are left out are taken from the options `base`. `default_text_by_side` has the sides of the policy of `base` as
    they were typed, such as `{"RIGHT": "CORRECT:INEXACT"}`. Messages mention `switch`. Raises UsageError if a value
    cannot be read, if a policy is not possible, or if a name is given twice.
    """
    policies = [_read_policy(word, base, default_text_by_side, switch) for word in words]
    # A batch names folders after policies, and some file systems ignore letter case, so names must differ in more than
    # case.
    count_by_name = Counter([policy.name.casefold() for policy in policies])
    for name, count in count_by_name.items():
        if count > 1:
            raise UsageError(f"{switch} {name} is given twice; each policy needs a name of its own")
    return policies


def _read_policy(text: str, base: Options, default_text_by_side: dict[str, str], switch: str) -> NamedPolicy:
    """Return the policy that the value of one switch (`text`) describes: `NAME` or `NAME:right=...,wrong=...`.

    Limits that are left out are taken from the options `base`, and a side that is left out is taken from
    `default_text_by_side`. Raises UsageError if the value cannot be read. The error message mentions `switch`.
    """
    beginning_of_message = f"{switch} {text}"
    name, colon, parts = text.partition(":")
    if not _POLICY_NAME.fullmatch(name):
        problem = "a name is made of letters, digits and ._+- and begins with one of the former"
        raise UsageError(f"{beginning_of_message}: {problem}")
    if not colon:
        return _preset_with_limits(name, base, switch)
    limits = base.justifications
    text_by_side = dict(default_text_by_side)
    for part in parts.split(","):
        key, value = _read_part_of_policy(part, beginning_of_message)
        if key == _LIMITS_KEY:
            limits = _read_limits_of_policy(value, base, beginning_of_message)
        else:
            text_by_side[key.upper()] = value
    return NamedPolicy(name, _policy_of_texts(text_by_side), limits, text_by_side)


def _read_limits_of_policy(text: str, base: Options, beginning_of_message: str) -> JustificationLimits:
    """Return the limits on justifications in a part of a policy, such as `1:3`.

    Raises UsageError if the text cannot be read, or if the edition in the options `base` has no limits. In the second
    case, the error message begins with the switch and its value (`beginning_of_message`).
    """
    if not base.edition.has_limits:
        edition_name = base.follow
        raise UsageError(f"{beginning_of_message}: edition {edition_name} has no limits on justifications")
    return JustificationLimits.parse(text)


def _preset_with_limits(name: str, base: Options, switch: str) -> NamedPolicy:
    """Return the published policy with this name, such as `kb`. Raises UsageError if there is none.

    The options `base` say which edition is followed. If the edition has no limits on justifications, the limits of the
    preset do not matter, and the policy has the limits of `base` instead.
    """
    if name not in PRESETS:
        raise UsageError(f"{switch} {name}: no such preset; there are {', '.join(PRESETS)}, others are {_POLICY_FORM}")
    if base.edition.has_limits:
        return PRESETS[name]
    return replace(PRESETS[name], justifications=base.justifications)


def _read_part_of_policy(part: str, beginning_of_message: str) -> tuple[str, str]:
    """Return the key and the value of a part of a policy: `right=CORRECT:INEXACT` -> `("right", "CORRECT:INEXACT")`.

    The key is a side or `justifications`. Raises UsageError for another part. The message begins with the switch and
    its value (`beginning_of_message`).
    """
    key, equals, value = part.partition("=")
    legal_keys = (*[side.lower() for side in SIDES], _LIMITS_KEY)
    if not equals or key not in legal_keys:
        problem = f"{part or 'an empty part'} is not understood; the form is {_POLICY_FORM}"
        raise UsageError(f"{beginning_of_message}: {problem}")
    return key, value


def _policy_of_texts(text_by_side: Mapping[str, str]) -> Policy:
    """Return the policy whose sides are texts with colons between the categories: `{"RIGHT": "CORRECT:INEXACT", ...}`.

    Empty categories are left out. Raises UsageError for a category that is not legal on its side.
    """
    categories_by_side = {}
    for side in SIDES:
        categories = [category for category in split_at_colons(text_by_side[side]) if category]
        categories_by_side[side.lower()] = tuple(categories)
    return Policy(**categories_by_side)


# The entry of an origin which says that the runs of a call, or of a file, were scored separately.
SCORED_SEPARATELY: Final = "runs_apart"


def origin_of(
    options: Options, inputs: Sequence[InputDigest], has_ldc_index: bool, *, are_runs_validated: bool
) -> Origin:
    """Return the origin of scores: the task, the options, the inputs, and the parts of the signature.

    `has_ldc_index` says whether there are tables of LDC queries, on which the headline measure depends.
    `are_runs_validated` says whether the runs were validated before they were scored.
    """
    measure = default_measure(COLD_START_MODE, has_ldc_queries=has_ldc_index, has_rankings=options.edition.has_rankings)
    origin = Origin(
        task=COLD_START_MODE,
        options=options.as_json(),
        inputs=tuple(inputs),
        settings=tuple(_signature_parts(options, inputs)),
        measure=str(measure),
    )
    if are_runs_validated:
        # Validation changes scores, so signatures mention it: `validate=true`.
        origin = origin.with_option("validate", True, "validate=true")
    return origin


def _signature_parts(options: Options, inputs: Sequence[InputDigest]) -> Iterator[str]:
    """Yield what each option adds to the signature of scores: `kb` for the policy, `1:3` for the limits, ...

    `inputs` are the files that were read. If an option names a file, the signature has the digest of the file.
    """
    for option in options_in_order(OptionTopic.EDITION, OptionTopic.POLICY, OptionTopic.LIMITS, OptionTopic.SCORING):
        part = option.signature_part(options, inputs)
        if part is not None:
            yield part
