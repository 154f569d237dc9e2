// The settings of the runtime and of the window, in the desktop shell only.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { errorText } from "../transport.js";
import { note, valueOf } from "./controls.js";
import { icon } from "./icons.js";
import { reason, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../desktop.js").Desktop} Desktop */
/** @typedef {import("../types/tauri.js").Setting} Setting */
/** @typedef {import("../types/tauri.js").SettingValue} SettingValue */

const TITLES = /** @type {Record<string, string>} */ ({
  "agent.engine": "Engine",
  "agent.model": "Model",
  "agent.roots": "Folders it may use",
  "shell.shortcut": "Window shortcut",
  "shell.theme": "Theme",
});
/** What is said otherwise here than on a command line. */
const HELPS = /** @type {Record<string, string>} */ ({
  "agent.roots": "The folders in which its tools may work",
});
/** The settings that are lists. */
const LISTS = ["agent.roots"];
/** Where a value comes from that nobody has set. */
const DEFAULT = "default";
const API_KEY = "api key";

export class ShellSettings {
  #app;
  #desktop;
  #read = /** @type {import("../types/tauri.js").ShellSettings | null} */ (null);
  #problem = "";
  /** What became of the last attempt to save each setting: the words of an error, or "" if it worked. */
  #saved = /** @type {Map<string, string>} */ (new Map());
  #secret = "";
  #needsRestart = false;

  /** @param {App} app @param {Desktop} desktop */
  constructor(app, desktop) {
    this.#app = app;
    this.#desktop = desktop;
  }

  /** Reads the settings. */
  async load() {
    try {
      this.#read = await this.#desktop.settings();
      this.#problem = "";
    } catch (error) {
      this.#problem = errorText(error);
    }
    this.#app.update();
  }

  /** Returns whether that worked. @param {string} key @param {() => Promise<void>} write */
  async #save(key, write) {
    try {
      await write();
      this.#saved.set(key, "");
      if (key === API_KEY || key.startsWith("agent.")) this.#needsRestart = true;
    } catch (error) {
      this.#saved.set(key, errorText(error));
      this.#app.update();
      return false;
    }
    await this.load();
    return true;
  }

  render() {
    const settings = this.#read?.settings ?? [];
    return html`<section data-shell-settings>
      <h2>The agent and this window</h2>
      ${[this.#problem, ...(this.#read?.problems ?? [])].map((text) => (text ? note("red", reason(text)) : nothing))}
      ${this.#read || this.#problem ? nothing : html`<div class="skeleton links-skeleton"></div>`}
      ${
        this.#read
          ? html`<div class="panel shell-settings">
              ${settings.map((setting) => this.#field(setting))} ${this.#apiKey(this.#read)}
            </div>`
          : nothing
      }
      ${this.#needsRestart ? this.#restart() : nothing}
    </section>`;
  }

  #restart() {
    const restart = () => {
      this.#needsRestart = false;
      this.#app.chat.restart();
    };
    return html`<p class="row wrap small">
      <span>Takes effect after a restart.</span>
      <button class="button small" type="button" data-restart @click=${restart}>Restart now</button>
    </p>`;
  }

  /** @param {Setting} setting */
  #field(setting) {
    const { key, help, origin } = setting;
    const id = `set-${key}`;
    const change = async (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement | HTMLSelectElement} */ (event.target);
      const value = typedValue(setting, field.value);
      const isSaved = await this.#save(key, () => this.#desktop.set(key, value));
      // A choice that was refused is not in effect. What was typed can be mended.
      if (!isSaved && setting.choices) field.value = String(setting.value ?? "");
    };
    return html`<div class="setting" data-setting=${key}>
      <label for=${id}>${TITLES[key] ?? key}</label>
      ${control(setting, id, change)} ${LISTS.includes(key) ? this.#addFolder(setting) : nothing}
      <p class="tiny muted">${shown(HELPS[key] ?? help)} <span title="Where the value comes from">(${shown(origin)})</span></p>
      ${this.#outcome(key)}
    </div>`;
  }

  /** @param {Setting} setting a list of folders */
  #addFolder({ key, value, origin }) {
    const add = async () => {
      const folders = origin === DEFAULT ? [this.#app.chat.store.folder].filter(Boolean) : [value ?? []].flat();
      const chosen = await this.#desktop.chooseFolder(folders.at(-1) ?? "");
      if (chosen && !folders.includes(chosen))
        await this.#save(key, () => this.#desktop.set(key, [...folders, chosen]));
    };
    return html`<button class="button small start" type="button" data-add-folder @click=${() => this.#app.attempt(add)}>
      Add a folder…
    </button>`;
  }

  /** @param {import("../types/tauri.js").ShellSettings} read */
  #apiKey({ has_api_key }) {
    const store = (/** @type {Event} */ event) => {
      event.preventDefault();
      const secret = this.#secret.trim();
      if (!secret) return;
      // The page has no more use for it, whether it is stored or not.
      this.#secret = "";
      /** @type {HTMLFormElement} */ (event.target).reset();
      this.#save(API_KEY, () => this.#desktop.storeApiKey(secret));
    };
    return html`<form class="setting" data-setting="api_key" @submit=${store}>
      <label for="set-api-key">API key</label>
      <div class="row">
        <input
          class="field mono grow"
          id="set-api-key"
          type="password"
          data-api-key
          autocomplete="off"
          spellcheck="false"
          placeholder=${has_api_key ? "A key is stored. Type another one to replace it." : "No key is stored."}
          .value=${this.#secret}
          @input=${(/** @type {Event} */ event) => {
            this.#secret = valueOf(event);
          }}
        />
        <button class="button" type="submit" data-store-key>Store</button>
      </div>
      <p class="tiny muted">It goes into the keyring of your system, and is never shown again.</p>
      ${this.#outcome(API_KEY)}
    </form>`;
  }

  /** @param {string} key */
  #outcome(key) {
    const saved = this.#saved.get(key);
    if (saved === undefined) return nothing;
    return saved
      ? note("red", shown(saved))
      : html`<p class="tiny row is-saved" role="status">${icon("check", "is-good")}Saved</p>`;
  }
}

