// Markdown of plans and answers. Nodes are appended one by one, addresses are shown and, in a
// browser, never followed, and pictures are not loaded. The desktop shell opens addresses outside
// of its window when somebody clicks.

import * as smd from "../vendor/streaming-markdown/smd.min.js";

/** @type {Map<string, {source: string, node: HTMLElement}>} */
const rendered = new Map();

/**
 * Returns the element of a text. The same text under the same key gives the same element.
 * @param {string} key @param {string} source
 */
export function markdown(key, source) {
  const known = rendered.get(key);
  if (known?.source === source) return known.node;
  const node = document.createElement("div");
  node.className = "markdown";
  const parser = parserOf(node);
  smd.parser_write(parser, source);
  smd.parser_end(parser);
  if (rendered.size > 20) rendered.clear();
  rendered.set(key, { source, node });
  return node;
}

/** So many characters are drawn in one frame: to lay out many more would make people wait. */
const MOST_IN_A_FRAME = 2_000;
const frame = { left: MOST_IN_A_FRAME };

/** Lets growing texts be drawn again, at the beginning of a frame. */
export function beginFrame() {
  frame.left = MOST_IN_A_FRAME;
}

/** Markdown that grows: each piece is appended to what is there, and nothing is drawn anew. */
export class GrowingMarkdown {
  node = document.createElement("div");
  #parser;
  #length = 0;
  /** Whether some of the text waits for the next frame. */
  isBehind = false;

  constructor() {
    this.node.className = "markdown";
    this.#parser = parserOf(this.node, true);
  }

  /** @param {string} text all of it so far @param {boolean} isWhole whether nothing follows */
  show(text, isWhole) {
    if (this.#length < 0) return this.node;
    const piece = text.slice(this.#length, this.#length + frame.left);
    frame.left -= piece.length;
    this.#length += piece.length;
    this.isBehind = this.#length < text.length;
    if (piece) smd.parser_write(this.#parser, piece);
    if (isWhole && !this.isBehind) {
      smd.parser_end(this.#parser);
      this.#length = -1;
    }
    return this.node;
  }
}

/** @param {HTMLElement} root @param {boolean} [copies] whether code can be copied */
function parserOf(root, copies = false) {
  const renderer = smd.default_renderer(root);
  const { add_token, set_attr } = renderer;
  renderer.add_token = (data, type) => {
    add_token(data, type === smd.IMAGE ? smd.LINK : type);
    const box = copies ? data.nodes[data.index].closest("pre") : null;
    if (box && !box.querySelector(".copy")) box.prepend(copyButton(box));
  };
  renderer.set_attr = (data, type, value) => {
    if (type === smd.HREF || type === smd.SRC) addressed(data.nodes[data.index], value);
    else if (type === smd.START) set_attr(data, type, value);
  };
  return smd.parser(renderer);
}

/** @param {HTMLElement} link @param {string} address */
function addressed(link, address) {
  link.dataset.address = address;
  if (!window.__TAURI__) return;
  link.tabIndex = 0;
  link.role = "link";
}

/** @param {Element} box */
function copyButton(box) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("code")?.textContent ?? "");
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1_500);
  });
  return button;
}
