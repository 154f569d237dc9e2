// Edits the arguments of a call before it is allowed.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { editProblem, memberSpan, textOf, withText } from "../json_edit.js";
import { note } from "./controls.js";
import { prettyJson } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Card} Card */

/** The argument that people mostly want to change, by the kind of the call. A list of arguments is edited whole. */
const MAIN = /** @type {Record<string, string>} */ ({
  command: "command",
  write: "content",
  fetch: "url",
  plan: "plan",
});

/** @param {App} app @param {Card} card @param {(input: string, at: number) => void} send gets the whole input as JSON, and when it was pressed */
export function editDialog(app, card, send) {
  const name = memberSpan(card.input, "args") ? "" : (MAIN[card.body.type] ?? "");
  const text = textOf(card.input, name);
  const state = { isWhole: text === null, text: text ?? "", json: prettyJson(card.input) };
  const input = () => (state.isWhole ? state.json : withText(card.input, name, state.text));
  const isChanged = () => (state.isWhole ? state.json !== prettyJson(card.input) : state.text !== text);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (editProblem(card.input, input()) || !isChanged()) return;
    app.closeDialog();
    send(input(), event.timeStamp);
  };
  const showWhole = () => {
    state.json = prettyJson(input());
    state.isWhole = true;
    app.update();
  };
  const type = (/** @type {Event} */ event) => {
    const { value } = /** @type {HTMLTextAreaElement} */ (event.target);
    if (state.isWhole) state.json = value;
    else state.text = value;
    app.update();
  };
  app.openDialog("Edit, then allow", () => {
    const problem = editProblem(card.input, input());
    const hint = html`<p class="small muted">
      What you send here runs instead of what the agent asked for. Hidden values such as
      <code>[hidden 1: …]</code> stay in place and stay hidden.
    </p>`;
    const whole = html`<p>
      <button class="button quiet small" type="button" @click=${showWhole}>Edit all arguments</button>
    </p>`;
    return html`<form class="dialog-form" @submit=${submit}>
      <div class="dialog-body">
        <label class="labelled"
          >${state.isWhole ? "All arguments as JSON" : `The argument “${name}”`}
          <textarea
            class="field mono"
            data-edit
            rows=${state.isWhole ? 14 : 7}
            spellcheck="false"
            autocapitalize="off"
            .value=${state.isWhole ? state.json : state.text}
            @input=${type}
          ></textarea>
        </label>
        ${problem ? note("red", problem) : hint} ${state.isWhole ? nothing : whole}
      </div>
      <div class="dialog-foot">
        <button class="button quiet" type="button" @click=${() => app.closeDialog()}>Cancel</button>
        <button
          class="button primary"
          type="submit"
          data-press="send-edit"
          ?disabled=${!!problem || !isChanged()}
        >
          Allow with these changes
        </button>
      </div>
    </form>`;
  });
}
