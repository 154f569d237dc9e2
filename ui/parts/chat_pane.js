// The list of conversations beside the chat.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { ago } from "../words.js";
import { valueOf } from "./controls.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../chat_session.js").ChatSession} ChatSession */

/** @param {ChatSession} chat @param {string} search @param {(words: string) => void} type */
export function chatPane(chat, search, type) {
  const words = search.toLowerCase();
  // Those with the words in their titles are there at once, and the others when the runtime has looked.
  const named = chat.conversations.filter(({ title }) => (title ?? "").toLowerCase().includes(words));
  const found = (words && chat.found) || named;
  return html`<section class="list-pane" aria-label="Conversations">
    <div class="list-head">
      <a
        class="button quiet chat-back"
        href="#/chat/${encodeURIComponent(chat.conversation)}"
        aria-label="Back to the conversation"
        >${icon("back", "icon-l")}</a
      >
      <h1 class="grow">Chat</h1>
      ${
        chat.store.capabilities.has("conversations")
          ? html`<button class="button small" type="button" data-new @click=${() => chat.createConversation()}>
              ${icon("plus")}New
            </button>`
          : nothing
      }
    </div>
    <label class="search chat-search"
      >${icon("search")}<span class="only-read">Search conversations</span
      ><input
        class="field"
        type="search"
        data-search-chats
        placeholder="Search conversations"
        .value=${search}
        @input=${(/** @type {Event} */ event) => type(valueOf(event))}
    /></label>
    <nav class="list-scroll" aria-label="Conversations">
      ${repeat(
        found,
        ({ conversationId }) => conversationId,
        (one) => row(chat, one),
      )}
      ${
        found.length
          ? nothing
          : html`<p class="small muted end-note">${words ? "No conversations match" : "No conversations yet"}</p>`
      }
    </nav>
  </section>`;
}

/** @param {ChatSession} chat @param {import("../chat_store.js").Conversation} one */
function row(chat, { conversationId, title, updatedAt }) {
  const asks = chat.app.questions.waitsIn(conversationId);
  return html`<a
    class="conversation"
    href="#/chat/${encodeURIComponent(conversationId)}"
    aria-current=${conversationId === chat.conversation ? "true" : "false"}
    >${asks ? html`<span class="dot open" title="Waiting for an answer"></span>` : nothing}<span class="cut"
      >${shown(title || "New conversation")}${asks ? html`<span class="only-read"> waiting for an answer</span>` : nothing}</span
    ><span class="tiny muted">${ago(updatedAt, chat.app.now)}</span></a
  >`;
}
