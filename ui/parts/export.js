// Exports the entries of a filter as a file.

import { html } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";

/** @typedef {import("../app.js").App} App */

/** @param {App} app @param {import("../types/desk.js").Filter} filter */
export function exportDialog(app, filter) {
  const state = { isBusy: false, size: 0 };
  const size = () => (state.size / 1024).toFixed(0);
  const abort = new AbortController();
  const run = (/** @type {"jsonl" | "csv"} */ format) =>
    app
      .attempt(async () => {
        state.isBusy = true;
        /** @type {string[]} */
        const parts = [];
        let before = /** @type {number | null} */ (null);
        do {
          /** @type {import("../types/desk.js").AnswerTo<"export">} */
          const page = await ask(
            app.transport,
            "export",
            { format, filter, ...(before === null ? {} : { before }) },
            { signal: abort.signal },
          );
          parts.push(page.text);
          state.size += page.text.length;
          before = page.next;
          app.update();
        } while (before !== null && !abort.signal.aborted);
        if (abort.signal.aborted) return;
        const kind = format === "csv" ? "text/csv" : "application/x-ndjson";
        saveFile(parts, kind, `callgate-${new Date().toISOString().slice(0, 10)}.${format}`);
        app.closeDialog();
      })
      .finally(() => {
        state.isBusy = false;
      });
  app.openDialog(
    "Export",
    () =>
      html`<div class="dialog-body">
          <p>
            ${Object.keys(filter).length ? "The entries that match the filters above" : "All entries of the ledger"},
            newest first. Secrets are masked, as they are in the ledger.
          </p>
          ${state.isBusy ? html`<p class="row muted"><span class="spinner"></span>${size()} KB so far</p>` : ""}
        </div>
        <div class="dialog-foot">
          <button
            class="button quiet"
            type="button"
            @click=${() => {
              abort.abort();
              app.closeDialog();
            }}
          >
            Cancel
          </button>
          <button
            class="button"
            type="button"
            data-export="csv"
            ?disabled=${state.isBusy}
            @click=${() => run("csv")}
          >
            CSV
          </button>
          <button
            class="button primary"
            type="button"
            data-export="jsonl"
            ?disabled=${state.isBusy}
            @click=${() => run("jsonl")}
          >
            JSON lines
          </button>
        </div>`,
  );
}

/** Saves a file as a download. @param {string[]} parts @param {string} type @param {string} name */
export function saveFile(parts, type, name) {
  const link = document.createElement("a");
  const address = URL.createObjectURL(new Blob(parts, { type }));
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
