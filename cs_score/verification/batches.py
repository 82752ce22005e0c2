"""Runs of a batch scored again, as the batch scores them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.documents import Json
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record, replace
from cs_score.base.signing.origin import GOLD, POOL, QUERIES, QUERY_LIST, RUN, SAMPLES
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.evidence import EvidencePlan
from cs_score.batch.plan.inputs import InputFile
from cs_score.batch.plan.plan import Plan, Prepared
from cs_score.batch.plan.runs import RunFile
from cs_score.batch.single_call import SingleCall
from cs_score.batch.store import state
from cs_score.batch.store.outcomes import Outcome, WrittenFile
from cs_score.batch.store.pages import is_page
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.outputs import Layout
from cs_score.measures.registry import COLD_START_MODE
from cs_score.verification.differences import Difference
from cs_score.verification.inputs import FoundInput, Places
from cs_score.verification.recorded import (
    cold_start_options,
    evidence_arguments,
    origin_of,
    resampling_of,
    was_validated,
)
from cs_score.verification.rescoring import check_named, the_one
from cs_score.verification.told import Told

_TIMED: Final = ".params"
_LARGEST: Final = 1 << 62


class BatchedRun(Record):
    """A run as a record tells it: its name in the batch, its policy, and what it was made from.

    `records` is whether its problems were kept with their details.
    """

    name: str
    policy: str
    made_from: Told
    records: bool = False


class Gold(Record):
    """What runs are scored with: the plan, and what is prepared from it."""

    plan: Plan
    prepared: Prepared


class BatchRuns:
    """Scores runs again; gold is read once for those that share it, and each run is scored once."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._read: dict[str, Gold] = {}
        self._gold: dict[str, Gold] = {}
        self._outcomes: dict[str, Outcome] = {}

    def outcome(self, run: BatchedRun, *, with_files: bool) -> Outcome:
        """What becomes of a run now; `with_files` tells what its files would be. Raises InputError, NotFoundError."""
        key = _key(run)
        if key not in self._outcomes:
            with paused_collector():
                self._outcomes[key] = self._scored(run, with_files)
        return self._outcomes[key]

    def gold(self, run: BatchedRun) -> Gold:
        """What a run is scored with. Raises InputError, NotFoundError."""
        self.outcome(run, with_files=False)
        return self._gold[_key(run)]

    def _scored(self, run: BatchedRun, with_files: bool) -> Outcome:
        found = self._places.find(origin_of(run.made_from).inputs)
        of_run = the_one(found, RUN, run.made_from)
        gold = self._prepare(run, [each for each in found if each is not of_run])
        self._gold[_key(run)] = gold
        (scored,) = gold.prepared.score(RunFile(run.name, _held(of_run)), [run.policy])
        return replace(scored.outcome, files=state.written_files(scored.files)) if with_files else scored.outcome

    def _prepare(self, run: BatchedRun, shared: Sequence[FoundInput]) -> Gold:
        """Gold and options of a run, read once for all runs that have the same."""
        told = run.made_from.members()
        options = {name: value.value for name, value in told.items() if name not in ("line", "inputs")}
        names = [(each.recorded.name, each.recorded.sha256, each.recorded.role) for each in shared]
        key = json.dumps([options, names, run.policy, run.records], sort_keys=True)
        if key not in self._read:
            plan = _plan(run, shared)
            self._read[key] = Gold(plan, plan.prepare())
        return self._read[key]


def _key(run: BatchedRun) -> str:
    return json.dumps([run.name, run.policy, run.made_from.value], sort_keys=True)


def _plan(run: BatchedRun, shared: Sequence[FoundInput]) -> Plan:
    made_from = run.made_from
    options, mode = made_from["options"], made_from["mode"].text()
    resampling = resampling_of(made_from.get("bootstrap"))
    if mode != COLD_START_MODE:
        return EvidencePlan(mode, _held(the_one(shared, GOLD, made_from)), evidence_arguments(options), resampling)
    asked = cold_start_options(options)
    of_options = {each.recorded.role: _located(each) for each in shared}
    check_named(options, of_options)
    layout = Layout(made_from["fields"].texts(), made_from["tabs"].flag())
    return ColdStartPlan(
        queries=tuple(_held(each) for each in shared if each.recorded.role == QUERIES),
        pool=tuple(_held(each) for each in shared if each.recorded.role == POOL),
        options=asked,
        policies=(NamedPolicy(run.policy, asked.policy, asked.justifications, asked.policy.texts()),),
        call=SingleCall(layout, made_from["json"].flag(), (), ""),
        query_list=of_options.get(QUERY_LIST),
        samples=of_options.get(SAMPLES),
        resampling=resampling,
        validates=was_validated(options),
        records=run.records,
    )


def _held(found: FoundInput) -> InputFile:
    """An input with its content, under the name that it had."""
    return InputFile(found.recorded.name, content=found.content())


def _located(found: FoundInput) -> InputFile:
    """An input that has to be a file, under the name that it had."""
    return InputFile(found.recorded.name, path=None if found.path == found.recorded.name else found.path)


def run_again(told: Told, runs: BatchRuns) -> Json:
    """What the record of one run would say now. Raises InputError, NotFoundError."""
    run = BatchedRun(
        told["run"].text(), told["policy"].text(), told["signature"], records=told["occurrences"].value is not None
    )
    outcome = runs.outcome(run, with_files=True)
    sizes = {written.name: written.size for written in _files_of(told)}
    files = [
        # It holds the words and the time of the call.
        each._replace(size=sizes.get(each.name, each.size)) if each.name.endswith(_TIMED) else each
        for each in outcome.files
    ]
    files += [written for written in _files_of(told) if is_page(written.name)]  # they only show what is verified
    record = state.record_of(replace(outcome, files=tuple(files)))
    return {**record, "digest": state.digest_of({key: told.value[key] for key in told.value if key != "digest"})}


def changed_files(told: Told) -> Iterator[Difference]:
    """The files of a run that are not as its record says."""
    folder = os.path.dirname(told.file)
    for written in _files_of(told):
        try:
            state.check_file(os.path.join(folder, written.name), written)
        except state.UnfitError:
            recorded = f"{written.size} bytes" + (f", SHA-256 {written.sha256}" if written.sha256 else "")
            yield Difference(f"the file {written.name}", recorded, "another file")


def _files_of(told: Told) -> Iterator[WrittenFile]:
    for entry in told["files"].entries():
        fields = entry.entries()
        if len(fields) != len(WrittenFile._fields):
            raise entry.wrong("does not have a name, a size and a SHA-256")
        name, size, sha256 = fields
        if os.path.basename(name.text()) != name.text():
            raise name.wrong("is no name of a file")
        yield WrittenFile(name.text(), size.whole_number(0, _LARGEST), sha256.text())
