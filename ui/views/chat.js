// The chat: conversations with an agent runtime in a folder that the user chose.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { chatHead, confirmClear } from "../parts/chat_head.js";
import { chatPane } from "../parts/chat_pane.js";
import { chatTurn } from "../parts/chat_turn.js";
import { Composer } from "../parts/composer.js";
import { folderChoice } from "../parts/folder_choice.js";
import { icon, openGate } from "../parts/icons.js";
import { PressGuard } from "../press_guard.js";
import { TOO_SOON } from "../answering.js";
import { questionForm } from "../parts/question_form.js";
import { runtimeNote } from "../parts/runtime_note.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */

/** So many turns are drawn at first. */
const MOST_TURNS = 30;
/** So long after turns were added above others, these stay in their place. */
const STAY_MS = 1_000;
/** What a message begins with. */
const BEGINS = /^[\p{L}\p{N}/]$/u;
/** A device without a mouse covers half of the page with its keyboard once a field has the focus. */
const TOUCHED = matchMedia("(pointer: coarse)");

/** What can be typed in place of a message. */
const COMMANDS = /** @type {Record<string, (chat: import("../chat_session.js").ChatSession) => void>} */ ({
  "/clear": (chat) => confirmClear(chat),
  "/compact": (chat) => void chat.summarise(),
  "/new": (chat) => void chat.createConversation(),
});

