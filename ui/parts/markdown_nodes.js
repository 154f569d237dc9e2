// The elements of a Markdown text. Every character of it is shown: HTML as text, pictures as their
// words and addresses, and a table as it is written if it has a cell that belongs to no column. A plan
// has the marks of emphasis, too: `*` and `_` may be parts of a pattern or a name.

import { visibleParts } from "../words.js";
import { codePieces } from "./code_colours.js";

/** @typedef {import("../vendor/markdown-it/markdown-it.js").Token} Token */

/** Longer code is not coloured. */
const MOST_COLOURED = 20_000;
const ALIGNED = /text-align:(center|right)/;
/** The mark of a task at the beginning of a list's item. */
const TASK = /^\[([ xX])\](?=\s)/;
const EMPHASIS = ["em", "strong", "s"];

/** Makes elements of tokens. */
export class MarkdownNodes {
  #isPlan;

  /** @param {boolean} isPlan whether marks are shown and invisible characters named; else code can be copied */
  constructor(isPlan) {
    this.#isPlan = isPlan;
  }

  /**
   * Appends the elements of some blocks.
   * @param {HTMLElement} root @param {Token[]} tokens @param {string[]} lines the source of the tokens
   */
  append(root, tokens, lines) {
    const open = [root];
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at];
      const parent = open[open.length - 1];
      if (token.type === "table_open" && losesCells(sourceOf(token, lines))) {
        parent.append(this.#written(sourceOf(token, lines).join("\n")));
        while (tokens[at].type !== "table_close") at++;
      } else if (token.nesting > 0) {
        if (!token.hidden) open.push(opened(token, parent));
      } else if (token.nesting < 0) {
        if (!token.hidden) open.pop();
      } else if (token.type === "inline") {
        this.#appendInline(parent, token, taskOf(token, tokens, at));
      } else if (token.type === "hr") {
        parent.append(document.createElement("hr"));
      } else if (token.type === "fence" || token.type === "code_block") {
        parent.append(this.#code(token));
      } else {
        parent.append(this.#written(token.content));
      }
    }
  }

  /** Returns a text as it is written. @param {string} text */
  #written(text) {
    const box = document.createElement("div");
    box.className = "pre";
    this.#appendText(box, text.replace(/\n$/, ""));
    return box;
  }

  /** @param {Token} token */
  #code(token) {
    const box = document.createElement("pre");
    const info = token.info.trim();
    if (info) {
      const label = spanOf("code-info", "");
      this.#appendText(label, info);
      box.append(label);
    }
    if (!this.#isPlan) box.append(copyButton(box));
    const code = document.createElement("code");
    const isColoured = !this.#isPlan && info && token.content.length <= MOST_COLOURED;
    for (const { text, kind } of isColoured ? codePieces(info, token.content) : [{ text: token.content, kind: "" }]) {
      if (!kind) this.#appendText(code, text);
      else code.append(spanOf(`code-${kind}`, text));
    }
    box.append(code);
    return box;
  }

  /** @param {HTMLElement} root @param {Token} line @param {RegExpExecArray | null} task */
  #appendInline(root, line, task) {
    const open = [root];
    if (task) root.append(checkbox(task[1] !== " "));
    for (const [at, token] of (line.children ?? []).entries()) {
      const parent = open[open.length - 1];
      if (token.nesting > 0) {
        open.push(opened(token, parent));
        this.#appendMark(open[open.length - 1], token);
      } else if (token.nesting < 0) {
        this.#appendMark(parent, token);
        this.#appendAddress(parent);
        open.pop();
      } else if (token.type === "hardbreak") parent.append(document.createElement("br"));
      else if (token.type === "softbreak") parent.append("\n");
      else if (token.type === "image") {
        const link = opened(token, parent);
        this.#appendInline(link, token, null);
        this.#appendAddress(link);
      } else if (token.type === "code_inline") {
        const code = document.createElement("code");
        this.#appendText(code, token.content);
        parent.append(code);
      } else this.#appendText(parent, token.content.slice(task && at === 0 ? task[0].length : 0));
    }
  }

  /** Shows a mark of emphasis in a plan. @param {HTMLElement} element @param {Token} token */
  #appendMark(element, { tag, markup }) {
    if (this.#isPlan && EMPHASIS.includes(tag)) element.append(spanOf("muted", markup));
  }

  /** Shows where a link leads, unless its words are the address. @param {HTMLElement} link */
  #appendAddress(link) {
    const { address, title } = link.dataset;
    if (address === undefined || link.className === "bare") return;
    const span = spanOf("address", "");
    this.#appendText(span, title ? ` (${address} “${title}”)` : ` (${address})`);
    link.append(span);
  }

  /** @param {HTMLElement} parent @param {string} text */
  #appendText(parent, text) {
    if (!this.#isPlan) return parent.append(text);
    for (const part of visibleParts(text)) {
      if (!part.isInvisible) {
        parent.append(part.text);
        continue;
      }
      const name = spanOf("invisible", part.text);
      name.title = "An invisible character";
      parent.append(name);
    }
  }
}

/** @param {string} name its class @param {string} text */
function spanOf(name, text) {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}

/** Begins an element. A picture is not loaded: it is a link. @param {Token} token @param {HTMLElement} parent */
function opened(token, parent) {
  const element = document.createElement(token.type === "image" ? "a" : token.tag);
  if (token.type === "list_item_open" && token.info) element.setAttribute("value", token.info);
  const aligned = ALIGNED.exec(token.attrGet("style") ?? "");
  if (aligned) element.dataset.align = aligned[1];
  if (element.tagName === "A") addressed(element, token);
  parent.append(element);
  return element;
}

/** @param {HTMLElement} link @param {Token} token */
function addressed(link, token) {
  link.dataset.address = token.attrGet("href") ?? token.attrGet("src") ?? "";
  const title = token.attrGet("title");
  if (title) link.dataset.title = title;
  if (token.markup === "autolink") link.className = "bare";
  // In a browser nobody can follow it, so it takes no focus either.
  if (!window.__TAURI__) return;
  link.tabIndex = 0;
  link.role = "link";
}

/** @param {HTMLElement} box */
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

/** @param {boolean} isDone */
function checkbox(isDone) {
  const box = document.createElement("input");
  box.type = "checkbox";
  box.disabled = true;
  box.toggleAttribute("checked", isDone);
  box.setAttribute("aria-label", isDone ? "done" : "not done");
  return box;
}

/**
 * Returns the mark of a task, if this text is the first of a list's item.
 * @param {Token} token @param {Token[]} tokens @param {number} at
 */
function taskOf(token, tokens, at) {
  const isFirst =
    tokens[at - 1]?.type === "paragraph_open" && tokens[at - 2]?.type === "list_item_open";
  const first = token.children?.[0];
  return isFirst && first?.type === "text" ? TASK.exec(first.content) : null;
}

/** @param {Token} token @param {string[]} lines */
function sourceOf(token, lines) {
  return token.map ? lines.slice(token.map[0], token.map[1]) : [];
}

/**
 * Returns true if a row has more cells than the first one: the parser leaves those out.
 * @param {string[]} rows
 */
function losesCells(rows) {
  const counts = rows.map((row) => {
    const cells = row.replace(/^[\s>*+-]*(\d+[.)])?\s*/, "").trim();
    return cells.replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).length;
  });
  return counts.some((count) => count > counts[0]);
}
