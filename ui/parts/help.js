// The cheat sheet of the keyboard.

import { html } from "../vendor/lit-html/lit-html.js";
import { KEYS } from "../keys.js";
import { icon } from "./icons.js";

/** @param {import("../app.js").App} app */
export function helpDialog(app) {
  app.openDialog(
    "Keyboard",
    () =>
      html`<div class="dialog-body" tabindex="0">
        <dl class="cheat-sheet">
          ${KEYS.map(
            ([keys, does]) =>
              html`<div>
                <dt>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt>
                <dd>${does}</dd>
              </div>`,
          )}
        </dl>
        <p class="small muted">
          A question that has just appeared takes no answer for 0.7 seconds, so that nothing is answered by
          accident.
        </p>
      </div>`,
  );
}

/** The part of the settings that leads to it. @param {import("../app.js").App} app */
export function keyboardSection(app) {
  return html`<section>
    <h2>Keyboard</h2>
    <p>
      <button class="button" type="button" @click=${() => app.openHelp()}>${icon("keyboard")}Show the shortcuts</button>
    </p>
  </section>`;
}
