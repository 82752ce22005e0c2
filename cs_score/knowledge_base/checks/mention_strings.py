"""Whether nodes are mentioned at all, and mentions stand in their documents (specification 6.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from cs_score.base.errors import InputError
from cs_score.coldstart.provenance import offset_value
from cs_score.knowledge_base.contents.assertions import CANONICAL, NAMED, NOMINAL, PRONOMINAL, Assertion, Node
from cs_score.knowledge_base.reading.findings import Findings
from cs_score.preparation.documents import DocumentList, holds, source_text
from cs_score.problems.log import Detail

_KINDS: Final = {NAMED: 0, NOMINAL: 1, PRONOMINAL: 2, CANONICAL: 3}


class MentionStrings:
    """Compares mentions with the texts of their documents.

    Mentions are grouped by document, so that each is opened once. `fatal` holds a document that cannot be read.
    """

    def __init__(self, documents: DocumentList | None, findings: Findings) -> None:
        self._files = documents.files if documents is not None else {}
        self._findings = findings
        self._in_document: dict[str, list[Assertion]] = defaultdict(list)
        self.fatal: list[InputError] = []

    def check(self, nodes: Iterable[Node]) -> None:
        """Check the mentions of all nodes that are the subject of an assertion."""
        for node in nodes:
            if node.others or node.mentions:
                self._check_node(node)
        for docid, mentions in self._in_document.items():
            try:
                text = source_text(self._files[docid], self._findings.place(mentions[0].line))
            except InputError as error:
                self.fatal.append(error)
                continue
            for mention in mentions:
                self._compare(mention, text)

    def _check_node(self, node: Node) -> None:
        mentions = [mention for mention in node.mentions if mention.verb.name in _KINDS]
        if not mentions:
            self._findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line)
        if not self._files and node.name not in self._findings.troubled:
            return
        mentions.sort(key=lambda mention: _KINDS[mention.verb.name])
        first_of: dict[str, Assertion] = {}
        for mention in mentions:
            docid = mention.provenance.docid
            first_of.setdefault(docid, mention)
            if docid in self._files:
                self._in_document[docid].append(mention)
        for mention in first_of.values():
            self._findings.look(mention)

    def _compare(self, mention: Assertion, text: str) -> None:
        self._findings.look(mention)
        justification = mention.provenance.parts.justification
        span = justification.first if justification is not None else None
        if justification is None or span is None:
            return
        if not holds(text, offset_value(span.start), offset_value(span.end), mention.text):
            self._findings.report(
                "INACCURACTE_MENTION_STRING", mention.text, justification.canonical, line=mention.line,
                detail=Detail("OBJECT", mention.text),
            )  # fmt: skip
