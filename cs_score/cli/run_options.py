"""The options of commands that score Cold Start runs: the switches of the scorer, and the policies.

A switch such as `-right` or `-discipline` says how a run is scored. The commands of evidence tasks do not load this
module, which needs the records of Cold Start's options and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from cs_score.base.errors import UsageError
from cs_score.cli.core import CommandLine, Option, Section
from cs_score.cli.shared_options import INTERVAL_OPTIONS, select_options
from cs_score.coldstart import options as coldstart
from cs_score.coldstart.options import (
    AS_GIVEN,
    DEFAULT_OPTIONS,
    EDITIONS,
    LATEST,
    PRESETS,
    SWITCHES,
    Edition,
    JustificationLimits,
    NamedPolicy,
    Options,
    Policy,
    ScoringOption,
    edition_of,
    split_at_colons,
)
from cs_score.coldstart.output_files import DEFAULT_FIELDS, OUTPUTS, SCORE_FIELDS, ColumnLayout, resampled_metrics

DEFAULTS: Final = {"-error_file": "stderr", "-fields": ":".join(DEFAULT_FIELDS), "-output_file": "stdout"}
"""The defaults of the switches of the scorer that are not options of scoring."""

SCORING_SWITCHES: Final = " ".join([option.switch for option in SWITCHES if not option.is_for_calls])
"""The switches that say how a run is scored."""

_OF_CALLS: Final = " ".join([option.switch for option in SWITCHES if option.is_for_calls])
OPTIONS_OF_BATCHES: Final = (
    f"{SCORING_SWITCHES} {_OF_CALLS} -fields -tabs --problems --force --validate {INTERVAL_OPTIONS}"
)
"""The switches of a call that scores as the reference does, and of a batch."""

OPTIONS_OF_CALLS: Final = f"{OPTIONS_OF_BATCHES} --policy --knowledge-base --jobs --parts"
POLICY_SWITCHES: Final = tuple(sorted([option.switch for option in SWITCHES if option.is_policy_side]))


def _with_default(usage: str, help_text: str, choices: Iterable[str] = ()) -> Option:
    """Return an option of a command for a switch of the scorer; `DEFAULTS` has its default."""
    name = usage.partition(" ")[0]
    return Option(usage, help_text, DEFAULTS[name], tuple(choices))


def _command_option(option: ScoringOption) -> Option:
    """Return a scoring option as an option of a command."""
    usage = option.switch if option.is_flag else f"{option.switch} {option.value_name}"
    return Option(usage, option.meaning, option.shown_default or option.default_text, option.choices)


_POLICY_OF_OURS: Final = "right=A:B,wrong=C,ignore=D,justifications=1:3"

_RUN_OPTIONS: Final = (
    *[_command_option(option) for option in SWITCHES],
    _with_default("-error_file FILE", "Where to report problems: a new file, stdout or stderr"),
    _with_default("-fields LIST", "Colon-separated columns of the tables; see below", DEFAULT_FIELDS),
    _with_default("-output_file PREFIX", "Prefix of the files to write, or stdout or stderr"),
    Option("-tabs", "Separate columns by one tab instead of aligning them"),
    Option(
        "--also-policy NAME[:LIST]...", "Also score under this policy; may be repeated; see below", choices=[*PRESETS]
    ),
    Option("--policy NAME", f"The policy: kb, sf or {_POLICY_OF_OURS}; switches take precedence", choices=[*PRESETS]),
)
"""The options that only commands for Cold Start runs have: the switches of the scorer, and the policies."""


def select_run_options(option_names: str, own_options: Iterable[Option] = ()) -> list[Option]:
    """Return the options of a command that scores Cold Start runs, in the order of `option_names`.

    The names are separated by blanks. Each is that of a switch of the scorer, of an option that several commands share,
    or of one of the command's `own_options`.
    """
    return select_options(option_names, (*_RUN_OPTIONS, *own_options))


class Scoring:
    """The options of a command line for scoring Cold Start runs: the edition (the version of the scorer that is
    followed), the policy (which responses count as right, as wrong, or not at all), and all other switches.

    Every property raises UsageError if the value of a switch is wrong.
    """

    def __init__(self, command_line: CommandLine) -> None:
        """Keep the command line; its options are read when a property is used."""
        self.command_line = command_line

    @cached_property
    def edition(self) -> Edition:
        """The edition of the scorer that is followed.

        UsageError is raised if the command line has a switch or a measure that this edition does not have.
        """
        name = self.command_line.text("--follow", LATEST.name)
        edition = edition_of(name, self.command_line.text("--mention-types", AS_GIVEN))
        if not edition.has_limits:
            self._refuse_limits(edition)
        if not edition.has_rankings:
            self._refuse_measure_of_rankings(edition)
        return edition

    def _refuse_limits(self, edition: Edition) -> None:
        """Raise UsageError if the switch -justifications is typed; the message lists the editions that have it.

        `edition` is the edition that is followed, which has no such switch.
        """
        if "-justifications" in self.command_line:
            editions_with_limits = [candidate.name for candidate in EDITIONS.values() if candidate.has_limits]
            raise UsageError(
                f"ERROR: Unknown switch: -justifications; version {edition.name} has no such switch; "
                f"{', '.join(editions_with_limits)} have it"
            )

    def _refuse_measure_of_rankings(self, edition: Edition) -> None:
        """Raise UsageError if --measure or --min names an average precision; the message lists the editions with one.

        `edition` is the edition that is followed, which computes no average precision.
        """
        measure = self._measure_of_rankings()
        if measure is not None:
            editions_with_rankings = [candidate.name for candidate in EDITIONS.values() if candidate.has_rankings]
            raise UsageError(
                f"{measure}: version {edition.name} has no average precision; "
                f"{', '.join(editions_with_rankings)} have it"
            )

    def _measure_of_rankings(self) -> str | None:
        """Return the first value of --measure or --min that has an average precision, such as `SF-AP`, or None."""
        for option in ("--measure", "--min"):
            for text in self.command_line.texts(option):  # such as `SF-AP` or, for --min, `SF-AP=0.3`
                if re.search(r"-AP\b", text):
                    return text
        return None

    @cached_property
    def defaults(self) -> Mapping[str, str]:
        """The defaults of `-right`, `-wrong`, `-ignore` and `-justifications` for this command line.

        For example `{"-right": "CORRECT", ...}`. They come from the policy of --policy, or else from the edition.
        """
        policy, limits = self._policy_and_limits()
        default_by_switch = {f"-{side.lower()}": categories for side, categories in policy.texts().items()}
        default_by_switch["-justifications"] = str(limits)
        if not self.edition.has_limits:  # the edition lacks the switch, and all justifications count
            default_by_switch["-justifications"] = "M:M"
        return default_by_switch

    def _policy_and_limits(self) -> tuple[Policy, JustificationLimits]:
        """Return the policy that --policy names or spells out, or else the edition's policy, with its limits.

        The limits are the largest numbers of justifications of a node that count. With `1:3`, one counts for each node
        and document, and three for each node.
        """
        policy_text = self.command_line.get("--policy")
        if policy_text is None:
            return self._policy_of_edition(), DEFAULT_OPTIONS.justifications
        if "=" in policy_text:  # spelled out, such as `right=CORRECT,wrong=WRONG`
            own_policy = self._read_own_policy(policy_text)
            return own_policy.policy, own_policy.justifications
        preset = coldstart.find_preset(policy_text)
        return preset.policy, preset.justifications

    def _policy_of_edition(self) -> Policy:
        """Return the policy that is in force if the command line names none."""
        return Policy(wrong=self.edition.wrong, ignore=self.edition.ignore)

    def _read_own_policy(self, text: str) -> NamedPolicy:
        """Return the policy of a text such as `right=CORRECT,justifications=1:3`.

        The policy may have a name: `strict:right=CORRECT`. If a side is left out, the categories of the edition are
        used; if limits are left out, the default limits are used. Raises UsageError if the text is not a valid policy.
        """
        before_first_part, _, _ = text.partition("=")
        if ":" not in before_first_part:
            text = f"own:{text}"  # a policy needs a name to be read
        default_limits = Options(follow=self.edition.name, justifications=DEFAULT_OPTIONS.justifications)
        categories_of_edition = self._policy_of_edition().texts()
        [policy] = coldstart.read_policies([text], default_limits, categories_of_edition, "--policy")
        return policy

    @cached_property
    def options(self) -> Options:
        """The scoring options, with the values of the switches or their defaults."""
        policy = self._policy_of_switches()  # comes before the other options, so that its faults are reported first
        value_by_field: dict[str, Any] = {}
        for option in SWITCHES:
            if not option.is_policy_side:
                value_by_field[option.name] = self._value_of(option)
        # The reference resamples the scores in the columns of its tables: precision, recall or F1.
        metrics = resampled_metrics(self.layout.fields)
        return Options(policy=policy, metrics=metrics, **value_by_field)

    def _policy_of_switches(self) -> Policy:
        """Return the policy that the switches -right, -wrong and -ignore choose; their defaults fill in the others."""
        categories_by_side = {}
        for switch in POLICY_SWITCHES:
            side = switch.removeprefix("-")
            categories_by_side[side] = split_at_colons(self.command_line.text(switch, self.defaults[switch]))
        return Policy(**categories_by_side)

    def _value_of(self, option: ScoringOption) -> Any:
        """Return the value of a scoring option on the command line, or its default; None if it has none.

        An option without value is True if its switch was typed.
        """
        if option.is_flag:
            return option.switch in self.command_line
        text = self.command_line.get(option.switch)
        if text is None:
            text = self.defaults.get(option.switch, option.default_text)
        return None if text is None else option.from_text(text)

    @property
    def run_ids(self) -> tuple[str, ...] | None:
        """The run ids that -runids names; None if all runs are scored."""
        return self.options.runids

    @property
    def layout(self) -> ColumnLayout:
        """The columns of the tables (-fields), and whether tabs separate them (-tabs)."""
        fields = split_at_colons(self.command_line.text("-fields", DEFAULTS["-fields"]))
        return ColumnLayout(fields, is_tab_separated="-tabs" in self.command_line)

    @property
    def policy_texts(self) -> dict[str, str]:
        """The values of the three switches of a policy as texts, by `RIGHT`, `WRONG` and `IGNORE`."""
        texts = {}
        for switch in POLICY_SWITCHES:
            side = switch.removeprefix("-").upper()
            texts[side] = self.command_line.text(switch, self.defaults[switch])
        return texts


# ---- Parts of helps

FILES: Final = (
    "Any number of query files (names ending in .xml, perhaps compressed), assessment files, runs and knowledge bases, "
    "which are recognised by their first lines; a folder stands for its files *.tab.txt. Parent lines must come before "
    "the lines below them."
)


def _output_file_rows() -> list[tuple[str, str]]:
    """Return a row of help for each output file of the scorer: its name, its content, and its switch."""
    rows = []
    for output in OUTPUTS:
        meaning = output.content
        if output.switch:
            meaning += f"; with {output.switch}"
        rows.append((f"PREFIX.{output.ending}", f"{meaning}."))
    return rows


def _policy_item_rows() -> list[tuple[str, str]]:
    """Return a row of help for each category of responses: its name, its meaning, and the switches that take it."""
    rows = []
    for name, category in coldstart.POLICY_CATEGORIES.items():
        switches = sorted(f"-{side.lower()}" for side in category.sides)
        rows.append((name, f"{category.meaning}. Legal for {', '.join(switches)}."))
    return rows


OUTPUT_FILES: Final[Section] = ("Output files are", _output_file_rows())
FIELDS: Final[Section] = ("Fields are", [(name, f"{field.meaning}.") for name, field in SCORE_FIELDS.items()])
POLICIES: Final[Section] = (
    "Named policies are",
    [(name, f"{preset.meaning}: {preset}.") for name, preset in PRESETS.items()],
)
POLICY_FORM: Final[Section] = (
    "Policies",
    f"A policy is NAME:{_POLICY_OF_OURS}, parts left out being those of the switches, or one of these names:",
)
LEGEND: Final[tuple[Section, Section]] = (
    ("Disciplines are", [(name, f"{meaning}.") for name, meaning in coldstart.DISCIPLINES.items()]),
    ("Policy options are", _policy_item_rows()),
)
"""The values that the switches `-discipline`, `-right`, `-wrong` and `-ignore` take."""
