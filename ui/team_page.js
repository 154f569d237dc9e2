// The page of a person of a team, which is served over TLS: how they sign in and out, and which views
// there are for them.

import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { note } from "./parts/controls.js";
import { mark } from "./parts/icons.js";
import { errorText } from "./transport.js";
import { browserName } from "./views/pair.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./http_transport.js").HttpTransport} HttpTransport */

/** The name under which a tab remembers the sign-in that it has begun. */
const TICKET = "callgate.sign-in";
export class TeamPage {
  /** The views of a person. @type {import("./router.js").ViewName[]} */
  views = ["inbox", "history", "rules", "you"];
  /** The name of the person, once the desk has said it. */
  person = "";
  #app;
  #transport;
  #text = "";
  #isError = false;
  #isBusy = false;
  #offersSignIn = false;

  /** @param {App} app @param {HttpTransport} transport */
  constructor(app, transport) {
    this.#app = app;
    this.#transport = transport;
  }

  /** Takes an invitation, or what became of a sign-in, out of the address. */
  arrive() {
    const fragment = new URLSearchParams(location.hash.replace(/^#/, ""));
    const [secret, answer] = [fragment.get("join"), fragment.get("answer")];
    const isBroken = fragment.has("sign-in");
    if (!secret && !answer && !isBroken) return this.#look();
    // What proves who this is must not stay in the address, which is copied and remembered.
    history.replaceState(null, "", location.pathname);
    const ticket = sessionStorage.getItem(TICKET) ?? "";
    sessionStorage.removeItem(TICKET);
    if (isBroken) this.reset("The sign-in was not finished. Try again.", true);
    if (secret && !this.#app.isPaired) this.#join("/api/join", { secret });
    else if (answer && !this.#app.isPaired) this.#join("/api/signed-in", { answer, ticket });
    else this.#look();
  }

  /** @param {string} text why somebody has to sign in again @param {boolean} [isError] */
  reset(text, isError = false) {
    [this.#text, this.#isError, this.person] = [text, isError, ""];
    this.#look();
  }

  /** Finds out how people sign in, if nobody is signed in. */
  async #look() {
    if (this.#app.isPaired) return;
    await this.#app.attempt(async () => {
      this.#offersSignIn = (await this.#transport.callTeam("/api/team")).sign_in;
    });
  }

  /** @param {string} path @param {Record<string, string>} proof an invitation, or what a sign-in has brought */
  #join(path, proof) {
    return this.#busy(async () => {
      const joined = await this.#transport.callTeam(path, { ...proof, name: browserName() });
      this.#app.paired(joined.token);
    });
  }

  /** Goes to the provider with which people of the company sign in. */
  #signIn() {
    return this.#busy(async () => {
      const { address, ticket } = await this.#transport.callTeam("/api/sign-in", {});
      sessionStorage.setItem(TICKET, ticket);
      location.assign(address);
    });
  }

  /** @param {() => Promise<void>} work */
  async #busy(work) {
    if (this.#isBusy) return;
    [this.#isBusy, this.#text] = [true, ""];
    this.#app.update();
    try {
      await work();
    } catch (error) {
      this.reset(errorText(error), true);
    }
    this.#isBusy = false;
    this.#app.update();
  }

  /** Signs out: the key of this browser is worth nothing afterwards. */
  async leave() {
    await this.#app.attempt(async () => {
      await this.#transport.callTeam("/api/leave", {});
      this.#app.locked("You have signed out.");
    });
  }

  renderSignIn() {
    const busy = html`<p class="row"><span class="spinner"></span>Signing in…</p>`;
    const ways = html`<ol>
      <li><span>Ask the owner of the team's desk for an invitation.</span></li>
      <li><span>Open its link in this browser. It works once.</span></li>
    </ol>`;
    const button = html`<button class="button primary" type="button" data-sign-in @click=${() => this.#signIn()}>
      Sign in with your company's account
    </button>`;
    return html`<div class="pairing" data-view="sign-in">
      <form class="panel" @submit=${(/** @type {Event} */ event) => event.preventDefault()}>
        ${mark()}
        <div class="stack">
          <h1>Sign in to the team's desk</h1>
          <p class="muted">An answer given here lets agents of your team run commands. That is why only members can open it.</p>
        </div>
        ${this.#text ? note(this.#isError ? "red" : "amber", this.#text) : nothing}
        ${this.#isBusy ? busy : html`${this.#offersSignIn ? button : nothing}${ways}`}
      </form>
    </div>`;
  }
}
