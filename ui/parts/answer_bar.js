// The bar below a question: its buttons, and afterwards how far the answer got.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { agentName, decisionWords, outcomeWords } from "../words.js";
import { decisionOf, isOpen } from "../store.js";
import { note, valueOf } from "./controls.js";
import { icon } from "./icons.js";

/** @typedef {import("../answering.js").Answering} Answering */
/** @typedef {import("../store.js").Question} Question */
/** @typedef {import("../types/desk.js").Card} Card */

/** @param {Answering} place @param {Question} question @param {boolean} [isCompact] whether it has the two answers only */
export function answerBar(place, question, isCompact = false) {
  const { card, answer } = question;
  let content;
  if (answer === "pressed" || answer === "recorded" || answer === "read") content = steps(place, question);
  else if (!isOpen(question)) content = outcome(place, question);
  else if (!card) content = html`<div class="skeleton bar-skeleton"></div>`;
  else if (place.reply?.question === question.row.question) content = replyForm(place, question, card);
  else content = buttons(place, question, card, isCompact);
  return html`<footer class="answer-bar" aria-live="polite">
    ${question.notice && answer !== "read" && answer !== "recorded" ? note("amber", question.notice) : nothing}
    ${content}
  </footer>`;
}

/** Whether a question is one about a call. @param {Card} card */
const isPlain = (card) => card.pickers.length === 0 && card.body.type !== "ask";

/** The answers that people give less often. @param {Answering} place @param {Question} question @param {Card} card */
export function moreAnswers(place, question, card) {
  const blocked = place.isBlocked(question) ? "true" : "false";
  // What a tool server asks for as a form, or with certain answers, cannot be answered in words.
  const isForm = card.tool === "Elicitation" && card.can_edit && !card.takes_words;
  const words = card.takes_words
    ? label("Answer in words", "In words")
    : label("Deny with words", "With words");
  const [edit, stop] = [label("Edit, then allow", "Edit"), label("Deny and stop", "Stop")];
  return html`<div class="bar-more">
    ${card.blocked || isForm ? nothing : more("reply", words, "r", () => place.openReply(question))}
    ${card.can_edit && isPlain(card) ? more("edit", edit, "e", () => place.openEdit(question)) : nothing}
    ${card.can_stop ? more("stop", stop, "", (at) => place.press(question, { action: "stop" }, at), blocked) : nothing}
  </div>`;
}

/** @param {Answering} place @param {Question} question @param {Card} card @param {boolean} isCompact */
function buttons(place, question, card, isCompact) {
  const blocked = place.isBlocked(question) ? "true" : "false";
  const isPicking = card.pickers.length > 0;
  const noWord = isPlain(card) ? "Deny" : isPicking ? "Dismiss" : "No";
  const yesWord = card.body.type === "plan" ? "Approve the plan" : isPlain(card) ? "Allow once" : "Yes";
  const [deny, done] = ["deny", "done"].map((action) => (/** @type {number} */ at) => place.press(question, { action }, at));
  const allow = (/** @type {number} */ at) => place.allow(question, at);
  const [yes, no] = [html`${yesWord} <kbd>a</kbd>`, html`${noWord} <kbd>d</kbd>`];
  return html` ${card.needs === "confirm" ? confirmField(place, card) : nothing}
    <div class="bar-line">
      ${isCompact ? nothing : moreAnswers(place, question, card)}
      <div class="bar-buttons">
        ${main("deny", "deny", no, card.grants.deny, blocked, deny)}
        ${
          isPicking
            ? card.pickers.some((picker) => picker.many) || card.pickers.length > 1
              ? main("done", "primary", "Done", "Sends what you chose.", blocked, done)
              : nothing
            : main("allow", "primary allow", yes, card.grants.allow, blocked, allow, card.is_cut)
        }
      </div>
    </div>`;
}

/**
 * A button for an answer, above what the answer does.
 * @param {string} name of its press @param {string} look @param {unknown} title @param {string} grants
 * @param {string} blocked @param {(at: number) => void} press also gets when @param {boolean} [isDisabled]
 */
function main(name, look, title, grants, blocked, press, isDisabled = false) {
  // Disabled is only what cannot be pressed at all: whoever presses too soon is told so.
  return html`<div class="bar-button">
    <button
      class="button ${look}"
      type="button"
      data-press=${name}
      aria-disabled=${blocked}
      aria-describedby="grants-${name}"
      ?disabled=${isDisabled}
      @click=${(/** @type {Event} */ event) => press(event.timeStamp)}
    >
      ${title}
    </button>
    <span class="tiny muted" id="grants-${name}">${grants}</span>
  </div>`;
}

