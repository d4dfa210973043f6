"""The command lines of hosts, and what hosts print at the end."""

import json

import pytest

from pytest_hookharness import hosts

CLAUDE, CODEX, GEMINI = (hosts.find(name).calling for name in ("claude-code", "codex", "gemini-cli"))


@pytest.mark.parametrize(
    ("rules", "words", "wanted"),
    [
        (CLAUDE, ["-p", "Do it."], {"prompt": "Do it."}),
        (CLAUDE, ["Do it.", "--print", "--model", "opus"], {"prompt": "Do it."}),
        (CLAUDE, ["-p", "--output-format=json", "x"], {"prompt": "x", "form": "json"}),
        (CLAUDE, ["-p", "--allowedTools", "Read", "Edit", "--verbose", "x"], {"prompt": "x"}),
        (CLAUDE, ["-p", "x", "--settings", "{}"], {"prompt": "x", "settings": ("{}",)}),
        (CLAUDE, ["-p", "x", "--setting-sources", ""], {"prompt": "x", "sources": ("",)}),
        (
            CLAUDE,
            ["-p", "x", "--setting-sources", "user"],
            {"prompt": "x", "sources": ("home/.claude/settings.json",)},
        ),
        (CLAUDE, ["-p", "x", "--bare"], {"prompt": "x", "hookless": True}),
        (CLAUDE, ["-p", "--", "-x"], {"prompt": "-x"}),
        (CLAUDE, ["--version"], {"version": True}),
        (
            CODEX,
            ["exec", "--json", "-C", "sub", "Do it."],
            {"prompt": "Do it.", "form": "json", "folder": "sub"},
        ),
        (CODEX, ["exec", "-"], {}),
        (GEMINI, ["-y", "-p", "Do it.", "-o", "json"], {"prompt": "Do it.", "form": "json"}),
        (GEMINI, ["Do", "it."], {"prompt": "Do it."}),
    ],
)
def test_command_lines(rules, words, wanted):
    """The prompt, the output format, the folder and the settings are read as the host reads them."""
    assert hosts.read_command_line(rules, words) == hosts.CommandLine(**wanted)


@pytest.mark.parametrize(
    ("rules", "words", "named"),
    [
        (CLAUDE, ["-p", "--fly", "x"], "the option '--fly'; known here are --"),
        (
            CLAUDE,
            ["-p", "x", "--output-format", "xml"],
            "the output format 'xml'; known here are json, stream-json, text",
        ),
        (CODEX, ["resume"], "'resume'; known here is 'exec'"),
    ],
)
def test_unknown_words_are_reported(rules, words, named):
    """A word of unknown meaning is reported, with the known ones."""
    assert hosts.read_command_line(rules, words).unknown.startswith(named)


@pytest.mark.parametrize("rules", [CLAUDE, CODEX, GEMINI])
def test_output_formats(rules):
    """The default format is the bare text, and the JSON format is JSON that contains it."""
    said = hosts.FinalAnswer(text='It is "done".', session="s-1", turns=1)

    assert hosts.write_answer(rules, "", said) == 'It is "done".\n'
    lines = [json.loads(line) for line in hosts.write_answer(rules, "json", said).splitlines()]
    assert 'It is \\"done\\".' in json.dumps(lines)
    assert "s-1" in json.dumps(lines)


def test_standard_input_joins_the_prompt():
    """Prompt and standard input become one prompt, and each alone stays as it is."""
    assert hosts.join_prompt(CLAUDE, "Explain:", "a log") == "Explain:\na log"
    assert hosts.join_prompt(GEMINI, "Explain it.", "a log") == "a log\n\nExplain it."
    assert hosts.join_prompt(CLAUDE, "Explain.", " \n") == "Explain."
    assert hosts.join_prompt(CODEX, "", "a log") == "a log"
