"""From the claims of a checked token to a scope: tenant, user, groups, and what may be done."""

import logging
from collections.abc import Mapping
from typing import Any

from api.identity import Identity
from api.keys import KEY_SCOPES, MAX_NAMES
from api.settings import JwtSettings
from ingest.acl import checked_name
from ingest.errors import InvalidRequest
from ingest.scope import TENANT, Scope

log = logging.getLogger("crag.api")


def identity_of(claims: Mapping[str, Any], settings: JwtSettings) -> Identity | None:
    """None for claims that are not understood: a guess would open another one's documents."""
    try:
        return _identity(claims, settings)
    except InvalidRequest as error:
        log.info("a token was refused: %s", error)
        return None


def _identity(claims: Mapping[str, Any], settings: JwtSettings) -> Identity:
    tenant = claims.get(settings.tenant_claim)
    if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
        raise InvalidRequest(f"its claim {settings.tenant_claim} names no tenant")
    user = claims.get(settings.user_claim)
    if not isinstance(user, str):
        raise InvalidRequest(f"its claim {settings.user_claim} names no user")
    groups = _listed(claims.get(settings.groups_claim, []))
    scopes = _listed(claims.get(settings.scope_claim, []), split=True)
    if len(groups) > MAX_NAMES:
        raise InvalidRequest(f"its claim {settings.groups_claim} has more than {MAX_NAMES} names")
    names = [f"group:{checked_name(group)}" for group in groups]
    return Identity(
        Scope(tenant, [f"user:{checked_name(user)}", *names]),
        frozenset(scope for scope in KEY_SCOPES if scope in scopes),
        f"a token of {tenant}",
    )


def _listed(value: object, *, split: bool = False) -> list[str]:
    """A list of texts, or one text; a scope claim is one text with spaces (RFC 8693)."""
    if isinstance(value, str):
        return value.split() if split else [value]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    raise InvalidRequest("a claim is neither a text nor a list of texts")
