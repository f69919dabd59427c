"""What kind of answer a question asks for, and whether a sentence holds that kind."""

import re
from typing import Literal

AnswerType = Literal[
    "duration",
    "date",
    "amount",
    "person",
    "place",
    "step",
    "yes_no",
    "definition",
    "reason",
    "code",
    "other",
]

_UNIT = (
    r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|quarters?|nights?"
    r"|sekunden?|minuten?|stunden?|tage?n?|werktage?n?|arbeitstage?n?|wochen?|monate?n?|jahre?n?"
    r"|segundos?|minutos?|horas?|d[ií]as?|semanas?|mes(?:es)?|años?)"
)
_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty"
    r"|thirty|forty|fifty|sixty|ninety|hundred|half|once|twice"
    r"|einem?r?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|vierzehn|dreißig"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|quince|veinte|treinta)"
)
_MONTH = (
    r"(?:jan(?:uary|uar|\.)?|feb(?:ruary|ruar|\.)?|mar(?:ch|\.)|märz|apr(?:il|\.)?|may|mai"
    r"|june?|juni|july?|juli|aug(?:ust|\.)?|sep(?:t|tember|\.)?|o[ck]t(?:ober|\.)?"
    r"|nov(?:ember|\.)?|de[cz](?:ember|\.)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|septiembre|octubre|noviembre|diciembre)"
)

# The order decides: the first that matches is the question's type.
_ASKS: list[tuple[AnswerType, str]] = [
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
        r"|\bwann\b|\bstichtag\b|\bwelche[mnrs]? (?:tag|datum|jahr|monat)\b|\bcu[aá]ndo\b"
        r"|\bqu[eé] (?:d[ií]a|fecha|año)\b|\bfecha l[ií]mite\b",
    ),
    (
        "duration",
        r"\bhow (?:long|soon|quickly|fast|often|frequently|old)\b|\bhow many (?:\w+ )?"
        + _UNIT
        + r"\b|\bwithin (?:what|which|how)\b|\b(?:what|which) (?:is the )?(?:\w+ ){0,3}(?:period"
        r"|time ?frame|time limit|duration|retention|lead time|turnaround)\b|^\W*duration\b"
        r"|\bwie (?:lange?|schnell|oft|alt)\b|\bwie viele? (?:\w+ )?"
        + _UNIT
        + r"\b|\bfrist\b|\bcu[aá]nto tiempo\b|\bcu[aá]nt[oa]s "
        + _UNIT
        + r"\b|\bplazo\b|\bcada cu[aá]nto\b",
    ),
    (
        "place",
        r"\bwhere\b|\b(?:which|what) (?:\w+ )?(?:city|country|building|room|office|location"
        r"|address|folder|path|page|site|bay|shelf|zone)\b|\blocation\b|\b(?:wo|wohin|woher)\b"
        r"|\bd[oó]nde\b",
    ),
    (
        "amount",
        r"\bhow (?:much|many|large|big|high|heavy|far|tall|wide|deep|expensive)\b"
        r"|\b(?:what|which)(?:'s| is| are| does| do|) (?:\w+ ){0,4}(?:price|cost|fee|amount|rate"
        r"|percentage|percent|limit|maximum|minimum|number|size|weight|budget|quota|threshold"
        r"|discount|allowance|temperature|capacity|range|dimensions?)\b|\bcosts?\b"
        r"|^\W*(?:penalty|fines?|fees?|price)\b"
        r"|\bwie ?viele?\b|\bwas kostet\b|\bwie (?:hoch|groß|teuer|schwer)\b"
        r"|\bcu[aá]nt[oa]s?\b|\bqu[eé] (?:precio|porcentaje)\b",
    ),
    (
        "step",
        r"\bhow (?:do|does|can|could|should|to|would|must|is|are)\b|\bwhat (?:should|do|must)"
        r" (?:i|we|you|one|\w+) do\b|\bsteps?\b|\bprocedure\b|\bwie \w+ (?:ich|man|wir|sie)\b"
        r"|\bwie (?:geht|funktioniert)\b|\bwas (?:muss|soll) ich tun\b|\bc[oó]mo\b",
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
_ASKS_COMPILED = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS]

