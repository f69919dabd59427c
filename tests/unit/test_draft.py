"""What a drafted question asks for, what it must not tell, and what a near miss names."""

from typing import Any

import pytest

from eval.draft import from_runs
from eval.draft_facts import Fact, facts_of
from eval.draft_misses import Stored, swapped
from eval.draft_wording import MOST_FAILURES, Wording, template
from eval.labels import holds_words, plain
from ingest.documents import Chunk
from ingest.errors import DependencyError
from ingest.ports import DocumentRecord


def facts(
    text: str, title: str = "House Rules", heading: str = "", language: str = "en"
) -> list[Fact]:
    document = DocumentRecord(
        "d", "rules.md", title, "r", "sha", "text/markdown", 1, "2026-01-01",
        metadata={"language": language},
    )  # fmt: skip
    chunk = Chunk("c", "d", "r", 0, text, 0, len(text), title, heading)
    return facts_of(document, text, [chunk])


@pytest.mark.parametrize(
    ("sentence", "kind", "value"),
    [
        ("Refunds are paid within 5 business days after check-in.", "duration", "5 business days"),
        ("Passwords of all staff have at least 14 characters.", "count", "14 characters"),
        ("The annual restocking fee for goods is 10 % of the price.", "percent", "10 %"),
        ("Each pair of new colleagues has EUR 80 for coffee.", "money", "EUR 80"),
        ("The new travel policy took effect on 1 March 2026.", "date", "1 March 2026"),
        ("A broken radio module is reported as E-4102 on the panel.", "code", "E-4102"),
        ("Set sync_retry_max before the nightly import of orders.", "code", "sync_retry_max"),
        ("Code: E-4102 | Meaning: radio module broken", "cell", "radio module broken"),
    ],
)
def test_a_sentence_states_its_one_value(sentence: str, kind: str, value: str) -> None:
    (fact,) = facts(sentence)
    assert (fact.kind, fact.value) == (kind, value)
    question = template(fact)
    assert question is not None and question.startswith("House Rules: ")
    assert not holds_words(question, value) and plain(sentence) not in plain(question)


@pytest.mark.parametrize(
    "sentence",
    [
        "Goods come back within 30 days and are paid within 5 days.",  # which one is asked for?
        "The small gateway Q-Hub 100 stays where it is for ever.",  # its name, not a number
        "Nothing in this long sentence says anything at all.",
        "When are refunds paid after 5 business days of waiting?",
    ],
)
def test_what_states_no_one_value_is_left_out(sentence: str) -> None:
    assert facts(sentence) == []


def test_a_sentence_is_turned_round_its_number() -> None:
    (fact,) = facts("Refunds are paid within 5 business days after check-in.", heading="1. Money")
    asked = "House Rules, Money: within how many business days are refunds paid?"
    assert template(fact) == asked


def test_another_language_has_its_own_words() -> None:
    (fact,) = facts("Die Probezeit beträgt für alle neuen Kollegen 6 Monate.", language="de")
    assert "wie lange" in (template(fact) or "")


def test_a_near_miss_names_what_no_text_names() -> None:
    stored = Stored(["E-4102 is a radio fault", "E-4103 is a fan fault", "Our office in Columbus"])
    assert swapped("What does E-4102 mean?", stored) == (
        "What does E-4105 mean?",
        "E-4102",
        "E-4105",
    )
    place = swapped("How many weeks of leave are paid in Columbus?", stored)
    assert place is not None and not stored.names(place[2])
    assert swapped("What does E-9999 mean?", stored) is None
    assert swapped("How long is a break?", stored) is None


def test_bad_runs_are_asked_once_and_left_undecided() -> None:
    runs = [
        {"question": "Who pays?", "outcome": "refused", "degraded": False},
        {"question": "who  pays?", "outcome": "answered_partially", "degraded": False},
        {"question": "How long?", "outcome": "answered", "degraded": True},
        {"question": "Why?", "outcome": "answered_partially", "degraded": False},
    ]
    drafted = from_runs(runs, "kb", limit=2)
    told = [(one.question, one.answerable, one.note) for one in drafted]
    assert told == [
        ("Who pays?", False, "was refused: decide"),
        ("How long?", False, "was degraded: decide"),
    ]


class FakeModel:
    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.calls = 0

    async def text(self, messages: Any, *, max_tokens: int) -> str:
        self.calls += 1
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("How soon does the money come back?", True),
        ("Does the money come within 5 business days?", False),
        ("I cannot write that.", False),
    ],
)
async def test_a_chat_model_words_it_unless_it_tells_the_answer(reply: str, kept: bool) -> None:
    (fact,) = facts("Refunds are paid within 5 business days after check-in.")
    model: Any = FakeModel(reply)
    wording = Wording(model)
    assert await wording.worded(fact) == (reply if kept else template(fact))
    assert await wording.worded(fact) == (reply if kept else template(fact))
    assert (wording.by_chat, model.calls) == (int(kept), 1)


async def test_a_chat_model_that_is_down_is_left_alone() -> None:
    sentences = [f"Rule {word} of the house lasts for {n} days." for n, word in
                 enumerate(("alpha", "beta", "gamma", "delta", "omega"), start=2)]  # fmt: skip
    found = facts("\n\n".join(sentences))
    model: Any = FakeModel(*[DependencyError("down")] * 5)
    wording = Wording(model)
    assert [await wording.worded(fact) for fact in found] == [template(fact) for fact in found]
    assert (len(found), model.calls) == (5, MOST_FAILURES)
