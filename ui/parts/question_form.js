// A question of the model or of a tool server, as a form. It gives no permission, and opens nothing
// by itself.

import { OTHER, formValues } from "../form_values.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../../docs/protocol/session.js").QuestionResponse["data"]} AgentQuestion */
/** @typedef {import("../../docs/protocol/session.js").QuestionField} QuestionField */
/** @typedef {import("../form_values.js").AnswerValues} AnswerValues */

/**
 * Draws the form.
 * @param {AgentQuestion} asked
 * @param {{problem: string, isSettling: boolean}} state why the last answer was refused, and whether the
 *   form has just appeared, so that no press on it counts yet
 * @param {(outcome: "answered" | "declined", at: number, values?: AnswerValues) => void} answer
 *   also gets when it was pressed
 */
export function questionForm(asked, { problem, isSettling }, answer) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    answer("answered", event.timeStamp, formValues(asked.fields, new FormData(/** @type {HTMLFormElement} */ (event.target))));
  };
  const blocked = isSettling ? "true" : "false";
  return html`<form class="question-form" data-question=${asked.question} ?data-settling=${isSettling} @submit=${submit}>
    ${asked.server ? html`<p class="small muted">The MCP server <b>${shown(asked.server)}</b> asks you</p>` : nothing}
    <h1>${shown(asked.text)}</h1>
    ${
      asked.url
        ? html`<p>
            It asks you to visit this address:
            <a href=${asked.url} target="_blank" rel="noopener noreferrer"><code>${shown(asked.url)}</code></a>
          </p>`
        : nothing
    }
    ${asked.fields.map((one) => field(one, one.title === asked.text))}
    ${problem ? html`<p class="note red" role="alert">${icon("warning")}<span>${shown(problem)}</span></p>` : nothing}
    <div class="question-buttons">
      <button class="button" type="button" data-decline aria-disabled=${blocked} @click=${(/** @type {Event} */ event) => answer("declined", event.timeStamp)}>Decline</button>
      <button class="button primary" type="submit" data-answer aria-disabled=${blocked}>${asked.fields.length ? "Answer" : "Agree"}</button>
    </div>
  </form>`;
}

/** @param {QuestionField} one @param {boolean} isTitled whether its title stands above already */
function field(one, isTitled) {
  const about = html`<span class=${isTitled ? "only-read" : "question-title"}
      >${shown(one.title)}${one.required ? nothing : html` <span class="small muted">(optional)</span>`}</span
    >${one.description ? html`<span class="small muted">${shown(one.description)}</span>` : nothing}`;
  if (one.type === "one_of" || one.type === "several_of")
    return html`<fieldset class="question-field">
      <legend>${about}</legend>
      ${choices(one)}
    </fieldset>`;
  if (one.type === "boolean")
    return html`<label class="question-field question-choice"
      ><input type="checkbox" name=${one.name} ?checked=${one.default === true} /><span class="grow">${about}</span></label
    >`;
  return html`<label class="question-field">${about}${input(one)}</label>`;
}

/** @param {QuestionField} one */
function input(one) {
  const isNumber = one.type === "number" || one.type === "integer";
  const types = { email: "email", uri: "url", date: "date" };
  const format = one.type === "text" ? one.format : undefined;
  const kind = isNumber ? "number" : types[/** @type {"email" | "uri" | "date"} */ (format)] ?? "text";
  const step = one.type === "integer" ? "1" : "any";
  return html`<input
    class="field"
    type=${kind}
    name=${one.name}
    step=${step}
    .value=${"default" in one ? String(one.default ?? "") : ""}
    ?required=${one.required}
  />`;
}

/** @param {Extract<QuestionField, {type: "one_of" | "several_of"}>} one */
function choices(one) {
  const isSeveral = one.type === "several_of";
  const kind = isSeveral ? "checkbox" : "radio";
  const isChosen = (/** @type {string} */ value) =>
    one.type === "several_of" ? (one.default ?? []).includes(value) : one.default === value;
  const must = one.required && !isSeveral;
  return html`${one.options.map(
    ({ value, title, description }) =>
      html`<label class="question-choice"
        ><input type=${kind} name=${one.name} .value=${value} ?checked=${isChosen(value)} ?required=${must} /><span
          class="grow"
          >${shown(title)}${description ? html`<span class="about">${shown(description)}</span>` : nothing}</span
        ></label
      >`,
  )}
  ${
    one.freeText
      ? html`<label class="question-choice"
          ><input type=${kind} name=${one.name} .value=${OTHER} ?required=${must} /><input
            class="field grow"
            type="text"
            name=${one.name + OTHER}
            aria-label="Other words"
            placeholder="Something else"
            @input=${chooseOther}
        /></label>`
      : nothing
  }`;
}

/** Chooses the person's own words when they are typed. @param {Event} event */
function chooseOther(event) {
  const { parentElement } = /** @type {HTMLInputElement} */ (event.target);
  const choice = parentElement?.querySelector("input");
  if (choice) choice.checked = true;
}
