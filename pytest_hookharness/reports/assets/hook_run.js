// One hook run: what it read and wrote, how it ended, how the host interpreted it, what it changed.

const FOLDED = 1600;

// A text of any length, with its size; long ones are folded.
function stream(name, text, {json = false} = {}) {
  if (!text?.text) return html("p", {class: "step"}, html("span", {class: "who"}, name), html("span", {class: "soft"}, "nothing"));
  const cut = text.cut_at === null ? "" : `, cut after ${size(text.cut_at)}`;
  const odd = text.replaced ? ", with bytes that are not UTF-8" : "";
  const heading = `${name} (${size(text.bytes)}${cut}${odd})`;
  const block = () => html("pre", {tabindex: "0", role: "region", "aria-label": heading}, json ? laidOut(text.text) : text.text);
  if (text.text.length > FOLDED) return opened({class: "more"}, heading, block);
  return [html("h4", {}, heading), block()];
}

function ruleBlock(rule) {
  if (!rule) return null;
  return html("div", {class: "rule"}, html("div", {}, rule.text),
    html("div", {class: "small soft"}, badge(rule.basis, rule.basis === "assumed" ? "odd" : ""), " ", rule.source));
}

function hookRunCard(step, hookRun) {
  const command = hookRun.command || `${hookRun.type} handler`;
  const {ruling, reason} = hookRun.reply;
  const ended = hookRun.run?.words ?? "answered by the scenario";
  const summary = [html("code", {}, oneLine(command)), html("span", {class: /^exited 0\b/.test(ended) ? "soft small" : "small"}, ended),
    ruling === "none" ? null : badge(rulingWords(step, ruling), rulingMood(step, ruling)),
    reason.text.trim() ? html("span", {class: "words"}, "“", html("bdi", {}, oneLine(reason.text)), "”") : null];
  return opened({class: "hook-run"}, summary, () => insideHookRun(hookRun, command, ended));
}

function rulingWords(step, ruling) {
  if (ruling !== "deny") return ruling;
  if (step.decision.overridden) return "↷ block, overridden";
  return step.decision.refused ? "✕ block" : "block, not honoured";
}

function rulingMood(step, ruling) {
  if (ruling === "allow") return "good";
  return ruling === "deny" && step.decision.refused ? "bad" : "odd";
}

function insideHookRun(hookRun, command, ended) {
  const {run, reply} = hookRun;
  return [
    html("h4", {}, "Command"), html("pre", {}, command),
    stream("Standard input", hookRun.stdin, {json: true}),
    run ? [stream("Standard output", run.stdout, {json: true}), stream("Standard error", run.stderr)] : null,
    run?.dialogue ? stream("On the terminal", run.dialogue.shown) : null,
    html("h4", {}, "Ending"), facts([["ended", ended], ...(run ? measures(run) : [])]),
    run?.doing.length ? [html("h4", {}, "Activity at the timeout"), listed(run.doing.map((each) => each.words))] : null,
    run?.processes.length ? [html("h4", {}, "Processes left behind"), processes(run.processes)] : null,
    run?.unclaimed_processes?.length
      ? [html("h4", {}, "Processes left behind by this hook or another one"), processes(run.unclaimed_processes)]
      : null,
    html("h4", {}, "How the host interprets it"), reply.words ? html("p", {}, html("bdi", {}, reply.words)) : null, ruleBlock(reply.rule),
    reply.unheard ? [stream("Not shown to the agent", reply.unheard.text), ruleBlock(reply.unheard.rule)] : null,
  ];
}

function measures(run) {
  return [["processor", time(run.cpu_seconds)], ["memory", run.peak_memory ? size(run.peak_memory) : ""],
    ["process", run.pid || ""], ["input read", run.stdin_read === null ? "" : size(run.stdin_read)]];
}

function facts(rows) {
  return html("dl", {class: "facts"}, rows.filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => [html("dt", {}, name), html("dd", {}, value instanceof Node ? value : html("bdi", {}, value))]));
}

function processes(found) {
  return html("ul", {}, found.map((each) => html("li", {}, html("code", {}, each.command), ` process ${each.pid}, started after ${time(Math.max(0, each.age))}`)));
}

function decisionBlock({decision}) {
  return [
    decision.to_agent.map((text) => stream("What the agent saw", text)),
    decision.to_user.map((text) => stream("What the person saw", text)),
    decision.updated_input ? stream("The call as the hooks changed it", decision.updated_input, {json: true}) : null,
    decision.updated_output ? stream("The result as the hooks changed it", decision.updated_output, {json: true}) : null,
    html("h4", {}, "The host's rule"), [decision.rule, ...decision.rests_on].map(ruleBlock),
  ];
}

function changeBlock({path, how, diff, hooks, in_doubt: inDoubt}) {
  const words = {content: "changed", mode: "has another mode", kind: "is of another kind"}[how] ?? how;
  const by = hooks?.length ? ` by ${hooks.join(inDoubt ? " or " : " and ")}` : "";
  const label = [html("code", {}, path), ` ${words}${by}`];
  return diff?.text ? opened({class: "more"}, label, () => diffBlock(diff.text)) : html("p", {class: "step"}, label);
}

// The signs of a unified diff stay; colour only repeats them.
function diffBlock(diff) {
  const kinds = {"+": "added", "-": "gone", "@": "place"};
  // The first two lines name the file; a line of it may begin as they do.
  const lines = diff.split("\n").slice(2).filter(Boolean);
  return html("pre", {class: "diff", tabindex: "0", role: "region", "aria-label": "difference"},
    lines.map((line) => html("span", {class: kinds[line[0]] ?? ""}, line)));
}

function oneLine(text) {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 240 ? `${line.slice(0, 239)}…` : line;
}