/**
 * A button for an answer that people give less often.
 * @param {string} name of its picture and its press @param {unknown} title @param {string} key
 * @param {(at: number) => void} press also gets when @param {string} [blocked]
 */
function more(name, title, key, press, blocked) {
  return html`<button
    class="button quiet small"
    type="button"
    data-press=${name}
    aria-disabled=${blocked ?? "false"}
    @click=${(/** @type {Event} */ event) => press(event.timeStamp)}
  >
    ${icon(name)}${title}${key ? html`<kbd>${key}</kbd>` : nothing}
  </button>`;
}

/** @param {string} wide @param {string} narrow for windows in which the other does not fit */
function label(wide, narrow) {
  return html`<span class="wide-only">${wide}</span><span class="narrow-only">${narrow}</span>`;
}

/** @param {Answering} place @param {Card} card */
function confirmField(place, card) {
  return html`<label class="confirm-field"
    ><span>To allow this, type ${card.confirm_word_of ?? "the last word of the command"}:</span>
    <input
      class="field mono"
      data-confirm
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      .value=${place.confirmWord}
      @input=${(/** @type {Event} */ event) => place.typeConfirm(valueOf(event))}
  /></label>`;
}

/** @param {Answering} place @param {Question} question @param {Card} card */
function replyForm(place, question, card) {
  const isAnswer = card.takes_words;
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    place.sendReply(question, event.timeStamp);
  };
  return html`<form class="reply" @submit=${send}>
    <label class="labelled"
      >${isAnswer ? "Your answer" : `What should ${agentName(card.agent)} do instead?`}
      <textarea
        class="field"
        id="reply-words"
        rows="3"
        data-words
        placeholder=${isAnswer ? "" : "The call is denied, and the agent reads this."}
        .value=${place.reply?.text ?? ""}
        @input=${(/** @type {Event} */ event) => place.typeReply(valueOf(event))}
      ></textarea>
    </label>
    <div class="row">
      <span class="grow tiny muted">Ctrl+Enter to send</span>
      <button class="button quiet" type="button" @click=${() => place.closeReply()}>Cancel</button>
      <button class="button ${isAnswer ? "primary" : "danger"}" data-press="send-words" type="submit">
        ${isAnswer ? "Send the answer" : "Deny with these words"}
      </button>
    </div>
  </form>`;
}

/** @param {Answering} place @param {Question} question */
function steps(place, question) {
  const { answer, outcome } = question;
  const level = ["pressed", "recorded", "read"].indexOf(answer);
  const denies = (outcome?.decision ?? decisionOf(question)) === "deny";
  const names = ["Pressed", "Recorded", "Read by the agent"];
  return html`<div class="steps ${denies ? "denies" : ""}" role="status">
    <strong class="steps-title"
      >${outcome ? decisionWords(outcome.decision) : denies ? "Denying" : "Answering"}</strong
    >
    ${answer === "recorded" && question.notice ? html`<span class="small muted">${question.notice}</span>` : nothing}
    <ol>
      ${names.map(
        (name, at) =>
          html`<li class=${at <= level ? "is-done" : at === level + 1 ? "is-next" : ""}>
            <span class="tick"
              >${at <= level ? icon("check") : at === level + 1 ? html`<span class="spinner"></span>` : nothing}</span
            >${name}
          </li>`,
      )}
    </ol>
    ${answer === "pressed" ? nothing : next(place, question)}
  </div>`;
}

/** @param {Answering} place @param {Question} question */
function outcome(place, question) {
  const result = question.outcome;
  const decision = result?.decision ?? "withdrawn";
  const text = result ? outcomeWords(result) : "This question is over.";
  const isOnItsWay = question.overAt === null && question.answer !== "lost";
  return html`<div class="outcome" role="status">
    <span class="dot ${decision}"></span>
    <span class="grow"
      >${question.answer === "lost" ? html`<strong>Your answer did not count.</strong> ` : nothing}${text}${
        isOnItsWay ? " The agent has not read it yet." : nothing
      }</span
    >
    ${next(place, question)}
  </div>`;
}

/** @param {Answering} place @param {Question} question */
function next(place, question) {
  return place.following(question)
    ? html`<button class="button small" type="button" @click=${() => place.advance(question)}>
        Next question ${icon("next")}
      </button>`
    : nothing;
}
