"""The figures of a route, by hand."""

from eval.benchmarks.routing import Routed, figures


def test_an_unsure_route_holds_the_right_base_and_a_wrong_one_does_not() -> None:
    """Of four: two go right, one goes wrong, one leads by .05 alone and searches all."""
    rows = [
        Routed("a", {"a": 0.9, "b": 0.1}, {}),
        Routed("b", {"a": 0.1, "b": 0.9}, {}),
        Routed("b", {"a": 0.9, "b": 0.1}, {}),
        Routed("b", {"a": 0.55, "b": 0.5}, {}),
    ]
    assert figures(rows, 0.1) == {"n": 4, "sure": 0.75, "right": 0.6667, "held": 0.75}
    assert figures(rows, 2.0) == {"n": 4, "sure": 0.0, "right": 1.0, "held": 1.0}
