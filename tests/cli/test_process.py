"""The command as a process of its own: signals, what is left in the folder, and surroundings that lack something."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from cs_score.cli.main import main
from cs_score.pages.page import page_template
from tests.coldstart.recorded import COMMITTED
from tests.verbs.batch.command import invented_runs

pytestmark = pytest.mark.timeout(120)

ENTRY: Final = Path(sys.executable).with_name("cs-score")
EXPAND: Final = ("-expand", "CSSF17")
FILES: Final = ("queries.xml", "run.tab", "pool.tab")
BATCH: Final = ("batch", *EXPAND, "--jobs", "2", "-o", "out", "queries.xml", "pool.tab", "runs")
PARTS: Final = (*EXPAND, "-output_file", "o", "--parts", "6", "--jobs", "2", *FILES)

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="children are found in /proc")


def _evaluation(folder: Path, case: str, runs: int) -> Path:
    for name in FILES:
        shutil.copy(COMMITTED / case / name, folder / name)
    invented_runs(folder, folder / "run.tab", [f"r{number:02}" for number in range(runs)])
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small evaluation."""
    return _evaluation(tmp_path, "multi_ep_011", 3)


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    """An evaluation that takes long enough to be disturbed."""
    return _evaluation(tmp_path, "medium_001", 12)


def _call(folder: Path, *words: str, before: str = "", after: str = "") -> subprocess.CompletedProcess[bytes]:
    """The console entry on a shell's line, between what stands before it and after it."""
    script = f'{before} "$@" {after}'
    return subprocess.run(
        ["sh", "-c", script, "sh", str(ENTRY), *words],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=100, check=False,
    )  # fmt: skip


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def _is_clean(error: bytes) -> bool:
    return not any(word in error for word in (b"Traceback", b"Exception ignored", b"Error in sys"))


# ---- Signals


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _workers(pid: int) -> list[int]:
    deadline = time.monotonic() + 60
    while not (found := _children(pid)):
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return found


@pytest.mark.parametrize(
    ("number", "gap"), [(signal.SIGINT, 0.02), (signal.SIGTERM, 0.0), (signal.SIGHUP, 0.02)], ids=str
)
@pytest.mark.parametrize("words", [BATCH, PARTS], ids=["batch", "parts"])
@needs_proc
def test_a_second_signal_changes_nothing(
    busy: Path, words: tuple[str, ...], number: signal.Signals, gap: float
) -> None:
    before = _names(busy)
    with subprocess.Popen([ENTRY, *words], cwd=busy, stderr=subprocess.PIPE, start_new_session=True) as command:
        workers = _workers(command.pid)
        for _ in range(2):
            os.killpg(command.pid, number) if number is signal.SIGINT else command.send_signal(number)
            time.sleep(gap)
        start = time.monotonic()
        _, error = command.communicate(timeout=60)
    assert time.monotonic() - start < 20
    assert command.returncode == 128 + number
    said = b"cs-score: interrupted; the runs in out" if words is BATCH else b"cs-score: interrupted\n"
    assert error.startswith(said) if number is signal.SIGINT else error == b""
    left = _names(busy) - before
    assert not [name for name in left if name.endswith((".part", ".lock"))]
    assert words is BATCH or not left
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


BEGINNING: Final = """
import os, signal, sys
from cs_score.__main__ import console
number, left = int(sys.argv.pop(1)), [int(sys.argv.pop(1))]
class Sender:
    def find_spec(self, name, path=None, target=None):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Sender())
console()
"""
"""Sends itself a signal when so many modules are imported."""


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGINT, FILES), (signal.SIGTERM, ("scifact", "--help"))], ids=str
)
def test_a_signal_while_the_command_begins_leaves_no_traceback(
    folder: Path, number: signal.Signals, words: tuple[str, ...]
) -> None:
    """At every module that is imported; the handlers are those of the console entry from its first line on."""
    met = 0
    for count in range(1, 200, 12):
        command = [sys.executable, "-c", BEGINNING, str(int(number)), str(count), *words]
        process = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        assert _is_clean(process.stderr), process.stderr
        if process.returncode != 128 + number:
            break
        met += 1
    assert met > 3


