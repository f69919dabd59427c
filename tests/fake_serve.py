"""`crag serve` over a fake service: python -m tests.fake_serve, with CRAG_* in its environment."""

import api.serve
from api.settings import Settings
from ingest.settings import read
from tests.api_fakes import FakeService

if __name__ == "__main__":
    api.serve.open_graph = FakeService()  # type: ignore[assignment]
    api.serve.serve(read(Settings))
