"""The commands `crag keys`. Imports wait until a command runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from api.keys import Key, KeyStore

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Expires = Annotated[
    str | None, typer.Option(help="How long it lives, such as 12h or 90d; without: until revoked.")
]
Limits = Annotated[
    list[str] | None,
    typer.Option(help="Of its own, such as requests_per_minute=60; may be repeated."),
]
KeyId = Annotated[str, typer.Argument(help="As `crag keys list` shows it.")]

COLUMNS = ("KEY", "STATE", "SCOPES", "TENANT", "USER", "GROUPS", "UNTIL", "NAME")
"""Of `crag keys list`."""

keys = typer.Typer(help="API keys: who may ask, ingest and administer, each of one tenant.")


@keys.command("create")
def create(
    context: typer.Context,
    tenant: Annotated[str, typer.Option(help="Whose documents it opens.")] = "local",
    scope: Annotated[
        list[str] | None, typer.Option(help="ask, ingest or admin; may be repeated.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="The user it stands for.")] = None,
    group: Annotated[
        list[str] | None, typer.Option(help="A group of that user; may be repeated.")
    ] = None,
    name: Annotated[str, typer.Option(help="What it is for.")] = "",
    expires: Expires = None,
    limit: Limits = None,
    as_json: Json = False,
) -> None:
    """Create a key. It is printed this once: nothing that is kept gives it back."""
    from api.keys import new_key, store_key

    key = new_key(
        tenant,
        name=name,
        user=user,
        groups=group or [],
        scopes=scope or ["ask"],
        lifetime=_duration(expires),
        limits=_limits(limit),
    )
    with _store(context) as store:
        told = store_key(store, key)
    _audit(context, "create_key", key)
    _say_new(key, told, as_json)


@keys.command("list")
def list_keys(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="Only of this tenant.")] = None,
    as_json: Json = False,
) -> None:
    """List keys with their state; never their secrets."""
    from ingest.terminal import say, say_json, table

    with _store(context) as store:
        found = [_shown(key) for key in store.listed(tenant)]
    if as_json:
        say_json({"keys": found})
        return
    if not found:
        say("no keys; make one: crag keys create --tenant NAME --scope ask", sys.stderr)
        return
    say("\n".join(table(COLUMNS, [_columns(key) for key in found])))


@keys.command("rotate")
def rotate_key(
    context: typer.Context,
    key_id: KeyId,
    grace: Annotated[
        str, typer.Option(help="How long the old one still works: 0, 1h, 7d.")
    ] = "24h",
    expires: Expires = None,
    as_json: Json = False,
) -> None:
    """Create a key in the place of another one, which ends after the grace."""
    from datetime import timedelta

    from api.keys import rotate

    with _store(context) as store:
        key, told = rotate(store, key_id, _duration(grace) or timedelta(), _duration(expires))
    _audit(context, "rotate_key", key, replaced=key_id.removeprefix("crag_"))
    _say_new(key, told, as_json)


@keys.command("revoke")
def revoke_key(context: typer.Context, key_id: KeyId, as_json: Json = False) -> None:
    """End a key at once, also in a server that runs."""
    from api.keys import revoke
    from ingest.terminal import say, say_json

    with _store(context) as store:
        ended = revoke(store, key_id)
    _audit(context, "revoke_key", ended)
    key = _shown(ended)
    say_json(key) if as_json else say(f"revoked {key['prefix']} of {key['tenant']}")


@keys.command("limit")
def limit_key(
    context: typer.Context, key_id: KeyId, limit: Limits = None, as_json: Json = False
) -> None:
    """Give a key limits of its own, in place of those it had; without --limit those of everyone."""
    from api.keys import limit as limit_to
    from ingest.terminal import say, say_json

    with _store(context) as store:
        limited = limit_to(store, key_id, _limits(limit))
    _audit(context, "limit_key", limited)
    key = _shown(limited)
    told = ", ".join(f"{name} {most}" for name, most in key["limits"].items())
    say_json(key) if as_json else say(f"{key['prefix']}: {told or 'the limits of everyone'}")


@contextmanager
def _store(context: typer.Context) -> "Iterator[KeyStore]":
    from api.stored_keys import open_keys
    from ingest.settings import read

    store = open_keys(read(context.obj))
    try:
        yield store
    finally:
        store.close()


def _audit(context: typer.Context, action: str, key: "Key", replaced: str = "") -> None:
    """What was done is done: a trail that cannot be written keeps no new key from being told."""
    import os

    from api.audit import audit_row, open_audit
    from ingest.errors import ServiceError
    from ingest.settings import read
    from ingest.terminal import say

    ids = " ".join(f"crag_{key_id}" for key_id in (key.key_id, replaced) if key_id)
    row = audit_row(action, key.tenant, f"this machine, uid {os.getuid()}", target=ids)
    try:
        log = open_audit(read(context.obj))
        try:
            log.add(row)
        finally:
            log.close()
    except ServiceError as error:
        say(f"crag: this is not in the audit trail: {error.message}", sys.stderr)


def _say_new(key: "Key", told: str, as_json: bool) -> None:
    """The key alone on standard output, so that a script can keep it."""
    from ingest.terminal import say, say_json

    if as_json:
        say_json({"key": told, **_shown(key)})
        return
    until = f" until {key.expires_at}" if key.expires_at else ""
    say(f"{', '.join(key.scopes)} for tenant {key.tenant}{until}; shown only now:", sys.stderr)
    say(told)


def _shown(key: "Key") -> dict[str, Any]:
    from dataclasses import asdict
    from datetime import UTC, datetime

    prefix = f"crag_{key.key_id}"
    return {"prefix": prefix, "state": key.state(datetime.now(UTC)), **asdict(key)}


def _columns(key: dict[str, Any]) -> list[str]:
    """Nothing is left empty: a script that splits lines by spaces finds each where its title is."""
    shown = [key["prefix"], key["state"], ",".join(key["scopes"]), key["tenant"], key["user"]]
    until = min(filter(None, (key["revoked_at"], key["expires_at"])), default="")
    shown += [",".join(key["groups"]), until, key["name"]]
    return [column or "-" for column in shown]


def _limits(given: list[str] | None) -> dict[str, int]:
    """Raises InvalidRequest for what is no NAME=NUMBER."""
    from ingest.errors import InvalidRequest

    limits = {}
    for text in given or []:
        name, _, most = text.partition("=")
        if not most.isdecimal():
            raise InvalidRequest(f"{text[:40]!r} is no limit; write requests_per_minute=60")
        limits[name] = int(most)
    return limits


def _duration(text: str | None) -> Any:
    """A timedelta of `90d`, `12h`, `30m` or `0`; None for no text. Raises InvalidRequest."""
    import re
    from datetime import timedelta

    from ingest.errors import InvalidRequest

    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,5})([mhd])|0", text)
    if match is None:
        raise InvalidRequest(f"{text[:20]!r} is no time; write 30m, 12h or 90d")
    units = {"m": "minutes", "h": "hours", "d": "days"}
    return timedelta(**{units[match[2]]: int(match[1])}) if match[2] else timedelta()
