// The chat: conversations with an agent runtime in a folder that the user chose.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { ask } from "../transport.js";
import { ChatLink } from "../chat_link.js";
import { ChatStore } from "../chat_store.js";
import { keep, kept } from "../kept.js";
import { isOpen } from "../store.js";
import { ago, folderName } from "../words.js";
import { chatTurn } from "../parts/chat_turn.js";
import { Composer } from "../parts/composer.js";
import { choiceOf, note, valueOf } from "../parts/controls.js";
import { folderChoice } from "../parts/folder_choice.js";
import { icon, openGate } from "../parts/icons.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").Conversation} Conversation */
/** @typedef {{name: string, isAvailable: boolean, reason?: string, models: {id: string, title?: string}[]}} EngineChoice */

const FOLDER = "callgate.chat-folder";
/** So many turns are drawn at first. */
const MOST_TURNS = 30;
const MODES = /** @type {[string, string][]} */ ([
  ["ask", "Ask"],
  ["plan", "Plan"],
  ["auto", "Auto"],
]);

export class ChatView {
  store = new ChatStore();
  #link;
  #composer;
  /** @type {"unknown" | "none" | "open"} whether there is a runtime */
  #runtime = /** @type {"unknown" | "none" | "open"} */ ("unknown");
  #conversations = /** @type {Conversation[]} */ ([]);
  #conversation = "";
  #search = "";
  #status = /** @type {any} */ (null);
  #engines = /** @type {EngineChoice[]} */ ([]);
  #projects = /** @type {string[]} */ ([]);
  #typedFolder = kept(FOLDER) ?? "";
  #isAtEnd = true;
  #shownTurns = MOST_TURNS;
  #isDragging = false;
  #showsList = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#composer = new Composer(app, () => this.#say());
    this.#link = new ChatLink(app.transport, this.store, (event) => this.#changed(event));
  }

  /** @param {import("../router.js").Route} route */
  enter(route) {
    if (route.item && route.item !== this.#conversation && this.#runtime === "open") this.#open(route.item);
    if (this.#runtime !== "open") this.#begin(kept(FOLDER));
  }

  /** Joins the runtime, or starts it in the folder that was chosen before. @param {string | null} folder */
  #begin(folder) {
    return this.app.attempt(async () => {
      if (folder) {
        await this.#link.start(folder);
        keep(FOLDER, folder);
      }
      this.#link.watch();
    }).then(() => this.app.update());
  }

  /** @param {"session" | "ready" | "missed" | "other" | "gone"} event */
  #changed(event) {
    if (event === "gone") {
      this.#runtime = "none";
      this.#loadProjects();
    } else if (event === "session") this.#runtime = "open";
    if (event === "ready" || event === "missed" || (event === "session" && this.store.state === "ready"))
      this.#load();
    const ended = this.store.ended.splice(0);
    // An answer of which something was missed is only whole in the history.
    if (ended.some((turn) => turn.hasGap && turn.conversation === this.#conversation))
      this.#open(this.#conversation);
    if (ended.length) this.app.attempt(() => this.#list());
    this.app.update();
  }

  async #loadProjects() {
    await this.app.attempt(async () => {
      const { sessions } = await ask(this.app.transport, "sessions", { since_ms: 0 });
      this.#projects = [...new Set(sessions.map(({ project }) => project))].filter(Boolean).slice(0, 6);
    });
  }

  async #load() {
    await this.app.attempt(async () => {
      this.#status = await this.#link.ask("get_status");
      const wanted = this.app.route.view === "chat" ? this.app.route.item : null;
      await this.#open(wanted ?? (this.#conversation || this.#status.conversationId || ""));
      await this.#list();
      if (!this.store.capabilities.has("list_models")) return;
      const models = await this.#link.ask("list_models");
      this.#engines = models.engines;
    });
  }

  async #list() {
    this.#conversations = (await this.#link.ask("list_conversations", { limit: 100 })).conversations;
    this.app.update();
  }

  /** @param {string} conversation */
  async #open(conversation) {
    this.#conversation = conversation;
    this.#showsList = false;
    this.#isAtEnd = true;
    this.#shownTurns = MOST_TURNS;
    if (!conversation) return;
    try {
      await this.#link.ask("load_conversation", { conversationId: conversation, as: "events", limit: 400 });
      this.#status = await this.#link.ask("get_status");
    } catch {
      // A conversation in which nothing was said yet cannot be loaded.
      this.store.loaded = null;
    }
    this.app.update();
  }

  async #begins() {
    await this.app.attempt(async () => {
      const { conversationId } = await this.#link.ask("new_conversation");
      this.app.go({ view: "chat", item: conversationId });
      this.#conversation = conversationId;
      this.store.loaded = null;
      document.getElementById("chat-words")?.focus();
    });
  }

  async #say() {
    const { text, files, isEditing } = this.#composer;
    const attachments = files.map(({ data, mime, name }) => ({ data, mime, name }));
    const isWorking = this.store.working(this.#conversation) !== null;
    const steer = isWorking && this.store.capabilities.has("steer") ? { steer: true } : {};
    this.#isAtEnd = true;
    await this.app.attempt(async () => {
      await this.#link.send(isEditing ? "edit_last" : "user_message", {
        message: text,
        ...(attachments.length ? { attachments } : {}),
        metadata: { conversationId: this.#conversation },
        ...steer,
      });
      this.#composer.clear();
    });
  }

  #regenerate() {
    const metadata = { conversationId: this.#conversation };
    this.app.attempt(async () => {
      await this.#link.send("regenerate", { metadata });
    });
  }

  #stop() {
    const turn = this.store.working(this.#conversation);
    if (turn) this.app.attempt(async () => void (await this.#link.send("cancel", { target: turn.id })));
  }

  /** Keeps the end in view while an answer grows, unless somebody reads further up. */
  rendered() {
    const box = document.getElementById("chat-scroll");
    if (box && this.#isAtEnd) box.scrollTop = box.scrollHeight;
    const field = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("chat-words"));
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 220)}px`;
  }

  render() {
    if (this.#runtime === "none") return this.#choose();
    if (this.#runtime === "unknown")
      return html`<div class="empty"><span class="spinner"></span><p>Looking for the runtime…</p></div>`;
    const drag = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.#isDragging = event.type === "dragover";
      if (event.type === "drop") this.#composer.add([...(event.dataTransfer?.files ?? [])]);
      this.app.update();
    };
    const working = this.store.working(this.#conversation);
    return html`<div
      class="chat ${this.#showsList ? "shows-list" : ""} ${this.#isDragging ? "is-dragging" : ""}"
      @dragover=${drag}
      @dragleave=${drag}
      @drop=${drag}
    >
      ${this.#pane()}
      <section class="chat-pane" aria-label="Conversation">
        ${this.#head()} ${this.#turns()} ${this.#question()}
        ${this.#composer.render({
          isWorking: working !== null,
          isReady: this.store.state === "ready",
          stop: () => this.#stop(),
        })}
      </section>
    </div>`;
  }

  #choose() {
    return folderChoice({
      typed: this.#typedFolder,
      projects: this.#projects,
      type: (folder) => {
        this.#typedFolder = folder;
      },
      start: (folder) => this.#begin(folder),
    });
  }

  /** The list of conversations. */
  #pane() {
    const words = this.#search.toLowerCase();
    const found = this.#conversations.filter(({ title }) => (title ?? "").toLowerCase().includes(words));
    return html`<section class="list-pane" aria-label="Conversations">
      <div class="list-head">
        <h1 class="grow">Chat</h1>
        <button class="button small" type="button" data-new @click=${() => this.#begins()}>${icon("plus")}New</button>
      </div>
      <label class="search chat-search"
        >${icon("search")}<span class="only-read">Search conversations</span
        ><input
          class="field"
          type="search"
          data-search-chats
          placeholder="Search conversations"
          .value=${this.#search}
          @input=${(/** @type {Event} */ event) => {
            this.#search = valueOf(event);
            this.app.update();
          }}
      /></label>
      <nav class="list-scroll" aria-label="Conversations">
        ${repeat(
          found,
          ({ conversationId }) => conversationId,
          (one) =>
            html`<a
              class="conversation"
              href="#/chat/${encodeURIComponent(one.conversationId)}"
              aria-current=${one.conversationId === this.#conversation ? "true" : "false"}
              ><span class="cut">${shown(one.title || "New conversation")}</span
              ><span class="tiny muted">${ago(one.updatedAt, this.app.now)}</span></a
            >`,
        )}
        ${found.length ? nothing : html`<p class="small muted end-note">No conversation yet</p>`}
      </nav>
    </section>`;
  }

  #head() {
    const one = this.#conversations.find(({ conversationId }) => conversationId === this.#conversation);
    const change = () => {
      this.#runtime = "none";
      this.#loadProjects();
      this.app.update();
    };
    return html`<header class="card-head">
      <button
        class="button quiet chat-back"
        type="button"
        aria-label="Conversations"
        @click=${() => {
          this.#showsList = !this.#showsList;
          this.app.update();
        }}
      >
        ${icon("chat", "icon-l")}
      </button>
      <div class="grow">
        <div class="who cut"><strong>${shown(one?.title || "New conversation")}</strong></div>
        <button class="tiny muted cut folder" type="button" title="Work in another folder" @click=${change}>
          ${shown(folderName(this.store.folder))} · ${this.store.folder}
        </button>
      </div>
      ${this.#meter()} ${this.#engine()}
    </header>`;
  }

  #meter() {
    const { input, output, cost, context, window } = this.store.meter(this.#conversation);
    const share = window ? Math.min(1, context / window) : 0;
    const thousands = (/** @type {number} */ count) =>
      count < 1_000 ? String(count) : `${(count / 1_000).toFixed(1)}k`;
    if (!input && !output && !context) return nothing;
    const title = `${input.toLocaleString()} tokens read, ${output.toLocaleString()} written`;
    return html`<span class="chip num chat-meter" data-meter title=${title}>
      ${window ? html`<meter max="1" value=${share} aria-label="Context used"></meter>` : nothing}
      ${thousands(input)} in · ${thousands(output)} out${cost === null ? "" : ` · $${cost.toFixed(cost < 0.1 ? 4 : 2)}`}
    </span>`;
  }

  #engine() {
    const { engine, model, mode } = this.#status ?? {};
    const choose = (/** @type {Event} */ event) => {
      const [name, id] = JSON.parse(valueOf(event));
      const fields = { conversationId: this.#conversation, engine: name, ...(id ? { model: id } : {}) };
      this.app.attempt(async () => {
        await this.#link.ask("set_engine", fields);
        Object.assign(this.#status, { engine: name, model: id ?? this.#status.model });
      });
    };
    const setMode = (/** @type {string} */ chosen) =>
      this.app.attempt(async () => {
        await this.#link.ask("set_mode", { conversationId: this.#conversation, mode: chosen });
        this.#status.mode = chosen;
      });
    const modes = this.store.capabilities.has("modes") && mode ? choiceOf("Mode", MODES, mode, setMode) : nothing;
    const usable = this.#engines.filter(({ isAvailable }) => isAvailable);
    if (!usable.length) return html`${modes}<span class="chip" data-engine>${model ?? engine ?? ""}</span>`;
    const options = usable.flatMap(({ name, models }) =>
      (models.length ? models : [{ id: null, title: name }]).map((one) => ({
        value: JSON.stringify([name, one.id]),
        title: one.title ?? one.id,
        isSet: name === engine && (one.id === model || one.id === null || models.length === 0),
      })),
    );
    return html`${modes}<select class="field engine" aria-label="Model" data-engine @change=${choose}>
        ${options.some(({ isSet }) => isSet) ? nothing : html`<option selected>${model ?? engine}</option>`}
        ${options.map(({ value, title, isSet }) => html`<option value=${value} ?selected=${isSet}>${title}</option>`)}
      </select>`;
  }

  #turns() {
    const all = this.store.turns(this.#conversation);
    const turns = all.slice(-this.#shownTurns);
    const { state, stateText } = this.store;
    const last = turns.at(-1);
    const scrolled = (/** @type {Event} */ event) => {
      const box = /** @type {HTMLElement} */ (event.target);
      this.#isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
    };
    const more = () => {
      this.#shownTurns += MOST_TURNS;
      this.#isAtEnd = false;
      this.app.update();
    };
    const again = {
      edit: () => this.#composer.edit(last?.text ?? ""),
      regenerate: () => this.#regenerate(),
    };
    const canEdit = this.store.capabilities.has("edit");
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
        ${["died", "given_up", "restarting"].includes(state) ? note("red", `The runtime has ended. ${stateText}`) : nothing}
      </div>
    </div>`;
  }

  #welcome() {
    const { engine, engineReason } = this.#status ?? {};
    return html`<div class="empty">
      ${openGate()}
      <h2>Say what should be done</h2>
      <p>
        The agent works in <code>${shown(this.store.folder)}</code>. Drop files here, paste pictures, and watch
        what it does.
      </p>
      ${engine ? html`<p class="small muted">The engine ${engine} answers ${engineReason ?? ""}.</p>` : nothing}
    </div>`;
  }

  /** The first open question of this conversation, answered as in the inbox. */
  #question() {
    const question = this.app.store
      .inOrder()
      .find((one) => one.row.session === this.#conversation && isOpen(one));
    return question && this.#conversation
      ? html`<div class="chat-question">${this.app.views.inbox.inline(question)}</div>`
      : nothing;
  }
}
