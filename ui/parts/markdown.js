// Markdown of plans and answers. Addresses are shown and, in a browser, never followed, and pictures
// are not loaded. The desktop shell opens addresses outside of its window when somebody clicks.
//
// The parser is loaded after the page is there. Until then the text is shown as it is written.

import { MarkdownNodes } from "./markdown_nodes.js";

/** @typedef {import("../vendor/markdown-it/markdown-it.js").default} MarkdownIt */
/** @typedef {import("../vendor/markdown-it/markdown-it.js").Token} Token */

/** Lists and quotes in each other to this depth are followed. */
const DEEPEST = 1_000;
/** A line that begins so may be deeper. The parser would leave it out. */
const TOO_DEEP = /^[ \t>*+\-\d.)]{900,}/m;
/** So many characters are drawn in one frame: to lay out many more would make people wait. */
const MOST_IN_A_FRAME = 2_000;
const frame = { left: MOST_IN_A_FRAME };
/** A backslash counts before the line's end and before the marks of ASCII. */
const ESCAPE = /^\\[\n!-/:-@[-`{-~]/;
/**
 * So many blocks of an answer are a section. The browser looks at each section in each frame, and at the
 * blocks of those that are seen.
 */
const SECTION = 16;
const plans = new MarkdownNodes(true);
const answers = new MarkdownNodes(false);

/** @type {{answers: MarkdownIt, plans: MarkdownIt} | null} */
let parsers = null;
/** @type {Promise<void> | null} */
let loading = null;

/** Loads the parser, if it is not here yet. If that fails, the next text tries again. */
export function loadMarkdown() {
  loading ??= import("../vendor/markdown-it/markdown-it.js").then(({ default: Parser }) => {
    const made = () => {
      // HTML becomes tokens, which are shown as text: nothing of the source may vanish.
      const parser = new Parser("default", { html: true, maxNesting: DEEPEST });
      // Addresses are shown as they are written, whatever they are.
      parser.validateLink = () => true;
      parser.normalizeLink = parser.normalizeLinkText = (url) => url;
      return parser;
    };
    // Two, because what is changed for plans belongs to the parser.
    parsers = { answers: made(), plans: asWritten(made()) };
  }).catch(() => {
    loading = null;
  });
  return loading;
}

/**
 * Makes a parser show what it would hide or replace, because somebody approves the text: definitions,
 * the names of characters, backslashes, addresses and titles as they are written.
 * @param {MarkdownIt} parser
 */
function asWritten(parser) {
  const { parseLinkDestination, parseLinkTitle } = parser.helpers;
  parser.helpers.parseLinkDestination = (text, start, max) => {
    const found = parseLinkDestination(text, start, max);
    return { ...found, str: text.slice(start, found.pos) };
  };
  parser.helpers.parseLinkTitle = (text, start, max) => {
    const found = parseLinkTitle(text, start, max);
    return found.ok ? { ...found, str: text.slice(start + 1, found.pos - 1) } : found;
  };
  parser.inline.ruler.at("escape", appendEscape);
  return parser.disable(["entity", "reference"]);
}

/**
 * Takes over an escaped character, or line end, with its backslash.
 * @param {import("../vendor/markdown-it/markdown-it.js").InlineState} state @param {boolean} isSilent
 */
function appendEscape(state, isSilent) {
  const written = state.src.slice(state.pos, Math.min(state.pos + 2, state.posMax));
  if (!ESCAPE.test(written)) return false;
  if (!isSilent) {
    state.push("text_special", "", 0).content = written.trimEnd();
    if (written.endsWith("\n")) state.push("hardbreak", "br", 0);
  }
  state.pos += 2;
  return true;
}

/** @type {Map<string, {source: string, node: HTMLElement}>} */
const rendered = new Map();

/**
 * Returns the element of a plan. The same text under the same key gives the same element.
 * @param {string} key @param {string} source
 */
export function plan(key, source) {
  const known = rendered.get(key);
  if (known?.source === source) return known.node;
  const node = box();
  drawPlan(node, source);
  if (rendered.size > 20) rendered.clear();
  rendered.set(key, { source, node });
  return node;
}

/** @param {HTMLElement} node @param {string} source */
function drawPlan(node, source) {
  showPlainly(node, source);
  if (!parsers) {
    loadMarkdown().then(() => parsers && drawPlan(node, source));
    return;
  }
  const text = withLineFeeds(source);
  if (TOO_DEEP.test(text)) return;
  node.classList.remove("pre");
  node.replaceChildren();
  plans.append(node, parsers.plans.parse(text, {}), text.split("\n"));
}

/** Lets growing texts be drawn again, at the beginning of a frame. */
export function beginFrame() {
  frame.left = MOST_IN_A_FRAME;
}

/**
 * Markdown that grows. What follows can change nothing but the last block: only that is parsed and
 * drawn again.
 */
export class GrowingMarkdown {
  node = box();
  /** Whether some of the text waits for another frame. */
  isBehind = false;
  /** How much of the text is shown. */
  #length = 0;
  /** Where the last block begins, and how many nodes are before it. */
  #start = 0;
  #settled = 0;
  /** The definitions of links before it. @type {Record<string, unknown>} */
  #known = {};
  /** When it may be drawn again: long blocks take their time. */
  #next = 0;
  #isOver = false;
  #hasAskedForParser = false;

  /** @param {string} text all of it so far @param {boolean} isWhole whether nothing follows */
  show(text, isWhole) {
    if (this.#isOver) return this.node;
    if (!parsers) {
      if (!this.#hasAskedForParser) loadMarkdown();
      this.#hasAskedForParser = true;
      showPlainly(this.node, text);
      this.isBehind = loading !== null;
      return this.node;
    }
    const now = performance.now();
    const piece = Math.min(text.length - this.#length, frame.left);
    frame.left -= piece;
    this.isBehind = this.#length + piece < text.length || (!isWhole && now < this.#next);
    if (!isWhole && now < this.#next) return this.node;
    this.#length += piece;
    const isEnd = isWhole && !this.isBehind;
    if (piece > 0 || isEnd) this.#draw(withLineFeeds(text.slice(0, this.#length)), isEnd);
    // So at most a fifth of the time is spent on drawing.
    this.#next = now + 4 * (performance.now() - now);
    this.#isOver = isEnd;
    return this.node;
  }

  /** @param {string} text @param {boolean} isEnd */
  #draw(text, isEnd) {
    const environment = { references: { ...this.#known } };
    let { tokens, lines, last } = this.#parse(text, environment);
    if (isEnd && Object.keys(environment.references).length > 0) {
      // A link may be defined after it is used.
      this.#start = this.#settled = 0;
      ({ tokens, lines, last } = this.#parse(text, {}));
    }
    if (TOO_DEEP.test(text)) return showPlainly(this.node, text);
    if (this.node.classList.contains("pre")) this.node.replaceChildren();
    this.node.classList.remove("pre");
    const fresh = document.createElement("div");
    answers.append(fresh, tokens.slice(0, last), lines);
    const settled = this.#settled + fresh.childNodes.length;
    answers.append(fresh, tokens.slice(last), lines);
    this.#place([...fresh.childNodes]);
    this.#settled = settled;
    const before = lines.slice(0, tokens[last]?.map?.[0] ?? 0);
    if (before.length === 0) return;
    const passed = before.join("\n") + "\n";
    this.#start += passed.length;
    if (Object.keys(environment.references).length > 0) {
      parsers?.answers.parse(passed, { references: this.#known });
    }
  }

  /** Puts blocks into their sections, in place of those that are not settled. @param {Node[]} blocks */
  #place(blocks) {
    const end = this.#settled + blocks.length;
    for (let at = this.#settled; at < end; ) {
      const section = this.node.children[Math.floor(at / SECTION)] ?? appendSection(this.node);
      const count = Math.min(SECTION - (at % SECTION), end - at);
      grow(section, blocks.splice(0, count), at % SECTION);
      at += count;
    }
    // The last block may have become a part of the one before it.
    for (const rest of [...this.node.children].slice(Math.ceil(end / SECTION))) rest.remove();
  }

  /** Parses what is not settled. @param {string} text @param {{references?: Record<string, unknown>}} environment */
  #parse(text, environment) {
    const rest = text.slice(this.#start);
    const tokens = parsers?.answers.parse(rest, environment) ?? [];
    const lines = rest.split("\n");
    // A line that has not ended may still become a part of the block before it.
    const last = tokens.findLastIndex(
      ({ level, nesting, map }) => level === 0 && nesting >= 0 && (map?.[0] ?? 0) < lines.length - 1,
    );
    return { tokens, lines, last: Math.max(last, 0) };
  }
}

/**
 * Makes the children of an element from `start` on like these. What is the same stays, and with it what
 * somebody has selected.
 * @param {Element} element @param {Node[]} nodes @param {number} [start]
 */
function grow(element, nodes, start = 0) {
  const known = [...element.childNodes].slice(start);
  for (const [at, node] of nodes.entries()) {
    const old = known[at];
    if (!old) element.append(node);
    else if (old instanceof Text && node instanceof Text) growText(old, node.data);
    else if (old instanceof Element && node instanceof Element && isAlike(old, node)) grow(old, [...node.childNodes]);
    else old.replaceWith(node);
  }
  for (const old of known.slice(nodes.length)) old.remove();
}

/** @param {Text} old @param {string} text */
function growText(old, text) {
  if (text.startsWith(old.data)) old.appendData(text.slice(old.length));
  else old.data = text;
}

/** @param {Element} one @param {Element} other */
function isAlike(one, other) {
  return one.cloneNode(false).isEqualNode(other.cloneNode(false));
}

function box() {
  const node = document.createElement("div");
  node.className = "markdown";
  return node;
}

/** @param {Element} parent */
function appendSection(parent) {
  const section = document.createElement("section");
  section.className = "blocks";
  parent.append(section);
  return section;
}

/** @param {HTMLElement} node @param {string} text */
function showPlainly(node, text) {
  node.classList.add("pre");
  node.textContent = text;
}

/** @param {string} text */
function withLineFeeds(text) {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
