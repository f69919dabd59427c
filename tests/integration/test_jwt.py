"""Bearer tokens: which are taken, whose scope they give, and what holds while keys change."""

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.adapters.jwks import JwtVerifier
from api.identity import Identity
from api.jwt_claims import identity_of
from api.settings import JwtSettings, Settings
from ingest.errors import DependencyError
from ingest.scope import Scope
from tests.api_clients import client_of
from tests.api_fakes import FakeService
from tests.identity_provider import (
    AUDIENCE,
    ISSUER,
    IdentityProvider,
    good_claims,
    identity_provider,
)


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as provider:
        yield provider


def settings_for(provider: IdentityProvider, **more: Any) -> JwtSettings:
    return JwtSettings(jwks_url=provider.url, issuer=ISSUER, audience=AUDIENCE, **more)


def verifier(provider: IdentityProvider, **more: Any) -> JwtVerifier:
    return JwtVerifier(settings_for(provider, **more))


def unsigned(header: dict[str, Any], claims: dict[str, Any], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_good_token_gives_its_claims(provider: IdentityProvider, algorithm: str) -> None:
    provider.add_key("two", algorithm)
    claims = await verifier(provider).claims(provider.token("two"))
    assert claims is not None and claims["sub"] == "alice"
    others = [one for one in ("RS256", "ES256", "EdDSA") if one != algorithm]
    assert await verifier(provider, algorithms=others).claims(provider.token("two")) is None


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-service"},
        {"aud": None},
        {"aud": []},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"exp": "never"},
        {"nbf": 4_000_000_000},
        {"iat": 4_000_000_000},
    ],
)
async def test_a_token_for_others_or_other_times_is_refused(
    provider: IdentityProvider, claims: dict[str, Any]
) -> None:
    asked = verifier(provider)
    assert await asked.claims(provider.token()) is not None
    assert await asked.claims(provider.token(**claims)) is None


async def test_clocks_may_be_apart_by_the_leeway_and_no_more(provider: IdentityProvider) -> None:
    now = good_claims()["iat"]
    asked = verifier(provider, leeway_s=30)
    assert await asked.claims(provider.token(exp=now - 10)) is not None
    assert await asked.claims(provider.token(nbf=now + 10)) is not None
    assert await asked.claims(provider.token(exp=now - 60)) is None
    assert await asked.claims(provider.token(nbf=now + 60)) is None


async def test_what_is_not_signed_by_a_published_key_is_refused(provider: IdentityProvider) -> None:
    asked = verifier(provider)
    provider.add_key("rsa", "RS256")
    _, key = provider.keys["rsa"]
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    shared = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    head = {"alg": "HS256", "kid": "rsa", "typ": "JWT"}
    signed = unsigned(head, good_claims()).rsplit(".", 1)[0]
    with_public = shared.sign(signed.encode(), public)
    good = provider.token()
    with identity_provider() as other:
        forged = other.token()
    tokens = [
        unsigned({"alg": "none", "kid": "one"}, good_claims()),
        unsigned({"alg": "None", "kid": "one"}, good_claims(), b"x"),
        unsigned({"alg": "RS256", "kid": "one"}, good_claims()),
        unsigned(head, good_claims(), with_public),
        unsigned({"alg": "RS256"}, good_claims(), b"x"),
        unsigned({"alg": "RS256", "kid": ["one"]}, good_claims(), b"x"),
        unsigned({"alg": "ES256", "kid": "rsa"}, good_claims(), b"x"),
        forged,
        good[:-4] + "AAAA",
        good.rsplit(".", 1)[0] + ".",
        f"{good}.{good}",
        "a.b.c",
        "..",
        "x" * 20_000,
    ]
    assert await asked.claims(good) is not None
    assert [await asked.claims(token) for token in tokens] == [None] * len(tokens)


async def test_a_shared_secret_or_a_weak_key_in_the_set_is_not_used(
    provider: IdentityProvider,
) -> None:
    secret = base64.urlsafe_b64encode(b"s" * 32).decode().rstrip("=")
    provider.published["keys"].append({"kty": "oct", "k": secret, "kid": "shared", "alg": "HS256"})
    provider.published["keys"] += [{"kid": "odd"}, "odd", {"kty": "RSA", "kid": "half"}]
    provider.add_key("weak", "RS256", bits=1024)
    asked = verifier(provider)
    token = jwt.encode(good_claims(), b"s" * 32, "HS256", headers={"kid": "shared"})
    assert await asked.claims(token) is None
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        weak = provider.token("weak")
    assert await asked.claims(weak) is None
    assert await asked.claims(provider.token()) is not None


async def test_a_rolled_key_is_fetched_and_the_old_one_ends(provider: IdentityProvider) -> None:
    asked = verifier(provider, refetch_s=0)
    old = provider.token()
    assert await asked.claims(old) is not None
    provider.add_key("two")
    provider.withdraw("one")
    assert await asked.claims(provider.token("two")) is not None
    assert await asked.claims(old) is None


async def test_unknown_keys_do_not_flood_the_provider(provider: IdentityProvider) -> None:
    asked = verifier(provider)
    good = provider.token()
    provider.keys |= {f"made-up-{n}": provider.keys["one"] for n in range(50)}
    flood = [asked.claims(provider.token(f"made-up-{n}")) for n in range(50)]
    answers = await asyncio.gather(*flood, asked.claims(good))
    assert answers[:-1] == [None] * 50 and answers[-1] is not None
    assert provider.fetches == 1


