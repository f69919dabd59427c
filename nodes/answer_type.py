"""What kind of answer a question asks for, and whether a sentence holds that kind."""

import re

from nodes.answer_person import says_who
from nodes.answer_words import HOLDS, UNIT, AnswerType
from nodes.money import is_counted, without_money
from nodes.words import guess_language

# The order decides: the first that matches is the question's type.
_WHICH = (
    r"\b(?:what(?:'s| is| was)?|which|wie (?:lautet|ist)|was ist|welche[rsnm]?|cu[aá]l es|qu[eé])"
    r"(?: (?!(?:about|for|für|to|must|should|does|do|has|can|may|muss|soll\w*|hat|kann|darf)\b)"
    r"[\w\-'’]+){0,4}? "
)
"""What stands between the word that asks and the attribute that is asked for."""

_ASKS: list[tuple[AnswerType, str]] = [
    (
        "password",
        _WHICH + r"(?:\w+-)?(?:pass(?:word|phrase)|\w*pass?wort|\w*kennwort|contraseña)\b"
        r"(?!-)(?! (?:\w*length|polic\w+|rules?|resets?|manager|requirements?|expir\w+|changes?))",
    ),
    (
        "email",
        _WHICH + r"(?:\w+-)?(?:e-?mail(?:[ \-]?a(?:ddress|dresse))|correo electr[oó]nico"
        r"|direcci[oó]n de correo|\w*mail-?adresse)\b|\bwhat(?:'s| is) the e-?mail of\b",
    ),
    (
        "phone",
        _WHICH + r"(?:(?:tele)?phone|mobile|fax|hotline|emergency)[ \-]?(?:number|extension)\b"
        r"|\b(?:which|what) number (?:do|can|should|must|may) \w+ (?:call|dial|ring|phone)\b"
        r"|\bunter welcher \w*nummer\b"
        r"|" + _WHICH + r"(?:telefon|handy|fax|notruf|ruf|hotline-?|service)(?:nummer)\b"
        r"|" + _WHICH + r"(?:durchwahl|(?:n[uú]mero de )?tel[eé]fono)\b",
    ),
    (
        "pin",
        _WHICH + r"(?:pin(?:[ \-]?code)?|c[oó]digo)\b(?! codes?\b)"
        r"|" + _WHICH + r"(?:(?:door|gate|access|entry|alarm|lock|safe|box|key|security)[ \-]?code"
        r"|(?:zugangs|tür|tor|alarm)-?code)\b"
        r"|\b(?:which|what) code (?:opens|unlocks|do i (?:enter|need|use))\b"
        r"|\b(?:what(?:'s| is)|welche[rn]|wie lautet)(?: (?:the|der|den))? code\b(?! of conduct)",
    ),
    (
        "price",
        r"\bhow (?:much|expensive)\b(?! (?:time|notice|longer)).*"
        r"\b(?:costs?|charged?|pay|price|fee)\b|\bhow expensive\b"
        r"|\bwhat (?:do|does|did|will|would) (?:[\w\-'’]+ ){1,8}?cost\b"
        r"|\b(?:how (?:much|high|large|big) (?:is|was|are)|what (?:is|was))(?: [\w\-]+){0,4}?"
        r" (?:budget|salary|bonus|deposit|rent|subsidy|wage)\b(?! \w+ing\b)"
        r"|\bwie (?:hoch|groß) (?:ist|war)(?: \w+){0,3}? \w*(?:budget|gehalt|kaution|miete|bonus)\b"
        r"|"
        + _WHICH
        + r"(?:prices?|costs?|fees?|fare|precio|tarifa)\b(?! (?:cent(?:er|re)|codes?|limits?))"
        r"|\bwas (?:kosten?|kostet)\b|\bwie teuer\b"
        r"|\bwie (?:viel|hoch) (?:ist|sind|kosten?|kostet)\b"
        r"(?: [\w\-]+){0,3}? (?:\w*preise?|\w*kosten|\w*gebühr(?:en)?)\b|\bwie ?viel kostet\b"
        r"|\b(?:was ist|wie lautet|welche[rn]) (?:der|den)? ?\w*preis\b"
        r"|\bwhat (?:do|does) \w+ charge\b|\bcu[aá]nto cuestan?\b|\bqu[eé] precio\b",
    ),
    (
        "frequency",
        r"\bhow (?:often|frequently|many times)\b|\bwie (?:oft|häufig)\b|\bcada cu[aá]nto\b"
        r"|\bcon qu[eé] frecuencia\b|\b(?:what|which) intervals?\b|\bin welchen abständen\b",
    ),
    (
        "definition",
        r"(?<!\bi )\bmean(?:ing|t by|s)?\b(?! (?:to|that|for))|\bstands? for\b|\bdefin(?:e|ition)\b"
        r"|\bversteht man unter\b|\bbedeute[tn]\b|\bwofür steht\b|\bsignifican?\b",
    ),
    (
        "reason",
        r"\bwhy\b|\bwhat (?:\w+ )?(?:caused|causes|cause|reasons?)\b|\bhow come\b"
        r"|\b(?:root )?causes? of\b|\breasons?\b|\b(?:warum|weshalb|wieso|ursache|grund)\b"
        r"|\bpor qu[eé]\b|\brazón\b",
    ),
    (
        "code",
        r"\b(?:which|what|welche[rsnm]?|mit welchem|qu[eé]) (?:[\w\-]+ ){0,3}(?:codes?|command|key"
        r"|settings?|parameter|id|port|flag|version|ticket|field|endpoint|url|file|option|variable"
        r"|model|shortcut|befehl|schlüssel|einstellung|tastenkürzel|c[oó]digo|comando|versi[oó]n)\b"
        r"|^\W*(?:keyboard shortcut|command|environment variable|error code|config\w* key)\b",
    ),
    (
        "person",
        r"\bwho(?:m|se)?\b|\b(?:which|what) (?:\w+ )?(?:persons?|teams?|roles?|department"
        r"|manager|officer|group|people|level|scientist|author|artist|architect|engineer|player"
        r"|minister|president|king|queen|doctor|composer|director)\b|\bname of the (?:\w+ ){0,4}"
        r"(?:officer|manager|director|lead|head|owner|president|author)\b"
        r"|\b(?:wer|wem|wen|wessen)\b|\bqui[eé]n(?:es)?\b",
    ),
    (
        "date",
        r"^\W*when\b(?! (?:may|can|must|should|do i))|\bwhen (?:is|are|does|did|will|was|were)\b"
        r"|\b(?:by|until|till|since|from|as of) when\b|\bdeadlines?\b"
        r"|\b(?:what|which) (?:\w+ )?(?:date|day|year|month|quarter|time)\b(?! (?:frame|limit))"
        r"|\bwann\b|\bwie ?viel uhr\b|\bwie spät\b|\bstichtag\b"
        r"|\bwelche[mnrs]? (?:tag|datum|jahr|monat)\b|\bcu[aá]ndo\b"
        r"|\bqu[eé] (?:d[ií]a|fecha|año)\b|\bfecha l[ií]mite\b",
    ),
    (
        "duration",
        r"\bhow (?:long|soon|quickly|fast|old)\b|\bhow many (?:\w+ )?"
        + UNIT
        + r"\b|\bwithin (?:what|which|how)\b|\b(?:what|which) (?:is the )?(?:\w+ ){0,3}(?:period"
        r"|time ?frame|time limit|duration|retention|lead time|turnaround)\b|^\W*duration\b"
        r"|\bwie (?:lange?|schnell|alt)\b|\bwie viele? (?:\w+ )?"
        + UNIT
        + r"\b|\bfrist\b|\bcu[aá]nto tiempo\b|\bcu[aá]nt[oa]s "
        + UNIT
        + r"\b|\bplazo\b",
    ),
    (
        "place",
        r"\bwhere\b|\b(?:which|what) (?:\w+ )?(?:city|country|building|room|office|location"
        r"|address|folder|path|page|site|bay|shelf|zone)\b|\bis the location\b"
        r"|\b(?:wo|wohin|woher)\b|\bd[oó]nde\b",
    ),
    (
        "amount",
        r"\bhow (?:much|many|large|big|high|heavy|far|tall|wide|deep|expensive)\b"
        r"|\b(?:what|which)(?:'s| is| are| does| do|) (?:\w+ ){0,4}(?:price|cost|fee|amount|rate"
        r"|percentage|percent|limit|maximum|minimum|number|size|weight|budget|quota|threshold"
        r"|discount|allowance|temperature|capacity|range|dimensions?)\b|\bcosts?\b"
        r"|^\W*(?:penalty|fines?|fees?|price)\b"
        r"|\bwie ?viele?\b|\bwas (?:kosten?|kostet|beträgt|zahl(?:e|t|en))\b"
        r"|\bwas (?:muss|soll) (?:ich|man|wir) (?:be)?zahlen\b"
        r"|\bwie (?:hoch|groß|teuer|schwer|weit|breit)\b"
        r"|\b(?:was (?:ist|war)|welche[rsnm]?|wie lautet)"
        r" (?:(?!(?:im|in|bei|mit|am|zum?)\b)\w+ ){0,2}"
        r"\w*(?:preis|gebühr|betrag|anteil|beteiligung|kaution|rabatt|budget|obergrenze|limit"
        r"|pauschale|zuschlag|zuschuss|höhe|anzahl|gewicht|größe|prozentsatz)\b"
        r"|\bwas sind die \w*(?:preise|kosten|gebühren)\b"
        r"|\bcu[aá]nt[oa]s?\b|\bqu[eé] (?:precio|porcentaje)\b",
    ),
    (
        "step",
        r"\bhow (?:do|does|can|could|should|to|would|must|is|are)\b|\bwhat (?:should|do|must)"
        r" (?:i|we|you|one|\w+) do\b|\bsteps?\b|\bprocedure\b|\bwie \w+ (?:ich|man|wir|sie)\b"
        r"|\bwie (?:geht|funktioniert)\b|\bwas (?:muss|soll) ich tun\b|^\W*was tun\b"
        r"|\bwas ist (?:\w+ ){0,4}zu tun\b|\bc[oó]mo\b",
    ),
    (
        "definition",
        r"^\W*(?:what is|what are|what's|was ist|qu[eé] es) (?:an? |the |eine? |un[ao]? )?"
        r"[\w\-./]+(?: [\w\-./]+)?\W*$",
    ),
    (
        "yes_no",
        r"^\W*(?:(?:is|are|was|were|can|could|do|does|did|may|must|should|shall|will|would"
        r"|has|have|had|am) |(?:ist|sind|kann|können|darf|dürfen|muss|müssen|gibt|hat|haben|wird"
        r"|werden|soll|gilt|bekomme|bekommt|habe) |¿?(?:es|est[aá]|puedo|puede|hay|tiene|tengo"
        r"|debo|se puede) )|\bwhether\b|\bis it (?:ok|okay|possible|allowed)\b|\bcan (?:i|we)\b",
    ),
]
_JOINS = re.compile(
    r"\b(?:and|or|und|oder|y|o|both|beide[rns]?|versus|vs|than|als)\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"\bone (?=for|of|in|with|who|that|which|is)\b", re.IGNORECASE)
"""`One for a camper van` counts nothing."""

_TAKEN_OVER = re.compile(r"\?\s*+\([^()]*\)\s*+$")
_RELATIVE = re.compile(
    r"(?P<asks>(?:^|[.?!:]\s+)\W*(?:(?:in|at|by|to|from|on|up to|until) )?"
    r"(?:how|what|which|when|why|is|are|was|do|does|did|can|may|must|should|wie|welche\w*|wann|warum|ist|sind|kann|darf|muss)\b"
    r"[^.?!:]*?)(?<!\band )(?<!\bor )(?<!\bund )(?<!\boder )(?<!\bknow )(?<!\bme )(?<!\bweißt du )"
    r"\b(?:who(?:m|se)?|where|wer|wem|wen|wessen|wo)\b",
    re.IGNORECASE,
)
"""`How long must those who travel wait?` asks for no person: another word opens the question."""

_WAS = re.compile(
    r"\W*was (?P<verb>(?:ist|sind|waren|wird|werden|gilt|gelten|passiert|geschieht)\b)?",
    re.IGNORECASE,
)

_ASKS_COMPILED = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS]

