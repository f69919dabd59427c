"""An identity provider on loopback: it signs tokens, and publishes its public keys."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER = "https://id.example"
AUDIENCE = "corrective-rag"

ALGORITHMS: dict[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


def private_key(algorithm: str, *, bits: int = 2048) -> Any:
    if algorithm == "RS256":
        return rsa.generate_private_key(public_exponent=65537, key_size=bits)
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.generate()


class IdentityProvider:
    """`published` is what is served; `fault` is a status, or seconds to hang, in its place."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, Any]] = {}
        self.published: Any = {"keys": []}
        self.fault: int | float | None = None
        self.fetches = 0
        self.url = ""

    def add_key(self, kid: str, algorithm: str = "ES256", **more: Any) -> None:
        """It signs from now on, and is published."""
        key = private_key(algorithm, **more)
        self.keys[kid] = (algorithm, key)
        jwk = json.loads(ALGORITHMS[algorithm].to_jwk(key.public_key()))
        self.published["keys"].append({**jwk, "kid": kid, "use": "sig"})

    def withdraw(self, kid: str) -> None:
        self.published = {"keys": [k for k in self.published["keys"] if k["kid"] != kid]}

    def token(self, kid: str = "one", **claims: Any) -> str:
        """A good token, but for what is given; a claim that is None is left out."""
        algorithm, key = self.keys[kid]
        return jwt.encode(good_claims(**claims), key, algorithm, headers={"kid": kid})


def good_claims(**claims: Any) -> dict[str, Any]:
    now = int(time.time())
    usual = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "alice",
        "iat": now,
        "exp": now + 300,
        "tenant": "acme",
        "groups": ["hr"],
        "scope": "openid ask",
    }
    return {name: value for name, value in {**usual, **claims}.items() if value is not None}


@contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    provider = IdentityProvider()
    provider.add_key("one")

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.fetches += 1
            fault = provider.fault
            if isinstance(fault, float):
                time.sleep(fault)
            self.send_response(fault if isinstance(fault, int) else 200)
            body = json.dumps(provider.published).encode()
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Answers)
    provider.url = f"http://127.0.0.1:{server.server_port}/keys"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
