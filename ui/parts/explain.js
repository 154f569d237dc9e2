// Explains what the rules decide about a call that somebody types.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, errorText } from "../transport.js";
import { decisionWords, folderName } from "../words.js";
import { note, valueOf } from "./controls.js";
import { icon } from "./icons.js";
import { reason, segment, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */

const TONES = /** @type {Record<string, string>} */ ({ allow: "green", deny: "red", confirm: "amber" });

export class ExplainPanel {
  #command = "";
  #project = "";
  #projects = /** @type {string[]} */ ([]);
  #typing = 0;
  #round = 0;
  #answer = /** @type {import("../types/desk.js").Explained | null} */ (null);
  #error = "";

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  /** Loads the projects to choose from. */
  load() {
    return this.app.attempt(async () => {
      const { sessions } = await ask(this.app.transport, "sessions", {});
      this.#projects = [...new Set(sessions.map((session) => session.project))];
      this.#project ||= this.#projects[0] ?? "";
    });
  }

  /** @param {string} command */
  #type(command) {
    this.#command = command;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#explain(), 180);
  }

  async #explain() {
    const round = ++this.#round;
    this.#error = "";
    if (!this.#command.trim()) this.#answer = null;
    else {
      try {
        const answer = await ask(this.app.transport, "explain", {
          command: this.#command,
          project: this.#project || "/",
        });
        if (round === this.#round) this.#answer = answer;
      } catch (error) {
        this.#error = errorText(error);
      }
    }
    this.app.update();
  }

  render() {
    const answer = this.#answer;
    const hint = html`<p class="small muted">Type a command to see which rule decides it, and why.</p>`;
    return html`<section class="panel explain">
      <h2>What would happen?</h2>
      <label class="labelled"
        >A command<textarea
          class="field mono"
          rows="3"
          data-explain
          spellcheck="false"
          autocapitalize="off"
          placeholder="git push origin main"
          @input=${(/** @type {Event} */ event) => this.#type(valueOf(event))}
        ></textarea>
      </label>
      <label class="labelled"
        >In the project<input
          class="field mono"
          list="explain-projects"
          spellcheck="false"
          placeholder="/home/…"
          .value=${this.#project}
          @change=${(/** @type {Event} */ event) => {
            this.#project = valueOf(event);
            this.#explain();
          }}
      /></label>
      <datalist id="explain-projects">
        ${this.#projects.map((project) => html`<option value=${project}>${folderName(project)}</option>`)}
      </datalist>
      <div aria-live="polite" class="stack">
        ${this.#error ? note("red", reason(this.#error)) : answer ? this.#verdict(answer) : hint}
      </div>
    </section>`;
  }

  /** @param {import("../types/desk.js").Explained} answer */
  #verdict({ decision, because, considered, segments }) {
    return html`<div class="verdict" data-verdict=${decision}>
        <span class="chip ${TONES[decision] ?? ""}">${decisionWords(decision)}</span>
        <p>${because ? reason(because) : "No rule decides it, so you are asked."}</p>
      </div>
      ${segments ? html`<pre class="code-box command small">${segments.map(segment)}</pre>` : nothing}
      ${
        considered.length
          ? html`<ul class="considered">
              ${considered.map(
                ({ rule, matches, text }) =>
                  html`<li class=${matches ? "is-match" : ""}>
                    ${icon(matches ? "check" : "cross")}<span
                      ><strong>${rule}</strong> <span class="muted">${shown(text)}</span></span
                    >
                  </li>`,
              )}
            </ul>`
          : nothing
      }`;
  }
}
