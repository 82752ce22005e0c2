"""Commands about cs-score itself: codes of problems, schemas, help, version, the manual page, and completion."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from click.shell_completion import get_completion_class

from cs_score.base import VERSION
from cs_score.base.documents import KINDS, json_text, schema_of
from cs_score.base.errors import UsageError, did_you_mean
from cs_score.cli.core import (
    COMMANDS,
    FORCE,
    Command,
    CommandLine,
    Parameter,
    Section,
    command,
    load_command,
    version_text,
)
from cs_score.cli.main import COMPLETION_VARIABLE, find_command, first_page, root
from cs_score.cli.topics import EXIT_STATUSES, TOPICS
from cs_score.problems.codes import CODES
from cs_score.problems.reports import ProblemCode, problem_codes
from cs_score.tables.layout import Layout, columns, tsv
from cs_score.tasks import COLD_START, OWN_TASKS, TASKS

_TEXT_WIDTH: Final = 100
_FIELDS_OF_CODE: Final = ("Meaning", "Message", "Column", "Example", "Action", "Remedy")
SHELLS: Final = ("bash", "zsh", "fish")
_SEE_ALSO: Final = (
    "cs-score help COMMAND [TASK] has the options of a command and an example, cs-score man COMMAND [TASK] its page, "
    "cs-score problems CODE what a problem code means, cs-score schema NAME the JSON Schema of a document."
)

_CODE_LIST: Final = Layout("codes", "Codes:", columns(*ProblemCode.__struct_fields__), lambda document: document.codes)


@command(
    "problems",
    [FORCE],
    Parameter("[code...]", "A problem code, in any letter case; without one all are listed, one line each", [*CODES]),
    example="EMPTY_FIELD",
    formats=("text", "json", "tsv"),
)
def problems(command_line: CommandLine) -> str:
    """Return the meanings of problem codes; without codes a list of all. Raises UsageError for an unknown code."""
    codes = [_known_code(word) for word in command_line.positional_words]
    document = problem_codes(codes)
    if command_line.format == "json":
        return json_text(document)
    if command_line.format == "tsv":
        blocks = tsv(_CODE_LIST.table(document))
        return b"".join(blocks).decode()
    if not codes:
        return _list_of_codes(document.codes)
    return "\n".join(_text_of_code(code) for code in document.codes)


def _known_code(word: str) -> str:
    """Return the problem code that a word names in any letter case. Raises UsageError if there is no such code."""
    code = word.upper()
    if code not in CODES:
        raise UsageError(f"{word} is no problem code; cs-score problems lists them{did_you_mean(code, CODES)}")
    return code


def _list_of_codes(problem_codes: Sequence[ProblemCode]) -> str:
    """Return a line for each code: the code, its severity and the first sentence of its meaning."""
    code_width = max(len(problem.code) for problem in problem_codes)
    lines = []
    for problem in problem_codes:
        first_sentence = problem.meaning.partition(". ")[0].rstrip(".")
        lines.append(f"{problem.code:<{code_width}}  {problem.severity:<11}  {first_sentence}.\n")
    return "".join(lines)


def _text_of_code(problem: ProblemCode) -> str:
    """Return the description of a code: a line with the code and its severity, then a paragraph for each field."""
    lines = [f"{problem.code} ({problem.severity})"]
    for title in _FIELDS_OF_CODE:
        text = getattr(problem, title.lower())
        if text is not None:
            label = f"  {title + ':':<9} "  # as wide as the longest title, so that all paragraphs are aligned
            lines.append(textwrap.fill(text, _TEXT_WIDTH, initial_indent=label, subsequent_indent=" " * len(label)))
    return "\n".join([*lines, ""])


@command(
    "schema",
    (),
    Parameter("[name]", "A kind of JSON object; without one all are listed", lambda _: sorted(KINDS)),
    example="leaderboard",
)
def schema(command_line: CommandLine) -> str:
    """Return the JSON Schema of a kind of document, or the list of kinds. Raises UsageError for an unknown kind."""
    if not command_line.positional_words:
        return "".join(f"{kind}\n" for kind in sorted(KINDS))
    kind = command_line.positional_words[0]
    _check_kind(kind)
    return json_text(schema_of(kind))


def _check_kind(kind: str) -> None:
    """Raise UsageError, with a list of all kinds of documents, if a word names none of them."""
    kinds = sorted(KINDS)
    if kind not in kinds:
        raise UsageError(f"there is no schema {kind}; there are {', '.join(kinds)}{did_you_mean(kind, kinds)}")


def _command_named(words: Sequence[str]) -> Command:
    """Return the command that words such as `analyze scifact` name. Raises UsageError if there is no such command."""
    named_command, further_words = find_command(words)
    if further_words:
        # The first word is mistyped, or does not take any further words.
        raise UsageError(f"no command {' '.join(words)}{did_you_mean(words[0], (*COMMANDS, *TASKS, *TOPICS))}")
    return named_command


_COMMAND_NAMES: Final = [name for name in COMMANDS if name]
_COMMAND: Final = Parameter("[command...]", "A command, perhaps with a task", _COMMAND_NAMES)


@command(
    "help",
    (),
    Parameter("[command...]", "A command, perhaps with a task, or a topic", [*_COMMAND_NAMES, *TOPICS]),
    example="analyze scifact",
    sections=[("Topics", [(name, topic.summary) for name, topic in TOPICS.items()])],
)
def help(command_line: CommandLine) -> str:
    """Return the first page, or the help of a command or a topic. Raises UsageError for any other word."""
    if not command_line.positional_words:
        return first_page()
    name, *further_words = command_line.positional_words
    if name in TOPICS:
        return TOPICS[name].text(further_words)
    return _command_named(command_line.positional_words).help_text()


@command("version", ())
def version(command_line: CommandLine) -> str:
    """Return the version of cs-score, and the versions of the reference programs that its commands follow."""
    return version_text()


def all_commands() -> Iterator[Command]:
    """Yield every command of the package, including the command of each task for verbs with several tasks."""
    for name, entry in COMMANDS.items():
        if entry.is_split_by_task:
            for task in OWN_TASKS:
                yield load_command(name, task)
        else:
            yield load_command(name)


@command(
    "man",
    (),
    _COMMAND,
    example="analyze",
    sections=[("Use", "cs-score man | man -l - shows the page; cs-score man > cs-score.1 keeps it.")],
)
def man(command_line: CommandLine) -> str:
    """Return a manual page for the program `man`: of one command or, without a word, of cs-score as a whole."""
    if not command_line.positional_words:
        return _page_of_program()
    named_command = _command_named(command_line.positional_words)
    name = named_command.full_name.replace(" ", "-")
    usage = f"{named_command.full_name} {named_command.usage}"
    return _manual_page(name, named_command.help or "", usage, list(named_command.all_sections()))


def _page_of_program() -> str:
    """Return the manual page of cs-score as a whole.

    It lists the commands without their options, which would take thousands of lines.
    """
    scorer = load_command("")  # the call without the name of a command scores Cold Start runs
    sections: list[Section] = [
        ("Commands", _rows_of_commands()),
        ("Tasks", f"One of {', '.join(OWN_TASKS)}; the first one may be left out."),
    ]
    sections.extend(scorer.all_sections())
    sections.append(("Exit status", EXIT_STATUSES))
    sections.append(("See also", _SEE_ALSO))
    summary = "score knowledge-base population runs and evidence-based fact checking"
    usage = f"cs-score COMMAND [TASK] [OPTIONS] FILES...\n.br\n{scorer.full_name} {scorer.usage}"
    return _manual_page("cs-score", summary, usage, sections)


def _rows_of_commands() -> list[tuple[str, str]]:
    """Return a row of help for each command and for each evidence task, because `scifact` is a command as well.

    For example `("version", "Show the version")` and `("scifact", "Short for score scifact")`.
    """
    rows = []
    for name, entry in COMMANDS.items():
        if not name:  # the call without the name of a command has sections of its own in the page
            continue
        rows.append((f"{name} [TASK]" if entry.is_split_by_task else name, entry.summary))
    for task in OWN_TASKS:
        if task != COLD_START:
            rows.append((task, f"Short for score {task}"))
    return rows


def _manual_page(name: str, summary: str, usage: str, sections: Sequence[Section]) -> str:
    """Return a manual page in roff, the markup language of manual pages."""
    lines = [
        f'.TH CS-SCORE 1 "" "cs-score {VERSION}"',
        ".ad l",  # aligned to the left
        ".nh",  # no hyphenation
        ".SH NAME",
        rf"{_escape_for_roff(name)} \- {_escape_for_roff(summary)}",
        ".SH SYNOPSIS",
        usage.replace("-", r"\-"),
    ]
    for title, content in sections:
        lines.append(f".SH {_escape_for_roff(title.upper())}")
        lines.extend(_lines_of_section(content))
    return "\n".join(lines) + "\n"


def _lines_of_section(content: Sequence[tuple[str, str]] | str) -> list[str]:
    """Return the lines of roff for a section of help: a paragraph, or terms in bold with their meanings."""
    if isinstance(content, str):
        return [_escape_for_roff(content)]
    lines = []
    for term, meaning in content:
        lines.append(rf'.IP "\fB{_escape_for_roff(term)}\fR" 4')
        lines.append(_escape_for_roff(meaning))
    return lines


def _escape_for_roff(text: str) -> str:
    r"""Return a text with special characters escaped for roff.

    `\&` before a leading dot or apostrophe keeps it from being read as a command; `\:` allows a line break before a
    colon.
    """
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
def completion(command_line: CommandLine) -> str:
    """Return the script that makes a shell complete the words of cs-score. Raises UsageError for an unknown shell."""
    shell = command_line.positional_words[0]
    script_class = get_completion_class(shell) if shell in SHELLS else None
    if script_class is None:
        raise UsageError(f"there is no completion for {shell}; there is one for {', '.join(SHELLS)}")
    script = script_class(root(), ctx_args={}, prog_name="cs-score", complete_var=COMPLETION_VARIABLE)
    return script.source()
