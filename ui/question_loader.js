// Loads the open questions from the desk into the store: the list, and the cards of single ones.

import { ask } from "./transport.js";

/** So many new questions at once are loaded as a list instead of one by one. */
const MANY = 5;
/** How long a card that could not be loaded is left alone: the view asks for it at every drawing. */
const PAUSE_MS = 2_000;

export class QuestionLoader {
  #app;
  /** Whether the open questions have been loaded once. */
  isLoaded = false;
  /** The questions whose cards are on their way. @type {Set<string>} */
  #loading = new Set();
  #isListLoading = false;
  #isListStale = false;

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.#app = app;
  }

  async loadInbox() {
    // A change while the list is on its way may be missing in it, so it is loaded once more.
    this.#isListStale = true;
    if (this.#isListLoading) return;
    this.#isListLoading = true;
    await this.#app.attempt(async () => {
      while (this.#isListStale) {
        this.#isListStale = false;
        const { head, open, rows } = await ask(this.#app.transport, "inbox", {});
        this.#app.store.inboxLoaded({ head, open, rows }, Date.now());
        this.isLoaded = true;
        this.#app.changed();
      }
    });
    this.#isListLoading = false;
  }

  /** Loads a question that was just asked, alone or with others. @param {string} id */
  loadNew(id) {
    if (this.#loading.size >= MANY) this.loadInbox();
    else this.loadCard(id);
  }

  /** @param {string} id */
  async loadCard(id) {
    if (this.#loading.has(id)) return;
    this.#loading.add(id);
    const { store, transport } = this.#app;
    let isHere = false;
    await this.#app.attempt(async () => {
      const answer = await ask(transport, "card", { question: id });
      if (answer.kind === "card") store.cardLoaded(answer.card);
      else store.over(id, answer.text, Date.now());
      this.#app.changed();
      isHere = true;
    });
    if (isHere) this.#loading.delete(id);
    else setTimeout(() => this.#loading.delete(id), PAUSE_MS);
  }
}
