"""From the scorer's switches to the library's options; the scorer and the batch command share it."""

from __future__ import annotations

from collections.abc import Mapping

from cs_score.base.errors import UsageError
from cs_score.cli.options import CommandLine
from cs_score.cli.scorer.switches import DEFAULTS, POLICY
from cs_score.coldstart.editions import AS_GIVEN, EDITIONS, LATEST, edition_of
from cs_score.coldstart.options import Justifications, Options, Policy, find_preset, listed
from cs_score.coldstart.outputs import Layout
from cs_score.coldstart.tables import resampled_metrics

POLICY_SWITCHES = ("-ignore", "-right", "-wrong")


def options_of(line: CommandLine, defaults: Mapping[str, str] = DEFAULTS) -> Options:
    """The options that the switches ask for. Raises UsageError for an impossible policy or limit."""
    policy = Policy(**{name.removeprefix("-"): listed(line.text(name, defaults[name])) for name in POLICY_SWITCHES})
    return Options(
        discipline=line.text("-discipline", DEFAULTS["-discipline"]),
        expand=line.switches.get("-expand"),
        justifications=Justifications.parse(line.text("-justifications", defaults["-justifications"])),
        policy=policy,
        queries=line.switches.get("-queries"),
        runids=listed(line.text("-runids", "")) or None,
        samples=line.switches.get("-samples"),
        metrics=resampled_metrics(layout_of(line).fields),
        follow=line.text("--follow", LATEST.name),
        mention_types=line.text("--mention-types", AS_GIVEN),
    )


def layout_of(line: CommandLine) -> Layout:
    """How tables are laid out."""
    return Layout(listed(line.text("-fields", DEFAULTS["-fields"])), "-tabs" in line.switches)


def policy_texts(line: CommandLine, defaults: Mapping[str, str] = DEFAULTS) -> dict[str, str]:
    """IGNORE, RIGHT and WRONG as they were typed."""
    return {name.removeprefix("-").upper(): line.text(name, defaults[name]) for name in POLICY_SWITCHES}


def defaults_of(line: CommandLine) -> Mapping[str, str]:
    """What counts where the switches of a policy are not given: the policy of --policy, if there is one.

    Raises UsageError for a policy that has no name.
    """
    edition = edition_of(line.text("--follow", LATEST.name), line.text("--mention-types", AS_GIVEN))
    if not edition.has_limits and "-justifications" in line.switches:
        with_it = ", ".join(other.name for other in EDITIONS.values() if other.has_limits)
        raise UsageError(
            f"ERROR: Unknown switch: -justifications; version {edition.name} has no such switch; {with_it} have it"
        )
    name = line.switches.get(POLICY.name)
    policy = Policy(wrong=edition.wrong, ignore=edition.ignore) if name is None else find_preset(name).policy
    limits = DEFAULTS["-justifications"] if name is None else str(find_preset(name).justifications)
    sides = {f"-{side.lower()}": text for side, text in policy.texts().items()}
    return {**DEFAULTS, **sides, "-justifications": limits if edition.has_limits else "M:M"}
