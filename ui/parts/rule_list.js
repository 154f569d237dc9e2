// Lists of rules: those of a file, and those that are suggested.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { clock, counted, folderName } from "../words.js";
import { icon } from "./icons.js";
import { addRule } from "./proposal.js";
import { shown } from "./text.js";

/** @typedef {import("../types/desk.js").RuleFile} RuleFile */
/** @typedef {import("../types/desk.js").ListedRule} ListedRule */
/** @typedef {import("../types/desk.js").SuggestedRule} SuggestedRule */

const TONES = /** @type {Record<string, string>} */ ({ allow: "green", deny: "red", confirm: "amber" });

/** @param {string} path of a rule file @returns {string} the name of the project it belongs to */
export function projectOf(path) {
  return folderName(path.replace(/\/\.callgate\/rules\.toml$/, ""));
}

/**
 * @param {RuleFile} file @param {string} title
 * @param {((line: number) => void) | null} edit
 */
export function ruleList({ rules, path }, title, edit) {
  return html`<section class="rule-file">
    <header class="row">
      <h2>${title}</h2>
      <span class="muted num small">${rules.length}</span>
      <code class="tiny muted cut grow">${path}</code>
    </header>
    <ul class="panel rule-list">
      ${rules.map((rule) => listedRule(rule, edit))}
    </ul>
  </section>`;
}

/** @param {ListedRule} rule @param {((line: number) => void) | null} edit */
function listedRule(rule, edit) {
  return html`<li class=${rule.is_over ? "is-over" : ""} data-rule=${rule.name}>
    <span class="chip ${TONES[rule.decide] ?? ""}">${rule.decide}</span>
    <div class="grow">
      <div class="row wrap"><strong>${rule.name}</strong>${rule.until ? expiry(rule) : nothing}</div>
      <code class="rule-text">${shown(conditions(rule.text))}</code>
      ${rule.reason ? html`<span class="small muted">${shown(rule.reason)}</span>` : nothing}
    </div>
    ${edit ? editButton(rule, edit) : nothing}
  </li>`;
}

/** Returns the text of a rule without the lines that are shown beside it anyway. */
function conditions(/** @type {string} */ text) {
  // A text over several lines cannot be taken apart by its lines.
  if (/"""|'''/.test(text)) return text;
  const isShown = /^\s*(\[\[rule\]\]|(name|decide|reason|until)\s*=|$)/;
  return text
    .split("\n")
    .filter((line) => !isShown.test(line))
    .join("\n");
}

/** @param {ListedRule} rule */
function expiry({ is_over, until }) {
  const tone = is_over ? "" : "accent";
  const at = Date.parse(until ?? "");
  const end = Number.isNaN(at) ? until : clock(at, Date.now());
  return html`<span class="chip ${tone}" title=${until ?? ""}
    >${icon("clock")}${is_over ? "over since" : "until"} ${end}</span
  >`;
}

/** @param {ListedRule} rule @param {(line: number) => void} edit */
function editButton({ name, line }, edit) {
  return html`<button
    class="button quiet small"
    type="button"
    aria-label="Edit ${name}"
    @click=${() => edit(line)}
  >
    ${icon("edit")}
  </button>`;
}

/** @param {import("../app.js").App} app @param {SuggestedRule} rule */
export function suggestion(app, rule) {
  const beyond = rule.beyond_count
    ? html`<span class="chip amber num">also lets through ${rule.beyond_count === 1 ? "1 other" : `${rule.beyond_count} others`}</span>`
    : html`<span class="chip">lets nothing else through</span>`;
  return html`<article class="panel suggestion" data-suggestion=${rule.name}>
    <div class="row wrap">
      <h2>${rule.name}</h2>
      <span class="chip green num">saves ${counted(rule.saves, "question")}</span>
      ${beyond}
    </div>
    <pre class="code-box command toml">${rule.toml.trim()}</pre>
    ${rule.beyond_count ? callsBeyond(rule) : nothing}
    <div class="row">
      <button class="button small" type="button" data-add @click=${() => addRule(app, rule.toml)}>
        Check against the history, then add…
      </button>
    </div>
  </article>`;
}

/** @param {SuggestedRule} rule */
function callsBeyond({ beyond, beyond_count }) {
  const calls = beyond.map(
    (call) =>
      html`<li>
        <code>${shown(call.summary)}</code>
        <span class="tiny muted">${folderName(call.project)}</span>
      </li>`,
  );
  const rest = beyond_count - beyond.length;
  return html`<details>
    <summary class="small muted">What it would have let through beyond them</summary>
    <ul class="turned">
      ${calls}${rest > 0 ? html`<li class="small muted">and ${rest} more</li>` : nothing}
    </ul>
  </details>`;
}
