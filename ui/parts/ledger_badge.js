// Verifies the ledger, and says whether its chain is whole.

import { html } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";
import { counted } from "../words.js";
import { icon } from "./icons.js";

/** @typedef {import("../types/desk.js").Progress} Progress */
/** @typedef {import("../types/desk.js").Verified} Verified */

export class LedgerBadge {
  #verify = /** @type {Progress | Verified | null} */ (null);

  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
  }

  render() {
    const state = this.#verify;
    const run = () =>
      this.app.attempt(async () => {
        this.#verify = { done: 0, total: 0 };
        this.app.update();
        const progress = (/** @type {Progress} */ done) => {
          this.#verify = done;
          this.app.update();
        };
        this.#verify = await ask(this.app.transport, "verify", {}, { progress }).catch((error) => {
          this.#verify = null;
          throw error;
        });
      });
    const explain = () =>
      this.app.openDialog(
        "The ledger",
        () =>
          html`<div class="dialog-body">
              <p>
                Each entry contains the hash of the one before it. If somebody changed or removed an entry,
                the chain would break there.
              </p>
              <p>${state && "text" in state ? state.text : ""}</p>
              <p class="small muted">The same as <code>callgate log --verify</code> in a terminal.</p>
            </div>
            <div class="dialog-foot">
              <button
                class="button"
                type="button"
                @click=${() => {
                  this.app.closeDialog();
                  run();
                }}
              >
                Verify again
              </button>
            </div>`,
      );
    if (!state)
      return html`<button class="button small quiet" type="button" data-verify @click=${run}>
        ${icon("gate")}<span class="wide-only">Verify the ledger</span><span class="narrow-only">Verify</span>
      </button>`;
    if (!("whole" in state))
      return html`<span class="chip" data-verify="running"
        ><span class="spinner"></span
        >Verifying${state.total ? ` ${Math.floor((state.done / state.total) * 100)} %` : "…"}</span
      >`;
    const verdict = state.whole
      ? `${counted(state.entries, "entry", "entries")}, unbroken`
      : "The chain is broken";
    return html`<button
      class="chip ${state.whole ? "green" : "red"} verified"
      type="button"
      data-verify=${state.whole ? "whole" : "broken"}
      @click=${explain}
    >
      ${icon(state.whole ? "check" : "warning")}${verdict}
    </button>`;
  }
}
