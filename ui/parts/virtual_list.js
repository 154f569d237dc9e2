// A list that keeps only the rows near the visible part of its scroller in the document.

import { html } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";

const MARGIN = 160;

/**
 * @template T
 * @typedef {object} VirtualRows
 * @property {T[]} items a new array when anything changed
 * @property {number | ((item: T) => number)} height of a row in pixels
 * @property {(item: T, index: number) => unknown} key
 * @property {(item: T, index: number) => unknown} row the content of a row
 * @property {string} [label]
 */

/** @template T */
export class VirtualList {
  #id;
  #scroller;
  #items = /** @type {T[] | null} */ (null);
  #tops = new Float64Array(1);
  /** The rows that are in the document, from the first to before the last. */
  #drawn = [0, 0];

  /** @param {string} id of the list's element @param {string} scroller the id of the element that scrolls */
  constructor(id, scroller) {
    this.#id = id;
    this.#scroller = scroller;
  }

  /** @param {VirtualRows<T>} rows */
  render({ items, height: heightOf, key, row, label }) {
    this.#measure(items, heightOf);
    const [first, last] = this.#visible(items.length);
    this.#drawn = [first, last];
    const shown = items.slice(first, last).map((item, at) => ({ item, index: first + at }));
    const total = this.#tops[items.length] ?? 0;
    // White space between elements would be nodes of the document, too.
    const place = (/** @type {number} */ at) =>
      `transform:translateY(${this.#tops[at]}px);height:${this.#tops[at + 1] - this.#tops[at]}px`;
    const height = `height:${total}px`;
    return html`<ul class="virtual" id=${this.#id} role="list" aria-label=${label ?? "List"} .style=${height}>${repeat(
      shown,
      ({ item, index }) => key(item, index),
      ({ item, index }) =>
        html`<li aria-setsize=${items.length} aria-posinset=${index + 1} .style=${place(index)}
          >${row(item, index)}</li>`,
    )}</ul>`;
  }

  /** @param {T[]} items @param {VirtualRows<T>["height"]} height */
  #measure(items, height) {
    // By identity: whoever changes the items makes another list of them.
    if (items === this.#items) return;
    this.#items = items;
    this.#tops = new Float64Array(items.length + 1);
    for (let at = 0; at < items.length; at += 1) {
      this.#tops[at + 1] = this.#tops[at] + (typeof height === "number" ? height : height(items[at]));
    }
  }

  /** Whether other rows are visible now than were drawn, because something above the list has grown or shrunk. */
  isOutdated() {
    const [first, last] = this.#visible(this.#items?.length ?? 0);
    return first < this.#drawn[0] || last > this.#drawn[1];
  }

  /** Forgets the measured heights, for rows whose height depends on the window. */
  reset() {
    this.#items = null;
  }

  /** @param {number} count @returns {[number, number]} */
  #visible(count) {
    const scroller = document.getElementById(this.#scroller);
    const list = document.getElementById(this.#id);
    const height = scroller?.clientHeight || window.innerHeight;
    const top = (scroller?.scrollTop ?? 0) - (scroller && list ? offsetIn(scroller, list) : 0);
    return [this.#at(top - MARGIN, count), Math.min(count, this.#at(top + height + MARGIN, count) + 1)];
  }

  /** @param {number} y @param {number} count @returns {number} the row at a height */
  #at(y, count) {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#tops[middle + 1] <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Scrolls so that a row is visible.
   * @param {number} index
   */
  reveal(index) {
    const scroller = document.getElementById(this.#scroller);
    const list = document.getElementById(this.#id);
    if (!scroller || !list || index < 0 || index + 1 >= this.#tops.length) return;
    const offset = offsetIn(scroller, list);
    const [top, bottom] = [this.#tops[index] + offset, this.#tops[index + 1] + offset];
    if (top - 48 < scroller.scrollTop) scroller.scrollTop = top - 48;
    else if (bottom > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = bottom - scroller.clientHeight + 8;
  }

  /** Returns true if the end of the list is near the visible part. */
  isNearEnd() {
    const scroller = document.getElementById(this.#scroller);
    return !!scroller && scroller.scrollTop + scroller.clientHeight > scroller.scrollHeight - 1_200;
  }
}

/** @param {HTMLElement} scroller @param {HTMLElement} list */
function offsetIn(scroller, list) {
  return list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
}
