// Changes of a file: side by side if there is room, otherwise one below the other.

import { html } from "../vendor/lit-html/lit-html.js";
import { foldedLines, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Change} Change */
/** @typedef {import("../types/desk.js").DiffLine} DiffLine */
/** @typedef {{left: DiffLine | null, right: DiffLine | null}} Pair */

const WIDE = matchMedia("(min-width: 1360px)");

/** @param {App} app @param {string} key @param {Change[]} changes */
export function diff(app, key, changes) {
  return changes.map(
    (change, at) => html`
    ${change.everywhere ? html`<p class="small muted">Every occurrence is replaced:</p>` : ""}
    ${change.place ? html`<p class="small muted">After <code>${shown(change.place)}</code></p>` : ""}
    <div class="code-box">${(WIDE.matches ? sideBySide : unified)(app, `${key}.${at}`, change.lines)}</div>`,
  );
}

/** @param {App} app @param {string} key @param {DiffLine[]} lines */
function unified(app, key, lines) {
  return html`<div class="lines diff">${foldedLines(
    app,
    key,
    lines,
    (line) => html`<div
    class="line ${tone(line)}" data-old=${line.old ?? " "} data-new=${line.new ?? " "} data-op=${line.op}
    >${shown(line.text)}</div>`,
  )}</div>`;
}

/** @param {App} app @param {string} key @param {DiffLine[]} lines */
function sideBySide(app, key, lines) {
  const row = (/** @type {Pair} */ { left, right }) =>
    html`<div class="pair">${side(left, left?.old)}${side(right, right?.new)}</div>`;
  return html`<div class="lines diff sides">${foldedLines(app, key, pairs(key, lines), row)}</div>`;
}

/** @param {DiffLine | null} line @param {number | null} [number] */
function side(line, number) {
  if (!line) return html`<div class="line void"></div>`;
  return html`<div class="line ${tone(line)}" data-new=${number ?? " "} data-op=${line.op}>${shown(line.text)}</div>`;
}

/** @param {DiffLine} line */
function tone({ op }) {
  return op === "+" ? "added" : op === "-" ? "removed" : "";
}

/** @type {Map<string, {lines: DiffLine[], pairs: Pair[]}>} */
const paired = new Map();

/** @param {string} key @param {DiffLine[]} lines @returns {Pair[]} */
function pairs(key, lines) {
  const known = paired.get(key);
  // A page is drawn often, and the lines stay the same list.
  if (known?.lines === lines) return known.pairs;
  /** @type {Pair[]} */
  const pairs = [];
  /** @type {DiffLine[]} */
  let removed = [];
  /** @type {DiffLine[]} */
  let added = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      pairs.push({ left: removed[at] ?? null, right: added[at] ?? null });
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.op === "-") removed.push(line);
    else if (line.op === "+") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  if (paired.size > 20) paired.clear();
  paired.set(key, { lines, pairs });
  return pairs;
}