def test_nothing_of_ours_is_imported_before_signals_are_cared_for() -> None:
    """The console script imports `cs_score.__main__`: until that cares for signals, only loaded modules are used."""
    script = """
import os, re, sys
sys.argv[0] = "/somewhere/bin/cs-score"
before = set(sys.modules)
import _signal
class Watch:
    def find_spec(self, name, path=None, target=None):
        is_cared_for = _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler
        if name not in ("cs_score", "cs_score.__main__") and not is_cared_for:
            print(name)
sys.meta_path.insert(0, Watch())
from cs_score.__main__ import console
print(_signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"


def test_importing_the_package_leaves_signals_alone() -> None:
    script = "import signal, cs_score, cs_score.__main__; print(signal.getsignal(signal.SIGINT))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert "default_int_handler" in done.stdout


def test_ctrl_c_at_any_moment_shows_no_line_of_ours(folder: Path) -> None:
    """Tracebacks of the interpreter's own start, and of its search for the package, are not ours."""
    for number in range(40):
        with subprocess.Popen([ENTRY, *EXPAND, *FILES], cwd=folder, stdout=-1, stderr=-1) as command:
            time.sleep(0.3 * number / 40)
            command.send_signal(signal.SIGINT)
            _, error = command.communicate(timeout=60)
        assert b"/cs_score/" not in error, error
        assert b"Exception ignored" not in error or b"bin/cs-score" not in error
        assert error.count(b'bin/cs-score", line') <= 1


DROPPED: Final = """
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
try:
    del [Dropped()][0]
    time.sleep(30)
finally:
    print('tidied')
"""
"""A signal that comes where exceptions are dropped."""

SECOND: Final = """
try:
    os.kill(os.getpid(), signal.SIGINT)
finally:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(30)
"""
"""A second signal while the first is answered."""


@pytest.mark.parametrize(("script", "status", "stdout"), [(DROPPED, 143, b"tidied\n"), (SECOND, 130, b"")])
def test_a_signal_ends_the_command_all_the_same(script: str, status: int, stdout: bytes) -> None:
    start = "import os, signal, time\nfrom cs_score.base import runtime\nruntime.stop_on_signals()"
    done = subprocess.run([sys.executable, "-c", f"{start}{script}"], capture_output=True, timeout=25, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, stdout, b"")


def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    done = _call(folder, *EXPAND, "-output_file", "o", *FILES, before="trap '' INT; (sleep 0.1; kill -INT $$) & exec")
    assert done.returncode == 0


# ---- Surroundings


def _told(process: subprocess.CompletedProcess[bytes], status: int, text: str) -> None:
    assert (process.returncode, process.stderr.decode().splitlines()) == (status, [f"cs-score: {text}"])


def test_a_working_folder_that_is_gone_is_one_line(folder: Path) -> None:
    words = [str(folder / name) for name in FILES]
    (folder / "gone").mkdir()
    before = _names(folder) - {"gone"}
    text = "the working folder does not exist any more; change to another one"
    for call, status in ((words, 255), (["batch", "-o", "out", *words], 1)):
        (folder / "gone").mkdir(exist_ok=True)
        _told(_call(folder / "gone", *call, before="rmdir ../gone; exec"), status, text)
    assert _names(folder) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize(
    ("words", "status"), [(("--help",), 255), (("--version",), 255), (("scifact", "-h"), 1), (("compare", "--help"), 1)]
)
def test_help_to_a_full_device_or_a_closed_stream_is_one_line(
    folder: Path, words: tuple[str, ...], status: int
) -> None:
    said = "Could not write standard output: No space left on device"
    _told(_call(folder, *words, after="> /dev/full"), status, said)
    _told(_call(folder, *words, after=">&-"), status, "standard output is closed")


@pytest.mark.parametrize("words", [("--jobs",), ("--parts",), ("batch", "-o", "out", "--jobs")], ids=str)
def test_a_number_of_many_digits_is_one_line(folder: Path, words: tuple[str, ...]) -> None:
    done = _call(folder, *words, "9" * 5000, *FILES)
    assert done.returncode == (2 if words[0] == "batch" else 255)
    assert done.stderr.startswith(b"cs-score: --")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("limit", ["-n 5", "-n 8", "-v 30000", "-v 60000"])
@pytest.mark.parametrize("words", [BATCH, PARTS, ("scifact", "--help")], ids=["batch", "parts", "scifact"])
def test_few_descriptors_and_little_memory_are_enough_or_one_line(
    folder: Path, words: tuple[str, ...], limit: str
) -> None:
    done = _call(folder, *words, before=f"ulimit {limit}; exec")
    assert _is_clean(done.stderr), done.stderr
    assert done.returncode in (0, 1, 255)
    if done.returncode == 255 and "-n" in limit:
        assert b"Too many open files" in done.stderr
        assert done.stderr.count(b"\n") == 1
    assert not [name for name in _names(folder) if name.endswith((".part", ".lock"))]


def _fail(error: BaseException) -> Callable[..., None]:
    def fail(*given: object, **named: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    "error", [MemoryError(), ImportError("/lib/some.so: failed to map segment from shared object")], ids=type
)
def test_where_even_the_message_finds_no_memory_it_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cs_score.cli.core.Command.run", _fail(error))
    assert main(["diff"]) == 1
    assert capfd.readouterr().err == "cs-score: not enough memory\n"
    monkeypatch.setattr("cs_score.base.display.one_line", _fail(MemoryError()))
    assert main(["diff"]) == 1
    assert capfd.readouterr().err == "cs-score: not enough memory\n"


