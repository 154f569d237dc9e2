// Shows what changed rules would have decided over the whole ledger, and saves them after that.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, errorText } from "../transport.js";
import { SETTLE_MS } from "../press_guard.js";
import { clock, counted, decisionWords, folderName } from "../words.js";
import { note } from "./controls.js";
import { icon } from "./icons.js";
import { reason, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Backtested} Backtested */
/** @typedef {import("../types/desk.js").Turned} Turned */

/**
 * @param {App} app @param {{text: string, hash: string}} draft the whole file, and what it is based on
 * @param {() => void} saved
 */
export function reviewDialog(app, { text, hash }, saved) {
  const state = {
    done: 0,
    total: 0,
    result: /** @type {Backtested | null} */ (null),
    error: "",
    isSaving: false,
    finishedAt: Infinity,
  };
  const abort = new AbortController();
  const run = async () => {
    try {
      // First: rules with errors are not run over the whole ledger.
      const problems = (await ask(app.transport, "check_rules", { text }, { signal: abort.signal })).problems;
      const first = problems.find((problem) => problem.level === "error");
      if (first) throw new Error(`Line ${first.line}: ${first.text}`);
      const progress = (/** @type {import("../types/desk.js").Progress} */ { done, total }) => {
        Object.assign(state, { done, total });
        app.update();
      };
      state.result = await ask(app.transport, "backtest", { text }, { signal: abort.signal, progress });
      state.finishedAt = performance.now();
      // Nothing else draws the button anew when it begins to count.
      setTimeout(() => app.update(), SETTLE_MS + 5);
    } catch (error) {
      if (!abort.signal.aborted) state.error = errorText(error);
    }
    app.update();
  };
  const isSettling = (at = performance.now()) => at - state.finishedAt < SETTLE_MS;
  const save = async (/** @type {Event} */ { timeStamp }) => {
    if (state.isSaving || isSettling(timeStamp)) return;
    state.isSaving = true;
    try {
      const told = await ask(app.transport, "save_rules", { text, hash });
      if (!told.done) throw new Error(told.text);
      app.closeDialog();
      app.toast("The rules are saved and decide from now on.");
      saved();
    } catch (error) {
      state.error = errorText(error);
    }
    state.isSaving = false;
    app.update();
  };
  const cancel = () => {
    abort.abort();
    app.closeDialog();
  };
  run();
  app.openDialog(
    "Before you save",
    () =>
      html` <div class="dialog-body review">
          ${state.error ? note("red", reason(state.error)) : nothing}
          ${state.result ? results(state.result, app.now) : nothing}
          ${
            state.result || state.error
              ? nothing
              : html`<p>What would these rules have decided about everything in the ledger?</p>
                  <progress max=${state.total || 1} value=${state.done} aria-label="Backtest"></progress>
                  <p class="small muted num">${progressWords(state)}</p>`
          }
        </div>
        <div class="dialog-foot">
          <button class="button quiet" type="button" @click=${cancel}>Cancel</button>
          ${state.result ? saveButton(state.result, isSettling(), state.isSaving, save) : nothing}
        </div>`,
  );
}

/** @param {Backtested} result @param {boolean} isSettling @param {boolean} isSaving @param {(event: Event) => void} save */
function saveButton({ let_through_count }, isSettling, isSaving, save) {
  return html`<button
    class="button ${let_through_count ? "danger primary" : "primary"}"
    type="button"
    data-save
    aria-disabled=${isSettling ? "true" : "false"}
    ?disabled=${isSaving}
    @click=${save}
  >
    ${let_through_count ? "Save, and allow what was denied" : "Save the rules"}
  </button>`;
}

/** @param {Backtested} result @param {number} now */
function results(result, now) {
  const { judged, let_through, let_through_count, turned, saved, examples } = result;
  const rest = let_through_count - let_through.length;
  return html` ${
      let_through_count
        ? html`<section class="let-through" data-let-through=${let_through_count}>
            <h3>
              ${icon("warning")}${counted(let_through_count, "denied call", "denied calls")} would be allowed
            </h3>
            ${turnedList(let_through, now)}
            ${rest > 0 ? html`<p class="small">and ${rest} more</p>` : nothing}
          </section>`
        : html`<p class="note green">
            ${icon("check")}<span>Nothing that was denied before would be allowed.</span>
          </p>`
    }
    <div class="review-figures">
      <div>
        <strong class="figure num">${saved.toLocaleString()}</strong
        ><span class="small muted">questions saved</span>
      </div>
      <div>
        <strong class="figure num">${judged.toLocaleString()}</strong
        ><span class="small muted">calls judged</span>
      </div>
    </div>
    ${
      turned.length
        ? html`<section>
            <h3>What changes</h3>
            <ul class="turns">
              ${turned.map(turn)}
            </ul>
          </section>`
        : html`<p class="muted">Every past call would have been decided as before.</p>`
    }
    ${
      examples.length
        ? html`<section>
            <h3>For example</h3>
            ${turnedList(examples, now)}
          </section>`
        : nothing
    }`;
}

/** @param {{done: number, total: number}} progress */
function progressWords({ done, total }) {
  return total ? `${done.toLocaleString()} of ${counted(total, "entry", "entries")}` : "Starting…";
}

/** @param {{from: string, to: string, count: number}} turn */
function turn({ from, to, count }) {
  return html`<li>
    <span>${decisionWords(from)}</span>${icon("next")}<strong>${decisionWords(to)}</strong>
    <span class="num muted">${count.toLocaleString()}</span>
  </li>`;
}

/** @param {Turned[]} calls @param {number} now */
function turnedList(calls, now) {
  return html`<ul class="turned">
    ${calls.slice(0, 12).map(
      (call) =>
        html`<li>
          <code>${shown(call.summary)}</code>
          <span class="tiny muted"
            >${folderName(call.project)} · ${clock(call.at_ms, now)} · ${decisionWords(call.was)}, would be
            ${decisionWords(call.would).toLowerCase()}</span
          >
        </li>`,
    )}
  </ul>`;
}
