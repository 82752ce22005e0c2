"""What a scoring may choose: policies, limits, discipline, selection, edition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import Record, force_setattr, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES, Origin, digest_of, short_digest
from cs_score.base.sources import InputDigest
from cs_score.coldstart.editions import EDITIONS, LATEST, Edition
from cs_score.measures.registry import COLD_START_MODE, usual

Side: TypeAlias = Literal["RIGHT", "WRONG", "IGNORE"]
"""What a policy makes of a response. Plain text, because responses are filed under it by the million."""

RIGHT: Final = "RIGHT"
WRONG: Final = "WRONG"
IGNORE: Final = "IGNORE"

SIDES: Final[tuple[Side, ...]] = (RIGHT, WRONG, IGNORE)
"""In the order in which the policies are applied."""

_CHECKED_SIDES: Final[tuple[Side, ...]] = (IGNORE, RIGHT, WRONG)

DUPLICATE: Final = "DUPLICATE"
"""The category that counts on one side only, however many name it."""


class PolicyItem(Record):
    sides: frozenset[str]
    meaning: str


POLICY_ITEMS: Final[dict[str, PolicyItem]] = {
    "CORRECT": PolicyItem(frozenset({RIGHT}), "responses assessed as correct"),
    DUPLICATE: PolicyItem(frozenset(SIDES), "further right responses in a class that has one already"),
    "INCORRECT": PolicyItem(frozenset({WRONG}), "responses assessed as incorrect"),
    "INCORRECT_PARENT": PolicyItem(frozenset({WRONG, IGNORE}), "responses below a response that is not right"),
    "INEXACT": PolicyItem(frozenset(SIDES), "responses assessed as inexact"),
    "UNASSESSED": PolicyItem(frozenset({WRONG, IGNORE}), "responses without assessment"),
}

DISCIPLINES: Final = {
    "ASSESSED": "only assessments of the same answer with the same justification count",
    "STRING_CASE": "otherwise an assessment of the same text counts, letter case ignored",
    "STRING_EXACT": "otherwise an assessment of exactly the same text counts",
}


def no_discipline(name: str) -> str:
    return f"No matcher called {name}; there are {', '.join(DISCIPLINES)}{nearest(name, DISCIPLINES)}"


MANY: Final = "M"
"""Unlimited."""


class Justifications(Record):
    """How many justifications a node may have: `per_document` and in all (`most`); None means any number."""

    per_document: int | None
    most: int | None

    @classmethod
    def parse(cls, text: str) -> Justifications:
        """Read `A:B`, each one digit or `M`. Raises UsageError otherwise, and for B = 0 (quirk 3)."""
        if not re.fullmatch(r"[0-9M]:[0-9M]", text):
            raise UsageError(
                "Argument to -justifications switch must be of the form A:B where A and B are either positive numbers "
                "or character 'M' representing infinity."
            )
        per_document, most = (None if limit == MANY else int(limit) for limit in text.split(":"))
        if most == 0:
            raise UsageError("-justifications: B = 0 leaves nothing to score; use 1 to 9, or M for any number")
        return cls(per_document, most)

    def __str__(self) -> str:
        return ":".join(MANY if limit is None else str(limit) for limit in (self.per_document, self.most))


def listed(text: str) -> tuple[str, ...]:
    """The items of a list with colons between them; empty ones at the end do not count."""
    text = text.rstrip(":")
    return tuple(text.split(":")) if text else ()


def as_list(given: object, what: str) -> tuple[str, ...]:
    """A list of texts, or a text with colons between its items. Raises UsageError for anything else."""
    if isinstance(given, str):
        return listed(given)
    items: list[str] = []
    for item in given if isinstance(given, Iterable) else (given,):
        if not isinstance(item, str):
            raise UsageError(f"{what} takes a list of texts, not {item!r}")
        items.append(item)
    return tuple(items)


class Policy(Record):
    """Which categories count as right, as wrong, and not at all, each in the order given.

    A text stands for a list with colons between its items. Raises UsageError where a category stands on a side that it
    may not be put on.
    """

    right: tuple[str, ...] = ("CORRECT",)
    wrong: tuple[str, ...] = LATEST.wrong
    ignore: tuple[str, ...] = LATEST.ignore

    def __post_init__(self) -> None:
        for side in _CHECKED_SIDES:
            name = side.lower()
            force_setattr(self, name, as_list(getattr(self, name), f"{name} of a policy"))
            for item in self.items(side):
                if item not in POLICY_ITEMS or side not in POLICY_ITEMS[item].sides:
                    near = nearest(item, POLICY_ITEMS) if item not in POLICY_ITEMS else ""
                    legal = ", ".join(name for name, known in POLICY_ITEMS.items() if side in known.sides)
                    raise UsageError(f"Unexpected choice {item} for {side}; legal are {legal}{near}")

    def items(self, side: Side) -> tuple[str, ...]:
        return {RIGHT: self.right, WRONG: self.wrong, IGNORE: self.ignore}[side]

    def texts(self) -> dict[str, str]:
        """IGNORE, RIGHT and WRONG as the scorer's switches take them."""
        return {side: ":".join(self.items(side)) for side in _CHECKED_SIDES}

    @property
    def duplicate_side(self) -> Side | None:
        """Where duplicates go: the last side that names them (rule policies); None where none does."""
        return next((side for side in reversed(SIDES) if DUPLICATE in self.items(side)), None)

    def plain(self) -> dict[str, Sequence[str]]:
        """What the policy does: the order of right items decides which of two responses is the duplicate, no other."""
        return {"right": self.right, "wrong": sorted(self.wrong), "ignore": sorted(self.ignore)}


