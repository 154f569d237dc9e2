// Settings: who is linked, notifications of this browser, and the state of the desk.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";
import { counted, duration } from "../words.js";
import { DeskSettings } from "../parts/desk_settings.js";
import { confirmDialog } from "../parts/confirm.js";
import { keyboardSection } from "../parts/help.js";
import { icon } from "../parts/icons.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Link} Link */

export class SettingsView {
  #shell;
  #settings;
  #links = /** @type {Link[] | null} */ (null);
  #status = /** @type {import("../types/desk.js").DeskStatus | null} */ (null);

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#settings = new DeskSettings(app);
    this.#shell = app.desktop?.settingsSection() ?? null;
  }

  enter() {
    this.#shell?.load();
    this.#load();
  }

  async #load() {
    if (!this.app.isPaired) return;
    this.#settings.load();
    return this.app.attempt(async () => {
      this.#links = (await ask(this.app.transport, "links", {})).links;
      this.#status = (await ask(this.app.transport, "status", {})).status;
    });
  }

  /** @param {import("../types/desk.js").Entry} entry */
  entry(entry) {
    if (/pair|link/.test(entry.kind)) this.#load();
  }

  render() {
    return html`<div class="scroll">
      <div class="page settings">
        <header class="page-head"><h1>Settings</h1></header>
        ${this.#shell?.render() ?? nothing} ${this.app.isPaired ? this.#linked() : nothing}
        ${this.app.desktop ? nothing : this.#bell()}${this.#desk()}
        ${this.app.isPaired ? this.#settings.render() : nothing}
        <section>
          <h2>The runtime</h2>
          <p><a class="button" href="#/status">${icon("status")}Show status</a></p>
        </section>
        ${keyboardSection(this.app)}
      </div>
    </div>`;
  }

  #linked() {
    const links = this.#links;
    return html`<section>
      <h2>Who may answer</h2>
      <p class="muted">
        Phones, pages and programs that were linked with a code. To link another one, run
        <code>callgate pair</code> or <code>callgate open</code>.
      </p>
      ${
        links
          ? html`<ul class="panel links">
              ${links.map(
                (link) =>
                  html`<li data-link=${link.link}>
                    ${icon(link.link.startsWith("chat") ? "phone" : "browser", "icon-l")}
                    <div class="grow">
                      <strong>${shown(link.name)}</strong><br /><span class="tiny muted"
                        >${link.link.startsWith("chat") ? "A chat on a phone" : "A page or program"}</span
                      >
                    </div>
                    <button
                      class="button small danger"
                      type="button"
                      data-unlink
                      @click=${() => this.#confirm(link)}
                    >
                      Remove
                    </button>
                  </li>`,
              )}${links.length ? nothing : html`<li class="muted">Nothing is linked yet.</li>`}
            </ul>`
          : html`<div class="skeleton links-skeleton"></div>`
      }
    </section>`;
  }

  /** @param {Link} link */
  #confirm({ link, name }) {
    const remove = () =>
      this.app.attempt(async () => {
        this.app.toast((await ask(this.app.transport, "unpair", { link })).text);
        await this.#load();
      });
    const text =
      "It can no longer answer questions. Everyone who is linked will be notified. If it is this browser, the page asks for a new code.";
    confirmDialog(this.app, `Remove “${name}”?`, text, "Remove", () => void remove());
  }

  #bell() {
    const permission = this.app.notices.permission();
    const turnOn = () => this.app.notices.allow();
    const states = {
      granted: html`<p class="row">${icon("check")}Turned on in this browser.</p>`,
      denied: html`<p class="muted">Turned off in the browser's own settings for this page.</p>`,
      default: html`<p>
        <button class="button" type="button" @click=${turnOn}>${icon("bell")}Turn on</button>
      </p>`,
    };
    return html`<section>
      <h2>Notifications</h2>
      <p class="muted">They name the agent, the project and the kind of call, and never the command.</p>
      ${states[permission]}
    </section>`;
  }

  #desk() {
    const status = this.#status;
    if (!status) return nothing;
    const { telegram, terminal, viewers } = status.reach;
    return html`<section>
      <h2>The desk</h2>
      <dl class="facts panel desk-facts">
        <dt>Version</dt>
        <dd>${status.version}</dd>
        <dt>Running for</dt>
        <dd>${duration(status.uptime_seconds * 1_000)}</dd>
        <dt>Terminal</dt>
        <dd>${terminal ? "also asks there" : "off"}</dd>
        <dt>Telegram</dt>
        <dd>
          ${telegram ? (telegram.trouble ?? (telegram.bot ? `@${telegram.bot}` : "connecting")) : "not set up"}
        </dd>
        <dt>Viewers</dt>
        <dd class="num">${viewers.connected} connected, ${viewers.paired} linked</dd>
        <dt>Ledger</dt>
        <dd><code>${status.database}</code>, ${counted(status.head, "entry", "entries")}</dd>
      </dl>
    </section>`;
  }
}
