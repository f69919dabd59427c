"""The signs that a sentence gives orders to a model: each a weight and a pattern.

Patterns read lower-case text in English, German and Spanish. Weights were set by hand on the tuning
halves of BIPIA (arXiv 2312.14197) and deepset/prompt-injections against the sentences of manuals,
articles and abstracts: a sign that those have too stays below the bar alone.
"""

_START = (
    r"(?:^|[.!?:;,\"'“„¡*\]]\s*|\b(?:please|then|and|but|instead|bitte|dann|und|jetzt|nun|y)\s)"
)
_YOURS = r"(?:your|deine[mnrs]?|ihre[mnrs]?|tus?|sus?)"
_REPLY = (
    r"(?:answers?|repl(?:y|ies)|responses?|output|messages?|antwort(?:en)?|ausgabe|nachricht"
    r"|respuestas?|mensajes?)\b(?!\s+(?:time|rate|code|header|team|form))"
)
_ORDERS = (
    r"(?:instructions?|prompts?|orders|commands?|directives?|guidelines|assignments?|context"
    r"|articles?|artikels?|documents?|conversation|texts?|anweisung(?:en)?|aufträge|aufgaben?"
    r"|vorgaben|befehle|ausführungen|anleitungen|texte?s?|dokumente?|instrucciones|órdenes|indicaciones|consignes"
    r"|information(?:en)?|informaciones)"
)
_BEFORE = (
    r"(?:previous|prior|preceding|earlier|above|foregoing|before|your|you (?:were|have been) given"
    r"|system|initial|original|provided|given|all|everything|any|obige[nrs]?|vorherige[nrs]?"
    r"|bisherige[nrs]?|vorangegangene[nrs]?|alle[ns]?|deine|ihre|anterior(?:es)?|previas?|todas?|todo|toutes)"
)
_FORGET = (
    r"(?:ignore|disregard|forget|drop|override|overrule|abandon|bypass|discard|neglect|i[gm]n?mre"
    r"|vergiss|vergesst|vergessen sie|ignorieren?(?: sie)?|missachten?|verwirf|olvid[ae]|ignor[ae]"
    r"|descart[ae]|oubliez|ignorez)"
)
_MAKE = (
    r"(?:provide|give|write|express|translate|encrypt|encode|group|remove|reverse|invert|modify"
    r"|enhance|replace|use|scramble|rearrange|anagram|apply|integrate|add|insert|include|append"
    r"|embed|begin|start|end|finish|format|phrase|rewrite|convert|render|change|substitute"
    r"|delete|craft|make|swap|split|incorporate|mention|promote|introduce|weave|present|spell|deliver|misspell|omit"
    r"|schreibe?|gib|formuliere|übersetze|verschlüssle|beginne|beende|füge|ersetze|baue|erwähne"
    r"|verwende|escribe|da|traduce|incluye|añade|agrega|empieza|termina|reemplaza|usa|cifra)"
)
_MODEL = (
    r"(?:language model|llm|a\.?i\.?(?: (?:model|system|assistant|agent))?|ki(?:-\w+)?|chatbot|gpt"
    r"|chatgpt|assistant|sprachmodell|assistent|asistente|modelo de lenguaje|ia|bot)"
)
_WORK = (
    r"(?:poem|essay|story|song|joke|rap|manifesto|love letter|speech|headline|haiku|code|python"
    r"|c\+\+|sql|tweet|gedicht|aufsatz|witz|manifest|rede|überschrift|geschichte|lied|begründung|poema"
    r"|ensayo|chiste|historia|canción|discurso|manifiesto|código)"
)
_TOLD = (
    r"(?:system\W{0,2}prompt|prompt\W{0,2}texte?s?|prompts?|instructions|anweisungen|instrucciones)"
)
_SHOW = (
    r"(?:show|reveal|print|output|repeat|display|list|tell me|give me|copy|leak|expose|zeige?|gib"
    r"|nenne|wiederhole|verrate|muestra|revela|imprime|repite|dime)"
)

