// The list of all simulations: what ended how, filtered and sorted.

const INDEX = JSON.parse(document.getElementById("index").textContent);
const ROWS = INDEX.rows;
const MOODS = {terminated: "good", capped: "odd", undecided: "odd", interrupted: "odd", "not played": "odd"};
const AT_ONCE = 60;
const COLUMNS = [
  {key: "name", title: "Scenario"},
  {key: "host", title: "Host"},
  {key: "turns", title: "Turns", unit: "turns"},
  {key: "blocks", title: "Blocks", unit: "blocks"},
  {key: "verdict", title: "Verdict"},
  {key: "result", title: "Result"},
  {key: "seconds", title: "Time"},
];

function verdictBadge(row) {
  return badge(row.verdict, MOODS[row.verdict] ?? "bad");
}

function resultBadge(row) {
  const [words, mood] = {passed: ["✓ passed", "good"], failed: ["✗ FAILED", "bad"]}[row.result] ?? [`? ${row.result}`, "odd"];
  return badge(words, mood);
}

// The first line without the verdict, which the badge beside it shows.
function saidOf(row) {
  return row.said.startsWith(`${row.verdict}: `) ? row.said.slice(row.verdict.length + 2) : row.said;
}

// The address of an item keeps the filters of the list.
function addressOf(row, turn = "", beside = null) {
  const state = address();
  state.set("item", row.key);
  state.delete("turn");
  state.delete("beside");
  if (beside) state.set("beside", beside.key);
  if (turn) state.set("turn", turn);
  return `#${state}`;
}

function titleOf(row) {
  return row.number > 1 ? `${row.name} (run ${row.number})` : row.name;
}

function itemLink(row, label) {
  return html("a", {href: addressOf(row), "data-item": row.data}, html("bdi", {}, label));
}

