"""
The trace page in a browser: opened from disk, used by mouse, keys and links, on large and small screens.
"""

from dataclasses import replace
from urllib.parse import quote

import pytest

from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.verdicts import Livelock, Lockout, Terminated
from pytest_hookharness.reports.html.page import page

pytestmark = pytest.mark.slow

EVIL = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    "<svg onload=window.hacked=1> \x1b[31m \u202eevil\u202c \u05e9\u05dc\u05d5\u05dd"
)
OPEN_ALL = (
    "document.querySelectorAll('details').forEach((each) => { each.open = true; });"
    "new Promise((done) => setTimeout(done, 50))"
)
# The lowest contrast between a visible text and its background, with that text.
CONTRAST = """(() => {
  const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const bright = (colour) => colour.slice(0, 3).map((c) => linear(c / 255))
    .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const found = parts(getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return parts(getComputedStyle(document.body).backgroundColor);
  };
  const ratios = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !node.checkVisibility() || node.closest("script, .unseen")) continue;
    const style = getComputedStyle(node);
    const ink = node.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [one, other] = [bright(parts(ink)), bright(ground(node))].sort((a, b) => b - a);
    ratios.push([(one + 0.05) / (other + 0.05), walk.currentNode.data.slice(0, 40)]);
  }
  return ratios.sort((a, b) => a[0] - b[0])[0];
})()"""


def to(name, host="claude-code@1", turn=None):
    """The address of an item, or of one of its turns."""
    item = quote(f"a.scenario.yaml::{name}[{host}]", safe="")
    return f"#item={item}" + (f"&turn={turn}" if turn else "")


@pytest.fixture
def written(tmp_path, read_back):
    """A page with a loop on two hosts, a run that failed, and one that was interrupted."""
    runs = [
        read_back(),
        read_back(host="codex@1"),
        read_back(name="polite", verdict=Terminated(turn=3), kept_workspace=False),
        read_back(name="cut-off", ended=False),
    ]
    file = tmp_path / "page.html"
    file.write_text(page(runs))
    return file


def names(browser):
    return browser.ask("[...document.querySelectorAll('tbody a')].map((each) => each.textContent)")


@pytest.mark.nightly
def test_hostile_text_is_text(browser, tmp_path, read_back):
    """No text of hooks is run, loaded or hidden, with all details open, and the console stays empty."""
    file = tmp_path / "page.html"
    file.write_text(
        page(
            [
                read_back(EVIL, name=EVIL, kept_workspace=False),
                read_back(EVIL, name="long", turns=1, printed=EVIL + "x" * 10_000_000),
            ]
        )
    )
    for item in (EVIL, "long"):
        browser.open(file, to(item))
        browser.ask(OPEN_ALL)
        text = browser.ask("document.querySelector('main').textContent")

        assert text.count("<img src=x onerror") > 10
        assert "⟨ESC⟩[31m ⟨RLO⟩evil⟨PDF⟩ \u05e9\u05dc\u05d5\u05dd" in text
        assert not {"\x1b", "\u202e"} & set(text)
        assert browser.ask("document.querySelectorAll('img, main script, [onload]').length") == 0
        assert browser.ask("typeof window.hacked") == "undefined"
    assert "9.5 MiB, cut after 64 KiB" in text
    assert browser.complaints() == []
    assert browser.requests() == {file.as_uri()}


@pytest.mark.nightly
def test_a_lock_out_shows_the_path_into_it(browser, tmp_path, read_back):
    """The path into the lock-out and the effect of each move are shown unfolded below the agent's course."""
    file = tmp_path / "page.html"
    file.write_text(page([read_back(name="locked", verdict=Lockout(turn=1, moves=(Stop(),)))]))
    browser.open(file, to("locked"))

    heading = "[...document.querySelectorAll('h2')].find((each) => each.textContent.startsWith('Path into'))"
    assert "lockout: " in browser.ask(f"{heading}.parentElement.querySelector('pre').textContent")
    assert "The scenario's own agent" in browser.ask("document.querySelector('figcaption').textContent")


@pytest.mark.nightly
def test_trials_are_shown_with_what_was_seen(browser, written):
    """Each trial has a row with mutation, payload, result and evidence."""
    browser.open(written, to("lint"))

    cells = browser.ask("[...document.querySelectorAll('.wide td')].map((each) => each.textContent)")
    assert cells == ["no jq", "to be refused", "fail-open", "no"]


@pytest.mark.nightly
def test_an_injected_script_would_be_noticed(browser, tmp_path, read_back):
    """The policy of the page stops an injected script, and the test above would notice it."""
    file = tmp_path / "page.html"
    file.write_text(page([read_back()]).replace("</main>", "<script>window.hacked=1</script></main>"))
    browser.open(file)

    assert browser.ask("typeof window.hacked") == "undefined"
    assert any("Content Security Policy" in str(each) for each in browser.complaints())


