"""Commands about cs-score itself: the codes of problems, schemas, help, version, the manual page, completion."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from click.shell_completion import get_completion_class

from cs_score.base.documents import KINDS, json_text, schema_of
from cs_score.base.errors import UsageError, nearest
from cs_score.base.version import VERSION
from cs_score.cli.core import COMMANDS, FORCE, Command, Line, Parameter, Section, load, version_text
from cs_score.cli.main import COMPLETION_VARIABLE, find, first_page, root
from cs_score.cli.output import write_text
from cs_score.problems.codes import CODES
from cs_score.problems.reports import ProblemCode, ProblemCodes, problem_codes
from cs_score.tables.layout import Layout, columns, tsv
from cs_score.tasks import COLD_START, TASKS

_WIDTH: Final = 100
_SECTIONS: Final = ("Meaning", "Message", "Column", "Example", "Action", "Remedy")
SHELLS: Final = ("bash", "zsh", "fish")
_STATUSES: Final = (
    ("0", "Done; in the call without a command and the programs before it, at most warnings."),
    ("1", "A command: an input that cannot be read or scored, or errors in the report."),
    ("2", "A command: wrong usage."),
    ("3", "check: a limit is not kept. verify: the result is not reproduced."),
    (
        "255",
        "The call without a command and the programs before it: errors in the report, wrong usage, or nothing scored.",
    ),
    ("130, 143, 129", "Ctrl-C, a termination signal, a terminal that was closed."),
)
_SEE_ALSO: Final = (
    "cs-score help COMMAND [TASK] has the options of a command and an example, cs-score man COMMAND [TASK] its page, "
    "cs-score problems CODE what a problem code means, cs-score schema NAME the JSON Schema of a document."
)


_CODES: Final = Layout("codes", "Codes:", columns(*ProblemCode.__struct_fields__), lambda found: found.codes)


def _codes(words: Sequence[str]) -> ProblemCodes:
    """The codes that are named, or all. Raises UsageError."""
    for given in words:
        if given.upper() not in CODES:
            raise UsageError(f"{given} is no problem code; cs-score problems lists them{nearest(given.upper(), CODES)}")
    return problem_codes(map(str.upper, words))


def _problems(words: Sequence[str]) -> str:
    """What problem codes mean, from the table that the reports use."""
    found = _codes(words).codes
    if words:
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


def schema_names() -> list[str]:
    """What there are schemas of."""
    return sorted(KINDS)


def _schema(words: Sequence[str]) -> str:
    known = schema_names()
    if not words:
        return "".join(f"{name}\n" for name in known)
    (name,) = words
    if name not in known:
        raise UsageError(f"there is no schema {name}; there are {', '.join(known)}{nearest(name, known)}")
    return json_text(schema_of(name))


def _named(words: Sequence[str]) -> Command:
    """The command that these words name. Raises UsageError."""
    command, rest = find(words)
    if rest:
        raise UsageError(f"no command {' '.join(words)}{nearest(words[0], (*COMMANDS, *TASKS))}")
    return command


def all_commands() -> Iterator[Command]:
    """Every command, that of each task where there are several."""
    for name, entry in COMMANDS.items():
        yield from (load(name, task) for task in TASKS) if entry.by_task else (load(name),)


def _manual(words: Sequence[str]) -> str:
    """A manual page, for `man -l`: of the command that is named, otherwise of all commands and the call without one.

    Options of commands stand on the pages of these: all in one would have thousands of lines.
    """
    command = _named(words) if words else load("")
    name, does, synopsis = command.called.replace(" ", "-"), command.help or "", f"{command.called} {command.usage}"
    sections = list(command.all_sections())
    if not words:
        does = "score knowledge-base population runs and evidence-based fact checking"
        synopsis = f"cs-score COMMAND [TASK] [OPTIONS] FILES...\n.br\n{synopsis}"
        commands = [
            (f"{verb} [TASK]" if each.by_task else verb, each.summary) for verb, each in COMMANDS.items() if verb
        ]
        tasks = [(task, f"Short for score {task}") for task in TASKS if task != COLD_START]
        about_tasks = f"One of {', '.join(TASKS)}; the first one may be left out."
        sections = [("Commands", commands + tasks), ("Tasks", about_tasks), *sections]
        sections += [("Exit status", _STATUSES), ("See also", _SEE_ALSO)]
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


def _completion(words: Sequence[str]) -> str:
    """The script of click with which a shell asks this program what may come next."""
    (shell,) = words
    found = get_completion_class(shell) if shell in SHELLS else None
    if found is None:
        raise UsageError(f"there is no completion for {shell}; there is one for {', '.join(SHELLS)}")
    return found(root(), {}, "cs-score", COMPLETION_VARIABLE).source()


class Page(NamedTuple):
    """A command that prints a text: the text by its words, which words it takes, an example, how it is used, and what
    it prints in other formats."""

    text: Callable[[Sequence[str]], str]
    words: tuple[Parameter, ...] = ()
    example: str = ""
    use: Section | None = None
    others: Mapping[str, Callable[[Sequence[str]], str]] = MappingProxyType({})


_COMMAND: Final = Parameter(
    "command",
    "A command, perhaps with a task",
    is_optional=True,
    is_repeated=True,
    choices=tuple(filter(None, COMMANDS)),
)
_CODE: Final = Parameter(
    "code", "A problem code, in any letter case; without one all are listed, one line each",
    is_optional=True, is_repeated=True, choices=tuple(CODES),
)  # fmt: skip
_KIND: Final = Parameter(
    "name", "A kind of JSON object; without one all are listed", is_optional=True, choices=schema_names
)
PAGES: Final = {
    "problems": Page(
        _problems,
        (_CODE,),
        "EMPTY_FIELD",
        others={
            "json": lambda words: json_text(_codes(words)),
            "tsv": lambda words: b"".join(tsv(_CODES.table(_codes(words)))).decode(),
        },
    ),
    "schema": Page(_schema, (_KIND,), "leaderboard"),
    "help": Page(lambda words: _named(words).help_text() if words else first_page(), (_COMMAND,), "analyze scifact"),
    "version": Page(lambda words: version_text()),
    "man": Page(
        _manual,
        (_COMMAND,),
        "analyze",
        ("Use", "cs-score man | man -l - shows the page; cs-score man > cs-score.1 keeps it."),
    ),
    "completion": Page(
        _completion,
        (Parameter("shell", "The shell: bash, zsh or fish", choices=SHELLS),),
        "bash",
        (
            "Use",
            [
                ("bash", 'eval "$(cs-score completion bash)" in ~/.bashrc'),
                ("zsh", 'eval "$(cs-score completion zsh)" in ~/.zshrc, after compinit'),
                ("fish", "cs-score completion fish | source in config.fish"),
            ],
        ),
    ),
}


def about(name: str) -> Command:
    """The command of a page."""
    page = PAGES[name]

    def show(line: Line) -> int:
        write_text("stdout", page.others.get(line.format, page.text)(line.words))
        return 0

    return Command(
        name,
        [FORCE] if page.others else (),
        *page.words,
        body=show,
        example=page.example,
        sections=() if page.use is None else [page.use],
        formats=("text", *page.others) if page.others else (),
    )
