"""The curves of a report as SVG that takes its text colour from the page around it, so that it fits any theme."""

from __future__ import annotations

import html
import math
from typing import NamedTuple, Optional

_WIDTH = 720.0
_LEFT = 56.0
_RIGHT = 118.0
_TOP = 20.0
_PANEL = 128.0
_GAP = 26.0
_MOST_PANELS = 3
_MOST_MARKS = 4
_MARK_WIDTH = 18.0
_NAME_HEIGHT = 26.0
# Middle tones, which stand out from a light ground as from a dark one.
_INKS = ("#3b7ddd", "#e0701b", "#8a63d2", "#1f9a8a")
SEVERITY_INKS = {"critical": "#d93025", "warning": "#c77700", "note": "#4a7dd6"}


class Sketch(NamedTuple):
    """A curve drawn small: columns with the lowest, highest and mean value of a stretch of steps."""

    series: str
    role: str
    steps: list[int]
    low: list[float]
    high: list[float]
    mean: list[float]
    nonfinite: list[int]


class Mark(NamedTuple):
    """A step worth pointing at."""

    step: int
    label: str
    severity: str
    text: str


class _Scale:
    """Values to heights within a panel: logarithmic when all are positive and span two decades."""

    def __init__(self, values: list[float], top: float) -> None:
        self.log = min(values) > 0 and max(values) / min(values) >= 100
        self._top = top
        self.low, self.high = (self._of(min(values)), self._of(max(values)))
        if self.high - self.low < 1e-12 * max(abs(self.low), abs(self.high), 1e-300):
            pad = abs(self.low) * 0.05 or 1.0
            self.low, self.high = self.low - pad, self.high + pad

    def _of(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def height(self, value: float) -> float:
        return self._top + (self.high - self._of(value)) / (self.high - self.low) * _PANEL

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            stride = max(1, math.ceil((last - first + 1) / 4))
            return [10.0**power for power in range(first, last + 1, stride)]
        least = (self.high - self.low) / 4
        unit = 10.0 ** math.floor(math.log10(least))
        apart = next((unit * many for many in (1, 2, 2.5, 5) if unit * many >= least), unit * 10)
        return [apart * at for at in range(math.ceil(self.low / apart), math.floor(self.high / apart) + 1)]


def _number(value: float) -> str:
    return f"{value:.4g}"


def _panels(sketches: list[Sketch], evidence: set[str]) -> list[list[Sketch]]:
    """Losses share the first panel; then what the findings rest on, then the others."""
    drawable = [each for each in sketches if any(math.isfinite(value) for value in each.mean)]
    losses = [each for each in drawable if each.role in ("train-loss", "validation-loss")][:2]
    others = sorted((each for each in drawable if each not in losses), key=lambda each: each.series not in evidence)
    panels = ([losses] if losses else []) + [[each] for each in others]
    return panels[:_MOST_PANELS]


def _path(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


class _Drawing:
    """An SVG in the making."""

    def __init__(self, first: int, last: int) -> None:
        self._first, self._span = first, max(last - first, 1)
        self.parts: list[str] = []

    def across(self, step: int) -> float:
        return _LEFT + (step - self._first) / self._span * (_WIDTH - _LEFT - _RIGHT)

    def text(self, x: float, y: float, words: str, anchor: str = "start", extra: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(words)}</text>')

    def panel(self, curves: list[Sketch], top: float, inks: list[str]) -> None:
        values = [v for each in curves for side in (each.low, each.high) for v in side if math.isfinite(v)]
        scale = _Scale(values, top)
        for tick in scale.ticks():
            y = scale.height(tick)
            self.parts.append(
                f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" opacity=".15"/>'
            )
            self.text(_LEFT - 6, y + 4, _number(tick), "end", ' opacity=".75"')
        for curve, ink in zip(curves, inks):
            self._curve(curve, scale, top, ink)
        self._names(curves, scale, top, inks)

    def _curve(self, curve: Sketch, scale: _Scale, top: float, ink: str) -> None:
        runs: list[list[int]] = [[]]
        for at, value in enumerate(curve.mean):
            if math.isfinite(value):
                runs[-1].append(at)
            elif runs[-1]:
                runs.append([])
        for run in filter(None, runs):
            x = [self.across(curve.steps[at]) for at in run]
            band = [(each, scale.height(curve.high[at])) for each, at in zip(x, run)]
            band += [(each, scale.height(curve.low[at])) for each, at in zip(reversed(x), reversed(run))]
            line = [(each, scale.height(curve.mean[at])) for each, at in zip(x, run)]
            if any(curve.high[at] > curve.low[at] for at in run):
                self.parts.append(f'<path d="{_path(band)}Z" fill="{ink}" opacity=".22"/>')
            self.parts.append(f'<path d="{_path(line)}" fill="none" stroke="{ink}" stroke-width="1.6"/>')
        broken = [self.across(step) for step, count in zip(curve.steps, curve.nonfinite) if count]
        for x_ in broken[:60]:
            y = top + _PANEL - 4
            self.parts.append(
                f'<path d="M{x_ - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6" stroke="{SEVERITY_INKS["critical"]}" stroke-width="1.4">'
                f"<title>{html.escape(curve.series)} is not finite</title></path>"
            )

    def _names(self, curves: list[Sketch], scale: _Scale, top: float, inks: list[str]) -> None:
        """Each name with the last value beside the end of its curve, none over another and none outside the panel."""
        lasts = [next(value for value in reversed(each.mean) if math.isfinite(value)) for each in curves]
        order = sorted(range(len(curves)), key=lambda at: scale.height(lasts[at]))
        y = top
        for place, at in enumerate(order):
            lowest = top + _PANEL - 10 - _NAME_HEIGHT * (len(order) - 1 - place)
            y = max(min(scale.height(lasts[at]) + 4, lowest), y + (_NAME_HEIGHT if place else 8))
            name = curves[at].series
            shown = name if len(name) <= 16 else name[:7] + "…" + name[-8:]
            self.text(_WIDTH - _RIGHT + 6, y, shown, extra=f' fill="{inks[at]}" font-weight="600"')
            self.text(_WIDTH - _RIGHT + 6, y + 12, _number(lasts[at]), extra=' opacity=".75"')

    def mark(self, mark: Mark, bottom: float) -> None:
        x, ink, y = self.across(mark.step), SEVERITY_INKS.get(mark.severity, "currentColor"), 9
        half = 8 + 3.5 * (len(mark.label) - 1)
        self.parts.append(
            f'<g><title>{html.escape(mark.text)}</title>'
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{bottom:.1f}" stroke="{ink}" stroke-dasharray="3 3"/>'
            f'<rect x="{x - half:.1f}" y="{y - 8}" width="{2 * half:.1f}" height="16" rx="8" fill="{ink}"/>'
            f'<text x="{x:.1f}" y="{y + 4}" text-anchor="middle" fill="#fff" font-weight="700">{html.escape(mark.label)}</text></g>'
        )


def _by_step(mark: Mark) -> int:
    return mark.step


def chart(sketches: list[Sketch], marks: list[Mark], evidence: Optional[set[str]] = None) -> str:
    """The curves with the marks in them; empty where there is nothing to draw."""
    panels = _panels(sketches, evidence or set())
    if not panels:
        return ""
    steps = [step for panel in panels for each in panel for step in each.steps]
    first, last = min(steps), max(steps)
    drawing = _Drawing(first, last)
    inks = iter(_INKS * _MOST_PANELS)
    bottom = _TOP + len(panels) * _PANEL + (len(panels) - 1) * _GAP
    for number, panel in enumerate(panels):
        drawing.panel(panel, _TOP + number * (_PANEL + _GAP), [next(inks) for _ in panel])
    together: list[list[Mark]] = []
    for mark in sorted((each._replace(step=min(max(each.step, first), last)) for each in marks[:_MOST_MARKS]), key=_by_step):
        near = bool(together) and drawing.across(mark.step) - drawing.across(together[-1][0].step) < _MARK_WIDTH
        if near:
            together[-1].append(mark)
        else:
            together.append([mark])
    for group in together:
        group.sort(key=lambda each: each.label)  # the worst has the first number
        label, text = ",".join(each.label for each in group), "\n".join(each.text for each in group)
        drawing.mark(Mark(min(map(_by_step, group)), label, group[0].severity, text), bottom)
    y = bottom + 16
    drawing.text(_LEFT, y, f"step {first:,}", extra=' opacity=".75"')
    drawing.text(_WIDTH - _RIGHT, y, f"{last:,}", "end", ' opacity=".75"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {bottom + 24:.0f}" role="img" '
        f'style="width:100%;max-width:{_WIDTH:.0f}px;height:auto;display:block" font-family="inherit" font-size="11" '
        f'fill="currentColor">{"".join(drawing.parts)}</svg>'
    )
