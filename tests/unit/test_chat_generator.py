"""What a chat model writes becomes sentences with citations of what they were made from."""

from dataclasses import replace
from typing import Any

import pytest

from graph.adapters.chat_generator import ChatGenerator, sentences_of
from ingest.documents import Candidate
from ingest.errors import DependencyError
from nodes.findings import Evidence, Rejected, Sentence, Stated
from nodes.ports import Draft
from tests.chat_runs import chat_model
from tests.fake_chat import FakeChat
from tests.fakes import QuotingGenerator, a_candidate, a_chunk, a_grade

PASSAGES = [
    a_candidate("a", "Refunds take 5 days. They go to the card."),
    a_candidate("b", "Shipping is free above 50 euros."),
]


@pytest.fixture(autouse=True)
def script(chat: FakeChat) -> None:
    chat.script = lambda body: "Refunds take 5 days. [1]"


def told(reply: str) -> list[tuple[str, list[tuple[int, str]]]]:
    return [
        (s.text, [(c.n, c.quote) for c in s.citations])
        for s in sentences_of("How long?", reply, PASSAGES)
    ]


def test_each_sentence_cites_the_sentence_that_it_was_made_from() -> None:
    assert told("The card is refunded. [1]\n- Orders above 50 euros ship free. [2]") == [
        ("The card is refunded.", [(1, "They go to the card.")]),
        ("Orders above 50 euros ship free.", [(2, "Shipping is free above 50 euros.")]),
    ]


def test_several_citations_in_one_line_and_in_one_bracket() -> None:
    assert [(text, len(cited)) for text, cited in told("5 days [1][2]. It ships free [2, 1].")] == [
        ("5 days", 2),
        ("It ships free", 2),
    ]


@pytest.mark.parametrize("number", [0, 3, 999])
def test_a_number_that_names_no_passage_is_no_citation(number: int) -> None:
    assert told(f"The moon is made of cheese. [{number}]") == [("The moon is made of cheese.", [])]


def test_a_forgotten_number_is_that_of_the_nearest_passage_and_marked() -> None:
    assert told("Shipping is free.") == [
        ("Shipping is free.", [(1, "Shipping is free above 50 euros.")])
    ]
    forgotten, named = sentences_of(
        "How long?", "Shipping is free.\nShipping is free. [2]", PASSAGES
    )
    assert [c.attributed for c in (*forgotten.citations, *named.citations)] == [True, False]


@pytest.mark.parametrize("reply", ["NO ANSWER", "no answer.", "I have NO ANSWER to this. [1]"])
def test_no_answer_is_no_sentence(reply: str) -> None:
    assert told(reply) == []


def test_the_quote_stands_at_its_offsets() -> None:
    chunk = a_chunk("c", "One. Two is here. Three.")
    moved = Candidate(type(chunk)(**{**vars(chunk), "start": 100, "end": 124}), {}, [])
    (sentence,) = sentences_of("How long?", "Here is two. [1]", [moved])
    (citation,) = sentence.citations
    assert (citation.start, citation.end, citation.quote) == (105, 117, "Two is here.")


async def written(
    chat: FakeChat, passages: list[Candidate], *, context: int = 6000, **more: Any
) -> Draft:
    generator = ChatGenerator(
        chat_model(chat),
        context_tokens=context,
        answer_tokens=100,
        fallback=more.pop("fallback", None),
    )
    evidence = [Evidence(p, a_grade("correct"), 0) for p in passages]
    given = {"limit": 3, "rejected": [], "kept": []} | more
    return await generator.generate("How long?", evidence, **given)


async def test_what_does_not_fit_is_left_out_from_the_end_and_said(chat: FakeChat) -> None:
    long = [a_candidate(name, f"Passage {name} " + "word " * 200) for name in "abcd"]
    draft = await written(chat, long, context=1700)
    shown = chat.requests[0].body["messages"][-1]["content"]
    assert "Passage a" in shown and "Passage b" in shown
    assert "Passage c" not in shown and "Passage d" not in shown
    assert draft.degraded == "2 passages did not fit into the prompt"


async def test_the_best_passage_is_shown_however_long_it_is(chat: FakeChat) -> None:
    draft = await written(chat, [a_candidate("a", "word " * 5000), PASSAGES[1]], context=1100)
    assert len(chat.requests) == 1
    assert draft.degraded == "1 passages did not fit into the prompt"


