// What the inbox shows while no question is open.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";
import { icon, openGate } from "./icons.js";

/** @typedef {import("../app.js").App} App */

/** @param {App} app */
export function emptyInbox(app) {
  return html`<div class="empty">
    ${openGate()}
    <h1>${app.loader.isLoaded ? "Nothing is waiting for you" : "Loading questions…"}</h1>
    ${
      app.loader.isLoaded
        ? html` <p>
              When an agent wants to do something that no rule decides, it appears here, on your phone, and in
              the terminal. Whoever answers first decides.
            </p>
            ${app.team ? nothing : firstSteps(app)}
            ${app.notices.askBell()}`
        : nothing
    }
  </div>`;
}

/** What somebody can try who sees the inbox for the first time. @param {App} app */
function firstSteps(app) {
  return html`<div class="row wrap">
      <button class="button primary" type="button" data-try @click=${() => tryOne(app)}>
        ${icon("chat")}Ask me something
      </button>
      <a class="button" href="#/sessions">See what is running</a>
    </div>
    <p class="small muted">
      “Ask me something” asks a harmless question, so you can see how it works. Nothing runs.
    </p>`;
}

/** Puts a harmless question. @param {App} app */
async function tryOne(app) {
  await app.attempt(async () => {
    const told = await ask(app.transport, "try", {});
    if (!told.done) app.toast(told.text);
  });
}
