// One simulation: its verdict, its course, and every turn with its hook runs.

const MOST_CHANGES = 3;
const ENDLESS = {driven: "… and no end was seen, ", masked: "… and so on forever, if what is masked decides nothing, "};

function readRun(row) {
  return JSON.parse(document.getElementById(row.data).textContent);
}

function itemView(row, state) {
  const run = readRun(row);
  const end = run.end;
  return html("article", {},
    paths(row, state), html("h1", {tabindex: "-1"}, html("bdi", {}, titleOf(row))),
    html("p", {}, verdictBadge(row), " ", resultBadge(row), " ", html("span", {class: "soft small"}, "on ", html("bdi", {}, row.host))),
    html("p", {class: "lead"}, prose(saidOf(row))),
    run.begin.why ? html("p", {class: "soft"}, html("bdi", {}, run.begin.why)) : null,
    run.live ? [liveView(run.live), html("h2", {}, "The simulated session")] : null,
    end?.advice && !run.live ? html("p", {class: "box"}, html("strong", {}, "What to do: "), prose(end.advice)) : null,
    run.live ? null : run.decisive.map((each) => html("p", {class: "box"}, html("strong", {}, "Assumed: "), prose(each))),
    part("Broken expectations", (end?.violations ?? []).map(violationBox)),
    part("Findings", (end?.findings ?? []).map(findingBox)),
    run.steps.length ? course(run, row) : null, end ? spent(run, end) : null, elsewhere(row), lockedIn(end),
    part("Turn by turn", timeline(run, row)),
    end ? aftermath(end) : null,
    part("About this run", about(run, row)),
    run.begin.replay_command ? part("Replay", replayBlock(run.begin.replay_command)) : null);
}

// The drawing shows the scenario's own agent; the lock-out was found by exploring.
function lockedIn(end) {
  return end?.verdict.name === "lockout" ? part("Path into the lock-out, and what each move leads to", html("pre", {tabindex: "0"}, end.story.text)) : null;
}

function paths(row, state) {
  const rows = matching(state);
  const place = rows.indexOf(row);
  const back = new URLSearchParams([...state].filter(([key]) => !["item", "turn", "beside"].includes(key)));
  const to = (other, words, name) => other ? html("a", {href: addressOf(other), rel: name, "data-go": name}, words) : null;
  return html("nav", {class: "path", "aria-label": "Simulations"}, html("a", {href: `#${back}`, "data-go": "list"}, "← All simulations"),
    to(rows[place - 1], "Previous", "prev"), to(place < 0 ? null : rows[place + 1], "Next", "next"),
    html("span", {class: "soft small"}, place < 0 ? "" : `${place + 1} of ${rows.length}`));
}

function elsewhere(row) {
  const others = ROWS.filter((other) => other !== row && other.name === row.name && other.file === row.file);
  const [hosts, runs] = [others.filter((other) => other.host !== row.host), others.filter((other) => other.host === row.host)];
  return [alike("The same on other hosts", row, hosts, (other) => other.host), alike("Other runs of it", row, runs, (other) => `run ${other.number}`)];
}

function alike(heading, row, rows, label) {
  return rows.length ? html("nav", {"aria-label": heading}, html("h2", {}, heading), html("ul", {class: "others"},
    rows.map((other) => html("li", {}, itemLink(other, label(other)), " ", verdictBadge(other), " ",
      html("a", {class: "small", href: addressOf(row, "", other)}, "side by side"))))) : null;
}

function violationBox(violation) {
  return html("div", {class: "box bad"}, facts([["expected", violation.expected], ["seen", prose(violation.seen)],
    ["where", violation.line ? `line ${violation.line}: ${violation.path}` : violation.path]]));
}

