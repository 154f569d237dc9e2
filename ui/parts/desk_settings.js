// The settings of callgate: those that a page may set, and how to set the others.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, errorText } from "../transport.js";
import { note, valueOf } from "./controls.js";
import { icon } from "./icons.js";
import { reason, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").SettingView} SettingView */

/** The parts of the list, by the beginnings of their keys. */
const PARTS = /** @type {[string, RegExp][]} */ ([
  ["Questions", /^(?!agent\.|shell\.|page\.|team\.|telegram\.)/],
  ["Phone and page", /^(telegram|page)\./],
  ["The team's desk", /^team\./],
  ["The runtime", /^agent\./],
  ["The desktop shell", /^shell\./],
]);

export class DeskSettings {
  #app;
  #settings = /** @type {SettingView[] | null} */ (null);
  #problems = /** @type {string[]} */ ([]);
  /** What became of the last attempt to save each setting: the words of an error, or "". */
  #saved = /** @type {Map<string, string>} */ (new Map());

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
  }

  async load() {
    await this.#app.attempt(async () => {
      const { settings, problems } = await ask(this.#app.transport, "settings", {});
      [this.#settings, this.#problems] = [settings, problems];
    });
  }

  /** Returns whether that worked. @param {string} key @param {string | null} value null removes it */
  async #save(key, value) {
    let problem;
    try {
      const told = await ask(this.#app.transport, "set_setting", { key, ...(value === null ? {} : { value }) });
      problem = told.done ? "" : told.text;
    } catch (error) {
      problem = errorText(error);
    }
    this.#saved.set(key, problem);
    await this.load();
    this.#app.update();
    return !problem;
  }

  render() {
    const settings = this.#settings;
    if (!settings) return nothing;
    const part = (/** @type {[string, RegExp]} */ [title, keys]) => {
      const own = settings.filter(({ key }) => keys.test(key));
      return html`<details class="panel setting-part" data-part=${title}>
        <summary>${title}<span class="muted small num">${own.filter(({ origin }) => origin !== "default").length || ""}</span></summary>
        ${own.map((setting) => this.#row(setting))}
      </details>`;
    };
    return html`<section data-desk-settings>
      <h2>All settings</h2>
      <p class="muted">
        What is saved here is written to the settings file, and takes effect after a restart. What names a program, a file, a socket or an address can only be set in a terminal.
      </p>
      ${this.#problems.map((text) => note("red", reason(text)))} ${PARTS.map(part)}
    </section>`;
  }

  /** @param {SettingView} setting */
  #row(setting) {
    const { key, help, origin, access } = setting;
    const saved = this.#saved.get(key);
    const id = `setting-${key}`;
    const isOwn = access === "set" && origin.includes("config.toml");
    return html`<div class="setting" data-setting=${key}>
      ${access === "see" ? html`<span><code>${key}</code></span>` : html`<label for=${id}><code>${key}</code></label>`}
      <p class="small muted">${reason(help)}</p>
      ${access === "see" ? this.#command(setting) : access === "set" ? this.#field(setting, id) : this.#secret(setting, id)}
      <p class="tiny muted row">
        ${
          saved === undefined
            ? html`<span>${origin === "default" ? "The default" : origin}</span>`
            : saved
              ? note("red", reason(saved))
              : html`<span class="is-saved row">${icon("check")}Saved</span>`
        }
        ${
          isOwn
            ? html`<button class="link plain" type="button" @click=${() => this.#save(key, null)}>Use the default</button>`
            : nothing
        }
      </p>
    </div>`;
  }

  /** @param {SettingView} setting @param {string} id */
  #field({ key, value, choices }, id) {
    const save = (/** @type {Event} */ event) => void this.#save(key, valueOf(event));
    const words = choices ?? (typeof value === "boolean" ? ["true", "false"] : null);
    if (!words)
      return html`<input class="field" id=${id} .defaultValue=${value ?? ""} .value=${value === null ? "" : String(value)} @change=${save} />`;
    const now = String(value ?? "");
    const choose = async (/** @type {Event} */ event) => {
      const field = /** @type {HTMLSelectElement} */ (event.target);
      // A choice that was refused is not in effect.
      if (!(await this.#save(key, field.value))) field.value = now;
    };
    return html`<select class="field" id=${id} @change=${choose}>
      ${words.includes(now) ? nothing : html`<option selected>${now}</option>`}
      ${words.map((word) => html`<option value=${word} ?selected=${word === now}>${word}</option>`)}
    </select>`;
  }

  /** A secret is sent and never read. @param {SettingView} setting @param {string} id */
  #secret({ key, value }, id) {
    const save = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const form = /** @type {HTMLFormElement} */ (event.target);
      const secret = String(new FormData(form).get("secret") ?? "");
      form.reset();
      if (secret) this.#save(key, secret);
    };
    return html`<form class="row" @submit=${save}>
      <input
        class="field grow"
        id=${id}
        name="secret"
        type="password"
        autocomplete="off"
        placeholder=${value === true ? "Stored in the keyring" : "Not set"}
      />
      <button class="button small" type="submit">Save to keyring</button>
    </form>`;
  }

  /** @param {SettingView} setting */
  #command({ key, value, command }) {
    const copy = () =>
      this.#app.attempt(async () => {
        await navigator.clipboard.writeText(command ?? "");
        this.#app.toast("Copied.");
      });
    const now = Array.isArray(value) ? value.join(", ") : value === null ? "" : typeof value === "object" ? "set" : String(value);
    return html`${now ? html`<code class="setting-value">${shown(now)}</code>` : nothing}
      ${
        command
          ? html`<p class="row small">
              <code class="grow">${command}</code>
              <button class="button quiet small" type="button" aria-label="Copy the command for ${key}" @click=${copy}>
                ${icon("copy")}
              </button>
            </p>`
          : html`<p class="small">Set it in the settings file.</p>`
      }`;
  }
}
