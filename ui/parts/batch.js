// Answers several questions together, after one confirmation that lists them.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { agentName, counted, folderName } from "../words.js";
import { isBatchable, isOpen } from "../store.js";
import { sendAnswer } from "../answering.js";
import { SETTLE_MS } from "../press_guard.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../store.js").Question} Question */

/**
 * @param {App} app @param {Question[]} questions exactly these are answered, whatever arrives
 * @param {() => void} done
 */
export function batchDialog(app, questions, done) {
  const opened = performance.now();
  const state = { sent: 0, isSending: false };
  // Nothing else draws the buttons anew when they begin to count.
  setTimeout(() => app.update(), SETTLE_MS + 5);
  const isSettling = (at = performance.now()) => at - opened < SETTLE_MS;
  const answer = async (/** @type {string} */ action, /** @type {Event} */ { timeStamp }) => {
    if (isSettling(timeStamp) || state.isSending) return;
    state.isSending = true;
    await Promise.all(
      questions.filter(isBatchable).map((question) =>
        sendAnswer(app, question, { action }).then(() => {
          state.sent += 1;
          app.update();
        }),
      ),
    );
    done();
    const lost = questions.filter(
      (question) => question.answer !== "read" && question.answer !== "recorded",
    ).length;
    app.closeDialog();
    app.toast(
      lost
        ? `${counted(questions.length - lost, "answer")} arrived, ${lost} did not count. The list says why.`
        : `${counted(questions.length, "answer")} arrived.`,
    );
  };
  app.openDialog("Answer together", () => {
    const open = questions.filter(isOpen).length;
    const over = questions.length - open;
    const elsewhere = counted(over, "question was", "questions were");
    const blocked = isSettling() || state.isSending ? "true" : "false";
    return html` <div class="dialog-body">
        <p>
          One answer for ${counted(questions.length, "question")}. Read all of them: each is answered as if
          you had pressed it on its own.
        </p>
        <ul class="batch-list">
          ${questions.map(
            (question) =>
              html`<li data-question=${question.row.question} data-answer=${question.answer}>
                ${stateIcon(question)}<span class="grow"
                  ><code>${shown(question.row.summary)}</code><br /><span class="tiny muted"
                    >${agentName(question.row.agent)} in
                    ${folderName(question.row.project)}${question.row.risks.map((risk) => ` · ${risk.text}`)}</span
                  ></span
                >
              </li>`,
          )}
        </ul>
        ${over && !state.isSending ? html`<p class="note">${elsewhere} answered elsewhere meanwhile.</p>` : nothing}
      </div>
      <div class="dialog-foot">
        ${state.isSending ? html`<span class="grow muted">${state.sent} of ${questions.length}</span>` : nothing}
        <button class="button quiet" type="button" @click=${() => app.closeDialog()}>Cancel</button>
        <button
          class="button"
          type="button"
          data-batch="deny"
          aria-disabled=${blocked}
          @click=${(/** @type {Event} */ event) => answer("deny", event)}
        >
          Deny all ${state.isSending ? questions.length : open}
        </button>
        <button
          class="button primary"
          type="button"
          data-batch="allow"
          aria-disabled=${blocked}
          @click=${(/** @type {Event} */ event) => answer("allow", event)}
        >
          Allow all ${state.isSending ? questions.length : open}
        </button>
      </div>`;
  });
}

/** @param {Question} question */
function stateIcon({ answer, outcome }) {
  if (answer === "pressed") return html`<span class="spinner"></span>`;
  if (answer === "recorded") return icon("check");
  if (answer === "read") return icon("checks");
  return html`<span class="dot ${outcome?.decision ?? "open"}"></span>`;
}