@pytest.mark.nightly
def test_filters_and_order(browser, written):
    """The list can be filtered by verdict, host, text and result, and sorted, and shows how much is left."""
    browser.open(written)
    assert names(browser) == ["lint", "lint", "polite", "cut-off"]

    browser.ask("document.querySelectorAll('.chips button')[1].click()")
    assert names(browser) == ["lint", "lint"]
    browser.ask("change({verdict: '', host: 'codex@1'})")
    assert names(browser) == ["lint"]
    assert browser.ask("document.querySelector('[role=status]').textContent") == "1 of 4 simulations shown"
    browser.ask("change({host: '', failed: '1'})")
    assert names(browser) == ["polite", "cut-off"]
    browser.ask("change({failed: ''})")
    browser.ask("document.querySelector('th button').click()")
    assert names(browser) == ["cut-off", "lint", "lint", "polite"]
    assert browser.ask("document.querySelector('th').ariaSort") == "ascending"

    browser.press("/")
    for key in "nothing":
        browser.press(key)
    assert "Nothing matches" in browser.ask("document.querySelector('tbody').textContent")
    browser.press("Escape")
    assert len(names(browser)) == 4
    assert browser.complaints() == []


@pytest.mark.nightly
def test_keys_and_going_back(browser, written):
    """Keys lead through the list into an item, its hook runs, the next item, and back to where one was."""
    browser.open(written)
    focus = "document.activeElement.textContent"
    browser.press("j")
    browser.press("j")
    browser.press("Enter")
    browser.until("document.querySelector('h1').textContent === 'lint'")
    assert browser.ask("document.activeElement.tagName") == "H1"
    browser.press("j")
    assert browser.ask("document.activeElement.tagName") == "SUMMARY"
    browser.press("n")
    browser.until("document.querySelector('h1').textContent === 'polite'")
    browser.ask("history.back()")
    browser.until("document.querySelector('h1').textContent === 'lint'")
    browser.press("Escape")
    browser.until("document.querySelector('h1').textContent === 'Hook simulations'")
    assert browser.ask(focus) == "lint"
    browser.press("?")
    assert browser.ask("document.querySelector('dialog').open")
    browser.ask("document.querySelector('dialog input').click()")
    browser.press("Escape")
    browser.until("!document.querySelector('dialog').open")
    browser.press("/")
    assert browser.ask(focus) == "lint"
    assert browser.complaints() == []


@pytest.mark.nightly
def test_an_item_by_its_address(browser, written):
    """An address leads to one turn of an item, which shows its loop, hosts, diffs and rule."""
    browser.open(written, to("lint", turn=2))

    assert browser.ask("document.activeElement.textContent") == "Turn 2 the cycle begins here"
    drawn = browser.ask("document.querySelector('svg').ariaLabel")
    assert drawn == (
        "A stem of 1 turn, then a cycle of 2 turns that repeats forever (evidence: closed, all that was "
        "read is part of the state or never changes). "
        "claude-code@1 would override refusal 9 in a row."
    )
    dots = browser.ask("[...document.querySelectorAll('svg a')].map((each) => each.ariaLabel)")
    assert dots == ["before the first turn", *(f"turn {turn}: Stop refused" for turn in (1, 2, 3))]
    browser.ask(OPEN_ALL)
    assert browser.ask("document.querySelector('.diff').innerText.split('\\n')") == [
        "@@ -1,2 +1,2 @@",
        " x = 1",
        "-y = 2",
        "+y = 3",
    ]
    rule = browser.ask("document.querySelector('.hook-run .rule').textContent")
    assert rule == "Exit code 2 refuses.observed a host, 1.0, measured"
    browser.ask("document.querySelector('.again button').click()")
    browser.until("document.querySelector('[role=status]').textContent.match(/copied|Ctrl/)")
    browser.ask("document.querySelector('.others a').click()")
    browser.until("document.querySelector('h1 ~ p').textContent.includes('codex@1')")
    assert browser.complaints() == []


@pytest.mark.nightly
def test_differences_and_numbers_of_any_kind(browser, tmp_path, read_back):
    """No line of a diff is mistaken for the name of its file, and any turn number is shown."""
    run = read_back(name="large", verdict=Terminated(turn=3))
    change = next(step for step in run.steps if step["kind"] == "performed")["changes"][0]
    change["diff"]["text"] = "--- a/q.sql\n+++ b/q.sql\n@@ -1 +1 @@\n--- old\n+++ new\n"
    run.steps[-1]["turn"] = 10**11
    file = tmp_path / "page.html"
    file.write_text(page([run]))

    browser.open(file, to("large"))
    browser.ask(OPEN_ALL)

    assert browser.ask("document.querySelector('.diff').innerText").split("\n") == [
        "@@ -1 +1 @@",
        "--- old",
        "+++ new",
    ]
    assert "99999999995 more" in browser.ask("document.querySelector('figure').textContent")


