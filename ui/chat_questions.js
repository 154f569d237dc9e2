// The runtime's own questions, answered in the chat. In a browser none of them is about a permission:
// there the desk asks, and the page has the desk's questions.

import { Answering, sendAnswer } from "./answering.js";
import { cardOf } from "./permission_card.js";
import { isOpen, newQuestion } from "./store.js";
import { ask, encode, errorText } from "./transport.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./store.js").Question} Question */
/** @typedef {import("./answering.js").PressFields} PressFields */

/** How long the page waits for the desk to show a question that the runtime also asks there. */
const DESK_FIRST_MS = 500;

/** The place of the card in the chat. */
export class ChatQuestions extends Answering {
  /** @type {Map<string, Question>} */
  #questions = new Map();
  /** The forms that have been seen. @type {Set<string>} */
  #forms = new Set();
  #shown = "";
  /** The form that is shown. */
  #shownForm = "";

  /**
   * Takes over what the runtime asks now, and returns what tells people of the questions that are new.
   * @returns {import("./notices.js").NoticedQuestion[]}
   */
  refresh() {
    const { store } = this.app.chat;
    const added = [];
    for (const [id, asked] of store.questions) {
      if (this.#questions.has(id)) continue;
      const card = cardOf(asked, store.folder);
      this.#questions.set(id, { ...newQuestion(card, false), card });
      added.push(card);
    }
    for (const [question, { data, at }] of store.asked) {
      if (this.#forms.has(question)) continue;
      const deed = data.server ? "Answer a tool server's question" : "Answer a question";
      added.push({ question, agent: "callgate", project: store.folder, deed, asked_ms: at });
    }
    for (const id of this.#questions.keys()) if (!store.questions.has(id)) this.#questions.delete(id);
    this.#forms = new Set(store.asked.keys());
    return added;
  }

  /** Returns the ids of everything that waits for an answer here. The inbox may have it, too. */
  waiting() {
    return [...this.#questions.keys(), ...this.#forms];
  }

  /** Whether something waits for an answer in a conversation. @param {string} conversation */
  waitsIn(conversation) {
    const isHere = (/** @type {Question} */ one) => one.row.session === conversation && isOpen(one);
    const { app } = this;
    const forms = [...app.chat.store.asked.values()];
    return [...this.#questions.values(), ...app.store.questions.values()].some(isHere) ||
      forms.some((form) => form.conversation === conversation);
  }

  /**
   * Returns the form to show in a conversation. It takes the place of no card that is shown, and no
   * card takes the place of a form that somebody may be filling in.
   * @param {string} conversation
   */
  formIn(conversation) {
    const forms = [...this.app.chat.store.asked.values()].filter((form) => form.conversation === conversation);
    const shown = forms.find(({ data }) => data.question === this.#shownForm);
    if (shown) return shown;
    const card = this.#cardIn(conversation)?.question.row.question;
    const next = !card || this.app.chat.store.asked.has(card) ? forms[0] : undefined;
    this.#shownForm = next?.data.question ?? "";
    return next ?? null;
  }

  /** @param {string} id */
  get(id) {
    return this.#questions.get(id);
  }

  /**
   * Returns the place and the question to show in a conversation, unless it shows a form: one card for
   * one id, that of the desk if it is there in time, because the desk knows more.
   * @param {string} conversation @returns {{place: Answering, question: Question} | null}
   */
  shownIn(conversation) {
    return this.formIn(conversation) ? null : this.#cardIn(conversation);
  }

  /** @param {string} conversation @returns {{place: Answering, question: Question} | null} */
  #cardIn(conversation) {
    const { app } = this;
    if (!conversation) return null;
    const own = [...this.#questions.values()].find(({ row }) => row.session === conversation);
    const desk = app.store.inOrder().find((one) => one.row.session === conversation && isOpen(one));
    if (!own) return desk ? { place: app.views.inbox, question: desk } : null;
    const id = own.row.question;
    const isHere = this.#shown === id;
    const deskHas = app.connection === "live" && app.store.questions.get(id);
    // A card that is shown stays: somebody may be about to press on it.
    if (!isHere && deskHas && isOpen(deskHas)) return { place: app.views.inbox, question: deskHas };
    if (!isHere && app.connection === "live" && app.now - own.row.asked_ms < DESK_FIRST_MS) {
      // If the desk does not show it by then, nothing else has the page drawn anew.
      setTimeout(() => app.update(), DESK_FIRST_MS);
      return null;
    }
    if (!isHere) this.reset();
    this.#shown = id;
    return { place: this, question: own };
  }

  /** Shows a question, of the runtime or of the desk. @param {string} id */
  open(id) {
    const own = this.get(id)?.row.session ?? this.app.chat.store.asked.get(id)?.conversation;
    this.app.go(own === undefined ? { view: "inbox", item: id } : { view: "chat", item: own });
  }

  /** Denies a question, of the runtime or of the desk, as a press on its button does. @param {string} id */
  async deny(id) {
    const { app } = this;
    const [own, question] = [this.get(id), app.store.questions.get(id)];
    if (own) return this.send(own, { action: "deny" });
    if (this.#forms.has(id)) return void (await app.chat.answerQuestion(id, "declined"));
    if (question) return sendAnswer(app, question, { action: "deny" });
    await app.attempt(async () => {
      const told = await ask(app.transport, "press", { request_id: id, action: "deny" });
      if (!told.done) app.toast(told.text);
    });
  }

  get makesRules() {
    return false;
  }

  // The runtime sends the whole question at once.
  load() {}

  /**
   * @param {Question} question @param {PressFields} fields @param {Record<string, string>} [raw]
   */
  async send(question, fields, raw) {
    const { app } = this;
    const id = question.row.question;
    const asked = app.chat.store.questions.get(id);
    if (!asked || question.answer !== "none") return;
    const action = fields.action ?? (fields.words ? "words" : "edit");
    Object.assign(question, { answer: "pressed", isMine: true, action, notice: null });
    app.update();
    try {
      // Raw fields cross as they were typed: parsing could change a number.
      await app.chat.answer(encode("page", "permission_answer", { question: id, ...decision(fields) }, raw ?? {}));
      // The runtime knows no answer that does both.
      if (action === "stop") await app.chat.cancel(asked.request);
    } catch (error) {
      Object.assign(question, { answer: "none", notice: errorText(error) });
    }
    app.update();
  }
}

/** @param {PressFields} fields */
function decision({ action, words }) {
  if (words) return { decision: "deny", message: words };
  if (action === "deny" || action === "stop") return { decision: "deny" };
  return { decision: action === "always" ? "allow_always" : "allow" };
}
