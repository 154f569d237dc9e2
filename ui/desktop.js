// The desktop shell around the page: what it tells the page, and what the page asks of it.

import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { icon } from "./parts/icons.js";
import { noDesk } from "./parts/no_desk.js";
import { ShellSettings } from "./parts/shell_settings.js";
import { reason } from "./parts/text.js";
import { TauriTransport, call } from "./tauri_transport.js";
import { RequestError } from "./transport.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types/tauri.js").Tauri} Tauri */
/** @typedef {import("./types/tauri.js").SettingValue} SettingValue */

/** The views that show what the desk has. */
const OF_THE_DESK = ["inbox", "history", "rules", "sessions"];
/** How often the page looks for a desk while it shows that none runs. */
const LOOK_MS = 5_000;

export class Desktop {
  #tauri;
  #app;
  #lookedAt = -Infinity;
  /** @type {import("./types/tauri.js").ShellInfo} */
  info = { version: "", debug: false, folder: null, shortcut: "", shortcut_problem: null, theme: "system" };
  /** Whether a desk runs; null if that is not known yet. @type {boolean | null} */
  hasDesk = null;

  /** @param {Tauri} tauri @param {App} app */
  constructor(tauri, app) {
    this.#tauri = tauri;
    this.#app = app;
  }

  /** @param {() => string | null} key @param {(text: string) => void} lost */
  transport(key, lost) {
    return new TauriTransport(this.#tauri, key, lost);
  }

  settingsSection() {
    return new ShellSettings(this.#app, this);
  }

  /** What a view shows that lacks a desk. */
  renderNoDesk() {
    return noDesk(this.#app);
  }

  /** Asks what the shell is, and listens to it. */
  async start() {
    this.#tauri.event.listen("shell", ({ payload }) => {
      this.#happened(/** @type {import("./types/tauri.js").ShellEvent} */ (payload));
    });
    await this.#app.attempt(async () => {
      this.info = await call(this.#tauri, "shell_info");
    });
    showTheme(this.info.theme);
    document.addEventListener("click", (event) => this.#followed(event));
    document.addEventListener("keydown", (event) => event.key === "Enter" && this.#followed(event));
  }

  /** Whether the view shows what the desk has. */
  get needsDesk() {
    return OF_THE_DESK.includes(this.#app.route.view);
  }

  /** Whether the view cannot be shown, because it needs a desk and none is there. */
  get lacksDesk() {
    const { isPaired, loader, connection } = this.#app;
    return this.needsDesk && (!isPaired || (connection === "offline" && !loader.isLoaded));
  }

  /** @param {import("./types/tauri.js").ShellEvent} event */
  #happened(event) {
    const app = this.#app;
    if (event.kind === "theme") showTheme(event.theme);
    else if (event.kind === "open_question") app.questions.open(event.id);
    else if (event.kind === "deny_question") app.questions.deny(event.id);
    else if (event.kind === "open_conversation") app.go({ view: "chat", item: event.id });
    else if (event.kind === "open_history") app.go({ view: "history" });
    else if (event.kind === "open_folder") this.#openFolder(event.folder);
    else if (event.kind === "shown") this.#shown();
    else if (event.kind === "dragging") app.views.chat.drag(event.is_over);
    else if (event.kind === "attach") app.views.chat.attach(event);
    else if (event.kind === "paste") app.views.chat.paste(event);
    else if (event.kind === "saved") app.toast(event.path ? `Saved as ${event.path}` : "The file could not be saved.");
    else if (event.kind === "shortcut") this.#shortcutChanged(event.problem);
    else if (event.kind === "status") app.go({ view: "status" });
    else if (event.kind === "desk_started") app.retry();
  }

  /** Lets somebody write who has called the window, unless they had begun something in it. */
  #shown() {
    const app = this.#app;
    const isBusy = app.dialog || hasUnsavedText(document.activeElement);
    if (app.route.view === "chat" || !isBusy) app.views.chat.begin();
    // Whoever types already does not wait for the next frame.
    app.updateNow();
  }

  /** @param {string} folder */
  async #openFolder(folder) {
    const before = this.info.folder;
    // Where the chat begins, if there is no runtime yet.
    this.info.folder = folder;
    this.#app.go({ view: "chat" });
    const isOpen = await this.#app.chat.moveTo(folder);
    if (!isOpen && this.info.folder === folder) this.info.folder = before;
  }

