"""The trace page as text: one file that needs nothing else, in which hostile text is only data."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.html import page as pages
from pytest_hookharness.reports.html.page import embedded, page, rows_of

EVIL = "</script><script>hacked=1</script><!--<script>&lt;\"'\u2028\x1b[31m\u202e<img src=x onerror=hacked=1>"
# Markup that makes a browser load something.
REACHING_OUT = ("src", "data", "action", "srcset", "ping", "manifest", "poster", "formaction", "background")


class Outline(HTMLParser):
    """The tags of a page, with their attributes, and the contents of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.inside = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted((name, value or "") for name, value in attrs))))
        if tag in ("script", "style"):
            self.inside.append([tag, dict(attrs), ""])

    def handle_data(self, data):
        if self.lasttag in ("script", "style") and self.inside:
            self.inside[-1][2] += data if self.cdata_elem else ""

    def handle_comment(self, data):
        self.tags.append(("!--", data))

    def data(self, name):
        """The value of the data element of this name."""
        return next(json.loads(text) for _, attrs, text in self.inside if attrs.get("id") == name)

    def of(self, kind):
        """The texts of the elements that a browser runs or styles by."""
        return [text for tag, attrs, text in self.inside if tag == kind and "type" not in attrs]


def shape(text):
    """The tags of a page without its text."""
    return [tag for tag in Outline(text).tags if tag[0] != "title"]


def test_one_file_that_needs_nothing_else(read_back):
    """The page refers to no other file, and its policy names its one style and its one script by digest."""
    outline = Outline(page([read_back()]))
    attributes = [pair for _, attrs in outline.tags for pair in attrs]
    policy = next(value for name, value in attributes if value.startswith("default-src 'none'"))
    digest = {
        kind: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind in ("style", "script")
        for text in outline.of(kind)
    }

    assert [name for name, _ in attributes if name in REACHING_OUT] == []
    assert [value for name, value in attributes if name == "href" and not value.startswith("#")] == []
    assert [len(outline.of(kind)) for kind in ("style", "script")] == [1, 1]
    assert f"style-src 'sha256-{digest['style']}'" in policy
    assert f"script-src 'sha256-{digest['script']}'" in policy
    assert not re.search("unsafe|https?:", policy)


def test_the_script_writes_text_alone():
    """The script cannot turn a text into markup or code, and cannot end its own element."""
    script = "".join(map(pages._asset, pages.SCRIPTS))
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|DOMParser|</|<!--"

    assert re.findall(ways, script) == []
    assert re.findall(ways, "node.innerHTML = text") == ["innerHTML"]


def test_records_are_read_back(read_back):
    """The page's data equal the records, with any text in them."""
    run = read_back(EVIL)
    outline = Outline(page([run]))
    read = outline.data("run-0")

    assert read["begin"] == run.begin
    assert read["steps"] == list(run.steps)
    assert read["end"] | {"incident": run.end["incident"]} == run.end
    assert outline.data("index")["rows"][0]["key"] == run.begin["id"]


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.lists(st.sampled_from(list("<>/!-&\"'=")) | st.just(EVIL)).map("".join))
def test_no_text_becomes_markup(read_back, text):
    """A page has the same tags with any text of hooks, agents and scenarios."""
    assert shape(page([read_back(text, name=text or "-")])) == shape(page([read_back()]))


def test_unescaped_data_would_be_noticed(read_back, monkeypatch):
    """The comparison of tags notices data that are written without escapes."""
    monkeypatch.setattr(pages, "embedded", json.dumps)

    assert shape(page([read_back(EVIL)])) != shape(page([read_back()]))


def test_halves_of_pairs_can_be_written():
    """What is embedded is ASCII, so that halves of surrogate pairs can be written to a file."""
    assert embedded("\ud800<\u2028&") == '"\\ud800\\u003c\\u2028\\u0026"'


def test_each_run_has_a_row_of_its_own(read_back):
    """Each run has a row with its result, and runs of one item have different names in addresses."""
    runs = [
        read_back(),
        read_back(),
        read_back(kept_workspace=False, host="codex@1", verdict=Terminated(turn=3)),
        read_back(ended=False),
    ]
    rows = rows_of(runs, {})

    assert [row.verdict for row in rows] == ["livelock", "livelock", "terminated", "interrupted"]
    assert [row.result for row in rows] == ["passed", "passed", "failed", "unknown"]
    assert len({row.key for row in rows}) == 4
    assert [(row.name, row.file, row.turns, row.blocks) for row in rows[:1]] == [
        ("lint", "a.scenario.yaml", 3, 3)
    ]
    assert rows[3].said == "interrupted: 10 steps were seen"


@pytest.mark.parametrize(
    ("kept_workspace", "passed", "result"),
    [
        (True, {}, "passed"),
        (False, {}, "decided by its test"),
        (False, {"t.py::test_it": True}, "passed"),
        (True, {"t.py::test_it": False}, "failed"),
        (False, {"t.py::test_other": True}, "decided by its test"),
    ],
)
def test_a_python_test_decides_about_its_simulation(read_back, kept_workspace, passed, result):
    """A simulation without a scenario file has the result of its test; a failed one waits for that result."""
    run = read_back(kept_workspace=kept_workspace)
    run.begin.update(file=None, id="t.py::test_it")
    (row,) = rows_of([run], passed)

    assert (row.result, row.name, row.file) == (result, "test_it", "t.py")


def test_a_simulation_of_the_shell_command_needs_no_test(read_back):
    """A simulation of the shell command without a scenario file has a result of its own."""
    runs = [read_back(kept_workspace=kept) for kept in (True, False)]
    for run in runs:
        run.begin.update(file=None, id="try[claude-code]", front_end="hookharness")

    assert [row.result for row in rows_of(runs, {})] == ["passed", "failed"]


def test_a_page_without_a_script(read_back):
    """Without JavaScript there is a table of all simulations, in which hostile text is text."""
    text = page([read_back(EVIL, name=EVIL, kept_workspace=False)])
    table = text[text.index("<noscript>") : text.index("</noscript>")]

    assert table.count("<tr>") == 2
    assert "&lt;/script&gt;" in table
    assert "<img" not in table
    assert "\x1b" not in table


@pytest.mark.nightly
def test_no_turn_is_left_out(read_back):
    """All steps of a long run are on the page; only their texts may be shortened."""
    run = read_back("x" * 60, turns=400)
    read = Outline(page([run])).data("run-0")

    assert len(read["steps"]) == len(run.steps) == 1201
    assert len(read["states"]) == 400


@pytest.mark.parametrize(("most", "longest"), [(10**9, 8000), (170_000, 4096), (10, 1024)])
def test_texts_are_shortened_until_a_browser_can_open_it(read_back, monkeypatch, most, longest):
    """If all texts together are too much for a browser, each is cut shorter, and marked as cut."""
    monkeypatch.setattr(pages, "_MOST", most)
    read = Outline(page([read_back("x" * 8000, turns=1)])).data("run-0")
    (hook_run,) = read["steps"][-1]["hook_runs"]
    stderr = hook_run["run"]["stderr"]

    assert len(stderr["text"]) == longest
    assert stderr["bytes"] == 8000
    assert stderr["cut_at"] == (None if longest == 8000 else longest)
