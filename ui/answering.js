// Answers to the question that a card shows, and what keeps presses safe: none counts on something
// that has just appeared, and two presses never mean one.

import { PressGuard } from "./press_guard.js";
import { isOpen, takesPress } from "./store.js";
import { sourceKey } from "./parts/bodies.js";
import { questionCard } from "./parts/card.js";
import { editDialog } from "./parts/edit.js";
import { UNFOLDED, unfoldAll } from "./parts/text.js";
import { ask, errorText } from "./transport.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./store.js").Question} Question */
/** @typedef {{action?: string, words?: string, confirm?: string}} PressFields */

export const TOO_SOON = "This question has just appeared. Read it, then press again.";

/**
 * Sends an answer to the desk and follows it until the agent has read it.
 * @param {App} app @param {Question} question @param {PressFields} fields
 * @param {Record<string, string>} [raw] fields as JSON text
 */
export async function sendAnswer(app, question, fields, raw) {
  const id = question.row.question;
  const name = fields.action ?? (fields.words ? "words" : "edit");
  if (!app.store.press(id, name)) return;
  app.update();
  try {
    const told = await ask(app.transport, "press", { request_id: id, ...fields }, { raw });
    app.store.told(id, { done: told.done, text: told.text });
  } catch (error) {
    app.store.pressFailed(id, `The answer may not have arrived: ${errorText(error)}`);
  }
  app.changed();
}

/** The place of one card. What it is part of decides where its answers go and what comes next. */
export class Answering {
  #guard = new PressGuard();
  #guardTimer = 0;
  /** How often something long was shown whole: what appears then is new, too. */
  #unfolds = 0;
  /** @type {{question: string, text: string} | null} */
  reply = null;
  confirmWord = "";

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  // What differs from place to place

  /**
   * Sends an answer.
   * @param {Question} question @param {PressFields} fields @param {Record<string, string>} [raw] fields as JSON text
   * @returns {Promise<void>}
   */
  send(question, fields, raw) {
    return sendAnswer(this.app, question, fields, raw);
  }

  /** Loads the whole card of a question. @param {Question} question */
  load(question) {
    this.app.loader.loadCard(question.row.question);
  }

  /** Returns the open question after this one. @param {Question} _question @returns {Question | null} */
  following(_question) {
    return null;
  }

  /** Returns the open questions like this one. @param {Question} _question @returns {Question[]} */
  alike(_question) {
    return [];
  }

  /** Whether a rule can be made from a question here. */
  get makesRules() {
    return true;
  }

  /** Whether keys may answer the question that is shown. */
  get takesKeys() {
    return true;
  }

  /** @param {Question} _question */
  advance(_question) {}

  leaveCard() {}

  /** @param {Question[]} _questions */
  openBatch(_questions) {}

  /**
   * Shows a question in the chat, with everything that keeps presses safe.
   * @param {Question} question
   */
  inline(question) {
    this.watch(question);
    return questionCard(this, question, true);
  }

  // The guard against presses on something that has just appeared

  /** Forgets what was typed for another question. */
  reset() {
    this.reply = null;
    this.confirmWord = "";
  }

