// Two runs side by side, such as one scenario on two hosts, or before and after a fix.

function comparison(row, other) {
  const [one, two] = [row, other].map((each) => wordsByTurn(readRun(each)));
  const turns = [...new Set([...one.keys(), ...two.keys()])].sort((a, b) => a - b);
  const differs = (turn) => (one.get(turn) ?? []).join("\n") !== (two.get(turn) ?? []).join("\n");
  const first = turns.find(differs);
  const sideOf = (each) => `${each.host}${each.number > 1 ? `, run ${each.number}` : ""}`;
  const head = (each) => html("th", {scope: "col"}, itemLink(each, `${titleOf(each)} on ${sideOf(each)}`));
  const end = (each) => html("td", {"data-side": sideOf(each)}, verdictBadge(each), " ", resultBadge(each), html("p", {class: "small"}, html("bdi", {}, saidOf(each))));
  const cell = (each, words) => html("td", {"data-side": sideOf(each)},
    (words ?? ["no such turn"]).map((word) => html("p", {class: "step"}, html("bdi", {}, word))));
  return html("article", {},
    html("nav", {class: "path", "aria-label": "Simulations"}, html("a", {href: addressOf(row)}, "← Back to the first")),
    html("h1", {tabindex: "-1"}, "Two runs side by side"),
    html("p", {class: "lead"}, first === undefined ? "Both runs have the same moves and decisions." : `The first difference is ${turnName(first)}.`),
    html("div", {class: "wide"}, html("table", {class: "two"},
      html("thead", {}, html("tr", {}, html("th", {scope: "col"}, ""), head(row), head(other))),
      html("tbody", {}, html("tr", {}, html("th", {scope: "row"}, "end"), end(row), end(other)),
        turns.map((turn) => html("tr", {class: turn === first ? "differs" : ""},
          html("th", {scope: "row"}, turn || "before", turn === first ? [" ", badge("differs", "odd")] : null), cell(row, one.get(turn)), cell(other, two.get(turn))))))));
}

function turnName(turn) {
  return turn ? `in turn ${turn}` : "before the first turn";
}

// What happened in each turn, without times and other numbers that differ between equal runs.
function wordsByTurn(run) {
  return new Map([...grouped(run.steps)].map(([turn, steps]) => [turn, steps.map(stepWords).filter(Boolean)]));
}

function stepWords(step) {
  if (step.kind !== "hook-event") return step.words;
  if (!step.hook_runs.length) return "";
  const commands = step.hook_runs.map((run) => `${oneLine(run.command)}${oddEnd(run.run)}`).join(", ");
  return `${step.event}: ${commands} ${SIGNS[outcomeOf(step)]} ${outcomeOf(step)}`;
}

// How a hook run ended, where that is not the usual way; without its duration.
function oddEnd(run) {
  const ending = run?.ending;
  if (!ending || (ending.kind === "exited" && ending.code === 0)) return "";
  return ending.kind === "exited" ? ` (exited ${ending.code})` : ` (${ending.kind.replace("-", " ")})`;
}
