"""Commands about cs-score itself: the codes of problems, schemas, help, version, the manual page, completion."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from click.shell_completion import get_completion_class

from cs_score.base.documents import KINDS, json_text, schema_of
from cs_score.base.errors import UsageError, nearest
from cs_score.base.version import VERSION
from cs_score.cli.core import COMMANDS, FORCE, Command, Line, Parameter, command, load, version_text
from cs_score.cli.main import COMPLETION_VARIABLE, find, first_page, root
from cs_score.cli.topics import EXIT_STATUSES, TOPICS
from cs_score.problems.codes import CODES
from cs_score.problems.reports import ProblemCode, problem_codes
from cs_score.tables.layout import Layout, columns, tsv
from cs_score.tasks import COLD_START, OWN_TASKS, TASKS

_WIDTH: Final = 100
_SECTIONS: Final = ("Meaning", "Message", "Column", "Example", "Action", "Remedy")
SHELLS: Final = ("bash", "zsh", "fish")
_SEE_ALSO: Final = (
    "cs-score help COMMAND [TASK] has the options of a command and an example, cs-score man COMMAND [TASK] its page, "
    "cs-score problems CODE what a problem code means, cs-score schema NAME the JSON Schema of a document."
)

_CODES: Final = Layout("codes", "Codes:", columns(*ProblemCode.__struct_fields__), lambda found: found.codes)


@command(
    "problems",
    [FORCE],
    Parameter("[code...]", "A problem code, in any letter case; without one all are listed, one line each", [*CODES]),
    example="EMPTY_FIELD",
    formats=("text", "json", "tsv"),
)
def problems(line: Line) -> str:
    """What problem codes mean, from the table that the reports use. Raises UsageError for what is none."""
    for given in line.words:
        if given.upper() not in CODES:
            raise UsageError(f"{given} is no problem code; cs-score problems lists them{nearest(given.upper(), CODES)}")
    document = problem_codes(map(str.upper, line.words))
    if line.format == "json":
        return json_text(document)
    if line.format == "tsv":
        return b"".join(tsv(_CODES.table(document))).decode()
    found = document.codes
    if line.words:
        return "\n".join(map(_explained, found))
    width = max(len(each.code) for each in found)
    first = {each: each.meaning.partition(". ")[0].rstrip(".") for each in found}
    return "".join(f"{each.code:<{width}}  {each.severity:<11}  {text}.\n" for each, text in first.items())


def _explained(found: ProblemCode) -> str:
    sections = {title: getattr(found, title.lower()) for title in _SECTIONS}
    heads = {f"  {title + ':':<9} ": text for title, text in sections.items() if text is not None}
    lines = (
        textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * 12) for head, text in heads.items()
    )
    return "\n".join((f"{found.code} ({found.severity})", *lines, ""))


@command(
    "schema",
    (),
    Parameter("[name]", "A kind of JSON object; without one all are listed", lambda _: sorted(KINDS)),
    example="leaderboard",
)
def schema(line: Line) -> str:
    known = sorted(KINDS)
    if not line.words:
        return "".join(f"{name}\n" for name in known)
    (name,) = line.words
    if name not in known:
        raise UsageError(f"there is no schema {name}; there are {', '.join(known)}{nearest(name, known)}")
    return json_text(schema_of(name))


def _named(words: Sequence[str]) -> Command:
    """The command that these words name. Raises UsageError."""
    found, rest = find(words)
    if rest:
        raise UsageError(f"no command {' '.join(words)}{nearest(words[0], (*COMMANDS, *TASKS, *TOPICS))}")
    return found


_COMMAND: Final = Parameter("[command...]", "A command, perhaps with a task", [*filter(None, COMMANDS)])


@command(
    "help",
    (),
    Parameter("[command...]", "A command, perhaps with a task, or a topic", [*filter(None, COMMANDS), *TOPICS]),
    example="analyze scifact",
    sections=[("Topics", [(name, topic.summary) for name, topic in TOPICS.items()])],
)
def help(line: Line) -> str:
    """Return the first page, the help of a command, or a topic. Raises UsageError for any other word."""
    if not line.words:
        return first_page()
    name, *further_words = line.words
    if name in TOPICS:
        return TOPICS[name].text(further_words)
    return _named(line.words).help_text()


@command("version", ())
def version(line: Line) -> str:
    return version_text()


def all_commands() -> Iterator[Command]:
    """Every command of this package, that of each task where there are several."""
    for name, entry in COMMANDS.items():
        yield from (load(name, task) for task in OWN_TASKS) if entry.by_task else (load(name),)


@command(
    "man",
    (),
    _COMMAND,
    example="analyze",
    sections=[("Use", "cs-score man | man -l - shows the page; cs-score man > cs-score.1 keeps it.")],
)
def man(line: Line) -> str:
    """A manual page, for `man -l`: of the command that is named, otherwise of all commands and the call without one.

    Options of commands stand on the pages of these: all in one would have thousands of lines.
    """
    shown = _named(line.words) if line.words else load("")
    name, does, synopsis = shown.called.replace(" ", "-"), shown.help or "", f"{shown.called} {shown.usage}"
    sections = list(shown.all_sections())
    if not line.words:
        does = "score knowledge-base population runs and evidence-based fact checking"
        synopsis = f"cs-score COMMAND [TASK] [OPTIONS] FILES...\n.br\n{synopsis}"
        commands = [
            (f"{verb} [TASK]" if each.by_task else verb, each.summary) for verb, each in COMMANDS.items() if verb
        ]
        tasks = [(task, f"Short for score {task}") for task in OWN_TASKS if task != COLD_START]
        about_tasks = f"One of {', '.join(OWN_TASKS)}; the first one may be left out."
        sections = [("Commands", commands + tasks), ("Tasks", about_tasks), *sections]
        sections += [("Exit status", EXIT_STATUSES), ("See also", _SEE_ALSO)]
    lines = [f'.TH CS-SCORE 1 "" "cs-score {VERSION}"', ".ad l", ".nh", ".SH NAME", rf"{_safe(name)} \- {_safe(does)}"]
    lines += [".SH SYNOPSIS", synopsis.replace("-", r"\-")]
    for title, content in sections:
        lines.append(f".SH {_safe(title.upper())}")
        if isinstance(content, str):
            lines.append(_safe(content))
        else:
            lines += [line for each, text in content for line in (rf'.IP "\fB{_safe(each)}\fR" 4', _safe(text))]
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    r"""Text that roff takes as it is: `\&` keeps a leading dot from being a command, lists break at a colon."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace(":", r":\:")
    return rf"\&{text}" if text.startswith((".", "'")) else text


@command(
    "completion",
    (),
    Parameter("shell", "The shell: bash, zsh or fish", SHELLS),
    example="bash",
    sections=[
        (
            "Use",
            [
                ("bash", 'eval "$(cs-score completion bash)" in ~/.bashrc'),
                ("zsh", 'eval "$(cs-score completion zsh)" in ~/.zshrc, after compinit'),
                ("fish", "cs-score completion fish | source in config.fish"),
            ],
        )
    ],
)
def completion(line: Line) -> str:
    """The script of click with which a shell asks this program what may come next."""
    (shell,) = line.words
    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise UsageError(f"there is no completion for {shell}; there is one for {', '.join(SHELLS)}")
    return found(root(), {}, "cs-score", COMPLETION_VARIABLE).source()
