"""How a command is run: its words are read, help and version are shown, wrong usage is told."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cs_score.base.errors import UsageError
from cs_score.cli.destinations import quietly, write_text
from cs_score.cli.form import Form
from cs_score.cli.options import VERSION, HelpWanted, SwitchError, VersionWanted
from cs_score.cli.registry import COMMANDS, nearest_command, sub_forms


def run_form(form: Form, words: Sequence[str]) -> int:
    """Read the words behind the name of a command, and run it; the exit status.

    Raises CsScoreError for what ends the command; wrong usage that the contract has a text for is told here.
    """
    try:
        _refuse_mistyped_command(form, words)
        line = form.read(words)
    except HelpWanted:
        from cs_score.cli.help import help_text

        write_text("stdout", help_text(form))
        return 0
    except VersionWanted as wanted:
        write_text("stdout", _version_text(form, wanted.args[0]))
        return 0
    except SwitchError as error:
        if form.contract.shows_usage:
            from cs_score.cli.help import help_text

            write_text("stdout", f"{error}\n\n{help_text(form)}")
        raise UsageError(
            error.advice if error.advice.endswith("?") else f"{error.advice}; see {form.called} -help"
        ) from None
    with quietly("--quiet" in line.switches):
        return form.run(line)


def _refuse_mistyped_command(form: Form, words: Sequence[str]) -> None:
    """Raises UsageError for a first word that is no file, but nearly the name of a command."""
    commands = sub_forms(form.name)
    word = words[0] if words else "-"
    if not commands or word.startswith("-") or os.sep in word or "." in word or os.path.lexists(word):
        return
    if meant := nearest_command(form.name, word):
        raise UsageError(f"there is no command {form.name + ' ' if form.name else ''}{word}, and no such file{meant}")


def _version_text(form: Form, option: str) -> str:
    from cs_score.base.version import VERSION as OURS

    follows = COMMANDS[form.name].follows
    if option == VERSION and follows:
        return f"{form.called} version {follows}\n"
    lines = [f"cs-score {OURS} (follows the Cold Start reference scorer {COMMANDS[''].follows})"]
    width = max(map(len, COMMANDS))
    lines += [
        f"  {command.name:<{width}}  follows {command.follows}"
        for command in COMMANDS.values()
        if command.name and command.follows
    ]
    return "\n".join(lines) + "\n"