function matching(state) {
  const words = (state.get("find") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const sort = COLUMNS.find((column) => column.key === state.get("sort"));
  const rows = ROWS.filter((row) =>
    ["verdict", "host", "file"].every((key) => !state.get(key) || row[key] === state.get(key))
    && (!state.get("failed") || row.result !== "passed")
    && words.every((word) => `${row.name} ${row.host} ${row.file} ${row.verdict} ${row.said}`.toLowerCase().includes(word)));
  if (!sort) return rows;
  const sign = state.get("down") ? -1 : 1;
  return rows.sort((one, other) => sign * compared(one[sort.key], other[sort.key]));
}

function compared(one, other) {
  return typeof one === "number" ? one - other : String(one).localeCompare(String(other), "en", {numeric: true});
}

function drawnRow(row) {
  const cells = COLUMNS.map(({key, unit}) => {
    switch (key) {
      case "name": return html("td", {role: "cell"}, itemLink(row, titleOf(row)), html("span", {class: "said"}, html("bdi", {}, saidOf(row))));
      case "host": return html("td", {role: "cell", class: "host small"}, html("bdi", {}, row.host));
      case "verdict": return html("td", {role: "cell"}, verdictBadge(row));
      case "result": return html("td", {role: "cell"}, resultBadge(row));
      case "seconds": return html("td", {role: "cell", class: "number small", "data-unit": ""}, row.seconds === null ? "" : time(row.seconds));
      default: return html("td", {role: "cell", class: "number small", "data-unit": unit}, row[key]);
    }
  });
  return html("tr", {role: "row"}, cells);
}

// Gives the node, and a function that brings it up to date with the address.
function makeList(change) {
  const choice = (key, title) => {
    const values = [...new Set(ROWS.map((row) => row[key]))].filter(Boolean).sort();
    const select = html("select", {change: () => change({[key]: select.value})},
      html("option", {value: ""}, "all"), values.map((value) => html("option", {value}, value)));
    return {key, select, node: values.length < 2 ? null : html("label", {class: "choice"}, title, select), values};
  };
  const choices = [choice("verdict", "Verdict"), choice("host", "Host"), choice("file", "File")];
  const find = html("input", {type: "search", id: "find", autocomplete: "off", spellcheck: "false", input: () => change({find: find.value})});
  const failed = html("input", {type: "checkbox", change: () => change({failed: failed.checked ? "1" : ""})});
  const chips = choices[0].values.map((verdict) => ({verdict, button: html("button", {type: "button", "aria-pressed": "false",
    click: (event) => change({verdict: event.currentTarget.getAttribute("aria-pressed") === "true" ? "" : verdict})},
    `${verdict} `, html("span", {}, ROWS.filter((row) => row.verdict === verdict).length))}));
  const heads = COLUMNS.map((column) => ({key: column.key, node: html("th", {role: "columnheader", scope: "col",
    class: ["turns", "blocks", "seconds"].includes(column.key) ? "number" : ""}, html("button", {type: "button",
    click: () => change(sorted(column.key))}, column.title))}));
  const body = html("tbody", {role: "rowgroup"});
  const count = html("p", {class: "soft small"});
  const node = html("div", {}, html("h1", {tabindex: "-1"}, "Hook simulations"), html("p", {class: "lead"}, summary()),
    chips.length > 1 ? html("ul", {class: "chips", "aria-label": "Verdicts"}, chips.map(({button}) => html("li", {}, button))) : null,
    html("form", {class: "filters", role: "search", "aria-label": "Filters", submit: (event) => event.preventDefault()},
      html("label", {class: "search"}, "Search", find), choices.slice(1).map((each) => each.node),
      html("label", {class: "tick"}, failed, "Only failures")),
    count, html("div", {class: "list"}, html("table", {role: "table", "aria-label": "Simulations"},
      html("thead", {role: "rowgroup"}, html("tr", {role: "row"}, heads.map((head) => head.node))), body)));
  let drawing = 0;

  function show(state) {
    const rows = matching(state);
    if (document.activeElement !== find) find.value = state.get("find") ?? "";
    failed.checked = Boolean(state.get("failed"));
    for (const {key, select} of choices) select.value = state.get(key) ?? "";
    for (const {verdict, button} of chips) button.setAttribute("aria-pressed", String(state.get("verdict") === verdict));
    for (const head of heads) markSorted(head, state);
    const words = rows.length === ROWS.length ? "" : `${rows.length} of ${counted(ROWS.length, "simulation")} shown`;
    if (words !== count.textContent) announce(words || "all simulations shown");
    count.textContent = words;
    draw(rows);
  }

  // The first screenful at once, the rest in the background.
  function draw(rows) {
    const mine = ++drawing;
    body.replaceChildren(...rows.slice(0, AT_ONCE).map(drawnRow));
    if (!rows.length) body.append(html("tr", {role: "row"}, html("td", {role: "cell", colspan: COLUMNS.length, class: "empty"}, "Nothing matches these filters.")));
    let from = AT_ONCE;
    const more = () => {
      if (mine !== drawing || from >= rows.length) return;
      body.append(...rows.slice(from, from + AT_ONCE * 3).map(drawnRow));
      from += AT_ONCE * 3;
      setTimeout(more);
    };
    requestAnimationFrame(() => setTimeout(more));
  }

  return {node, show, find};
}

function markSorted({key, node}, state) {
  if (state.get("sort") === key) node.setAttribute("aria-sort", state.get("down") ? "descending" : "ascending");
  else node.removeAttribute("aria-sort");
}

function sorted(key) {
  const state = address();
  if (state.get("sort") !== key) return {sort: key, down: ""};
  return state.get("down") ? {sort: "", down: ""} : {sort: key, down: "1"};
}

function summary() {
  const words = {passed: "as expected", failed: "failed", "decided by its test": "decided by their tests", unknown: "unknown"};
  const counts = Object.entries(words).map(([result, label]) => [ROWS.filter((row) => row.result === result).length, label]);
  // Versions of one host count once.
  const hosts = new Set(ROWS.map((row) => row.host.split("@")[0])).size;
  const parts = counts.filter(([number]) => number).map(([number, words]) => `${number.toLocaleString("en")} ${words}`);
  return `${counted(ROWS.length, "simulation")} on ${counted(hosts, "host")}: ${parts.join(", ") || "none"}.`;
}
