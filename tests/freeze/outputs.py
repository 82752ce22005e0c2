"""What a call puts out, made comparable: time, version and folder are masked; and the digests that are kept."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from cs_score.base import VERSION
from tests.coldstart.command import run_in
from tests.freeze.calls import REPOSITORY, Call, calls, copy_samples, first

FOLDER: Final = Path(__file__).parent
COMMAND: Final = "python -m tests.freeze"

Outputs = Mapping[str, bytes]
"""`status`, `stdout`, `stderr` and every file that was written, by name."""


def by_name() -> dict[str, Call]:
    """All calls."""
    found = {call.name: call for call in calls()}
    assert len(found) == sum(1 for _ in calls()), "two calls of one name"
    return found


def outputs(call: Call) -> Outputs:
    """Run the call in a folder of its own, and give what it put out."""
    with tempfile.TemporaryDirectory(prefix="freeze.") as name:
        folder = Path(name, "here")
        shutil.copytree(call.inputs or _prepared(), folder, ignore=shutil.ignore_patterns("expected", "case.json"))
        before = _contents(folder)
        outcome = run_in(folder, call.words)
        after = _contents(folder)
        written = {name: content for name, content in after.items() if before.get(name) != content}
        found = {"status": str(outcome.status).encode(), "stdout": outcome.stdout, "stderr": outcome.stderr}
        found |= {f"{name}, removed": b"" for name in before if name not in after}
        return {name: _masked(content, folder) for name, content in (found | written).items()}


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@cache
def _prepared() -> Path:
    """The samples, and what the calls of FIRST made of them."""
    kept = tempfile.TemporaryDirectory(prefix="freeze.")
    _KEPT.append(kept)
    folder = Path(kept.name, "here")
    folder.mkdir()
    copy_samples(folder)
    for words in first():
        outcome = run_in(folder, words)
        assert outcome.status == 0, f"cs-score {' '.join(words)}: {outcome.stderr.decode()}"
    return folder


_KEPT: Final[list[tempfile.TemporaryDirectory[str]]] = []

_TIMES: Final = (
    (re.compile(rb"(?m)^#At: .*$"), b"#At: <TIME>"),
    (re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), b"<TIME>"),
    (re.compile(rb'("(?:seconds|started|finished|elapsed)": )[^,\n}]+'), rb"\1<TIME>"),
    # The size of what names the folder, and the digest of such sizes.
    (re.compile(rb'("out\.params",\s+)\d+(,\s+")[0-9a-f]*"'), rb'\1<SIZE>\2"'),
    (re.compile(rb'"digest": "[0-9a-f]{64}"'), rb'"digest": "<DIGEST>"'),
    (re.compile(rb":NIL_[A-Za-z]{4}(\d{9})"), rb":NIL_XXXX\1"),
)


def _masked(content: bytes, folder: Path) -> bytes:
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    for place in (folder.resolve(), folder):
        content = content.replace(str(place).encode(), b"<FOLDER>")
    content = content.replace(str(REPOSITORY).encode(), b"<REPOSITORY>")
    content = content.replace(VERSION.encode(), b"<VERSION>")
    for pattern, mask in _TIMES:
        content = pattern.sub(mask, content)
    return content


# ---- Digests


def digests(found: Outputs) -> dict[str, str]:
    """A digest and the number of lines of each output; of JSON its numbers alone, too, and of pages their words."""
    return {name: _digest(content) for name, content in (*found.items(), *_views(found))}


def _digest(content: bytes) -> str:
    if len(content) <= 3 and content.isdigit():
        return content.decode()
    return f"{hashlib.sha256(content).hexdigest()[:12]} {len(content.splitlines())}"


def _views(found: Outputs) -> Iterator[tuple[str, bytes]]:
    for name, content in found.items():
        if content[:1] in (b"{", b"[") and (numbers := _numbers(content)) is not None:
            yield f"{name}, numbers", numbers
        elif name.endswith(".html"):
            yield f"{name}, words", _words(content)


def _numbers(content: bytes) -> bytes | None:
    """The numbers of a JSON document, in order of size: what stays where keys get other names and places."""
    try:
        document = json.loads(content)
    except ValueError:
        return None
    found = sorted(_leaves(document))
    return "".join(f"{number!r}\n" for number in found).encode()


def _leaves(value: object) -> Iterator[float]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def _words(content: bytes) -> bytes:
    """The words of a page without its markup, scripts and charts."""
    text = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<!--.*?-->", " ", content.decode("utf-8", "replace"))
    return "\n".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split()).encode()


# ---- The files of digests: group.tsv, a line for each output of each call


def kept(group: str) -> dict[str, dict[str, str]]:
    """The digests of a group's calls."""
    found: dict[str, dict[str, str]] = {}
    path = FOLDER / f"{group}.tsv"
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            name, output, digest = line.split("\t")
            found.setdefault(name, {})[output] = digest
    return found


def keep(group: str, changed: dict[str, dict[str, str]], names: Iterable[str]) -> None:
    """Write a group's file anew: the changed calls, and what is known of the others of these names."""
    found = kept(group) | changed
    rows = [(name, *row) for name in names if name in found for row in found[name].items()]
    (FOLDER / f"{group}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def differing(call: Call) -> Sequence[str]:
    """The outputs of a call that are not the ones that are kept."""
    now, before = digests(outputs(call)), kept(call.group).get(call.name, {})
    return [name for name in {**before, **now} if now.get(name) != before.get(name)]
