// Texts of agents as people see them: invisible characters named, commands coloured, lines numbered.

import { html } from "../vendor/lit-html/lit-html.js";
import { counted, visibleParts } from "../words.js";
import { VirtualList } from "./virtual_list.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Segment} Segment */

/** The most segments that are coloured; a longer command is shown as plain text. */
const MOST_SEGMENTS = 600;
/** A longer content is folded at first. */
const FOLDED_LINES = 60;
const FOLDED_SEGMENTS = 160;
/** A longer content is shown in a box of its own that scrolls. */
const MOST_LINES = 240;
const LINE_HEIGHT = 21;

/** @param {string} text */
export function shown(text) {
  const parts = visibleParts(text);
  if (parts.every((part) => !part.isInvisible)) return text;
  return parts.map((part) =>
    part.isInvisible
      ? html`<span class="invisible" title="An invisible character">${part.text}</span>`
      : part.text,
  );
}

/** So much of the beginning of a line is drawn: no line is wider. */
const LONGEST_START = 400;

/** Shows a line of which only the beginning is cut where there is little room. @param {string} start @param {string} end */
export function ends(start, end) {
  if (!end) return shown(start);
  const [first, last] = [start.slice(0, LONGEST_START), end].map((text) => shown(text.replaceAll(/\s/g, " ")));
  return html`<span class="cut">${first}</span><span>${last}</span>`;
}

/**
 * Shows a reason of the desk as a sentence; what it quotes in backticks becomes code.
 * @param {string} text
 */
export function reason(text) {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  const pieces = sentence.split("`");
  // An odd number of backticks quotes nothing for sure.
  if (pieces.length % 2 === 0) return shown(sentence);
  return pieces.map((piece, at) => (at % 2 ? html`<code>${shown(piece)}</code>` : shown(piece)));
}

/** @param {App} app @param {string} key @param {Segment[]} segments */
export function command(app, key, segments) {
  const isWhole = app.isUnfolded(key) || segments.length <= FOLDED_SEGMENTS;
  const some = isWhole ? segments : segments.slice(0, FOLDED_SEGMENTS);
  const rest = counted(segments.length - some.length, "more part");
  const isPlain = some.length > MOST_SEGMENTS;
  const body = isPlain ? shown(some.map(({ text }) => text).join("")) : some.map(segment);
  return html`<div class="code-box">
    <pre class="command" tabindex="0" role="group" aria-label="Command">${body}</pre>
    ${isWhole ? "" : unfold(app, key, `Show the whole command (${rest})`)}
  </div>`;
}

/** @param {Segment} segment */
export function segment({ text, style, break: breaks }) {
  return html`${breaks ? "\n" : ""}<span class="seg-${style}">${shown(text)}</span>`;
}

/** @param {App} app @param {string} key @param {string} label */
export function unfold(app, key, label) {
  return html`<button class="unfold" type="button" @click=${() => app.unfold(key)}>${label}</button>`;
}

/**
 * Shows all that is folded: only what could be seen is allowed. Returns true if some of it was folded.
 * @param {string} root the selector of what is about to be allowed
 */
export function unfoldAll(root) {
  const folded = document.querySelectorAll(`${root} .unfold`);
  for (const button of folded) /** @type {HTMLElement} */ (button).click();
  return folded.length > 0;
}

/** What is said to whoever allows something of which a part was folded. */
export const UNFOLDED = "This is long. All of it is shown now: read it, then allow it.";

/** @typedef {{number: string, other?: string, op?: string, text: string}} CodeLine */

/** @type {Map<string, VirtualList<any>>} */
const lists = new Map();

/**
 * Shows lines: some, all, or all in a box that scrolls, depending on how many there are.
 * @template T
 * @param {App} app @param {string} key @param {T[]} lines @param {(line: T) => unknown} row
 */
export function foldedLines(app, key, lines, row) {
  if (lines.length <= FOLDED_LINES) return lines.map(row);
  if (!app.isUnfolded(key)) {
    const label = `Show all ${counted(lines.length, "line")}`;
    return html`${lines.slice(0, FOLDED_LINES - 10).map(row)}${unfold(app, key, label)}`;
  }
  if (lines.length <= MOST_LINES) return lines.map(row);
  const scroller = `lines-${key}`;
  const list = lists.get(key) ?? new VirtualList(`${scroller}-list`, scroller);
  if (lists.size > 20) lists.clear();
  lists.set(key, list);
  return html`<div class="lines-scroll" id=${scroller} tabindex="0" role="group" aria-label="All lines"
    @scroll=${() => app.update()}>
    ${list.render({ items: lines, height: LINE_HEIGHT, key: (_, at) => at, row, label: "Lines" })}</div>`;
}

/** @param {App} app @param {string} key @param {string} content @param {number} [first] the number of its first line */
export function numbered(app, key, content, first = 1) {
  const lines = splitLines(key, content, first);
  const row = (/** @type {CodeLine} */ line) =>
    html`<div class="line" data-new=${line.number}>${shown(line.text)}</div>`;
  return html`<div class="code-box"><div class="lines">${foldedLines(app, key, lines, row)}</div></div>`;
}

/** @type {Map<string, {content: string, lines: CodeLine[]}>} */
const split = new Map();

/** @param {string} key @param {string} content @param {number} first */
function splitLines(key, content, first) {
  const known = split.get(key);
  if (known?.content === content) return known.lines;
  const lines = content
    .replace(/\n$/, "")
    .split("\n")
    .map((text, at) => ({ number: String(at + first), text }));
  if (split.size > 20) split.clear();
  split.set(key, { content, lines });
  return lines;
}

/**
 * Returns JSON with its members on lines of their own. What could change on the way through
 * JavaScript, such as a large number, is left as it is.
 * @param {string} json
 */
export function prettyJson(json) {
  try {
    const pretty = JSON.stringify(JSON.parse(json), null, 2);
    const bare = (/** @type {string} */ text) => text.replaceAll(/\s/g, "");
    return bare(pretty) === bare(json) ? pretty : json;
  } catch {
    return json;
  }
}
