"""A report as a piece of HTML: for notebooks, and for the tab in TensorBoard."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from osler import _core
from osler.chart import SEVERITY_INKS, Mark, Sketch, chart

if TYPE_CHECKING:
    from osler.report import Report

_MOST_FINDINGS = 5
_MOST_CAUSES = 3
_INKS = {**SEVERITY_INKS, "healthy": "#1e8e3e", "insufficient-data": "#6b7280"}
# Text and lines take the colour of the page around them; only middle tones are our own. So no theme has to be known.
_STYLE = """
.osler-report{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:13px;line-height:1.45;max-width:760px;margin:4px 0 18px}
.osler-report *{box-sizing:border-box}
.osler-report h4{margin:14px 0 4px;font-size:13px;font-weight:650}
.osler-report ol,.osler-report ul{margin:0;padding:0;list-style:none}
.osler-report li{margin:5px 0}
.osler-report code{font-family:ui-monospace,monospace;font-size:12px;background:rgba(128,128,128,.16);color:inherit;
padding:0 4px;border-radius:3px}
.osler-report pre{margin:3px 0 0;padding:5px 8px;background:rgba(128,128,128,.14);color:inherit;border-radius:4px;overflow-x:auto;
white-space:pre-wrap;font-size:12px}
.osler-report pre code{background:none;padding:0}
.osler-report details{margin:2px 0 0}
.osler-report summary{cursor:pointer;opacity:.8}
.osler-verdict{border-left:4px solid;padding:2px 0 2px 10px;margin:4px 0 10px}
.osler-headline{font-size:15px;font-weight:600}
.osler-badge{display:inline-block;color:#fff;border-radius:9px;padding:0 8px;font-size:11px;font-weight:700;
letter-spacing:.03em;text-transform:uppercase;vertical-align:1px}
.osler-count{display:inline-block;min-width:17px;height:17px;line-height:17px;border-radius:9px;text-align:center;color:#fff;
font-size:11px;font-weight:700;margin-right:6px}
.osler-faint{opacity:.75}
.osler-bar{display:inline-block;width:72px;height:8px;border-radius:4px;background:rgba(128,128,128,.25);overflow:hidden;
margin-right:6px;vertical-align:0}
.osler-bar i{display:block;height:100%;background:#3b7ddd}
.osler-share{display:inline-block;width:42px;text-align:right;margin-right:8px;font-variant-numeric:tabular-nums}
.osler-report .osler-below{margin-left:24px}
"""


def _escaped(words: Any) -> str:
    return html.escape(str(words))


def _percent(share: float) -> str:
    """Never 0 % or 100 % for something that is only nearly so."""
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


def _prognosis(told: dict[str, Any]) -> str:
    prognosis = told.get("prognosis")
    return f"<div>{_escaped(prognosis['text'])}</div>" if prognosis else ""


def _verdict(told: dict[str, Any]) -> str:
    run, ink = told["run"], _INKS.get(told["status"], "#6b7280")
    steps = run["steps"]
    facts = [run["name"], run["format"], f"steps {steps['first']:,} to {steps['last']:,}", f"{steps['count']:,} points"]
    return (
        f'<div class="osler-verdict" style="border-color:{ink}"><div class="osler-headline">'
        f'<span class="osler-badge" style="background:{ink}">{_escaped(told["status"].replace("-", " "))}</span> '
        f'{_escaped(told["headline"])}</div><div class="osler-faint">'
        f"{' · '.join(_escaped(fact) for fact in facts if fact)}</div>{_prognosis(told)}</div>"
    )


def _finding(finding: dict[str, Any], number: int) -> str:
    ink = _INKS.get(finding["severity"], "#6b7280")
    facts = "".join(f"<li>• {_escaped(each['text'])}</li>" for each in finding["evidence"])
    layers = finding["layers"]
    if layers:
        facts += f"<li>• layers: {_escaped(', '.join(layers[:4]))}{' and more' if len(layers) > 4 else ''}</li>"
    return (
        f'<li><span class="osler-count" style="background:{ink}">{number}</span>{_escaped(finding["summary"])}'
        f'<div class="osler-faint osler-below">{_escaped(finding["severity"])} · since step {finding["first_step"]:,} · '
        f'{_percent(finding["confidence"])} sure · <code>{_escaped(finding["id"])}</code></div>'
        f'<ul class="osler-below">{facts}</ul></li>'
    )


def _cause(cause: dict[str, Any], titles: dict[str, str], opened: bool) -> str:
    rows = [f"<li><b>for</b> {_escaped(each['text'])}</li>" for each in cause["for"]]
    rows += [f"<li><b>against</b> {_escaped(each['text'])}</li>" for each in cause["against"]]
    settle = cause["settle"] or {}
    if settle.get("text"):
        probe = f" <code>{_escaped(settle['probe'])}</code>" if settle.get("probe") else ""
        rows.append(f"<li><b>to settle it</b> {_escaped(settle['text'])}{probe}</li>")
    share = cause["probability"]
    return (
        f'<li><span class="osler-bar"><i style="width:{share:.0%}"></i></span><span class="osler-share">{_percent(share)}</span>'
        f"{_escaped(titles.get(cause['id'], cause['id']))} <code>{_escaped(cause['id'])}</code>"
        f'<details class="osler-below"{" open" if opened else ""}><summary>for and against</summary><ul>{"".join(rows)}</ul>'
        f"</details></li>"
    )


def _remedy(remedy: dict[str, Any], number: int) -> str:
    code = remedy.get("code")
    lines = f'<pre class="osler-below"><code>{_escaped(code["text"])}</code></pre>' if code else ""
    return f'<li><span class="osler-count" style="background:#6b7280">{number}</span>{_escaped(remedy["text"])}{lines}</li>'


def _not_checked(told: dict[str, Any]) -> str:
    left = told["checks"]["not_run"]
    if not left:
        return ""
    reasons: dict[str, list[str]] = {}
    for each in left:
        reasons.setdefault(each["reason"], []).append(each["id"])
    rows = "".join(
        f"<li>{_escaped(reason)}: {', '.join(f'<code>{_escaped(id)}</code>' for id in ids)}</li>"
        for reason, ids in sorted(reasons.items(), key=lambda entry: -len(entry[1]))
    )
    total = len(left) + len(told["checks"]["ran"])
    return f"<details><summary>{len(left)} of {total} conditions could not be checked</summary><ul>{rows}</ul></details>"


def curves(report: Report) -> str:
    """The report's curves with its findings marked; empty where it has none."""
    told = report.to_dict()
    sketches = [Sketch(*each) for each in report._core.sketches()]
    marks = [
        Mark(each["first_step"], str(number), each["severity"], f"{each['id']} since step {each['first_step']:,}")
        for number, each in enumerate(told["findings"], 1)
    ]
    evidence = {each["series"] for finding in told["findings"] for each in finding["evidence"]}
    return chart(sketches, marks, evidence)


def page(report: Report) -> str:
    """The whole report: verdict, curves, findings, causes, remedies. Needs no script and nothing from elsewhere."""
    told = report.to_dict()
    titles = _core.titles()
    parts = [f'<div class="osler-report"><style>{_STYLE}</style>', _verdict(told), curves(report)]
    findings = [_finding(each, number) for number, each in enumerate(told["findings"], 1)]
    if findings:
        parts.append(f"<h4>What is seen</h4><ol>{''.join(findings[:_MOST_FINDINGS])}</ol>")
    if len(findings) > _MOST_FINDINGS:
        rest = "".join(findings[_MOST_FINDINGS:])
        parts.append(f"<details><summary>{len(findings) - _MOST_FINDINGS} more</summary><ol>{rest}</ol></details>")
    causes = told["causes"]
    if causes:
        rows = "".join(_cause(each, titles, number == 0) for number, each in enumerate(causes[:_MOST_CAUSES]))
        parts.append(f"<h4>Why</h4><ol>{rows}</ol>")
        if len(causes) > _MOST_CAUSES:
            rest = "".join(_cause(each, titles, False) for each in causes[_MOST_CAUSES:])
            parts.append(f"<details><summary>{len(causes) - _MOST_CAUSES} less probable</summary><ol>{rest}</ol></details>")
        if causes[0]["remedies"]:
            rows = "".join(_remedy(each, number) for number, each in enumerate(causes[0]["remedies"], 1))
            parts.append(f"<h4>What to do</h4><ol>{rows}</ol>")
    parts += [_not_checked(told), "</div>"]
    return "".join(parts)
