"""Whether a Qdrant server answers, lets this service in, and is new enough; for `crag doctor`."""

import httpx

from ingest.errors import ConfigurationError, DependencyError
from ingest.settings import QdrantSettings

OLDEST = (1, 16)
"""Collections carry metadata from here on, and the embedder's name is there."""

PROBE_S = 3.0


def probe(settings: QdrantSettings) -> str:
    """The server's version. Raises DependencyError, or ConfigurationError for one too old."""
    key = settings.api_key
    headers = {"api-key": key.get_secret_value()} if key else {}
    try:
        with httpx.Client(base_url=settings.url or "", headers=headers, timeout=PROBE_S) as client:
            version = str(client.get("/").raise_for_status().json()["version"])
            client.get("/collections").raise_for_status()  # the first one needs no key
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        hint = "; check CRAG_QDRANT__API_KEY" if status in (401, 403) else ""
        raise DependencyError(f"Qdrant at {settings.url} answers {status}{hint}") from error
    except httpx.HTTPError as error:
        raise DependencyError(f"Qdrant at {settings.url} cannot be reached: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DependencyError(f"what answers at {settings.url} is no Qdrant") from error
    if _numbers(version) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise ConfigurationError(f"Qdrant at {settings.url} is {version}; {wanted} is needed")
    return version


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
