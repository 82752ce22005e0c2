"""Bad input of every kind: a clear line and status 0 or 255, never an exception, never half an output."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.coldstart.command import Outcome, score_in
from tests.coldstart.recorded import FILES, copy_of

SWITCHES: Final = ("-expand", "CSSF17", "-output_file", "out")
OUTPUTS: Final = frozenset(f"out.{name}" for name in ("debug", "ap", "sf", "ldcmax", "ldcmean", "summary", "params"))
SAMPLE_OUTPUTS: Final = frozenset({"out.sample", "out.samplescores", "out.confidence"})
SCORES: Final = OUTPUTS - {"out.params", "out.debug", "out.ap"}

ESCAPE: Final = "\x1b]0;owned\x07\x1b[2J\u202e"
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FOOT: Final = b"*ALL-Macro Prec, Recall and F1 refer to mean-precision, mean-recall and mean-F1.\n"


def check(outcome: Outcome, outputs: frozenset[str] = OUTPUTS) -> Outcome:
    """What holds whatever the input was: a status of the contract, clear lines, outputs whole or absent."""
    assert outcome.status in (0, 255)
    report = outcome.stderr.decode("utf-8")
    assert "Traceback" not in report
    assert _CONTROL.findall(report) == []
    assert report.strip(), "not even the closing line of the report"
    assert set(outcome.files) <= outputs, "a file left behind"
    for name, content in outcome.files.items():
        assert b"Traceback" not in content
        assert not content or content.endswith(b"\n") or name == "out.params", name
        if name in SCORES and content:
            assert content.endswith(_FOOT), name
    if outcome.status == 0 or "encountered" in report:
        assert set(outcome.files) == outputs
    return outcome


def score_files(folder: Path, *files: str) -> Outcome:
    """Score anew in a folder, with the report on a terminal, and check what must hold."""
    for output in OUTPUTS:
        (folder / output).unlink(missing_ok=True)
    return check(score_in(folder, [*SWITCHES, *(files or FILES)], terminal=True))


def fails(outcome: Outcome, *words: str) -> None:
    """Status 255 and a message with these words in it."""
    assert outcome.status == 255
    report = outcome.stderr.decode()
    for word in words:
        assert word in report


# ---- Mutations: bytes of a file in, bytes out. `place` lies in [0, 1).


def _inserting(text: bytes) -> Callable[[bytes, float], bytes]:
    def mutated(data: bytes, place: float) -> bytes:
        here = int(place * (len(data) + 1))
        return data[:here] + text + data[here:]

    return mutated


def _on_lines(change: Callable[[list[bytes], int], list[bytes]]) -> Callable[[bytes, float], bytes]:
    def mutated(data: bytes, place: float) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join(change(lines, int(place * len(lines))))

    return mutated


def _on_one_line(change: Callable[[list[bytes], int], list[bytes]]) -> Callable[[bytes, float], bytes]:
    """A change of one line's columns; the fraction left over from choosing the line chooses the column."""

    def mutated(data: bytes, place: float) -> bytes:
        lines = data.split(b"\n")
        number = int(place * len(lines))
        columns = lines[number].split(b"\t")
        lines[number] = b"\t".join(change(columns, int(place * len(lines) % 1 * len(columns))))
        return b"\n".join(lines)

    return mutated


def _swapped(columns: list[bytes], column: int) -> list[bytes]:
    columns[column - 1], columns[column] = columns[column], columns[column - 1]
    return columns


def _holding(text: str) -> Callable[[list[bytes], int], list[bytes]]:
    return lambda columns, i: [*columns[:i], text.encode("utf-8", "surrogatepass"), *columns[i + 1 :]]


