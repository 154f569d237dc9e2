// How the page reaches the desk: an interface, and its implementation over HTTP.

import { EventReader, LineReader } from "./streams.js";

/** @typedef {import("./types/desk.js").DeskMessage} DeskMessage */
/** @typedef {import("./types/desk.js").Entry} Entry */
/** @typedef {"live" | "connecting" | "reconnecting" | "offline"} Connection */

/**
 * @typedef {object} EventHandlers
 * @property {(head: number) => void} watching called after each connection, with the newest entry
 * @property {(entry: Entry) => void} entry called once for each entry, in order
 * @property {(connection: Connection, retryMs: number) => void} connection
 * @property {(text: string) => void} locked the link was removed
 */

/**
 * @typedef {object} Transport
 * @property {(kind: string, fields?: object, options?: RequestOptions) => AsyncIterable<DeskMessage>} request
 * @property {(handlers: EventHandlers) => {close: () => void, retry: () => void}} watch
 * @property {(code: string, name: string) => Promise<string>} pair
 */

/**
 * @typedef {object} RequestOptions
 * @property {AbortSignal} [signal]
 * @property {Record<string, string>} [raw] fields whose values are JSON text, sent as they are
 */

/** A request that failed. `status` is the HTTP status, or 0 if the host was not reached. */
export class RequestError extends Error {
  /** @param {string} text @param {number} status @param {number} [retryAfter] seconds */
  constructor(text, status, retryAfter) {
    super(text);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const UNREACHABLE = "callgate does not answer. Is `callgate up` running?";
/** The host sends a comment every 15 s. A stream that is silent for longer is dead. */
const LONGEST_SILENCE_MS = 40_000;

/**
 * Returns how long to wait before the next attempt to connect.
 * @param {number} attempt counted from 0
 */
export function backOff(attempt) {
  return Math.min(15_000, 250 * 2 ** Math.min(attempt, 10));
}

/**
 * Encodes a request. The raw fields are JSON already.
 * @param {string} id @param {string} kind @param {object} fields @param {Record<string, string>} raw
 */
export function encode(id, kind, fields, raw) {
  const head = JSON.stringify({ id, kind, ...fields }).slice(0, -1);
  const tail = Object.entries(raw).map(([name, json]) => `,${JSON.stringify(name)}:${json}`);
  return `${head}${tail.join("")}}`;
}

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

  /** @param {string} kind @param {object} [fields] @param {RequestOptions} [options] */
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

  /** @param {EventHandlers} handlers */
  watch(handlers) {
    const state = { last: /** @type {string | null} */ (null), closed: false, attempt: 0, wake: () => {} };
    const abort = { now: new AbortController() };
    const run = async () => {
      while (!state.closed) {
        abort.now = new AbortController();
        try {
          await this.#follow(state, handlers, abort.now);
        } catch (error) {
          if (error instanceof RequestError && error.status === 401) return;
        }
        if (state.closed) return;
        const wait = backOff(state.attempt++);
        handlers.connection(state.attempt > 4 ? "offline" : "reconnecting", wait);
        await new Promise((resolve) => {
          state.wake = () => resolve(undefined);
          setTimeout(resolve, wait);
        });
      }
    };
    handlers.connection("connecting", 0);
    run();
    const close = () => {
      state.closed = true;
      abort.now.abort();
    };
    return { close, retry: () => state.wake() };
  }

  /**
   * Follows the events of one connection until it ends.
   * @param {{last: string | null, attempt: number}} state
   * @param {EventHandlers} handlers @param {AbortController} abort
   */
  async #follow(state, handlers, abort) {
    /** @type {Record<string, string>} */
    const headers = state.last === null ? {} : { "Last-Event-ID": state.last };
    const answer = await this.#send("/api/events", { headers, signal: abort.signal, method: "GET" });
    const reader = new EventReader();
    let watchdog = setTimeout(() => abort.abort(), LONGEST_SILENCE_MS);
    try {
      for await (const chunk of chunks(answer)) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => abort.abort(), LONGEST_SILENCE_MS);
        for (const event of reader.push(chunk)) this.#dispatch(event, state, handlers);
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  /**
   * @param {import("./streams.js").StreamEvent} event
   * @param {{last: string | null, attempt: number}} state @param {EventHandlers} handlers
   */
  #dispatch(event, state, handlers) {
    const data = JSON.parse(event.data);
    if (event.event === "watching") {
      state.attempt = 0;
      state.last ??= String(data.head);
      handlers.connection("live", 0);
      handlers.watching(data.head);
    } else if (event.event === "entry") {
      state.last = event.id ?? String(data.seq);
      handlers.entry(data);
    } else if (event.event === "locked") {
      handlers.locked(data.text ?? "This browser is no longer linked.");
    }
  }

  /**
   * Sends a request to the host itself. Fails with a `RequestError` if it is refused.
   * @param {string} path @param {RequestInit} init
   */
  call(path, init) {
    return this.#send(path, init);
  }

  /** @param {string} path @param {RequestInit} init */
  async #send(path, init) {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${this.#key() ?? ""}`);
    try {
      return await send(path, { ...init, headers });
    } catch (error) {
      if (error instanceof RequestError && error.status === 401) this.#lost(error.message);
      throw error;
    }
  }
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
      credentials: "omit",
      redirect: "error",
      ...init,
      headers,
    });
  } catch (error) {
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
export async function* chunks(answer) {
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

/**
 * Sends a request and returns its answer.
 * @template {import("./types/desk.js").RequestKind} K
 * @param {Transport} transport @param {K} kind
 * @param {import("./types/desk.js").RequestFields<K>} fields
 * @param {RequestOptions & {progress?: (progress: import("./types/desk.js").Progress) => void}} [options]
 * @returns {Promise<import("./types/desk.js").AnswerTo<K>>}
 */
export async function ask(transport, kind, fields, options = {}) {
  /** @type {DeskMessage | null} */
  let last = null;
  for await (const message of transport.request(kind, fields, options)) {
    if (message.kind === "progress") options.progress?.(message);
    else if (message.kind !== "waiting") last = message;
  }
  if (!last) throw new RequestError("The desk closed the connection before it answered.", 503);
  if (last.kind === "error") throw new RequestError(last.text, 400);
  return /** @type {import("./types/desk.js").AnswerTo<K>} */ (/** @type {unknown} */ (last));
}

/** @param {unknown} error */
export function errorText(error) {
  return error instanceof Error ? error.message : String(error);
}