  /** @param {string | null} problem */
  #shortcutChanged(problem) {
    this.info = { ...this.info, shortcut_problem: problem };
    this.#app.update();
  }

  /** Says in the window if the shortcut that shows it does not work. */
  banner() {
    const problem = this.info.shortcut_problem;
    if (!problem) return nothing;
    return html`<div class="banner" role="status" data-shortcut-problem>
      ${icon("keyboard")}<span>The shortcut does not work. ${reason(problem)}</span>
      <a class="button small" href="#/settings">Choose another</a>
      <button class="button quiet small" type="button" aria-label="Close" @click=${() => this.#shortcutChanged(null)}>
        ${icon("cross")}
      </button>
    </div>`;
  }

  /** Looks for a desk while the page says that there is none, now and then. @param {boolean} [isUrgent] */
  async look(isUrgent = false) {
    const now = Date.now();
    if (!this.lacksDesk || this.#app.isPaired) return;
    // A hidden window rests: the shell tells when a desk starts.
    if ((now - this.#lookedAt < LOOK_MS && !isUrgent) || document.hidden) return;
    this.#lookedAt = now;
    const line = JSON.stringify({ id: "look", kind: "status" });
    const had = this.hasDesk;
    try {
      await call(this.#tauri, "desk_request", { key: null, line, messages: this.#deaf() });
      this.hasDesk = true;
    } catch (error) {
      // A desk that knows no key of this window runs, too.
      this.hasDesk = error instanceof RequestError && error.status === 401;
    }
    if (had !== this.hasDesk) this.#app.update();
  }

  /** A channel whose messages nobody reads. */
  #deaf() {
    const channel = new this.#tauri.core.Channel();
    channel.onmessage = () => {};
    return channel;
  }

  /** Tells the tray how many questions wait. @param {number} count */
  waiting(count) {
    call(this.#tauri, "waiting_changed", { count }).catch(() => {});
  }

  /** @param {{id: string, agent: string, project: string, kind: string}} question */
  notify(question) {
    call(this.#tauri, "notify", question).catch(() => {});
  }

  /** @param {string} conversation @param {string} project @param {boolean} failed */
  notifyAnswer(conversation, project, failed) {
    call(this.#tauri, "notify_answer", { conversation, project, failed }).catch(() => {});
  }

  /** @param {string} agent @param {string} project */
  notifyUnchecked(agent, project) {
    call(this.#tauri, "notify_unchecked", { agent, project }).catch(() => {});
  }

  hide() {
    call(this.#tauri, "window_hide").catch(() => {});
  }

  /** Opens addresses outside of the page in the system's browser. @param {Event} event */
  #followed(event) {
    const url = addressOf(event.target);
    if (!url) return;
    event.preventDefault();
    this.#app.attempt(() => call(this.#tauri, "open_outside", { url }));
  }

  /**
   * Lets the user choose a folder in a dialog of the system. Returns null if they choose none.
   * @param {string} first the folder that is shown first @returns {Promise<string | null>}
   */
  chooseFolder(first) {
    return call(this.#tauri, "folder_choose", { first: first || null });
  }

  /** @returns {Promise<import("./types/tauri.js").ShellSettings>} */
  settings() {
    return call(this.#tauri, "settings_read");
  }

  /** @param {string} key @param {SettingValue} value @returns {Promise<void>} */
  async set(key, value) {
    await call(this.#tauri, "settings_write", { key, value });
    if (key === "shell.theme") showTheme(String(value));
  }

  /** @param {string} secret @returns {Promise<void>} */
  storeApiKey(secret) {
    return call(this.#tauri, "settings_store_api_key", { secret });
  }
}

/** Whether an element has a text that somebody has begun. What is searched for is kept in any case. @param {Element | null} field */
function hasUnsavedText(field) {
  const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  return isField && !field.matches("[type=checkbox], [type=search]") && field.value !== field.defaultValue;
}

/** @param {string} theme `light`, `dark`, or else that of the system */
function showTheme(theme) {
  const dark = /** @type {HTMLLinkElement | null} */ (document.getElementById("dark"));
  const media = { light: "not all", dark: "all" }[theme] ?? "(prefers-color-scheme: dark)";
  if (dark) dark.media = media;
  document.documentElement.style.colorScheme = media === "all" || media === "not all" ? theme : "light dark";
}

/** Returns the address outside of the page that a link leads to, if it is one. @param {EventTarget | null} target */
function addressOf(target) {
  const link = target instanceof Element ? target.closest("a") : null;
  const address = link?.dataset.address ?? link?.getAttribute("href") ?? "";
  return /^(https?:|mailto:)/i.test(address) ? address : null;
}
