"""Forms in which people have files: what is read as it is, and remedies, each of which is tried and scored."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.base.records import Record
from cs_score.evidence.forms import claims_forms, hotpotqa_forms, r4c_forms, scifact_forms
from tests.evidence.command import Outcome, cs_score

Json = Any

SETS: Final = {"11": [{"sentences": [1, 2], "label": "SUPPORT"}], "12": [{"sentences": [0], "label": "CONTRADICT"}]}
CLAIMS: Final[Json] = [
    {"id": 1, "claim": "A", "evidence": SETS, "cited_doc_ids": [11, 12]},
    {"id": 2, "claim": "B", "evidence": {}, "cited_doc_ids": [13]},
    {"id": 3, "claim": "C", "evidence": {"11": [{"sentences": [4], "label": "SUPPORT"}]}, "cited_doc_ids": [11]},
]
LEADERBOARD: Final[Json] = [
    {"id": 1, "evidence": {"11": {"label": "SUPPORT", "sentences": [1, 2, 5]}}},
    {"id": 2, "evidence": {}},
    {"id": 3, "evidence": {"11": {"label": "CONTRADICT", "sentences": [4]}}},
]
ENTRIES: Final[Json] = [
    {**line, "label": "SUPPORT", "evidence": {key: [entry] for key, entry in line["evidence"].items()}}
    for line in LEADERBOARD
]
QUESTIONS: Final[Json] = [
    {"_id": "q1", "answer": "Paris", "supporting_facts": [["France", 0], ["Paris", 2]]},
    {"_id": "q2", "answer": "yes", "supporting_facts": [["Rome", 1]]},
    {"_id": "q3", "answer": "1984", "supporting_facts": [["Orwell", 3]]},
]
ANSWERS: Final[Json] = {
    "answer": {"q1": "paris", "q2": "no", "q3": "in 1984"},
    "sp": {"q1": [["France", 0]], "q2": [["Rome", 1]], "q3": []},
}
BY_QUESTION: Final[Json] = {
    named: {"answer": ANSWERS["answer"][named], "sp": ANSWERS["sp"][named]} for named in ANSWERS["answer"]
}


def step(*fact: str) -> Json:
    return ["Title", 0, list(fact)]


REFERENCES: Final[Json] = {
    "q1": [[step("Ada", "born in", "London")], [step("Ada", "is from", "London")], [step("Ada", "lived in", "Paris")]],
    "q2": [[step("Rome", "is in", "Italy")] * 2, [step("Rome", "in", "Italy")], [step("Roma", "is in", "Italy")]],
}
DERIVATIONS: Final[Json] = {"re": {"q1": [step("Ada", "born in", "Londn")], "q2": [step("Rome", "was in", "Italy")]}}

WORLDS: Final[dict[str, tuple[Json, Json]]] = {
    "scifact": (CLAIMS, LEADERBOARD),
    "claims": (CLAIMS, ENTRIES),
    "hotpotqa": (QUESTIONS, ANSWERS),
    "r4c": (REFERENCES, DERIVATIONS),
}


def lines(values: Sequence[Json], **options: Any) -> bytes:
    return "".join(f"{json.dumps(value, **options)}\n" for value in values).encode()


def document(value: Json, **options: Any) -> bytes:
    return json.dumps(value, **options).encode()


def usual(task: str, value: Json) -> bytes:
    """The text of a file as the task reads it."""
    return lines(value) if task in ("scifact", "claims") else document(value)


def zipped(content: bytes, *names: str) -> bytes:
    path = Path("made.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    data = path.read_bytes()
    path.unlink()
    return data


def rows_of_data_set(claims: Json) -> Json:
    rows = []
    for claim in claims:
        about = {"id": claim["id"], "claim": claim["claim"], "cited_doc_ids": claim["cited_doc_ids"]}
        found = [
            {**about, "evidence_doc_id": key, "evidence_label": each["label"], "evidence_sentences": each["sentences"]}
            for key, sets in claim["evidence"].items()
            for each in sets
        ]
        rows += found or [{**about, "evidence_doc_id": "", "evidence_label": "", "evidence_sentences": []}]
    return rows


class Form(Record):
    """A file of another form: its role, its content, what is said of it, and what the scores are to be.

    `file` is its name. `expected` are the gold and the predictions whose scores it is to have, those of the task where
    nothing is said; `read`: it is read as it is.
    """

    task: str
    name: str
    content: Callable[[], bytes]
    said: str
    role: str = "predictions"
    file: str = ""
    read: bool = False
    expected: tuple[Json, Json] | None = None


def _form(task: str, name: str, content: Callable[[], bytes], said: str, **more: Any) -> Form:
    return Form(task, name, content, said, **more)


def of_files(task: str) -> list[Form]:
    """Forms that a file of any task may have."""
    gold, predictions = WORLDS[task]
    good = usual(task, predictions)
    return [
        _form(task, "utf16", lambda: good.decode().encode("utf-16"), "the file is in UTF-16"),
        _form(task, "utf16le", lambda: good.decode().encode("utf-16-le"), "the file is in UTF-16"),
        _form(task, "zip", lambda: zipped(good, "p.json"), "the file is a zip archive"),
        _form(task, "gzip", lambda: gzip.compress(good), "the file is packed with gzip, which its name does not say"),
        _form(task, "bz2 as gz", lambda: bz2.compress(good), "packed with bz2, which its name", file="p.json.gz"),
        _form(task, "no gzip", lambda: good, "the file is not packed with gzip, as its name says", file="p.json.gz"),
        _form(task, "printed", lambda: printed(task), "what Python prints"),
        _form(task, "gold in utf16", lambda: usual(task, gold).decode().encode("utf-16"), "in UTF-16", role="gold"),
    ]


def printed(task: str) -> bytes:
    predictions = WORLDS[task][1]
    if task in ("r4c", "hotpotqa"):
        return repr(predictions).encode()
    return "".join(f"{line!r}\n" for line in predictions).encode()


def of_lines(task: str) -> list[Form]:
    """Forms that a file may have where a claim a line is wanted."""
    gold, predictions = WORLDS[task]
    by_id = {str(line["id"]): {key: line[key] for key in line if key != "id"} for line in predictions}
    listed = [
        {
            **line,
            "evidence": [
                {"doc_id": int(key), **(each[0] if task == "claims" else each)}
                for key, each in line["evidence"].items()
            ],
        }
        for line in predictions
    ]
    renamed = [{("claim_id" if key == "id" else key): line[key] for key in line} for line in predictions]
    rows = rows_of_data_set(gold)
    return [
        _form(task, "list", lambda: document(predictions), "the file is a JSON list, where an object a line"),
        _form(task, "pretty list", lambda: document(predictions, indent=1), "the file is a JSON list, where"),
        _form(task, "pretty objects", lambda: lines(predictions, indent=2), "objects that take several lines each"),
        _form(task, "list in utf16", lambda: document(predictions).decode().encode("utf-16"), "UTF-16, and the f"),
        _form(task, "zipped list", lambda: zipped(document(predictions), "a/p.json"), "zip archive, and the"),
        _form(task, "heading", lambda: b"id,evidence\n" + lines(predictions), "the first line is a heading"),
        _form(task, "blank lines", lambda: lines(predictions).replace(b"\n", b"\n\n"), "the file has blank lines"),
        _form(task, "by id", lambda: document(by_id), "an object with claims by their id"),
        _form(task, "list of documents", lambda: lines(listed), "evidence is a list of documents"),
        _form(task, "claim_id", lambda: lines(renamed), "the ids are called claim_id"),
        _form(task, "list of rows", lambda: document(rows), "those of the Hugging Face data set", role="gold"),
        _form(task, "gold list", lambda: document(gold), "the file is a JSON list, where", role="gold"),
    ]  # fmt: skip


WITH_FACTS_IN_FULL: Final = {
    key: {"answer": each["answer"], "supporting_facts": each["sp"]} for key, each in BY_QUESTION.items()
}

QUESTIONS_OF_DATA_SET: Final = [
    {
        "id": each["_id"],
        "answer": each["answer"],
        "context": {"title": [], "sentences": []},
        "supporting_facts": {
            "title": [title for title, _ in each["supporting_facts"]],
            "sent_id": [number for _, number in each["supporting_facts"]],
        },
    }
    for each in QUESTIONS
]

REFERENCES_BY_LINE: Final = [{key: each} for key, each in REFERENCES.items()]


def bare_facts(derivations: Json) -> Json:
    return {key: [each[2] for each in derivation] for key, derivation in derivations.items()}


FORMS: Final = [
    *[form for task in WORLDS for form in of_files(task)],
    *[form for task in ("scifact", "claims") for form in of_lines(task)],
    _form(
        "scifact", "rows", lambda: lines(rows_of_data_set(CLAIMS)),
        "the rows are those of the Hugging Face data set", role="gold",
    ),
    _form("scifact", "marked", lambda: b"\xef\xbb\xbf" + lines(LEADERBOARD), "in UTF-8 with a byte order mark"),
    _form("hotpotqa", "marked", lambda: b"\xef\xbb\xbf" + document(ANSWERS), "in UTF-8 with a byte order mark"),
    _form("r4c", "marked", lambda: b"\xef\xbb\xbf" + document(DERIVATIONS), "in UTF-8 with a byte order mark"),
    _form(
        "scifact", "null", lambda: lines([*LEADERBOARD[:1], {"id": 2, "evidence": None}, *LEADERBOARD[2:]]),
        "p.jsonl: 1 claim with evidence null or [], read as {}", read=True,
    ),
    _form(
        "scifact", "empty list", lambda: lines([*LEADERBOARD[:1], {"id": 2, "evidence": []}, *LEADERBOARD[2:]]),
        "p.jsonl: 1 claim with evidence null or [], read as {}", read=True,
    ),
    _form(
        "scifact", "gold null", lambda: lines([CLAIMS[0], {**CLAIMS[1], "evidence": None}, CLAIMS[2]]),
        "g.jsonl: 1 claim with evidence null or [], read as {}", role="gold", read=True,
    ),
    _form(
        "claims", "empty list", lambda: lines([ENTRIES[0], {**ENTRIES[1], "evidence": []}, ENTRIES[2]]),
        "p.jsonl: 1 claim with evidence [], read as {}", read=True,
    ),
    _form("claims", "null", lambda: lines([ENTRIES[0], {**ENTRIES[1], "evidence": None}, ENTRIES[2]]), "", read=True),
    _form(
        "claims", "none where gold has some", lambda: lines([*ENTRIES[:2], {**ENTRIES[2], "evidence": None}]),
        'a claim without evidence has "evidence": {}',
        expected=(CLAIMS, [*ENTRIES[:2], {**ENTRIES[2], "evidence": {}}]),
    ),
    _form("hotpotqa", "by question", lambda: document(BY_QUESTION), "p.json: read as an object with answer", read=True),
    _form(
        "hotpotqa", "by question with facts",
        lambda: document(WITH_FACTS_IN_FULL),
        "p.json: read as an object with answer and facts for each question id", read=True,
    ),
    *[
        _form(
            "hotpotqa", f"{name} with {key}",
            partial(write, [{key: named, **each} for named, each in BY_QUESTION.items()]),
            "p.json: read as an object with id, answer and facts for each question", read=True,
        )
        for name, write in (("list", document), ("lines", lines))
        for key in ("_id", "id")
    ],
    _form(
        "hotpotqa", "answers only", lambda: document({"answer": ANSWERS["answer"]}),
        'there are answers only: add "sp": {} to score answers only', expected=(QUESTIONS, {**ANSWERS, "sp": {}}),
    ),
    _form(
        "hotpotqa", "facts only", lambda: document({"sp": ANSWERS["sp"]}),
        'there are facts only: add "answer": {} to score facts only', expected=(QUESTIONS, {**ANSWERS, "answer": {}}),
    ),
    _form(
        "hotpotqa", "answers by id", lambda: document(ANSWERS["answer"]),
        "the file is an object with answers by question id", expected=(QUESTIONS, {**ANSWERS, "sp": {}}),
    ),
    *[
        _form(
            "hotpotqa", f"{name} of the data set", partial(write, QUESTIONS_OF_DATA_SET),
            "rows of the Hugging Face data set", role="gold", read=True,
        )
        for name, write in (("list", document), ("lines", lines))
    ],
    _form(
        "hotpotqa", "facts by gold's name",
        lambda: document({"answer": ANSWERS["answer"], "supporting_facts": ANSWERS["sp"]}), "called supporting_facts",
    ),
    _form("hotpotqa", "gold lines", lambda: lines(QUESTIONS), "read as one question a line", role="gold", read=True),
    _form(
        "hotpotqa", "gold by id", lambda: document({each["_id"]: each for each in QUESTIONS}),
        "the file is an object with questions by their id", role="gold",
    ),
    _form("r4c", "without re", lambda: document(DERIVATIONS["re"]), 'are not below the key "re"'),
    _form("r4c", "lines by id", lambda: lines([{key: each} for key, each in DERIVATIONS["re"].items()]), '"re"'),
    _form(
        "r4c", "lines with re", lambda: lines([{"_id": key, "re": each} for key, each in DERIVATIONS["re"].items()]),
        'the key "re"',
    ),
    _form(
        "r4c", "bare facts", lambda: document({"re": bare_facts(DERIVATIONS["re"])}),
        "each step is a fact alone, where [title, sentence number, fact] is expected",
    ),
    _form("r4c", "gold lines", lambda: lines(REFERENCES_BY_LINE), "one JSON value a line", role="gold"),
    _form(
        "r4c", "bare facts in gold",
        lambda: document({key: [[each[2] for each in d] for d in ds] for key, ds in REFERENCES.items()}),
        "each step is a fact alone", role="gold",
    ),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score(task: str, gold: str, predictions: str) -> Outcome:
    return cs_score(task, "--gold", gold, "--predictions", predictions, "--json")


def ending(task: str) -> str:
    return "jsonl" if task in ("scifact", "claims") else "json"


def written(task: str, gold: Json, predictions: Json) -> tuple[str, str]:
    """Write files as the task reads them, and return their names."""
    names = f"g.{ending(task)}", f"p.{ending(task)}"
    for name, value in zip(names, (gold, predictions)):
        Path(name).write_bytes(usual(task, value))
    return names


def converted_by(complaint: str) -> str:
    """Run the command of a message as a shell does, and return the file that it has written."""
    found = re.search(r"convert it to (\S+): (python3 -c .*)$", complaint)
    assert found is not None, complaint
    words = shlex.split(found[2])
    subprocess.run([sys.executable, *words[1:]], check=True)
    return found[1]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.task}-{form.name}")
def test_a_file_of_another_form_is_scored_as_it_is_or_after_the_command_that_is_named(form: Form) -> None:
    names = dict(zip(("gold", "predictions"), written(form.task, *(form.expected or WORLDS[form.task]))))
    expected = score(form.task, names["gold"], names["predictions"]).scores
    if form.file:
        names[form.role] = form.file
    Path(names[form.role]).write_bytes(form.content())
    outcome = score(form.task, names["gold"], names["predictions"])
    if form.read:
        assert outcome.scores == expected
        notices = outcome.err.splitlines()
        assert sum(form.said in notice for notice in notices) == (1 if form.said else len(notices))
        return
    assert form.said in outcome.complaint
    assert outcome.complaint.startswith(f"{names[form.role]}: ")
    names[form.role] = converted_by(outcome.complaint)
    assert score(form.task, names["gold"], names["predictions"]).scores == expected


# ---- Commands to type


def run_named(complaint: str) -> Outcome:
    """Run the command of cs-score that a message says to write."""
    found = re.search(r"write (cs-score .*)$", complaint)
    assert found is not None, complaint
    return cs_score(*shlex.split(found[1])[1:])


def test_predictions_with_lists_of_entries_are_scored_as_claims() -> None:
    gold, predictions = written("claims", *WORLDS["claims"])
    complaint = score("scifact", gold, predictions).complaint
    assert "line 1, claim 1, abstract 11: a list where one object with label and sentences is expected" in complaint
    assert run_named(complaint).status == 0


def test_predictions_of_the_leaderboard_are_scored_as_scifact_in_any_order() -> None:
    for lines_of in (LEADERBOARD, LEADERBOARD[::-1]):
        gold, predictions = written("scifact", CLAIMS, lines_of)
        assert run_named(score("claims", gold, predictions).complaint).status == 0
    Path(predictions).write_bytes(lines(LEADERBOARD[:1]))
    complaint = score("claims", gold, predictions).complaint
    assert score("claims", gold, converted_by(complaint)).status == 0


def test_what_no_task_scores_is_not_sent_to_another_task() -> None:
    gold, predictions = written("scifact", CLAIMS, [{"id": 3, "evidence": {"300": [[1]]}}])
    complaint = score("scifact", gold, predictions).complaint
    assert "write cs-score" not in complaint
    assert complaint.endswith(scifact_forms.WANTED_PREDICTIONS)


def test_gold_and_predictions_of_r4c_and_hotpotqa_are_told_apart() -> None:
    Path("r4c.json").write_bytes(document(REFERENCES))
    Path("re.json").write_bytes(document(DERIVATIONS))
    assert run_named(score("hotpotqa", "r4c.json", "re.json").complaint).status == 0
    gold, predictions = written("hotpotqa", *WORLDS["hotpotqa"])
    assert run_named(score("r4c", gold, predictions).complaint).status == 0


@pytest.mark.parametrize("task", ["scifact", "hotpotqa", "r4c"])  # claims scores any objects with an id
def test_swapped_files_are_told_with_the_words_to_write(task: str) -> None:
    gold, predictions = written(task, *WORLDS[task])
    complaint = score(task, predictions, gold).complaint
    assert complaint.endswith(f"the files are swapped: {gold} is gold; write --gold {gold} --predictions {predictions}")


def test_an_archive_of_several_files_is_unpacked() -> None:
    gold, predictions = written("scifact", *WORLDS["scifact"])
    content = Path(predictions).read_bytes()
    Path("p.zip").write_bytes(zipped(content, "p.jsonl", "readme.txt"))
    complaint = score("scifact", gold, "p.zip").complaint
    found = re.search(r"python3 (-m zipfile -e \S+ \S+) unpacks (\S+), ", complaint)
    assert found is not None, complaint
    subprocess.run([sys.executable, *found[1].split()], check=True)
    assert score("scifact", gold, found[2]).status == 0


# ---- Forms that are described


WANTED: Final = {
    "scifact": (scifact_forms.WANTED_GOLD, scifact_forms.WANTED_PREDICTIONS),
    "claims": (claims_forms.WANTED_GOLD, claims_forms.WANTED_PREDICTIONS),
    "hotpotqa": (hotpotqa_forms.WANTED_GOLD, hotpotqa_forms.WANTED_PREDICTIONS),
    "r4c": (r4c_forms.WANTED_GOLD, r4c_forms.WANTED_PREDICTIONS),
}


def example_in(text: str) -> Json:
    return json.loads(text[text.index(" like ") + len(" like ") :])


@pytest.mark.parametrize("task", WANTED)
def test_the_forms_that_messages_describe_are_scored(task: str) -> None:
    gold, predictions = map(example_in, WANTED[task])
    if ending(task) == "jsonl":
        gold, predictions = [gold], [predictions]
    names = written(task, gold, predictions)
    assert score(task, *names).status == 0


DESCRIBED: Final[Json] = [
    ("scifact", "gold", [{"id": 1, "claim": "A"}], "no line has evidence, as in the public test set"),
    ("scifact", "gold", [{"doc_id": 11, "title": "T", "abstract": ["S"]}], "this is the corpus of abstracts"),
    ("scifact", "gold", [{"id": 1, "label": "SUPPORTS", "evidence": [[[1, 2, "A", 0]]]}], ""),
    ("scifact", "predictions", [{"id": 1, "predicted_label": "SUPPORTS"}], "these are predictions of FEVER"),
    ("scifact", "predictions", [{"id": 1, "evidence": {"11": [1, 2]}}], "the evidence of each document is a list"),
    ("scifact", "predictions", [{"id": 1}], ""),
    ("scifact", "predictions", [["id", 1]], ""),
    ("claims", "predictions", [{"predicted_label": "SUPPORTS"}], "these are predictions of FEVER"),
    ("claims", "predictions", [{"label": "SUPPORT"}], ""),
    ("claims", "gold", [{"claim": "A"}], "no line has evidence, as in the public test set"),
    ("hotpotqa", "gold", [{"_id": "q1", "question": "A?"}], "no question has an answer, as in the public test set"),
    ("hotpotqa", "predictions", [1, 2], ""),
    ("hotpotqa", "predictions", {"answer": {}, "context": 1}, "there are answers only"),
    ("r4c", "predictions", {"q1": "text"}, ""),
    ("r4c", "gold", [1], ""),
]


@pytest.mark.parametrize(("task", "role", "value", "said"), DESCRIBED)
def test_other_forms_get_a_description_of_the_one_that_is_wanted(task: str, role: str, value: Json, said: str) -> None:
    names = written(task, *WORLDS[task])
    place = ("gold", "predictions").index(role)
    Path(names[place]).write_bytes(usual(task, value))
    complaint = score(task, *names).complaint
    assert said in complaint
    if "convert it" not in complaint:
        assert " like " in complaint
        assert complaint.endswith(WANTED[task][place].rpartition(" like ")[2])


@pytest.mark.parametrize("task", WORLDS)
def test_web_pages_and_empty_files_are_called_so(task: str) -> None:
    gold, predictions = written(task, *WORLDS[task])
    Path(predictions).write_text("\n<!DOCTYPE html>\n<html></html>\n")
    assert "; the file is a web page and not the file that it shows; download the file itself" in (
        score(task, gold, predictions).complaint
    )
    Path(predictions).write_text("")
    if task == "claims":
        assert "no prediction for 3 of 3 claims" in score(task, gold, predictions).err
    else:
        assert "no prediction for claim 1" in score(task, gold, predictions).complaint or (
            score(task, gold, predictions).complaint.endswith("; the file is empty")
        )


def test_a_batch_gives_the_same_hints(tmp_path: Path) -> None:
    gold, predictions = written("scifact", *WORLDS["scifact"])
    Path("list.jsonl").write_bytes(document(LEADERBOARD))
    outcome = cs_score("batch", "scifact", "--gold", gold, predictions, "list.jsonl", "-o", "scores")
    assert outcome.status == 1
    assert "convert it to list-converted.jsonl: python3 -c " in Path("scores/problems.tsv").read_text()
    Path("gold-list.jsonl").write_bytes(document(CLAIMS))
    complaint = cs_score("batch", "scifact", "--gold", "gold-list.jsonl", predictions, "-o", "more").err
    assert "convert it to gold-list-converted.jsonl: python3 -c " in complaint