@pytest.mark.nightly
def test_small_screens_and_dark_ones(browser, written):
    """At the width of a phone nothing is beyond the edge, and every text can be read in both schemes."""
    for scheme in ("light", "dark"):
        other = quote("a.scenario.yaml::lint[codex@1]", safe="")
        for address in ("", to("lint"), f"{to('lint')}&beside={other}", to("polite"), to("cut-off")):
            browser.open(written, address, width=360, scheme=scheme)
            browser.ask(OPEN_ALL)
            ratio, text = browser.ask(CONTRAST)

            assert browser.ask("document.documentElement.scrollWidth") == 360
            assert ratio >= 4.5, f"{text!r} on {scheme}"
    browser.ask("document.querySelector('h1').style.color = '#444'")
    assert browser.ask(CONTRAST)[0] < 4.5


@pytest.mark.nightly
def test_a_thousand_items(browser, tmp_path, read_back):
    """A page with a thousand items shows its list before any item is parsed, then all of it."""
    file = tmp_path / "page.html"
    run = read_back(turns=5)
    begins = ({**run.begin, "id": f"a::{number}", "scenario": f"name-{number}"} for number in range(1000))
    made = [type(run)(name=run.name, begin=begin, steps=run.steps, end=run.end) for begin in begins]
    file.write_text(page(made))
    browser.open(file)
    browser.until("document.querySelectorAll('tbody tr').length === 1000")
    browser.ask("change({find: 'name-77'})")

    assert len(names(browser)) == 11
    browser.ask("document.querySelector('tbody a').click()")
    browser.until("document.querySelectorAll('.hook-run').length === 5")
    assert browser.ask("document.querySelector('.path').textContent").endswith("1 of 11")


@pytest.mark.nightly
def test_states_that_differ_are_shown_as_different(browser, tmp_path, read_back):
    """States whose files are equal, and that differ in the rest, are shown with different fingerprints."""
    run = read_back()
    states = [{**state, "digest": "a" * 32 + str(state["turn"]) * 32} for state in run.states]
    file = tmp_path / "page.html"
    file.write_text(page([replace(run, states=tuple(states))]))
    browser.open(file, to("lint"))

    shown = browser.ask("[...document.querySelectorAll('p.soft.small')].map((each) => each.textContent)")
    assert [text[:15] for text in shown if text.startswith("state ")] == [
        "state aaaa1111,",
        "state aaaa2222,",
        "state aaaa3333,",
    ]


@pytest.mark.nightly
def test_the_decisive_assumption_is_beside_the_advice(browser, tmp_path, read_back):
    """What only holds for this session stands below what to do, and what backticks mark is shown as code."""
    assumed = ("It holds always.", "The agent does not make `DONE.md`, which the hooks look for.")
    file = tmp_path / "page.html"
    file.write_text(page([read_back(verdict=Livelock(stem=1, period=2, assumptions=assumed))]))
    browser.open(file, to("lint"))

    shown = browser.ask("[...document.querySelectorAll('p.box')].map((each) => each.textContent)")
    told = "Assumed: The agent does not make DONE.md, which the hooks look for."
    assert [text.partition(":")[0] for text in shown] == ["What to do", "Assumed"]
    assert shown[1] == told
    assert browser.ask("document.querySelector('p.box + p.box code').textContent") == "DONE.md"


@pytest.mark.nightly
def test_cause_and_advice_come_before_the_drawing(browser, written):
    """What to do stands above the drawing, and the time that hooks took below it."""
    browser.open(written, to("lint"))

    order = "[...document.querySelectorAll('article > p, article > section > h2, article > figure')]"
    shown = browser.ask(f"{order}.map((each) => each.textContent)")

    advice = next(place for place, text in enumerate(shown) if text.startswith("What to do: "))
    drawing = next(place for place, text in enumerate(shown) if "repeats forever" in text and "cycle" in text)
    assert advice < drawing
    assert shown[drawing + 1].startswith("Time: hooks ")


@pytest.mark.nightly
def test_each_turn_is_on_the_time_axis(browser, written):
    """Below each turn's heading a bar and words say when it took place, and how long hooks ran in it."""
    browser.open(written, to("lint"))

    tracks = "[...document.querySelectorAll('.track')]"
    assert browser.ask(f"{tracks}.map((each) => each.textContent)")[:2] == [
        "at 0 s: took 0.2 s: simulated host, harness and experiments 0.2 s",
        "at 0.2 s: took 0.6 s: hooks 0.1 s, simulated host, harness and experiments 0.5 s",
    ]
    starts = browser.ask(f"{tracks}.map((each) => Number(each.querySelector('rect').getAttribute('x')))")
    assert starts == sorted(starts)
    assert [width > 0 for width in starts] == [False, True, True, True]


