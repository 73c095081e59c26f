"""What is attached to a run elsewhere: tags, a few words, and the report as files."""

from __future__ import annotations

import html

from osler.report import Report

_MOST_TAGS = 5


def status_words(report: Report) -> dict[str, str]:
    """The verdict in a few short entries."""
    causes, remedies = report.causes, report.remedies
    words = {
        "status": report.status,
        "headline": report.headline,
        "findings": ", ".join(each.id for each in report.findings),
    }
    if causes:
        words["cause"] = f"{causes[0].id} ({causes[0].probability:.0%})"
    if remedies:
        words["remedy"] = remedies[0].text
    return words


def tags(report: Report) -> list[str]:
    """Tags to filter runs by: the status and the worst findings."""
    return [f"osler:{report.status}", *(f"osler:{each.id}" for each in report.findings[:_MOST_TAGS])]


def is_tag(tag: str) -> bool:
    """Whether a tag is one of ours, to be replaced by newer ones."""
    return tag.startswith("osler:")


def document(report: Report) -> str:
    """The report as an HTML file of its own, for light and dark screens."""
    title = html.escape(f"Osler: {report.run_name}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        "<style>:root{color-scheme:light dark}body{margin:16px}</style></head>"
        f"<body>{report.html()}</body></html>"
    )
