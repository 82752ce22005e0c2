"""A program as a user writes it: only what docs/python documents. Run in the folder of the samples, with an output
folder; mypy checks it strictly."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import cs_score as cs


def main(out: Path) -> None:
    gold: cs.Gold = cs.prepare(
        queries=[Path("queries/ldc-queries.xml")],
        pool="assessments/pool-2016.tab",
        expand="ISLE26",
        query_ids="queries/queryids.txt",
    )
    run: cs.RunResult = gold.score("submissions/tide-kb.tab.txt", policy="kb")
    print(run)
    scores: Mapping[str, float] = run.scores
    print(f"{scores['LDC-MEAN-ALL-Macro-F1']:.4f} with {run.errors} errors and {run.warnings} warnings")

    strict = run.rescore("sf")
    lenient = run.rescore(cs.Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "INCORRECT_PARENT")))
    for result in (run, strict, lenient):
        print(result.run_id, result.justifications, result.policy.wrong, result.scores["SF-ALL-Micro-F1"])

    worst = min(run.rows("queries"), key=lambda query: float(query["f1"]))
    print(worst["query"], worst["unit"], worst["right"], worst["average_precision"], run.units)
    wrong = [line for line in run.rows("responses") if "WRONG" in line["post_policy"]]
    print(len(wrong), wrong[0]["file"], wrong[0]["line"], wrong[0]["value"])
    print({name: len(run.rows(name)) for name in run.tables})

    paths: list[str] = run.write(out / "tide", error_file=out / "tide.errlog")
    print(len(paths), len(run.to_json()) > 1000, run.remarks)
    stored = cs.load(run.to_json())
    assert isinstance(stored, cs.RunResult)
    print(
        stored.scores == run.scores, stored.signature == run.signature, cs.Signature.parse(str(run.signature)).version
    )
    gull = gold.score("submissions/gull-sf.tab.txt", policy="sf")
    compared: cs.Comparison = cs.compare({"tide": strict, "gull": gull}, measure="LDC-MEAN-*", bootstrap=50)
    best, pair = compared.rows("systems")[0], compared.rows("pairs")[0]
    print(best["name"], best["rank"], pair["a"], pair["b"], compared.units, len(compared.to_text("tsv")))
    interval = run.intervals(20, seed=1)[0]
    print(interval["measure"], interval["score"])

    analysis: cs.Analysis = cs.analyze(run, "SF-ALL-Micro-F1", top=5, also_policy={"lenient": lenient.policy})
    print(analysis, analysis.tables, analysis.rows()[0]["gain"], analysis.rows("policies")[-1]["policy"], analysis.best)
    difference: cs.Difference = cs.diff(run, strict, names=("kb", "sf"), bootstrap=9)
    print(difference, difference.rows("units")[0]["contribution"], str(difference).count("\n"))
    again = cs.load(difference.to_json())
    assert isinstance(again, cs.Difference)
    print(again.difference == difference.difference, again.notes)

    board: cs.Leaderboard = cs.batch(
        ["submissions/tide-kb.tab.txt", Path("submissions/gull-sf.tab.txt")], out / "batch", jobs=1,
        queries="queries/ldc-queries.xml", pool="assessments/pool-2016.tab", expand="ISLE26", also_policy="sf",
    )  # fmt: skip
    first = board.rows()[0]
    print(board.measure, first["rank"], first["policy"], first["run"], first[board.measure], board.failed)

    checked: cs.ValidatedRun = cs.validate_run("submissions/gull-sf.tab.txt", "queries/sf-queries.xml")
    print(checked.errors, checked.warnings, len(checked.rows()), checked.text.count("\n"))

    claims = [{"id": 1, "evidence": {"11": [{"sentences": [2, 3], "label": "SUPPORT"}]}}]
    predicted = [{"id": 1, "evidence": {"11": {"sentences": [3, 2], "label": "SUPPORT"}}}]
    facts: cs.EvidenceResult = cs.scifact(gold=claims, predictions=predicted)
    explained: cs.Explanation = facts.explain(1)
    print(facts.scores["sentence_label_f1"], len(facts.rows()), str(explained).splitlines()[0])
    print(facts.write(out / "facts"), facts.units)

    try:
        gold.score("submissions/missing.tab.txt")
    except cs.InputError as error:
        print(error)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
