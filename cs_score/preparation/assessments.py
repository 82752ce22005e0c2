"""Validating assessments: each goes to the file of its language, with the mention type of its class there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.coldstart.lines import JUDGMENT_OF_CODE, Assessment
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.queries import DEFAULT_CODE, language_code
from cs_score.coldstart.tab_files import Schema, split_columns

CROSS_LINGUAL: Final = "XLING"
LANGUAGES: Final = ("ENG", "SPA", "CMN", CROSS_LINGUAL)
"""The languages of assessments, in the order in which their files are made."""

NAMED: Final = "NAM"
NOMINAL: Final = "NOM"
_UNEXPECTED: Final = "UNEXPECTED_MENTION_TYPE"

_DOCUMENT_LANGUAGE: Final = re.compile("(ENG|SPA|CMN)_")
_CODE_OF_JUDGMENT: Final[dict[str, str]] = {judgment: code for code, judgment in JUDGMENT_OF_CODE.items()}

_MentionTypes: TypeAlias = Mapping[tuple[str, str], str]
"""The mention type of an equivalence class in a language."""


def sort_by_language(loading: Loading) -> Iterator[tuple[str, str]]:
    """Every assessment in its order as it is written: in the file of its language where it has one, and in the
    cross-lingual file.

    Raises InputError where the mention types of a class contradict each other.
    """
    assessments = loading.links.assessments
    languages = list(_languages(loading))
    types = _mention_types(assessments, languages)
    followed = {(each.target, language) for each, language in zip(assessments, languages) if each.query.level == 0}
    for assessment, language in zip(assessments, languages):
        query, schema = assessment.query, loading.layouts[assessment.file]
        is_of_language = query.level == 0 or (query.short_id, language) in followed
        if is_of_language and language != CROSS_LINGUAL:
            yield language, _corrected(assessment, language, types, schema)
        yield CROSS_LINGUAL, _corrected(assessment, CROSS_LINGUAL, types, schema)


def _languages(loading: Loading) -> Iterator[str]:
    """The language of each assessment: that of its documents where it is also that of its query."""
    created_in = _creating_documents(loading)
    for assessment in loading.links.assessments:
        columns = dict(zip(loading.layouts[assessment.file].columns, split_columns(assessment.text)))
        provenance = f"{columns['RELATION_PROVENANCE_TRIPLES']},{columns['VALUE_PROVENANCE_TRIPLES']}"
        named = set(_DOCUMENT_LANGUAGE.findall(provenance))
        short_id = assessment.query.short_id
        loaded = loading.table.by_id.get(short_id)
        if loaded is None:
            docid = created_in.get(short_id, "")
        else:
            docid = (loaded.entry_points[0].docid or "") if loaded.entry_points else ""
        of_query = language_code(docid) or DEFAULT_CODE
        yield of_query if named == {of_query} else CROSS_LINGUAL


def _creating_documents(loading: Loading) -> dict[str, str]:
    """Follow-on query id -> document of the value provenance of the first line that leads to it, skipped or not."""
    created_in: dict[str, str] = {}
    skipped = iter(loading.links.skipped)
    waiting = next(skipped, None)
    for index, assessment in enumerate(loading.links.assessments):
        while waiting is not None and waiting.before <= index:
            created_in.setdefault(waiting.target, waiting.docid)
            waiting = next(skipped, None)
        created_in.setdefault(assessment.target, assessment.docid)
    return created_in


def _mention_types(assessments: Iterable[Assessment], languages: Iterable[str]) -> _MentionTypes:
    """The mention type of each class in each language; the last assessment decides the cross-lingual one."""
    types: dict[tuple[str, str], str] = {}
    for assessment, language in zip(assessments, languages):
        of_value, of_class = assessment.value_mention or "", assessment.class_mention or ""
        key, place = (assessment.value_class, language), f"line {assessment.number}"
        if of_value == of_class and of_class in (NAMED, NOMINAL):
            if types.setdefault(key, of_class) != of_class:
                problem = "Unexpected mention type."
                remedy = f"class {assessment.value_class} has been {types[key]} in {language} before"
                raise InputError(problem, file=assessment.file, place=place, remedy=remedy, code=_UNEXPECTED)
        elif of_value == NOMINAL and of_class not in (NAMED, NOMINAL):
            if (code := _DOCUMENT_LANGUAGE.search(of_class)) is None:
                problem = f"Unexpected value: ==>{of_class}<== in line: {assessment.text}"
                remedy = "the mention type of the class of a nominal answer is NAM, NOM or a document"
                raise InputError(problem, file=assessment.file, place=place, remedy=remedy, code=_UNEXPECTED)
            if code.group(1) == language:
                types[key] = of_class
        types[assessment.value_class, CROSS_LINGUAL] = of_class
    return types


def _corrected(assessment: Assessment, language: str, types: _MentionTypes, schema: Schema) -> str:
    """The line with the mention type that its class has in a language."""
    if assessment.value_class == "0":
        return assessment.text
    columns = split_columns(assessment.text)
    at_type = schema.position("EC_MENTION_TYPE")
    if at_type is not None:
        columns[at_type] = types.get((assessment.value_class, language), NOMINAL)
    # Every column that reads like the name of a judgment becomes its code, a value of that text as well.
    return "\t".join(_CODE_OF_JUDGMENT.get(column, column) for column in columns).rstrip("\t")
