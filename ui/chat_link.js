// How chat pages reach the runtime: requests over HTTP, and everything that happens as events.

import { EventReader } from "./streams.js";
import { RequestError, backOff, chunks } from "./transport.js";

/** @typedef {import("./transport.js").HttpTransport} HttpTransport */
/** @typedef {import("./chat_store.js").ChatStore} ChatStore */

/** How long an answer may take that is not a turn. */
const PATIENCE_MS = 30_000;

export class ChatLink {
  #transport;
  #store;
  #changed;
  #last = "";
  #isWatching = false;
  /** @type {Map<string, (reply: any) => void>} */
  #waiting = new Map();

  /**
   * @param {HttpTransport} transport @param {ChatStore} store
   * @param {(event: "session" | "ready" | "missed" | "other" | "gone") => void} changed
   */
  constructor(transport, store, changed) {
    this.#transport = transport;
    this.#store = store;
    this.#changed = changed;
  }

  /** @param {string} folder */
  async start(folder) {
    const answer = await this.#transport.call("/api/chat/start", { body: JSON.stringify({ folder }) });
    return /** @type {{session: string, folder: string}} */ (await answer.json());
  }

  /** Follows the events until there is no runtime any more, over interruptions. */
  async watch() {
    if (this.#isWatching) return;
    this.#isWatching = true;
    for (let attempt = 0; this.#isWatching; attempt++) {
      try {
        if (!(await this.#follow())) break;
        attempt = 0;
      } catch (error) {
        if (error instanceof RequestError && [401, 404].includes(error.status)) break;
      }
      await new Promise((resolve) => setTimeout(resolve, backOff(attempt)));
    }
    this.#isWatching = false;
    this.#changed("gone");
  }

  /** Follows the events of one connection. Returns false if there is no runtime. */
  async #follow() {
    const known = this.#last ? `?session=${encodeURIComponent(this.#store.session)}` : "";
    /** @type {Record<string, string>} */
    const headers = this.#last ? { "Last-Event-ID": this.#last } : {};
    const answer = await this.#transport.call(`/api/chat/events${known}`, { headers, method: "GET" });
    if (answer.status === 204) return false;
    const reader = new EventReader();
    for await (const chunk of chunks(answer)) {
      for (const event of reader.push(chunk)) this.#dispatch(event);
    }
    return true;
  }

  /** @param {import("./streams.js").StreamEvent} event */
  #dispatch({ event, id, data: text }) {
    const data = JSON.parse(text);
    const seq = Number(id ?? 0);
    if (id !== null) this.#last = id;
    const store = this.#store;
    if (event === "session") {
      if (data.session !== store.session) this.#last = "";
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
  async send(kind, fields = {}) {
    const body = JSON.stringify({ id: "page", kind, ...fields });
    const answer = await this.#transport.call("/api/chat", { body });
    return /** @type {string} */ ((await answer.json()).id);
  }

  /**
   * Sends a request and waits for its end. Fails with the words of an error.
   * @param {string} kind @param {object} [fields] @returns {Promise<any>}
   */
  async ask(kind, fields) {
    const id = await this.send(kind, fields);
    const end =
      this.#store.takeEnd(id) ??
      (await new Promise((resolve, reject) => {
        this.#waiting.set(id, resolve);
        setTimeout(() => {
          this.#waiting.delete(id);
          reject(new RequestError("The runtime does not answer.", 503));
        }, PATIENCE_MS);
      }));
    if (end.type === "error") throw new RequestError(end.error, 400);
    return end.data ?? {};
  }
}
