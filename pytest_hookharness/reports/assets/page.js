// The address decides what is shown; keys and links only change the address.

const MAIN = document.getElementById("main");
const list = makeList(change);
let shownItem = null;
let shownBeside = null;

function address() {
  return new URLSearchParams(location.hash.slice(1));
}

function change(values) {
  const state = address();
  for (const [key, value] of Object.entries(values)) value ? state.set(key, value) : state.delete(key);
  history.replaceState(null, "", `#${state}`);
  show();
}

function show() {
  const state = address();
  const row = ROWS.find((each) => each.key === state.get("item"));
  if (!row) return showList(state);
  const beside = ROWS.find((each) => each.key === state.get("beside")) ?? null;
  if (shownItem !== row || shownBeside !== beside) {
    MAIN.replaceChildren(drawnItem(row, beside, state));
    document.title = `${visible(titleOf(row))}: ${row.verdict}`;
    scrollTo({top: 0, behavior: "instant"});
    MAIN.querySelector("h1").focus({preventScroll: true});
    [shownItem, shownBeside] = [row, beside];
  }
  if (state.has("turn")) goToTurn(state.get("turn"));
}

function showList(state) {
  list.show(state);
  if (MAIN.firstChild === list.node) return;
  MAIN.replaceChildren(list.node);
  document.title = "Hook simulations";
  const last = shownItem;
  shownItem = null;
  if (last) MAIN.querySelector(`[data-item="${last.data}"]`)?.focus();
}

function drawnItem(row, beside, state) {
  try {
    return beside ? comparison(row, beside) : itemView(row, state);
  } catch (error) {
    return html("div", {}, html("h1", {tabindex: "-1"}, titleOf(row)), html("p", {}, `This simulation cannot be shown: ${error.message}`));
  }
}

function goToTurn(turn) {
  const place = document.getElementById(`turn-${turn}`);
  MAIN.querySelectorAll(".here").forEach((each) => each.classList.remove("here"));
  place?.classList.add("here");
  place?.scrollIntoView({block: "start"});
  place?.querySelector("h3").focus({preventScroll: true});
}

// Move between the elements that can be opened.
function step(by) {
  const stops = [...MAIN.querySelectorAll(shownItem ? ".turns summary" : ".list a")];
  const here = stops.indexOf(document.activeElement);
  const next = stops[here < 0 ? (by > 0 ? 0 : stops.length - 1) : here + by];
  next?.focus();
  next?.scrollIntoView({block: "nearest"});
}

function search() {
  if (shownItem) change({item: "", turn: "", beside: ""});
  list.find.focus();
}

function back() {
  if (document.activeElement === list.find) return list.find.value ? change({find: ""}) || (list.find.value = "") : list.find.blur();
  if (shownItem) change(shownBeside ? {beside: ""} : {item: "", turn: ""});
}

const KEYS = [
  ["j", "next", () => step(1)],
  ["k", "previous", () => step(-1)],
  ["Enter", "open", null],
  ["/", "search", search],
  ["n", "next simulation", () => MAIN.querySelector("[data-go=next]")?.click()],
  ["p", "previous simulation", () => MAIN.querySelector("[data-go=prev]")?.click()],
  ["Escape", "back to the list, or out of the search", back],
  ["?", "this help", () => help.showModal()],
];
const keysOn = html("input", {type: "checkbox", checked: true});
const help = html("dialog", {"aria-labelledby": "help-title"}, html("h2", {id: "help-title"}, "Keys"),
  html("dl", {class: "facts"}, KEYS.map(([key, words]) => [html("dt", {}, html("kbd", {}, key)), html("dd", {}, words)])),
  html("p", {}, html("label", {}, keysOn, " single keys are active")),
  html("form", {method: "dialog"}, html("button", {}, "Close")));

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open || event.defaultPrevented) return;
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea");
  const action = KEYS.find(([key]) => key === event.key)?.[2];
  if (!action || (typing && event.key !== "Escape") || (!keysOn.checked && event.key !== "Escape")) return;
  event.preventDefault();
  action();
}

document.body.append(help);
document.getElementById("keys").hidden = false;
document.getElementById("keys").addEventListener("click", () => help.showModal());
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); MAIN.focus(); });
addEventListener("keydown", pressed);
addEventListener("hashchange", show);
show();
