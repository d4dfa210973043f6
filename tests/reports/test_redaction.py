"""Which texts are redacted before they are written, and which are not."""

import base64
import json
import shlex
import string
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pytest_hookharness.model.delivery import Asked, Dialogue
from pytest_hookharness.model.processes import Exited, Output, Process, ProcessResult, Tier
from pytest_hookharness.model.protocol import Basis, Hook, Reply, Rule
from pytest_hookharness.model.trace import Change, HookRun
from pytest_hookharness.reports.redaction import Secrets, find_assigned, find_secrets, redact, redacted
from pytest_hookharness.reports.trace.hook_runs import bound, of_json
from pytest_hookharness.reports.trace.schema import words

NONE = Secrets()
LETTERS = string.ascii_letters + string.digits
LONG = (LETTERS * 3)[:120]
# Made up, in the form of real ones.
LOOKS = [
    ("AWS key id", "AKIA" + "ABCDEFGH12345678"),
    ("AWS secret key", "aws_secret_access_key = " + LONG[:40]),
    ("GitHub token", "ghp_" + LONG[:36]),
    ("GitHub token", "github_pat_" + LONG[:22] + "_" + LONG[:59]),
    ("GitLab token", "glpat-" + LONG[:20]),
    ("Slack token", "xoxb-" + "123456789012-" + LONG[:24]),
    ("Slack address", "https://hooks.slack.com/services/T00000000/B00000000/" + LONG[:24]),
    ("API key", "sk-ant-api03-" + LONG[:40]),
    ("Google key", "AIza" + LONG[:35]),
    ("npm token", "npm_" + LONG[:36]),
    ("PyPI token", "pypi-" + LONG[:60]),
    ("JSON web token", "eyJ" + LONG[:20] + ".eyJ" + LONG[:30] + "." + LONG[:43]),
    ("authorization", "Authorization: Basic " + LONG[:24]),
    ("authorization", '"authorization": "token ' + LONG[:24] + '"'),
    ("bearer", "curl -H 'X: Bearer " + LONG[:24] + "'"),
    ("password", "https://me:" + LONG[:12] + "@example.org/a.git"),
    (
        "private key",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n" + LONG + "\n-----END OPENSSH PRIVATE KEY-----",
    ),
    ("private key", "-----BEGIN PRIVATE KEY-----\n" + LONG),
]


@pytest.mark.parametrize("name,text", LOOKS)
def test_what_looks_like_a_secret_is_taken_out(name, text):
    """A secret of a well-known form is replaced by its name, within JSON too; the words around it stay."""
    clean = redact(f"before {text} after", NONE)

    assert f"[redacted: {name}]" in clean
    assert LONG[:12] not in clean
    assert clean.startswith("before ")
    assert LONG[:12] not in redact(json.dumps({"command": text}), NONE)


PLAIN = [
    "The token is in the vault. Authorize the bearer of this letter; sk-8 and AKIA are short.",
    "https://example.org:8080/path@2x.png and git@github.com:me/it.git, mailto:me@example.org",
    "a.b.c eyJhbGciOi -----BEGIN CERTIFICATE----- npm_config_cache=/tmp/x",
    "sha256:" + "0123456789abcdef" * 4,
    '{"session_id":"79e47b98-52e1-452c-b7ec-5914552b0e81","hook_event_name":"Stop"}',
]


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text):
    """Addresses, digests, ids and words about secrets are left as they are."""
    assert redact(text, NONE) == text


@pytest.mark.slow
@given(st.text(alphabet=LETTERS + " .,;()[]{}\n\t'\"äß\N{SNOWMAN}", max_size=200))
def test_texts_without_secrets_are_unchanged(text):
    """A text of words, quotes and brackets stays as it is, and so does the value around it."""
    known = find_secrets({"API_TOKEN": "not~in~there"})

    assert redact(text, known) == text
    value = Change(path=text, how="added")
    assert redacted(value, known) is value


NAMES = [
    ("GITHUB_TOKEN", True),
    ("AWS_SECRET_ACCESS_KEY", True),
    ("DB_PASSWORD", True),
    ("PGPASSWORD", True),
    ("MYSQL_PWD", True),
    ("OPENAI_API_KEY", True),
    ("NPM_CONFIG__AUTH", True),
    ("GOOGLE_CREDENTIALS", True),
    ("STRIPE_KEY", True),
    ("PWD", False),
    ("OLDPWD", False),
    ("GIT_AUTHOR_NAME", False),
    ("SSH_AUTH_SOCK", False),
    ("HOME", False),
    ("PATH", False),
    ("MONKEY", False),
    ("COMPASS", False),
]


