// The transport of the desktop shell: commands of its program, and channels for what it sends.

import { RequestError, encode, keepWatching } from "./transport.js";

/** @typedef {import("./types/desk.js").DeskMessage} DeskMessage */
/** @typedef {import("./types/tauri.js").Tauri} Tauri */
/** @typedef {import("./transport.js").Transport} Transport */
/** @typedef {import("./transport.js").TransportEvent} TransportEvent */

/** How long after the end of its command the last message of an answer may arrive. */
const LATE_MS = 2_000;

/**
 * Calls a command of the shell. Fails with a `RequestError` if it is refused.
 * @template T
 * @param {Tauri} tauri @param {string} command @param {object} [args] @returns {Promise<T>}
 */
export async function call(tauri, command, args = {}) {
  try {
    return await tauri.core.invoke(command, args);
  } catch (error) {
    const { status, text } = /** @type {{status?: number, text?: string}} */ (error ?? {});
    throw new RequestError(text ?? String(error), status ?? 500);
  }
}

/** @implements {Transport} */
export class TauriTransport {
  #tauri;
  #key;
  #lost;
  #next = 1;

  /**
   * @param {Tauri} tauri
   * @param {() => string | null} key returns the key of this window
   * @param {(text: string) => void} lost called when the key is no longer accepted
   */
  constructor(tauri, key, lost) {
    this.#tauri = tauri;
    this.#key = key;
    this.#lost = lost;
  }

  /** @param {string} code @param {string} name @returns {Promise<string>} the key */
  pair(code, name) {
    return call(this.#tauri, "desk_pair", { code, name });
  }

  /** @param {string} kind @param {object} [fields] @param {import("./transport.js").RequestOptions} [options] */
  async *request(kind, fields = {}, options = {}) {
    const line = encode(`p${this.#next++}`, kind, fields, options.raw ?? {});
    /** @type {DeskMessage[]} */
    const arrived = [];
    let wake = () => {};
    const messages = this.#channel((/** @type {DeskMessage} */ message) => {
      arrived.push(message);
      wake();
    });
    const state = { isOver: false, error: /** @type {unknown} */ (null) };
    // The command may end before its last message is here.
    const late = () => setTimeout(() => [(state.isOver = true), wake()], LATE_MS);
    this.#deskCommand("desk_request", { line, messages }).then(late, (error) => {
      state.error = error;
      wake();
    });
    // Otherwise the loop would learn of it only with the next message.
    options.signal?.addEventListener("abort", () => wake());
    for (;;) {
      options.signal?.throwIfAborted();
      const message = arrived.shift();
      if (message) {
        yield message;
        // Any other message is the answer, and nothing follows it.
        if (message.kind !== "waiting" && message.kind !== "progress") return;
      } else if (state.error) throw state.error;
      else if (state.isOver) return;
      else await new Promise((resolve) => (wake = () => resolve(undefined)));
    }
  }

  /** @param {import("./transport.js").EventHandlers} handlers */
  watch(handlers) {
    // The shell tells when a desk starts.
    const pauseAfter = (/** @type {unknown} */ error) =>
      error instanceof RequestError && error.status === 0 ? Infinity : null;
    return keepWatching((last, take, signal) => this.#followDesk(last, take, signal), handlers, pauseAfter);
  }

  /** @param {number | null} after @param {(event: TransportEvent) => void} take @param {AbortSignal} signal */
  async #followDesk(after, take, signal) {
    const { events, ended, end } = this.#stream(take);
    const watch = await this.#deskCommand("desk_watch", { after, events });
    const close = () => {
      end();
      call(this.#tauri, "desk_unwatch", { watch }).catch(() => {});
    };
    // It may have been closed while the shell began to watch.
    if (signal.aborted) return close();
    signal.addEventListener("abort", close);
    await ended;
  }

  /** @param {string | null} folder @returns {Promise<import("./transport.js").ChatPlace>} */
  startChat(folder) {
    return call(this.#tauri, "chat_start", { folder });
  }

  /** @param {string} line @returns {Promise<string>} */
  sendChat(line) {
    return call(this.#tauri, "chat_send", { line });
  }

  /** @returns {Promise<void>} */
  restartChat() {
    return call(this.#tauri, "chat_restart");
  }

  /** @param {{session: string, last: number} | null} seen @param {(event: TransportEvent) => void} take */
  async followChat(seen, take) {
    const { events, ended } = this.#stream(take);
    const known = { session: seen?.session ?? null, after: seen?.last ?? null };
    const watch = await call(this.#tauri, "chat_watch", { ...known, events });
    if (watch === null) return false;
    await ended;
    return true;
  }

  /** @param {(event: TransportEvent) => void} take */
  #stream(take) {
    let end = () => {};
    const ended = new Promise((resolve) => (end = () => resolve(undefined)));
    const events = this.#channel((/** @type {TransportEvent} */ event) =>
      event.event === "end" ? end() : take(event),
    );
    return { events, ended, end };
  }

  /** @template T @param {(message: T) => void} take */
  #channel(take) {
    /** @type {import("./types/tauri.js").Channel<T>} */
    const channel = new this.#tauri.core.Channel();
    channel.onmessage = take;
    return channel;
  }

  /** Calls a command that needs the key. @param {string} command @param {object} args @returns {Promise<any>} */
  async #deskCommand(command, args) {
    try {
      return await call(this.#tauri, command, { key: this.#key(), ...args });
    } catch (error) {
      if (error instanceof RequestError && error.status === 401) this.#lost(error.message);
      throw error;
    }
  }
}