class NamedPolicy(Record):
    """A policy with the limits on justifications that go with it; `texts` are IGNORE, RIGHT and WRONG as typed."""

    name: str
    policy: Policy
    justifications: Justifications
    texts: dict[str, str]
    meaning: str = ""

    def options(self, base: Options) -> Options:
        return replace(base, policy=self.policy, justifications=self.justifications)

    def __str__(self) -> str:
        sides = [f"{side.lower()}={text}" for side, text in self.texts.items()]
        return ",".join((*sides, f"justifications={self.justifications}"))


def _preset(name: str, policy: Policy, limits: str, meaning: str) -> NamedPolicy:
    return NamedPolicy(name, policy, Justifications.parse(limits), policy.texts(), meaning)


PRESETS: Final[Mapping[str, NamedPolicy]] = {
    "kb": _preset("kb", Policy(), "1:3", "runs of knowledge bases; the defaults of the scorer"),
    "sf": _preset(
        "sf",
        Policy(wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", DUPLICATE), ignore=("UNASSESSED",)),
        "1:1",
        "runs of slot filling",
    ),
}
"""The policies that were published with the task, by name."""


def find_preset(name: str) -> NamedPolicy:
    if name not in PRESETS:
        raise UsageError(f"no policy called {name}; there are {', '.join(PRESETS)}{nearest(name, PRESETS)}")
    return PRESETS[name]


AS_GIVEN: Final = "as-given"
MENTION_TYPES: Final = {
    AS_GIVEN: "assessments without mention types have none, so that no answer is known to be a name",
    "assume-name": "assessments without mention types are names, as their classes are",
}
"""What is made of pools without mention types, by the names of the option."""


def edition_of(name: str, mention_types: str = AS_GIVEN) -> Edition:
    """The edition called so, 2017.1.6 being 2017.1.5, with what is made of pools without mention types. Raises
    UsageError.
    """
    edition = EDITIONS.get("2017.1.5" if name == "2017.1.6" else name)
    if edition is None:
        raise UsageError(f"no edition {name} to follow; there are {', '.join(EDITIONS)}{nearest(name, EDITIONS)}")
    if mention_types not in MENTION_TYPES:
        near = nearest(mention_types, MENTION_TYPES)
        raise UsageError(f"no --mention-types {mention_types}; there are {', '.join(MENTION_TYPES)}{near}")
    if mention_types == AS_GIVEN:
        return edition
    if edition.ignores_each_nominal:
        raise UsageError(
            f"--mention-types is for {LATEST.name}: {edition.name} scores pools without mention types as they are"
        )
    return replace(edition, assumed_mention="NAM")


class Options(Record):
    """Options of a Cold Start scoring, with the reference scorer's defaults.

    `expand`: base of the names of slot-filling queries made from LDC queries, None for no expansion. `queries`: a file
    or a colon-separated list naming the queries to score, `runids` the runs in this order, None for all. `samples`: a
    bootstrap resample file; `metrics`: those of P, R and F that resamples have values of, since the reference resamples
    what its tables show. `follow`: the edition of the reference whose rules hold; `mention_types`: what is made of
    pools that have none. Lists and limits may be texts as switches take them. Raises UsageError for what is neither.
    """

    discipline: str = "ASSESSED"
    expand: str | None = None
    justifications: Justifications = Justifications(1, 3)
    policy: Policy = Policy()
    queries: str | None = None
    runids: tuple[str, ...] | None = None
    samples: str | None = None
    metrics: tuple[str, ...] = ("P", "R", "F")
    follow: str = LATEST.name
    mention_types: str = AS_GIVEN

    def __post_init__(self) -> None:
        force_setattr(self, "follow", edition_of(self.follow, self.mention_types).name)
        limits: object = self.justifications
        if isinstance(limits, str):
            force_setattr(self, "justifications", Justifications.parse(limits))
        elif not isinstance(limits, Justifications):
            raise UsageError(f"justifications takes a text such as 1:3, not {limits!r}")
        if self.runids is not None:
            force_setattr(self, "runids", as_list(self.runids, "runids"))
        policy: object = self.policy
        if not isinstance(policy, Policy):
            raise UsageError(f"policy takes a Policy, not {policy!r}")

    @property
    def edition(self) -> Edition:
        return edition_of(self.follow, self.mention_types)

    def check(self) -> None:
        """Raises UsageError for an unknown discipline; the command line checks this later, as the reference does."""
        if self.discipline not in DISCIPLINES:
            raise UsageError(no_discipline(self.discipline))

    def as_json(self) -> dict[str, object]:
        """The options as a JSON object, for the origin of scores."""
        policy = self.policy
        return {
            "discipline": self.discipline,
            "expand": self.expand,
            "justifications": str(self.justifications),
            "right": list(policy.right),
            "wrong": list(policy.wrong),
            "ignore": list(policy.ignore),
            "queries": self.queries,
            "runids": None if self.runids is None else list(self.runids),
            "samples": self.samples,
            **({} if self.samples is None else {"metrics": list(self.metrics)}),
            **({} if self.follow == LATEST.name else {"follow": self.follow}),
            **({} if self.mention_types == AS_GIVEN else {"mention_types": self.mention_types}),
        }


_LIMITS: Final = "justifications"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_FORM: Final = "NAME:right=A:B,wrong=C:D,ignore=E,justifications=1:3"


def read_policies(
    given: Sequence[str], base: Options, texts: dict[str, str], switch: str = "--policy"
) -> list[NamedPolicy]:
    """The policies of `--policy` switches: `NAME` of a preset, or `NAME:right=...,wrong=...,ignore=...`.

    Parts that are left out are those of `base`, whose policy was typed as `texts`; messages name the `switch`. Raises
    UsageError for what cannot be understood, for an impossible policy, and for a name that comes twice.
    """
    read = [_read(text, base, texts, switch) for text in given]
    names = [policy.name.casefold() for policy in read]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{switch} {name} is given twice; each policy needs a name of its own")
    return read


def _read(text: str, base: Options, texts: dict[str, str], switch: str) -> NamedPolicy:
    name, colon, parts = text.partition(":")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{switch} {text}: a name is made of letters, digits and ._+- and begins with one of the former"
        )
    limits = base.justifications
    if not colon:
        if name not in PRESETS:
            raise UsageError(f"{switch} {name}: no such preset; there are {', '.join(PRESETS)}, others are {_FORM}")
        return PRESETS[name] if base.edition.has_limits else replace(PRESETS[name], justifications=limits)
    chosen = dict(texts)
    for part in parts.split(","):
        key, equals, value = part.partition("=")
        if not equals or (key.upper() not in SIDES and key != _LIMITS) or not key.islower():
            raise UsageError(f"{switch} {text}: {part or 'an empty part'} is not understood; the form is {_FORM}")
        if key != _LIMITS:
            chosen[key.upper()] = value
        elif base.edition.has_limits:
            limits = Justifications.parse(value)
        else:
            raise UsageError(f"{switch} {text}: edition {base.follow} has no limits on justifications")
    policy = Policy(**{side.lower(): tuple(filter(None, listed(chosen[side]))) for side in SIDES})
    return NamedPolicy(name, policy, limits, chosen)