@pytest.mark.parametrize("name,secret", NAMES)
def test_variables_are_secret_by_their_names(name, secret):
    """The name of a variable says whether its value is a secret."""
    clean = redact("it is open sesame!", find_secrets({name: "open sesame"}))

    assert clean == (f"it is [redacted: {name}]!" if secret else "it is open sesame!")


def test_common_values_are_no_secrets():
    """A value that is short, a number of tokens, or a word of the format itself is not redacted."""
    environment = {"A_TOKEN": "short", "MAX_TOKENS": "128000", "B_TOKEN": "terminated"}

    assert find_secrets(environment, words=words()) == NONE
    assert find_secrets(environment).forms != ()


SECRETS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="[]", exclude_categories=("Cs",)),
    min_size=6,
    max_size=60,
).filter(lambda text: text == text.strip() and text not in "[redacted: THE_TOKEN]")
AROUND = st.text(alphabet=LETTERS + " \n\"'{}:,", max_size=30)


def forms(secret):
    """The forms in which a program may print a secret."""
    raw = secret.encode()
    yield secret
    yield json.dumps(secret)
    yield json.dumps(secret, ensure_ascii=False)
    yield json.dumps(json.dumps({"key": secret}))
    yield json.dumps({"a": json.dumps({"key": secret}, ensure_ascii=False)}, ensure_ascii=False)
    yield shlex.quote(secret)
    for unquoted in ("", "/", "!'()*", ";,/?:@&=+$!*'()#"):
        yield quote(secret, safe=unquoted)
    yield quote_plus(secret)
    for before in (b"", b"a", b"ab"):
        yield base64.b64encode(before + raw + b"tail").decode()
        yield base64.urlsafe_b64encode(b"user:" + before + raw).decode()
    yield base64.encodebytes(b"x" * 40 + raw + b"y" * 40).decode()


@settings(max_examples=15)
@given(SECRETS, AROUND, AROUND)
@example('a"b\\c\nd', "", "")
def test_no_known_secret_survives_in_any_form(secret, before, after):
    """A known secret is removed in every form in which a program prints it, also escaped twice or encoded."""
    known = find_secrets({"THE_TOKEN": secret})
    assume(secret not in before + after)
    for form in forms(secret):
        clean = redact(before + form + after, known)
        assert "[redacted: THE_TOKEN]" in clean
        assert secret not in clean
        for piece in clean.split():
            assert secret.encode() not in decoded(piece)


def decoded(text):
    """Return the decoded text of base64, wherever it begins; empty if it is none."""
    letters = "".join(letter for letter in text if letter in LETTERS + "+/-_")
    said = []
    for start in range(4):
        rest = letters[start:].translate(str.maketrans("-_", "+/"))
        rest = rest[:-1] if len(rest) % 4 == 1 else rest
        said.append(base64.b64decode(rest + "=" * (-len(rest) % 4)))
    return b" ".join(said)


def test_a_control_would_show_a_secret_that_is_left():
    """Without redaction, these forms do show the secret."""
    assert all(redact(form, NONE) == form for form in forms("open sesame, please"))
    assert b"open sesame" in decoded(base64.b64encode(b"open sesame").decode())


@settings(max_examples=20)
@given(st.text(alphabet=LETTERS + "$%&/+", min_size=8), st.integers(0, 99))
def test_a_piece_of_a_secret_at_a_cut_is_taken_out(secret, place):
    """Where a stream was cut within a known secret, its beginning is taken out; elsewhere it stays."""
    known, piece = find_secrets({"THE_TOKEN": secret}), secret[: 4 + place % (len(secret) - 4)]
    data = b"it is " + piece.encode()

    assert redacted(Output(data, 999), known).text == "it is [redacted: THE_TOKEN]"
    assert redacted(Output(data, len(data)), known).text == "it is " + piece


def test_a_piece_of_a_secret_in_a_clipped_text_is_taken_out():
    """Where a sentence quotes the beginning of a text, or a command line is bounded, no piece is left."""
    known = find_secrets({"A_TOKEN": "open sesame, please"})

    assert (
        redact('said "it is open ses..." and more', known) == 'said "it is [redacted: A_TOKEN]..." and more'
    )
    assert redact("it is open ses", known) == "it is open ses"
    assert redacted(Process(1, "sh -c echo open ses", 0), known).command == "sh -c echo [redacted: A_TOKEN]"


