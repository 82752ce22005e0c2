"""`cs-score completion SHELL`: the script with which a shell asks this program what may come next.

The scripts know nothing of commands and options: they call `cs-score completion candidates`, which answers from the
table of commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.cli.destinations import write_text
from cs_score.cli.form import Form, Parameter, load
from cs_score.cli.options import Choices, CommandLine, Option, OptionNames
from cs_score.cli.registry import find, sub_forms

FILES: Final = ":files"
"""The answer that names of files complete, too."""

CANDIDATES: Final = "candidates"

_BASH: Final = """\
_cs_score() {
    local line="${COMP_LINE:0:COMP_POINT}" current="${COMP_WORDS[COMP_CWORD]}" found="" files=""
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    # Colons and equal signs part words for bash, which replaces what stands behind them only.
    [[ $current == [:=] ]] && current=""
    local kept="${words[${#words[@]}-1]}"
    kept="${kept%"$current"}"
    COMPREPLY=()
    while IFS=$'\\t' read -r found _; do
        if [[ $found == :files ]]; then
            files=1
        elif [[ -n $found ]]; then
            COMPREPLY+=("${found#"$kept"}")
        fi
    done < <("$1" completion candidates -- "${words[@]:1}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -f -- "$current")
    fi
}
complete -F _cs_score cs-score
"""

_ZSH: Final = """\
#compdef cs-score
_cs_score() {
    local line files=""
    local -a found
    for line in "${(@f)$(cs-score completion candidates -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :files) files=1 ;;
            ?*) found+=("${line%%$'\\t'*}") ;;
        esac
    done
    (( ${#found} )) && compadd -- "${found[@]}"
    [[ -n $files ]] && _files
}
compdef _cs_score cs-score
"""

_FISH: Final = """\
function __cs_score
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in (cs-score completion candidates -- $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c cs-score -f -a '(__cs_score)'
"""

SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def _run(line: CommandLine) -> int:
    shell, *words = line.words
    if shell == CANDIDATES:
        write_text("stdout", "".join(f"{candidate}\n" for candidate in candidates(words)))
    elif shell in SCRIPTS and not words:
        write_text("stdout", SCRIPTS[shell])
    else:
        raise UsageError(f"there is no completion for {' '.join(line.words)}; there is one for {', '.join(SCRIPTS)}")
    return 0


def candidates(words: Sequence[str]) -> Iterator[str]:
    """What the last of these words may become; the answer `:files` stands for names of files."""
    *before, current = words or [""]
    command, rest = find(before)
    form = load(command)
    names = OptionNames(form.options)
    waiting, others = _waiting(rest, names)
    name, equals, value = current.partition("=")
    if waiting is not None:
        yield from _values(waiting, current)
    elif equals and (option := names.find(name)) is not None:
        yield from (found if found == FILES else f"{name}={found}" for found in _values(option, value))
    elif current.startswith("-"):
        if not (others and form.contract.options_first):
            yield from _option_names(form, current)
    else:
        if not rest:
            own = [each.name.rpartition(" ")[2] for each in sub_forms(form.name)]
            yield from (each for each in own if each.startswith(current))
        yield from _words(form.parameters, others, current)


def _waiting(words: Sequence[str], names: OptionNames) -> tuple[Option | None, int]:
    """The option whose value comes next, and how many words are none of options."""
    option, others = None, 0
    for word in words:
        if option is not None:
            option = None
            continue
        name, equals, _ = word.partition("=")
        found = names.find(name)
        others += found is None
        option = found if found is not None and found.value is not None and not equals else None
    return option, others


def _values(option: Option, current: str) -> Iterator[str]:
    if not option.choices:
        yield FILES
        return
    assert option.value is not None
    separator = ":" if option.value == "LIST" else "," if "," in option.value else None
    kept = current[: current.rfind(separator) + 1] if separator else ""
    for choice in _choices(option.choices):
        if choice.startswith(current[len(kept) :]):
            yield f"{kept}{choice}"


def _option_names(form: Form, current: str) -> Iterator[str]:
    for option in form.options:
        name = next((name for name in option.spellings() if name.startswith(current)), None)
        if name is not None:
            yield f"{name}\t{option.help}"


def _words(parameters: Sequence[Parameter], number: int, current: str) -> Iterator[str]:
    for parameter in parameters[min(number, len(parameters) - 1) :][:1]:
        yield from (choice for choice in _choices(parameter.choices) if choice.startswith(current))
        if not parameter.choices:
            yield FILES


def _choices(choices: Choices) -> Iterable[str]:
    return choices() if callable(choices) else choices


FORM: Final = Form(
    "completion",
    (),
    (
        Parameter("shell", "The shell: bash, zsh or fish", choices=tuple(SCRIPTS)),
        Parameter(
            "words",
            f"With {CANDIDATES} in place of a shell, as the scripts ask: the words typed so far behind --",
            is_optional=True,
            is_repeated=True,
        ),
    ),
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
    body=_run,
)
