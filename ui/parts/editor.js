// An editor of rule files: line numbers, colours, and problems at their lines.

import { html } from "../vendor/lit-html/lit-html.js";
import { valueOf } from "./controls.js";

/** @typedef {import("../types/desk.js").Problem} Problem */

const LINE = 22;

/** @typedef {{text: string, style: string}} Token */

/**
 * Splits a line of TOML for its colours. It only has to look right: the desk parses it.
 * @param {string} line @returns {Token[]}
 */
export function tomlTokens(line) {
  if (/^\s*\[/.test(line)) return [{ text: line, style: "table" }];
  /** @type {Token[]} */
  const tokens = [];
  const pattern = /("(?:[^"\\]|\\.)*"?|'[^']*'?)|(#.*$)|(^\s*[\w.-]+(?=\s*=))|([^"'#]+)/g;
  for (const [text, string, comment, name] of line.matchAll(pattern)) {
    tokens.push({ text, style: string ? "string" : comment ? "comment" : name ? "name" : "plain" });
  }
  return tokens;
}

/**
 * @param {import("../app.js").App} app
 * @param {{id: string, text: string, problems: Problem[], label: string, type: (text: string) => void}} editor
 */
export function ruleEditor(app, { id, text, problems, label, type }) {
  const area = /** @type {HTMLTextAreaElement | null} */ (document.getElementById(id));
  const [top, left, height] = [area?.scrollTop ?? 0, area?.scrollLeft ?? 0, area?.clientHeight || 560];
  const lines = text.split("\n");
  const first = Math.max(0, Math.floor(top / LINE) - 8);
  const visible = lines.slice(first, Math.ceil((top + height) / LINE) + 8);
  const bad = new Map(problems.map((problem) => [problem.line, problem]));
  const problemAt = (/** @type {number} */ at) => bad.get(first + at + 1);
  const numbers = visible.map(
    (_, at) => html`<div class=${problemAt(at)?.level ?? ""}>${first + at + 1}</div>`,
  );
  const painted = visible.map((line, at) => paintedLine(line, problemAt(at)));
  const place = `transform:translateY(${first * LINE - top}px)`;
  const shifted = `transform:translate(${-left}px,${first * LINE - top}px)`;
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    // The line of the cursor stays visible.
    requestAnimationFrame(() => app.update());
  };
  return html`<div class="editor ${problems.some(({ level }) => level === "error") ? "has-errors" : ""}">
    <div class="gutter" aria-hidden="true"><div .style=${place}>${numbers}</div></div>
    <div class="editor-text">
      <pre class="paint" aria-hidden="true" .style=${shifted}>${painted}</pre>
      <textarea id=${id} data-rules aria-label=${label} .value=${text}
        spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off"
        aria-invalid=${problems.some(({ level }) => level === "error") ? "true" : "false"}
        @scroll=${() => app.update()} @keydown=${key}
        @input=${(/** @type {Event} */ event) => type(valueOf(event))}></textarea>
    </div>
  </div>`;
}

/** @param {string} line @param {Problem | undefined} problem */
function paintedLine(line, problem) {
  const note = problem ? html`<span class="at-line ${problem.level}">${problem.text}</span>` : "";
  const tokens = tomlTokens(line).map(({ text, style }) => html`<span class="toml-${style}">${text}</span>`);
  return html`<div class="painted ${problem?.level ?? ""}">${tokens}${note}</div>`;
}

/**
 * Scrolls the editor to a line and puts the cursor there.
 * @param {string} id @param {string} text @param {number} line counted from 1
 */
export function goToLine(id, text, line) {
  const area = /** @type {HTMLTextAreaElement | null} */ (document.getElementById(id));
  if (!area) return;
  const at = text
    .split("\n")
    .slice(0, line - 1)
    .reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(at, at);
  area.scrollTop = Math.max(0, (line - 5) * LINE);
}