def test_a_package_that_finds_no_memory_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ImportError("/lib/jinja2.so: failed to map segment from shared object")
    page_template.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr("builtins.__import__", _fail(error))
        with pytest.raises(ImportError, match="failed to map"):
            page_template()


def _limited(folder: Path, size: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    """A call in which no file grows beyond a size, as on a disk that is nearly full."""
    return subprocess.run(
        [ENTRY, *words],
        cwd=folder, capture_output=True, timeout=100, check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip


def test_an_analysis_writes_all_of_its_files_or_none(folder: Path) -> None:
    words = ("analyze", *EXPAND, *FILES, "-o")
    before = _names(folder)
    assert _call(folder, *words, "tables").returncode == 0
    size = max(path.stat().st_size for path in (folder / "tables").iterdir())
    shutil.rmtree(folder / "tables")
    for place in ("a.json", "tables"):
        done = _limited(folder, size - 1, *words, place)
        *_, last = done.stderr.splitlines()
        assert (done.returncode, last.startswith(b"cs-score: Could not write ")) == (1, True)
        assert last.endswith(b": File too large")
        assert _names(folder) == before
        assert not (folder / place).exists()


def test_a_batch_on_a_full_disk_names_the_file_and_leaves_no_lock(folder: Path) -> None:
    done = _limited(folder, 0, *BATCH)
    assert (done.returncode, done.stderr) == (1, b"cs-score: Could not write out/.batch.lock: File too large\n")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "words",
    [("scifact", "--nope"), ("scifact", "--gold", "nope", "--predictions", "nope"),
     ("batch", "-o", "out", "queries.xml", "nope", "nope"),
     (*FILES[:2], "nope"), ("validate-run", "queries.xml", "nope"), ("problems", "NOPE")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_with_standard_error_closed_no_error_reaches_standard_output(folder: Path, words: tuple[str, ...]) -> None:
    done = _call(folder, *words, after="2>&-")
    assert done.returncode not in (0, 120)
    assert done.stdout == b""


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_no_file_takes_the_place_of_a_closed_stream(folder: Path, stream: int) -> None:
    """What is meant for a stream would be written into an output that has its number."""
    expected = _call(folder, *EXPAND, "-output_file", "want", *FILES)
    assert expected.returncode == 0
    _call(folder, *EXPAND, "-output_file", "o", *FILES, after=f"{stream}>&-")
    for path in folder.glob("want.*"):
        if path.suffix != ".params":
            assert (folder / path.name.replace("want", "o")).read_bytes() == path.read_bytes()


# ---- Pipes


@contextlib.contextmanager
def _filled(pipe: Path, content: bytes) -> Iterator[None]:
    """A named pipe that is filled once, by whoever opens it for reading first."""
    os.mkfifo(pipe)

    def fill() -> None:
        with contextlib.suppress(OSError), open(pipe, "wb") as writing:
            writing.write(content)

    thread = threading.Thread(target=fill, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # lets the thread go where nobody has read
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        thread.join(10)
        pipe.unlink()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "form",
    [
        (*EXPAND, "-output_file", "OUT", "queries.xml", "run.tab", "pool.tab"),
        (*EXPAND, "--parts", "3", "-output_file", "OUT", "queries.xml", "run.tab", "pool.tab"),
        ("batch", *EXPAND, "--jobs", "2", "--resume", "-o", "OUT", "queries.xml", "pool.tab", "run.tab", "runs"),
        ("compare", "coldstart", *EXPAND, "--bootstrap", "10", "queries.xml", "pool.tab", "run.tab", "runs"),
        ("validate-run", "-error_file", "OUT.log", "-output_file", "OUT", "queries.xml", "run.tab"),
        ("apply-k", "run.tab", "OUT"),
    ],
    ids=lambda form: " ".join(form[:3]),
)
def test_a_named_pipe_is_read_as_a_file_is(folder: Path, form: tuple[str, ...], name: str) -> None:
    if name not in form:
        return
    if form[0] == "compare":
        form = tuple("runs/r01.tab.txt" if word == "runs" else word for word in form)
    expected = _call(folder, *(word.replace("OUT", "want") for word in form))
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    with _filled(folder / name, data):
        done = _call(folder, *(word.replace("OUT", "got") for word in form))
    assert done.returncode == expected.returncode
    assert done.stdout == expected.stdout
    for path in (*folder.glob("want.*"), *folder.glob("want")):
        if path.is_file() and path.suffix != ".params":
            assert (folder / path.name.replace("want", "got")).read_bytes() == path.read_bytes()