_NUMBER = r"(?:(?<!\d)\d++(?:[.,]\d++)*+)"
_HOLDS: dict[AnswerType, str] = {
    "duration": rf"(?:{_NUMBER}|\b{_NUMBER_WORD})(?:[\s\-–]+(?:to |bis |a )?[\w]+)?[\s\-]*{_UNIT}\b"
    r"|\b(?:daily|weekly|monthly|quarterly|yearly|annually|immediately|hourly|biweekly|every|"
    r"täglich|wöchentlich|monatlich|jährlich|vierteljährlich|sofort|diario|mensual|anual)\b",
    "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b(?:1[5-9]|20)\d\d\b"
    rf"|\b{_MONTH}\b\.? ?\d|\d\.? (?:de )?{_MONTH}\b|\b\d{{1,2}}(?::\d\d| ?[ap]\.?m\.?| uhr)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|diens|donners|frei|sams|sonn)"
    r"tags?\b|\bmittwochs?\b|\b(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)\b"
    rf"|\b(?:{_NUMBER}|{_NUMBER_WORD})[\s\-]+(?:\w+[\s\-]+)?{_UNIT}\b|\bquarter\b|\bQ[1-4]\b"
    r"|\b(?:end|start|beginning|first|last) (?:\w+ )?(?:day )?of\b|\bcentury\b|\bsiglo\b"
    rf"|\b(?:in|by|until|since|every|each|im|bis|seit) {_MONTH}\b",
    "amount": rf"{_NUMBER}|\b{_NUMBER_WORD}\b|\b(?:unlimited|unbegrenzt|free|kostenlos|gratis|none"
    r"|no charge|ilimitado)\b",
    "person": r"@|\b(?:[A-Z][\w'’\-]+ (?:(?:[A-Z]\.|van|von|de|der|da|del|la|bin) ?)*"
    r"[A-Z][\w'’\-]+)"
    r"|\b(?:manager|team|lead|leader|head|officer|engineer|director|department|owner|admin"
    r"|administrator|supervisor|coordinator|specialist|president|ceo|cfo|cto|chief|council|board"
    r"|committee|desk|staff|nurse|doctor|teacher|author|king|queen|professor|leiter(?:in)?|"
    r"abteilung|team|vorstand|geschäftsführ\w+|personalabteilung|beauftragte[rn]?|betriebsrat|"
    r"jefe|jefa|equipo|director\w*|departamento|responsable|alcalde\w*|[a-z]+ist|agent|analyst"
    r"|controller|representative|group|level \d|tier \d|L\d)s?\b",
    "place": r"\b(?:in|at|on|from|to|near|under|inside|behind|beside|im|am|bei|aus|nach|en|a) "
    r"(?:the |der |dem |den |la |el )?(?:\w+ )?[A-Z0-9]|/\w+|https?:|\b(?:room|building|floor"
    r"|office|street|city|town|portal|page|tab|menu|folder|drawer|shelf|desk|site|warehouse"
    r"|cabinet|north|south|east|west|coast|river|raum|gebäude|stock|büro|straße|stadt|seite|"
    r"lager|edificio|oficina|calle|ciudad|sala|planta)\b",
    "step": r"^\s*(?:\d+[.)]|[-*•])|\b(?:click|open|run|go to|select|choose|submit|send|enter|fill"
    r"|log ?in|sign in|contact|call|email|e-mail|press|set|add|remove|restart|check|use|create|"
    r"request|install|upload|download|report|ask|hold|turn|place|put|mix|heat|apply|wait|start|"
    r"stop|switch|connect|follow|book|file|raise|must be|via|through|öffnen|klicken|wählen|"
    r"senden|melden|beantragen|ausfüllen|einreichen|starten|eingeben|über das|abra|haga clic|"
    r"seleccione|envíe|pulse|rellene|solicite|use|mediante)\w*\b|\bby \w+ing\b",
    "yes_no": r"\b(?:may|must|can|cannot|can't|not|no|never|only|always|allowed|permitted|required"
    r"|forbidden|prohibited|excluded|included|includes|eligible|entitled|available|supported|"
    r"supports|possible|except|unless|without|yes|free|need|needs|mandatory|optional|compatible|"
    r"covers?|covered|applies|apply|accepted|is|are|does|do|will|have|has|"
    r"darf|dürfen|kann|können|muss|müssen|nicht|kein\w*|nur|nie|erlaubt|verboten|möglich|"
    r"ausgeschlossen|enthalten|pflicht|ist|sind|wird|werden|"
    r"puede\w*|debe\w*|no|solo|nunca|permitid\w+|prohibid\w+|obligatori\w+|es|son|está\w*)\b",
    "definition": r"\b(?:is|are|means?|refers? to|stands? for|defined as|called|known as|describes?"
    r"|denotes?|ist|sind|bedeutet|bezeichnet|heißt|steht für|es|son|significa|se refiere|"
    r"consiste)\b|[:—–(]",
    "reason": r"\b(?:because|due to|caused? by|the reason|reasons? being|as a result|so that"
    r"|so as to|in order to|therefore|led to|owing to|triggered|root cause"
    r"|to (?:avoid|prevent|protect|ensure)"
    r"|otherwise|would|weil|grund (?:sind|ist|dafür|war)|aufgrund|wegen|damit|um .{3,60} zu|deshalb"
    r"|ursache|sonst|denn|porque|debido|ya que|para que|para evitar|por eso|gracias a|thanks to"
    r"|result\w* (?:of|from|in)|prevents?|since (?:it|they|the|this|there|we|our))\b"
    r"|: (?:its|the|a|an|it|they|die|der|das)\b",
    "code": r"[A-Z]{1,12}-\d|\w+[._/]\w+|\b\w+_\w+|\b[A-Z]{2,}\d*\b|\d|`|--\w",
    "other": r"",
}
_HOLDS_COMPILED = {
    kind: re.compile(pattern, re.IGNORECASE if kind not in ("person", "place", "code") else 0)
    for kind, pattern in _HOLDS.items()
}


def expected_type(question: str) -> AnswerType:
    """The kind of answer asked for; `other` where the words do not tell."""
    for kind, pattern in _ASKS_COMPILED:
        if pattern.search(question):
            return kind
    return "other"


def holds_type(sentence: str, kind: AnswerType) -> bool:
    """Whether a sentence could state an answer of this kind; always so for `other`."""
    return _HOLDS_COMPILED[kind].search(sentence) is not None
