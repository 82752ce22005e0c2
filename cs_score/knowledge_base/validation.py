"""A knowledge base checked as a whole and repaired, in the order of the reference; and resolved to a run in memory."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import encoded
from cs_score.base.signature import RUN
from cs_score.base.sources import InMemory, Input, Source, name_of, open_source
from cs_score.coldstart.queries import Query
from cs_score.coldstart.tab_files import Provenance, offset_value, read_confidence
from cs_score.knowledge_base.assertions import (
    CANONICAL,
    LINK,
    MENTIONS,
    NAMED,
    NIL,
    NOMINAL,
    NORMALIZED,
    PRONOMINAL,
    TYPE,
    Assertion,
    KnowledgeBase,
    Node,
)
from cs_score.knowledge_base.building import Builder, KbOptions
from cs_score.knowledge_base.kb_file import Findings, KbFile
from cs_score.knowledge_base.predicates import TAC, TYPEDEF, Use, inverse_of
from cs_score.knowledge_base.resolution import Resolution, ValidatedKb
from cs_score.knowledge_base.writers import tac_text
from cs_score.preparation.documents import DocumentList, holds, source_text
from cs_score.preparation.inputs import Conversion
from cs_score.preparation.runs import PreparedRun
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, ProblemLog


def check_types(base: KnowledgeBase, findings: Findings) -> None:
    """Report nodes without type, with several types, and with types that no line declares."""

    def excludes(use: Use, node: Node) -> bool:
        """Whether a use leaves a choice of types that the node's is not among."""
        return use.only is None and node.type not in use.types and bool(use.types)

    has_excluded = False
    for node in base.nodes.values():
        if not node.types:
            findings.report("UNKNOWN_TYPE", node.name, line=node.best_line())
        elif node.type is None:
            definitions = ", ".join(f"{name} at line {node.best_line(name)}" for name in sorted(node.types))
            findings.report_without_place("MULTITYPED_ENTITY", node.name, definitions, line=node.best_line())
        for node_type in node.types:
            if not any(use.role == TYPEDEF and use.only == node_type for use in node.uses):
                findings.report("MISSING_TYPEDEF", node.name, line=node.best_line(node_type))
        has_excluded = has_excluded or any(excludes(use, node) for use in node.uses)
    # Only then all that lines say is looked at once more, that of lines that were not recorded last.
    for node, use, line in base.uses() if has_excluded else ():
        if excludes(use, node):
            choice = " or ".join(sorted(use.types))
            shown = f"{choice} at line {line} and {node.known_type} at line {node.best_line()}"
            findings.report_without_place("MULTITYPED_ENTITY", node.name, shown, line=line)


# Sentiment -> whether its justification must be a mention of the object, not of the subject.
_SENTIMENTS: Final = {"likes": True, "dislikes": True, "is_liked_by": False, "is_disliked_by": False}

_NOT_ATTESTED: Final = frozenset((TYPE, NAMED, CANONICAL, LINK))
# Predicates that a plain justification may be wrong for.
_PARTICULAR: Final = frozenset((NORMALIZED, *_SENTIMENTS))


def check_strings(nodes: Iterable[Node], findings: Findings) -> None:
    """Report places at which mentions, but for pronouns, have different texts."""
    mentions = [mention for node in nodes for mention in node.mentions if mention.verb.name in MENTIONS]
    texts: dict[str | None, str] = {}
    disputed: set[str | None] = set()
    for mention in mentions:
        place, text = mention.provenance.place, mention.object
        if texts.setdefault(place, text) != text:
            disputed.add(place)
    at_place: dict[str, list[Assertion]] = defaultdict(list)
    for mention in mentions if disputed else ():
        if (place := mention.provenance.place) is not None and place in disputed:
            at_place[place].append(mention)
    for of_place in at_place.values():
        of_place.sort(key=attrgetter("line"))
        shown = ", ".join(f"{mention.object} at line {mention.line}" for mention in of_place)
        line, text = of_place[0].line, of_place[0].provenance.text
        findings.report_without_place("MULTIPLE_STRINGS_FOR_PROV", text, shown, line=line, column="PROVENANCE")


