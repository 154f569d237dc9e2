// How the page reaches the desk and the runtime of the chat: an interface, what its
// implementations share, and requests to the desk. `HttpTransport` is that of a browser, and
// `TauriTransport` that of the desktop shell.

/** @typedef {import("./types/desk.js").DeskMessage} DeskMessage */
/** @typedef {import("./types/desk.js").Entry} Entry */
/** @typedef {"live" | "connecting" | "reconnecting" | "offline"} Connection */
/** @typedef {{event: string, id: number | null, data: any}} TransportEvent */
/** @typedef {{session: string, folder: string}} ChatPlace */

/**
 * @typedef {object} EventHandlers
 * @property {(head: number, person?: string) => void} watching
 *   called after each connection, with the newest entry and the person of the team whose page it is
 * @property {(entry: Entry) => void} entry called once for each entry, in order
 * @property {(connection: Connection, retryMs: number) => void} connection
 * @property {(text: string) => void} locked the link was removed
 */

/**
 * @typedef {object} Transport
 * @property {(kind: string, fields?: object, options?: RequestOptions) => AsyncIterable<DeskMessage>} request
 *   sends a request to the desk
 * @property {(handlers: EventHandlers) => {close: () => void, retry: () => void}} watch
 *   follows the ledger over interruptions
 * @property {(code: string, name: string) => Promise<string>} pair returns the key
 * @property {(folder: string | null) => Promise<ChatPlace>} startChat
 *   starts the runtime in a folder, or finds it; without one, the runtime that runs, or in the home folder
 * @property {(line: string) => Promise<string>} sendChat
 *   sends a request of the session protocol to the runtime, and returns its id
 * @property {() => Promise<void>} restartChat ends the runtime's process and starts it again
 * @property {(seen: {session: string, last: number} | null, take: (event: TransportEvent) => void) => Promise<boolean>} followChat
 *   passes on the events of the runtime, after those that were seen, until the connection ends.
 *   Returns false if there is no runtime
 */

/**
 * @typedef {object} RequestOptions
 * @property {AbortSignal} [signal]
 * @property {Record<string, string>} [raw] fields whose values are JSON text, sent as they are
 */

/** A request that failed. `status` is the HTTP status, or 0 if the other side was not reached. */
export class RequestError extends Error {
  /** @param {string} text @param {number} status @param {number} [retryAfter] seconds @param {string} [kind] */
  constructor(text, status, retryAfter, kind = "") {
    super(text);
    this.kind = kind;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

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
  // Put together as text, so that raw JSON crosses without being parsed and written again.
  const head = JSON.stringify({ id, kind, ...fields }).slice(0, -1);
  const tail = Object.entries(raw).map(([name, json]) => `,${JSON.stringify(name)}:${json}`);
  return `${head}${tail.join("")}}`;
}

/**
 * Follows the ledger over interruptions, and says how the connection is.
 * @param {(last: number | null, take: (event: TransportEvent) => void, signal: AbortSignal) => Promise<void>} follow
 *   follows one connection until it ends, after the entry with this number
 * @param {EventHandlers} handlers
 * @param {(error: unknown) => number | null} pauseAfter
 *   returns the pause after an error which says for sure that there is no desk; without an end if
 *   somebody calls `retry` once there is one
 */
export function keepWatching(follow, handlers, pauseAfter) {
  const state = { last: /** @type {number | null} */ (null), closed: false, attempt: 0, wake: () => {} };
  const abort = { now: new AbortController() };
  const take = (/** @type {TransportEvent} */ { event, id, data }) => {
    if (event === "watching") {
      state.attempt = 0;
      // Only the first time: after an interruption the page goes on after its last entry.
      state.last ??= data.head;
      handlers.connection("live", 0);
      handlers.watching(data.head, data.person);
    } else if (event === "entry") {
      state.last = id ?? data.seq;
      handlers.entry(data);
    } else if (event === "locked") {
      handlers.locked(data.text ?? "This browser is no longer linked.");
    }
  };
  const run = async () => {
    while (!state.closed) {
      abort.now = new AbortController();
      let pause = null;
      try {
        await follow(state.last, (event) => state.closed || take(event), abort.now.signal);
      } catch (error) {
        // Another attempt would not help: the key is gone.
        if (error instanceof RequestError && error.status === 401) return;
        pause = pauseAfter(error);
      }
      if (state.closed) return;
      const wait = pause ?? backOff(state.attempt++);
      handlers.connection(pause !== null || state.attempt > 4 ? "offline" : "reconnecting", wait);
      await new Promise((resolve) => {
        state.wake = () => resolve(undefined);
        if (wait !== Infinity) setTimeout(resolve, wait);
      });
    }
  };
  handlers.connection("connecting", 0);
  run();
  const close = () => {
    state.closed = true;
    abort.now.abort();
    state.wake();
  };
  return { close, retry: () => state.wake() };
}

/**
 * Sends a request to the desk and returns its answer.
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