export class ChatView {
  #chat;
  #composer;
  #search = "";
  #typedFolder = /** @type {string | null} */ (null);
  #isAtEnd = true;
  /** How far the messages were scrolled last. */
  #top = 0;
  /** Called after the browser has laid out messages that grew, so that it need not do so twice. */
  #grown = new ResizeObserver(() => {
    this.#follow();
    this.#stay();
  });
  /** The turn whose end stays in its place while others are added above it. @type {{turn: Element, bottom: number, top: number} | null} */
  #fixed = null;
  /** @type {Element | null} */
  #observed = null;
  #shownTurns = MOST_TURNS;
  #isDragging = false;
  /** Whether the composer gets the focus at the next drawing. */
  #wantsFocus = false;
  /** Whether the choice of a folder was shown before the drawing. */
  #wasChoosing = false;
  /** Whether the card of a question had the focus before the drawing. */
  #wasCardFocused = false;
  /** Why an answer to a question was refused. */
  #refused = { question: "", why: "" };
  /** Since when a form has been shown. */
  #formGuard = new PressGuard();

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#chat = app.chat;
    this.#composer = new Composer(
      app,
      () => this.#say(),
      () => this.#card?.focus(),
    );
    this.#chat.opened = () => {
      this.#isAtEnd = true;
      this.#shownTurns = MOST_TURNS;
    };
    this.#chat.changed = () => this.#composer.sendWaiting(this.#chat.store.state);
    window.addEventListener("focus", () => {
      if (app.view === this && document.activeElement === document.body) this.focus();
    });
  }

  /** Lets the composer have the focus, now or once it is drawn. */
  focus() {
    this.#wantsFocus = !TOUCHED.matches;
    this.app.update();
  }

  /** Shows the composer, wherever the page is, and lets it have the focus. */
  begin() {
    if (this.app.view !== this) this.app.go({ view: "chat" });
    else if (this.#showsList) this.#turnList();
    this.focus();
  }

  /** Shows whether files are held over the chat. @param {boolean} isOver */
  drag(isOver) {
    this.#isDragging = isOver && this.app.view === this;
    this.app.update();
  }

  /** Attaches what the shell has read. @param {import("../types/tauri.js").AttachedFiles} attached */
  attach({ files, problem }) {
    // Whoever drops files elsewhere wants to see where they are.
    this.begin();
    for (const file of files) this.#composer.attach(file);
    if (problem) this.app.toast(problem);
  }

  /** Attaches what was pasted, unless it was for another field. @param {import("../types/tauri.js").AttachedFiles} attached */
  paste(attached) {
    if (this.app.view !== this) return;
    const field = document.activeElement?.closest("input, textarea, select");
    if (!field || field.id === "chat-words") this.attach(attached);
  }

  /** The card of the question that is shown. @returns {HTMLElement | null} */
  get #card() {
    return document.querySelector(".chat-question");
  }

  get #isCardFocused() {
    return this.#card?.contains(document.activeElement) ?? false;
  }

  get #showsList() {
    return this.app.route.params.list === "1";
  }

  /** @param {import("../router.js").Route} route */
  enter(route) {
    const chat = this.#chat;
    if (!this.#showsList) this.focus();
    if (chat.runtime !== "open") chat.resume();
    else if (route.item && route.item !== chat.conversation) chat.open(route.item);
  }

  #say() {
    const { text, files } = this.#composer.draft;
    const command = COMMANDS[text.trim()];
    if (command && !files.length) {
      this.#composer.clear();
      return command(this.#chat);
    }
    this.#isAtEnd = true;
    this.#follow();
    const message = this.#composer.draft;
    this.#composer.clear();
    this.#send(message);
  }

  /** @param {Composer["draft"]} message */
  async #send(message) {
    if (!(await this.#chat.say(message))) this.#composer.restore(message);
  }

  /** @param {string} key @param {number} at when it was pressed @returns {boolean} whether it means something here */
  key(key, at) {
    if (key === "Escape") return this.#escape();
    const found = this.#isCardFocused && this.app.questions.shownIn(this.#chat.conversation);
    return found ? found.place.answerKey(found.question, key, at) : false;
  }

  #escape() {
    const place = this.app.questions.shownIn(this.#chat.conversation)?.place;
    if (place?.reply) place.closeReply();
    else if (this.#isCardFocused) this.focus();
    else if (this.#showsList) this.#turnList();
    else if (this.#composer.draft.isEditing) this.#composer.clear();
    else return false;
    return true;
  }

  /** Puts the focus into the composer for a key that begins a message. @param {string} key */
  typed(key) {
    return BEGINS.test(key) && !this.#isCardFocused && this.#composer.focus();
  }

  /** Shows the list of conversations where there is no room for it beside the conversation, or leaves it. */
  #turnList() {
    const item = this.#chat.conversation || null;
    if (this.#showsList) this.app.go({ view: "chat", item }, true);
    else this.app.go({ view: "chat", params: { list: "1" } });
  }

  rendered() {
    this.#composer.fit();
    const isChoosing = this.#chat.runtime === "none";
    // A choice of the folder that has just appeared has its field, too.
    if (isChoosing && !this.#wasChoosing) this.#wantsFocus = !TOUCHED.matches;
    this.#wasChoosing = isChoosing;
    // Whoever has answered a question goes on writing.
    const isLost = this.#wasCardFocused && document.activeElement === document.body;
    if ((this.#wantsFocus || isLost) && this.#composer.focus()) this.#wantsFocus = false;
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

  /** Shows more turns above the others, which stay where they are. @param {boolean} isLoaded whether they are here */
  async #showEarlier(isLoaded) {
    this.#isAtEnd = false;
    if (!isLoaded && !(await this.#chat.history.loadEarlier())) return;
    const box = document.getElementById("chat-scroll");
    // It may grow upwards, so its end is what stays.
    const turn = box?.querySelector("[data-turn]");
    const fixed = turn ? { turn, bottom: turn.getBoundingClientRect().bottom, top: 0 } : null;
    this.#fixed = fixed;
    this.#shownTurns += MOST_TURNS;
    this.app.updateNow();
    this.#stay();
    setTimeout(() => {
      if (this.#fixed === fixed) this.#fixed = null;
    }, STAY_MS);
  }

  /** What was added above gets its height only when the browser has drawn it. */
  #stay() {
    const box = document.getElementById("chat-scroll");
    if (!box || !this.#fixed) return;
    box.scrollTop += this.#fixed.turn.getBoundingClientRect().bottom - this.#fixed.bottom;
    this.#fixed.top = box.scrollTop;
  }

  #jump() {
    this.#isAtEnd = true;
    this.#follow();
    this.app.update();
  }

  /** @param {Event} event */
  #scrolled(event) {
    const box = /** @type {HTMLElement} */ (event.target);
    // Somebody scrolls.
    if (this.#fixed && Math.abs(box.scrollTop - this.#fixed.top) > 1) this.#fixed = null;
    // What grows moves the end away. Only somebody who scrolls up wants to stay there.
    const wasAtEnd = this.#isAtEnd;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 60) this.#isAtEnd = true;
    else if (box.scrollTop < this.#top) this.#isAtEnd = false;
    this.#top = box.scrollTop;
    if (wasAtEnd !== this.#isAtEnd) this.app.update();
  }

  render() {
    this.#wasCardFocused = this.#isCardFocused;
    const chat = this.#chat;
    const { app } = this;
    if (chat.runtime === "none") return this.#choose();
    const drag = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.#isDragging = event.type === "dragenter" || event.type === "dragover";
      if (event.type === "drop") this.#composer.add([...(event.dataTransfer?.files ?? [])]);
      app.update();
    };
    const search = (/** @type {string} */ words) => {
      this.#search = words;
      chat.search(words);
    };
    return html`<div
      class="chat ${this.#showsList ? "shows-list" : ""} ${this.#isDragging ? "is-dragging" : ""}"
      @dragenter=${drag}
      @dragover=${drag}
      @dragleave=${drag}
      @drop=${drag}
    >
      ${chatPane(chat, this.#search, search)}
      <section class="chat-pane" aria-label="Conversation">
        ${chatHead(chat, () => this.#turnList())} ${this.#turns()} ${this.#question()} ${runtimeNote(chat)}
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
    const isMore = turns.length < all.length;
    const again = {
      edit: () => this.#composer.edit(last?.text ?? "", last?.files ?? []),
      regenerate: () => chat.regenerate(),
    };
    const canEdit = chat.store.capabilities.has("edit");
    return html`<div class="chat-scroll" id="chat-scroll" tabindex="-1" @scroll=${scrolled}>
      <div class="chat-inner" role="log" aria-label="Messages" aria-live="polite">
        ${
          isMore || chat.history.hasEarlier
            ? html`<button class="button quiet small" type="button" data-earlier @click=${() => this.#showEarlier(isMore)}>
                Show earlier messages
              </button>`
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
      <h2>What should the agent do?</h2>
      <p>
        The agent works in <code>${shown(this.#chat.place)}</code>. Drop files here, paste pictures, and
        watch what it does.
      </p>
      ${engine ? html`<p class="small muted">Answered by the ${engine} engine ${engineReason ?? ""}.</p>` : nothing}
    </div>`;
  }

  /** The first open question of this conversation, answered as in the inbox. */
  #question() {
    const asked = this.app.questions.formIn(this.#chat.conversation);
    if (asked) return this.#form(asked.data);
    const found = this.app.questions.shownIn(this.#chat.conversation);
    if (!found) return nothing;
    const { place, question } = found;
    // Each question has elements of its own, so that no other inherits the focus.
    return html`${repeat(
      [question],
      ({ row }) => row.question,
      () => html`<div class="chat-question" tabindex="-1">${place.inline(question)}</div>`,
    )}`;
  }

  /** A question of the model or of a tool server. @param {import("../chat_store.js").AgentQuestion["data"]} asked */
  #form(asked) {
    const { app } = this;
    const problem = this.#refused.question === asked.question ? this.#refused.why : "";
    const key = `${asked.question} ${app.appearances}`;
    this.#formGuard.show(key, performance.now());
    const settling = this.#formGuard.remaining(key, performance.now());
    // Nothing else draws the buttons anew when they begin to count.
    if (settling > 0) setTimeout(() => app.update(), settling + 5);
    const form = questionForm(asked, { problem, isSettling: settling > 0 }, async (outcome, at, values) => {
      if (this.#formGuard.remaining(key, at) > 0) return app.toast(TOO_SOON);
      const why = await this.#chat.answerQuestion(asked.question, outcome, values);
      this.#refused = { question: asked.question, why };
      app.update();
    });
    return html`${repeat(
      [asked],
      ({ question }) => question,
      () => html`<div class="chat-question" tabindex="-1">${form}</div>`,
    )}`;
  }
}
