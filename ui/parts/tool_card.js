// A tool call in a conversation: what it does, and what came of it.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ending, failure, headline, inputText, isCommandOutput, pictureOf, resultText } from "../tool_result.js";
import { counted, relativeSubject, splitEnd } from "../words.js";
import { readUnifiedDiff } from "../unified_diff.js";
import { body, steps } from "./bodies.js";
import { diff } from "./diff.js";
import { icon } from "./icons.js";
import { ends, numbered, shown, unfold } from "./text.js";

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
/** How many diffs and outputs are kept. */
const MOST_DRAWN = 50;
/** How much is shown of an input that is being written, in characters. */
const LONGEST_DRAFT = 96;
/** How much of an input is shown in the line of its card, in characters. */
const LONGEST_FACTS = 300;
/** The colours that a program prints for a terminal. */
const COLOURS = /\u001b\[[\d;]*m/g;

/** @param {App} app @param {Turn} turn @param {ToolPart} part */
export function toolCard(app, turn, part) {
  const failed = failure(part);
  const isBad = failed !== "";
  if (part.card?.body.type === "todo" && !isBad) return plan(part.card.body.items);
  const key = `tool-${turn.id}-${part.id}`;
  const isOpen = app.isUnfolded(key);
  const toggle = (/** @type {Event} */ event) => {
    const card = /** @type {HTMLDetailsElement} */ (event.target);
    app.setUnfolded(key, card.open);
    app.updateNow();
    // What went wrong stands at the end.
    const box = card.querySelector(".terminal");
    if (box) box.scrollTop = box.scrollHeight;
  };
  const [start, end] = subject(app, part);
  const state = !part.isOver
    ? html`<span class="spinner"></span>`
    : icon(isBad ? "cross" : "check", isBad ? "is-bad" : "is-good");
  return html`<details class="panel tool" data-tool=${part.name} ?open=${isOpen} @toggle=${toggle}>
    <summary>
      ${state}<strong>${shown(headline(part))}</strong>
      <code class="grow ${end ? "ends" : "cut"}">${ends(start, end)}</code>
      ${failed ? html`<span class="failed">${shown(failed)}</span>` : nothing}
    </summary>
    ${isOpen ? content(app, key, part, isBad) : nothing}
  </details>
  ${!part.isOver && !isOpen && part.output ? terminal(app, key, "", part.output.slice(-MOST_LIVE), "") : nothing}`;
}

/** Returns what it is about, in two parts of which only the first may be cut. @param {App} app @param {ToolPart} part */
function subject(app, { card, draft }) {
  if (!card) return splitEnd(draft.slice(-LONGEST_DRAFT), false);
  const { body, subject } = card;
  const facts = body.type === "other" ? inputText(body.input) : null;
  if (facts !== null) return splitEnd(facts.replaceAll("\n", ", ").slice(0, LONGEST_FACTS), false);
  const isPath = "path" in body || body.type === "patch";
  return splitEnd(isPath ? relativeSubject(subject, app.chat.store.folder) : subject, isPath);
}

/** @param {App} app @param {string} key @param {ToolPart} part @param {boolean} isBad */
function content(app, key, part, isBad) {
  const { card, draft, result } = part;
  if (!card) return html`<pre class="tool-text">${shown(draft)}</pre>`;
  const output = part.isOver && !part.isLost ? resultText(result) : part.output;
  if (isCommandOutput(result)) return terminal(app, key, "", output, ending(part));
  const folder = app.chat.store.folder;
  const facts = card.body.type === "other" ? inputText(card.body.input) : null;
  const about = facts === null ? card.body : /** @type {const} */ ({ type: "other", input: facts });
  const drawn = () => (facts === "" ? nothing : html`<div class="tool-body">${body(app, about, key, folder)}</div>`);
  const outcome = () => (output ? plainOutput(app, key, output) : nothing);
  switch (card.body.type) {
    case "command": {
      const command = card.body.segments.map(({ text }) => text).join("");
      // The id of a command in the background is for the model.
      return terminal(app, key, command, result?.id ? "" : output, ending(part));
    }
    case "write":
    case "edit":
    case "notebook":
    case "patch":
      // Nothing was changed: what was wanted is shown, and why it failed.
      if (isBad) return [drawn(), outcome()];
      return (typeof result?.diff === "string" && changesIn(app, key, result.diff)) || drawn();
    case "read":
      return html`<div class="tool-body output">${
        output ? numbered(app, key, output, result?.firstLine) : body(app, card.body, key, folder)
      }</div>`;
    default:
      return [drawn(), picture(result), outcome()];
  }
}

/** @param {any} result */
function picture(result) {
  const address = pictureOf(result);
  return address ? html`<img class="output" src=${address} alt="The picture that the tool returned" />` : nothing;
}

/**
 * Shows a command as in a terminal: of a long output the end, where a failure stands.
 * @param {App} app @param {string} key @param {string} command @param {string} output @param {string} exit how it ended
 */
function terminal(app, key, command, output, exit) {
  const isCut = isLong(app, key, output);
  const end = isCut ? output.slice(output.indexOf("\n", output.length - MOST_OUTPUT) + 1).slice(-MOST_OUTPUT) : output;
  const text = printed(key, end);
  return html`${isCut ? showAll(app, key, output) : nothing}
    <pre class="tool-text terminal output" tabindex="0" role="group" aria-label="Output">${
      command ? html`<span class="prompt">$ </span><span class="typed">${shown(command)}</span>${"\n"}` : nothing
    }${isCut ? "…\n" : ""}${text}${exit ? html`<span class="exit">${text ? "\n" : ""}${shown(exit)}</span>` : nothing}</pre>`;
}

/** The outputs that were drawn last. @type {Map<string, {text: string, drawn: unknown}>} */
const drawnOutputs = new Map();

/** Returns what a terminal shows of an output. @param {string} key @param {string} text */
function printed(key, text) {
  let known = drawnOutputs.get(key);
  if (known?.text !== text) {
    if (drawnOutputs.size > MOST_DRAWN) drawnOutputs.clear();
    known = { text, drawn: shown(text.replace(COLOURS, "").split("\n").map(lastPart).join("\n").trimEnd()) };
    drawnOutputs.set(key, known);
  }
  return known.drawn;
}

/** Returns what a line shows in the end: a program may draw over it. @param {string} line */
function lastPart(line) {
  return line.replace(/\r+$/, "").split("\r").pop() ?? "";
}

/** @param {App} app @param {string} key @param {string} text */
function plainOutput(app, key, text) {
  const changes = changesIn(app, key, text);
  if (changes) return changes;
  const isCut = isLong(app, key, text);
  return html`<pre class="tool-text output" tabindex="0" role="group" aria-label="Output">${shown(
    isCut ? text.slice(0, MOST_OUTPUT) : text,
  )}</pre>
    ${isCut ? showAll(app, key, text) : nothing}`;
}

/** Whether only a part of an output is shown. @param {App} app @param {string} key @param {string} text */
function isLong(app, key, text) {
  return text.length > MOST_OUTPUT && !app.isUnfolded(`${key}.all`);
}

/** @param {App} app @param {string} key @param {string} text */
function showAll(app, key, text) {
  return unfold(app, `${key}.all`, `Show all ${counted(text.length, "character")}`);
}

/** The diffs that were read last. @type {Map<string, {text: string, files: ReturnType<typeof readUnifiedDiff>}>} */
const readDiffs = new Map();

/** Shows the changes that a diff names, or returns null if the text is none. @param {App} app @param {string} key @param {string} text */
function changesIn(app, key, text) {
  let known = readDiffs.get(key);
  if (known?.text !== text) {
    if (readDiffs.size > MOST_DRAWN) readDiffs.clear();
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

/** The plan of a longer task, as a list. @param {{text: string, status: string}[]} items */
function plan(items) {
  return html`<section class="panel todo" aria-label="Plan" data-plan>
    <h2 class="sub">Plan</h2>
    ${steps(items)}
  </section>`;
}
