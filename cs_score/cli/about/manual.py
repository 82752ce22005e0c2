"""`cs-score man`: the manual page of all commands, made from their forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cs_score.base.version import VERSION
from cs_score.cli.destinations import write_text
from cs_score.cli.form import Form, Section, load
from cs_score.cli.help import options_of, parameters_of
from cs_score.cli.options import CommandLine
from cs_score.cli.registry import COMMANDS


def _run(line: CommandLine) -> int:
    write_text("stdout", manual_page())
    return 0


def manual_page() -> str:
    """The page, for `man -l`."""
    forms = [load(command) for command in COMMANDS.values()]
    lines = [
        f'.TH CS-SCORE 1 "" "cs-score {VERSION}"',
        ".ad l",
        ".nh",
        ".SH NAME",
        r"cs-score \- score knowledge-base population runs and evidence-based fact checking",
        ".SH SYNOPSIS",
    ]
    for form in forms:
        lines += [".br", _safe(form.usage)]
    for form in forms:
        lines += [f".SH {_safe(form.called.upper())}", _safe(form.summary + ".")]
        for section in (*options_of(form), *parameters_of(form), *form.sections()):
            lines += _part(section)
    return "\n".join(lines) + "\n"


def _part(section: Section) -> Iterator[str]:
    title, content = section
    yield f".SS {_safe(title)}"
    if isinstance(content, str):
        yield _safe(content)
        return
    for name, meaning in content:
        yield ".TP"
        yield rf"\fB{_safe(name)}\fR"
        yield _safe(meaning)


def _safe(text: str) -> str:
    r"""Text that roff takes as it is: `\&` keeps a leading dot from being a command, lists break at a colon."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace(":", r":\:")
    return rf"\&{text}" if text.startswith((".", "'")) else text


FORM: Final = Form(
    "man",
    (),
    (),
    sections=lambda: (("Use", "cs-score man | man -l - shows the page; cs-score man > cs-score.1 keeps it."),),
    body=_run,
)
