"""A report attached to a Weights & Biases run: status, tags, and the report itself.

    import osler.wandb
    osler.wandb.attach(run)                          # the run of wandb.init(), before it is finished
    osler.wandb.attach("wandb/offline-run-...")      # a run that lies on the disk
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Optional, Union

import wandb

from osler.attachment import document, is_tag, status_words, tags
from osler.diagnosis import diagnose
from osler.errors import InvalidError, NotFoundError
from osler.report import Report

_FOLDER = re.compile(r"^(?:offline-)?run-\d{8}_\d{6}-(?P<id>.+)$")


def attach(run: Union[str, os.PathLike[str], Any], report: Optional[Report] = None, *, project: Optional[str] = None) -> Report:
    """Attaches a report to a run, and returns it.

    `run` is a run of `wandb.init()` that is not finished, or the folder of a run on the disk, which is opened again under
    its id and stays offline: `wandb sync` sends both parts. Without a report the run's own log is diagnosed. The summary gets
    `osler/status`, `osler/headline`, `osler/findings`, `osler/cause` and `osler/remedy`, the run gets tags such as
    `osler:critical` and `osler:loss-diverging`, and the report is kept as an artifact of type `osler-report` (HTML, JSON,
    SARIF). Attaching again replaces tags and summary.
    """
    if isinstance(run, (str, os.PathLike)):
        return _attach_to_folder(Path(run), report, project)
    told = report if report is not None else diagnose(Path(run.dir).parent)
    _write(run, told)
    return told


def _attach_to_folder(folder: Path, report: Optional[Report], project: Optional[str]) -> Report:
    if not folder.is_dir():
        raise NotFoundError(f"{folder}: no folder of a run there", "not-found", str(folder))
    folder = folder.resolve()  # "latest-run" is a link
    match = _FOLDER.match(folder.name)
    if match is None:
        raise InvalidError(
            f"{folder}: not the folder of a run; they are called offline-run-DATE-ID or run-DATE-ID", "invalid-argument", str(folder)
        )
    told = report if report is not None else diagnose(folder)
    place = folder.parent.parent if folder.parent.name == "wandb" else folder.parent
    quiet = wandb.Settings(silent=True)
    while time.strftime("-%Y%m%d_%H%M%S-") in folder.name:  # W&B names folders by the second: the same one would be written over
        time.sleep(0.05)
    again = wandb.init(id=match["id"], resume="allow", mode="offline", dir=str(place), project=project, settings=quiet)
    try:
        _write(again, told)
    finally:
        again.finish()
    return told


def _write(run: Any, report: Report) -> None:
    run.summary.update({f"osler/{key}": value for key, value in status_words(report).items()})
    run.tags = (*(tag for tag in run.tags or () if not is_tag(tag)), *tags(report))
    artifact = wandb.Artifact(f"osler-report-{run.id}", type="osler-report", description=report.headline)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("report.html", document(report)),
            ("report.json", report.json()),
            ("report.sarif", report.sarif()),
        ):
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            artifact.add_file(str(path), name=name)
        run.log_artifact(artifact)
