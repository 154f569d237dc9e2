// One turn of a conversation: what the user said, and what the model answered and did.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { counted } from "../words.js";
import { GrowingMarkdown } from "./markdown.js";
import { note } from "./controls.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").Turn} Turn */
/** @typedef {import("../chat_store.js").Part} Part */
/** @typedef {import("../chat_store.js").ToolPart} ToolPart */

/** The drawn text of each part. @type {WeakMap<Part, GrowingMarkdown>} */
const drawn = new WeakMap();
/** How much of a tool's output is shown, in characters. */
const MOST_OUTPUT = 6_000;
const STOPS = /** @type {Record<string, string>} */ ({
  cancelled: "Stopped.",
  max_tokens: "The answer was too long and was cut.",
  max_turn_requests: "The answer reached the limit of rounds.",
  refusal: "The model refused to answer.",
});

/**
 * @param {App} app @param {Turn} turn
 * @param {{edit: () => void, regenerate: () => void} | null} again for the last turn
 */
export function chatTurn(app, turn, again) {
  const isWaiting = !turn.isOver && turn.parts.length === 0;
  const stop = STOPS[turn.stopReason];
  const isBroken = turn.isUnfinished || Boolean(turn.error);
  return html`<article class="turn" data-turn=${turn.id} data-over=${turn.isOver ? "true" : "false"}>
    ${turn.text || turn.files.length ? userMessage(turn, again) : nothing}
    <div class="answer">
      ${turn.parts.map((part, at) => drawPart(app, turn, part, at))}
      ${isWaiting ? html`<p class="muted row"><span class="spinner"></span>Thinking…</p>` : nothing}
      ${turn.error ? note("red", shown(turn.error)) : nothing}
      ${turn.isUnfinished && !turn.error ? note("amber", "This answer was interrupted.") : nothing}
      ${stop ? html`<p class="small muted">${stop}</p>` : nothing}
      ${
        again && turn.isOver
          ? html`<div class="row turn-foot">
              <button class="button quiet small" type="button" data-regenerate @click=${again.regenerate}>
                ${icon("again")}${isBroken ? "Retry" : "Answer again"}
              </button>
            </div>`
          : nothing
      }
    </div>
  </article>`;
}

/** @param {Turn} turn @param {{edit: () => void} | null} again */
function userMessage(turn, again) {
  return html`<div class="said-by-user">
    <div class="bubble">
      <span class="pre">${shown(turn.text ?? "")}</span>
      ${
        turn.files.length
          ? html`<ul class="files">
              ${turn.files.map(
                (file) => html`<li class="chip">${icon("file")}${shown(file.name ?? file.mime)}</li>`,
              )}
            </ul>`
          : nothing
      }
    </div>
    ${
      again && turn.isOver
        ? html`<button
            class="button quiet small"
            type="button"
            data-edit-last
            aria-label="Edit this message"
            @click=${again.edit}
          >
            ${icon("edit")}
          </button>`
        : nothing
    }
  </div>`;
}

/** @param {App} app @param {Turn} turn @param {Part} part @param {number} at */
function drawPart(app, turn, part, at) {
  const isLast = at === turn.parts.length - 1;
  switch (part.type) {
    case "text": {
      const growing = drawn.get(part) ?? new GrowingMarkdown();
      drawn.set(part, growing);
      const node = growing.show(part.text, turn.isOver || !isLast);
      if (growing.isBehind) app.update();
      return html`<div class="reply-text">${node}</div>`;
    }
    case "thinking":
      return html`<details class="thinking">
        <summary>${turn.isOver || !isLast ? "Thoughts" : "Thinking…"}</summary>
        <div class="pre small muted">${shown(part.text)}</div>
      </details>`;
    case "notice":
      return html`<p class="small muted row">${icon("clock")}${shown(part.text)}</p>`;
    case "user":
      return html`<div class="said-by-user">
        <div class="bubble"><span class="pre">${shown(part.text)}</span></div>
      </div>`;
    default:
      return part.name === "todo_write" && part.input?.items ? plan(part) : toolCard(app, turn, part);
  }
}

