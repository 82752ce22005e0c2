"""Commands about cs-score itself: the codes of problems, schemas, help, version, the manual page, completion."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Final

from click.shell_completion import get_completion_class

from cs_score.base.documents import KINDS, json_text, schema_of
from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.base.version import VERSION
from cs_score.cli.core import (
    COMMANDS,
    COMPLETION_VARIABLE,
    TASKS,
    Command,
    Line,
    Parameter,
    Root,
    Section,
    find,
    first_page,
    load,
    version_text,
)
from cs_score.cli.output import print_text, write_text
from cs_score.problems.codes import CODES, ProblemKind

_WIDTH: Final = 100


def problems() -> Command:
    """What the problem codes mean, from the table that the reports use."""

    def run(line: Line) -> int:
        print_text("\n".join(_explained(line.words) if line.words else _listed()))
        return 0

    meaning = "A problem code, in any letter case; without one all are listed, one line each"
    codes = Parameter("code", meaning, is_optional=True, is_repeated=True, choices=tuple(CODES))
    return Command("problems", (), (codes,), body=run, example="EMPTY_FIELD")


def _listed() -> Iterator[str]:
    width = max(map(len, CODES))
    for code, kind in CODES.items():
        sentence = kind.meaning.partition(". ")[0].rstrip(".")
        yield f"{code:<{width}}  {kind.severity:<11}  {sentence}."


def _explained(codes: Iterable[str]) -> Iterator[str]:
    for number, given in enumerate(codes):
        code = given.upper()
        if code not in CODES:
            raise UsageError(f"{given} is no problem code; cs-score problems lists them{nearest(code, CODES)}")
        if number:
            yield ""
        yield from _sections(code, CODES[code])


def _sections(code: str, kind: ProblemKind) -> Iterator[str]:
    yield f"{code} ({kind.severity})"
    sections = (
        ("Meaning", kind.meaning),
        ("Message", None if kind.template is None else kind.template.strip()),
        ("Column", kind.column if isinstance(kind.column, str) else None),
        ("Example", kind.example),
        ("Action", kind.action),
        ("Remedy", kind.remedy),
    )
    for title, text in sections:
        if text is not None:
            head = f"  {title + ':':<9} "
            yield textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


_ENDING: Final = ".schema.json"
_FOLDER: Final = files("cs_score") / "schemas"


def schema_names() -> Iterable[str]:
    """What there are schemas of: kinds of documents, and files of objects that are no documents yet."""
    return sorted({*KINDS, *(file.name.removesuffix(_ENDING) for file in _FOLDER.iterdir())})


def schema() -> Command:
    """The JSON Schemas of what cs-score writes."""

    def run(line: Line) -> int:
        known = list(schema_names())
        if not line.words:
            write_text("stdout", "".join(f"{name}\n" for name in known))
            return 0
        (name,) = line.words
        if name not in known:
            raise UsageError(f"there is no schema {name}; there are {', '.join(known)}{nearest(name, known)}")
        write_text(
            "stdout", json_text(schema_of(name)) if name in KINDS else (_FOLDER / f"{name}{_ENDING}").read_text()
        )
        return 0

    meaning = "A kind of JSON object; without one all are listed"
    return Command(
        "schema",
        (),
        (Parameter("name", meaning, is_optional=True, choices=schema_names),),
        body=run,
        example="leaderboard",
    )


def help() -> Command:
    """The first page, or the help of a command."""

    def run(line: Line) -> int:
        write_text("stdout", _named(line.words).help_text() if line.words else first_page())
        return 0

    return Command("help", (), (_command_words(),), body=run, example="analyze scifact")


def _command_words() -> Parameter:
    names = tuple(name for name in COMMANDS if name)
    return Parameter("command", "A command, perhaps with a task", is_optional=True, is_repeated=True, choices=names)


def _named(words: tuple[str, ...]) -> Command:
    """The command that these words name. Raises UsageError."""
    command, rest = find(words)
    if rest:
        raise UsageError(f"no command {' '.join(words)}{nearest(words[0], (*COMMANDS, *TASKS))}")
    return command


def version() -> Command:
    """Our version, and those of the programs that commands follow."""

    def run(line: Line) -> int:
        write_text("stdout", version_text())
        return 0

    return Command("version", (), body=run)


def man() -> Command:
    """The manual page of all commands, or of one."""

    def run(line: Line) -> int:
        write_text("stdout", manual_page([_named(line.words)] if line.words else list(all_commands())))
        return 0

    return Command(
        "man", (), (_command_words(),), body=run, example="analyze",
        sections=lambda: (("Use", "cs-score man | man -l - shows the page; cs-score man > cs-score.1 keeps it."),),
    )  # fmt: skip


def all_commands() -> Iterator[Command]:
    """Every command, that of each task where there are several."""
    for name, entry in COMMANDS.items():
        yield from (load(name, task) for task in TASKS) if entry.by_task else (load(name),)


def manual_page(commands: Iterable[Command]) -> str:
    """The page, for `man -l`."""
    listed = list(commands)
    lines = [
        f'.TH CS-SCORE 1 "" "cs-score {VERSION}"',
        ".ad l",
        ".nh",
        ".SH NAME",
        r"cs-score \- score knowledge-base population runs and evidence-based fact checking",
        ".SH SYNOPSIS",
    ]
    for command in listed:
        lines += [".br", _safe(f"{command.called} {command.usage}")]
    for command in listed:
        lines += [f".SH {_safe(command.called.upper())}", _safe(f"{command.help}.")]
        for section in command.all_sections():
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


SHELLS: Final = ("bash", "zsh", "fish")


def completion() -> Command:
    """The script of click with which a shell asks this program what may come next."""

    def run(line: Line) -> int:
        (shell,) = line.words
        found = get_completion_class(shell) if shell in SHELLS else None
        if found is None:
            raise UsageError(f"there is no completion for {shell}; there is one for {', '.join(SHELLS)}")
        write_text("stdout", found(Root("cs-score"), {}, "cs-score", COMPLETION_VARIABLE).source())
        return 0

    return Command(
        "completion", (), (Parameter("shell", "The shell: bash, zsh or fish", choices=SHELLS),), body=run,
        example="bash",
        sections=lambda: (
            (
                "Use",
                [
                    ("bash", 'eval "$(cs-score completion bash)" in ~/.bashrc'),
                    ("zsh", 'eval "$(cs-score completion zsh)" in ~/.zshrc, after compinit'),
                    ("fish", "cs-score completion fish | source in config.fish"),
                ],
            ),
        ),
    )  # fmt: skip
