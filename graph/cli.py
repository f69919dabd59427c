"""The commands `crag ask`, `crag search` and `crag models`. Imports wait until a command runs."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Question = Annotated[str, typer.Argument(help="What you want to know.")]
Base = Annotated[
    str, typer.Option("--kb", help="The knowledge base; for ask also names by commas, or auto.")
]

REFUSED = 4

models = typer.Typer(help="Models that are not part of the package.")


@models.callback()
def group() -> None:
    """One command alone would otherwise stand for the whole group."""


def ask(
    context: typer.Context,
    question: Question,
    knowledge_base: Base,
    as_json: Json = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show each step as it happens.")] = False,
    thread: Annotated[
        str | None, typer.Option("--thread", help="A conversation to go on with.")
    ] = None,
    require_answer: Annotated[
        bool, typer.Option("--require-answer", help="Exit 4 where the answer is refused.")
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="name=value, an option of this run; repeatable."),
    ] = None,
) -> None:
    """Ask a question: an answer with citations, or "I don't know" and why."""
    from graph.answer_view import answer_lines
    from graph.asking import ask_here, ask_through, checked
    from graph.trace_view import trace_printer
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import say, say_json

    settings = read(context.obj)
    question = checked(question, thread)
    options = _options(option or [])
    on_node = trace_printer(sys.stderr if as_json else sys.stdout) if trace else _ignore
    what = (question, knowledge_base, thread, options, on_node)
    answer = here_or_through(
        settings.data_dir,
        lambda: ask_here(settings, *what),
        lambda server: ask_through(server, *what),
    )
    if as_json:
        say_json(answer)
    else:
        say("\n" * trace + "\n".join(answer_lines(answer)))
    if require_answer and answer["outcome"] == "refused":
        raise typer.Exit(REFUSED)


def search(
    context: typer.Context,
    question: Question,
    knowledge_base: Base,
    as_json: Json = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Passages shown.")] = 10,
) -> None:
    """Search without an answer: passages with their scores by stage."""
    from graph.asking import checked, search_here, search_through
    from ingest.remote import here_or_through
    from ingest.settings import read
    from ingest.terminal import say, say_json

    settings = read(context.obj)
    question = checked(question, None)
    found = here_or_through(
        settings.data_dir,
        lambda: search_here(settings, question, knowledge_base, limit),
        lambda server: search_through(server, question, knowledge_base, limit),
    )
    if as_json:
        say_json(found)
        return
    from graph.answer_view import search_lines

    say("\n".join(search_lines(found)))


@models.command()
def pull(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="On the Hugging Face hub; recommended: BAAI/bge-reranker-base, or, small and "
            "quick, cross-encoder/ms-marco-MiniLM-L6-v2."
        ),
    ],
    to: Annotated[
        Path | None, typer.Option(help="The folder; default: models/ in the data folder.")
    ] = None,
    backend: Annotated[str, typer.Option(help="torch, onnx or openvino.")] = "torch",
) -> None:
    """Download a cross-encoder, and say what to set."""
    from graph.adapters.model_hub import WEIGHTS
    from graph.adapters.model_hub import pull as download
    from ingest.settings import read

    if backend not in WEIGHTS:
        raise typer.BadParameter("one of torch, onnx, openvino", param_hint="--backend")
    settings = read(context.obj)
    folder = (to or settings.data_dir / "models" / name.replace("/", "--")).resolve()
    revision = download(name, folder, backend)
    print(f"{name} at revision {revision}; set", file=sys.stderr)
    print(f"CRAG_RERANK__KIND=cross_encoder\nCRAG_RERANK__MODEL={folder}")
    if backend != "torch":
        print(f"CRAG_RERANK__BACKEND={backend}")


def _options(given: list[str]) -> dict[str, Any]:
    """`rewrites=1` as {"rewrites": 1}; what is no JSON is text."""
    options: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"--option takes name=value, not {pair!r}")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def _ignore(entry: dict[str, Any]) -> None:
    """Without --trace nobody looks at the steps."""