@pytest.mark.parametrize("fault", [500, 302, 0.5, "no set", {"keys": None}])
async def test_without_keys_nobody_is_let_in(provider: IdentityProvider, fault: Any) -> None:
    if isinstance(fault, int | float):
        provider.fault = fault
    else:
        provider.published = fault
    asked = verifier(provider, timeout_s=0.2)
    for _ in range(3):
        with pytest.raises(DependencyError):
            await asked.claims(provider.token())
    assert provider.fetches == 1


async def test_known_keys_go_on_for_their_time_while_the_provider_is_away(
    provider: IdentityProvider,
) -> None:
    now = 0.0
    asked = JwtVerifier(settings_for(provider, cache_s=600, refetch_s=10), clock=lambda: now)
    token = provider.token()
    assert await asked.claims(token) is not None
    provider.fault = 500
    now = 500.0
    assert await asked.claims(token) is not None
    now = 700.0
    with pytest.raises(DependencyError):
        await asked.claims(token)
    provider.fault = None
    now = 705.0  # too soon to ask again
    with pytest.raises(DependencyError):
        await asked.claims(token)
    now = 711.0
    assert await asked.claims(token) is not None


HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5u"]),
    st.sampled_from(["RS256", "none", "HS256", "one", ["b64"], False, None, 1, {"kty": "oct"}]),
)


def test_no_made_up_token_opens_or_crashes() -> None:
    """Nor does one that brings its own key, or says where to fetch it."""
    with identity_provider() as provider, asyncio.Runner() as runner:
        asked = verifier(provider)

        @settings(max_examples=60)
        @given(header=HEADERS, body=st.binary(max_size=20), signature=st.binary(max_size=20))
        def made_up(header: dict[str, Any], body: bytes, signature: bytes) -> None:
            token = unsigned(header, good_claims(), signature)
            raw = ".".join([token.split(".")[0], base64.urlsafe_b64encode(body).decode(), "AA"])
            for one in (token, raw):
                assert runner.run(asked.claims(one)) is None

        made_up()
        assert runner.run(asked.claims(provider.token())) is not None
        assert runner.run(asked.claims(provider.token(exp=float("inf")))) is None


# From claims to a scope


def test_the_scope_is_that_of_the_claims() -> None:
    found = identity_of(good_claims(), JwtSettings())
    assert found is not None
    assert found.scope == Scope("acme", ["user:alice", "group:hr"])
    assert found.may == {"ask"}


def test_claims_have_the_names_that_the_settings_give() -> None:
    named = JwtSettings(
        tenant_claim="https://acme.example/org",
        user_claim="email",
        groups_claim="roles",
        scope_claim="permissions",
    )
    claims = {
        "https://acme.example/org": "globex",
        "email": "bob@globex.example",
        "roles": "it",
        "permissions": ["ingest", "admin", "root"],
        "tenant": "acme",
    }
    found = identity_of(claims, named)
    assert found is not None
    assert found.scope == Scope("globex", ["user:bob@globex.example", "group:it"])
    assert found.may == {"ingest", "admin"}


@pytest.mark.parametrize(
    "claims",
    [
        {"tenant": None},
        {"tenant": ["acme"]},
        {"tenant": {"$ne": ""}},
        {"tenant": "x' || tenant == 'y"},
        {"tenant": "../acme"},
        {"tenant": "аcme"},  # a Cyrillic a
        {"tenant": "acme\n"},
        {"tenant": ""},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a,b"},
        {"groups": {"hr": True}},
        {"groups": ["hr", 7]},
        {"groups": ["hr\u202e"]},
        {"groups": [f"g{n}" for n in range(101)]},
        {"scope": 7},
    ],
)
def test_claims_that_are_not_understood_open_nothing(claims: dict[str, Any]) -> None:
    assert identity_of(good_claims(**claims), JwtSettings()) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(tenant=JSON, sub=JSON, groups=JSON, scope=JSON)
def test_no_claims_crash_or_give_more_than_they_say(
    tenant: Any, sub: Any, groups: Any, scope: Any
) -> None:
    claims = {"tenant": tenant, "sub": sub, "groups": groups, "scope": scope}
    found = identity_of(claims, JwtSettings())
    assert found is None or (isinstance(found, Identity) and found.scope.tenant == tenant)
    assert found is None or found.scope.principals[0] == f"user:{sub}"


# Over HTTP


async def test_a_token_opens_the_service_and_nothing_else_does(
    provider: IdentityProvider, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "crag", host="0.0.0.0", jwt=settings_for(provider))
    async with client_of(settings, FakeService()) as client:

        async def status(bearer: str | None, path: str = "/v1/runs") -> int:
            headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
            return (await client.get(path, headers=headers)).status_code

        assert await status(provider.token()) == 200
        assert await status(None) == 401
        assert await status(provider.token(aud="another")) == 401
        assert await status(provider.token(tenant="../acme")) == 401
        assert await status(provider.token(scope="ingest")) == 404
        assert await status(provider.token(scope="openid")) == 404


async def test_a_provider_that_is_away_is_a_503(provider: IdentityProvider, tmp_path: Path) -> None:
    provider.fault = 500
    settings = Settings(data_dir=tmp_path / "crag", jwt=settings_for(provider))
    async with client_of(settings, FakeService()) as client:
        headers = {"Authorization": f"Bearer {provider.token()}"}
        answer = await client.get("/v1/runs", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (503, "dependency_down")
    assert "127.0.0.1" not in answer.text