function findingBox(finding) {
  const when = finding.turn ? `first in turn ${finding.turn}` : "before the first turn";
  return html("div", {class: "box odd"},
    html("p", {}, badge(finding.code, "odd"), " ", html("strong", {}, finding.name), " ", prose(finding.text)),
    html("p", {class: "soft small"}, `${when}, ${counted(finding.times, "time")}`, finding.hook ? [", ", html("code", {}, oneLine(finding.hook))] : null),
    finding.advice ? html("p", {}, prose(finding.advice)) : null, ruleBlock(finding.rule),
    finding.page ? opened({class: "more"}, "Why it matters", () => [html("p", {}, finding.page.what), html("p", {}, finding.page.why)]) : null);
}

function timeline(run, row) {
  const verdict = run.end?.verdict;
  const again = verdict?.name === "livelock" ? verdict.stem + 1 : null;
  const states = new Map(run.states.map((state) => [state.turn, state]));
  const times = timed(run);
  const items = [...grouped(run.steps)].map(([turn, steps]) => html("li", {id: `turn-${turn}`},
    html("h3", {tabindex: "-1"}, turn ? `Turn ${turn}` : "Before the first turn", " ",
      turn === again ? badge("the cycle begins here", "bad") : null),
    turnTrack(times.filter((each) => each.turn === turn), run.steps.at(-1).at),
    steps.map(drawnStep), stateWords(turn, states)));
  if (again !== null) items.push(html("li", {}, html("p", {}, ENDLESS[verdict.evidence] ?? "… and so on forever, ",
    html("a", {href: addressOf(row, again)}, `as from turn ${again}`))));
  if (!run.end) items.push(html("li", {}, html("p", {}, badge(row.verdict, "odd"), " Here the record ends; what came next is not known.")));
  return items.length ? html("ol", {class: "turns"}, items) : null;
}

// The state after a turn, and the first turn that led to the same.
function stateWords(turn, states) {
  const state = states.get(turn);
  if (!state) return null;
  const first = state.opaque ? undefined : [...states.values()].find((each) => each.digest === state.digest && !each.opaque);
  const words = state.opaque ? `not known in full: ${state.opaque}` : first.turn < turn ? `the same as after turn ${first.turn}` : "not seen before";
  return html("p", {class: "soft small"}, "state ", html("code", {}, short(state.digest)), `, ${words}`);
}

// A digest has two halves, of the files and of everything else; each may be all that differs.
function short(digest) {
  const half = digest.length / 2;
  return digest.slice(0, 4) + digest.slice(half, half + 4);
}

function grouped(steps) {
  const turns = new Map();
  for (const step of steps) turns.set(step.turn, [...(turns.get(step.turn) ?? []), step]);
  return turns;
}

function drawnStep(step) {
  switch (step.kind) {
    case "moved": return said("agent", step.words);
    case "happened": return said("script", step.words);
    case "performed": return [said("tool", step.words), step.result.text ? stream("Result", step.result) : null, traces(step)];
    default: return hookEvent(step);
  }
}

function said(who, words) {
  return html("p", {class: "step"}, html("span", {class: "who"}, who), html("bdi", {}, words));
}

function hookEvent(step) {
  if (!step.hook_runs.length && !step.decision.refused && !step.changes.length) return null;
  return html("div", {class: "step"}, html("span", {class: "who"}, "event"), html("strong", {}, step.event),
    step.target ? html("span", {class: "soft"}, ` on ${oneLine(step.target)}`) : null,
    step.hook_runs.map((hookRun) => hookRunCard(step, hookRun)),
    opened({class: "more"}, ["Decision: ", decisionWords(step)], () => decisionBlock(step)), traces(step));
}

function decisionWords(step) {
  const decision = step.decision;
  if (decision.overridden) return badge("↷ refusal overridden by the host", "odd");
  return decision.refused ? badge("✕ refused", "bad") : badge(`✓ ${decision.ruling === "none" ? "allowed" : decision.ruling}`, "good");
}