/** @param {Setting} setting @param {string} id @param {(event: Event) => void} change */
function control({ key, value, choices, origin }, id, change) {
  if (choices) {
    const all = value === null || choices.includes(String(value)) ? choices : [String(value), ...choices];
    return html`<select class="field" id=${id} @change=${change}>
      ${value === null ? html`<option value="" selected>Not set</option>` : nothing}
      ${all.map((one) => html`<option value=${one} ?selected=${one === String(value)}>${one}</option>`)}
    </select>`;
  }
  if (LISTS.includes(key)) {
    // By default it is the folder of the chat, and not that of the shell.
    const lines = origin === DEFAULT ? [] : [value ?? []].flat();
    return html`<textarea
      class="field mono"
      id=${id}
      rows=${Math.min(6, lines.length + 1)}
      spellcheck="false"
      placeholder="The chat's folder. To use others, enter one per line"
      .defaultValue=${lines.join("\n")}
      .value=${lines.join("\n")}
      @change=${change}
    ></textarea>`;
  }
  return html`<input
    class="field mono"
    id=${id}
    autocomplete="off"
    spellcheck="false"
    placeholder="Not set"
    .defaultValue=${value ?? ""}
    .value=${value === null ? "" : String(value)}
    @change=${change}
  />`;
}

/**
 * Returns what was typed as a value of the setting's kind; nothing at all unsets it.
 * @param {Setting} setting @param {string} text @returns {SettingValue}
 */
function typedValue({ key }, text) {
  const words = text.trim();
  const lines = words.split("\n").map((line) => line.trim());
  // No shortcut at all is something else than the one that is the default.
  if (!words) return key === "shell.shortcut" ? "" : null;
  return LISTS.includes(key) ? lines.filter(Boolean) : words;
}
