"""The report of `crag eval benchmark` as lines to be read."""

from typing import Any


def report_lines(report: dict[str, Any]) -> list[str]:
    lines = [f"{report['dataset']}, {report['pipeline']}, {report['n']} rows", *_figures(report)]
    if "errors" in report:
        lines.append(f"  errors             {report['errors']}, not scored")
    if report.get("fell_back"):
        lines.append(f"  fell back          {report['fell_back']}, not worded by the chat model")
    if latency := report.get("latency_ms"):
        lines.append(f"  latency  p50 {latency['p50']:.1f} ms, p95 {latency['p95']:.1f} ms")
    for name, own in report.get("sets", {}).items():
        lines += [f"{name}, {own['n']} claims on {own['documents']} documents", *_figures(own)]
        if "baseline9" in own:
            lines.append(f"  baseline9          {own['baseline9']:.3f}")
    if "by_kind" in report:
        lines += [f"  {kind:18} {right:.3f}" for kind, right in report["by_kind"].items()]
    for name, own in report.get("by_dataset", {}).items():
        lines += [f"{name}, {own['n']} rows", *_figures(own)]
    if "gain_over_as_asked" in report:
        lines += ["gain over the questions as asked", *_figures(report["gain_over_as_asked"])]
    if "gain_over_first_search" in report:
        lines += ["gain over the first search", *_figures(report["gain_over_first_search"])]
        lines.append("runs  " + ", ".join(f"{k} {v:g}" for k, v in report["runs"].items()))
    return lines


def _figures(report: dict[str, Any]) -> list[str]:
    lines = []
    for name, value in report["metrics"].items():
        low, high = report["intervals"][name]
        said = "-" if value is None else f"{value:.3f}  [{low:.3f}, {high:.3f}]"
        lines.append(f"  {name:18} {said}")
    return lines
