// When the page is drawn: once in each frame before which something has changed.

/** The least time between two drawings of what grows all the time. */
const GROWTH_MS = 30;

export class FrameSchedule {
  #draw;
  #isRequested = false;
  /** When the page was drawn last, and the drawing of what has grown since. */
  #drawnAt = 0;
  #growth = 0;

  /** @param {() => void} draw */
  constructor(draw) {
    this.#draw = draw;
  }

  /** Draws the page in the next frame. */
  request() {
    if (this.#isRequested) return;
    this.#isRequested = true;
    requestAnimationFrame(() => this.drawNow());
  }

  /**
   * Draws the page soon because a text has grown. To draw each step of it would take the time in which
   * the next ones arrive.
   */
  requestGrown() {
    const wait = this.#drawnAt + GROWTH_MS - performance.now();
    if (wait <= 0) return this.request();
    this.#growth ||= setTimeout(() => {
      this.#growth = 0;
      this.request();
    }, wait);
  }

  drawNow() {
    this.#isRequested = false;
    this.#drawnAt = performance.now();
    this.#draw();
  }
}
