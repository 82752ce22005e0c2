"""Recorded cases of the reference scorer, and what has to be equal for a case to pass.

A case is a folder with inputs, `case.json` (the command line and what to expect) and `expected/`. Four modes: `ok` and
`errors` (a run to its end, without and with ERROR lines) compare outputs byte for byte; `fatal` (an early stop)
compares status and message only; `unstable` (an outcome that hash order decided) takes what can be compared.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from cs_score.base.records import Record
from tests.coldstart.command import Outcome, score_in

COMMITTED: Final = Path(__file__).parent / "golden"
SHARED: Final = Path(__file__).parents[3] / "shared"

_FRAME: Final = re.compile(r"={40,}")
# What the end of a last line says about where a program stopped, not why.
_PLACE: Final = re.compile(r" at (\([^()\n]*\)|\S+ line \d+.*)$")


# Node ids that the programs make up: the letters are free.
_MADE_NODE: Final = re.compile(rb":NIL_[A-Za-z]{4}(\d{9})")


class Case(Record):
    """One recorded case.

    Outputs are named by the ending of their file (`sf`), `stdout`, or `./NAME` for a file that begins with another name
    than `out`. `program` is the subcommand, None for the scorer. Lines of `unordered` outputs may come in any order.
    """

    folder: Path
    family: str
    program: str | None
    args: tuple[str, ...]
    mode: str
    exit_code: int | None
    final_message: str | None
    messages: tuple[str, ...]  # any of them has to be said; none where the message was not always there
    stable: frozenset[str]
    unstable: frozenset[str]
    unordered: frozenset[str]

    @property
    def words(self) -> tuple[str, ...]:
        """The command line after `cs-score`."""
        return self.args if self.program is None else (self.program, *self.args)

    def expected(self, output: str) -> bytes | None:
        """Recorded bytes of an output; large ones are stored with gzip."""
        name = output.removeprefix("./") if output == "stdout" or output.startswith("./") else f"out.{output}"
        path = self.folder / "expected" / name
        if path.exists():
            return path.read_bytes()
        packed = path.with_name(f"{path.name}.gz")
        return gzip.decompress(packed.read_bytes()) if packed.exists() else None


def committed_cases() -> list[Case]:
    """The selection that lies beside the tests."""
    return cases_in(COMMITTED)


def shared_cases() -> list[Case]:
    """All recorded cases, where the folder beside the checkout has them; otherwise none."""
    golden = SHARED / "golden"
    years = [case for folder in sorted((golden / "years").glob("**/")) for case in cases_in(folder)]
    return [*cases_in(golden / "coldstart"), *cases_in(SHARED / "testsuite", "SCORER_TS_*"), *years]


def cases_in(folder: Path, pattern: str = "*") -> list[Case]:
    """The cases whose folders lie in `folder` and match `pattern`."""
    return [_case(path.parent) for path in sorted(folder.glob(f"{pattern}/case.json"))]


def sampled(cases: Iterable[Case]) -> list[ParameterSet]:
    """The cases for pytest: the first of each family; the others are slow."""
    seen: set[str] = set()
    found = []
    for case in cases:
        found.append(pytest.param(case, marks=[pytest.mark.slow] if case.family in seen else [], id=case.folder.name))
        seen.add(case.family)
    return found


def _edition(case: Mapping[str, Any]) -> list[str]:
    """The switches that choose the rules that a case was recorded under; its arguments are without them."""
    extension: list[str] = case.get("extension", [])
    return extension or (["--follow", case["follow"]] if "follow" in case else [])


def thinned(cases: Iterable[Case]) -> list[ParameterSet]:
    """The cases for laws, which tell less of neighbours: every third, the others in `make test-slow` alone."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] if at % 3 else [], id=case.folder.name)
        for at, case in enumerate(cases)
    ]


def _case(folder: Path) -> Case:
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    final = case.get("final_message")
    program = case.get("program")
    said = [final] if final is not None else []
    if final is None and case["mode"] != "ok":
        said = case.get("final_message_variants", [])
    return Case(
        folder=folder,
        family=case["family"],
        program=program,
        args=(*_edition(case), *case["args"]),
        mode=case["mode"],
        exit_code=case["exit_code"],
        final_message=final,
        messages=() if None in said else tuple(said),
        stable=frozenset(case["stable"]),
        unstable=frozenset(case["unstable"]),
        unordered=frozenset(case.get("unordered", ())),
    )


def copy_inputs(case: Case, folder: Path) -> None:
    """The case's input files, without what is expected of them."""
    shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("expected", "case.json"), dirs_exist_ok=True)


FILES: Final = ("queries.xml", "pool.tab", "run.tab")


