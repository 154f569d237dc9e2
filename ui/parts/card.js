// A question in full: who asks, what about, what is unusual, and what may be answered.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { agentName, ago, counted, demandWords, folderName, relativePath, remaining, whyAsked } from "../words.js";
import { answerBar, moreAnswers } from "./answer_bar.js";
import { body } from "./bodies.js";
import { agentIcon, icon } from "./icons.js";
import { numbered, prettyJson, reason, segment, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../answering.js").Answering} Answering */
/** @typedef {import("../store.js").Question} Question */
/** @typedef {import("../types/desk.js").Card} Card */

/** The short name of each risk, and how much it stands out. */
export const RISKS = /** @type {Record<string, [string, string]>} */ ({
  first_time: ["First time", ""],
  outside: ["Outside the folder", "amber"],
  network: ["Network", "amber"],
  deletes: ["Deletes", "red"],
  gate: ["Touches the gate", "red"],
  hidden: ["Hides what runs", "red"],
  unclear: ["Not fully understood", "amber"],
});

const TWICE = " · It changes how the agent asks, so press it twice to confirm";

/** The longest command that is the headline by itself, in characters. */
const LONGEST_HEADLINE = 120;

/**
 * Shows a question. In a compact one, as in the chat, everything but the call and the two answers is
 * folded.
 * @param {Answering} place @param {Question} question @param {boolean} [isCompact]
 */
export function questionCard(place, question, isCompact = false) {
  const { row, card, answer } = question;
  const isSettling = place.settlingMs(question) > 0;
  const loading = html`<div class="skeleton card-skeleton" aria-busy="true">
    <span class="only-read">Loading</span>
  </div>`;
  return html`<article
    class="card ${isCompact ? "is-compact" : ""}"
    data-question=${row.question}
    data-answer=${answer}
    ?data-settling=${isSettling}
    ?data-unchosen=${!place.takesKeys}
    aria-labelledby="card-title"
  >
    ${isCompact ? nothing : head(place, question)}
    <div class="card-scroll" id="card-scroll" tabindex="-1">
      <div class="card-inner">
        ${title(question, isCompact ? timeLeft(place, question) : nothing)}
        ${card && isLongCommand(card) ? drawnBody(place, card) : nothing} ${risks(row)} ${card ? content(place, question, card, isCompact) : loading}
      </div>
    </div>
    ${answerBar(place, question, isCompact)}
  </article>`;
}

/** The headline: the call itself, below what it would do. @param {Question} question @param {unknown} more */
function title({ row, card }, more) {
  const words = (/** @type {string} */ text) =>
    html`<header class="card-title"><h1 id="card-title" class="grow">${text}</h1>${more}</header>`;
  const below = (/** @type {string} */ deed, /** @type {unknown} */ headline) =>
    html`<header class="card-title"><div class="grow"><p class="deed">${deed}</p>${headline}</div>${more}</header>`;
  if (card?.body.type === "plan") return words("Approve a plan");
  const asks = `${agentName(row.agent)} asks you`;
  if (card?.pickers.length === 1) return below(asks, html`<h1 id="card-title">${shown(card.pickers[0].question)}</h1>`);
  if (card?.body.type === "ask" || card?.pickers.length) return words(asks);
  const isEmpty = card?.body.type === "command" && card.body.segments.every((one) => !one.text.trim());
  if (isEmpty) return below(row.deed, html`<h1 id="card-title">An empty command</h1>`);
  const look = isLongCommand(card) ? "only-read" : isHeadline(card) ? "" : "cut";
  return below(row.deed, html`<h1 id="card-title" class="subject ${look}"><code>${subject(row, card)}</code></h1>`);
}

/** Whether a question is about a command that is too long for a headline, and stands there as a whole. @param {Card | null} card */
function isLongCommand(card) {
  return card?.body.type === "command" && !isHeadline(card);
}

/** What a question is about, as far as its headline does not say it. @param {Answering} place @param {Card} card */
function drawnBody({ app }, card) {
  return html`<div class="card-body">${body(app, card.body, `body-${card.question}`, card.project, isHeadline(card))}</div>`;
}

/** Whether the headline is a whole command or path. @param {Card | null} card */
function isHeadline(card) {
  if (card?.body.type !== "command") return card !== null && "path" in card.body;
  const text = card.body.segments.map((one) => one.text).join("");
  return text.length <= LONGEST_HEADLINE && !text.includes("\n") && !card.body.segments.some((one) => one.break);
}

/** @param {Question["row"]} row @param {Card | null} card */
function subject(row, card) {
  if (card?.body.type === "command" && isHeadline(card)) return card.body.segments.map(segment);
  if (card && "path" in card.body) return shown(relativePath(card.body.path, row.project));
  if (card?.body.type === "patch")
    return shown(card.body.files.map((file) => relativePath(file.path, row.project)).join(", "));
  return shown((row.summary || row.tool).slice(0, 2 * LONGEST_HEADLINE));
}

/** @param {Answering} place @param {Question} question */
function timeLeft(place, { row, overAt }) {
  const left = row.until_ms - place.app.now;
  if (overAt !== null || !Number.isFinite(left)) return nothing;
  const tone = left < 60_000 ? "red" : left < 180_000 ? "amber" : "";
  return html`<span class="chip num ${tone}" title="Time left to answer">
    ${icon("clock")}${left > 0 ? remaining(left) : "Time is up"}<span class="only-read"> left to answer</span>
  </span>`;
}

/** @param {Answering} place @param {Question} question */
function head(place, question) {
  const { row } = question;
  const { now } = place.app;
  return html`<header class="card-head">
    <button
      class="button quiet back"
      type="button"
      aria-label="Back to the list"
      @click=${() => place.leaveCard()}
    >
      ${icon("back", "icon-l")}
    </button>
    ${agentIcon(row.agent)}
    <div class="grow">
      <div class="who cut">
        <strong>${agentName(row.agent)}</strong> in
        <strong title=${row.project}>${folderName(row.project)}</strong>${
          row.machine ? html` on <strong>${shown(row.machine)}</strong>` : nothing
        }
      </div>
      <div class="tiny muted cut">
        Asked ${ago(row.asked_ms, now)}${row.mode ? html` · mode ${row.mode}` : ""}
      </div>
    </div>
    ${timeLeft(place, question)}
  </header>`;
}

/**
 * Shows what is unusual: in full where there is room, else by short names, so that the call itself
 * stays in view.
 * @param {import("../types/desk.js").Row} row
 */
function risks(row) {
  const chips = row.risks.map(({ kind, text }) => {
    const [name, tone] = RISKS[kind] ?? [kind, ""];
    return html`<li class="chip ${tone}">
      ${icon(kind)}<span class="wide-only">${reason(text)}</span><span class="narrow-only">${name}</span>
    </li>`;
  });
  const demand = demandWords(row);
  if (demand)
    chips.unshift(
      html`<li class="chip amber" data-demand>
        ${icon("warning")}<span>${shown(demand)}</span>
      </li>`,
    );
  if (row.needs === "confirm")
    chips.unshift(
      html`<li class="chip red">
        ${icon("warning")}<span class="wide-only">Confirm: type a word to allow it</span
        ><span class="narrow-only">Confirm</span>
      </li>`,
    );
  return chips.length
    ? html`<ul class="risks" aria-label="What is unusual about this">
        ${chips}
      </ul>`
    : nothing;
}

/**
 * Says below the call, in a narrow window, what the short names above it mean.
 * @param {import("../types/desk.js").Row} row
 */
function risksInFull({ risks }) {
  return risks.length
    ? html`<section class="narrow-only why">
        <h2 class="sub">What is unusual about this</h2>
        <ul>
          ${risks.map(({ text }) => html`<li>${reason(text)}</li>`)}
        </ul>
      </section>`
    : nothing;
}

/** @param {Answering} place @param {Question} question @param {Card} card @param {boolean} isCompact */
function content(place, question, card, isCompact) {
  const { app } = place;
  const isAsked = card.body.type === "ask" && card.pickers.length > 0;
  const key = `input-${card.question}`;
  const isWhole = app.isUnfolded(key);
  const asked = whyAsked(card);
  const toggle = (/** @type {Event} */ event) =>
    app.setUnfolded(key, /** @type {HTMLDetailsElement} */ (event.target).open);
  const isDrawn = isAsked || isLongCommand(card);
  const further = html`${risksInFull(question.row)}
    ${
      card.last_words
        ? html`<section class="said">
            <h2 class="sub">${agentName(card.agent)} said before</h2>
            <blockquote><span>${shown(card.last_words)}</span></blockquote>
          </section>`
        : nothing
    }
    ${offers(place, question, card)} ${alike(place, question)}
    <section class="why">
      <h2 class="sub">Why you are asked</h2>
      <p>${reason(sentence(asked.why))} Without an answer ${asked.unanswered}.</p>
    </section>
    <details class="whole" ?open=${isWhole} @toggle=${toggle}>
      <summary>All arguments, session and folder</summary>
      <dl class="facts">
        <dt>Tool</dt>
        <dd><code>${shown(card.tool)}</code></dd>
        <dt>Folder</dt>
        <dd><code>${shown(card.project)}</code></dd>
        ${card.machine ? html`<dt>Machine</dt><dd>${shown(card.machine)}</dd>` : nothing}
        <dt>Session</dt>
        <dd><code>${shown(card.session)}</code></dd>
        ${card.seq ? html`<dt>Ledger entry</dt><dd class="num">${card.seq}</dd>` : nothing}
      </dl>
      ${isWhole ? numbered(app, `whole-${card.question}`, prettyJson(card.input)) : nothing}
    </details>
    ${place.makesRules && !card.machine && !app.team ? makeRule(app, card) : nothing}`;
  return html`${warnings(card)} ${isDrawn ? nothing : drawnBody(place, card)}
    ${pickers(place, question, card)} ${isCompact ? folded(place, question, card, further) : further}`;
}

/** @param {Answering} place @param {Question} question @param {Card} card @param {unknown} further */
function folded(place, question, card, further) {
  const { app } = place;
  const key = `more-${card.question}`;
  const isOpen = app.isUnfolded(key);
  const toggle = (/** @type {Event} */ event) =>
    app.setUnfolded(key, /** @type {HTMLDetailsElement} */ (event.target).open);
  return html`<details class="whole further" data-further ?open=${isOpen} @toggle=${toggle}>
    <summary>More answers and details</summary>
    ${isOpen ? html`<div class="stack">${moreAnswers(place, question, card)} ${further}</div>` : nothing}
  </details>`;
}

/** @param {App} app @param {Card} card */
function makeRule(app, card) {
  return html`<p class="make-rule">
    <button
      class="button quiet small"
      type="button"
      @click=${() => app.proposeRule({ question: card.question }, card.summary)}
    >
      ${icon("rules")}Make a rule from this
    </button>
  </p>`;
}

/** @param {string} text @returns {string} the text with the end of a sentence */
function sentence(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** @param {Card} card */
export function warnings(card) {
  const notes = [];
  if (card.blocked) notes.push(["amber", "warning", card.blocked]);
  if (card.hides_what_runs)
    notes.push([
      "red",
      "hidden",
      "Something that is hidden here could be executed. Allow it only if you know what it stands for.",
    ]);
  if (card.fails_open) notes.push(["amber", "warning", card.fails_open]);
  if (card.is_cut)
    notes.push([
      "amber",
      "warning",
      "This input is too long to show in full. You can deny it here. " +
        "To allow it, read it on a phone or in the terminal of `callgate up`.",
    ]);
  return notes.map(
    ([tone, name, text]) => html`<p class="note ${tone}">${icon(name)}<span>${text}</span></p>`,
  );
}

/** @param {Answering} place @param {Question} question @param {Card} card */
function offers(place, question, card) {
  if (!card.offers.length || card.pickers.length) return nothing;
  return html`<section class="offers">
    <h2 class="sub">Allow, and remember</h2>
    ${card.offers.map((offer) => {
      const isAgain = offer.changes_mode && question.action === offer.action && question.notice;
      return html`<button
        class="offer"
        type="button"
        data-press=${offer.action}
        aria-disabled=${place.isBlocked(question) ? "true" : "false"}
        @click=${(/** @type {Event} */ event) => place.allowAlways(question, offer.action, event.timeStamp)}
      >
        ${icon(offer.changes_mode ? "warning" : "plus")}
        <span class="grow"
          ><span class="offer-meaning">${isAgain ? "Press again to confirm: " : ""}${shown(offer.meaning)}</span>
          <span class="small muted">${shown(offer.lasts)}${offer.changes_mode ? TWICE : ""}</span></span
        >
      </button>`;
    })}
  </section>`;
}

/** @param {Answering} place @param {Question} question @param {Card} card */
function pickers(place, question, card) {
  if (!card.pickers.length) return nothing;
  return html`<div class="pickers">
    ${card.pickers.map(
      (picker) =>
        html`<section class="picker">
          ${card.pickers.length > 1 ? html`<h2>${shown(picker.question)}</h2>` : nothing}
          ${picker.many ? html`<p class="small muted">Choose as many as you like, then press Done.</p>` : nothing}
          ${picker.choices.map(
            (choice) =>
              html`<button
                class="choice"
                type="button"
                data-press=${choice.action}
                aria-pressed=${question.picks.has(choice.action) ? "true" : "false"}
                aria-disabled=${place.isBlocked(question) ? "true" : "false"}
                @click=${(/** @type {Event} */ event) => place.press(question, { action: choice.action }, event.timeStamp)}
              >
                <span class="tick ${picker.many ? "square" : ""}">${icon("check")}</span>
                <span class="grow"
                  ><span class="choice-label">${shown(choice.label)}</span
                  ><span class="small muted">${shown(choice.description ?? "")}</span></span
                >
              </button>`,
          )}
        </section>`,
    )}
  </div>`;
}

/** @param {Answering} place @param {Question} question */
function alike(place, question) {
  const alike = place.alike(question);
  if (alike.length < 2) return nothing;
  return html`<div class="alike">
    ${icon("checks")}<span class="grow"
      >${counted(alike.length, "open question is", "open questions are")} alike.</span
    >
    <button class="button small" type="button" data-alike @click=${() => place.openBatch(alike)}>
      Answer together…
    </button>
  </div>`;
}
