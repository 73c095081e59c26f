"""A tab *Osler* in TensorBoard: the verdict on every run of its log directory, with evidence, causes and remedies.

Installing the package is all it takes: TensorBoard finds the plugin by itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

from tensorboard.plugins import base_plugin
from werkzeug import Response
from werkzeug.wrappers import Request

from osler.tensorboard.library import Library

_SCRIPT = Path(__file__).parent / "static" / "index.js"
# How long TensorBoard may wait for the first look when it asks whether there is anything to show.
_FIRST_LOOK_SECONDS = 2.0


def _roots(context: Any) -> list[str]:
    """The folders TensorBoard was started on: --logdir, or the paths of --logdir_spec."""
    if context.logdir:
        return [str(context.logdir)]
    spec = getattr(context.flags, "logdir_spec", "") or ""
    parts = [part for part in spec.split(",") if part]
    return [part.split(":", 1)[1] if ":" in part and not part.startswith("/") else part for part in parts]


def _response(body: Any, kind: str) -> Response:
    """An answer that no browser takes for something else or keeps."""
    made = Response(body, mimetype=kind)
    made.headers["X-Content-Type-Options"] = "nosniff"
    made.headers["Cache-Control"] = "no-store"
    return made


def _application(answer: Callable[[Request], Response]) -> Callable[[Any, Any], Any]:
    """What TensorBoard serves: a WSGI application."""
    return lambda environment, start: answer(Request(environment))(environment, start)


def _script(_: Request) -> Response:
    return _response(_SCRIPT.read_bytes(), "text/javascript")


class OslerPlugin(base_plugin.TBPlugin):
    """Serves the tab. TensorBoard makes one and calls it from several threads."""

    plugin_name = "osler"

    def __init__(self, context: Any) -> None:
        self._library = Library(_roots(context))

    def is_active(self) -> bool:
        """Whether the log directory holds a run that Osler can read."""
        self._library.refresh(wait=0 if self._library.looked else _FIRST_LOOK_SECONDS)
        return bool(self._library.runs()[0])

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """How TensorBoard shows the tab."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Osler", disable_reload=False)

    def get_plugin_apps(self) -> dict[str, Any]:
        """The addresses below /data/plugin/osler."""
        return {"/index.js": _application(_script), "/runs": _application(self._runs), "/report": _application(self._report)}

    def _runs(self, request: Request) -> Response:
        self._library.refresh()
        runs, trouble = self._library.runs()
        return _response(json.dumps({"runs": runs, "trouble": trouble}), "application/json")

    def _report(self, request: Request) -> Response:
        report = self._library.report(request.args.get("run", ""))
        if report is None:
            return Response("no verdict on such a run", 404, mimetype="text/plain")
        return _response(report.html(), "text/html")