/** The plan of a longer task, as a list. @param {ToolPart} part */
function plan(part) {
  const items = /** @type {{text: string, status: string}[]} */ (part.input.items);
  return html`<section class="panel todo" aria-label="Plan" data-plan>
    <h2 class="sub">Plan</h2>
    <ul>
      ${items.map(
        (item) =>
          html`<li class=${item.status}>
            <span class="tick">${item.status === "done" ? icon("check") : nothing}</span>
            <span>${shown(String(item.text))}</span>
            ${item.status === "pending" ? nothing : html`<span class="only-read">(${item.status})</span>`}
          </li>`,
      )}
    </ul>
  </section>`;
}

/** @param {App} app @param {Turn} turn @param {ToolPart} part */
function toolCard(app, turn, part) {
  const key = `tool-${turn.id}-${part.id}`;
  const isOpen = app.isUnfolded(key);
  const toggle = (/** @type {Event} */ event) =>
    app.setUnfolded(key, /** @type {HTMLDetailsElement} */ (event.target).open);
  const failed = part.isOver ? failure(part.result) : "";
  const isBad = part.isError || failed !== "";
  const state = !part.isOver
    ? html`<span class="spinner"></span>`
    : icon(isBad ? "cross" : "check", isBad ? "is-bad" : "is-good");
  const output = part.isOver ? resultText(part.result) : part.output;
  return html`<details class="panel tool" data-tool=${part.name} ?open=${isOpen} @toggle=${toggle}>
    <summary>
      ${state}<strong>${shown(part.name)}</strong><code class="cut grow">${shown(summary(part))}</code>
      ${failed ? html`<span class="failed">${shown(failed)}</span>` : nothing}
    </summary>
    ${
      isOpen || (!part.isOver && part.output)
        ? html`${isOpen ? html`<pre class="tool-text">${shown(inputText(part))}</pre>` : nothing}
            ${output ? toolOutput(output) : nothing}`
        : nothing
    }
  </details>
  ${!part.isOver && !isOpen && part.output ? toolOutput(part.output.slice(-1_200)) : nothing}`;
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

/** @param {string} text */
function toolOutput(text) {
  const rest = text.length - MOST_OUTPUT;
  const lines = text.slice(0, MOST_OUTPUT).split("\n");
  const isDiff = /^(---|\+\+\+|@@) /m.test(text);
  return html`<pre class="tool-text output" tabindex="0" role="region" aria-label="Output">${
    isDiff ? lines.map(diffLine) : shown(lines.join("\n"))
  }</pre>
    ${rest > 0 ? html`<p class="tiny muted">and ${counted(rest, "more character")}</p>` : nothing}`;
}

/** @param {string} line */
function diffLine(line) {
  const tone = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
  return html`<span class="diff-line ${tone}">${shown(line)}${"\n"}</span>`;
}

/** @param {ToolPart} part @returns {string} the argument that says most */
function summary({ input, draft }) {
  if (input === null) return draft.slice(-120);
  if (typeof input !== "object") return String(input);
  const args = Array.isArray(input.args) ? [input.command, ...input.args].join(" ") : null;
  const telling = args ?? input.command ?? input.path ?? input.file_path ?? input.pattern ?? input.url;
  return typeof telling === "string" ? telling : JSON.stringify(input).slice(0, 160);
}

/** @param {ToolPart} part */
function inputText({ input, draft }) {
  return input === null ? draft : JSON.stringify(input, null, 2);
}

/** @param {any} result */
function resultText(result) {
  if (typeof result === "string") return result;
  if (result && typeof result === "object") {
    if (typeof result.text === "string") return result.text;
    if (Array.isArray(result.content))
      return result.content.map((/** @type {any} */ block) => block.text ?? `[${block.type}]`).join("\n");
    const streams = [result.stdout, result.stderr].filter((text) => typeof text === "string" && text);
    if (streams.length) return streams.join("\n");
    const told = [result.diff, result.content, result.error].find((text) => typeof text === "string" && text);
    if (told) return told;
  }
  return result === null || result === undefined ? "" : JSON.stringify(result, null, 2);
}
