"""The pages of the documentation: one for each finding, and the list of what is covered."""

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pytest_hookharness.judging.findings.finding_catalogue import catalogue, look_up
from pytest_hookharness.model.verdicts import FindingCode

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "findings"
MADE = runpy.run_path(str(ROOT / "docs" / "write_findings.py"))
SEEN, index, page_head = MADE["SEEN"], MADE["index"], MADE["page_head"]
COVERED = ROOT / "docs" / "what-is-covered.md"
SCENARIOS = sorted((ROOT / "scenarios").rglob("*.scenario.yaml"))
FIX = "run `nox -s pages`, and `nox -s pages -- CODE PROOF COMMAND` for an example"


def outdated(pages: Path, codes: tuple[FindingCode, ...]) -> Iterator[str]:
    """Pages that differ from the catalogue."""
    names = {"README.md", *(f"{code.code}.md" for code in codes)}
    for page in pages.glob("*.md"):
        if page.name not in names:
            yield f"{page.name}: no finding has this code; remove the page"
    for code in codes:
        page = pages / f"{code.code}.md"
        if not page.is_file() or not page.read_text().startswith(page_head(code)):
            yield f"{page.name}: is not made from the catalogue; {FIX}"
    if (pages / "README.md").read_text() != index(codes):
        yield f"README.md: is not made from the catalogue; {FIX}"


def unproved(page: Path, code: FindingCode) -> Iterator[str]:
    """Reasons why a page does not show that its finding is really found."""
    seen = page.read_text().partition(f"{SEEN}\n")[2]
    proof = re.search(r"^Found by \[`(.+)`\]\((.+)\)\.$", seen, re.MULTILINE)
    if proof is None or "```text\n" not in seen:
        yield f"{page.name}: has no proof and no example; {FIX}"
        return
    item, file = proof[1], page.parent / proof[2]
    if not file.is_file():
        yield f"{page.name}: there is no {proof[2]}"
    elif file.name.endswith(".scenario.yaml"):
        named = expected_findings(yaml.safe_load(file.read_text()), item)
        if not any(look_up(word) == code for word in named):
            yield f"{page.name}: {item} does not expect {code.name}"
    elif not is_tested(file.read_text(), item, code):
        yield f"{page.name}: {file.name} has no test {item} that speaks of {code.name}"


def expected_findings(scenario: dict, item: str) -> list[str]:
    """The findings that an item of a scenario expects, by the item's name ``name[variant-host]``."""
    inner = item.partition("[")[2]
    variants = [name for name in scenario.get("variants", {}) if inner.startswith(f"{name}-")]
    part = scenario["variants"][max(variants, key=len)] if variants else scenario
    return part.get("expect", {}).get("findings", [])


