// Asks for the folder in which the agent of the chat shall work.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { note, valueOf } from "./controls.js";
import { icon, openGate } from "./icons.js";
import { reason, shown } from "./text.js";

/**
 * @typedef {object} FolderState
 * @property {string} typed
 * @property {string} problem why the runtime could not be started before
 * @property {string[]} projects the folders in which agents have worked
 * @property {(folder: string) => void} type
 * @property {(folder: string) => void} start
 * @property {(() => void) | null} choose opens a dialog of the system, where there is one
 */

/** @param {FolderState} state */
export function folderChoice({ typed, problem, projects, type, start, choose }) {
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = document.querySelector("[data-folder]");
    const folder = /** @type {HTMLInputElement} */ (field).value.trim();
    if (folder) start(folder);
  };
  return html`<div class="empty">
    ${openGate()}
    <h1>Where should the agent work?</h1>
    <p>
      callgate starts its own agent in this folder. Before it changes anything, it asks here, and your rules
      apply.
    </p>
    ${problem ? note("red", reason(problem)) : nothing}
    <form class="row choose-folder" @submit=${submit}>
      <label class="grow"
        ><span class="only-read">Folder</span
        ><input
          class="field mono"
          data-folder
          list="chat-projects"
          placeholder="/home/ada/engine"
          autocomplete="off"
          spellcheck="false"
          .value=${typed}
          @input=${(/** @type {Event} */ event) => type(valueOf(event))}
      /></label>
      ${
        choose
          ? html`<button class="button" type="button" data-choose-folder @click=${choose}>Choose…</button>`
          : nothing
      }
      <datalist id="chat-projects">${projects.map((path) => html`<option value=${path}></option>`)}</datalist>
      <button class="button primary" type="submit" data-start>Start</button>
    </form>
    ${projects.map(
      (path) =>
        html`<button class="button quiet small" type="button" @click=${() => start(path)}>
          ${icon("file")}${shown(path)}
        </button>`,
    )}
  </div>`;
}
