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
/** So many messages are kept that were begun in other conversations. */
const MOST_DRAFTS = 50;
/** The states in which the runtime will be ready by itself. */
const BEFORE_READY = ["starting", "restarting"];

/** @typedef {ChatFile & {data: string, size: number}} AttachedFile */
/** @typedef {{conversation: string, text: string, files: AttachedFile[], isEditing: boolean}} Draft a message that is being written */

export class Composer {
  /** What is written in each conversation, by its id. @type {Map<string, Draft>} */
  #drafts = new Map();
  /** What is sent once the runtime is ready. @type {Draft | null} */
  #waiting = null;

  /**
   * @param {App} app @param {(composer: Composer) => void} send
   * @param {() => void} leave called for the key that leads upwards out of an empty field
   */
  constructor(app, send, leave) {
    this.app = app;
    this.send = send;
    this.leave = leave;
  }

  /** What is written in the conversation that is shown. */
  get draft() {
    return this.#draftOf(this.app.chat.conversation);
  }

  /** @param {string} conversation @returns {Draft} */
  #draftOf(conversation) {
    const draft = this.#drafts.get(conversation) ?? this.#begin(conversation);
    const unnamed = this.#drafts.get("");
    if (!conversation || !unnamed) return draft;
    // What was written before it was known where, belongs to the conversation that is opened first.
    this.#drafts.delete("");
    unnamed.conversation = conversation;
    return this.#prepend(draft, unnamed);
  }

  /** @param {string} conversation @returns {Draft} */
  #begin(conversation) {
    for (const [id, { text, files }] of this.#drafts)
      if ((!text && !files.length) || this.#drafts.size >= MOST_DRAFTS) this.#drafts.delete(id);
    const draft = { conversation, text: "", files: [], isEditing: false };
    this.#drafts.set(conversation, draft);
    return draft;
  }

  /** @param {Draft} draft @param {Draft} before */
  #prepend(draft, before) {
    draft.text = [before.text, draft.text].filter(Boolean).join("\n");
    draft.files = [...before.files, ...draft.files];
    draft.isEditing ||= before.isEditing;
    return draft;
  }

  /** Forgets what is written, so that the next message can begin. */
  clear() {
    this.#waiting = null;
    this.#drafts.delete(this.draft.conversation);
    // Whoever types on does not wait for the next drawing.
    this.fit();
    this.app.update();
  }

  /** Puts a message back that could not be sent, before what was written since. @param {Draft} message */
  restore(message) {
    this.#prepend(this.#draftOf(message.conversation), message);
    this.app.update();
  }

  /** Sends what is written, as soon as the runtime is ready. */
  #submit() {
    const { state } = this.app.chat.store;
    const { text, files } = this.draft;
    if (!text.trim() && !files.length) return;
    if (state === "ready") this.send(this);
    else if (BEFORE_READY.includes(state)) this.#waiting = this.draft;
    this.app.update();
  }

  /** Sends what has waited for the runtime, unless that has failed. @param {string} state of the runtime */
  sendWaiting(state) {
    const waiting = this.#waiting;
    if (!waiting || BEFORE_READY.includes(state)) return;
    this.#waiting = null;
    const { draft } = this;
    // Somebody may have gone to another conversation meanwhile.
    if (state === "ready" && waiting.conversation === draft.conversation) this.send(this);
  }

  /** Puts the focus into the field, or into that of the folder. Returns false if there is none now. */
  focus() {
    const field = /** @type {HTMLElement | null} */ (document.querySelector("#chat-words, [data-folder]"));
    field?.focus();
    return field !== null && field === document.activeElement;
  }

  /** Begins to edit the last message. Files whose content is not known here are named. @param {string} text @param {ChatFile[]} files */
  edit(text, files) {
    const { draft } = this;
    const kept = files.flatMap((file) => (file.data ? [{ ...file, data: file.data, size: file.size ?? sizeOf(file.data) }] : []));
    const lost = files.filter(({ data }) => !data).map(({ name, mime }) => name ?? mime);
    Object.assign(draft, { text, files: kept, isEditing: true });
    if (lost.length) this.app.toast(`${lost.join(", ")} could not be kept. Attach ${lost.length > 1 ? "them" : "it"} again.`);
    this.app.updateNow();
    this.focus();
  }

  /** @param {Iterable<File>} files */
  async add(files) {
    const { draft } = this;
    for (const file of files) {
      if (!this.#hasRoom(draft, file)) return;
      try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        let binary = "";
        // Byte by byte: as arguments of one call so many would be too many.
        for (const byte of bytes) binary += String.fromCharCode(byte);
        const mime = file.type || "text/plain";
        this.attach({ name: file.name, mime, data: btoa(binary), size: file.size }, draft);
      } catch (error) {
        // A folder cannot be read, and neither can a file that has changed since it was chosen.
        this.app.toast(`${file.name} cannot be attached: ${errorText(error)}`);
      }
    }
  }

  /** Attaches a file whose content is known. @param {AttachedFile} file @param {Draft} [begun] the message for which it was read */
  attach(file, begun = this.draft) {
    const draft = this.#draftOf(begun.conversation);
    if (!this.#hasRoom(draft, file)) return;
    draft.files = [...draft.files, file];
    this.app.update();
  }

  /** @param {Draft} draft @param {{size: number}} file */
  #hasRoom(draft, file) {
    const size = draft.files.reduce((sum, { size }) => sum + size, file.size);
    if (size > MOST_BYTES) this.app.toast("The files are too large for one message: 7 MB in total.");
    return size <= MOST_BYTES;
  }

  /**
   * Puts the text into the field and lets the field grow with it, within limits. The style sheet lays
   * out a copy of the text behind the field, which costs less than to measure the field in a long
   * conversation.
   */
  fit() {
    const field = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("chat-words"));
    const { draft } = this;
    if (field && field.value !== draft.text) {
      field.value = draft.text;
      // The field has line ends of its own.
      draft.text = field.value;
    }
    const frame = field?.parentElement;
    const copy = field?.value.slice(0, MOST_COPIED) ?? "";
    if (frame && frame.dataset.copy !== copy) frame.dataset.copy = copy;
  }

  /** @param {{canStop: boolean, state: string, stop: () => void}} chat and the state of its runtime */
  render({ canStop, state, stop }) {
    const isReady = state === "ready";
    const { draft } = this;
    const waits = state === "starting" ? "The runtime is starting…" : "The runtime is not running";
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#submit();
    };
    return html`<form class="composer" @submit=${submit}>
      ${
        draft.isEditing
          ? html`<p class="row small muted">
              ${icon("edit")}<span class="grow">Editing your last message. Sending it replaces the answer.</span>
              <button class="button quiet small" type="button" @click=${() => this.clear()}>Cancel</button>
            </p>`
          : nothing
      }
      ${draft.files.length ? html`<ul class="files">${draft.files.map((file) => this.#file(draft, file))}</ul>` : nothing}
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
              // Otherwise the same file could not be chosen again.
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
            @input=${(/** @type {Event} */ event) => {
              // Nothing else shows the text, so the page is not drawn.
              this.draft.text = /** @type {HTMLTextAreaElement} */ (event.target).value;
              this.fit();
              if (!this.#waiting) return;
              // Whoever writes on has not finished the message.
              this.#waiting = null;
              this.app.update();
            }}
            @keydown=${(/** @type {KeyboardEvent} */ event) => {
              // While an input method composes, Enter ends a word and not the message.
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
              if (event.key === "ArrowUp" && !this.draft.text) this.leave();
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
        <button class="button primary" type="submit" data-send ?disabled=${!isReady}>
          ${this.#waiting ? "Waiting…" : "Send"}
        </button>
      </div>
    </form>`;
  }

  /** @param {Draft} draft @param {AttachedFile} file */
  #file(draft, file) {
    const drop = () => {
      draft.files = draft.files.filter((other) => other !== file);
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

/** Returns how many bytes base64 stands for. @param {string} data */
function sizeOf(data) {
  return Math.floor((data.replace(/=+$/, "").length * 3) / 4);
}

/** Whether the clipboard has files and not addresses of the web. @param {DataTransfer | null} clipboard */
function namesFiles(clipboard) {
  const type = "text/uri-list";
  return clipboard !== null && clipboard.types.includes(type) && !/^https?:/i.test(clipboard.getData(type));
}
