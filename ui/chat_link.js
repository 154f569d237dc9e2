// The page's session with the runtime: requests and their answers, and everything that happens.

import { RequestError, backOff } from "./transport.js";

/** @typedef {import("./transport.js").Transport} Transport */
/** @typedef {import("./chat_store.js").ChatStore} ChatStore */
/** @typedef {"session" | "ready" | "missed" | "grown" | "other" | "gone"} LinkChange */

/** How long an answer may take that no model writes. */
const PATIENCE_MS = 30_000;
/** The replies that add to a text: they may come thousands of times in a second. */
const GROWTH = new Set(["token", "thinking", "tool_input", "tool_progress"]);

export class ChatLink {
  #transport;
  #store;
  #changed;
  #last = 0;
  #isWatching = false;
  /** @type {Map<string, (reply: any) => void>} */
  #waiting = new Map();

  /**
   * @param {Transport} transport @param {ChatStore} store
   * @param {(event: LinkChange) => void} changed
   */
  constructor(transport, store, changed) {
    this.#transport = transport;
    this.#store = store;
    this.#changed = changed;
  }

  /** @param {string | null} folder */
  start(folder) {
    return this.#transport.startChat(folder);
  }

  restart() {
    return this.#transport.restartChat();
  }

  /** Follows the events until there is no runtime any more, over interruptions. */
  async watch() {
    if (this.#isWatching) return;
    this.#isWatching = true;
    for (let attempt = 0; this.#isWatching; attempt++) {
      const seen = this.#last ? { session: this.#store.session, last: this.#last } : null;
      try {
        if (!(await this.#transport.followChat(seen, (event) => this.#dispatch(event)))) break;
        attempt = 0;
      } catch (error) {
        // Another attempt would end in the same way.
        if (error instanceof RequestError && [401, 404].includes(error.status)) break;
      }
      await new Promise((resolve) => setTimeout(resolve, backOff(attempt)));
    }
    this.#isWatching = false;
    this.#changed("gone");
  }

  /** @param {import("./transport.js").TransportEvent} event */
  #dispatch({ event, id, data }) {
    if (id !== null) this.#last = id;
    const seq = id ?? 0;
    const store = this.#store;
    if (event === "session") {
      // The numbers of another runtime's events begin anew.
      if (data.session !== store.session) this.#last = 0;
      store.entered(data);
      return this.#changed("session");
    }
    if (event === "missed") {
      store.missed();
      return this.#changed("missed");
    }
    if (event === "state") store.stateChanged(data);
    else if (event === "request") store.requested(data, seq);
    else if (event === "reply") store.replied(data, seq);
    else if (event === "failed") store.failed(data, seq);
    if (event === "reply" && GROWTH.has(data.type)) return this.#changed("grown");
    this.#answer(data.id);
    this.#changed(event === "state" && data.state === "ready" ? "ready" : "other");
  }

  /** @param {string} id */
  #answer(id) {
    const wake = this.#waiting.get(id);
    const end = wake && this.#store.takeEnd(id);
    if (!wake || !end) return;
    this.#waiting.delete(id);
    wake(end);
  }

  /** Sends a request and returns its id. @param {string} kind @param {object} [fields] */
  send(kind, fields = {}) {
    return this.sendLine(JSON.stringify({ id: "page", kind, ...fields }));
  }

  /** Sends a request that is JSON already. @param {string} line */
  sendLine(line) {
    return this.#transport.sendChat(line);
  }

  /**
   * Sends a request and waits for its end. Fails with the words of an error.
   * @param {string} kind @param {object} [fields] @returns {Promise<any>}
   */
  async ask(kind, fields) {
    return this.ended(await this.send(kind, fields));
  }

  /** Waits for the end of a request. @param {string} id @param {number} [patience] @returns {Promise<any>} */
  async ended(id, patience = PATIENCE_MS) {
    const end =
      // It may have come before anybody waited for it.
      this.#store.takeEnd(id) ??
      (await new Promise((resolve, reject) => {
        this.#waiting.set(id, resolve);
        setTimeout(() => {
          this.#waiting.delete(id);
          reject(new RequestError("The runtime does not answer.", 503));
        }, patience);
      }));
    if (end.type === "error") throw new RequestError(end.error, 400, undefined, end.data?.kind);
    return end.data ?? {};
  }
}
