// A view whose files are loaded when somebody first goes there, so that the page itself is small.

import { html } from "./vendor/lit-html/lit-html.js";
import { note } from "./parts/controls.js";
import { errorText } from "./transport.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./app.js").View} View */

/**
 * @template {View} T
 * @implements {View}
 */
export class LazyView {
  #app;
  #load;
  #loading = /** @type {Promise<void> | null} */ (null);
  #problem = "";
  /** The view, once it is loaded. @type {T | null} */
  loaded = null;

  /** @param {App} app @param {() => Promise<T>} load */
  constructor(app, load) {
    this.#app = app;
    this.#load = load;
  }

  /** @param {import("./router.js").Route} route */
  enter(route) {
    if (this.loaded) this.loaded.enter(route);
    else this.load();
  }

  /** Loads the view, if it is not here yet. */
  load() {
    this.#loading ??= this.#begin();
    return this.#loading;
  }

  async #begin() {
    try {
      this.loaded = await this.#load();
      if (this.#app.view === this) this.loaded.enter(this.#app.route);
    } catch (error) {
      this.#problem = errorText(error);
      // Whoever comes here again tries again.
      this.#loading = null;
    }
    this.#app.update();
  }

  render() {
    if (this.loaded) return this.loaded.render();
    return html`<div class="empty">
      ${this.#problem ? note("red", `This view could not be loaded. ${this.#problem}`) : html`<span class="spinner"></span>`}
    </div>`;
  }

  rendered() {
    this.loaded?.rendered?.();
  }

  /** @param {import("./types/desk.js").Entry} entry */
  entry(entry) {
    this.loaded?.entry?.(entry);
  }

  /** @param {string} key @param {number} at */
  key(key, at) {
    return this.loaded?.key?.(key, at) ?? false;
  }
}