def test_overlapping_secrets_leave_nothing():
    """Two secrets that share letters are taken out together."""
    known = find_secrets({"A_TOKEN": "abcdefgh", "B_TOKEN": "efghijkl"})

    assert redact("<abcdefghijkl>", known) == "<[redacted: A_TOKEN]>"


def test_lines_of_a_long_secret_are_secrets():
    """A program that prints one line of a key has printed a part of the secret."""
    key = "\n".join(["first line", LONG[:40], LONG[40:80]])

    assert (
        redact(f"2: {LONG[40:80]}", find_secrets({"MY_PRIVATE_KEY": key})) == "2: [redacted: MY_PRIVATE_KEY]"
    )


def test_every_text_of_a_value_is_redacted():
    """Texts, bytes, keys and paths are redacted everywhere in a value, and sizes of streams stay correct."""
    secret, known = "open sesame", find_secrets({"A_TOKEN": "open sesame"})
    shown = f"say {secret}".encode()
    run = ProcessResult(
        ending=Exited(0),
        stdout=Output(shown, len(shown)),
        stderr=Output(shown, 5000),
        leftovers=(Process(1, secret, 0),),
        dialogue=Dialogue(shown=shown, total=len(shown), asked=(Asked(secret, secret),), unanswered=secret),
    )
    hook_run = HookRun(
        hook=Hook(event="Stop", command=f"./hook {secret}", env={"A_TOKEN": secret}),
        payload={secret: [secret, 1, None, True]},
        stdin=json.dumps({"a": secret}).encode(),
        run=run,
        reply=Reply(reason=secret, rule=Rule(secret, Basis.OBSERVED, secret)),
    )
    clean = redacted((hook_run, Change(path=f"home/{secret}", how="added"), Path(secret), Tier.GROUP), known)

    assert "sesame" not in repr(clean)
    assert clean[3] is Tier.GROUP
    assert clean[0].run.stdout.cut_at is None
    assert clean[0].run.stderr.cut_at == len(clean[0].run.stderr.data)
    assert "sesame" not in json.dumps(bound(of_json(clean)))
    assert "sesame" in json.dumps(bound(of_json(replace(hook_run, run=None))))


def test_no_clipped_text_takes_long():
    """A text with very many signs that it was clipped is looked through in a moment, for long secrets too."""
    lines = (f"{number:04}{LONG[:60]}" for number in range(36))
    known = find_secrets({"A_TOKEN": "\n".join(lines)})
    began = time.process_time()

    assert redact("..x" * 2000 + f"0007{LONG[:9]}... " * 20, known).endswith("[redacted: A_TOKEN]... ")
    assert redact("a ... " * 1300, known) == "a ... " * 1300
    assert time.process_time() - began < 1.5


@pytest.mark.parametrize(
    "piece",
    ["a.b.c.", "eyJ-", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "authorization: ", "sk-", "a://b:"],
)
def test_no_text_takes_long(piece):
    """A long text of what nearly looks like secrets is looked through in a moment."""
    text = piece * (60_000 // len(piece)) + " open sesame"

    assert redact(text, find_secrets({"A_TOKEN": "open sesame"})).endswith("]")


@pytest.mark.parametrize(
    "text",
    [
        "export MY_TOKEN=abc12345; make",
        '{"api_key": "abc12345"}',
        "password = 'abc12345'",
        "deploy --auth-token abc12345",
        "deploy --password=abc12345",
    ],
)
def test_values_that_a_text_gives_to_secret_names(text):
    """A value that a command, a settings file or an option gives to a secret's name is known as a secret."""
    assert [*find_assigned([text]).values()] == ["abc12345"]
    assert "abc12345" not in redact(f"{text} and abc12345", find_secrets(find_assigned([text])))


@pytest.mark.parametrize(
    "text",
    [
        "MY_TOKEN=$OTHER123",
        "token = lexer1.next_one",
        "KEY_FILE=/a/key12345",
        "TOKEN=read_token1()",
        "A=12345678",
    ],
)
def test_code_assigns_no_secrets(text):
    """Variables, calls and paths are not taken for secrets."""
    assert not find_assigned([text])