def is_tested(source: str, test: str, code: FindingCode) -> bool:
    """Whether a test file has a function that names a code in its body or its parameters."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    found = next((node for node in functions if node.name == test), None)
    if found is None:
        return False
    texts = [ast.get_source_segment(source, node) or "" for node in (found, *found.decorator_list)]
    return any(word in text for text in texts for word in (code.code, code.name))


def test_what_is_generated_of_a_page():
    """The head of a page ends with the heading for an example, and the index has a row for each code."""
    code = FindingCode("HH777", "ODD-THING", "A thing was odd.", "It matters.", "Correct it.")
    head = page_head(code)

    assert head.startswith("# HH777 ODD-THING\n\nA thing was odd.\n\n**Why it matters.** It matters.\n")
    assert head.endswith(f"Correct it.\n\n{SEEN}\n")
    assert "| [HH777](HH777.md) | ODD-THING | A thing was odd. |" in index([code])


def test_pages_agree_with_the_catalogue():
    """Each finding has a page that begins with what the catalogue says, and the index lists them all."""
    found = list(outdated(PAGES, catalogue()))

    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("code", catalogue(), ids=lambda code: code.name)
def test_each_page_shows_how_it_was_seen(code):
    """The page of a finding has printed output, and links a scenario or test that finds it."""
    found = list(unproved(PAGES / f"{code.code}.md", code))

    assert not found, "\n" + "\n".join(found)


def test_pages_that_lie_are_seen(tmp_path):
    """A page that is missing, changed, too many or without proof is named with what to do."""
    code, other = catalogue()[:2]
    (tmp_path / "README.md").write_text("# Findings\n")
    (tmp_path / "HH999.md").write_text("# HH999\n")
    page = tmp_path / f"{code.code}.md"
    page.write_text(page_head(code).replace("A hook", "A hock"))
    bare = list(unproved(page, code))
    (tmp_path / "test_x.py").write_text("def test_x(): pass\n")
    page.write_text(f"{page_head(code)}\nFound by [`test_x`](test_x.py).\n\n```text\nx\n```\n")

    assert ["no proof" in said for said in bare] == [True]
    assert [said.partition(":")[0] for said in outdated(tmp_path, (code, other))] == [
        "HH999.md",
        f"{other.code}.md",
        "README.md",
    ]
    assert [said.partition(": ")[2] for said in unproved(page, code)] == [
        f"test_x.py has no test test_x that speaks of {code.name}"
    ]


@pytest.mark.parametrize(
    ("item", "names"),
    [("a[claude-code]", ["X"]), ("a[b-claude-code]", ["Y"]), ("a[b-c-claude-code]", [])],
)
def test_expected_findings_of_an_item_are_its_own(item, names):
    """The findings of an item are those of its variant, and of the base only if it is no variant."""
    scenario = {
        "expect": {"findings": ["X"]},
        "variants": {"b": {"expect": {"findings": ["Y"]}}, "b-c": {"expect": {}}},
    }

    assert expected_findings(scenario, item) == names


def dead_proofs(page: Path) -> Iterator[str]:
    """Links of a page to an item or a test that does not exist."""
    for item, target in re.findall(r"\[`([^`]+)`\]\(([^)\s]+)\)", page.read_text()):
        file = page.parent / target
        if not file.is_file() or item not in items(file):
            yield f"{page.name}: {target} has no {item}"


def items(file: Path) -> set[str]:
    """The items of a scenario file as ``name`` and ``name[variant]``, or the tests of a test file."""
    text = file.read_text()
    if file.suffix == ".py":
        return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    scenario = yaml.safe_load(text)
    name = scenario["name"]
    return {name, *(f"{name}[{variant}]" for variant in scenario.get("variants", {}))}


@pytest.mark.nightly
def test_what_is_covered_is_there():
    """Each line of the page names scenarios and tests that exist, and has at least one."""
    text = COVERED.read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    bare = [row for row in rows if "](../" not in row and row != "| trouble | shown by |"]

    assert list(dead_proofs(COVERED)) == []
    assert bare == []
    assert "\n## Not yet\n" in text


def test_dead_proofs_are_seen(tmp_path):
    """A link to a missing file, variant or test is named, and any other link is not."""
    (tmp_path / "x.scenario.yaml").write_text("name: x\nvariants: {y: {}}\n")
    (tmp_path / "test_x.py").write_text("def test_x(): pass\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[`x`](x.scenario.yaml) [`x[y]`](x.scenario.yaml) [`x[z]`](x.scenario.yaml)"
        "[`test_x`](test_x.py) [`test_y`](test_x.py) [`gone`](gone.py)"
    )

    assert [said.rpartition(" ")[2] for said in dead_proofs(page)] == ["x[z]", "test_y", "gone"]


def test_every_scenario_is_on_a_page():
    """Each shipped scenario is in the table of scenarios, or on a page of the documentation."""
    pages = [ROOT / "scenarios" / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text() for page in pages)
    folders = {file.parent.relative_to(ROOT / "scenarios").as_posix() for file in SCENARIOS}
    listed = {folder for folder in folders if f"]({folder})" in text or f"scenarios/{folder}/" in text}

    assert sorted(folders - listed) == [], "add a row to scenarios/README.md"
    assert len(folders) > 20


def test_the_reference_is_made_from_the_tables():
    """Each page of reference says what the tables of the package say."""
    written = runpy.run_path(str(ROOT / "docs" / "write_reference.py"))["pages"]()

    stale = [
        name for name, text in written.items() if (ROOT / "docs" / "reference" / name).read_text() != text
    ]

    assert not stale, "run `nox -s pages`"


def test_the_page_about_behaviours_lists_them_all():
    """The page about kinds of agents has the table of behaviours that the code makes."""
    made = runpy.run_path(str(ROOT / "docs" / "write_reference.py"))
    page = made["HOW_TO"].read_text()

    assert made["behaviours"]() in page, "run `nox -s pages`"
    assert made["of_how_to"](page) == page


def test_the_site_has_every_page(tmp_path):
    """Every page of the documentation is in the navigation of the site, and every link in it has a target."""
    gather = runpy.run_path(str(ROOT / "docs" / "build_site.py"))["gather"]
    (tmp_path / "lost.md").write_text("[a](b.md) [c](../README.md) [d](#e)\n")
    _, lost = gather(tmp_path, {"index.md"})

    _, found = gather(ROOT / "docs", gather.__globals__["in_navigation"]())

    assert lost == ["lost.md: stands in no navigation", "lost.md: links to b.md, which is not there"]
    assert not found, "\n" + "\n".join(found)