function traces(step) {
  const more = step.more_changes ? html("p", {class: "soft"}, `and ${counted(step.more_changes, "more changed file")}`) : null;
  const [usual, own] = [step.changes.filter(isUsual), step.changes.filter((change) => !isUsual(change))];
  const changes = () => [own.map(changeBlock), more];
  return [own.length > MOST_CHANGES ? opened({class: "more"}, `${counted(own.length, "changed file")}`, changes) : changes(),
    usual.length ? opened({class: "more soft"}, `${counted(usual.length, "change")} in the home folder`, () => usual.map(changeBlock)) : null,
    listed(step.children.map(childWords))];
}

// What every session leaves in the home folder: folders and files without a text to compare.
function isUsual({path, diff, hooks}) {
  return path.startsWith("home/.") && !diff?.text && !hooks?.length;
}

function childWords(child) {
  const runs = child.hook_runs.map((run) => `${run.event} ${run.command}: ${run.ruling}`).join(", ");
  const ended = child.refused ? "was refused" : child.trouble || child.ended || "did not end";
  return `session ${child.number} of ${child.host}, ${child.argv.join(" ")}, ${ended}${runs ? `; ${runs}` : ""}`;
}

function aftermath(end) {
  const own = end.verdict.assumptions ?? [];
  return [
    part("Chain of causes", listed(end.verdict.chain ?? [])),
    part("Host limits that would end it", listed((end.verdict.limits ?? []).map((limit) => `turn ${limit.turn}: ${limit.why}`))),
    part("Assumptions of the verdict", listed([...new Set([...own, ...end.assumptions])])),
    part("Experiments on saved states", end.probe_reports.map((probing) => listed(probing.words))),
    part("Mutations", listed(end.varied), trialTable(end.trial_results)),
    part("Calls of test doubles", callList(end.calls)),
    part("Full report", opened({class: "more"}, "as printed in a terminal", () => html("pre", {tabindex: "0"}, end.story.text))),
  ];
}

function trialTable(results) {
  if (!results.length) return null;
  const heads = ["mutation", "payload", "result", "what was seen"];
  const asked = {deny: "to be refused", allow: "to be allowed"};
  return html("div", {class: "wide"}, html("table", {}, html("thead", {}, html("tr", {}, heads.map((head) => html("th", {scope: "col"}, head)))),
    html("tbody", {}, results.map((trial) => html("tr", {}, html("td", {}, trial.mutation), html("td", {}, asked[trial.payload] ?? ""),
      html("td", {}, badge(trial.outcome, {"as declared": "good", "not tried": ""}[trial.outcome] ?? "odd")), html("td", {}, html("bdi", {}, trial.evidence)))))));
}

function callList(calls) {
  const numbers = new Map();
  for (const call of calls) numbers.set(call.argv.join(" "), (numbers.get(call.argv.join(" ")) ?? 0) + 1);
  return listed([...numbers].map(([words, number]) => `${words} (${counted(number, "time")})`));
}

function about(run, row) {
  const {begin} = run;
  const hooks = begin.hooks.map((hook) => html("li", {}, html("strong", {}, hook.event), " ", html("code", {}, hook.command || `${hook.type} handler`),
    hook.source ? html("span", {class: "soft small"}, ` in ${hook.source}`) : null));
  return facts([["file", row.file ? `${row.file}${begin.line ? `:${begin.line}` : ""}` : ""], ["item", begin.id], ["host", begin.host],
    ["expected", listed(begin.expected)], ["isolation", begin.tier], ["seed", begin.seed], ["began", begin.began],
    ["took", row.seconds === null ? "" : time(row.seconds)], ["hooks", hooks.length ? html("ul", {}, hooks) : ""]]);
}

function replayBlock(command) {
  const text = html("pre", {tabindex: "0"}, command);
  const copy = html("button", {type: "button", click: async () => announce(await copied(text) ? "copied" : "selected; copy it with Ctrl+C")}, "Copy");
  return html("div", {class: "again"}, text, copy);
}

// Copies what is shown, with names for invisible characters. A browser may deny the clipboard to a page that was
// opened from disk; then the command is selected.
async function copied(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    return document.execCommand("copy");
  }
}
