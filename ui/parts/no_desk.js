// What a view shows in the desktop shell while no desk runs, or while the window is not linked.

import { html } from "../vendor/lit-html/lit-html.js";
import { openGate } from "./icons.js";

/** @typedef {import("../app.js").App} App */

/** @param {App} app */
export function noDesk(app) {
  const { desktop } = app;
  if (desktop?.hasDesk && !app.isPaired) return app.pair.render();
  const again = () => {
    app.retry();
    app.update();
  };
  return html`<div class="empty" data-no-desk>
    ${openGate()}
    <h1>No desk is running</h1>
    <p>
      The inbox shows what your other agents ask, Claude Code or Codex for example. They ask at the desk, which
      runs as long as <code>callgate up</code> does.
    </p>
    <p>
      To start it, run <code>callgate up</code> in a terminal, or <code>callgate up --service</code> to keep it
      running. This window finds it automatically. The chat works without it, and asks there.
    </p>
    <div class="row wrap">
      <a class="button primary" href="#/chat">Go to the chat</a>
      <button class="button" type="button" @click=${again}>Look again</button>
    </div>
  </div>`;
}
