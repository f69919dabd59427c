"""What a search or a reranker gave, checked before the run relies on it."""

from ingest.documents import Candidate


def checked_candidates(given: object) -> list[Candidate]:
    """The candidates as a list. Raises TypeError where they are anything else."""
    if not isinstance(given, list | tuple):
        raise TypeError(f"{type(given).__name__} instead of candidates")
    wrong = [one for one in given if not isinstance(one, Candidate)]
    if wrong:
        raise TypeError(f"{type(wrong[0]).__name__} among the candidates")
    return list(given)
