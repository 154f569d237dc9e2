// Links this browser to the desk with a one-time code.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { note, valueOf } from "../parts/controls.js";
import { mark } from "../parts/icons.js";
import { reason } from "../parts/text.js";
import { pairingCode } from "../router.js";
import { errorText } from "../transport.js";

/** @typedef {import("../app.js").App} App */

export class PairView {
  #code = "";
  #text = "";
  #isError = false;
  #isBusy = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /** @param {string} text why the browser has to be linked again */
  reset(text) {
    this.#text = text;
    this.#isError = false;
    this.#code = "";
  }

  /** @param {string} code */
  async pair(code) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#text = "";
    this.app.update();
    try {
      const key = await this.app.transport.pair(code.replace(/[\s-]/g, "").toUpperCase(), this.#name());
      this.#code = "";
      this.app.paired(key);
    } catch (error) {
      this.#text = errorText(error);
      this.#isError = true;
    }
    this.#isBusy = false;
    this.app.update();
  }

  /** Returns a name for this browser or window in the list of links. */
  #name() {
    return this.app.desktop ? "The callgate window" : browserName();
  }

  render() {
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (this.#code.trim()) this.pair(this.#code);
    };
    const what = this.app.desktop ? "window" : "browser";
    return html`<div class="pairing" data-view="pair">
      <form class="panel" @submit=${submit}>
        ${mark()}
        <div class="stack">
          <h1>Link this ${what}</h1>
          <p class="muted">
            An answer given here lets agents run commands on this computer. So
            ${this.app.desktop ? "the inbox" : "the page"} opens only with a code from your own terminal.
          </p>
        </div>
        ${this.#text ? note(this.#isError ? "red" : "amber", reason(this.#text)) : nothing}
        <ol>
          <li>
            <span
              >Run <code>callgate open</code> in a terminal, or press <kbd>o</kbd> where
              <code>callgate up</code> runs.</span
            >
          </li>
          <li>
            <span
              >${this.app.desktop ? "Type" : "Follow the link, or type"} the code it shows. It works once, for a
              minute.</span
            >
          </li>
        </ol>
        <label class="labelled"
          >Code
          <input
            class="field code"
            name="code"
            data-code
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck="false"
            maxlength="20"
            placeholder="········"
            autofocus
            .value=${this.#code}
            @input=${(/** @type {InputEvent} */ event) => {
              this.#code = valueOf(event);
            }}
        /></label>
        <button class="button primary" type="submit" ?disabled=${this.#isBusy}>
          ${this.#isBusy ? html`<span class="spinner"></span>Linking…` : `Link this ${what}`}
        </button>
      </form>
    </div>`;
  }
}

/** Takes the code that links this browser out of the address. */
export function takeCode() {
  const code = pairingCode(location.hash);
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

/** Returns a name for this browser in the list of links. */
export function browserName() {
  const agent = navigator.userAgent;
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /Firefox\//.test(agent)
      ? "Firefox"
      : /Chrome\//.test(agent)
        ? "Chrome"
        : /Safari\//.test(agent)
          ? "Safari"
          : "Browser";
  const system = /Windows/.test(agent)
    ? "Windows"
    : /Mac OS/.test(agent)
      ? "macOS"
      : /Android/.test(agent)
        ? "Android"
        : /Linux/.test(agent)
          ? "Linux"
          : "";
  return system ? `${browser} on ${system}` : browser;
}
