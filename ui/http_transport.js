// The transport of a browser: HTTP to the host of the page. docs/protocol/page.md describes it.

import { EventReader, LineReader } from "./streams.js";
import { RequestError, encode, keepWatching } from "./transport.js";

/** @typedef {import("./types/desk.js").DeskMessage} DeskMessage */
/** @typedef {import("./transport.js").Transport} Transport */
/** @typedef {import("./transport.js").TransportEvent} TransportEvent */

const UNREACHABLE = "callgate does not answer. Is `callgate up` running?";
/** The host sends a comment every 15 s. A stream that is silent for longer is dead. */
const LONGEST_SILENCE_MS = 40_000;
/** How long events are read before the browser may draw. */
const LONGEST_WORK_MS = 8;
/** A browser that has not drawn for so long does not: nobody sees the page. */
const LONGEST_FRAME_MS = 100;

/** @implements {Transport} */
export class HttpTransport {
  #key;
  #lost;
  #next = 1;

  /**
   * @param {() => string | null} key returns the key of this browser
   * @param {(text: string) => void} lost called when the key is no longer accepted
   */
  constructor(key, lost) {
    this.#key = key;
    this.#lost = lost;
  }

  /** @param {string} code @param {string} name @returns {Promise<string>} the key */
  async pair(code, name) {
    const answer = await send("/api/pair", { body: JSON.stringify({ code, name }) });
    return (await answer.json()).token;
  }

  /**
   * Sends a request that only the page of a team has, and returns its answer.
   * @param {string} path @param {object} [fields] without them it is a GET
   */
  async callTeam(path, fields) {
    /** @type {RequestInit} */
    const init = fields ? { body: JSON.stringify(fields) } : { method: "GET" };
    const answer = await (this.#key() ? this.#send(path, init) : send(path, init));
    return answer.json();
  }

  /** @param {string} kind @param {object} [fields] @param {import("./transport.js").RequestOptions} [options] */
  async *request(kind, fields = {}, options = {}) {
    const id = `p${this.#next++}`;
    const body = encode(id, kind, fields, options.raw ?? {});
    const answer = await this.#send("/api/desk", { body, signal: options.signal });
    const lines = new LineReader();
    for await (const chunk of chunks(answer)) {
      for (const line of lines.push(chunk)) {
        if (line) yield /** @type {DeskMessage} */ (JSON.parse(line));
      }
    }
    const rest = lines.finish();
    if (rest) yield /** @type {DeskMessage} */ (JSON.parse(rest));
  }

  /** @param {import("./transport.js").EventHandlers} handlers */
  watch(handlers) {
    return keepWatching(
      async (last, take, signal) => void (await this.#follow("/api/events", last, take, signal)),
      handlers,
      () => null,
    );
  }

  /** @param {string | null} folder */
  async startChat(folder) {
    const answer = await this.#send("/api/chat/start", { body: JSON.stringify({ folder }) });
    return /** @type {import("./transport.js").ChatPlace} */ (await answer.json());
  }

  /** @param {string} line */
  async sendChat(line) {
    const answer = await this.#send("/api/chat", { body: line });
    return /** @type {string} */ ((await answer.json()).id);
  }

  async restartChat() {
    await this.#send("/api/chat/restart", { body: "{}" });
  }

  /** @param {{session: string, last: number} | null} seen @param {(event: TransportEvent) => void} take */
  async followChat(seen, take) {
    const known = seen ? `?session=${encodeURIComponent(seen.session)}` : "";
    const answer = await this.#follow(`/api/chat/events${known}`, seen?.last ?? null, take);
    return answer.status !== 204;
  }

  /**
   * Passes on the events of a stream until it ends, after the one with this number.
   * @param {string} path @param {number | null} last @param {(event: TransportEvent) => void} take
   * @param {AbortSignal} [signal]
   */
  async #follow(path, last, take, signal) {
    const abort = new AbortController();
    signal?.addEventListener("abort", () => abort.abort());
    /** @type {Record<string, string>} */
    const headers = last === null ? {} : { "Last-Event-ID": String(last) };
    const answer = await this.#send(path, { headers, signal: abort.signal, method: "GET" });
    const reader = new EventReader();
    // A connection that broke without a word would look alive for ever.
    const watchdog = () => setTimeout(() => abort.abort(), LONGEST_SILENCE_MS);
    let [timer, rested] = [watchdog(), performance.now()];
    try {
      for await (const chunk of chunks(answer)) {
        clearTimeout(timer);
        timer = watchdog();
        for (const { event, id, data } of reader.push(chunk)) {
          take({ event, id: id === null ? null : Number(id), data: JSON.parse(data) });
          // What has arrived is read without a pause, but the page has to be drawn, too.
          if (performance.now() - rested < LONGEST_WORK_MS) continue;
          await drawn();
          rested = performance.now();
        }
      }
    } finally {
      clearTimeout(timer);
    }
    return answer;
  }

  /** @param {string} path @param {RequestInit} init */
  async #send(path, init) {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${this.#key() ?? ""}`);
    try {
      return await send(path, { ...init, headers });
    } catch (error) {
      // Whatever was asked, a key that is not accepted is forgotten at once.
      if (error instanceof RequestError && error.status === 401) this.#lost(error.message);
      throw error;
    }
  }
}

/** Waits until the browser has drawn a frame, or draws none. @returns {Promise<void>} */
function drawn() {
  return new Promise((resolve) => {
    setTimeout(resolve, document.hidden ? 0 : LONGEST_FRAME_MS);
    // Its frame is over once this task is.
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

/** @param {string} path @param {RequestInit} init @returns {Promise<Response>} */
async function send(path, init) {
  const headers = new Headers(init.headers);
  if (init.method !== "GET") headers.set("Content-Type", "application/json");
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(path, {
      method: "POST",
      cache: "no-store",
      // No cookie and no login of the browser belongs here: the key is a header.
      credentials: "omit",
      redirect: "error",
      ...init,
      headers,
    });
  } catch (error) {
    // Whoever has aborted it does not want to read that nobody answers.
    if (init.signal?.aborted) throw error;
    throw new RequestError(UNREACHABLE, 0);
  }
  if (answer.ok) return answer;
  const retryAfter = Number(answer.headers.get("Retry-After")) || undefined;
  const text = await answer.json().then(
    (body) => body.error,
    () => null,
  );
  throw new RequestError(
    text ?? `The host answered with status ${answer.status}.`,
    answer.status,
    retryAfter,
  );
}

/** @param {Response} answer @returns {AsyncGenerator<string>} its body as it arrives */
async function* chunks(answer) {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
