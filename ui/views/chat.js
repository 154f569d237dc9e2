// The chat: conversations with an agent runtime in a folder that the user chose.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { chatHead } from "../parts/chat_head.js";
import { chatPane } from "../parts/chat_pane.js";
import { chatTurn } from "../parts/chat_turn.js";
import { Composer } from "../parts/composer.js";
import { folderChoice } from "../parts/folder_choice.js";
import { icon, openGate } from "../parts/icons.js";
import { runtimeNote } from "../parts/runtime_note.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */

/** So many turns are drawn at first. */
const MOST_TURNS = 30;

export class ChatView {
  #chat;
  #composer;
  #search = "";
  #typedFolder = /** @type {string | null} */ (null);
  #isAtEnd = true;
  /** How far the messages were scrolled last. */
  #top = 0;
  /** Called after the browser has laid out messages that grew, so that it need not do so twice. */
  #grown = new ResizeObserver(() => this.#follow());
  /** @type {Element | null} */
  #observed = null;
  #shownTurns = MOST_TURNS;
  #isDragging = false;
  #showsList = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#chat = app.chat;
    this.#composer = new Composer(app, () => this.#say());
    this.#chat.opened = () => {
      this.#showsList = false;
      this.#isAtEnd = true;
      this.#shownTurns = MOST_TURNS;
    };
  }

  /** @param {import("../router.js").Route} route */
  enter(route) {
    const chat = this.#chat;
    if (chat.runtime !== "open") chat.begin(chat.folder);
    else if (route.item && route.item !== chat.conversation) chat.open(route.item);
  }

  #say() {
    this.#isAtEnd = true;
    this.#follow();
    this.#chat.say(this.#composer, () => this.#composer.clear());
  }

  /** @param {string} key @returns {boolean} whether the key means something here */
  key(key) {
    const { reply } = this.app.questions;
    if (key !== "Escape" || !(reply || this.#showsList || this.#composer.isEditing)) return false;
    if (reply) this.app.questions.closeReply();
    else if (this.#composer.isEditing) this.#composer.clear();
    this.#showsList = false;
    this.app.update();
    return true;
  }

  rendered() {
    this.#composer.fit();
    const box = document.getElementById("chat-scroll");
    if (box === this.#observed) return;
    this.#observed = box;
    this.#grown.disconnect();
    for (const part of [box, box?.firstElementChild]) if (part) this.#grown.observe(part);
  }

  /** Keeps the end in view while an answer grows, unless somebody reads further up. */
  #follow() {
    const box = document.getElementById("chat-scroll");
    if (box && this.#isAtEnd) box.scrollTop = box.scrollHeight;
  }

  #jump() {
    this.#isAtEnd = true;
    this.#follow();
    this.app.update();
  }

  /** @param {Event} event */
  #scrolled(event) {
    const box = /** @type {HTMLElement} */ (event.target);
    // What grows moves the end away. Only somebody who scrolls up wants to stay there.
    const wasAtEnd = this.#isAtEnd;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 60) this.#isAtEnd = true;
    else if (box.scrollTop < this.#top) this.#isAtEnd = false;
    this.#top = box.scrollTop;
    if (wasAtEnd !== this.#isAtEnd) this.app.update();
  }

  render() {
    const chat = this.#chat;
    const { app } = this;
    if (chat.runtime === "none") return this.#choose();
    if (chat.runtime === "unknown")
      return html`<div class="empty"><span class="spinner"></span><p>Looking for the runtime…</p></div>`;
    const drag = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.#isDragging = event.type === "dragover";
      if (event.type === "drop") this.#composer.add([...(event.dataTransfer?.files ?? [])]);
      app.update();
    };
    const search = (/** @type {string} */ words) => {
      this.#search = words;
      app.update();
    };
    const toggleList = () => {
      this.#showsList = !this.#showsList;
      app.update();
    };
    return html`<div
      class="chat ${this.#showsList ? "shows-list" : ""} ${this.#isDragging ? "is-dragging" : ""}"
      @dragover=${drag}
      @dragleave=${drag}
      @drop=${drag}
    >
      ${chatPane(chat, this.#search, search)}
      <section class="chat-pane" aria-label="Conversation">
        ${chatHead(chat, toggleList)} ${this.#turns()} ${this.#question()} ${runtimeNote(chat)}
        ${this.#composer.render({
          canStop: chat.store.capabilities.has("cancel") && chat.store.working(chat.conversation) !== null,
          state: chat.store.state,
          stop: () => chat.stop(),
        })}
      </section>
    </div>`;
  }

  #choose() {
    const chat = this.#chat;
    const { desktop } = this.app;
    const choose = async () => {
      const chosen = await desktop?.chooseFolder(this.#typedFolder ?? chat.folder ?? "");
      if (chosen) this.#typedFolder = chosen;
    };
    return folderChoice({
      typed: this.#typedFolder ?? chat.folder ?? "",
      problem: chat.folderProblem,
      projects: chat.projects,
      type: (folder) => {
        this.#typedFolder = folder;
      },
      start: (folder) => chat.begin(folder),
      choose: desktop && (() => this.app.attempt(choose)),
    });
  }

  #turns() {
    const chat = this.#chat;
    const all = chat.store.turns(chat.conversation);
    const turns = all.slice(-this.#shownTurns);
    const last = turns.at(-1);
    const scrolled = (/** @type {Event} */ event) => this.#scrolled(event);
    const more = () => {
      this.#shownTurns += MOST_TURNS;
      this.#isAtEnd = false;
      this.app.update();
    };
    const again = {
      edit: () => this.#composer.edit(last?.text ?? ""),
      regenerate: () => chat.regenerate(),
    };
    const canEdit = chat.store.capabilities.has("edit");
    return html`<div class="chat-scroll" id="chat-scroll" tabindex="-1" @scroll=${scrolled}>
      <div class="chat-inner" role="log" aria-label="Messages" aria-live="polite">
        ${
          turns.length < all.length
            ? html`<button class="button quiet small" type="button" @click=${more}>Show earlier messages</button>`
            : nothing
        }
        ${repeat(
          turns,
          ({ id }) => id,
          (turn) => chatTurn(this.app, turn, canEdit && turn === last ? again : null),
        )}
        ${turns.length ? nothing : this.#welcome()}
      </div>
      ${
        this.#isAtEnd
          ? nothing
          : html`<button class="button small to-latest" type="button" data-latest @click=${() => this.#jump()}>
              ${icon("down")}Jump to latest
            </button>`
      }
    </div>`;
  }

  #welcome() {
    const { engine, engineReason } = this.#chat.status ?? {};
    return html`<div class="empty">
      ${openGate()}
      <h2>Say what should be done</h2>
      <p>
        The agent works in <code>${shown(this.#chat.store.folder)}</code>. Drop files here, paste pictures, and
        watch what it does.
      </p>
      ${engine ? html`<p class="small muted">The engine ${engine} answers ${engineReason ?? ""}.</p>` : nothing}
    </div>`;
  }

  /** The first open question of this conversation, answered as in the inbox. */
  #question() {
    const found = this.app.questions.shownIn(this.#chat.conversation);
    if (!found) return nothing;
    const { place, question } = found;
    return html`<div class="chat-question">${place.inline(question)}</div>`;
  }
}
