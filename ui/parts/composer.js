// Where messages are written: text, files that are chosen, dropped or pasted, and the way to stop.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { errorText } from "../transport.js";
import { icon } from "./icons.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../chat_store.js").ChatFile} ChatFile */

/** All files of one message have to fit into one line of the protocol. */
const MOST_BYTES = 7_000_000;
/** So many characters of a text are more than the highest field shows. */
const MOST_COPIED = 4_000;

export class Composer {
  text = "";
  /** @type {(ChatFile & {data: string, size: number})[]} */
  files = [];
  /** Whether the last message is being edited. */
  isEditing = false;

  /**
   * @param {App} app @param {(composer: Composer) => void} send
   * @param {() => void} leave called for the key that leads upwards out of an empty field
   */
  constructor(app, send, leave) {
    this.app = app;
    this.send = send;
    this.leave = leave;
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

  /** Returns what is written and attached, and is empty from now on, so that the next message can begin. */
  take() {
    const { text, files, isEditing } = this;
    this.clear();
    return { text, files, isEditing };
  }

  /** Puts a message back that could not be sent, before what was written since. @param {ReturnType<Composer["take"]>} message */
  restore({ text, files, isEditing }) {
    this.text = [text, this.text].filter(Boolean).join("\n");
    this.files = [...files, ...this.files];
    this.isEditing ||= isEditing;
    this.app.update();
  }

  /** Puts the focus into the field. Returns false if there is none now. */
  focus() {
    const field = document.getElementById("chat-words");
    field?.focus();
    return field !== null && field === document.activeElement;
  }

  /** @param {string} text */
  edit(text) {
    this.text = text;
    this.isEditing = true;
    this.app.updateNow();
    this.focus();
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    for (const file of files) {
      if (!this.#hasRoom(file)) return;
      try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        let binary = "";
        for (const byte of bytes) binary += String.fromCharCode(byte);
        const mime = file.type || "text/plain";
        this.attach({ name: file.name, mime, data: btoa(binary), size: file.size });
      } catch (error) {
        // A folder cannot be read, and neither can a file that has changed since it was chosen.
        this.app.toast(`${file.name} cannot be attached: ${errorText(error)}`);
      }
    }
  }

  /** Attaches a file whose content is known. @param {ChatFile & {data: string, size: number}} file */
  attach(file) {
    if (!this.#hasRoom(file)) return;
    this.files = [...this.files, file];
    this.app.update();
  }

  /** @param {{size: number}} file */
  #hasRoom(file) {
    const size = this.files.reduce((sum, { size }) => sum + size, file.size);
    if (size > MOST_BYTES) this.app.toast("The files are too large for one message: 7 MB in all.");
    return size <= MOST_BYTES;
  }

  /**
   * Lets the field grow with its text, within limits. The style sheet lays out a copy of the text
   * behind the field, which costs less than to measure the field in a long conversation.
   */
  fit() {
    const field = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("chat-words"));
    const frame = field?.parentElement;
    const copy = field?.value.slice(0, MOST_COPIED) ?? "";
    if (frame && frame.dataset.copy !== copy) frame.dataset.copy = copy;
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
        <div class="growing">
          <textarea
            class="field"
            id="chat-words"
            data-message
            rows="1"
            aria-label="Message"
            placeholder=${isReady ? "Write a message" : waits}
            .value=${this.text}
            @input=${(/** @type {Event} */ event) => {
              // Nothing else shows the text, so the page is not drawn.
              this.text = /** @type {HTMLTextAreaElement} */ (event.target).value;
              this.fit();
            }}
            @keydown=${(/** @type {KeyboardEvent} */ event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
              if (event.key === "ArrowUp" && !this.text) this.leave();
            }}
            @paste=${(/** @type {ClipboardEvent} */ event) => {
              const files = [...(event.clipboardData?.files ?? [])];
              // The shell hands over the files themselves, so their addresses are not typed.
              const isHandedOver = this.app.desktop && namesFiles(event.clipboardData);
              if (!files.length && !isHandedOver) return;
              event.preventDefault();
              this.add(files);
            }}
          ></textarea>
        </div>
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

/** Whether the clipboard has files and not addresses of the web. @param {DataTransfer | null} clipboard */
function namesFiles(clipboard) {
  const type = "text/uri-list";
  return clipboard !== null && clipboard.types.includes(type) && !/^https?:/i.test(clipboard.getData(type));
}