SIGNS: dict[str, tuple[float, str]] = {
    # Away with what was said before
    "override": (
        0.9,
        rf"\b{_FORGET}\b(?:\W+\w+){{0,4}}?\W+{_BEFORE}(?:\W+\w+){{0,3}}?\W+{_ORDERS}\b",
    ),
    "override_loose": (0.3, rf"\b{_FORGET}\b(?:\W+\w+){{0,2}}?\W+{_BEFORE}\b"),
    "forget_all": (
        0.8,
        r"\b(?:forget|drop|ignore|vergiss|vergessen sie|olvid[ae]|oubliez)\b"
        r"(?: about| jetzt| todo lo| wh?at| waht)?,?\W+(?:everything|all (?:that|of|the|previous"
        r"|your|pre)|what(?:'s| i| was)|waht'?s|alles|alle\b|todo|todas|toutes|all instructions)",
    ),
    "not_from_documents": (
        0.8,
        r"\b(?:do not|don'?n?t|never|not|nicht|no)\b(?:\W+\w+){0,6}?\W+"
        r"(?:by|from|in|according to|based on|with|look at|auf|aus|in|según|en)\W+(?:the|den"
        r"|los)?\W*"
        r"(?:provided|given|retrieved|gegebenen)?\W*(?:documents?|articles?|context|dokumenten?"
        r"|artikeln?|documentos)\W+(?:provided|given)?",
    ),
    "new_task": (
        0.55,
        r"\b(?:(?:your )?new (?:tasks?|assignment|instructions?|orders?|challenge)\b(?! manual)"
        r"|(?:deine |unsere )?neuen? (?:aufgaben?|anweisung(?:en)?|aufträge)|next task"
        r"|weiteren aufgabe|nuevas? (?:tareas?|instrucci(?:ón|ones)))(?= ?(?:follow\b(?! from)|come"
        r"|for you|:|is\b|are\b|folgen|kommt|kommen|para|\.|,|!|$))",
    ),
    # Whom it speaks to
    "you_are_now": (
        0.45,
        r"\b(?:you(?:'re| are) now|from now on,? you|you (?:are|must act as) no longer|ab (?:jetzt"
        r"|sofort)"
        r" bist du|du bist (?:jetzt|nun|ab)|ahora eres|eres ahora|a partir de ahora,? (?:eres"
        r"|tú))\b",
    ),
    "act_as": (
        0.7,
        rf"{_START}(?:act|behave|respond|answer|speak|pose|verhalte dich|antworte|sprich|handle"
        rf"|actúa"
        r"|compórtate|responde) (?:as|like|wie|als|como)(?: if)? (?:an?\b|my\b|the\b|you\b|ein|un)",
    ),
    "i_want_you": (
        0.65,
        r"\b(?:i (?:want|would like|need|command|order) you to|i command you|you (?:will|shall)"
        r" act as|ich (?:möchte|will), dass (?:du|sie)|quiero que)\b",
    ),
    "pretend": (
        0.4,
        rf"{_START}(?:pretend|imagine|role-?play|stell dir vor|stellen sie sich vor|tu so|finge"
        rf"|imagina)"
        r"\b(?:\W+\w+){0,3}?\W+(?:you|yourself|du|dich|sie|tú|que)\b",
    ),
    "as_a_model": (
        0.65,
        rf"\b(?:(?:you(?:'re| are)|du bist|eres|sie sind) (?:(?:an?|eine?|un|una) )?(?:[\w\-]+"
        rf" ){{0,2}}"
        rf"{_MODEL}|(?:as|como|als) (?:an?|eine?|un|una) (?:ai )?(?:language model|sprachmodell"
        r"|modelo de lenguaje|llm))\b",
    ),
    "to_models": (
        0.85,
        rf"\b(?:note|attention|message|hello|hey|hinweis|achtung|atención|aviso|dear)\W+"
        rf"(?:to |for |an |für |a |para )?(?:the |all |any |die |das |el |la )?{_MODEL}\b",
    ),
    "models_must": (
        0.75,
        rf"\b(?:any |the |all |every |die |der |das |el |la )?{_MODEL}s?(?: \w+){{0,4}}? "
        r"(?:reading|processing|summari[sz]ing|that reads?|must (?:say|answer|reply|include"
        r"|respond)|should (?:say|answer|reply|respond))\b",
    ),
    # What is to be said
    "shape_reply": (
        0.65,
        rf"{_START}(?:can you |could you |kannst du"
        rf" )?{_MAKE}\b(?:(?:\W+[\w'.%$]+){{0,14}}?\W+{_YOURS}"
        rf"|(?:\W+\w+){{0,2}}?\W+(?:the|all|every|each|die|la))\W+(?:\w+\W+){{0,1}}?{_REPLY}",
    ),
    "reply_shaped": (
        0.65,
        rf"{_START}{_MAKE}\b.{{0,120}}\b(?:in|to|into|of|for|with|from) your {_REPLY}",
    ),
    "reply_only": (
        0.6,
        rf"(?:{_START}|\bonly |\bjust |\byou )(?:answer|reply|respond|output|antworte|responde"
        rf"|contesta)\W+"
        r"(?:only|just|always|nothing but|solely|nur|immer|ausschließlich|solo|sólo|siempre)\b",
    ),
    "only_reply": (
        0.6,
        r"(?:\b(?:only|just|nur|einfach|solo) (?:answer|reply|respond|say|output|print|write"
        r"|antworten"
        r"|sagen|schreiben?|ausgeben|responde|di)\b(?=\W+(?:with|as|yes|no|the word|mit|con|tot\b"
        r"|[\"'“„«]))|tienes que decir|\bonly reply\b(?! to\b))",
    ),
    "reply_must": (
        0.7,
        rf"\b{_YOURS} {_REPLY}(?: \w+)? (?:must|should|ha(?:s|ve) to|needs? to|shall|muss|müssen"
        r"|soll(?:te)?|deben?|tienen? que)\b(?: always| only| immer| nur)? (?:begin|start|end"
        r"|finish|empezar|comenzar|terminar|(?:mit|auf|with|in)\b[^.!?]{0,60}\b(?:beginnen|enden))\b",
    ),
    "text_above": (
        0.6,
        rf"{_START}(?:spell-?check|summari[sz]e|translate|repeat|rewrite|improve|print|correct|copy"
        r"|ignore|proofread|wiederhole|übersetze|korrigiere|resume|traduce|repite|corrige)\b"
        r"(?: (?:all|everything|of|the|alle[ns]?|den|die|das|todo|el|la|lo)){0,3}"
        r" (?:(?:text|words?|lines?|wörter|texto) (?:above|oben|anterior)"
        r"|(?:above|preceding|obigen?|vorstehenden?) (?:text|words?|lines?|wörter))\b",
    ),
    "leave_aside": (
        0.8,
        rf"\b{_BEFORE} {_ORDERS}\b(?: (?!ni)\w+){{0,2}} (?:ignorieren|vergessen|missachten)\b"
        r"(?! (?:sie|wir)\b)",
    ),
    "say_quoted": (
        0.4,
        rf"{_START}(?:say|print|output|write|answer|reply|respond|repeat|type|sag|sage|schreibe?"
        rf"|gib|antworte"
        r"|di|dices|dites|escribe|imprime)\b(?: (?:that|with|the following|mit|folgendes|lo"
        r" siguiente|ce qui suit|statements?|as|exactly)){0,2}[^.\"“'„«]{0,24}[\"“'„«]",
    ),
    "say_that": (
        0.45,
        rf"{_START}(?:state|say|claim|declare|assert|tell (?:me|them|everyone|the user)|include"
        rf"|sage?"
        r"|behaupte|di|afirma)(?: to \w+)?,? (?:that|dass|que)\b",
    ),
    "when_asked": (
        0.6,
        r"\b(?:when(?:ever)?|if|every time|wenn|falls|cuando|si) (?:(?:you|du|sie|te"
        r"|le)\b\W*)?(?:are |get "
        r"|wirst |werden |est[aá]s )?(?:asked?|queried|questioned|a question|nach|gefragt"
        r"|preguntan?|yo digo)\b"
        r"[^.!?]{0,90}?\b(?:say|answer|reply|respond|tell|state|claim|recommend|sage?|antworte"
        r"|responde|di|dices|contesta)\b",
    ),
    "repeat_after": (0.7, r"\b(?:repeat after me|sprich mir nach|repite después)\b"),
    "link": (
        0.55,
        rf"{_START}(?:include|add|insert|integrate|append|embed|mention|put|display|füge|binde"
        rf"|incluye)\b"
        r"[^.!?]{0,40}\b(?:the following|this|a|diesen|folgenden|el siguiente) (?:\w+"
        r" )?(?:markdown )?(?:links?|urls?|images?|headline|hyperlink|enlace|bild)\b",
    ),
    "write_work": (
        0.55,
        rf"{_START}(?:now )?(?:write|draft|compose|generate|create|develop|formulate|tell"
        rf"|schreibe?|verfasse"
        r"|generieren?(?: sie)?|formulieren?|erzähle|escribe|genera|redacta|cuenta)\b(?: me| mir|"
        r" sie| us)?"
        rf"(?: nun| jetzt)?(?: an?| the| some| den| die| das| eine?n?| un| una| el| la)?"
        rf"(?: [\w\-]+){{0,5}}?[ \-]{_WORK}\b",
    ),
    "question_for_help": (
        0.5,
        r"\b(?:answer|beantworte(?:n sie)?|responde(?: a)?) (?:the |my |this |all |die |meine |la"
        r" )?(?:following|folgenden?|siguiente)(?: \w+)? (?:questions?|fragen?|pregunta)\b",
    ),
    # The machinery
    "show_prompt": (
        0.7,
        rf"\b{_SHOW}\b(?:\W+\w+){{0,5}}?\W+(?:{_YOURS}|all|full|entire|hidden|initial|system"
        rf"|deinen)\W+(?:\w+\W+){{0,2}}?{_TOLD}\b",
    ),
    "your_prompt": (
        0.7,
        r"\b(?:(?:what|which) (?:are|is|were|was)(?: \w+){0,3}? your (?:\w+ )?(?:instructions"
        r"|prompt)|"
        r"(?:beginning|start|top) of (?:this|the|your) prompt|in the prompt\b|when were you trained"
        r"|are your instructions|prompt above|change your instructions|your (?:full |whole |hidden"
        r" |system )prompt)",
    ),
    "markup": (
        0.9,
        r"<\|?(?:im_start|im_end|system|assistant|endoftext|begin_of_text|end_of_turn"
        r"|start_of_turn)\|?>"
        r"|\[/?inst\]|<</?sys>>|#{2,} ?(?:system|instruction|response|new instructions?)\b *:?"
        r"|\bend of (?:context|document|passages?|data)\b\W{2,}|</(?:passage|question)\b",
    ),
    "role": (0.3, r"(?:^|\n|\\n)\W*(?:system|assistant|human|user|developer|order|ai)\s*:\s"),
    "jailbreak": (
        0.6,
        r"\b(?:jailbreak(?:ed)? mode|developer mode (?:enabled|on)|dan mode|do anything now|no"
        r" (?:longer "
        r"bound|restrictions|programming guidelines)|without any (?:restrictions|filters?"
        r"|censorship))\b",
    ),
    "decode": (
        0.4,
        r"\b(?:decode|base ?64|rot13|dekodiere|entschlüssle|decodifica|execute the following)\b",
    ),
    "blob": (0.35, r"(?<![\w/+])(?=[a-z/+]*\d)(?=[\d/+a-z]*[a-z])[a-z0-9+/]{40,}={0,2}"),
    "spaced_out": (0.45, r"(?:\b[a-z]\b[ .\-_]){9,}"),
}
