"""Says "I don't know", with the reason and what would help. A refusal is a result."""

from langgraph.runtime import Runtime

from nodes.bases import bases_of
from nodes.budget import BudgetSpent, out_of_time
from nodes.confidence import too_unsure
from nodes.context import DEFAULTS, Context
from nodes.fallback import or_fallback
from nodes.findings import Sentence
from nodes.named_things import nowhere
from nodes.nearest import found_at, nearest
from nodes.ports import OtherBases
from nodes.scope_of_base import NEVER, out_of_scope
from nodes.settle import DISAGREE
from nodes.state import Degraded, Reason, State, Update
from nodes.suggestions import suggestions
from nodes.words import guess_language

TEXTS: dict[str, dict[Reason, str]] = {
    "en": {
        "no_evidence": "I don't know: nothing that I found in the documents answers this.",
        "ungrounded": "I don't know: I found related passages, but no answer that they support.",
        "conflicting": "I don't know: the documents contradict each other on this.",
        "out_of_scope": "I don't know: this is not what these documents are about.",
        "budget": "I don't know: this run's time or calls were spent before I found an answer.",
        "dependency_down": "I can't answer right now: a part that I need did not respond.",
    },
    "de": {
        "no_evidence": "Das weiß ich nicht: In den Dokumenten habe ich keine Antwort gefunden.",
        "ungrounded": "Das weiß ich nicht: Es gibt nahe Stellen, aber keine belegt eine Antwort.",
        "conflicting": "Das weiß ich nicht: Die Dokumente widersprechen sich hier.",
        "out_of_scope": "Das weiß ich nicht: Davon handeln diese Dokumente nicht.",
        "budget": "Das weiß ich nicht: Zeit oder Aufrufe dieses Laufs waren vorher verbraucht.",
        "dependency_down": "Ich kann gerade nicht antworten: Ein nötiger Dienst antwortet nicht.",
    },
    "es": {
        "no_evidence": "No lo sé: no encontré en los documentos nada que responda a esto.",
        "ungrounded": "No lo sé: hay pasajes cercanos, pero ninguno respalda una respuesta.",
        "conflicting": "No lo sé: los documentos se contradicen en este punto.",
        "out_of_scope": "No lo sé: estos documentos no tratan de esto.",
        "budget": "No lo sé: el tiempo o las llamadas de esta ejecución se agotaron antes.",
        "dependency_down": "Ahora no puedo responder: una parte necesaria no responde.",
    },
}

UNSURE = {
    "en": "I don't know: what I found is too unsure to be told ({:.2f}, needed {:.2f}).",
    "de": "Das weiß ich nicht: Was ich fand, ist mir zu unsicher ({:.2f}, nötig {:.2f}).",
    "es": "No lo sé: lo que encontré es demasiado inseguro ({:.2f}, se necesita {:.2f}).",
}
"""In the place of `no_evidence`, where a draft was below the bar of confidence."""

UNNAMED = {
    "en": "I don't know: nothing that I found in the documents names “{}”.",
    "de": "Das weiß ich nicht: Keine der Fundstellen nennt „{}“.",
    "es": "No lo sé: nada de lo que encontré en los documentos nombra «{}».",
}
"""In the place of `no_evidence`, where the question names what no passage has."""

CLOSEST = {
    "en": "Closest, but not an answer:",
    "de": "Am nächsten, aber keine Antwort:",
    "es": "Lo más cercano, pero no una respuesta:",
}


async def decline(
    state: State,
    runtime: Runtime[Context],
    *,
    others: OtherBases | None = None,
    in_scope: float = NEVER,
) -> Update:
    """Outcome refused, its reason, the nearest places and suggestions, in the question's language;
    nothing of a failed draft is kept."""
    context = runtime.context or DEFAULTS
    reason = _reason(state, context, in_scope)
    elsewhere, faults = await _elsewhere(state, context, reason, others)
    told = suggestions(state, context, reason, elsewhere)
    language = guess_language(state.standalone)
    lines = [_said(state, context, language, reason), *_closest(state, language, reason), *told]
    return {
        "draft": [Sentence("\n".join(lines), [])],
        "outcome": "refused",
        "reason": reason,
        "confidence": None,
        "suggestions": told,
        "degraded": [*state.degraded, *faults],
        "summary": {
            "reason": reason,
            "detail": state.failed or state.loops_over,
            "suggestions": told,
        },
    }


def _said(state: State, context: Context, language: str, reason: Reason) -> str:
    unnamed = nowhere(state.standalone, state.candidates) if reason == "no_evidence" else []
    if unnamed:
        return UNNAMED[language].format(unnamed[0])
    if reason == "no_evidence" and state.confidence is not None and too_unsure(state, context):
        return UNSURE[language].format(state.confidence, context.min_confidence)
    return TEXTS[language][reason]


def _reason(state: State, context: Context, in_scope: float) -> Reason:
    spent = any(fault.kind == BudgetSpent.code for fault in state.degraded)
    if spent or (out_of_time(state, context) and not state.failed):
        return "budget"
    if state.failed:
        return "dependency_down"
    if DISAGREE in state.reservations and _answers(state) > 1:
        return "conflicting"
    if state.rejected:
        return "ungrounded"
    return "out_of_scope" if out_of_scope(state, in_scope) else "no_evidence"


def _answers(state: State) -> int:
    """Passages that answer: what merely was near an answer contradicts none."""
    return sum(one.grade.verdict == "correct" for one in state.evidence)


async def _elsewhere(
    state: State, context: Context, reason: Reason, others: OtherBases | None
) -> tuple[list[str], list[Degraded]]:
    if others is None or reason not in ("no_evidence", "out_of_scope"):
        return [], []
    return await or_fallback(
        others.holding(context.scope, state.standalone, besides=bases_of(state)),
        [],
        node="decline",
        fallback="no other knowledge base is named",
    )


def _closest(state: State, language: str, reason: Reason) -> list[str]:
    """Where a person may look; what a question out of scope comes near to is of no help."""
    if reason in ("out_of_scope", "dependency_down"):
        return []
    places = list(dict.fromkeys(filter(None, map(found_at, nearest(state)))))
    return [CLOSEST[language], *(f"  {one}" for one in places)] if places else []
