// Answers several questions together, after one confirmation that shows them.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { agentName, counted, folderName } from "../words.js";
import { isBatchable, isOpen } from "../store.js";
import { sendAnswer } from "../answering.js";
import { PressGuard, SETTLE_MS } from "../press_guard.js";
import { body } from "./bodies.js";
import { warnings } from "./card.js";
import { note } from "./controls.js";
import { icon } from "./icons.js";
import { UNFOLDED, shown, unfoldAll } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../store.js").Question} Question */

/** So many are shown whole. Nobody reads more at once, so more can only be denied together. */
const MOST_SHOWN = 50;
/** So many cards are loaded at once. */
const MOST_LOADING = 8;

/** What is about to be answered together. */
class Batch {
  sent = 0;
  isSending = false;
  /** Whether something long was shown whole: what appears then is new. */
  isUnfolded = false;
  #guard = new PressGuard();
  #timer = 0;

  /** @param {App} app @param {Question[]} questions exactly these are answered, whatever arrives */
  constructor(app, questions) {
    this.app = app;
    this.questions = questions;
    this.isShown = questions.length <= MOST_SHOWN;
  }

  /** The open ones whose content is not here yet. */
  get missing() {
    return this.isShown ? this.questions.filter((question) => isOpen(question) && !question.card) : [];
  }

  get #guardKey() {
    return `${this.missing.length} ${this.isUnfolded} ${this.app.appearances}`;
  }

  /** Notes that it is shown now, and loads what is missing in it. */
  watch() {
    for (const { row } of this.missing.slice(0, MOST_LOADING)) this.app.loader.loadCard(row.question);
    const now = performance.now();
    this.#guard.show(this.#guardKey, now);
    if (!this.isSettling(now)) return;
    clearTimeout(this.#timer);
    // Nothing else draws the buttons anew when they begin to count.
    this.#timer = setTimeout(() => this.app.update(), SETTLE_MS + 5);
  }

  /** @param {number} at when something is pressed */
  isSettling(at) {
    return this.#guard.remaining(this.#guardKey, at) > 0;
  }

  /** Shows all of it before it can be allowed. Returns true if not all of it could be seen. */
  unfoldsFirst() {
    if (!this.isShown || this.missing.length) return true;
    const isLong = unfoldAll("#dialog");
    this.isUnfolded ||= isLong;
    return isLong;
  }

  /** @param {string} action */
  async send(action) {
    this.isSending = true;
    const answered = this.questions.filter(isBatchable).map(async (question) => {
      await sendAnswer(this.app, question, { action });
      this.sent += 1;
      this.app.update();
    });
    await Promise.all(answered);
    const { questions } = this;
    const lost = questions.filter(({ answer }) => answer !== "read" && answer !== "recorded").length;
    const arrived = counted(questions.length - lost, "answer was", "answers were");
    this.app.closeDialog();
    this.app.toast(lost ? `${arrived} accepted, ${lost} ${lost > 1 ? "were" : "was"} not. See the list.` : `${arrived} accepted.`);
  }
}

/** @param {App} app @param {Question[]} questions @param {() => void} done */
export function batchDialog(app, questions, done) {
  const batch = new Batch(app, questions);
  const answer = async (/** @type {string} */ action, /** @type {Event} */ { timeStamp }) => {
    if (batch.isSettling(timeStamp) || batch.isSending) return;
    if (action === "allow" && batch.unfoldsFirst()) return;
    await batch.send(action);
    done();
  };
  app.openDialog("Answer together", () => {
    batch.watch();
    const open = questions.filter(isOpen).length;
    const over = questions.length - open;
    const elsewhere = counted(over, "question was", "questions were");
    const isBlocked = batch.isSettling(performance.now()) || batch.isSending;
    const button = (/** @type {string} */ action, /** @type {string} */ look, /** @type {boolean} */ isOff) =>
      html`<button
        class="button ${look}"
        type="button"
        data-batch=${action}
        aria-disabled=${isOff ? "true" : "false"}
        @click=${(/** @type {Event} */ event) => answer(action, event)}
      >
        ${action === "allow" ? "Allow" : "Deny"} all ${batch.isSending ? questions.length : open}
      </button>`;
    return html` <div class="dialog-body">
        <p>
          One answer for ${counted(questions.length, "question")}. Read all of them: each is answered as if
          you had pressed it on its own.
        </p>
        <ul class="batch-list">
          ${questions.map((question) => batchItem(app, question, batch.isShown))}
        </ul>
        ${batch.isShown ? nothing : note("amber", TOO_MANY)}
        ${batch.isUnfolded && !batch.isSending ? note("amber", UNFOLDED) : nothing}
        ${over && !batch.isSending ? html`<p class="note">${elsewhere} answered elsewhere meanwhile.</p>` : nothing}
      </div>
      <div class="dialog-foot">
        ${batch.isSending ? html`<span class="grow muted">${batch.sent} of ${questions.length}</span>` : nothing}
        <button class="button quiet" type="button" @click=${() => app.closeDialog()}>Cancel</button>
        ${button("deny", "", isBlocked)}
        ${button("allow", "primary", isBlocked || !batch.isShown || batch.missing.length > 0)}
      </div>`;
  });
}

const TOO_MANY = `More than ${MOST_SHOWN} cannot be read at once. You can deny them together; to allow, choose fewer.`;

/** @param {App} app @param {Question} question @param {boolean} isShown whether all of it is shown */
function batchItem(app, question, isShown) {
  const { row, card, answer } = question;
  const drawn = card && [warnings(card), body(app, card.body, `batch-${row.question}`, row.project)];
  return html`<li data-question=${row.question} data-answer=${answer}>
    ${stateIcon(question)}
    <div class="grow">
      <p class="tiny muted">
        ${shown(row.deed)} · ${agentName(row.agent)} in
        ${folderName(row.project)}${row.risks.map((risk) => ` · ${risk.text}`)}
      </p>
      ${isShown && drawn ? drawn : html`<code>${shown(row.summary)}</code>`}
    </div>
  </li>`;
}

/** @param {Question} question */
function stateIcon({ answer, outcome }) {
  if (answer === "pressed") return html`<span class="spinner"></span>`;
  if (answer === "recorded") return icon("check");
  if (answer === "read") return icon("checks");
  return html`<span class="dot ${outcome?.decision ?? "open"}"></span>`;
}
