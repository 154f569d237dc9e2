// The chat without its looks: the runtime, its conversations, and what the user does with them.

import { ChatHistory } from "./chat_history.js";
import { ChatLink } from "./chat_link.js";
import { ChatStore } from "./chat_store.js";
import { keep, kept } from "./kept.js";
import { RequestError, ask, errorText } from "./transport.js";
import { counted } from "./words.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./chat_store.js").Conversation} Conversation */
/** @typedef {{name: string, isAvailable: boolean, reason?: string, models: {id: string, title?: string}[]}} EngineChoice */
/** @typedef {{conversation: string, text: string, files: {data: string, mime: string, name?: string}[], isEditing: boolean}} Message */

const FOLDER = "callgate.chat-folder";
/** How long a person may take to decide about an undo. */
const DECIDED_WITHIN_MS = 3_600_000;
/** So long after the last letter a search begins. */
const SEARCH_DELAY_MS = 200;
/** How long a model may take to write a summary. */
const SUMMARY_MS = 600_000;

export class ChatSession {
  store = new ChatStore();
  #link;
  /** @type {"unknown" | "none" | "open"} whether there is a runtime */
  runtime = /** @type {"unknown" | "none" | "open"} */ ("unknown");
  conversations = /** @type {Conversation[]} */ ([]);
  /** The conversations in which the words occur, or null while none are searched for. */
  found = /** @type {Conversation[] | null} */ (null);
  #words = "";
  #searching = 0;
  conversation = "";
  /** The folder of the runtime that was joined last. */
  #workedIn = "";
  /** Ends when it is known which conversation the runtime that was joined last has. */
  #loading = Promise.resolve();
  /** The turn for which the conversations were listed before its end. */
  #listedFor = "";
  /** The answer to `get_status`. */
  status = /** @type {any} */ (null);
  engines = /** @type {EngineChoice[]} */ ([]);
  /** The folders in which agents have worked. */
  projects = /** @type {string[]} */ ([]);
  /** Why the runtime could not be started in the folder that was chosen. */
  folderProblem = "";
  /** Whether the model writes a summary of the conversation. */
  isSummarising = false;
  /** Called when another conversation is shown. */
  opened = () => {};
  /** Called when something about the runtime has changed. */
  changed = () => {};

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#link = new ChatLink(app.transport, this.store, (event) => this.#changed(event));
    this.history = new ChatHistory(this, this.#link);
  }

  /** The folder that was chosen before. */
  get folder() {
    return this.app.desktop?.info.folder ?? kept(FOLDER);
  }

  /** The folder in which the agent works or will work, in words. */
  get place() {
    return this.store.folder || this.folder || "your home folder";
  }

  /** Joins the runtime, or starts it: in the last folder, else where one runs, else in the home folder. */
  async resume() {
    const { folder } = this;
    const isStarted = folder && (await this.moveTo(folder));
    if (!isStarted) await this.begin(null);
  }

  /** Goes on in another folder, unless the runtime is at work elsewhere. @param {string} folder */
  async moveTo(folder) {
    const problem = await this.#start(folder);
    if (problem) this.app.toast(`${folder}: ${problem}`);
    return !problem;
  }

  /** Starts the runtime in a folder, or joins it. @param {string | null} folder */
  async begin(folder) {
    this.folderProblem = await this.#start(folder);
    if (this.folderProblem) this.leave();
  }

