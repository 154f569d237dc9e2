// Asks once more before something is lost.

import { html } from "../vendor/lit-html/lit-html.js";

/** @typedef {import("../app.js").App} App */

/**
 * @param {App} app @param {string} title @param {string} text what will be lost
 * @param {string} name of the button @param {() => void} act
 */
export function confirmDialog(app, title, text, name, act) {
  const confirm = () => {
    app.closeDialog();
    act();
  };
  app.openDialog(
    title,
    () =>
      html`<div class="dialog-body"><p>${text}</p></div>
        <div class="dialog-foot">
          <button class="button quiet" type="button" @click=${() => app.closeDialog()}>Cancel</button>
          <button class="button danger primary" type="button" data-sure @click=${confirm}>${name}</button>
        </div>`,
  );
}
