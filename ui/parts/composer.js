// Where messages are written: text, files that are chosen, dropped or pasted, and the way to stop.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { icon } from "./icons.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").ChatFile} ChatFile */

/** All files of one message have to fit into one line of the protocol. */
const MOST_BYTES = 7_000_000;

export class Composer {
  text = "";
  /** @type {(ChatFile & {data: string, size: number})[]} */
  files = [];
  /** Whether the last message is being edited. */
  isEditing = false;
  #fitted = { field: /** @type {HTMLElement | null} */ (null), text: "", width: 0 };

  /** @param {App} app @param {(composer: Composer) => void} send */
  constructor(app, send) {
    this.app = app;
    this.send = send;
  }

  clear() {
    this.text = "";
    this.files = [];
    this.isEditing = false;
    // What was typed since the last drawing is not known to it, and would stay.
    const field = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("chat-words"));
    if (field) field.value = "";
    this.app.update();
  }

  /** @param {string} text */
  edit(text) {
    this.text = text;
    this.isEditing = true;
    this.app.updateNow();
    document.getElementById("chat-words")?.focus();
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    for (const file of files) {
      const size = this.files.reduce((sum, { size }) => sum + size, file.size);
      if (size > MOST_BYTES) {
        this.app.toast("The files are too large for one message: 7 MB in all.");
        return;
      }
      const bytes = new Uint8Array(await file.arrayBuffer());
      let binary = "";
      for (const byte of bytes) binary += String.fromCharCode(byte);
      const mime = file.type || "text/plain";
      this.files = [...this.files, { name: file.name, mime, data: btoa(binary), size: file.size }];
      this.app.update();
    }
  }

  /** Makes the field as high as its text needs, within limits. */
  fit() {
    const field = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("chat-words"));
    // Measuring makes the browser lay out the page, so it is done only for another text or window.
    const { text, width } = this.#fitted;
    if (!field || (field === this.#fitted.field && field.value === text && innerWidth === width)) return;
    this.#fitted = { field, text: field.value, width: innerWidth };
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 220)}px`;
  }

  /** @param {{canStop: boolean, state: string, stop: () => void}} chat and the state of its runtime */
  render({ canStop, state, stop }) {
    const isReady = state === "ready";
    const waits = state === "starting" ? "The runtime starts…" : "The runtime is not running";
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (isReady && (this.text.trim() || this.files.length)) this.send(this);
    };
    return html`<form class="composer" @submit=${submit}>
      ${
        this.isEditing
          ? html`<p class="row small muted">
              ${icon("edit")}<span class="grow">You edit your last message. Its answer is replaced.</span>
              <button class="button quiet small" type="button" @click=${() => this.clear()}>Cancel</button>
            </p>`
          : nothing
      }
      ${this.files.length ? html`<ul class="files">${this.files.map((file) => this.#file(file))}</ul>` : nothing}
      <div class="composer-box">
        <label class="button quiet attach" title="Attach files">
          ${icon("clip")}<span class="only-read">Attach files</span>
          <input
            type="file"
            multiple
            class="only-read"
            @change=${(/** @type {Event} */ event) => {
              const input = /** @type {HTMLInputElement} */ (event.target);
              this.add([...(input.files ?? [])]);
              input.value = "";
            }}
          />
        </label>
        <textarea
          class="field"
          id="chat-words"
          data-message
          rows="1"
          aria-label="Message"
          placeholder=${isReady ? "Write a message" : waits}
          .value=${this.text}
          @input=${(/** @type {Event} */ event) => {
            this.text = /** @type {HTMLTextAreaElement} */ (event.target).value;
            this.app.update();
          }}
          @keydown=${(/** @type {KeyboardEvent} */ event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
          }}
          @paste=${(/** @type {ClipboardEvent} */ event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (!files.length) return;
            event.preventDefault();
            this.add(files);
          }}
        ></textarea>
        ${
          canStop
            ? html`<button class="button" type="button" data-stop aria-label="Stop the answer" @click=${stop}>
                ${icon("stop")}<span class="wide-only">Stop</span>
              </button>`
            : nothing
        }
        <button class="button primary" type="submit" data-send ?disabled=${!isReady}>Send</button>
      </div>
    </form>`;
  }

  /** @param {ChatFile} file */
  #file(file) {
    const drop = () => {
      this.files = this.files.filter((other) => other !== file);
      this.app.update();
    };
    const picture = file.mime.startsWith("image/")
      ? html`<img src="data:${file.mime};base64,${file.data}" alt="" />`
      : icon("file");
    return html`<li class="chip" data-file=${file.name ?? ""}>
      ${picture}${file.name || file.mime}
      <button type="button" class="drop" aria-label="Remove ${file.name}" @click=${drop}>${icon("cross")}</button>
    </li>`;
  }
}