def check_provenances(assertions: Iterable[Assertion], findings: Findings) -> None:
    """Report provenances that lack a part, or have one that they must not have."""
    # Where nodes are mentioned, and whether by a pronoun; looked up node by node, as few are asked for.
    places: dict[Node, set[tuple[str | None, bool]]] = {}

    def report(code: str, shown: str) -> None:
        detail = Detail("PROVENANCE", assertion.provenance.text)
        findings.report(code, shown, line=assertion.line, detail=detail)

    def look_up(what: str, part: Provenance, node: Node) -> None:
        """Report where a node is not mentioned at a place: by name, description or, to justify, by a pronoun."""
        if node not in places:
            places[node] = {
                (mention.provenance.place, mention.verb.name == PRONOMINAL)
                for mention in node.mentions
                if mention.verb.name in MENTIONS or mention.verb.name == PRONOMINAL
            }
        by_pronoun = what == "PREDICATE_JUSTIFICATION" and (part.canonical, True) in places[node]
        if not by_pronoun and (part.canonical, False) not in places[node]:
            shown = ",".join(map(str, part.spans))  # in the order written, each with the document of the part
            detail = Detail("PROVENANCE", shown)
            findings.report("MISSING_MENTION_E", what, shown, node.name, line=assertion.line, detail=detail)

    for assertion in assertions:
        name, subject, node = assertion.verb.name, assertion.subject, assertion.node
        if assertion.provenance.kept is None and name not in _PARTICULAR:
            continue
        findings.look(assertion)
        filler, justification, base_filler, _ = parts = assertion.provenance.parts
        if assertion.verb.is_mention:
            if justification is None or parts.count(None) < len(parts) - 1:
                report("UNEXPECTED_PROVENANCE", assertion.provenance.text)
            if justification is not None and name == NORMALIZED:
                look_up("Provenance", justification, subject)
        elif node is not None:
            if node.type == "string" and filler is None:
                report("MISSING_FILLER_STRING_PROV", assertion.provenance.text)
            if filler is not None:
                look_up("FILLER_STRING", filler, node)
            if name in _SENTIMENTS and justification is not None:
                look_up("PREDICATE_JUSTIFICATION", justification, node if _SENTIMENTS[name] else subject)
            if base_filler is None and (subject.is_event or node.is_event):
                report("UNEXPECTED_BASE_FILLER", NIL)


def check_endpoints(assertions: Iterable[Assertion], findings: Findings) -> None:
    """Report relations whose subject or object is not mentioned in their document."""
    for assertion in assertions:
        if assertion.verb.name in _NOT_ATTESTED:
            continue
        if assertion.provenance.problems:
            findings.look(assertion)
        text = assertion.provenance.text
        for node in (assertion.subject, assertion.node):
            if node is not None and assertion.provenance.docid not in node.documents:
                arguments, detail = (str(assertion), node.name, text), Detail("PROVENANCE", text)
                findings.report("UNATTESTED_RELATION_ENTITY", *arguments, line=assertion.line, detail=detail)


def check_confidences(assertions: Sequence[Assertion], findings: Findings) -> None:
    """Report confidences that are no good; those that can be repaired are."""
    # Many assertions have few confidences.
    read = {written: read_confidence(written) for written in {assertion.confidence for assertion in assertions}}
    bad = {written for written, (_, _, codes) in read.items() if codes}
    for assertion in assertions if bad else ():
        if (written := assertion.confidence) in bad:
            assertion.confidence, _, codes = read[written]
            for code in codes:
                repaired = assertion.confidence if code == "MISSING_DECIMAL_POINT" else None
                findings.report(code, written, line=assertion.line, detail=Detail("CONFIDENCE", written, repaired))


_KINDS: Final = {NAMED: 0, NOMINAL: 1, PRONOMINAL: 2, CANONICAL: 3}


