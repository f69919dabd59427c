"""Which way a question travels: the sequence of nodes, whatever the ports do."""

import dataclasses
import time
from typing import Any

import pytest

from ingest.errors import DependencyError, DependencyTimeout
from ingest.filters import Condition, Filters
from nodes.findings import Grade
from nodes.plan_queries import NOT_CURRENT
from nodes.ports import GradedPassages, WebResult
from nodes.state import State, Turn
from tests.fakes import (
    FakeChecker,
    FakeGrader,
    FakeIndex,
    FakeReranker,
    FakeWeb,
    QuotingGenerator,
    a_candidate,
    a_grade,
)
from tests.runs import QUESTION, kinds, ports, route, run

A, B, C, D = (a_candidate(name) for name in "abcd")
LOOP = "retrieve rerank grade"
WIDEN = f"rewrite {LOOP}"
START = f"context plan {LOOP}"
ANSWER = "generate check"
WEB_PAGE = WebResult("https://example.org/refunds", "Refunds", "Refunds take five days on the web.")


def ended(state: State) -> tuple[Any, Any]:
    return state.outcome, state.reason


def web_grader(verdict: str) -> FakeGrader:
    """Only what comes from the web gets this verdict."""
    return FakeGrader(
        lambda candidates: GradedPassages(
            [a_grade(verdict if c.url else "incorrect") for c in candidates]
        )
    )


async def test_a_correct_passage_is_answered_from_at_once() -> None:
    state = await run(ports())
    assert route(state) == f"{START} {ANSWER}"
    assert ended(state) == ("answered", None)
    assert state.draft[0].text == A.chunk.text
    assert state.degraded == []


@pytest.mark.parametrize("loops", [1, 2, 3])
async def test_is_corrected_by_rewriting(loops: int) -> None:
    index = FakeIndex([B], [B, C], [B, C, D], [A])
    right = "bcda"[loops] if loops < 3 else "a"
    state = await run(ports(index=index, grader=FakeGrader({right: "correct"})))
    assert route(state) == START + f" rewrite {LOOP}" * loops + f" {ANSWER}"
    assert state.outcome == "answered"
    assert state.spent.rewrites == loops
    techniques = [query.technique for query in state.queries]
    assert techniques == ["original", "keywords", "widened", "feedback"][: loops + 1]


async def test_looping_ends_where_a_loop_brings_nothing_new() -> None:
    state = await run(ports(grader=FakeGrader()))
    assert route(state) == f"{START} rewrite {LOOP} {WIDEN} decline"
    assert ended(state) == ("refused", "no_evidence")


async def test_what_filters_held_back_is_searched_before_the_looping_ends() -> None:
    """In a small base all current passages are graded before the ladder reaches its last step."""
    index = FakeIndex([B], [B], [B, A])
    state = await run(ports(index=index, grader=FakeGrader({"a": "correct"})))
    assert route(state) == f"{START} rewrite {LOOP} {WIDEN} {ANSWER}"
    assert [q.technique for q in state.queries] == ["original", "keywords", "widened"]


async def test_looping_ends_where_nothing_is_found_at_all() -> None:
    state = await run(ports(index=FakeIndex([])))
    assert route(state) == f"{START} {WIDEN} decline"
    assert ended(state) == ("refused", "no_evidence")


async def test_a_budget_without_rewrites_never_rewrites() -> None:
    state = await run(ports(grader=FakeGrader()), rewrites=0)
    assert route(state) == f"{START} decline"
    assert ended(state) == ("refused", "no_evidence")


async def test_terse_questions_spend_no_more_loops_than_they_may() -> None:
    """The keywords of `refund deadline` are the question itself, so that technique is skipped."""
    index = FakeIndex([B], [B, C], [D])
    state = await run(ports(index=index, grader=FakeGrader()), "refund deadline", rewrites=1)
    assert route(state) == f"{START} rewrite {LOOP} decline"
    assert state.spent.rewrites == 1