APART: Final = "runs_apart"
"""The option in the origin of a result of several runs, or of one in a file of several, each scored by itself."""


def origin_of(options: Options, inputs: Sequence[InputDigest], has_ldc_index: bool, *, validated: bool) -> Origin:
    """The origin of scores made with these options from these inputs; `validated`: runs were validated first."""
    measure = str(usual(COLD_START_MODE, has_ldc_index))
    origin = Origin(COLD_START_MODE, options.as_json(), tuple(inputs), tuple(_settings(options, inputs)), measure)
    return origin.with_option("validate", True, "validate=true") if validated else origin


def _settings(options: Options, inputs: Sequence[InputDigest]) -> Iterator[str]:
    usually = Options()
    if options.follow != usually.follow:
        yield f"follow={options.follow}"
    if options.mention_types != usually.mention_types:
        yield f"mention-types={options.mention_types}"
    plain = options.policy.plain()
    names = [name for name, preset in PRESETS.items() if preset.policy.plain() == plain]
    yield names[0] if names else ";".join(f"{side}={':'.join(items)}" for side, items in plain.items())
    if options.edition.has_limits:
        yield str(options.justifications)
    if options.discipline != usually.discipline:
        yield f"discipline={options.discipline}"
    if options.expand is not None:
        yield f"expand={options.expand}"
    if options.queries is not None:
        files = [given for given in inputs if given.role == QUERY_LIST]
        yield f"queries={digest_of(files) if files else short_digest(options.queries.rstrip(':'))}"
    if options.runids is not None:
        yield f"runids={':'.join(options.runids)}"
    if options.samples is not None:
        yield f"samples={digest_of(given for given in inputs if given.role == SAMPLES)}"
