// The course of a run as a drawing: a line of turns, and the lasso that a proved loop makes of it.

const DOT = 15;
const SIGNS = {refused: "✕", overridden: "↷", allowed: "✓", free: ""};
const MOST_AROUND = 14;

// The result of one event.
function outcomeOf(step) {
  if (step.decision.overridden) return "overridden";
  return step.decision.refused ? "refused" : "allowed";
}

function eventsOf(run, turn) {
  return run.steps.filter((step) => step.turn === turn && step.kind === "hook-event" && step.hook_runs.length);
}

function moodOf(run, turn) {
  const seen = eventsOf(run, turn).map(outcomeOf);
  return ["refused", "overridden", "allowed"].find((mood) => seen.includes(mood)) ?? "free";
}

// The numbers of turns, with a text for those in the middle that do not fit.
function shortened(first, last, most) {
  const numbers = (from, number) => Array.from({length: number}, (_, place) => from + place);
  const all = Math.max(0, last - first + 1);
  if (all <= most) return numbers(first, all);
  const head = Math.ceil((most - 1) / 2);
  const tail = most - 1 - head;
  return [...numbers(first, head), `${all - head - tail} more`, ...numbers(last - tail + 1, tail)];
}

function course(run, row) {
  const narrow = innerWidth < 700;
  const gap = narrow ? 64 : 112;
  const verdict = run.end?.verdict ?? {name: "interrupted"};
  const last = run.steps.reduce((most, step) => Math.max(most, step.turn), 0);
  const loop = verdict.name === "livelock";
  const line = shortened(1, loop ? verdict.stem : last, narrow ? 3 : 6);
  const around = loop ? shortened(verdict.stem + 1, verdict.stem + verdict.period, MOST_AROUND) : [];
  const radius = Math.max(72, (around.length * 58) / (2 * Math.PI));
  const middle = loop ? radius + 58 : 42;
  const places = [{turn: 0, x: 24, y: middle}, ...line.map((turn, place) => ({turn, x: 24 + gap * (place + 1), y: middle}))];
  const end = places.at(-1).x + gap;
  const centre = end + radius;
  const ring = around.map((turn, place) => {
    const angle = Math.PI + (2 * Math.PI * place) / around.length;
    return {turn, angle, x: centre + radius * Math.cos(angle), y: middle + radius * Math.sin(angle)};
  });
  const whose = verdict.name === "lockout" ? "The scenario's own agent:" : "Course of";
  const words = loop ? describeCycle(verdict, run) : `${whose} ${counted(last, "turn")}: ${verdict.name}.`;
  const rope = loop ? noose(centre, middle, radius, verdict, around.length) : svg("text", {x: end - 12, y: middle + 5}, verdict.name);
  const size = [loop ? centre + radius + (narrow ? 80 : 150) : end + 90, loop ? 2 * middle : 116];
  const drawing = svg("svg", {width: size[0], viewBox: `0 0 ${size.join(" ")}`, role: "group", "aria-label": words},
    svg("path", {class: "rope", d: `M24 ${middle}H${loop ? end : end - 20}`}), rope, [...places, ...ring].map((place) => dot(run, row, place)));
  drawing.style.minWidth = `${size[0] * 0.75}px`;
  return html("figure", {}, drawing, html("figcaption", {}, words, " ",
    html("span", {class: "small"}, "✕ refused, ✓ allowed, ↷ refusal overridden by the host.")));
}

function noose(x, y, radius, verdict, places) {
  // The arrow between the last turn and the first shows that the cycle runs clockwise.
  const turn = Math.PI - Math.PI / places;
  const [left, top] = [x + radius * Math.cos(turn), y + radius * Math.sin(turn)];
  return [svg("circle", {class: "rope", cx: x, cy: y, r: radius}),
    svg("path", {class: "tip", d: "M7 0L-5 -7V7z", transform: `translate(${left} ${top}) rotate(${(turn * 180) / Math.PI + 90})`}),
    svg("text", {class: "dim", "text-anchor": "middle", "aria-hidden": "true"},
      svg("tspan", {x, y: y - 4}, verdict.evidence === "driven" ? "no end seen" : "forever"), svg("tspan", {x, y: y + 14}, `period ${verdict.period}`))];
}

