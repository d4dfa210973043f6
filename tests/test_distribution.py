"""What is in the archives that are published."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, freshly built."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder


@pytest.mark.nightly
def test_wheel_has_what_python_files_need_beside_them(archives):
    """The wheel holds every file of the package, the type marker and the scenario schema among them."""
    (wheel,) = archives.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("pytest_hookharness/")}
    source = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pytest_hookharness").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert packed == source
    assert wheel.name.endswith("-py3-none-any.whl")
    assert [name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("tests/")] == []
    assert "pytest_hookharness/py.typed" in packed
    assert [name for name in packed if name.endswith("scenario.schema.json")] != []


@pytest.mark.slow
def test_source_archive_can_be_tested(archives):
    """The source archive holds the tests, the shipped scenarios and what starts them."""
    (archive,) = archives.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    tops = {name.partition("/")[0] for name in packed}

    assert {"tests", "scenarios", "pytest_hookharness", "noxfile.py", "pyproject.toml", "LICENSE"} <= tops
    assert "tests/test_distribution.py" in packed
