// What a turn changed in files: one line, which opens the diff, and puts it back.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { counted } from "../words.js";
import { body } from "./bodies.js";
import { note } from "./controls.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").Changes} Changes */

/** @param {App} app @param {Changes} changes */
export function turnChanges(app, changes) {
  const unknown = changes.unknown ? html`<p class="small muted">${shown(sentence(changes.unknown))}</p>` : nothing;
  return [changes.files ? line(app, changes) : nothing, unknown];
}

/** @param {App} app @param {Changes} changes */
function line(app, changes) {
  const key = `changes.${changes.turn}`;
  const isOpen = app.isUnfolded(key);
  const toggle = () => {
    if (!isOpen && !changes.diff) app.chat.loadDiff(changes);
    app.setUnfolded(key, !isOpen);
  };
  const undo = (/** @type {boolean} */ partial) => () => app.chat.undo(changes, partial);
  const { problem } = changes;
  return html`<div class="turn-changes" data-changes=${changes.turn ?? ""}>
    <p class="row">
      <button class="button quiet small" type="button" data-diff aria-expanded=${isOpen} @click=${toggle}>
        ${icon("file")}Changed ${counted(changes.files, "file")}
      </button>
      ${
        changes.undone
          ? html`<span class="small muted">Undone</span>`
          : html`<button class="button quiet small" type="button" data-undo @click=${undo(false)}>Undo</button>`
      }
    </p>
    ${problem ? note("amber", shown(problem.text)) : nothing}
    ${
      problem?.isPartial
        ? html`<button class="button small" type="button" data-undo-rest @click=${undo(true)}>
            Restore the other files
          </button>`
        : nothing
    }
    ${isOpen && changes.diff ? body(app, { type: "patch", files: changes.diff }, key, app.chat.store.folder) : nothing}
  </div>`;
}

/** @param {string} words */
function sentence(words) {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