def check_mention_strings(
    nodes: Iterable[Node], documents: DocumentList | None, findings: Findings
) -> Iterator[InputError]:
    """Check that nodes are mentioned, and that mentions stand in their documents; yield those that cannot be read."""
    files = documents.files if documents is not None else {}
    in_document: dict[str, list[Assertion]] = defaultdict(list)  # each is opened once
    for node in nodes:
        mentions = [mention for mention in node.mentions if mention.verb.name in _KINDS]
        if not mentions and (node.others or node.mentions):
            findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line())
        if not files and node.name not in findings.troubled:
            continue
        first_of: dict[str, Assertion] = {}
        for mention in sorted(mentions, key=lambda mention: _KINDS[mention.verb.name]):
            docid = mention.provenance.docid
            first_of.setdefault(docid, mention)
            if docid in files:
                in_document[docid].append(mention)
        for mention in first_of.values():
            findings.look(mention)
    for docid, mentions in in_document.items():
        try:
            text = source_text(files[docid], findings.place(mentions[0].line))
        except InputError as error:
            yield error
            continue
        for mention in mentions:
            findings.look(mention)
            if (span := mention.span) is None:
                continue
            if not holds(text, offset_value(span.start), offset_value(span.end), mention.text):
                arguments, detail = (mention.text, mention.provenance.place), Detail("OBJECT", mention.text)
                findings.report("INACCURACTE_MENTION_STRING", *arguments, line=mention.line, detail=detail)


def infer_inverses(builder: Builder) -> None:
    """Add the inverse of every relation that has none with the same provenance."""
    repetitions, findings = builder.repetitions, builder.findings
    known: dict[Node, set[tuple[str, str, str]]] = {}
    for assertion in list(builder.base.assertions):
        node, subject, text = assertion.node, assertion.subject, assertion.provenance.text
        if node is None or not assertion.verb.has_inverse or ":String" in node.name:
            continue
        inverse = inverse_of(assertion.verb.predicate)
        if repetitions.has_stated(node, inverse, subject.name, assertion.provenance):
            continue
        if node not in known:
            known[node] = {(other.verb.name, other.object, other.provenance.text) for other in node.others}
        if (inverse, subject.name, text) in known[node]:
            continue
        detail = Detail("PREDICATE", assertion.verb.name, inverse)
        arguments = (assertion.verb.name, subject.name, assertion.object)
        findings.report("MISSING_INVERSE", *arguments, line=assertion.line, detail=detail)
        findings.look(assertion)
        if (inferred := _infer(builder, assertion, node.name, inverse, subject.name)) is None:
            continue
        known[node].add((inverse, subject.name, text))
        if assertion.is_omitted or inferred.is_omitted:
            repetitions.omit(assertion)
            repetitions.omit(inferred)


def _infer(builder: Builder, source: Assertion, subject: str, name: str, object_: str) -> Assertion | None:
    """Add what follows from an assertion, with its realis, provenance and confidence."""
    predicate = name if source.realis is None else f"{name}.{source.realis}"
    text, confidence = source.provenance.text, source.confidence
    line = (source.line, subject, predicate, object_, source.node is None, text, confidence, "")
    return builder.add(line, is_inferred=True)


def infer_mentions(builder: Builder, nodes: Iterable[Node], *, with_canonical: bool) -> None:
    """Add canonical mentions, if they are needed, where there is one mention to choose from; and mentions where there
    is only a canonical one.
    """
    findings = builder.findings
    for node in nodes:
        if not (node.others or node.mentions) or _says_all(node):  # as most do
            continue
        # By document, kind and provenance text; of several at one place the last counts.
        documents: dict[str, dict[str, dict[str, Assertion]]] = {}
        for mention in node.mentions:
            if mention.verb.name in (NAMED, NOMINAL, CANONICAL):
                known = documents.setdefault(mention.provenance.docid, {NAMED: {}, NOMINAL: {}, CANONICAL: {}})
                known[mention.verb.name][mention.provenance.text] = mention
        if not documents:
            findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line())
        for docid, known in documents.items():
            mentions, canonical = [*known[NAMED].values(), *known[NOMINAL].values()], known[CANONICAL]
            if not canonical and with_canonical:
                code = "MULTIPLE_MENTIONS_NO_CANONICAL" if len(mentions) > 1 else "MISSING_CANONICAL"
                findings.report_without_place(code, node.name, docid, line=mentions[0].line)
                if len(mentions) == 1:
                    _infer(builder, mentions[0], node.name, CANONICAL, mentions[0].object)
            elif len(canonical) > 1:
                line = max(each.line for each in canonical.values())
                findings.report_without_place("MULTIPLE_CANONICAL", node.name, docid, line=line)
            for text, each in canonical.items():
                if text not in known[NAMED] and text not in known[NOMINAL]:
                    findings.report("UNASSERTED_MENTION", str(each), docid, line=each.line)
                    _infer(builder, each, node.name, NAMED, each.object)