async def test_grades_the_question_while_it_searches_with_the_rewrite() -> None:
    index, grader, reranker = FakeIndex([B], [A]), FakeGrader({"a": "correct"}), FakeReranker()
    generator = QuotingGenerator()
    services = ports(index=index, grader=grader, reranker=reranker, generator=generator)
    await run(services)
    assert grader.questions == reranker.questions == [QUESTION, QUESTION]
    assert [asked for asked, _ in generator.asked] == [QUESTION]
    assert [search["question"] for search in index.searches] == [QUESTION, QUESTION]
    assert index.searches[0]["queries"] == [QUESTION]
    original, rewritten = index.searches[1]["queries"]
    assert original == QUESTION != rewritten


async def test_a_passage_is_graded_once_and_evidence_is_kept_over_loops() -> None:
    seen: list[list[str]] = []

    def grade(candidates: Any) -> GradedPassages:
        seen.append([c.chunk.chunk_id for c in candidates])
        return GradedPassages([a_grade("ambiguous") for _ in candidates])

    index = FakeIndex([A, B], [B, C], [C])
    state = await run(ports(index=index, grader=FakeGrader(grade)))
    assert seen == [["a", "b"], ["c"]]
    assert {e.candidate.chunk.chunk_id for e in state.evidence} == {"a", "b", "c"}
    assert {e.candidate.chunk.chunk_id: e.loop for e in state.evidence} == {"a": 0, "b": 0, "c": 1}


async def test_the_widened_loop_drops_derived_filters_and_keeps_those_of_the_request() -> None:
    index = FakeIndex([A], [B], [C], [D])
    wanted = Filters([Condition("language", ["en"])])
    await run(ports(index=index, grader=FakeGrader()), filters=wanted)
    conditions = [search["filters"].conditions for search in index.searches]
    narrow = [*wanted.conditions, NOT_CURRENT]
    assert conditions == [narrow, narrow, wanted.conditions, narrow]
    assert [search["limit"] for search in index.searches] == [50, 50, 100, 50]


async def test_nothing_in_the_base_is_answered_from_the_web() -> None:
    web = FakeWeb([WEB_PAGE])
    services = ports(web=web, grader=web_grader("correct"))
    state = await run(services, web=True)
    assert route(state) == f"{START} rewrite {LOOP} {WIDEN} web rerank grade {ANSWER}"
    assert state.outcome == "answered"
    (citation,) = state.draft[0].citations
    assert (citation.kind, citation.url) == ("web", WEB_PAGE.url)
    assert web.sent == [QUESTION] == [state.web_sent]


async def test_two_passages_of_one_page_can_both_be_cited() -> None:
    again = WebResult(WEB_PAGE.url, "Refunds", "Another part of the same page on refunds.")
    services = ports(web=FakeWeb([WEB_PAGE, again]), grader=web_grader("correct"))
    state = await run(services, web=True)
    assert state.outcome == "answered"
    assert state.rejected == []


async def test_the_web_is_left_alone_where_the_base_has_not_opted_in() -> None:
    web = FakeWeb([WEB_PAGE])
    state = await run(ports(web=web, grader=web_grader("correct")))
    assert "web" not in route(state)
    assert web.sent == []


async def test_a_web_that_brings_nothing_good_is_declined_without_another_loop() -> None:
    services = ports(web=FakeWeb([WEB_PAGE]), grader=FakeGrader())
    state = await run(services, web=True)
    assert route(state) == f"{START} rewrite {LOOP} {WIDEN} web rerank grade decline"
    assert ended(state) == ("refused", "no_evidence")