def copy_of(name: str, folder: Path, *further: str) -> Path:
    """Copy queries, pool, run and further files of a committed case into the folder."""
    for file in (*FILES, *further):
        shutil.copy(COMMITTED / name / file, folder / file)
    return folder


def replay(case: Case, folder: Path) -> list[str]:
    """Run the case in `folder` and return what differs from the record, in words."""
    copy_inputs(case, folder)
    outcome = score_in(folder, case.words)
    return list(differences(case, outcome, _outputs(case, outcome, folder)))


def _outputs(case: Case, outcome: Outcome, folder: Path) -> dict[str, bytes]:
    """Outputs by ending, but for files in folders; what was there before counts unless the run stopped early."""
    written = {name: content for name, content in outcome.files.items() if name.startswith("out.")}
    if case.mode != "fatal":
        written |= {path.name: path.read_bytes() for path in folder.glob("out.*")}
    outputs = {name.removeprefix("out."): content for name, content in written.items()} | {"stdout": outcome.stdout}
    if case.program is not None:
        outputs |= {
            f"./{name}": text for name, text in outcome.files.items() if not name.startswith("out.") and "/" not in name
        }
        return {name: _MADE_NODE.sub(rb":NIL_XXXX\1", content) for name, content in outputs.items()}
    return outputs


def differences(case: Case, outcome: Outcome, outputs: dict[str, bytes]) -> Iterator[str]:
    """Every way in which an outcome differs from the record."""
    if case.exit_code is not None and not _same_status(outcome.status, case.exit_code):
        yield f"status {outcome.status}, expected {case.exit_code}"
    if case.messages:
        texts = (outputs.get("errlog", b""), outcome.stderr, outcome.stdout)
        everything = b"\n".join(texts).decode("utf-8", "replace")
        if not any(all(line.strip() in everything for line in m.split("\n")) for m in case.messages):
            yield f"message not found: {case.messages[0]}; standard error: {outcome.stderr[-500:]!r}"
    if case.mode == "fatal":
        return
    for output in sorted(case.stable | case.unordered):
        yield from _compared(case, output, outputs.get(output))
    if case.mode != "unstable":
        yield from (f"{output} was not written" for output in sorted(case.unstable - set(outputs)))
    if case.mode == "ok":
        known = case.stable | case.unstable | case.unordered
        yield from (f"unexpected output {output}" for output in sorted(set(outputs) - known - {"stdout"}))
        if "stdout" not in known and outcome.stdout and case.exit_code == 0 and not case.final_message:
            yield "unexpected text on standard output"


def _same_status(status: int, recorded: int) -> bool:
    """0 and 255 are contract; other failures were whatever the last system error was."""
    return status == recorded if recorded in (0, 255) else status != 0


def _compared(case: Case, output: str, got: bytes | None) -> Iterator[str]:
    want = case.expected(output)
    assert want is not None, f"{case.folder}: no recorded {output}"
    if got is None:
        # After errors an output that the reference left empty may be missing.
        if want or case.program is None or case.mode != "errors":
            yield f"{output} was not written"
        return
    if output in ("params", "stdout"):
        got = _without_time_and_command(got)
    final = case.final_message
    if case.mode == "errors" and output in ("errlog", "stdout") and final and final.encode() in want:
        want, got = _problem_lines(want, final), _problem_lines(got, final)
    if output in case.unordered:
        want, got = (b"\n".join(sorted(data.split(b"\n"))) for data in (want, got))
    if want != got:
        yield _first_difference(output, want, got)


def _without_time_and_command(data: bytes) -> bytes:
    data = re.sub(rb"(?m)^#At: .*$", b"#At: <TIME>", data)
    return re.sub(rb"(?m)^(#Invoked as:\n).*$", rb"\1<COMMAND>", data)


def _problem_lines(data: bytes, final: str) -> bytes:
    """The non-blank lines of an error log before its closing message or the frame around it."""
    lines = []
    for line in data.decode("utf-8", "replace").split("\n"):
        if _FRAME.fullmatch(line) or _PLACE.sub("", line) == final:
            break
        if line.strip():
            lines.append(line)
    return "\n".join(lines).encode()


def _first_difference(output: str, want: bytes, got: bytes) -> str:
    wanted, gotten = want.split(b"\n"), got.split(b"\n")
    same = next((i for i, pair in enumerate(zip(wanted, gotten)) if pair[0] != pair[1]), min(len(wanted), len(gotten)))
    sides = (
        repr(lines[same].decode("utf-8", "backslashreplace")) if same < len(lines) else "(nothing)"
        for lines in (wanted, gotten)
    )
    return f"{output} line {same + 1}\n  expected {next(sides)}\n  got      {next(sides)}"