_HOLDS_COMPILED = {
    kind: re.compile(pattern, re.IGNORECASE if kind not in ("place", "code") else 0)
    for kind, pattern in HOLDS.items()
    if kind != "person"
}


def expected_type(question: str) -> AnswerType:
    """The kind of answer asked for; `other` where the words do not tell.

    Words in brackets after the question, which a part or a follow-up took over, ask for nothing,
    nor does a relative "who".
    """
    question = _RELATIVE.sub(r"\g<asks>that", _TAKEN_OVER.sub("?", question))
    for kind, pattern in _ASKS_COMPILED:
        if pattern.search(question):
            return "other" if kind == "yes_no" and _is_german_what(question) else kind
    return "other"


def _is_german_what(question: str) -> bool:
    """`Was gilt im Lager?` is no `Was it cold?`."""
    opening = _WAS.match(question)
    return opening is not None and (opening["verb"] is not None or guess_language(question) == "de")


def asks_of_several(question: str) -> bool:
    """Whether it may ask the same of several things: `of tickets and recordings`."""
    return _JOINS.search(question) is not None


def holds_type(sentence: str, kind: AnswerType, question: str = "") -> bool:
    """Whether a sentence could state an answer of this kind; always so for `other`. Who is named
    in the question itself is none, nor is a price to `how many`."""
    if kind == "person":
        return says_who(sentence, question)
    if kind == "amount" and is_counted(question):
        sentence = _PRONOUN.sub("", without_money(sentence))
    return _HOLDS_COMPILED[kind].search(sentence) is not None
