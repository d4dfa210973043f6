"""What is in the archives that are published."""

import runpy
import subprocess
import sys
import tarfile
import tomllib
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


LINKS = "[a](docs/a.md#b) [b](#here) [c](https://elsewhere.example/c.md) ![d](docs/d.png)"


def test_links_of_the_readme_on_the_package_index():
    """With an address of the repository its relative links are absolute; without one all stay as they are."""
    addressed = runpy.run_path(str(ROOT / "hatch_build.py"))["addressed"]

    assert addressed(LINKS, {"Repository": "https://git.example/us/it/"}) == (
        "[a](https://git.example/us/it/blob/main/docs/a.md#b) [b](#here) [c](https://elsewhere.example/c.md) "
        "![d](https://git.example/us/it/blob/main/docs/d.png)"
    )
    assert addressed(LINKS, {}) == LINKS


def test_the_site_links_to_the_repository():
    """The site's configuration has the address of the repository if there is one, and from nowhere else."""
    configured = runpy.run_path(str(ROOT / "docs" / "build_site.py"))["configured"]
    text = (ROOT / "zensical.toml").read_text()

    project = tomllib.loads(configured(text, {"Repository": "https://git.example/us/it"}))["project"]

    assert (project["repo_url"], project["docs_dir"]) == ("https://git.example/us/it", "pages")
    assert "repo_url" not in tomllib.loads(configured(text, {}))["project"]
