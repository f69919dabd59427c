"""The words that show which kind of answer a sentence holds, in English, German and Spanish."""

from typing import Literal

from nodes.money import MONEY

AnswerType = Literal[
    "duration",
    "frequency",
    "date",
    "amount",
    "price",
    "password",
    "pin",
    "phone",
    "email",
    "person",
    "place",
    "step",
    "yes_no",
    "definition",
    "reason",
    "code",
    "other",
]

NEEDS_ITS_KIND: frozenset[AnswerType] = frozenset(
    {"duration", "frequency", "date", "amount", "price", "password", "pin", "phone", "email"}
)
"""Kinds without which a sentence cannot answer; for the others the kind is a sign among signs."""

ASKING = frozenset(
    """phone telephone number email mail address password pin code telefonnummer nummer adresse
    passwort teléfono correo dirección contraseña código cost costs price much take takes last
    lasts long many often amount year date time
    dauert dauern dauer kostet kosten preis beträgt hoch anzahl jahr datum zeit statt finden findet
    cuesta cuestan precio dura duran número año""".split()
)
"""Words that say which kind of answer is asked for, and not about what."""

UNIT = (
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

_NUMBER = r"(?:(?<!\d)\d++(?:[.,]\d++)*+)"
_TIMES = rf"\b(?:{_NUMBER}|{_NUMBER_WORD})[\s\-]+(?:\w+[\s\-]+)?{UNIT}\b"
_RELATED = (
    r"\b(?:within|in|after|by|until|from|every|before|at|since|once|on|innerhalb|binnen|nach|vor|ab|bis"
    r"|seit|alle|spätestens|frühestens|en|dentro|después|antes|desde|hasta|cada)\s+"
)
"""What makes a time of a number of days: `within 5 days`, not `more than 7 days a month`."""
_SAYS_IT = (
    r"[^.;|]{0,60}?(?:\b(?:is|was|are|ist|lautet|lauten|es|reads)\b|[:=])(?!\s+(?:(?:be)?ge\w+t|\w+ed"
    r"|sent|set|kept|given|known|wrong|secret|necessary|erforderlich|nötig|falsch|geheim|not|never"
    r"|too|valid|in|on|at|with|by|to|nicht|nie|im|bei|zu)\b)"
)

HOLDS: dict[AnswerType, str] = {
    "duration": rf"(?:{_NUMBER}|\b{_NUMBER_WORD})(?:[\s\-–]+(?:to |bis |a )?[\w]+)?[\s\-]*{UNIT}\b"
    r"|\b(?:immediately|instantly|at once|overnight|sofort|umgehend|inmediatamente)\b",
    "frequency": rf"\b(?:(?:half-?|bi-?)?(?:hour|dai|week|month|quarter|year|annual|night)ly"
    r"|biannual|annually|every|each|whenever|always|never|regularly|once|twice|times"
    r"|(?:halb|viertel)?jährlich|(?:halb)?(?:täg|stünd)lich|wöchentlich|monatlich"
    r"|(?:ein|zwei|drei|vier|zehn|\d+ ?)mal|jede[nrsm]?|alle|nie|immer|regelmäßig"
    r"|diari[oa]\w*|mensual\w*|semanal\w*|anual\w*|cada|vez|veces|siempre|nunca)\b"
    rf"|\b(?:per|pro|por) {UNIT}\b",
    "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\b(?:1\d|20)\d\ds?\b"
    rf"|\b{_MONTH}\b\.? ?\d|\d\.? (?:de )?{_MONTH}\b|\b\d{{1,2}}(?::\d\d| ?[ap]\.?m\.?| uhr)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|diens|donners|frei|sams|sonn)"
    r"tags?\b|\bmittwochs?\b|\b(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)\b"
    r"|\b(?:on|by|until|before|after|from|since) the \d{1,2}(?:st|nd|rd|th)\b"
    r"|\b(?:am|bis|zum|vom|ab)(?: zum| dem)? \d{1,2}\.(?!\d)"
    rf"|{_RELATED}(?:\w+[\s\-]+){{0,4}}?{_TIMES}"
    rf"|{_TIMES}\s+(?:\w+ ){{0,2}}?(?:before|after|ago|later|prior|earlier|from|of|following"
    r"|vor|nach|ab|später|antes|después)\b"
    r"|\b(?:first|second|third|fourth|fifth|sixth|seventh|\d+(?:st|nd|rd|th)) (?:\w+ )?day\b"
    r"|\bquarter\b|\bQ[1-4]\b"
    r"|\b(?:end|start|beginning|first|last) (?:\w+ )?(?:day )?of\b|\bcentury\b|\bsiglo\b"
    rf"|\b(?:in|by|until|since|every|each|im|bis|seit) {_MONTH}\b",
    "amount": rf"{_NUMBER}|\b{_NUMBER_WORD}\b|\b(?:unlimited|unbegrenzt|free|kostenlos|gratis|none"
    r"|no charge|ilimitado)\b",
    "price": rf"{MONEY}|\d\s?(?:%|percent\b|prozent\b)|\b(?:free|no charge|complimentary|included"
    r"|at no cost|kostenlos|kostenfrei|gratis|umsonst|inklusive|enthalten|gratuit[oa]s?)\b"
    r"|(?:price|cost|fee|fare|rate|charge|preis|kosten|gebühr|precio|tarifa)\w*\b"
    r"(?:(?!\b(?:due|on|by|until|within|am|bis)\b)[^.]){0,20}?\d",
    "password": r"\b(?:pass(?:word|phrase|code)|\w*pass?wort|\w*kennwort|contraseña)\b"
    rf"(?:{_SAYS_IT}|\s+[“„'`\x22])",
    "pin": rf"\b(?:\w*-?code|pin|combination|\w*kombination|c[oó]digo)\b{_SAYS_IT}"
    r"|\b(?:enter|type|press|dial|codes?|pin|gib|tippe\w*|eingeben)\b[^.]{0,20}?(?<![\d:.,])\d{3,}",
    "phone": r"(?<![\w./\-])(?!(?:19|20)\d\d-\d|\d{1,2}[./] ?\d{1,2}[./] ?\d)"
    r"(?!\d{1,3}(?:[.,]\d{3})+(?!\d))"
    r"\+?\(?\d(?:[\s()/.\-]?\d){5,}"
    r"|\b(?:phone|telephone)(?: number)?(?: is|:)? \d{2,}"
    r"|\b(?:ext(?:ension)?|dial|call|tel|hotline|durchwahl|apparat|wähl\w*"
    r"|anruf\w*|\w*nummer|teléfono|extensión)\b\D{0,16}\d{2,}",
    "email": r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+",
    "person": r"(?<![\w\-])(?i:manager|team|lead|leader|head|officer|engineer|director|department"
    r"|owner|admin|administrator|supervisor|coordinator|specialist|president|ceo|cfo|cto|chief"
    r"|council|board|committee|desk|staff|nurse|doctor|teacher|author|king|queen|professor|agent|analyst"
    r"|controller|representative|attorney|lawyer|reception|receptionist|caretaker|colleague"
    r"|employee|chair(?:man|woman|person)?|founder|secretary|planner|buyer|supplier|carrier"
    r"|customer|partner|police|government|people|person|human|purchasing|sales|finance|hr"
    r"|treasurer|cashier|accountant|auditor|bookkeeper|clerk|warden|ranger|janitor|porter"
    r"|driver|cook|chef|baker|miller|gardener|plumber|mechanic|cleaner|trainer|coach|host|guide"
    r"|volunteer|member|guest|visitor|resident|tenant|landlord|student|parent|child|pupil|patient"
    r"|passenger|pilot|captain|mayor|judge|minister|librarian|physician|vendor|contractor"
    r"|operator|inspector|developer|designer|tester|user|everyone|everybody|anyone|nobody|no one"
    r"|writer|singer|player|actor|actress|painter|poet|priest|monk|soldier|knight|emperor"
    r"|jefe|jefa|equipo|director\w*|departamento|responsable|alcalde\w*)s?\b"
    r"|\b(?:[A-Za-z]+ist|group|level \d|tier \d|L\d)s?\b"
    r"|(?i:\b\w*(?:leiter(?:in)?|leitung|abteilung|vorstand|geschäftsführ\w+|beauftragte[rn]?"
    r"|betriebsrat|vorsitzende[rn]?|vorgesetzte[rn]?|führungskr[aä]ft\w*|kolleg(?:e|in)\w*"
    r"|mitarbeiter\w*|beschäftigte\w*|buchhaltung|verwaltung|empfang|hausmeister\w*|arzt|ärztin"
    r"|einkauf|vertrieb|helfer\w*|techniker\w*|wart(?:in)?|meister(?:in)?|müller(?:in)?"
    r"|förster(?:in)?|fahrer\w*|köchin|koch|gärtner\w*|wächter\w*|gäste?n?|mitglied\w*|leute"
    r"|kinder|eltern|nutzer\w*|kund(?:e|in)\w*|besucher\w*|jede[rm]?|niemand|kassierer\w*"
    r"|schüler\w*|lehrer\w*|bürgermeister\w*|präsident\w*|könig\w*|minister\w*)\b)",
    "place": r"\b(?:in|at|on|from|to|near|under|inside|behind|beside|through|within|across|between"
    r"|along|into|over|around|im|am|bei|aus|nach|auf|an|neben|hinter|en|a) "
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
