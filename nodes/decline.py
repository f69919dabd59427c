"""Says "I don't know", with the reason. A refusal is a result."""

from langgraph.runtime import Runtime

from nodes.budget import BudgetSpent, out_of_time
from nodes.context import DEFAULTS, Context
from nodes.state import Reason, Sentence, State, Update
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


async def decline(state: State, runtime: Runtime[Context]) -> Update:
    """Outcome refused and its reason; nothing of a failed draft is kept."""
    reason = _reason(state, runtime.context or DEFAULTS)
    text = TEXTS[guess_language(state.standalone)][reason]
    return {
        "draft": [Sentence(text, [])],
        "outcome": "refused",
        "reason": reason,
        "summary": {"reason": reason, "detail": state.failed or state.loops_over},
    }


def _reason(state: State, context: Context) -> Reason:
    spent = any(fault.kind == BudgetSpent.code for fault in state.degraded)
    if spent or (out_of_time(state, context) and not state.failed):
        return "budget"
    if state.failed:
        return "dependency_down"
    if state.rejected:
        return "ungrounded"
    return "no_evidence"
