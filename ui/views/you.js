// What a person of a team sees about themselves: who they are, where they are signed in, and how to
// link a phone.

import { html } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";
import { keyboardSection } from "../parts/help.js";
import { icon } from "../parts/icons.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Link} Link */

export class YouView {
  #links = /** @type {Link[] | null} */ (null);
  #code = "";

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  enter() {
    this.#code = "";
    return this.#load();
  }

  #load() {
    return this.app.attempt(async () => {
      this.#links = (await ask(this.app.transport, "links", {})).links;
    });
  }

  render() {
    const leave = () => this.app.team?.leave();
    return html`<div class="scroll">
      <div class="page settings">
        <header class="page-head">
          <h1 class="grow">${shown(this.app.team?.person || "You")}</h1>
          <button class="button" type="button" data-sign-out @click=${leave}>Sign out</button>
        </header>
        ${this.#linked()} ${this.#phone()}
        ${keyboardSection(this.app)}
      </div>
    </div>`;
  }

  #linked() {
    const links = this.#links;
    if (!links) return html`<div class="skeleton links-skeleton"></div>`;
    return html`<section>
      <h2>Where you are signed in</h2>
      <p class="muted">Browsers and phones with which you can answer. Removing one signs it out.</p>
      <ul class="panel links">
        ${links.map((link) => this.#link(link))}
      </ul>
    </section>`;
  }

  /** @param {Link} link */
  #link({ link, name }) {
    const isPhone = !link.startsWith("viewer/");
    const remove = () =>
      this.app.attempt(async () => {
        this.app.toast((await ask(this.app.transport, "unpair", { link })).text);
        await this.#load();
      });
    return html`<li data-link=${link}>
      ${icon(isPhone ? "phone" : "browser", "icon-l")}
      <div class="grow">
        <strong>${shown(name)}</strong><br /><span class="tiny muted">${isPhone ? "A chat on a phone" : "A browser"}</span>
      </div>
      <button class="button small danger" type="button" data-unlink @click=${remove}>Remove</button>
    </li>`;
  }

  #phone() {
    const make = () =>
      this.app.attempt(async () => {
        const answer = await ask(this.app.transport, "code", {});
        if (answer.kind === "code") this.#code = answer.code;
        else this.app.toast(answer.text);
      });
    const told = html`<p>Send this to the bot of the team within ten minutes: <code data-pair-code>/pair ${this.#code}</code></p>`;
    return html`<section>
      <h2>Answer on a phone</h2>
      <p class="muted">A chat with the team's bot on Telegram that you link answers in your name.</p>
      ${
        this.#code
          ? told
          : html`<p><button class="button" type="button" data-link-phone @click=${make}>${icon("phone")}Link a phone</button></p>`
      }
    </section>`;
  }
}
