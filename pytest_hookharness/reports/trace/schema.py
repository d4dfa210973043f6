"""
The JSON Schema of trace files, which is also used to read them back.

Within a version keys may be added; the listed ones stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, get_args

from pytest_hookharness.model.mutations import FaultOutcome
from pytest_hookharness.model.processes import Cut, Tier
from pytest_hookharness.model.protocol import Basis, Ruling
from pytest_hookharness.model.verdicts import VERDICTS
from pytest_hookharness.reports.trace.records import VERSION

Schema: TypeAlias = Mapping[str, Any]

SCHEMA_ID = "urn:pytest-hookharness:trace"

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_WHOLE: Schema = {"type": "integer"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_NOTHING: Schema = {"type": "null"}
_DATA: Schema = {"type": "object"}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": [*properties]}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, _NOTHING]}


def _one_of(*words: str) -> Schema:
    return {"enum": [*words]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


_EXCERPT, _RULE, _RUN, _PROCESS, _CHANGE = map(_ref, ("excerpt", "rule", "run", "process", "change"))
_RULINGS = _one_of(*(ruling.value for ruling in Ruling))
_CONSEQUENCES: Mapping[str, Schema] = {
    "changes": _list(_CHANGE),
    "more_changes": _COUNT,
    "children": _list(_ref("child")),
}
_PROCESS_KEYS: Mapping[str, Schema] = {"pid": _WHOLE, "command": _TEXT, "age": _NUMBER}
_HOOK: Mapping[str, Schema] = {
    "event": _TEXT,
    "command": _TEXT,
    "type": _TEXT,
    "matcher": _or_null(_TEXT),
    "timeout": _or_null(_NUMBER),
    "source": _TEXT,
}


def _step(kind: str, **properties: Schema) -> Schema:
    return _object(
        record=_one_of("step"),
        number=_COUNT,
        turn=_COUNT,
        at=_NUMBER,
        kind=_one_of(kind),
        words=_TEXT,
        **properties,
    )


STEPS: Mapping[str, Schema] = {
    "moved": _step(
        "moved",
        move=_ref("action"),
        saw=_list(_object(kind=_TEXT, event=_TEXT, text=_EXCERPT)),
    ),
    "happened": _step("happened", happening=_ref("action")),
    "performed": _step(
        "performed",
        tool=_TEXT,
        input=_EXCERPT,
        result=_EXCERPT,
        failed=_FLAG,
        refused=_FLAG,
        run=_or_null(_RUN),
        **_CONSEQUENCES,
    ),
    "hook-event": _step(
        "hook-event",
        event=_TEXT,
        target=_TEXT,
        hook_runs=_list(_ref("hook-run")),
        decision=_ref("decision"),
        **_CONSEQUENCES,
    ),
}

RECORDS: Mapping[str, Schema] = {
    "begin": _object(
        record=_one_of("begin"),
        version={"type": "integer", "minimum": VERSION},
        id=_TEXT,
        front_end=_one_of("pytest", "hookharness"),
        scenario=_TEXT,
        variant=_TEXT,
        why=_TEXT,
        host=_TEXT,
        seed=_WHOLE,
        tier=_or_null(_one_of(*(tier.value for tier in Tier))),
        file=_or_null(_TEXT),
        line=_or_null(_COUNT),
        hooks=_list(_ref("hook")),
        expected=_list(_TEXT),
        replay_command=_TEXT,
        began=_TEXT,
    ),
    **STEPS,
    "state": _object(
        record=_one_of("state"), turn=_COUNT, digest=_TEXT, opaque=_TEXT, files=_COUNT, visible=_DATA
    ),
    "live": _object(
        record=_one_of("live"),
        version=_TEXT,
        headline=_TEXT,
        agreed=_FLAG,
        categories=_list(_object(name=_TEXT, agreed=_COUNT, compared=_COUNT)),
        differences=_list(
            _object(
                turn=_or_null(_COUNT),
                category=_TEXT,
                where=_TEXT,
                simulated=_EXCERPT,
                real=_EXCERPT,
                rule=_or_null(_RULE),
                known=_TEXT,
            )
        ),
        turns=_list(_object(simulated=_list(_ref("said")), real=_list(_ref("said")))),
        ends=_object(simulated=_TEXT, real=_TEXT),
        made_alike=_list(_TEXT),
    ),
    "trouble": _object(record=_one_of("trouble"), why=_EXCERPT),
    "end": _object(
        record=_one_of("end"),
        verdict=_object(name=_one_of(*VERDICTS)),
        passed=_FLAG,
        terminated=_FLAG,
        first_line=_TEXT,
        advice=_TEXT,
        story=_EXCERPT,
        iterations=_COUNT,
        blocks=_COUNT,
        hook_runs=_COUNT,
        seconds=_NUMBER,
        findings=_list(_ref("finding")),
        violations=_list(_object(path=_TEXT, line=_or_null(_COUNT), expected=_TEXT, seen=_TEXT)),
        assumptions=_list(_TEXT),
        probe_reports=_list(_object(turn=_COUNT, period=_COUNT, inert=_FLAG, words=_list(_TEXT))),
        trial_results=_list(
            _object(family=_TEXT, mutation=_TEXT, outcome=_one_of(*get_args(FaultOutcome)), evidence=_TEXT)
        ),
        varied=_list(_TEXT),
        leftovers=_list(_PROCESS),
        calls=_list(
            _object(command=_TEXT, argv=_list(_TEXT), cwd=_TEXT, stdin=_or_null(_EXCERPT), stdin_kind=_TEXT)
        ),
        background=_object(processes=_list(_DATA), threads=_list(_DATA), denials=_list(_DATA)),
        kept_workspace=_TEXT,
        incident=_EXCERPT,
    ),
}

DEFINITIONS: Mapping[str, Schema] = {
    **RECORDS,
    "excerpt": {
        "description": "A text that may be cut: `bytes` is its whole size, `cut_at` how much of it is here.",
        **_object(text=_TEXT, bytes=_COUNT, cut_at=_or_null(_COUNT), replaced=_FLAG),
    },
    "rule": {
        "description": "A fact about a host, and how it is known.",
        **_object(text=_TEXT, basis=_one_of(*(basis.value for basis in Basis)), source=_TEXT),
    },
    "hook": _object(**_HOOK),
    "said": _object(who=_TEXT, text=_EXCERPT),
    "action": _object(name=_TEXT, data=_EXCERPT),
    "change": _object(
        path=_TEXT,
        how=_one_of("added", "removed", "content", "mode", "kind"),
        diff=_or_null(_EXCERPT),
        hooks=_list(_TEXT),
        in_doubt=_FLAG,
    ),
    "process": _object(**_PROCESS_KEYS),
    "activity": _object(
        **_PROCESS_KEYS, words=_TEXT, state=_TEXT, blocked_in=_TEXT, waits_for=_TEXT, asks=_TEXT
    ),
    "exited": _object(kind=_one_of("exited"), code=_WHOLE),
    "signaled": _object(kind=_one_of("signaled"), signal=_WHOLE),
    "timed-out": _object(
        kind=_one_of("timed-out"),
        after=_NUMBER,
        by=_one_of(*(cut.value for cut in Cut)),
        ignored_term=_FLAG,
        ended={"anyOf": [_ref("exited"), _ref("signaled"), _NOTHING]},
    ),
    "held-open": _object(
        kind=_one_of("held-open"),
        ended={"anyOf": [_ref("exited"), _ref("signaled")]},
        waited=_NUMBER,
        holders=_list(_PROCESS),
    ),
    "not-started": _object(kind=_one_of("not-started"), reason=_TEXT),
    "run": _object(
        words=_TEXT,
        ending={"anyOf": [*map(_ref, ("exited", "signaled", "timed-out", "held-open", "not-started"))]},
        stdout=_EXCERPT,
        stderr=_EXCERPT,
        stdin_taken=_COUNT,
        stdin_read=_or_null(_COUNT),
        started=_NUMBER,
        seconds=_NUMBER,
        cpu_seconds=_NUMBER,
        peak_memory=_COUNT,
        pid=_WHOLE,
        warm=_FLAG,
        processes=_list(_PROCESS),
        unclaimed_processes=_list(_PROCESS),
        doing=_list(_ref("activity")),
        dialogue=_or_null(
            _object(shown=_EXCERPT, asked=_list(_object(question=_TEXT, answer=_TEXT)), unanswered=_TEXT)
        ),
    ),
    "reply": _object(
        words=_TEXT,
        ruling=_RULINGS,
        reason=_EXCERPT,
        context=_EXCERPT,
        to_user=_EXCERPT,
        updated_input=_or_null(_EXCERPT),
        updated_output=_or_null(_EXCERPT),
        halt=_or_null(_TEXT),
        behaviour=_or_null(_TEXT),
        folder=_TEXT,
        fault=_or_null(_TEXT),
        silent=_FLAG,
        unmeant=_FLAG,
        unheard=_or_null(_object(place=_TEXT, text=_EXCERPT, rule=_RULE)),
        rule=_RULE,
    ),
    "hook-run": _object(
        **_HOOK,
        stdin=_EXCERPT,
        run=_or_null(_RUN),
        reply=_ref("reply"),
        transcript_opened=_or_null(_FLAG),
    ),
    "decision": _object(
        ruling=_RULINGS,
        refused=_FLAG,
        overridden=_FLAG,
        reasons=_list(_EXCERPT),
        to_agent=_list(_EXCERPT),
        to_user=_list(_EXCERPT),
        updated_input=_or_null(_EXCERPT),
        updated_output=_or_null(_EXCERPT),
        halt=_or_null(_TEXT),
        folder=_TEXT,
        rule=_RULE,
        rests_on=_list(_RULE),
    ),
    "child": _object(
        number=_COUNT,
        parent=_COUNT,
        depth=_COUNT,
        host=_TEXT,
        argv=_list(_TEXT),
        starter=_TEXT,
        bytes=_COUNT,
        folder=_TEXT,
        ended=_TEXT,
        refused=_TEXT,
        trouble=_TEXT,
        hook_runs=_list(
            _object(event=_TEXT, command=_TEXT, code=_or_null(_WHOLE), ruling=_RULINGS, reason=_EXCERPT)
        ),
        calls=_list(_object(tool=_TEXT, refused=_FLAG)),
    ),
    "finding": _object(
        code=_TEXT,
        name=_TEXT,
        text=_TEXT,
        advice=_TEXT,
        turn=_COUNT,
        hook=_TEXT,
        times=_COUNT,
        rule=_or_null(_RULE),
        page=_or_null(_object(what=_TEXT, why=_TEXT, fix=_TEXT)),
    ),
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one line of a trace file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Record of a trace file of pytest-hookharness",
        "anyOf": [_ref(name) for name in RECORDS],
        "$defs": DEFINITIONS,
    }


def words() -> frozenset[str]:
    """Return the words of the format itself; none of them is a secret."""
    return frozenset(_words(DEFINITIONS))


def _words(value: object) -> Iterator[str]:
    match value:
        case {"enum": list(known)}:
            yield from known
        case Mapping():
            for item in value.values():
                yield from _words(item)
        case list():
            for item in value:
                yield from _words(item)
        case _:
            return
