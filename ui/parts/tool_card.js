// A tool call in a conversation: what it does, and what came of it.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { counted, cutMiddle, relativePath } from "../words.js";
import { readUnifiedDiff } from "../unified_diff.js";
import { body, steps } from "./bodies.js";
import { diff } from "./diff.js";
import { icon } from "./icons.js";
import { numbered, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").Turn} Turn */
/** @typedef {import("../chat_store.js").ToolPart} ToolPart */
/** @typedef {import("../types/desk.js").CallCard} CallCard */

/** How much of a tool's output is shown, in characters. */
const MOST_OUTPUT = 6_000;
/** How much is shown of what a running tool has printed. */
const MOST_LIVE = 1_200;
/** A longer text is not read as a diff. */
const LONGEST_DIFF = 200_000;
/** How many diffs are kept. */
const MOST_DIFFS = 50;
/** How much of a path or command is shown on the line of a card, in characters. */
const LONGEST_SUBJECT = 96;
/** The colours that a program prints for a terminal. */
const COLOURS = /\u001b\[[\d;]*m/g;

/** @param {App} app @param {Turn} turn @param {ToolPart} part */
export function toolCard(app, turn, part) {
  if (part.card?.body.type === "todo") return plan(part.card.body.items);
  const key = `tool-${turn.id}-${part.id}`;
  const isOpen = app.isUnfolded(key);
  const toggle = (/** @type {Event} */ event) =>
    app.setUnfolded(key, /** @type {HTMLDetailsElement} */ (event.target).open);
  const failed = part.isOver ? failure(part.result) || (part.isError ? wentWrong(part) : "") : "";
  const isBad = failed !== "";
  const state = !part.isOver
    ? html`<span class="spinner"></span>`
    : icon(isBad ? "cross" : "check", isBad ? "is-bad" : "is-good");
  return html`<details class="panel tool" data-tool=${part.name} ?open=${isOpen} @toggle=${toggle}>
    <summary>
      ${state}<strong>${shown(headline(part))}</strong>
      <code class="cut grow">${shown(subject(app, part))}</code>
      ${failed ? html`<span class="failed">${shown(failed)}</span>` : nothing}
    </summary>
    ${isOpen ? content(app, key, part, isBad) : nothing}
  </details>
  ${!part.isOver && !isOpen && part.output ? terminal("", part.output.slice(-MOST_LIVE), "") : nothing}`;
}

/** @param {ToolPart} part @returns {string} what it does, or has done */
function headline({ card, name, isOver, isError }) {
  if (!card) return name;
  return isOver && !isError ? card.did : card.deed;
}

/** @param {App} app @param {ToolPart} part */
function subject(app, { card, draft }) {
  const text = card ? relativePath(card.subject, app.chat.store.folder) : draft.slice(-LONGEST_SUBJECT);
  return cutMiddle(text, LONGEST_SUBJECT);
}

/** @param {App} app @param {string} key @param {ToolPart} part @param {boolean} isBad */
function content(app, key, part, isBad) {
  const { card, draft, result } = part;
  if (!card) return html`<pre class="tool-text">${shown(draft)}</pre>`;
  const output = part.isOver ? resultText(result) : part.output;
  const folder = app.chat.store.folder;
  const drawn = () => html`<div class="tool-body">${body(app, card.body, key, folder)}</div>`;
  switch (card.body.type) {
    case "command":
      return terminal(card.body.segments.map(({ text }) => text).join(""), output, part.isOver ? exit(result) : "");
    case "write":
    case "edit":
    case "notebook":
    case "patch":
      if (isBad) return [drawn(), plainOutput(app, key, output)];
      return (typeof result?.diff === "string" && changesIn(app, key, result.diff)) || drawn();
    case "read":
      return html`<div class="tool-body output">${
        output ? numbered(app, key, output.slice(0, MOST_OUTPUT), result?.firstLine) : body(app, card.body, key, folder)
      }</div>${rest(output)}`;
    default:
      return [drawn(), output ? plainOutput(app, key, output) : nothing];
  }
}

/**
 * Returns how a command failed that ran: a result without an error does not say that it succeeded.
 * @param {any} result
 */
function failure(result) {
  if (!result || typeof result !== "object") return "";
  if (result.timedOut === true) return "time limit";
  if (typeof result.signal === "string") return result.signal;
  return Number.isInteger(result.exitCode) && result.exitCode !== 0 ? `exit code ${result.exitCode}` : "";
}

/** Returns what became of a call that did nothing. @param {ToolPart} part */
function wentWrong({ result, card }) {
  if (result?.denied === true) return "denied";
  if (result?.interrupted === true) return "interrupted";
  return card?.body.type === "ask" ? "no answer" : "failed";
}

/** Returns how a command ended. @param {any} result */
function exit(result) {
  return failure(result) || (Number.isInteger(result?.exitCode) ? `exit code ${result.exitCode}` : "");
}

/**
 * Shows a command as in a terminal.
 * @param {string} command @param {string} output @param {string} exit how it ended
 */
function terminal(command, output, exit) {
  const printed = output.slice(0, MOST_OUTPUT).replace(COLOURS, "").split("\n").map(lastPart).join("\n").trimEnd();
  return html`<pre class="tool-text terminal output" tabindex="0" role="group" aria-label="Output">${
    command ? html`<span class="prompt">$ </span><span class="typed">${shown(command)}</span>${"\n"}` : nothing
  }${shown(printed)}${exit ? html`<span class="exit">${printed ? "\n" : ""}${shown(exit)}</span>` : nothing}</pre>
    ${rest(output)}`;
}

/** Returns what a line shows in the end: a program may draw over it. @param {string} line */
function lastPart(line) {
  return line.replace(/\r+$/, "").split("\r").pop() ?? "";
}

/** @param {App} app @param {string} key @param {string} text */
function plainOutput(app, key, text) {
  return changesIn(app, key, text) ?? html`<pre class="tool-text output" tabindex="0" role="group" aria-label="Output">${shown(
    text.slice(0, MOST_OUTPUT),
  )}</pre>${rest(text)}`;
}

/** The diffs that were read last. @type {Map<string, {text: string, files: ReturnType<typeof readUnifiedDiff>}>} */
const readDiffs = new Map();

/** Shows the changes that a diff names, or returns null if the text is none. @param {App} app @param {string} key @param {string} text */
function changesIn(app, key, text) {
  let known = readDiffs.get(key);
  if (known?.text !== text) {
    if (readDiffs.size > MOST_DIFFS) readDiffs.clear();
    known = { text, files: text.length > LONGEST_DIFF ? [] : readUnifiedDiff(text) };
    readDiffs.set(key, known);
  }
  const { files } = known;
  if (!files.length) return null;
  return html`<div class="tool-body output" role="group" aria-label="Changes">${files.map(({ path, changes }, at) => [
    files.length > 1 ? html`<p class="path">${icon("file")}<code>${shown(path)}</code></p>` : nothing,
    diff(app, `${key}.${at}`, changes),
  ])}</div>`;
}

/** @param {string} text */
function rest(text) {
  const more = text.length - MOST_OUTPUT;
  return more > 0 ? html`<p class="tiny muted tool-rest">and ${counted(more, "more character")}</p>` : nothing;
}

/** The plan of a longer task, as a list. @param {{text: string, status: string}[]} items */
function plan(items) {
  return html`<section class="panel todo" aria-label="Plan" data-plan>
    <h2 class="sub">Plan</h2>
    ${steps(items)}
  </section>`;
}

/** @param {any} result */
function resultText(result) {
  if (typeof result === "string") return result;
  if (!result || typeof result !== "object") return result === null || result === undefined ? "" : String(result);
  if (typeof result.text === "string") return result.text;
  const list = [result.content, result.matches, result.files].find((items) => Array.isArray(items));
  if (list) return list.map(itemText).join("\n");
  const streams = [result.stdout, result.stderr].filter((text) => typeof text === "string" && text.trim());
  if (streams.length || Number.isInteger(result.exitCode)) return streams.map((text) => text.trimEnd()).join("\n");
  const told = [result.diff, result.content, result.error].find((text) => typeof text === "string" && text);
  return told ?? JSON.stringify(result, null, 2);
}

/** @param {any} item a file, a place where something was found, or a part of a message */
function itemText(item) {
  if (typeof item === "string") return item;
  if (item?.path) return [item.path, item.line, item.text].filter((one) => one !== undefined).join(": ");
  return item?.text ?? `[${item?.type}]`;
}
