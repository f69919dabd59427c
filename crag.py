"""The command line: mounts each package's commands, and turns errors into exit codes."""

import sys
from collections.abc import Sequence

import typer

import api.audit_cli
import api.cli
import api.keys_cli
import eval.cli
import graph.cli
import ingest.cli

app = typer.Typer(
    name="crag",
    help='Answers from your documents, with checked citations, or "I don\'t know" and why.',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("ingest")(ingest.cli.ingest)
app.add_typer(ingest.cli.kb, name="kb", no_args_is_help=True)
app.command("ask")(graph.cli.ask)
app.command("search")(graph.cli.search)
app.add_typer(graph.cli.models, name="models", no_args_is_help=True)
app.add_typer(api.keys_cli.keys, name="keys", no_args_is_help=True)
app.add_typer(api.audit_cli.audit, name="audit", no_args_is_help=True)
app.command("serve")(api.cli.serve)
app.command("doctor")(api.cli.doctor)
app.add_typer(eval.cli.commands, name="eval", no_args_is_help=True)
app.command("calibrate")(eval.cli.calibrate)

INTERRUPTED = 130
EXIT_CODES = {
    "configuration": 2,
    "embedder_mismatch": 2,
    "unknown_data_format": 2,
    "model_package": 2,
    "invalid_request": 2,
    "stale_labels": 3,
    "incomplete": 4,
    "data_folder_held": 5,
}
"""Of ServiceError codes; any other is a failure, 1."""


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command; its exit code. An expected error is one line on standard error."""
    from ingest.errors import ServiceError
    from ingest.terminal import say

    try:
        app(list(arguments), prog_name="crag")
    except ServiceError as error:
        say(f"crag: {' '.join(error.message.split())}", sys.stderr)
        return EXIT_CODES.get(error.code, 1)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


@app.callback()
def root(context: typer.Context) -> None:
    """Every command reads the same settings, so that an unknown name stops any of them."""
    from api.settings import Settings

    context.obj = Settings


if __name__ == "__main__":
    main()
