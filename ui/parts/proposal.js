// Proposes a rule for one call, and adds it to the rules after a backtest.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, errorText } from "../transport.js";
import { choiceOf, note, valueOf } from "./controls.js";
import { reviewDialog } from "./review.js";
import { reason, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */

const DECISIONS = /** @type {[string, string][]} */ ([
  ["allow", "Allow"],
  ["ask", "Ask me"],
  ["confirm", "Confirm"],
  ["deny", "Deny"],
]);
const TIMES = /** @type {[string, string][]} */ ([
  ["", "From now on"],
  ["3600", "For the next hour"],
  ["28800", "For eight hours"],
  ["604800", "For a week"],
]);

/**
 * @param {App} app @param {{question?: string, seq?: number}} of the call
 * @param {string} summary
 */
export function proposalDialog(app, of, summary) {
  const state = { decide: "allow", seconds: "", toml: "", error: "", round: 0 };
  const propose = async () => {
    const round = ++state.round;
    state.error = "";
    try {
      const seconds = state.seconds ? { seconds: Number(state.seconds) } : {};
      const { toml } = await ask(app.transport, "propose", { ...of, decide: state.decide, ...seconds });
      if (round === state.round) state.toml = toml;
    } catch (error) {
      state.error = errorText(error);
    }
    app.update();
  };
  const choose = (/** @type {Partial<typeof state>} */ change) => {
    Object.assign(state, change);
    propose();
    app.update();
  };
  propose();
  app.openDialog(
    "Make a rule",
    () =>
      html`<div class="dialog-body">
          <div class="code-box"><pre class="command">${shown(summary)}</pre></div>
          <div class="row wrap">
            ${choiceOf("Decision", DECISIONS, state.decide, (decide) => choose({ decide }))}
            <select
              class="field time"
              aria-label="How long"
              data-seconds
              @change=${(/** @type {Event} */ event) => choose({ seconds: valueOf(event) })}
            >
              ${TIMES.map(([value, title]) => html`<option value=${value}>${title}</option>`)}
            </select>
          </div>
          ${state.error ? note("red", reason(state.error)) : nothing}
          <label class="labelled"
            >The rule. You may change it.<textarea
              class="field mono"
              rows="8"
              spellcheck="false"
              data-proposal
              .value=${state.toml}
              @input=${(/** @type {Event} */ event) => {
                state.toml = valueOf(event);
              }}
            ></textarea>
          </label>
        </div>
        <div class="dialog-foot">
          <button class="button quiet" type="button" @click=${() => app.closeDialog()}>Cancel</button>
          <button
            class="button primary"
            type="button"
            data-review
            ?disabled=${!state.toml}
            @click=${() => addRule(app, state.toml)}
          >
            Check against the history…
          </button>
        </div>`,
  );
}

/**
 * Adds a rule to the user's file: shows the backtest first.
 * @param {App} app @param {string} toml
 */
export function addRule(app, toml) {
  return app.attempt(async () => {
    const book = await ask(app.transport, "rules", {});
    const text = `${book.text.trimEnd()}${book.text.trim() ? "\n\n" : ""}${toml.trim()}\n`;
    reviewDialog(app, { text, hash: book.hash }, () => app.views.rules.loaded?.reload());
  });
}
