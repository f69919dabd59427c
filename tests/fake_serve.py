"""`crag serve` over a fake service: python -m tests.fake_serve, with CRAG_* in its environment."""

import functools

import api.serve
from api.settings import Settings
from ingest.settings import read
from tests.api_fakes import FakeService

if __name__ == "__main__":
    create = functools.partial(api.serve.create_app, open_service=FakeService())
    api.serve.create_app = create  # type: ignore[assignment]
    api.serve.serve(read(Settings))
