"""Settings of the HTTP service, and the root of all settings."""

import ipaddress
from collections.abc import Callable
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from graph.asking import MAX_QUESTION
from graph.settings import MAX_DAYS, GraphSettings
from ingest.errors import ConfigurationError
from ingest.settings import Listed, Section


class ApiSettings(Section):
    keys: Listed[SecretStr] = Field(
        [], description="Bearer keys, separated by commas or as a JSON list."
    )
    allow_anonymous: bool = Field(False, description="Serve beyond loopback without any key.")
    max_body_mb: int = Field(1, ge=1, le=64, description="Largest JSON body, in MB.")
    max_upload_mb: int = Field(25, ge=1, le=512, description="Largest upload request, in MB.")
    max_runs: int = Field(64, ge=1, description="Runs at once in this process; others wait.")
    stream_queue: int = Field(64, ge=1, description="Events that may wait for a slow reader.")
    stream_stall_s: float = Field(30, gt=0, description="Seconds a full queue may stand still.")
    standby: bool = Field(False, description="Wait for a data folder that another process holds.")
    shutdown_grace_s: int = Field(10, ge=0, description="Seconds for open requests at the end.")


class TenantLimits(Section):
    """What all credentials of one tenant may take together; 0: as much as they like."""

    requests_per_minute: int = Field(0, ge=0, le=1_000_000, description="0: no limit.")
    tokens_per_day: int = Field(0, ge=0, description="Of chat models, in UTC; 0: no limit.")
    running: int = Field(0, ge=0, le=10_000, description="Runs at once; 0: no limit.")
    waiting: int = Field(128, ge=0, le=10_000, description="Runs that wait for one of those.")


class LimitSettings(Section):
    """What one credential may take; 0 requests or tokens: as many as it likes."""

    requests_per_minute: int = Field(0, ge=0, le=1_000_000, description="0: no limit.")
    tokens_per_day: int = Field(0, ge=0, description="Of chat models, in UTC; 0: no limit.")
    running: int = Field(8, ge=1, le=1_000, description="Runs at once.")
    waiting: int = Field(32, ge=0, le=1_000, description="Runs that wait for a place.")
    wait_s: float = Field(30.0, ge=0, le=600, description="Seconds that one waits, at most.")
    question_chars: int = Field(MAX_QUESTION, ge=1, le=MAX_QUESTION)
    upload_mb: int = Field(512, ge=1, le=512, description="CRAG_API__MAX_UPLOAD_MB holds too.")
    without_redis: Literal["count_here", "refuse"] = Field(
        "count_here", description="While Redis is away: limits of each process, or 503."
    )
    tenant: TenantLimits = TenantLimits()


class AuditSettings(Section):
    ttl_days: float = Field(365, ge=0, le=MAX_DAYS, description="Kept; 0: for ever.")
    questions: bool = Field(False, description="Keep the text of questions, too.")


class JwtSettings(Section):
    """Bearer tokens of an identity provider; without `jwks_url` none is taken."""

    jwks_url: str | None = Field(None, description="Where the provider publishes its public keys.")
    issuer: str = Field("", description="What `iss` must be.")
    audience: str = Field("", description="What `aud` must name: this service.")
    algorithms: Listed[Literal["RS256", "ES256", "EdDSA"]] = Field(
        ["RS256", "ES256", "EdDSA"], min_length=1, description="Of signatures; never a shared key."
    )
    leeway_s: float = Field(30.0, ge=0, le=300, description="Seconds that clocks may be apart.")
    cache_s: float = Field(600.0, ge=1, description="Seconds that a fetched key may be used.")
    refetch_s: float = Field(10.0, ge=0, description="Seconds between two fetches, at least.")
    """An unknown key id asks for a fetch: nobody may make the service flood the provider."""
    timeout_s: float = Field(3.0, gt=0, le=30, description="Seconds of one fetch.")
    tenant_claim: str = Field("tenant", min_length=1, description="The claim with the tenant.")
    user_claim: str = Field("sub", min_length=1, description="The claim with the user.")
    groups_claim: str = Field("groups", min_length=1, description="The claim with the groups.")
    scope_claim: str = Field(
        "scope", min_length=1, description="The claim with ask, ingest, admin."
    )

    @field_validator("jwks_url")
    @classmethod
    def _over_tls(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "https://unset")
        plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or not (parts.scheme == "https" or plain):
            raise ValueError("must be https://…; http://… for this machine alone")
        return url or None

    @model_validator(mode="after")
    def _bound(self) -> Self:
        if self.jwks_url and not (self.issuer and self.audience):
            raise ValueError(
                "ISSUER and AUDIENCE must be set: else a token for another service would open this"
            )
        return self


class Settings(GraphSettings):
    """Every setting of the service; what the command line reads and checks names against."""

    host: str = Field("127.0.0.1", min_length=1, description="The address that is served.")
    port: int = Field(8000, ge=0, le=65535, description="0 takes any free port.")
    api: ApiSettings = ApiSettings()
    limits: LimitSettings = LimitSettings()
    audit: AuditSettings = AuditSettings()
    jwt: JwtSettings = JwtSettings()


def check_exposure(settings: Settings, any_stored: Callable[[Settings], bool]) -> None:
    """Raises ConfigurationError for a host that others can reach while nobody needs a key."""
    if asks_for_credentials(settings) or settings.api.allow_anonymous or is_loopback(settings.host):
        return
    if any_stored(settings):
        return
    raise ConfigurationError(
        f"CRAG_HOST {settings.host} can be reached from other machines and no keys are set; "
        "make one with `crag keys create`, set CRAG_API__KEYS or CRAG_JWT__JWKS_URL, or "
        "CRAG_API__ALLOW_ANONYMOUS=true if everyone may use it"
    )


def asks_for_credentials(settings: Settings) -> bool:
    """By its settings alone, whatever keys are stored."""
    return bool(settings.api.keys) or settings.jwt.jwks_url is not None


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
