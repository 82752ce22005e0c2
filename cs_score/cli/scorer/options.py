"""From the scorer's switches to the library's options; the scorer and the batch command share it."""

from __future__ import annotations

from cs_score.cli.options import CommandLine
from cs_score.cli.scorer.switches import DEFAULTS
from cs_score.coldstart.options import Justifications, Options, Policy, listed
from cs_score.coldstart.writers.fields import resampled_metrics
from cs_score.coldstart.writers.files import Layout

POLICY_SWITCHES = ("-ignore", "-right", "-wrong")


def options_of(line: CommandLine) -> Options:
    """The options that the switches ask for. Raises UsageError for an impossible policy or limit."""
    policy = Policy(**{name.removeprefix("-"): listed(text) for name, text in _policy_switches(line).items()})
    return Options(
        discipline=line.text("-discipline", DEFAULTS["-discipline"]),
        expand=line.switches.get("-expand"),
        justifications=Justifications.parse(line.text("-justifications", DEFAULTS["-justifications"])),
        policy=policy,
        queries=line.switches.get("-queries"),
        runids=listed(line.text("-runids", "")) or None,
        samples=line.switches.get("-samples"),
        metrics=resampled_metrics(layout_of(line).fields),
    )


def layout_of(line: CommandLine) -> Layout:
    """How tables are laid out."""
    return Layout(listed(line.text("-fields", DEFAULTS["-fields"])), "-tabs" in line.switches)


def policy_texts(line: CommandLine) -> dict[str, str]:
    """IGNORE, RIGHT and WRONG as they were typed."""
    return {name.removeprefix("-").upper(): text for name, text in _policy_switches(line).items()}


def _policy_switches(line: CommandLine) -> dict[str, str]:
    return {name: line.text(name, DEFAULTS[name]) for name in POLICY_SWITCHES}
