// The state of the runtime: its process, its engine, and the current conversation.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { counted, duration } from "../words.js";
import { icon } from "../parts/icons.js";
import { STATES } from "../parts/runtime_note.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */

const WORK = /** @type {Record<string, string>} */ ({
  idle: "Idle",
  busy: "Working on a message",
});

export class StatusView {
  /** When the status was asked for. */
  #askedAt = 0;
  #isAsking = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  enter() {
    const { chat } = this.app;
    if (chat.runtime === "unknown") chat.begin(null);
    this.#load();
  }

  async #load() {
    const { chat } = this.app;
    if (this.#isAsking || chat.runtime !== "open" || chat.store.state !== "ready") return;
    [this.#isAsking, this.#askedAt] = [true, Date.now()];
    await this.app.attempt(() => chat.loadStatus());
    this.#isAsking = false;
  }

  render() {
    const { chat, now } = this.app;
    const { state } = chat.store;
    if (now - this.#askedAt > 3_000) this.#load();
    const isOpen = chat.runtime === "open";
    return html`<div class="scroll">
      <div class="page settings" data-status=${isOpen ? state : "none"}>
        <header class="page-head"><h1 class="grow">Status</h1></header>
        <section>
          <h2>The runtime</h2>
          ${isOpen ? this.#facts() : html`<p class="muted">No runtime is running. The chat starts one.</p>`}
          <p class="row wrap">
            ${isOpen ? this.#restart() : nothing}<a class="button" href="#/chat">${icon("chat")}Open the chat</a>
          </p>
        </section>
        ${this.#shell()}
      </div>
    </div>`;
  }

  #restart() {
    return html`<button class="button" type="button" data-restart @click=${() => this.app.chat.restart()}>
      ${icon("again")}Restart now
    </button>`;
  }

  #facts() {
    const { store, status } = this.app.chat;
    const isReady = store.state === "ready";
    const work = isReady && status ? (WORK[status.state] ?? status.state) : STATES[store.state];
    const age = this.#askedAt ? this.app.now - this.#askedAt : 0;
    return html`<dl class="facts panel desk-facts">
      <dt>State</dt>
      <dd data-fact="state">${work}</dd>
      ${store.stateText ? html`<dt>Last words</dt><dd><code>${shown(store.stateText)}</code></dd>` : nothing}
      <dt>Folder</dt>
      <dd><code>${shown(store.folder)}</code></dd>
      ${
        isReady && status
          ? html`<dt>Engine</dt>
              <dd data-fact="engine">
                ${status.engine ?? "not known"}${status.engineReason ? ` (${status.engineReason})` : ""}
              </dd>
              <dt>Model</dt>
              <dd data-fact="model">${status.model ?? "not known"}</dd>
              ${status.mode ? html`<dt>Mode</dt><dd data-fact="mode">${status.mode}</dd>` : nothing}
              <dt>Running for</dt>
              <dd data-fact="uptime">${duration(status.uptime + age)}</dd>
              <dt>Conversation</dt>
              <dd class="num" data-fact="length">${counted(status.conversationLength, "message")}</dd>`
          : nothing
      }
    </dl>`;
  }

  #shell() {
    const { desktop } = this.app;
    if (!desktop) return nothing;
    return html`<section>
      <h2>The window</h2>
      <dl class="facts panel desk-facts">
        <dt>Version</dt>
        <dd>${desktop.info.version}</dd>
        <dt>Shortcut</dt>
        <dd>${desktop.info.shortcut || "none"}</dd>
        <dt>Desk</dt>
        <dd>${this.app.connection === "live" ? "connected" : desktop.hasDesk ? "runs, not linked" : "none is running"}</dd>
      </dl>
    </section>`;
  }
}