async def test_a_web_without_a_key_declines_and_says_so() -> None:
    state = await run(ports(grader=FakeGrader()), web=True)
    assert route(state) == f"{START} rewrite {LOOP} {WIDEN} web decline"
    assert ended(state) == ("refused", "no_evidence")
    assert kinds(state) == [("web_search", "not_configured")]
    assert "CRAG_WEB__TAVILY_API_KEY" in state.degraded[0].detail
    assert state.web_sent == ""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DependencyTimeout("slow"), "dependency_timeout"),
        (DependencyError("no", code="web_bad_request"), "web_bad_request"),
        (DependencyError("spent", code="web_plan_limit"), "web_plan_limit"),
        (RuntimeError("a bug in there"), "RuntimeError"),
    ],
)
async def test_a_web_that_fails_is_a_counted_failure_and_a_refusal(
    error: Exception, kind: str
) -> None:
    state = await run(ports(web=FakeWeb(error), grader=FakeGrader()), web=True)
    assert route(state).endswith("web decline")
    assert ended(state) == ("refused", "no_evidence")
    assert kinds(state) == [("web_search", kind)]
    assert state.web_sent == QUESTION, "it was sent, whatever came back"


@pytest.mark.parametrize("garbage", [["text"], [None], [WebResult("u", "t", None)], 7, None])  # type: ignore[arg-type]
async def test_a_web_that_sends_garbage_is_a_failed_web_search(garbage: Any) -> None:
    ambiguous = FakeGrader({"a": "ambiguous"})
    services = ports(web=FakeWeb(garbage), grader=ambiguous)
    state = await run(services, web=True)
    assert route(state).endswith(f"web {ANSWER}")
    assert state.outcome == "answered_partially"
    assert [node for node, _ in kinds(state)] == ["web_search"]


async def test_ambiguous_evidence_is_answered_from_in_part_after_all_loops() -> None:
    state = await run(ports(grader=FakeGrader({"a": "ambiguous"})))
    assert route(state) == f"{START} rewrite {LOOP} {WIDEN} {ANSWER}"
    assert ended(state) == ("answered_partially", None)


async def test_ambiguous_evidence_needs_stronger_support() -> None:
    weak = FakeChecker()
    weak._support = lambda text: a_support(text, 0.89)  # type: ignore[method-assign]
    state = await run(ports(grader=FakeGrader({"a": "ambiguous"}), checker=weak))
    assert ended(state) == ("refused", "ungrounded")
    told = [entry.summary for entry in state.trace if entry.node == "check_grounding"]
    assert "0.89, is not the 0.9" in told[0]["failed"][0]["problem"]
    state = await run(ports(checker=weak))
    assert state.outcome == "answered"


def a_support(text: str, probability: float) -> Any:
    from nodes.findings import Support

    return Support(text, "supported", probability)


async def test_an_ungrounded_sentence_is_repaired_once_and_the_others_are_kept() -> None:
    wrong, right, other = (
        a_candidate(name, f"{says} five days.") for name, says in zip("abc", "XYZ", strict=True)
    )
    generator = QuotingGenerator()
    services = ports(
        index=FakeIndex([wrong, right, other]),
        grader=FakeGrader(dict.fromkeys("abc", "correct")),
        generator=generator,
        checker=FakeChecker("X"),
    )
    state = await run(services, sentences=2)
    assert route(state) == f"{START} {ANSWER} {ANSWER}"
    assert state.outcome == "answered"
    assert [s.text for s in state.draft] == ["Y five days.", "Z five days."]
    assert [s.sentence for s in state.supports] == ["Y five days.", "Z five days."]
    ((_, first), (_, second)) = generator.asked
    assert (first, second) == ([], ["X five days."])
    (rejected,), (kept,) = generator.repairs[1]
    assert (rejected.problem, rejected.against) == ("not supported", "X five days.")
    assert kept.text == "Y five days."


async def test_an_answer_that_is_ungrounded_twice_is_refused() -> None:
    services = ports(
        index=FakeIndex([A, B, C]),
        grader=FakeGrader(dict.fromkeys("abc", "correct")),
        checker=FakeChecker("Passage"),
    )
    state = await run(services, sentences=1)
    assert route(state) == f"{START} {ANSWER} {ANSWER} decline"
    assert ended(state) == ("refused", "ungrounded")
    assert "Passage" not in state.draft[0].text


