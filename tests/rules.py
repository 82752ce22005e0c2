"""The rules of scoring and of the programs before it by name, and the page that lists them with the tests of each.

A test says which rules it holds with `@pytest.mark.rule("limits")`. `python -m tests.rules` writes the page
`docs/development/rules.md` anew.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "development" / "rules.md"
BACKGROUND: Final = ROOT / "docs" / "background"

SCORING: Final = {
    "lines": "Which lines of a file are read, and what is left out of them.",
    "queries": "A line answers the query that it names; it must fill the slot that the query asks for.",
    "follow-on-queries": "Each answer leads to a query about it, whose id is a hash of query, answer and provenance.",
    "limits": "A node may have A lines of one document and B lines in all; lines beyond that are reported.",
    "single-values": "Of several nodes that answer a slot with one value, the most confident one is kept.",
    "matching": "How the assessment of a response is found, by each discipline.",
    "ground-truth": "Which classes are to be found below a query.",
    "paths": "A response of the second hop needs a right parent.",
    "policies": "Which categories count as right, as wrong, and not at all.",
    "counts": "The counts of each row, and precision, recall and F1 of them.",
    "nominal-mentions": "A node counts only if one of its best lines is a name, or its class has no name.",
    "averages": "Micro and macro averages of each hop and of all.",
    "ldc-max": "The best entry point stands for its LDC query.",
    "ldc-mean": "The mean over the entry points of an LDC query.",
    "nodes": "Which nodes are ranked, and at which level.",
    "node-confidence": "The confidence of a node is a weighted mean over its lines.",
    "node-classes": "Each node takes one class that is still free.",
    "node-values": "The value V of a node: its useful lines divided by those that could be expected.",
    "average-precision": "Average precision of a ranking, and how many classes are to be found at each level.",
}
"""The rules that explanations name, in the order of their sections on the page about scoring."""

_HEAD: Final = """# Rules and their tests

Every rule of the Cold Start scorer and of the programs before it has one name: in the code (`(rule limits)`), in
explanations and their JSON, in the documentation and in the tests. A test that holds a rule is marked with it:
`@pytest.mark.rule("limits")`. Rules without such a test are held by recorded cases. `.venv/bin/python -m tests.rules`
writes this page.
"""
_TITLES: Final = {
    "The scorer": "Oddities of the scorer",
    "The programs before the scorer": "Oddities of the programs before the scorer",
    "The programs for knowledge bases": "Oddities of the programs for knowledge bases",
}
_ROW: Final = re.compile(r"^\| `([a-z0-9-]+)` \| (.*) \|$", re.MULTILINE)


class Group(NamedTuple):
    """Rules of one kind: a heading, the page that has them in full, and what each says, by name."""

    title: str
    page: str
    statements: Mapping[str, str]


def groups() -> list[Group]:
    """Return all rules, as the pages about scoring, ties and quirks have them."""
    ties = (BACKGROUND / "ties.md").read_text(encoding="utf-8").partition("## ")[0]
    found = [Group("Scoring", "scoring.md", SCORING), Group("Ties", "ties.md", _rows(ties))]
    quirks = (BACKGROUND / "quirks.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", quirks, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        found.append(Group(_TITLES[title], "quirks.md", _rows(text)))
    return found


def _rows(text: str) -> dict[str, str]:
    """Return what the tables of a page say of each rule: the cells behind its name, the first before a colon."""
    statements = {}
    for name, cells in _ROW.findall(text):
        first, *others = cells.split(" | ")
        statements[name] = ": ".join([first, *others[-1:]])
    return statements


def rule_names() -> set[str]:
    """Return the names of all rules."""
    return {name for group in groups() for name in group.statements}


def marked_tests() -> Iterator[tuple[str, str]]:
    """Yield the rules that tests are marked with, each with the file of the test below `tests`."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.rule":
                    for argument in decorator.args:
                        yield ast.literal_eval(argument), path.relative_to(ROOT / "tests").as_posix()


def page_text() -> str:
    """Return the page: a table for each group of rules, with the files of the tests and how many they have."""
    files_by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    for name, file in marked_tests():
        files_by_rule[name][file] += 1
    parts = [_HEAD]
    for group in groups():
        parts.append(f"\n## {group.title}\n\nIn full: [{group.page}](../background/{group.page}).\n\n")
        parts.append("| rule | what it says | tests |\n|---|---|---|\n")
        for name, statement in group.statements.items():
            files = [f"`{file}`" + (f" ({count})" if count > 1 else "") for file, count in files_by_rule[name].items()]
            parts.append(f"| `{name}` | {statement} | {', '.join(files) or 'recorded cases'} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page_text(), encoding="utf-8")