INSERTED: Final = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[31m"),  # no text, half a pair, a mark, an escape
    *(b"\t", b"\n", b"\r", b" ", b":", b"_", b"#"),
)
FIELDS: Final = (
    *("", " ", "0", "-", ":", "::", "_", "NIL", "C", "W", "%s%n{0}", "\x00", "\u2028", "\x85", ESCAPE, "x" * 3000),
    *("1", "nan", "NaN", "inf", "-1", "1e999", "0x1p-3", "²", "٣"),
    *("a:1-2", "a:9-1", "a:1-2,b:3-4", "a:1-2;b:3-4", f"a:1-{'9' * 5000}", "a:" * 1500),
    *("CSSF17_ENG_0000000000", "CSSF17_ENG_0000000000:1"),
)
MUTATIONS: Final[dict[str, Callable[[bytes, float], bytes]]] = {
    "truncated": lambda data, place: data[: int(place * len(data))],
    "stretch missing": lambda data, place: data[: int(place * len(data))] + data[int(place * len(data)) + 40 :],
    "columns swapped": _on_one_line(_swapped),
    "column missing": _on_one_line(lambda columns, i: columns[:i] + columns[i + 1 :]),
    "column twice": _on_one_line(lambda columns, i: columns[:i] + columns[i : i + 1] + columns[i:]),
    "line missing": _on_lines(lambda lines, i: lines[:i] + lines[i + 1 :]),
    "line twice": _on_lines(lambda lines, i: lines[:i] + lines[i : i + 1] + lines[i:]),
    "lines swapped": _on_lines(_swapped),
    "lines reversed": _on_lines(lambda lines, i: lines[:i] + lines[:i:-1]),
    "carriage returns": lambda data, place: data.replace(b"\n", b"\r\n"),
    "old line ends": lambda data, place: data.replace(b"\n", b"\r"),
    "no last newline": lambda data, place: data.rstrip(b"\n"),
    "file twice": lambda data, place: data + data,
    "UTF-16": lambda data, place: data.decode("utf-8", "replace").encode("utf-16"),
    **{f"inserting {text!r}": _inserting(text) for text in INSERTED},
    **{f"holding {text[:12]!r}": _on_one_line(_holding(text)) for text in FIELDS},
}

# Each mutation at one of three places, and at the others in `make test-slow`.
SOMEWHERE: Final = [
    pytest.param(mutation, place, marks=[pytest.mark.slow] if (at + nth) % 3 else [])
    for at, mutation in enumerate(MUTATIONS)
    for nth, place in enumerate((0.0, 0.37, 0.93))
]

_DISTORTIONS: Final = st.lists(
    st.tuples(st.sampled_from(FILES), st.sampled_from(sorted(MUTATIONS)), st.floats(0, 1, exclude_max=True)),
    min_size=1,
    max_size=3,
)


@given(_DISTORTIONS, st.none() | st.tuples(st.sampled_from(FILES), st.binary(max_size=200)))
def test_distorted_files_and_files_of_noise(
    distortions: list[tuple[str, str, float]], noise: tuple[str, bytes] | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = copy_of("multi_ep_011", Path(name))
        for file, mutation, place in distortions:
            (folder / file).write_bytes(MUTATIONS[mutation]((folder / file).read_bytes(), place))
        if noise is not None:
            (folder / noise[0]).write_bytes(noise[1])
        score_files(folder)


@pytest.mark.parametrize(("mutation", "place"), SOMEWHERE)
@pytest.mark.parametrize("file", FILES)
def test_every_mutation_of_every_file(file: str, mutation: str, place: float, sound: Path) -> None:
    (sound / file).write_bytes(MUTATIONS[mutation]((sound / file).read_bytes(), place))
    score_files(sound)


@pytest.mark.parametrize(("mutation", "place"), SOMEWHERE)
@pytest.mark.parametrize("switch", ["-queries", "-samples"])
def test_every_mutation_of_a_list_of_queries_and_of_samples(
    switch: str, mutation: str, place: float, tmp_path: Path
) -> None:
    """Both lists are separated by blanks; tabs do as well, and let the column mutations reach the columns."""
    samples = (copy_of("samples_009", tmp_path, "samples.txt") / "samples.txt").read_text(encoding="utf-8")
    groups = [group.split(":") for group in samples.split()[1:3]]
    lists = {
        "-queries": "".join(f"{ldc}\t{query}\t0\n" for ldc, queries in groups for query in queries.split(",")),
        "-samples": samples.replace(" ", "\t"),
    }
    outputs = OUTPUTS | SAMPLE_OUTPUTS if switch == "-samples" else OUTPUTS
    (tmp_path / "list.txt").write_bytes(MUTATIONS[mutation](lists[switch].encode(), place))
    check(score_in(tmp_path, [*SWITCHES, switch, "list.txt", *FILES], terminal=True), outputs)


def _change_column(folder: Path, column: int, text: str) -> None:
    """On the second line of the run."""
    lines = [line.split("\t") for line in (folder / "run.tab").read_text(encoding="utf-8").split("\n")]
    lines[1][column] = text
    (folder / "run.tab").write_text("\n".join(map("\t".join, lines)), encoding="utf-8")


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "Infinity", "-0.5", "1e400", "1_0.0", "０.５", "0.5 ", ""])
def test_a_confidence_that_is_no_number_in_range_is_reported_and_counted_as_one(text: str, sound: Path) -> None:
    _change_column(sound, 7, text)
    outcome = score_files(sound)
    fails(outcome, f"Illegal confidence value: {text.strip()}", "run.tab line 2")
    scores = b"".join(outcome.files[f"out.{name}"] for name in ("sf", "ap", "summary")).lower()
    assert b"nan" not in scores
    assert b"inf" not in scores.replace(b"info", b"")


