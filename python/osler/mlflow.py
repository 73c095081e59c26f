"""A report attached to an MLflow run: tags, and the report itself.

    import osler.mlflow
    osler.mlflow.attach(mlflow.active_run())         # or a run's id, or its folder in a local store
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Optional, Union

from mlflow.tracking import MlflowClient

from osler.attachment import document, status_words
from osler.diagnosis import diagnose, to_run
from osler.errors import InvalidError
from osler.report import Report


def attach(
    run: Union[str, os.PathLike[str], Any], report: Optional[Report] = None, *, tracking_uri: Optional[str] = None
) -> Report:
    """Attaches a report to a run, finished or not, and returns it.

    `run` is a run of MLflow's, its id, or its folder in a local store (`mlruns/EXPERIMENT/ID`). `tracking_uri` is where it is
    kept; MLflow's own setting without it. Without a report the run's metrics are diagnosed. The run gets the tags
    `osler.status`, `osler.headline`, `osler.findings`, `osler.cause` and `osler.remedy`, and the artifacts
    `osler/report.html`, `osler/report.json` and `osler/report.sarif`. Attaching again replaces them.
    """
    client, id = _found(run, tracking_uri)
    told = report if report is not None else _diagnosed(client, id)
    words = status_words(told)
    for key in ("status", "headline", "findings", "cause", "remedy"):
        # A tag cannot be made unset where it never was; an empty one says that there is nothing.
        client.set_tag(id, f"osler.{key}", words.get(key, ""))
    client.log_text(id, document(told), "osler/report.html")
    client.log_text(id, told.json(), "osler/report.json")
    client.log_text(id, told.sarif(), "osler/report.sarif")
    return told


def _found(run: Union[str, os.PathLike[str], Any], tracking_uri: Optional[str]) -> tuple[MlflowClient, str]:
    if hasattr(run, "info"):
        return MlflowClient(tracking_uri), str(run.info.run_id)
    if run is None:
        raise InvalidError("there is no run: mlflow.active_run() gives None outside of mlflow.start_run()", "invalid-argument")
    path = Path(os.fspath(run))
    if (path / "meta.yaml").is_file():
        return MlflowClient(tracking_uri or path.resolve().parents[1].as_uri()), path.resolve().name
    return MlflowClient(tracking_uri), str(path)


def _diagnosed(client: MlflowClient, id: str) -> Report:
    """A report of the metrics as the store gives them, so that a remote one will do."""
    stored = client.get_run(id)
    names = sorted(name for name in stored.data.metrics if name != "step")
    values = {name: {each.step: each.value for each in client.get_metric_history(id, name)} for name in names}
    steps = sorted({step for each in values.values() for step in each})
    if not steps:
        raise InvalidError(f"{id}: the run has no metrics", "invalid-argument", id)
    columns: dict[str, list[Any]] = {"step": steps}
    columns.update({name: [each.get(step) for step in steps] for name, each in values.items()})  # None is a gap
    run = to_run(columns, step="step", name=stored.info.run_name or id)
    for key, value in stored.data.params.items():
        run._core.config(key, value)
    return diagnose(run)
