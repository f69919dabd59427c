"""The documented answer object is the answer object."""

from dataclasses import fields

from api.answer_schema import EXAMPLE, AnswerBody
from graph.answer import Answer
from tests.api_fakes import an_answer


def test_has_exactly_the_keys_of_an_answer() -> None:
    assert list(AnswerBody.model_fields) == [field.name for field in fields(Answer)]


def test_takes_a_real_answer_and_its_own_example() -> None:
    AnswerBody.model_validate(an_answer().as_json())
    AnswerBody.model_validate(EXAMPLE)