@pytest.mark.nightly
def test_two_runs_side_by_side(browser, written):
    """A link shows one item on two hosts side by side, with their ends and turns, and Escape goes back."""
    browser.open(written, to("lint"))
    browser.ask("document.querySelector('.others a.small').click()")

    browser.until("document.querySelector('h1').textContent === 'Two runs side by side'")
    assert browser.ask("[...document.querySelectorAll('thead a')].map((each) => each.textContent)") == [
        "lint on claude-code@1",
        "lint on codex@1",
    ]
    assert browser.ask("document.querySelector('.lead').textContent") == (
        "Both runs have the same moves and decisions."
    )
    cell = browser.ask("document.querySelector('.two tbody tr:nth-child(3) td').textContent")
    assert "Stop: ./check.sh no (exited 2) ✕ refused" in cell
    browser.press("Escape")
    browser.until("document.querySelector('h1').textContent === 'lint'")


def live_record(*differences):
    """A record of a comparison with a real program, with these differences."""
    sides = {
        "simulated": [said("Stop", "./check.sh exited 2")],
        "real": [said("Stop", "./check.sh exited 0")],
    }
    return {
        "record": "live",
        "version": "2.1.329",
        "headline": "2 items of 9 differ",
        "agreed": all(each["known"] for each in differences),
        "categories": [{"name": "told", "agreed": 3, "compared": 4}],
        "differences": [*differences],
        "turns": [{"simulated": [], "real": []}, sides],
        "ends": {"simulated": "it ended by itself", "real": "it went on"},
        "made_alike": ["times"],
    }


def said(who, text):
    return {"who": who, "text": {"text": text, "bytes": len(text), "cut_at": None, "replaced": False}}


def difference(turn, where, real, known=""):
    return {
        "turn": turn,
        "category": "told",
        "where": where,
        "simulated": said("", "the end")["text"],
        "real": said("", real)["text"],
        "rule": {"text": "Exit code 2 refuses.", "basis": "observed", "source": "a host"},
        "known": known,
    }


@pytest.fixture
def compared(tmp_path, read_back):
    """A page with one run that differs from the real program, and one with a known difference only."""
    differing = live_record(difference(1, EVIL, "the sad end"), difference(None, "the other", "an end"))
    known = live_record(difference(1, "here", "the sad end", "it always does"))
    file = tmp_path / "page.html"
    file.write_text(page([read_back(live=differing), read_back(name="known", live=known)]))
    return file


@pytest.mark.nightly
def test_a_live_run_shows_both_sides(browser, compared):
    """The first difference comes first, with what differs in both values; then both sides by message."""
    browser.open(compared)
    assert browser.ask("document.querySelector('.lead').textContent").endswith("1 as expected, 1 failed.")
    browser.open(compared, to("lint"))

    headings = browser.ask("[...document.querySelectorAll('h2')].map((each) => each.textContent)")
    assert headings[:4] == [
        "First difference",
        "Other differences",
        "Simulated and real",
        "The simulated session",
    ]
    assert "What to do: " not in browser.ask("document.querySelector('main').textContent")
    assert browser.ask("document.querySelector('.box bdi').textContent").startswith("</script><script>")
    assert browser.ask("[...document.querySelectorAll('mark')].map((each) => each.textContent)") == [
        "sad ",
        "the",
        "an",
    ]
    rows = browser.ask("[...document.querySelectorAll('.two tr')].map((each) => each.innerText)")
    assert [" ".join(row.split()) for row in rows] == [
        "message simulated real",
        "before nothing nothing",
        "1 differs Stop ./check.sh exited 2 Stop ./check.sh exited 0",
        "end differs it ended by itself it went on",
    ]
    assert browser.complaints() == []


@pytest.mark.nightly
def test_both_sides_on_a_phone(browser, compared):
    """At the width of a phone the two sides stand below each other, named, and nothing is cut off."""
    for scheme in ("light", "dark"):
        for address in (to("lint"), to("known")):
            browser.open(compared, address, width=360, scheme=scheme)
            browser.ask(OPEN_ALL)

            assert browser.ask("document.documentElement.scrollWidth") == 360
            assert browser.ask("document.querySelector('.wide').scrollWidth") <= 360
            assert browser.ask(CONTRAST)[0] >= 4.5
            label = "getComputedStyle(document.querySelector('.two td'), '::before').content"
            assert browser.ask(label) in ('"simulated"', "attr(data-side)")