def _says_all(node: Node) -> bool:
    """Whether a node has mentions, one canonical in each of their documents, and that among them."""
    texts: set[str] = set()
    canonical: dict[str, str] = {}
    for mention in node.mentions:
        name, provenance = mention.verb.name, mention.provenance
        if name == CANONICAL:
            if canonical.setdefault(provenance.docid, provenance.text) != provenance.text:
                return False
        elif name in MENTIONS:
            texts.add(provenance.text)
    return bool(texts) and node.documents == canonical.keys() and texts.issuperset(canonical.values())


IGNORED_BY_DEFAULT: Final = "MULTIPLE_FILLS_ENTITY"
"""Where it is ignored, slots that take one value may have several."""

# Codes that the reference knows and that nothing reports.
_WARNINGS: Final = (
    "BAD_QUERY DUPLICATE_QUERY_ID MISSING_MENTION MULTIPLE_FILLS_SLOT MULTIPLE_LINKS TOO_MANY_PROVENANCE_TRIPLES "
    "UNLOADED_QUERY"
)
_ERRORS: Final = "ILLEGAL_OFFSET_PAIR_STRING MISSING_CANONICAL_E MISSING_REALIS"
_SILENT: Final = dict.fromkeys(_WARNINGS.split(), Severity.WARNING) | dict.fromkeys(_ERRORS.split(), Severity.ERROR)


def ignored_codes(text: str) -> frozenset[str]:
    """The codes of a list that is separated by colons. Raises UsageError for one that is unknown or no warning."""
    codes = [code for code in text.upper().split(":") if code]
    known = {code: kind.severity for code, kind in CODES.items() if kind.template is not None} | _SILENT
    for code in codes:
        if code not in known:
            raise UsageError(f"Unknown warning: {code}")
        if known[code] is not Severity.WARNING:
            raise UsageError(f"{code} is a fatal error; cannot ignore it")
    return frozenset(codes)


def validate_kb(source: Source, options: KbOptions, problems: ProblemLog) -> KnowledgeBase:
    """Read and check a knowledge base; nothing of it may be used where `problems` then holds errors.

    Raises InputError for fatal conditions, once as much as possible has been read and checked.
    """
    findings = Findings(source.name, problems)
    file = KbFile(source, findings, options.task)
    base = KnowledgeBase(source.name, file.run_id, file.first_line)
    builder = Builder(base, findings, options, one_value=IGNORED_BY_DEFAULT not in problems.ignored)
    for line in file.lines():
        builder.add(line)
    # In the order of the reference.
    nodes = list(base.nodes.values())
    check_types(base, findings)
    check_strings(nodes, findings)
    check_provenances(base.assertions, findings)
    problems.fatal += check_mention_strings(nodes, options.documents, findings)
    infer_inverses(builder)
    infer_mentions(builder, base.nodes.values(), with_canonical=options.task == "CSKB")
    check_endpoints(base.assertions, findings)
    check_confidences(base.assertions, findings)
    builder.repetitions.finish()
    problems.end_if_fatal()
    return base


def resolve_to_run(file: Input, queries: Sequence[Query], problems: ProblemLog) -> Conversion:
    """Validate a knowledge base and resolve the queries with it, in memory.

    Returns the run that the answers make; none where the knowledge base has errors, which are in the log then.
    """
    name = name_of(file)
    problems.ignored = ignored_codes(IGNORED_BY_DEFAULT)
    with open_source(file) as source:
        base = validate_kb(source, KbOptions(), problems)
        digest = source.digest(RUN)
    run_file = None
    account = "has errors"
    if not problems.has_errors:
        valid_text = b"".join(encoded(tac_text(base, (TAC,))))
        with Source(name, io.BytesIO(valid_text), decompress=False) as source:
            resolution = Resolution(ValidatedKb(source, queries), queries)
        run_file = InMemory(f"{name} (resolved)", b"".join(encoded(resolution.lines)))
        counts = f"{resolution.entered} of {len(queries)} queries found their entity, {len(resolution.lines)} answers"
        account = f"validated and resolved; {counts}"
    prepared_run = PreparedRun(
        name=name,
        scored_as=f"{name} (resolved)",
        problems=problems,
        what=account,
        digests=(digest,),
        code="KB_WITH_ERRORS",
        remedy="a knowledge base with errors is not resolved; correct them first",
    )
    return Conversion(prepared_run, run_file)
