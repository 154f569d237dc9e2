// Incremental readers of the two streams that the host sends: JSON lines and server-sent events.

/** Collects chunks of text and returns the lines that are complete. */
export class LineReader {
  #rest = "";

  /** @param {string} chunk @returns {string[]} the lines without their ends */
  push(chunk) {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  /** Returns the last line if the stream ended without a line end. */
  finish() {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}

/** @typedef {{event: string, id: string | null, data: string}} StreamEvent */

/** Parses `text/event-stream`. */
export class EventReader {
  #lines = new LineReader();
  #event = "";
  #data = /** @type {string[]} */ ([]);
  #id = /** @type {string | null} */ (null);

  /** @param {string} chunk @returns {StreamEvent[]} the events that are complete */
  push(chunk) {
    const events = [];
    for (const line of this.#lines.push(chunk)) {
      const event = this.#take(line);
      if (event) events.push(event);
    }
    return events;
  }

  /** @param {string} line @returns {StreamEvent | null} */
  #take(line) {
    if (line === "") return this.#finish();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id") this.#id = value;
    return null;
  }

  #finish() {
    const [event, data, id] = [this.#event || "message", this.#data, this.#id];
    this.#event = "";
    this.#data = [];
    this.#id = null;
    return data.length ? { event, id, data: data.join("\n") } : null;
  }
}