  /** @param {Question} question */
  #guardKey(question) {
    const isReplying = this.reply?.question === question.row.question;
    // A page that comes into view again shows something new to whoever looks at it, whatever it is.
    const { appearances } = this.app;
    return `${question.row.question} ${question.card ? "whole" : "loading"} ${isReplying} ${appearances} ${this.#unfolds}`;
  }

  /** Notes that a question is shown now. @param {Question} question */
  watch(question) {
    if (!question.card && isOpen(question)) this.load(question);
    this.#guard.show(this.#guardKey(question), performance.now());
    const left = this.settlingMs(question);
    if (left <= 0) return;
    clearTimeout(this.#guardTimer);
    // Nothing else draws the buttons anew when they begin to count.
    this.#guardTimer = setTimeout(() => this.app.update(), left + 5);
  }

  /**
   * Returns how long presses on a question are still ignored, in milliseconds.
   * @param {Question} question @param {number} [at] when it is pressed, by the clock of events
   */
  settlingMs(question, at = performance.now()) {
    return this.#guard.remaining(this.#guardKey(question), at);
  }

  /**
   * Returns true if presses on a question do not count now.
   * @param {Question} question @param {number} [at] when it is pressed
   */
  isBlocked(question, at) {
    return !question.card || !takesPress(question) || this.settlingMs(question, at) > 0;
  }

  // Answers

  /**
   * @param {Question} question @param {PressFields} fields
   * @param {number} at when it was pressed: a page that was busy learns of it later
   * @param {Record<string, string>} [raw]
   */
  async press(question, fields, at, raw) {
    if (!takesPress(question)) return;
    if (this.isBlocked(question, at)) return this.app.toast(TOO_SOON);
    await this.send(question, fields, raw);
  }

  /**
   * Answers a question by a key: `a d r e`, or a digit for a choice.
   * @param {Question} question @param {string} key
   * @param {number} at when it was pressed
   * @returns {boolean} whether the key means something for the question
   */
  answerKey(question, key, at) {
    const choices = question.card?.pickers.flatMap(({ choices }) => choices) ?? [];
    const choice = choices[Number(key) - 1];
    /** @type {Record<string, () => void>} */
    const answers = {
      a: () => this.allow(question, at),
      d: () => this.press(question, { action: "deny" }, at),
      e: () => this.openEdit(question),
      r: () => this.openReply(question),
      s: () => this.#turnSource(question),
    };
    const answer = answers[key] ?? (choice && (() => this.press(question, { action: choice.action }, at)));
    if (!answer) return false;
    if (isOpen(question) && this.settlingMs(question, at) > 0) this.app.toast(TOO_SOON);
    else answer();
    return true;
  }

  /** Shows a plan as it is written, or formatted again. @param {Question} question */
  #turnSource(question) {
    const key = sourceKey(`body-${question.row.question}`);
    this.app.setUnfolded(key, !this.app.isUnfolded(key));
  }

  /** @param {Question} question @param {number} at when it was pressed */
  allow(question, at) {
    if (question.card?.is_cut || this.unfoldsFirst(question)) return;
    if (question.row.needs !== "confirm") this.press(question, { action: "allow" }, at);
    else if (this.confirmWord) this.press(question, { action: "allow", confirm: this.confirmWord }, at);
    else {
      /** @type {HTMLElement | null} */ (document.querySelector("[data-confirm]"))?.focus();
      this.app.toast("Type the word first, then allow.");
    }
  }

  /** Allows a question and remembers that. @param {Question} question @param {string} action of the offer @param {number} at when it was pressed */
  allowAlways(question, action, at) {
    if (!this.unfoldsFirst(question)) this.press(question, { action }, at);
  }

  /**
   * Shows all of a long input before it can be allowed. Returns true if some of it was folded.
   * @param {Question} question
   */
  unfoldsFirst({ row }) {
    // This press shows it, and the next one counts.
    const isLong = unfoldAll(`[data-question="${CSS.escape(row.question)}"] .card-scroll`);
    if (isLong) {
      this.#unfolds += 1;
      this.app.toast(UNFOLDED);
    }
    return isLong;
  }

  /** @param {string} word */
  typeConfirm(word) {
    this.confirmWord = word;
  }

  /** @param {Question} question */
  openReply(question) {
    if (!question.card || question.card.blocked || !takesPress(question)) return;
    this.reply = { question: question.row.question, text: "" };
    // The field has to be there before it can have the focus.
    this.app.updateNow();
    document.getElementById("reply-words")?.focus();
  }

  /** @param {string} text */
  typeReply(text) {
    if (this.reply) this.reply.text = text;
  }

  closeReply() {
    this.reply = null;
    this.app.update();
  }

  /** @param {Question} question @param {number} at when it was pressed */
  async sendReply(question, at) {
    const words = this.reply?.text.trim();
    if (!words) return this.app.toast("Write a few words first.");
    await this.press(question, { words }, at);
    // Words that were not taken stay in the field.
    if (question.answer !== "none") this.reply = null;
    this.app.update();
  }

  /** @param {Question} question */
  openEdit(question) {
    if (question.card?.can_edit && takesPress(question))
      editDialog(this.app, question.card, (input, at) => this.press(question, {}, at, { input }));
  }
}
