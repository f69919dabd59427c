"""What a run finds and says: graded evidence, cited sentences, and the verdicts on them."""

from dataclasses import dataclass, field
from typing import Literal

from ingest.documents import Candidate

Verdict = Literal["correct", "ambiguous", "incorrect"]
ClaimVerdict = Literal["supported", "unsupported", "contradicted"]


@dataclass(frozen=True)
class Stated:
    """A sentence, `chunk.text[start:end]`, that states the answer with this probability."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class Grade:
    """`probability` that the passage contains what answers the question, in [0, 1]; None where
    there is no verdict. `signs` are the features it was made of, for the trace.

    `sentences` are those of the passage that could state it, in order, each with its own
    probability, and `stated` those of them that may be told in an answer; None where the grader
    does not judge sentences.
    """

    verdict: Verdict
    probability: float | None
    signs: dict[str, float] = field(default_factory=dict)
    stated: list[Stated] | None = None
    sentences: list[Stated] | None = None


@dataclass(frozen=True)
class Evidence:
    """A candidate that survived grading, in the loop it was graded in.

    `strips` are those of it that a generator reads, in order; None: all of it. `parts` are its
    grades for each part of the question that it may answer; `grade` is then the best of them.
    """

    candidate: Candidate
    grade: Grade
    loop: int
    strips: list[Stated] | None = None
    parts: dict[str, Grade] = field(default_factory=dict)


@dataclass(frozen=True)
class Citation:
    """Where a sentence comes from: `text[start:end] == quote` in the stored document.

    Offsets are Unicode code points; `source` is the document's path in the folder of its
    `knowledge_base`. For the web,
    `document_id` is the address and the stored text is the passage as it was received.
    `attributed`: who wrote the sentence named no source; this one holds most of its words.
    """

    n: int
    kind: Literal["document", "web", "live"]
    chunk_id: str
    document_id: str
    revision: str
    title: str
    page: int | None
    heading: str
    start: int
    end: int
    quote: str
    quote_sha256: str
    url: str | None = None
    source: str = ""
    attributed: bool = False
    knowledge_base: str = ""


@dataclass(frozen=True)
class Sentence:
    """One sentence of an answer with its citations; `note` says what a reader must know of it,
    `parts` which parts of a question with several it answers."""

    text: str
    citations: list[Citation]
    note: str = ""
    parts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SourceSpan:
    """`text[start:end]` of a stored document, in Unicode code points."""

    document_id: str
    revision: str
    start: int
    end: int


@dataclass(frozen=True)
class Support:
    """The grounding verdict on one sentence; `probability` in [0, 1] that it is supported.

    `span` is the part of the source that speaks for the sentence or against it, where one was
    found; `problem` says why it is not supported.
    """

    sentence: str
    verdict: ClaimVerdict
    probability: float
    problem: str = ""
    span: SourceSpan | None = None

    @property
    def supported(self) -> bool:
        return self.verdict == "supported"


@dataclass(frozen=True)
class Rejected:
    """A sentence that did not stand: why, and the words of the source that were read against it,
    empty where there are none."""

    sentence: str
    problem: str
    against: str = ""
