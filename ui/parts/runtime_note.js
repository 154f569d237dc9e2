// Says below a conversation what is wrong with the runtime, and offers what can be done about it.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { duration } from "../words.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../chat_session.js").ChatSession} ChatSession */

/** The states of the runtime's process, in words. */
export const STATES = /** @type {Record<string, string>} */ ({
  starting: "The runtime is starting…",
  ready: "Ready",
  died: "The runtime has stopped.",
  restarting: "The runtime stopped and is restarting.",
  given_up: "The runtime stopped too often and will not restart automatically.",
  ended: "The runtime was closed.",
});

/** @param {ChatSession} chat */
export function runtimeNote(chat) {
  const { state, stateText } = chat.store;
  if (["died", "restarting", "given_up"].includes(state)) {
    const picture = state === "restarting" ? html`<span class="spinner"></span>` : icon("warning");
    return html`<div class="note red runtime-note" role="alert" data-runtime=${state}>
      ${picture}
      <div class="grow">
        ${STATES[state]}
        ${stateText ? html`<pre class="last-words">${shown(stateText)}</pre>` : nothing}
      </div>
      ${restartButton(chat)}
    </div>`;
  }
  if (chat.isSummarising)
    return html`<div class="note runtime-note" role="status" data-summarising>
      <span class="spinner"></span><span>The model summarises the conversation…</span>
    </div>`;
  const turn = chat.store.working(chat.conversation);
  const silence = chat.store.silence(chat.conversation, chat.app.now);
  if (!turn || !silence) return nothing;
  return html`<div class="note amber runtime-note" role="status" data-silent>
    ${icon("clock")}
    <div class="grow">The runtime has not answered for ${duration(silence)}.</div>
    ${
      chat.store.capabilities.has("cancel")
        ? html`<button class="button small" type="button" data-cancel-silent @click=${() => chat.cancel(turn.id)}>
            Cancel the request
          </button>`
        : restartButton(chat)
    }
  </div>`;
}

/** @param {ChatSession} chat */
function restartButton(chat) {
  return html`<button class="button small" type="button" data-restart @click=${() => chat.restart()}>
    Restart now
  </button>`;
}