const PROOFS = {
  closed: ", all that was read is part of the state or never changes",
  unread: ", what changes is only written",
  masked: ", if what the scenario masks decides nothing",
};

function describeCycle(verdict, run) {
  const stem = verdict.stem ? `A stem of ${counted(verdict.stem, "turn")}` : "No stem";
  const cap = verdict.cap?.overrides ? ` ${run.begin.host} would override refusal ${verdict.cap.overrides} in a row.` : "";
  const repeats = verdict.evidence === "driven" ? `repeats, with no end seen; it could depend on ${verdict.matters.join(", ")}` : "repeats forever";
  return `${stem}, then a cycle of ${counted(verdict.period, "turn")} that ${repeats} (evidence: ${verdict.evidence}${PROOFS[verdict.evidence] ?? ""}).${cap}`;
}

function dot(run, row, {turn, x, y, angle}) {
  if (typeof turn === "string") return svg("text", {class: "dim", x, y: y - 8, "text-anchor": "middle"}, `… ${turn} …`);
  const mood = moodOf(run, turn);
  const seen = eventsOf(run, turn);
  const name = turn ? `turn ${turn}` : "before the first turn";
  const spoken = seen.map((step) => `${step.event} ${outcomeOf(step)}`).join(", ");
  return svg("a", {class: mood, href: addressOf(row, String(turn)), "aria-label": spoken ? `${name}: ${spoken}` : name},
    svg("title", {}, spoken ? `${name}: ${spoken}` : name),
    mood === "refused" ? svg("rect", {class: "turn", x: x - DOT + 1, y: y - DOT + 1, width: 2 * DOT - 2, height: 2 * DOT - 2, rx: 4})
      : svg("circle", {class: "turn", cx: x, cy: y, r: turn ? DOT : 9}),
    turn ? svg("text", {x, y: y + 5, "text-anchor": "middle"}, turn) : null, turn ? beside(seen, x, y, angle) : atStart(seen, y));
}

// The events before the first turn: above the line, because there is no room to the left of them.
function atStart(seen, y) {
  const lines = labels(seen);
  return svg("text", {class: "dim", "aria-hidden": "true"},
    lines.map((words, place) => svg("tspan", {x: 4, y: y - DOT - 3 - (lines.length - 1 - place) * 14}, words)));
}

function labels(seen) {
  const lines = seen.slice(0, 2).map((step) => `${clipped(step.event)} ${SIGNS[outcomeOf(step)]}${step.hook_runs.length > 1 ? ` ${step.hook_runs.length} hooks` : ""}`);
  return seen.length > 2 ? [...lines, `+${seen.length - 2} more`] : lines;
}

// The events of a turn: below it on the line, outside the ring on the cycle.
function beside(seen, x, y, angle) {
  const lines = labels(seen);
  const side = angle === undefined ? 0 : Math.round(Math.cos(angle) * 10) / 10;
  const anchor = side > 0.3 ? "start" : side < -0.3 ? "end" : "middle";
  const far = DOT + 8;
  const left = x + (side > 0.3 ? far : side < -0.3 ? -far : 0);
  const above = angle !== undefined && Math.sin(angle) < -0.3;
  const entry = side < -0.9;
  const top = above || entry ? y - far - (lines.length - 1) * 14 + (entry ? 2 : 0) : Math.abs(side) > 0.9 ? y + 4 : y + far + 10;
  return svg("text", {class: "dim", "text-anchor": anchor, "aria-hidden": "true"},
    lines.map((words, place) => svg("tspan", {x: entry ? x - 6 : left, y: top + place * 14}, words)));
}

