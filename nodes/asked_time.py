"""Whether a question is of what was: then older documents answer it, too, or alone."""

import re

_USED_TO = r"(?<!is )(?<!are )(?<!be )(?<!was )used to"
"""`It used to be`, not `it is used to open the gate`."""

ASKS_FOR_OLD = re.compile(
    r"\b(?:old|older|previous(?:ly)?|former(?:ly)?|prior|earlier|superseded|outdated|archived?"
    rf"|histor(?:y|ic|ical)|{_USED_TO}|before the|back then"
    r"|originally|at the time|no longer"
    r"|version \d+|v\d+|(?:19|20)\d\d|draft"
    r"|alte[nrs]?|früher\w*|vorherige\w*|bisherige\w*|damals|antigu\w+|anterior\w*)\b",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"\b(?:did|was|were|had|war|waren|galt|galten|kostete[n]?|betrug|betrugen|hatte[n]?|gab|bekam\w*"
    r"|durfte\w*|musste\w*|konnte\w*|zahlte\w*|dauerte\w*|era|eran|fue|costaba\w*|había|tenía\w*)\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\bbefore\W*(?:\([^()]*\)\W*)?$"
    r"|\b(?:last year|the year before|old|older|earlier|prior|original(?:ly)?|back then"
    r"|at the time|use to|früher|vorher|zuvor|davor|bisher|bislang|damals|letzte[ns] jahr|vorjahr"
    r"|alte[nrs]?|antes|antiguamente|año pasado)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"^\W*(?:(?:and|und|y) )?(?:before|früher|vorher|davor|antes)\W*(?:\([^()]*\)\W*)?$"
    r"|\b(?:(?:previous|former)(?:ly)?(?! (?:employ|colleague|customer|member))"
    r"|vorherige\w*|bisherige\w*|frühere[nrs]?|anterior(?:es)?"
    rf"|{_USED_TO} (?:be|cost|have|get|take|pay|charge|last|offer|allow|apply|earn))\b",
    re.IGNORECASE,
)


def asks_for_old(question: str) -> bool:
    """Whether what is not current may answer as well: it names a version, a year, or the past."""
    return bool(ASKS_FOR_OLD.search(question)) or asks_for_before(question)


def asks_for_before(question: str) -> bool:
    """Whether it asks what was so before what is so now. `Can I go earlier?` and `What must be sent
    before?` do not: without a verb of the past they are of today."""
    past = _WAS.search(question) and _THEN.search(question)
    return bool(past or _BEFORE.search(question))
