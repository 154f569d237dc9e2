// One turn of a conversation: what the user said, and what the model answered and did.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { INTERRUPTED, STOPS, answerText } from "../conversation_file.js";
import { GrowingMarkdown } from "./markdown.js";
import { note } from "./controls.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";
import { toolCard } from "./tool_card.js";
import { turnChanges } from "./turn_changes.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").Turn} Turn */
/** @typedef {import("../chat_store.js").Part} Part */

/** The drawn text of each part. @type {WeakMap<Part, GrowingMarkdown>} */
const drawn = new WeakMap();

/**
 * @param {App} app @param {Turn} turn
 * @param {{edit: () => void, regenerate: () => void} | null} again for the last turn
 */
export function chatTurn(app, turn, again) {
  const isWaiting = !turn.isOver && turn.parts.length === 0;
  const stop = STOPS[turn.stopReason];
  const isBroken = turn.isUnfinished || Boolean(turn.error);
  const answer = turn.isOver ? answerText(turn) : "";
  return html`<article class="turn" data-turn=${turn.id} data-over=${turn.isOver ? "true" : "false"}>
    ${turn.text || turn.files.length ? userMessage(turn, again) : nothing}
    <div class="answer">
      ${turn.parts.map((part, at) => drawPart(app, turn, part, at))}
      ${isWaiting && !turn.working ? html`<p class="muted row"><span class="spinner"></span>Thinking…</p>` : nothing}
      ${
        turn.working && !turn.isOver
          ? html`<p class="small muted row" data-working>${icon("clock")}${shown(turn.working)}</p>`
          : nothing
      }
      ${turn.error ? note("red", shown(turn.error)) : nothing}
      ${turn.isUnfinished && !turn.error ? note("amber", INTERRUPTED) : nothing}
      ${stop ? html`<p class="small muted">${stop}</p>` : nothing}
      ${turn.changes.map((changes) => turnChanges(app, changes))}
      ${
        turn.isOver
          ? html`<div class="row turn-foot">
              ${answer ? copyButton(app, answer) : nothing}
              ${
                again
                  ? html`<button class="button quiet small" type="button" data-regenerate @click=${again.regenerate}>
                      ${icon("again")}${isBroken ? "Retry" : "Answer again"}
                    </button>`
                  : nothing
              }
            </div>`
          : nothing
      }
    </div>
  </article>`;
}

/** @param {App} app @param {string} text */
function copyButton(app, text) {
  const copy = () =>
    app.attempt(async () => {
      await navigator.clipboard.writeText(text);
      app.toast("Copied.");
    });
  return html`<button class="button quiet small" type="button" data-copy-answer @click=${copy}>
    ${icon("copy")}Copy
  </button>`;
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
            title="Edit and send again"
            aria-label="Edit this message and send it again"
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
  // Only the last part can still grow.
  const isLast = at === turn.parts.length - 1;
  switch (part.type) {
    case "text": {
      const growing = drawn.get(part) ?? new GrowingMarkdown();
      drawn.set(part, growing);
      const node = growing.show(part.text, turn.isOver || !isLast);
      if (growing.isBehind) app.frames.requestGrown();
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
      return toolCard(app, turn, part);
  }
}