  /** @param {string | null} folder @returns {Promise<string>} why it could not be started, or nothing */
  async #start(folder) {
    try {
      const { session } = await this.#link.start(folder);
      if (folder) keep(FOLDER, folder);
      if (folder && this.app.desktop) this.app.desktop.info.folder = folder;
      // The one that is being watched already.
      if (session === this.store.session) this.runtime = "open";
    } catch (error) {
      // If nobody answers, somebody may do so later.
      if (!(error instanceof RequestError) || error.status !== 0) return errorText(error);
    }
    this.#link.watch();
    this.app.update();
    return "";
  }

  /** Leaves the runtime, to choose another folder. */
  leave() {
    this.runtime = "none";
    this.#loadProjects();
    this.app.update();
  }

  /** @param {import("./chat_link.js").LinkChange} event */
  #changed(event) {
    if (event === "grown") {
      if (this.#isUnlisted()) this.app.attempt(() => this.#list());
      return this.app.frames.requestGrown();
    }
    if (event === "gone") this.#gone();
    else if (event === "session") this.#entered();
    if (event === "ready" || event === "missed" || (event === "session" && this.store.state === "ready"))
      this.#load();
    const ended = this.store.ended.splice(0);
    // An answer of which something was missed is only whole in the history.
    if (ended.some((turn) => turn.hasGap && turn.conversation === this.conversation))
      this.open(this.conversation);
    const changed = this.store.changed.splice(0);
    const isOld = changed.some(({ kind }) => kind === "rename_conversation" || kind === "delete_conversation");
    // Also for what another window has renamed or deleted.
    if (ended.length || isOld || this.#isUnlisted()) this.app.attempt(() => this.#list());
    for (const change of changed) this.#takeOver(change);
    for (const turn of ended) this.app.notices.answered(turn, this.store.folder);
    this.changed();
    this.app.questionsChanged();
    this.app.update();
  }

  /** Shows what was chosen for this conversation, in whichever window. @param {any} change */
  #takeOver({ kind, conversationId, mode, engine, model }) {
    if (conversationId !== this.conversation || !this.status) return;
    if (kind === "set_mode") this.status.mode = mode;
    if (kind === "set_engine") Object.assign(this.status, { engine, model: model ?? this.status.model });
  }

  /** Whether the first answer of a new conversation has begun, so that the conversation can be listed. */
  #isUnlisted() {
    const turn = this.store.working(this.conversation);
    const isListed = this.conversations.some(({ conversationId }) => conversationId === this.conversation);
    if (isListed || !turn?.parts.length || turn.id === this.#listedFor) return false;
    this.#listedFor = turn.id;
    return true;
  }

  #entered() {
    this.runtime = "open";
    // A runtime in another folder goes on with a conversation of its own.
    if (this.store.folder !== this.#workedIn) this.conversation = "";
    this.#workedIn = this.store.folder;
  }

  /** There is no runtime any more, or not yet. */
  #gone() {
    if (this.runtime === "none") return;
    this.runtime = "unknown";
    this.store.state = "starting";
    if (this.app.isUsable) this.resume();
  }

  async #loadProjects() {
    if (!this.app.isPaired || this.app.connection === "offline") return;
    await this.app.attempt(async () => {
      const { sessions } = await ask(this.app.transport, "sessions", { since_ms: 0 });
      this.projects = [...new Set(sessions.map(({ project }) => project))].filter(Boolean).slice(0, 6);
    });
  }

  #load() {
    this.#loading = this.app.attempt(async () => {
      await this.loadStatus();
      const wanted = this.app.route.view === "chat" ? this.app.route.item : null;
      await this.open(wanted ?? (this.conversation || this.status.conversationId || ""));
      await this.#list();
      if (!this.store.capabilities.has("list_models")) return;
      this.engines = (await this.#link.ask("list_models")).engines;
    });
  }

  async loadStatus() {
    this.status = await this.#link.ask("get_status");
    this.store.statusLoaded(this.status);
    this.app.questionsChanged();
  }

  async #list() {
    if (!this.store.capabilities.has("conversations")) return;
    this.conversations = (await this.#link.ask("list_conversations", { limit: 100 })).conversations;
    // What has changed may have the words, too.
    if (this.#words) this.app.attempt(() => this.#find());
    this.app.update();
  }

  /** Lists the conversations in which these words occur. @param {string} words */
  search(words) {
    this.#words = words.trim();
    clearTimeout(this.#searching);
    if (!this.#words) this.found = null;
    else this.#searching = setTimeout(() => this.app.attempt(() => this.#find()), SEARCH_DELAY_MS);
    this.app.update();
  }

  async #find() {
    const words = this.#words;
    if (!words || !this.store.capabilities.has("search")) return;
    const { conversations } = await this.#link.ask("list_conversations", { limit: 100, search: words });
    // Somebody has typed on meanwhile.
    if (words === this.#words) this.found = conversations;
  }

  /** @param {string} conversation */
  async open(conversation) {
    this.conversation = conversation;
    this.opened();
    if (!conversation || !this.store.capabilities.has("load_events")) return;
    try {
      const request = await this.history.load(conversation);
      // Somebody may have gone elsewhere meanwhile.
      if (conversation === this.conversation) this.store.takeLoaded(request);
      await this.loadStatus();
    } catch {
      // A conversation in which nothing was said yet cannot be loaded.
      if (conversation === this.conversation) this.store.loaded = null;
    }
    this.app.update();
  }

  async createConversation() {
    await this.app.attempt(async () => {
      const { conversationId } = await this.#link.ask("new_conversation");
      this.app.go({ view: "chat", item: conversationId });
      this.conversation = conversationId;
      // Nothing of the conversation before may be seen in the new one.
      this.store.loaded = null;
      document.getElementById("chat-words")?.focus();
    });
  }

  /** @param {string} conversationId @param {string} title */
  async rename(conversationId, title) {
    await this.app.attempt(async () => void (await this.#link.ask("rename_conversation", { conversationId, title })));
  }

  /** Deletes a conversation. If it is shown, the one that was changed last takes its place. @param {string} conversation */
  async remove(conversation) {
    await this.app.attempt(async () => {
      await this.#link.ask("delete_conversation", { conversationId: conversation });
      this.store.forget(conversation);
      await this.#list();
      if (conversation !== this.conversation) return;
      const [next] = this.conversations;
      if (!next) return this.createConversation();
      // Somebody may have gone elsewhere meanwhile.
      if (this.app.route.view !== "chat") return void (await this.open(next.conversationId));
      this.app.go({ view: "chat", item: next.conversationId });
      await this.open(next.conversationId);
    });
  }

  /** Forgets everything that was said in a conversation. @param {string} conversation */
  async clear(conversation) {
    await this.app.attempt(async () => {
      await this.#link.ask("clear_history", this.#metadata(conversation));
      if (conversation === this.conversation) await this.open(conversation);
      await this.#list();
    });
  }

  /** Has the model go on from a summary of the conversation, which people still see whole. */
  async summarise() {
    if (this.isSummarising || !this.store.capabilities.has("compact")) return;
    this.isSummarising = true;
    await this.app.attempt(async () => {
      const request = await this.#link.send("compact", { conversationId: this.conversation });
      const { replaced } = await this.#link.ended(request, SUMMARY_MS);
      this.app.toast(`The model continues from a summary of ${counted(replaced, "message")}. You still see all of them.`);
    });
    this.isSummarising = false;
    this.app.update();
  }

  /** Sends a message. Returns false if that failed. @param {Message} message */
  async say({ conversation, text, files, isEditing }) {
    const attachments = files.map(({ data, mime, name }) => ({ data, mime, name }));
    // A message without a conversation would be shown in none.
    if (!conversation && this.store.capabilities.has("load_events")) await this.#loading;
    const place = conversation || this.conversation;
    // An edit cannot steer, whoever has begun a turn meanwhile.
    const isWorking = !isEditing && this.store.working(place) !== null;
    const steer = isWorking && this.store.capabilities.has("steer") ? { steer: true } : {};
    try {
      await this.#link.send(isEditing ? "edit_last" : "user_message", {
        message: text,
        ...(attachments.length ? { attachments } : {}),
        ...this.#metadata(place),
        ...steer,
      });
      return true;
    } catch (error) {
      // Also where a desk is away: the message comes back, and somebody wonders why.
      this.app.toast(errorText(error));
      return false;
    }
  }

  /** Names the conversation of a request. A runtime without extensions has one without a name. */
  #metadata(conversation = this.conversation) {
    return conversation ? { metadata: { conversationId: conversation } } : {};
  }

  regenerate() {
    this.app.attempt(async () => void (await this.#link.send("regenerate", this.#metadata())));
  }

  /** Stops the answer that is under way. */
  stop() {
    const turn = this.store.working(this.conversation);
    if (turn) this.cancel(turn.id);
  }

  /** @param {string} target the request to cancel */
  cancel(target) {
    return this.app.attempt(async () => void (await this.#link.send("cancel", { target })));
  }

  /** Answers a question of the runtime. Fails if the answer does not count. @param {string} line */
  async answer(line) {
    await this.#link.ended(await this.#link.sendLine(line));
  }

  /**
   * Answers a question of the model or of a tool server. Returns why that was refused, else "".
   * @param {string} question @param {"answered" | "declined"} outcome @param {Record<string, unknown>} [values]
   */
  async answerQuestion(question, outcome, values) {
    try {
      await this.#link.ask("question_answer", { question, outcome, ...(values ? { values } : {}) });
      return "";
    } catch (error) {
      return errorText(error);
    }
  }

  /** Asks for what a turn changed. @param {import("./chat_store.js").Changes} changes */
  loadDiff(changes) {
    return this.app.attempt(async () => {
      const fields = { conversationId: this.conversation, turn: changes.turn };
      changes.diff = (await this.#link.ask("turn_diff", fields)).files;
      this.app.update();
    });
  }

  /**
   * Puts back what a turn changed, once a person has allowed it.
   * @param {import("./chat_store.js").Changes} changes @param {boolean} partial whether to put back only what can be
   */
  async undo(changes, partial) {
    const fields = { conversationId: this.conversation, turn: changes.turn, ...(partial ? { partial } : {}) };
    delete changes.problem;
    try {
      const { left } = await this.#link.ended(await this.#link.send("undo_turn", fields), DECIDED_WITHIN_MS);
      this.store.undone(fields.conversationId, changes.turn);
      if (left.length) this.app.toast(`${counted(left.length, "file was", "files were")} left unchanged.`);
    } catch (error) {
      const isPartial = error instanceof RequestError && error.kind === "changed";
      changes.problem = { text: errorText(error), isPartial };
    }
    this.app.update();
  }

  /** Returns whether that worked. @param {string} engine @param {string | null} model */
  async setEngine(engine, model) {
    const fields = { conversationId: this.conversation, engine, ...(model ? { model } : {}) };
    let isSet = false;
    await this.app.attempt(async () => void (isSet = Boolean(await this.#link.ask("set_engine", fields))));
    return isSet;
  }

  /** @param {string} mode */
  setMode(mode) {
    const fields = { conversationId: this.conversation, mode };
    return this.app.attempt(async () => void (await this.#link.ask("set_mode", fields)));
  }

  /** Ends the runtime's process and starts it again. */
  restart() {
    return this.app.attempt(() => this.#link.restart());
  }
}
