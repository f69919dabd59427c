"""What is configured, what is missing, and what the machine can do."""

import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from api.doctor_adapters import (
    check_calibration,
    grounding_report,
    redis_report,
    reranker_report,
)
from api.doctor_chat import chat_line, chat_report
from api.doctor_languages import base_line, model_report
from api.settings import Settings, asks_for_credentials, check_exposure, is_loopback
from api.stored_keys import any_stored, count_live
from ingest.data_folder import FORMAT, holder_of, is_held
from ingest.errors import ConfigurationError, DependencyError, ServiceError
from ingest.settings import PREFIX

PACKAGES = (
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "fastapi",
    "uvicorn",
    "pydantic",
    "qdrant-edge-py",
    "qdrant-client",
    "sentence-transformers",
    "torch",
    "tavily-python",
)


def examine(settings: Settings) -> dict[str, Any]:
    """A report whose `problems` say in one line each what keeps the service from working."""
    problems: list[str] = []
    return {
        "python": platform.python_version(),
        "packages": _packages(problems),
        "model": model_report(settings.embedder, problems),
        "reranker": reranker_report(settings, problems),
        "grounding": grounding_report(settings, problems),
        "qdrant": _qdrant(settings, problems),
        "records": _records(settings, problems),
        "threads": _threads(settings),
        "redis": redis_report(settings, problems),
        "data_folder": _data_folder(settings, problems),
        "service": _service(settings, problems),
        "settings": _changed(settings, problems),
        "chat": chat_report(settings.chat, problems),
        "web_search": {"configured": settings.web.tavily_api_key is not None},
        "machine": _machine(),
        "problems": problems,
    }


def report_lines(report: dict[str, Any]) -> list[str]:
    """The report for a person."""
    folder, service, machine = report["data_folder"], report["service"], report["machine"]
    web = report["web_search"]["configured"]
    exposed = ", anonymous beyond this machine" if service["anonymous_beyond_loopback"] else ""
    memory = f"{machine['memory_gb']} GB memory, {machine['memory_available_gb']} GB available"
    of_format = f", format {folder['format']}" if folder["format"] else ""
    missing = [name for name, found in report["packages"].items() if found is None]
    lines = [
        f"Python       {report['python']}",
        f"Packages     {'missing: ' + ', '.join(missing) if missing else 'all installed'}",
        f"Model        {report['model']['name']}: {report['model']['state']}",
        f"Reranker     {report['reranker']['kind']}: {report['reranker']['state']}",
        f"Grounding    {report['grounding']['kind']}: {report['grounding']['state']}",
        f"Store        {_store_line(report['qdrant'])}",
        f"Records      {report['records']['store']}, {_of_whom(report['records']['shared'])}",
        f"Threads      {report['threads']['store']}, {report['threads']['ttl_days']:g} days",
        f"Redis        {report['redis']['state']}",
        f"Data folder  {folder['path']}: {folder['state']}{of_format}",
        f"Service      {service['host']}:{service['port']}, {service['keys']} keys, "
        f"{service['stored_keys']} stored{exposed}",
        f"Web search   {'configured' if web else 'off: CRAG_WEB__TAVILY_API_KEY is not set'}",
        f"Chat model   {chat_line(report['chat'])}",
        f"Machine      {machine['cores']} cores, {memory}",
    ]
    changed = [f"  {name}={value}" for name, value in report["settings"].items()]
    lines += [f"Settings     {len(changed)} not the default", *changed]
    language = report["model"]["language"]
    lines += [base_line(base, made_for=language) for base in folder["knowledge_bases"]]
    problems = [f"Problem: {problem}" for problem in report["problems"]]
    return [*lines, *(problems or ["Everything that the service needs is there."])]


def _changed(settings: Settings, problems: list[str]) -> dict[str, Any]:
    """Settings of this environment that are not the default, by name; secrets are masked."""
    from graph.adapters.fitted_confidence import load_confidence
    from ingest.access import open_access

    opened: list[Callable[[], object]] = [
        lambda: check_calibration(settings),
        lambda: load_confidence(settings.answer.calibration, embedder=settings.embedder),
        lambda: open_access(settings.access),
    ]
    for one in opened:
        try:
            one()
        except ConfigurationError as error:
            problems.append(error.message)
    return dict(_flat(PREFIX, settings.model_dump(mode="json", exclude_defaults=True)))


