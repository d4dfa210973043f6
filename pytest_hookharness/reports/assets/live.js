// A session in the simulation and on the real program: the first difference, all others, and both sides.

const MOST_BOXES = 3;
const FOLDED_SIDE = 160;

function liveView(live) {
  const known = live.differences.filter((each) => each.known);
  const [first, ...others] = live.differences.filter((each) => !each.known);
  const boxes = () => others.map(differenceBox);
  return [
    part("First difference", first ? differenceBox(first) : null),
    part("Other differences", others.length > MOST_BOXES ? opened({class: "more"}, counted(others.length, "difference"), boxes) : boxes()),
    part("Known differences", known.length ? opened({class: "more"}, `${counted(known.length, "difference")} that the simulation keeps`, () => known.map(differenceBox)) : null),
    part("Simulated and real", html("p", {class: "small"}, "Compared: ", live.categories.map(categoryWords)),
      html("p", {class: "soft small"}, `Made alike on both sides: ${live.made_alike.join(", ")}.`), bothSides(live)),
  ];
}

function categoryWords({name, agreed, compared}, place) {
  const words = `${name} ${agreed}/${compared}`;
  return [place ? ", " : "", agreed < compared ? badge(words, "odd") : words];
}

function differenceBox({category, where, simulated, real, rule, known}) {
  const [mine, theirs] = marked(simulated.text, real.text);
  return html("div", {class: `box ${known ? "odd" : "bad"}`}, html("p", {}, badge(category, known ? "odd" : "bad"), " ", html("bdi", {}, where)),
    facts([["simulated", html("pre", {tabindex: "0"}, mine)], ["real", html("pre", {tabindex: "0"}, theirs)], ["known", known]]),
    rule ? [html("p", {class: "soft small"}, "The rule of the profile behind the simulated value:"), ruleBlock(rule)] : null);
}

// Two texts, in each the part that the other one has not.
function marked(...texts) {
  const trimmed = texts.map((text) => text.trim());
  const [one, two] = (trimmed[0] === trimmed[1] ? texts : trimmed).map((text) => [...text]);
  const most = Math.min(one.length, two.length);
  let [head, tail] = [0, 0];
  while (head < most && one[head] === two[head]) head += 1;
  while (tail < most - head && one.at(-1 - tail) === two.at(-1 - tail)) tail += 1;
  return [one, two].map((letters) => {
    const until = letters.length - tail;
    return [letters.slice(0, head).join(""), head < until ? html("mark", {}, letters.slice(head, until).join("")) : null, letters.slice(until).join("")];
  });
}

function bothSides({differences, turns, ends}) {
  const differs = (turn) => differences.some((each) => each.turn === turn);
  const line = (turn, heading, mine, theirs) => html("tr", {class: differs(turn) ? "differs" : ""},
    html("th", {scope: "row"}, heading, differs(turn) ? [" ", badge("differs", "odd")] : null), sideCell("simulated", mine), sideCell("real", theirs));
  return html("div", {class: "wide"}, html("table", {class: "two"},
    html("thead", {}, html("tr", {}, ["message", "simulated", "real"].map((head) => html("th", {scope: "col"}, head)))),
    html("tbody", {}, turns.map((each, turn) => line(turn, turn || "before", each.simulated, each.real)),
      line(null, "end", [{who: "", text: {text: ends.simulated}}], [{who: "", text: {text: ends.real}}]))));
}

function sideCell(side, entries) {
  return html("td", {"data-side": side}, entries.length ? entries.map(({who, text}) => text.text.length > FOLDED_SIDE
    ? opened({class: "more"}, [html("span", {class: "who"}, who), html("bdi", {}, `${oneLine(text.text).slice(0, FOLDED_SIDE / 2)}…`)], () => html("pre", {tabindex: "0"}, text.text))
    : html("p", {class: "step"}, html("span", {class: "who"}, who), " ", html("bdi", {}, text.text))) : html("p", {class: "soft"}, "nothing"));
}