function clipped(words) {
  return words.length > 18 ? `${words.slice(0, 17)}…` : words;
}

// -- Time: how long each turn took, and for how much of it hooks or the agent's tools ran.

const SPENT = {hook: "hooks", tool: "tools of the agent", waited: "the host waiting for output of ended hooks", rest: "simulated host, harness and experiments"};

// The seconds of a step by kind. Hooks that ran at the same time count once.
function secondsOf(step, whole) {
  const runs = (step.hook_runs ?? [step]).map((each) => each.run).filter(Boolean);
  const busy = runs.length ? Math.max(...runs.map((run) => run.started + run.seconds)) - Math.min(...runs.map((run) => run.started)) : 0;
  const waited = Math.max(0, ...runs.map((run) => run.ending.waited ?? 0));
  return {[step.run ? "tool" : "hook"]: busy, waited, rest: Math.max(0, whole - busy - waited)};
}

// The steps with their times: each begins when the one before it ended.
function timed(run) {
  return run.steps.map((step, place) => {
    const from = place ? run.steps[place - 1].at : 0;
    return {turn: step.turn, from, until: step.at, seconds: secondsOf(step, step.at - from)};
  });
}

function spentWords(seconds) {
  return Object.entries(SPENT).filter(([kind]) => seconds[kind] >= 0.0005).map(([kind, name]) => `${name} ${time(seconds[kind])}`).join(", ");
}

function summed(steps) {
  const sum = {};
  for (const {seconds} of steps) for (const [kind, each] of Object.entries(seconds)) sum[kind] = (sum[kind] ?? 0) + each;
  return sum;
}

// One turn on the time axis of the whole session. Within a step hooks come first, whenever they ran.
function turnTrack(steps, whole) {
  if (!whole || !steps.length) return null;
  const [from, until] = [steps[0].from, steps.at(-1).until];
  const bars = steps.flatMap((step) => {
    let x = step.from;
    return Object.keys(SPENT).filter((kind) => step.seconds[kind]).map((kind) => {
      x += step.seconds[kind];
      return svg("rect", {class: `span ${kind}`, x: (1000 * (x - step.seconds[kind])) / whole, y: 0, width: Math.max(2, (1000 * step.seconds[kind]) / whole), height: 8});
    });
  });
  const words = `took ${time(until - from)}: ${spentWords(summed(steps))}`;
  return html("div", {class: "track", title: words}, svg("svg", {viewBox: "0 0 1000 8", preserveAspectRatio: "none", "aria-hidden": "true"}, bars),
    html("span", {class: "soft small"}, `at ${from ? time(from) : "0 s"}`, html("span", {class: "unseen"}, `: ${words}`)));
}

// The duration of a run by kind, and what the colours mean.
function spent(run, end) {
  const sum = summed(timed(run));
  const known = Object.values(sum).reduce((all, each) => all + each, 0);
  sum.rest = (sum.rest ?? 0) + Math.max(0, end.seconds - known);
  const whole = Object.values(sum).reduce((all, each) => all + each, 0);
  if (!whole) return null;
  let x = 0;
  const kinds = Object.keys(SPENT).filter((kind) => sum[kind] >= 0.0005);
  const bars = kinds.map((kind) => {
    const width = (600 * sum[kind]) / whole;
    x += width;
    return svg("rect", {class: `span ${kind}`, x: x - width, y: 0, width, height: 12});
  });
  const legend = kinds.map((kind, place) => [place ? ", " : "", html("span", {class: `key span ${kind}`}), `${SPENT[kind]} ${time(sum[kind])}`]);
  return html("figure", {}, svg("svg", {width: 600, viewBox: "0 0 600 12", role: "img", "aria-label": `Time: ${spentWords(sum)}`}, bars),
    html("figcaption", {}, "Time: ", legend, "."));
}
