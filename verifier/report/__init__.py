"""One file a format; ``render(report, format)`` finds it by name. Formats: text, concise, json."""

from __future__ import annotations

from specs.results import Report

FORMATS = ("text", "concise", "json")


def render(report: Report, format_: str, *, colour: bool = False, verbose: bool = False) -> str:
    """The report as text of the given format."""
    from verifier.report import concise, json, text

    match format_:
        case "text":
            return text.render(report, colour=colour, verbose=verbose)
        case "concise":
            return concise.render(report, verbose=verbose)
        case "json":
            return json.render(report)
        case _:
            raise ValueError(f"unknown format {format_!r}; known: {', '.join(FORMATS)}")
