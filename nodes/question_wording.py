"""Wordings that ask the same, in English and German: openings, phrases, empty words, synonyms."""

import re

OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|hallo|please|bitte)\b[\s,!]*)*"
    r"(?:(?:(?:(?:can|could|would|will) you (?:please )?)?(?:tell me|explain(?: to me)?)"
    r"|(?:i (?:would like|want|need)|i'd like) to know|do you know"
    r"|(?:können|könnten) sie (?:mir )?(?:bitte )?sagen|(?:bitte )?sagen sie mir"
    r"|wissen sie)[\s,:]*(?P<whether>(?:whether|if|ob)\b)?\s*)?"
)

CONTRACTIONS = (
    (re.compile(r"\b(what|who|where|when|how|why|that|there|it)'s\b"), r"\1 is"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(i|we|you|they)'(?:ve)\b"), r"\1 have"),
    (re.compile(r"s'(?=\s)"), "s 's"),
    (re.compile(r"(?<=\w)'s\b"), " 's"),
)

_I = r"(?:i|we|you|one)"
_OF = r"(?:des|der|von|für)(?: d(?:en|as|ie))?"
PHRASES = (
    (re.compile(rf"^how (?:(?:do|can|could|should) {_I}|to) "), "how "),
    (re.compile(r"^what (?:is|are) the (?:procedure|process|way|steps) to "), "how "),
    (re.compile(r"^where (?:do|can|could) (?:i|we|one) find "), "where is "),
    (re.compile(r"^where (?:do|can|could|should|may) (?:i|we|one) "), "where "),
    (re.compile(rf"^whom? (?:do|can|could|should) {_I} "), "whom "),
    (re.compile(r"^(?:for what reason|what (?:is|was) the reason (?:why|that)) "), "why "),
    (re.compile(r"^at what time\b"), "what time"),
    (re.compile(r"^what (?:do|should) (?:i|we) do (?:if|when) "), "what if "),
    (re.compile(r"^what is the meaning of (.+)"), r"what does \1 mean"),
    (re.compile(r"^what (?:do|does)(?= .*\bcost\b) "), "how much does "),
    (
        re.compile(
            r"^(?:how much (?:is|are)|what (?:is|are) the (?:price|cost)s? (?:of|for)) "
            r"(.+?)( per .+)?$"
        ),
        r"how much does \1 cost\2",
    ),
    (re.compile(rf"(?<=\w )do {_I} need(?! to)\b"), "are needed"),
    (re.compile(r"\b(?:has|have|need|needs) to\b"), "must"),
    (re.compile(r"\b(?:sign|log)(ging|ged|s)?[ -](in|out|on|off)\b(?! to| with)"), r"log\2"),
    (re.compile(r"\bin charge of\b"), "responsible for"),
    (re.compile(r"\bget in touch with\b"), "contact"),
    (re.compile(r"\b(?:is|are) able to\b"), "can"),
    (re.compile(r"^is it possible (?:for me )?to "), "can i "),
    (re.compile(r"\be-?mail"), "email"),
    (re.compile(r"\bwi-fi\b"), "wifi"),
    (re.compile(rf"^wie hoch (?:ist der preis|sind die kosten) {_OF} "), "was kostet "),
    (re.compile(r"^wie ?viel kosten?t?\b"), "was kostet"),
    (re.compile(r"^was kosten\b"), "was kostet"),
    (re.compile(r"^wo (?:finde ich|finden wir|findet man) "), "wo ist "),
    (re.compile(r"^wo (?:kann|können) (?:ich|man|wir) "), "wo "),
    (re.compile(r"^was ist die bedeutung (?:von|des|der) "), "was bedeutet "),
    (re.compile(r"^wie lautet\b|^wie lauten\b"), "was ist"),
    (re.compile(r"^wieso\b|^weshalb\b"), "warum"),
)

GERMAN_HOW = re.compile(
    r"^wie (?P<verb>\w+) (?:ich|wir|man) (?P<rest>.+?)"
    r"(?: (?P<particle>ein|aus|an|ab|auf|zurück|um|vor|nach|bei|hoch|weiter))?$"
)
"""How a verb goes to the end: "wie setze ich X zurück", as in "wie kann ich X zurücksetzen"."""

HOW = (
    "many|much|long|often|big|far|fast|quickly|old|high|large|soon|late|early|wide|deep|tall|heavy"
)
WIE = "viele?n?|lange?|oft|hoch|groß|weit|schnell|alt|breit|tief|schwer|spät|früh"
ASKS = re.compile(
    rf"\b(?:how (?:{HOW})|how|what time|what|which|whom|whose|who|where|when|why"
    rf"|wie (?:{WIE})|wie|was|welche[rsnm]?|wer|wen|wem|wessen|wohin|woher|wo|wann|warum)\b"
)
SAME_ASKS = {
    "which": "what",
    "was": "what",
    "how large": "how big",
    "how quickly": "how fast",
    "wie lange": "wie lang",
    "wie viel": "wie viele",
} | {f"welche{ending}": "what" for ending in ("", "r", "s", "n", "m")}
ASKS_OBJECT = re.compile(r"^who(?= (?:do|does|did)\b| (?:can|should|must|may|will) (?:i|we|you)\b)")
YES_NO = {
    "en": frozenset(
        """is are was were do does did can could may might must shall should will would has have
        had""".split()
    ),
    "de": frozenset("darf dürfen kann können muss müssen soll sollen".split()),
}
BEFORE_ASKS = frozenset(
    """for to in at on by from with of since until about under over after before per an auf aus
    bei bis für in mit nach seit über um unter von vor zu ab""".split()
)

DO = ("do", "does")
"""Empty right after the question word: what does it do?"""

EMPTY = {
    "en": frozenset("a an the i we my our is are be am been being there any some".split()),
    "de": frozenset("die das ein eine ich wir man mein meine unser unsere ist sind".split()),
}
"""German articles that show a case stay: who owes whom hangs on them."""

AUXILIARIES = frozenset("must should may will werd kann muss soll".split())
"""Where one stands changes no question; which one it is does."""

PASTS = {"en": frozenset(("was", "were", "did")), "de": frozenset(("war", "waren"))}

_GROUPS = """
price cost | buy purchase | start begin | end expire | get receive | employee staff | big large
need require | needed required necessary | repair fix | maximum max | minimum min
information info | picture photo | colour color | licence license | centre center
programme program | may can could | subsidise subsidize | organisation organization
if when | find locate | mobile cellphone | notebook laptop | show display | wrong incorrect
1 one | 2 two | 3 three | 4 four | 5 five | 6 six | 7 seven | 8 eight | 9 nine | 10 ten
11 eleven | 12 twelve | 14 fourteen | 15 fifteen | 20 twenty | 30 thirty | dem einem meinem unserem
den einen meinen unseren | der einer meiner unserer | des eines meines unseres
kann können darf dürfen | muss müssen | soll sollen
bekomm erhalt | beginn start | zuständig verantwortlich | brauch benötig | kauf erwerb
nötig notwendig erforderlich | firma unternehm | 2 zwei | 3 drei | 4 vier | 5 fünf | 10 zehn
"""
SYNONYMS = {
    word: group.split()[0]
    for line in _GROUPS.strip().splitlines()
    for group in line.split("|")
    for word in group.split()[1:]
}
