"""A filter by status, as the store can apply it: by the ids of the documents that have it."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.filters import Condition, Filters
from ingest.live import LiveBase
from ingest.ports import DocumentRecord

STATUS = st.sampled_from(["current", "superseded", "draft"])


def live(statuses: list[str]) -> LiveBase:
    documents = {
        f"d{n}": DocumentRecord(f"d{n}", f"{n}.md", "", "r", "", "", 1, "", status=status)
        for n, status in enumerate(statuses)
    }
    return LiveBase("kb", 1, "v", documents)


@given(st.lists(STATUS, max_size=12), st.lists(STATUS, max_size=3), st.booleans())
def test_admits_the_documents_that_have_the_status_and_names_the_fewer(
    statuses: list[str], named: list[str], exclude: bool
) -> None:
    base = live(statuses)
    stored = base.stored(Filters([Condition("status", named, exclude)])).conditions
    wanted = [key for key, d in base.documents.items() if (d.status in named) != exclude]
    admitted = [key for key in base.documents if all(c.admits(key) for c in stored)]
    assert admitted == wanted
    fewer = min(len(wanted), len(statuses) - len(wanted))
    assert [len(c.values) for c in stored] == ([fewer] if fewer or not wanted else [])
