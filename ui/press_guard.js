// Decides whether a press may count: not right after what is shown has changed under the pointer.

export const SETTLE_MS = 700;

/** Remembers since when the same thing has been shown in a place. */
export class PressGuard {
  #shown = "";
  #since = -Infinity;

  /**
   * Notes what is shown now. The same key again changes nothing.
   * @param {string} key @param {number} now a monotonic time in milliseconds
   */
  show(key, now) {
    if (key === this.#shown) return;
    this.#shown = key;
    this.#since = now;
  }

  /**
   * Returns how long presses on what is shown are still ignored, in milliseconds.
   * @param {string} key @param {number} now
   */
  remaining(key, now) {
    if (key !== this.#shown) return SETTLE_MS;
    return Math.max(0, this.#since + SETTLE_MS - now);
  }
}
