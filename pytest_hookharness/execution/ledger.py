"""
This module is concerned with the ledger: recordings as files, which workers of xdist leave too.

Middle floor: execution.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pytest_hookharness.execution.confinement import write_bytes
from pytest_hookharness.model.recordings import Gap, Recording, Traced

_SUFFIX = ".recording.json"


def write_recording(folder: Path, recording: Recording) -> None:
    """
    Write what one simulation left.
    """
    write_bytes(folder / f"{uuid.uuid4()}{_SUFFIX}", json.dumps(asdict(recording)).encode())


def read_recordings(folder: Path) -> Iterator[Recording]:
    """
    What all simulations left.
    """
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        given = json.loads(path.read_bytes())
        yield Recording(
            shell={file: tuple(Traced(**one) for one in traced) for file, traced in given["shell"].items()},
            python={file: tuple(map(tuple, steps)) for file, steps in given["python"].items()},
            gaps=tuple(Gap(**gap) for gap in given["gaps"]),
            context=given["context"],
        )
