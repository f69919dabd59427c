"""Settings of the HTTP service, and the root of all settings."""

import ipaddress
import json
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from graph.settings import GraphSettings
from ingest.errors import ConfigurationError
from ingest.settings import Section


class ApiSettings(Section):
    keys: Annotated[list[SecretStr], NoDecode] = Field(
        [], description="Bearer keys, separated by commas or as a JSON list."
    )
    allow_anonymous: bool = Field(False, description="Serve beyond loopback without any key.")
    max_body_mb: int = Field(1, ge=1, le=64, description="Largest JSON body, in MB.")
    max_upload_mb: int = Field(25, ge=1, le=512, description="Largest upload request, in MB.")
    max_runs: int = Field(64, ge=1, description="Runs at once; one more is rate_limited.")
    stream_queue: int = Field(64, ge=1, description="Events that may wait for a slow reader.")
    stream_stall_s: float = Field(30, gt=0, description="Seconds a full queue may stand still.")
    shutdown_grace_s: int = Field(10, ge=0, description="Seconds for open requests at the end.")

    @field_validator("keys", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        if value.lstrip().startswith("["):
            return json.loads(value)
        return [key.strip() for key in value.split(",") if key.strip()]


class Settings(GraphSettings):
    """Every setting of the service; what the command line reads and checks names against."""

    host: str = Field("127.0.0.1", min_length=1, description="The address that is served.")
    port: int = Field(8000, ge=0, le=65535, description="0 takes any free port.")
    api: ApiSettings = ApiSettings()


def check_exposure(settings: Settings) -> None:
    """Raises ConfigurationError for a host that others can reach while nobody needs a key."""
    if settings.api.keys or settings.api.allow_anonymous or is_loopback(settings.host):
        return
    raise ConfigurationError(
        f"CRAG_HOST {settings.host} can be reached from other machines and no keys are set; "
        "set CRAG_API__KEYS, or CRAG_API__ALLOW_ANONYMOUS=true if everyone may use it"
    )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
