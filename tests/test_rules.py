"""Rules have one name each: the page of rules, the tests, the code and explanations use the same."""

from __future__ import annotations

import re
from typing import Final

from tests.rules import BACKGROUND, PAGE, ROOT, SCORING, groups, marked_tests, page_text, rule_names

CODE: Final = [path for path in sorted((ROOT / "cs_score").rglob("*.py")) if "evidence" not in path.parts]
_NAMED: Final = re.compile(r"\(rules? ([a-z0-9-]+)(?:(?:,|\s+and)\s+([a-z0-9-]+))?\)")
_NUMBERED: Final = re.compile(r"\b(quirk|rule) \d", re.IGNORECASE)


def test_the_page_of_rules_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_text(), "python -m tests.rules writes it"


def test_no_name_stands_for_two_rules() -> None:
    names = [name for group in groups() for name in group.statements]
    assert sorted(set(names)) == sorted(names)


def test_the_rules_of_scoring_are_the_sections_of_their_page() -> None:
    text = (BACKGROUND / "scoring.md").read_text(encoding="utf-8")
    sections = [title.lower().replace(" ", "-") for title in re.findall(r"^## (.*)$", text, re.MULTILINE)]
    assert [name for name in sections if name in SCORING] == list(SCORING)


def test_every_mark_names_a_rule_and_every_rule_of_scoring_has_a_test() -> None:
    marked = {name for name, _ in marked_tests()}
    assert marked - rule_names() == set()
    assert set(SCORING) - marked == set()


def test_code_names_rules_that_exist_and_no_numbers() -> None:
    known = rule_names()
    for path in CODE:
        text = re.sub(r"[\s#]+", " ", path.read_text(encoding="utf-8"))
        named = {name for match in _NAMED.finditer(text) for name in match.groups() if name}
        assert named - known == set(), path
        assert _NUMBERED.search(text) is None, path