async def test_a_document_deleted_during_the_run_is_not_cited() -> None:
    index = FakeIndex([A])
    index.texts.clear()
    state = await run(ports(index=index))
    assert ended(state) == ("refused", "ungrounded")


async def test_no_sentence_at_all_is_refused() -> None:
    generator = QuotingGenerator()
    generator.generate = empty_draft  # type: ignore[method-assign]
    state = await run(ports(generator=generator))
    assert route(state) == f"{START} {ANSWER} decline"
    assert ended(state) == ("refused", "no_evidence")


async def empty_draft(*args: Any, **more: Any) -> Any:
    from nodes.ports import Draft

    return Draft([])


async def test_a_search_that_cannot_run_is_refused() -> None:
    state = await run(ports(index=FakeIndex(DependencyError("store down"))))
    assert route(state) == "context plan retrieve decline"
    assert ended(state) == ("refused", "dependency_down")
    assert kinds(state) == [("retrieve", "dependency_down")]
    assert state.trace[2].status == "error"


async def test_a_reranker_that_is_down_costs_the_order_alone() -> None:
    services = ports(reranker=FakeReranker(DependencyError("model down")))
    state = await run(services)
    assert route(state) == f"{START} {ANSWER}"
    assert state.outcome == "answered"
    assert kinds(state) == [("rerank", "dependency_down")]
    assert state.degraded[0].fallback == "order of retrieval"
    assert state.trace[3].status == "fallback"


@pytest.mark.parametrize("garbage", [None, ["a"], [None], 3])
async def test_a_reranker_that_gives_garbage_costs_the_order_alone(garbage: Any) -> None:
    reranker = FakeReranker()

    async def rerank(question: str, candidates: Any) -> Any:
        return garbage

    reranker.rerank = rerank  # type: ignore[method-assign]
    state = await run(ports(reranker=reranker))
    assert state.outcome == "answered"
    assert [node for node, _ in kinds(state)] == ["rerank"]


async def test_switched_off_the_reranker_is_not_asked_and_the_trace_says_so() -> None:
    reranker = FakeReranker()
    state = await run(ports(reranker=reranker), rerank=False)
    assert (state.outcome, reranker.questions, state.degraded) == ("answered", [], [])
    (entry,) = [entry for entry in state.trace if entry.node == "rerank"]
    assert entry.summary["left"] == "the order of retrieval"


async def test_the_trace_says_how_what_was_found_was_merged() -> None:
    state = await run(ports(), fusion="rrf", merge="votes")
    (entry,) = [entry for entry in state.trace if entry.node == "retrieve"]
    assert (entry.summary["fusion"], entry.summary["merge"]) == ("rrf", "votes")


async def test_a_reranker_loses_no_candidate() -> None:
    reranker = FakeReranker()

    async def rerank(question: str, candidates: Any) -> Any:
        return [B, B]

    reranker.rerank = rerank  # type: ignore[method-assign]
    index = FakeIndex([A, B])
    state = await run(ports(index=index, reranker=reranker))
    assert [c.chunk.chunk_id for c in state.candidates] == ["b", "a"]
    assert state.outcome == "answered"


async def test_a_grader_that_is_down_fails_closed() -> None:
    def down(candidates: Any) -> GradedPassages:
        raise DependencyError("model down")

    state = await run(ports(grader=FakeGrader(down)))
    assert route(state) == f"{START} decline"
    assert ended(state) == ("refused", "dependency_down")
    assert kinds(state) == [("grade_documents", "dependency_down")]


