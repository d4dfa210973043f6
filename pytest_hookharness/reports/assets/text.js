"use strict";
// Text and elements. All text of hooks, agents and file names becomes a text node here, nowhere else.

const CONTROLS = ("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB "
  + "ESC FS GS RS US").split(" ");
const BY_NAME = new Map(Object.entries({
  "\u007f": "⟨DEL⟩", "\u0085": "⟨NEL⟩", "\u00ad": "⟨SHY⟩", "\u061c": "⟨ALM⟩", "\u200b": "⟨ZWSP⟩", "\u200c": "⟨ZWNJ⟩",
  "\u200d": "⟨ZWJ⟩", "\u200e": "⟨LRM⟩", "\u200f": "⟨RLM⟩", "\u2028": "⟨LS⟩", "\u2029": "⟨PS⟩", "\u202a": "⟨LRE⟩",
  "\u202b": "⟨RLE⟩", "\u202c": "⟨PDF⟩", "\u202d": "⟨LRO⟩", "\u202e": "⟨RLO⟩", "\u2060": "⟨WJ⟩", "\u2066": "⟨LRI⟩",
  "\u2067": "⟨RLI⟩", "\u2068": "⟨FSI⟩", "\u2069": "⟨PDI⟩", "\ufeff": "⟨BOM⟩",
}));
// Controls, invisible format characters, halves of pairs, private and unassigned ones; not line feed and tab.
const HARMFUL = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu;
// Marks piled on one letter cover the lines above it.
const TOWER = /(\p{M}{3})\p{M}+/gu;

function visible(text) {
  return String(text).replace(TOWER, "$1").replace(HARMFUL, shown);
}

function shown(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) return `⟨${CONTROLS[code]}⟩`;
  return BY_NAME.get(character) ?? `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function make(space, tag, attributes, children) {
  const node = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child instanceof Node) node.append(child);
    else if (child !== null && child !== undefined && child !== "") node.append(visible(child));
  }
  return node;
}

function html(tag, attributes = {}, ...children) {
  return make("http://www.w3.org/1999/xhtml", tag, attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return make("http://www.w3.org/2000/svg", tag, attributes, children);
}

function badge(words, mood = "") {
  return html("span", {class: `badge ${mood}`}, words);
}

function counted(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

function size(bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  const [number, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KiB"] : [bytes / 1024 ** 2, "MiB"];
  return `${number.toFixed(number < 10 ? 1 : 0)} ${unit}`;
}

function time(seconds) {
  if (seconds >= 59.95) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return seconds >= 0.095 ? `${seconds.toFixed(1)} s` : `${Math.max(1, Math.round(seconds * 1000))} ms`;
}

// JSON with line breaks and indentation between its unchanged tokens.
function laidOut(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const line = () => "\n" + "  ".repeat(depth);
  return text.trim().replace(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|\s+/g, (token) => {
    if (token[0] === '"' || /^[{[]\s*[}\]]$/.test(token)) return token;
    if ("{[".includes(token)) return (depth += 1, token + line());
    if ("}]".includes(token)) return (depth -= 1, line() + token);
    if (token === ",") return token + line();
    return token === ":" ? ": " : "";
  });
}

// A details element that is filled when it is opened.
function opened(attributes, summary, fill) {
  const inside = html("div", {class: "inside"});
  const fillOnce = () => inside.childNodes.length || inside.append(...[fill()].flat(Infinity).filter(Boolean));
  const details = html("details", attributes, html("summary", {}, summary), inside);
  details.addEventListener("toggle", () => details.open && fillOnce());
  if (details.open) fillOnce();
  return details;
}

// A sentence in which backticks mark code; one without a partner stays as it is.
function prose(sentence) {
  const pieces = String(sentence).split("`");
  if (pieces.length % 2 === 0) return html("bdi", {}, sentence);
  return html("bdi", {}, pieces.map((piece, place) => place % 2 ? html("code", {}, piece) : piece));
}

function part(heading, ...children) {
  const inside = children.flat(Infinity).filter(Boolean);
  return inside.length ? html("section", {}, html("h2", {}, heading), inside) : null;
}

function listed(sentences) {
  return sentences.length ? html("ul", {}, sentences.map((each) => html("li", {}, prose(each)))) : null;
}

function announce(words) {
  document.getElementById("said").textContent = words;
}
