"""Stop hook: checks the rules in .rules/ against the changed files, and shows each rule at most once a session."""

import json
import os
import sys
from pathlib import Path

from changes import changed_files
from commands import run
from promises import promised_names
from record import Queue
from rulebook import load

# The two mistakes this hook once made, kept behind switches so that both can still be shown.
RERUN_FAILED = os.environ.get("RULES_RERUN_FAILED") == "1"
RERUN_QUEUED = os.environ.get("RULES_RERUN_QUEUED") == "1"


def read_payload(stream):
    """One JSON document; never waits for an end of input that may not come."""
    text = ""
    for line in stream:
        text += line
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            continue
    raise SystemExit("rules: standard input held no complete JSON document")


def forgotten(entry):
    """Before the fix: the rule was shown already, and that is not looked at."""
    if entry["action"] == "command":
        return RERUN_FAILED and entry["status"] == "FAILED"
    return RERUN_QUEUED and entry["status"] == "QUEUED" and entry["shown"]


def claim(entries, rules, promised):
    """Settle what needs no command. Gives the prompts to show and the commands to run."""
    prompts, commands = [], []
    for rule in rules:
        entry = entries.setdefault(rule.name, {"action": rule.action, "status": "QUEUED", "shown": False})
        again = forgotten(entry)
        if rule.name in promised and not again:
            # A promise confirms a prompt that was shown; anything else it only sets aside.
            confirmed = rule.action == "prompt" and entry["shown"]
            entry["status"] = "PASSED" if confirmed else "SKIPPED"
        elif rule.action == "command" and entry["status"] != "SKIPPED":
            commands.append(rule)
        elif rule.action == "prompt" and entry["status"] == "QUEUED":
            if again or not entry["shown"]:
                entry["shown"] = True
                prompts.append(rule)
            else:
                entry["status"] = "FAILED"  # shown, and the agent stopped without a word about it
    return prompts, sorted(commands, key=lambda rule: entries[rule.name]["shown"])


def settle(entry, failure):
    """Note what a command gave. True if the agent must hear of it."""
    news = bool(failure) and (forgotten(entry) or not entry["shown"])
    entry.update(status="FAILED" if failure else "PASSED", shown=entry["shown"] or news)
    return news


def check(payload, project):
    """The reason to go on, empty if the agent may stop; and what the person should know."""
    rules, notes = load(project / ".rules")
    changed = changed_files(project)
    queue = Queue(project / ".rules" / "state")
    with queue.opened(payload, [rule.name for rule in rules]) as session:
        late = [rule.name for rule in rules if rule.name not in session["rules"]]
        hit = [rule for rule in rules if rule.name not in late and rule.matching(changed)]
        prompts, commands = claim(session["entries"], hit, promised_names(payload))
    notes += [f"rule {name!r} waits for the next session" for name in late]
    told = {rule.name: rule.told(changed) for rule in prompts}
    for rule in commands:
        failure = run(rule, project)
        with queue.opened(payload, session["rules"]) as session:
            if settle(session["entries"][rule.name], failure):
                told[rule.name] = rule.told(changed, failure)
                break  # one new failure at a time: the rest waits in the queue
    # The tags stand before all text that may hold quotation marks, so that an echo of this is seen as one.
    tags = ", ".join(f"<promise>{name}</promise>" for name in told)
    head = f"Rules for what you changed. To confirm one or set it aside, answer: {tags}"
    return "\n\n".join([head, *told.values()]) if told else "", notes


def main():
    payload = read_payload(sys.stdin)
    project = Path(os.environ.get("CLAUDE_PROJECT_DIR") or payload.get("cwd") or ".")
    reason, notes = check(payload, project)
    answer = {"decision": "block", "reason": reason} if reason else {}
    if notes:
        answer["systemMessage"] = "; ".join(notes)
    if answer:
        print(json.dumps(answer))


main()