def _flat(prefix: str, section: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name.upper()}__", value)
        else:
            yield f"{prefix}{name.upper()}", value


def _packages(problems: list[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
            problems.append(f"the package {name} is not installed")
    return found


def _qdrant(settings: Settings, problems: list[str]) -> dict[str, Any]:
    from ingest.adapters.qdrant_probe import probe

    url = settings.qdrant.url
    if url is None:
        return {"url": None, "version": None}
    host = urlsplit(url).hostname or ""
    beyond = "." in host and not is_loopback(host)  # a bare name is of a network of one's own
    if settings.qdrant.api_key and url.startswith("http://") and beyond:
        problems.append(f"CRAG_QDRANT__API_KEY travels unencrypted to {url}")
    try:
        return {"url": url, "version": probe(settings.qdrant)}
    except ServiceError as error:
        problems.append(error.message)
        return {"url": url, "version": None}


def _store_line(qdrant: dict[str, Any]) -> str:
    if qdrant["url"] is None:
        return "Qdrant Edge, embedded; CRAG_QDRANT__URL is not set"
    return f"Qdrant {qdrant['version'] or '(no answer)'} at {qdrant['url']}"


def _records(settings: Settings, problems: list[str]) -> dict[str, Any]:
    from ingest.compose import check_stores

    try:
        check_stores(settings)
    except ConfigurationError as error:
        problems.append(error.message)
    return {"store": _database(settings), "shared": settings.database.url is not None}


def _of_whom(shared: bool) -> str:
    return "for all processes that share it" if shared else "in the data folder: for one process"


def _threads(settings: Settings) -> dict[str, Any]:
    return {"store": _database(settings), "ttl_days": settings.threads.ttl_days}


def _database(settings: Settings) -> str:
    return "SQLite" if settings.database.url is None else "PostgreSQL"


def _data_folder(settings: Settings, problems: list[str]) -> dict[str, Any]:
    path = settings.data_dir
    held = is_held(path)
    holder = holder_of(path) if held else None
    report: dict[str, Any] = {
        "path": str(path.resolve()),
        "state": _state(path, held),
        "holder": {"pid": holder.pid, "url": holder.url} if holder else None,
        "format": _format(path),
        "reads_format": FORMAT,
        "knowledge_bases": [],
    }
    try:
        report["knowledge_bases"] = _bases(settings) if path.exists() else []
    except ServiceError as error:
        if error.message not in problems:
            problems.append(error.message)
    return report


def _state(path: Path, held: bool) -> str:
    if held:
        return "held by another process"
    return "free" if path.exists() else "not there yet; it is made on first use"


def _format(path: Path) -> str | None:
    try:
        return (path / "format").read_text().strip()[:20]
    except OSError:
        return None


def _bases(settings: Settings) -> list[dict[str, Any]]:
    from ingest.local import bases_here
    from ingest.remote import here_or_through
    from ingest.through_server import bases_through

    return here_or_through(settings.data_dir, lambda: bases_here(settings), bases_through)


def _service(settings: Settings, problems: list[str]) -> dict[str, Any]:
    stored = 0
    try:
        check_exposure(settings, any_stored)
        stored = count_live(settings)
    except ConfigurationError as error:
        problems.append(error.message)
    except DependencyError:
        pass  # what is wrong with the database is said of the threads
    exposed = not is_loopback(settings.host) and settings.api.allow_anonymous
    return {
        "host": settings.host,
        "port": settings.port,
        "keys": len(settings.api.keys),
        "stored_keys": stored,
        "token_issuer": settings.jwt.issuer if settings.jwt.jwks_url else None,
        "anonymous_beyond_loopback": exposed and not stored and not asks_for_credentials(settings),
    }


def _machine() -> dict[str, Any]:
    page = os.sysconf("SC_PAGE_SIZE") / 1024**3
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * page, 1),
        "memory_available_gb": round(os.sysconf("SC_AVPHYS_PAGES") * page, 1),
        "platform": platform.platform(),
    }