@pytest.mark.parametrize(
    "answer",
    [None, "correct", GradedPassages([]), GradedPassages([a_grade("correct")] * 2), ["correct"]],
)
async def test_a_grader_that_gives_no_list_of_verdicts_fails_closed(answer: Any) -> None:
    state = await run(ports(grader=FakeGrader(lambda candidates: answer)))
    assert route(state) == f"{START} decline"
    assert ended(state) == ("refused", "dependency_down")


@pytest.mark.parametrize(
    "grade",
    [
        None,
        "correct",
        "Correct",
        True,
        0,
        {"verdict": "correct"},
        Grade("yes", 0.9),  # type: ignore[arg-type]
        Grade(["correct"], 0.9),  # type: ignore[arg-type]
        Grade("correct", "high"),  # type: ignore[arg-type]
        Grade("correct", float("nan")),
        Grade("correct", 7.0),
    ],
)
async def test_a_grade_that_is_no_verdict_is_no_evidence(grade: Any) -> None:
    grader = FakeGrader(lambda candidates: GradedPassages([grade for _ in candidates]))
    state = await run(ports(grader=grader), rewrites=1)
    assert route(state) == f"{START} rewrite {LOOP} decline"
    assert ended(state) == ("refused", "no_evidence")
    assert state.evidence == []
    assert kinds(state) == [("grade_documents", "no_verdict")]


async def test_partial_verdicts_are_used() -> None:
    grades = [None, a_grade("correct")]
    grader = FakeGrader(lambda candidates: GradedPassages(grades))
    state = await run(ports(index=FakeIndex([A, B]), grader=grader))
    assert state.outcome == "answered"
    assert [e.candidate.chunk.chunk_id for e in state.evidence] == ["b"]
    assert kinds(state) == [("grade_documents", "no_verdict")]


async def test_an_uncalibrated_grader_says_so_once() -> None:
    grader = FakeGrader(
        lambda candidates: GradedPassages([a_grade("ambiguous") for _ in candidates], "no set")
    )
    state = await run(ports(index=FakeIndex([A], [B], [C]), grader=grader))
    assert kinds(state) == [("grade_documents", "uncalibrated")]


async def test_a_checker_that_is_down_fails_closed() -> None:
    state = await run(ports(checker=FakeChecker(error=DependencyError("down"))))
    assert route(state) == f"{START} {ANSWER} decline"
    assert ended(state) == ("refused", "dependency_down")
    assert kinds(state) == [("check_grounding", "dependency_down")]
    assert A.chunk.text not in state.draft[0].text


@pytest.mark.parametrize("verdict", [None, [], ["yes"], "supported", 1])
async def test_a_checker_that_gives_garbage_fails_closed(verdict: Any) -> None:
    checker = FakeChecker()

    async def check(question: str, sentences: Any, sources: Any) -> Any:
        return verdict

    checker.check = check  # type: ignore[method-assign]
    state = await run(ports(checker=checker))
    assert ended(state) == ("refused", "dependency_down")


@pytest.mark.parametrize("probability", [float("nan"), None, "1.0"])
async def test_a_support_without_a_probability_is_none(probability: Any) -> None:
    checker = FakeChecker()
    checker._support = lambda text: a_support(text, probability)  # type: ignore[method-assign]
    for verdict in ("correct", "ambiguous"):
        state = await run(ports(checker=checker, grader=FakeGrader({"a": verdict})))
        assert state.outcome == "refused"


async def test_each_verdict_counts_where_a_sentence_comes_twice() -> None:
    checker, generator = FakeChecker(), QuotingGenerator()

    async def twice(question: str, evidence: Any, **more: Any) -> Any:
        draft = await QuotingGenerator().generate(question, evidence, **more)
        return type(draft)(draft.sentences * 2)

    async def check(question: str, sentences: Any, sources: Any) -> Any:
        first, second = (a_support(sentence.text, 1.0) for sentence in sentences)
        return [dataclasses.replace(first, verdict="unsupported"), second]

    generator.generate, checker.check = twice, check  # type: ignore[method-assign,assignment]
    state = await run(ports(checker=checker, generator=generator), rewrites=0)
    assert state.outcome == "refused"