async def test_a_prompt_stays_within_its_window(chat: FakeChat) -> None:
    many = [a_candidate(f"p{n}", f"Passage {n} " + "words of it " * 60) for n in range(20)]
    await written(chat, many, context=3000)
    characters = sum(len(m["content"]) for m in chat.requests[0].body["messages"])
    assert characters / 3.5 <= 3000 - 100


async def test_passages_stand_before_the_question_best_first(chat: FakeChat) -> None:
    await written(chat, PASSAGES)
    shown = chat.requests[0].body["messages"][-1]["content"]
    assert shown.index("Refunds") < shown.index("Shipping") < shown.index("<question")


async def test_rejected_sentences_do_not_come_again(chat: FakeChat) -> None:
    chat.script = lambda body: "Refunds take 5 days. [1]\nThe card is refunded. [1]"
    draft = await written(chat, PASSAGES, rejected=[Rejected("Refunds take 5 days.", "no")])
    assert [s.text for s in draft.sentences] == ["The card is refunded."]


async def test_a_repair_reads_why_what_stands_there_and_what_is_told_already(
    chat: FakeChat,
) -> None:
    wrong = Rejected("Refunds take 9 days.", "9 does not stand in what it cites", "take 5 days")
    kept = [Sentence("The card is refunded.", [])]
    await written(chat, PASSAGES, rejected=[wrong], kept=kept)
    _, asked = chat.requests[0].body["messages"][-1]["content"].split("How long?")
    for part in (wrong.sentence, wrong.problem, wrong.against, kept[0].text):
        assert part in asked


async def test_where_the_model_fails_the_fallback_writes_and_it_is_said(chat: FakeChat) -> None:
    chat.fails(500)
    draft = await written(chat, PASSAGES, fallback=QuotingGenerator())
    assert draft.sentences[0].text == PASSAGES[0].chunk.text
    assert draft.kind == "dependency_down"
    assert draft.degraded.startswith("answered without the chat model: ")


async def test_without_a_fallback_the_error_passes(chat: FakeChat) -> None:
    chat.fails(500)
    with pytest.raises(DependencyError):
        await written(chat, PASSAGES)


async def test_without_evidence_nothing_is_asked(chat: FakeChat) -> None:
    assert await written(chat, []) == Draft([])
    assert chat.requests == []


async def test_what_only_an_old_document_states_says_so(chat: FakeChat) -> None:
    old = Candidate(
        a_chunk("v2", "Refunds took 9 days.", metadata={"status": "superseded"}), {}, []
    )
    chat.script = lambda body: "Refunds took 9 days. [1]\nRefunds took 9 days, now 5. [1][2]"
    draft = await written(chat, [old, PASSAGES[0]])
    assert [s.note for s in draft.sentences] == ["no longer current, from v2", ""]
    assert "superseded, not current" in chat.requests[0].body["messages"][-1]["content"]


async def test_only_the_strips_are_read_in_the_order_of_their_document(chat: FakeChat) -> None:
    second = a_chunk("late", "Later. It costs 5.", document_id="d", title="Fees", heading="Rest",
                     metadata={"version": "2"})  # fmt: skip
    second = replace(second, start=100, end=118)
    first = a_chunk("early", "Early words. More.", document_id="d", title="Fees")
    found = [
        Evidence(Candidate(second, {}), a_grade("correct"), 0, [Stated(7, 18, 0.9)]),
        Evidence(Candidate(first, {}), a_grade("correct"), 0, [Stated(0, 12, 0.5)]),
    ]
    chat.script = lambda body: "It costs 5. [2]"
    generator = ChatGenerator(chat_model(chat), context_tokens=6000, answer_tokens=9, fallback=None)
    draft = await generator.generate("What?", found, limit=3, rejected=[], kept=[])
    shown = chat.requests[0].body["messages"][-1]["content"]
    assert "[Fees] Early words.<" in shown.replace("</", "<")
    assert "[Fees, version 2 > Rest] It costs 5.<" in shown.replace("</", "<")
    assert "Later" not in shown and shown.index("Early") < shown.index("costs 5")
    (citation,) = draft.sentences[0].citations
    assert (citation.start, citation.end, citation.quote) == (107, 118, "It costs 5.")