def _with_doctype(folder: Path, doctype: str, name: str) -> None:
    text = (folder / "queries.xml").read_text(encoding="utf-8")
    head, _, rest = text.partition("?>\n")
    rest = re.sub("<name>.*?</name>", f"<name>{name}</name>", rest)
    (folder / "queries.xml").write_text(f"{head}?>\n{doctype}\n{rest}", encoding="utf-8")


def test_a_bomb_of_nested_entities_stays_text(sound: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    plain = score_files(sound).files["out.sf"]
    _with_doctype(sound, f'<!DOCTYPE q [<!ENTITY e0 "boom">{entities}]>', "&e11;")
    assert score_files(sound).files["out.sf"] == plain


@pytest.mark.parametrize("place", ["file://{sound}/secret.txt", "secret.txt", "http://127.0.0.1:9/secret"])
def test_external_entities_and_definitions_are_not_fetched(place: str, sound: Path) -> None:
    (sound / "secret.txt").write_text("do-not-tell", encoding="utf-8")
    system = place.format(sound=sound)
    _with_doctype(sound, f'<!DOCTYPE q SYSTEM "{system}" [<!ENTITY x SYSTEM "{system}">]>', "&x;")
    outcome = score_files(sound)
    assert outcome.status == 0
    assert b"do-not-tell" not in outcome.stderr + b"".join(outcome.files.values())


SENSELESS: Final = {
    "-justifications": ("1", "1:0", ""),
    "-right": (ESCAPE,),
    "-fields": ("EC:NOPE",),
    "-discipline": ("NOPE",),
    "-queries": ("", "\x00", "pool.tab"),
    "-runids": ("\udcff",),
    "-expand": ("\udcff",),
    "-output_file": ("no/such/folder/out", "\x00"),
    "-error_file": ("run.tab",),
}


@pytest.mark.parametrize(
    "words",
    [
        *([], ["-expand"], ["-output_file"], ["-no_such_switch", "run.tab"]),
        *([switch, value, *FILES] for switch, values in SENSELESS.items() for value in values),
    ],
)
def test_switches_that_make_no_sense(words: list[str], sound: Path) -> None:
    outcome = score_in(sound, words, terminal=True)
    assert outcome.status == 255
    said = (outcome.stdout + outcome.stderr).decode("utf-8")
    assert said.strip()
    assert "Traceback" not in said
    assert _CONTROL.findall(said) == []


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("\n1 CS17_7475:CSSF17_ENG_557e14c42b\n", "blank line(s) 1 count as one more sample"),
        ("1 L:CSSF17_ENG_557e14c42b\n1 L:CSSF17_ENG_557e14c42b\n", "line(s) 2 replace an earlier sample"),
        ("1 L:CSSF17_ENG_557e14c42b,X_0123456789\n", "draws 1 of 2 queries that are not in the query files (01234"),
        ("", "is empty, so nothing is resampled"),
        (None, "does not exist, so nothing is resampled"),
        ("1 CS17_7475:CSSF17_ENG_557e14c42b\n", None),
    ],
)
def test_doubtful_samples_are_remarked_on_and_change_nothing_else(
    text: str | None, remark: str | None, tmp_path: Path
) -> None:
    copy_of("samples_009", tmp_path)
    if text is not None:
        (tmp_path / "samples.txt").write_text(text, encoding="utf-8")
    outcome = score_in(tmp_path, [*SWITCHES, "-samples", "samples.txt", *FILES])
    assert outcome.status == 0
    warnings = [line for line in outcome.stderr.decode().splitlines() if line.startswith("cs-score: warning: ")]
    assert [remark in line for line in warnings if remark] == ([True] if remark else [])
    assert bool(warnings) == bool(remark)
    assert set(outcome.files) == OUTPUTS | SAMPLE_OUTPUTS