async def test_a_checker_cannot_pass_a_sentence_without_a_valid_citation() -> None:
    """Another checker than ours may judge the words; where they stand is checked in any case."""
    index = FakeIndex([A])
    index.texts = {("doc-a", "r1"): "The document says something else by now."}
    state = await run(ports(index=index, checker=FakeChecker()))
    assert ended(state) == ("refused", "ungrounded")


async def test_a_generator_that_is_down_is_refused_without_a_check() -> None:
    state = await run(ports(generator=QuotingGenerator(DependencyError("down"))))
    assert ended(state) == ("refused", "dependency_down")
    assert kinds(state) == [("generate", "dependency_down")]
    assert route(state) == f"{START} generate decline"


async def test_a_draft_that_failed_is_not_served_when_the_repair_breaks() -> None:
    class Breaks(QuotingGenerator):
        async def generate(self, *args: Any, **more: Any) -> Any:
            self.error = DependencyError("down") if self.asked else None
            return await super().generate(*args, **more)

    class ChangesItsMind(FakeChecker):
        async def check(self, *args: Any) -> Any:
            judged = await super().check(*args)
            self.unsupported = ()
            return judged

    state = await run(ports(generator=Breaks(), checker=ChangesItsMind("Passage a")))
    assert ended(state) == ("refused", "dependency_down")


async def test_a_passed_deadline_is_a_refusal_for_the_budget() -> None:
    late = {"started_at": time.time() - 60, "deadline_s": 30.0}
    state = await run(ports(grader=FakeGrader()), web=True, **late)
    assert route(state) == f"{START} decline"
    assert ended(state) == ("refused", "budget")


async def test_a_passed_deadline_still_gives_what_is_grounded() -> None:
    late = {"started_at": time.time() - 60, "deadline_s": 30.0}
    state = await run(ports(grader=FakeGrader({"a": "ambiguous"})), **late)
    assert route(state) == f"{START} {ANSWER}"
    assert state.outcome == "answered_partially"


async def test_without_a_deadline_no_time_is_too_long() -> None:
    state = await run(ports(), started_at=1.0, deadline_s=None)
    assert state.outcome == "answered"


@pytest.mark.parametrize(
    ("question", "outcome", "text"),
    [
        ("Hello there!", "no_retrieval", "Hello"),
        ("Danke", "no_retrieval", "Hallo"),
        ("What is 2 + 3 * 4?", "no_retrieval", "2 + 3 * 4 = 14"),
        ("1 / 0", "no_retrieval", "cannot compute"),
        ("What can you do?", "no_retrieval", "I answer questions"),
        ("and?", "needs_clarification", "what is the question about"),
        ("🤷", "needs_clarification", "what is the question about"),
    ],
)
async def test_what_needs_no_document_searches_none(question: str, outcome: str, text: str) -> None:
    index = FakeIndex([A])
    state = await run(ports(index=index), question)
    assert route(state) == "context plan direct"
    assert state.outcome == outcome
    assert text in state.draft[0].text
    assert index.searches == []


@pytest.mark.parametrize("question", ["Thanks!", "2 + 2", "Who are you?"])
async def test_a_pleasantry_within_a_conversation_searches_nothing(question: str) -> None:
    history = [Turn("How do I return a gateway?", "By the form.")]
    state = await run(ports(), question, history=history)
    assert route(state) == "context plan direct"


async def test_the_trace_counts_and_times_every_step() -> None:
    state = await run(ports(index=FakeIndex([B], [A])))
    assert [entry.seq for entry in state.trace] == list(range(1, len(state.trace) + 1))
    assert [e.attempt for e in state.trace if e.node == "retrieve"] == [1, 2]
    assert all(entry.ms >= 0 for entry in state.trace)
