// Small pieces that many views use.

import { html } from "../vendor/lit-html/lit-html.js";
import { icon } from "./icons.js";

/**
 * Returns what was typed or chosen in the field of an event.
 * @param {Event} event
 */
export function valueOf(event) {
  return /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */ (event.target).value;
}

/**
 * A remark that stands out.
 * @param {"red" | "amber" | "green"} tone @param {unknown} text @param {string} [picture]
 */
export function note(tone, text, picture = "warning") {
  return html`<p class="note ${tone}" role=${tone === "red" ? "alert" : "status"}>
    ${icon(picture)}<span>${text}</span>
  </p>`;
}

/**
 * A group of buttons of which one is chosen.
 * @param {string} label @param {[string, string][]} options values with titles @param {string} chosen
 * @param {(value: string) => void} choose
 */
export function choiceOf(label, options, chosen, choose) {
  const button = (/** @type {[string, string]} */ [value, title]) =>
    html`<button
      type="button"
      data-choice=${value}
      aria-pressed=${value === chosen ? "true" : "false"}
      @click=${() => choose(value)}
    >
      ${title}
    </button>`;
  return html`<div class="segmented" role="group" aria-label=${label}>${options.map(button)}</div>`;
}
