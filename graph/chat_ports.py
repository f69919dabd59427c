"""The ports that a chat model serves, over those that work without one."""

from dataclasses import replace

from graph.services import Services
from graph.settings import GraphSettings
from nodes.ports import GroundingChecker, QueryWriter


def with_chat(settings: GraphSettings, services: Services) -> Services:
    """The ports that a chat model serves, where one is set; the others stay behind them."""
    chat = settings.chat
    if chat.model is None:
        return services
    from graph.adapters.chat_generator import ChatGenerator
    from graph.adapters.chat_grading import ChatGrader
    from graph.adapters.chat_grounding import ChatGroundingChecker
    from graph.adapters.chat_model import ChatModel
    from graph.adapters.chat_queries import ChatQueryWriter
    from graph.adapters.chat_rerank import ChatReranker

    model = ChatModel(chat.model, chat)
    small = ChatModel(chat.lite_model, chat) if chat.lite_model else model
    batched = chat.verdicts == "batched"
    depth = settings.rerank.chat_depth
    by_chat = {
        kind: ChatReranker(
            services.reranker, small,
            listwise=kind == "listwise", logprob=not batched, depth=depth,
        )
        for kind in ("pointwise", "listwise")
    }  # fmt: skip
    return replace(
        services,
        reranker=by_chat.get(settings.rerank.kind.removeprefix("chat_"), services.reranker),
        by_chat=by_chat,
        grader=ChatGrader(services.grader, small, sure=settings.grade.sure, batched=batched),
        generator=ChatGenerator(
            model,
            context_tokens=chat.context_tokens,
            answer_tokens=chat.answer_tokens,
            fallback=services.generator if chat.extractive_fallback else None,
        ),
        checker=_judged(services.checker, ChatGroundingChecker(small, batched=batched)),
        writer=_kept(ChatQueryWriter(small), small.name, settings.query.kept_s),
        connections=(*services.connections, *((model,) if small is model else (model, small))),
    )


def _kept(writer: QueryWriter, model: str, seconds: float) -> QueryWriter:
    from graph.adapters.kept_queries import KeptQueries

    return KeptQueries(writer, model=model, ttl_s=seconds) if seconds else writer


def _judged(checker: GroundingChecker, judge: GroundingChecker) -> GroundingChecker:
    """A check of the user's own decides alone."""
    from graph.adapters.grounding import Judgeable

    return checker.with_judge(judge) if isinstance(checker, Judgeable) else checker
