// The rows of the list of questions.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { decisionOf, isBatchable, isOpen } from "../store.js";
import { agentName, decisionWords, folderName, outcomeWords, remaining, shortSummary } from "../words.js";
import { RISKS } from "./card.js";
import { icon, iconStyle } from "./icons.js";
import { ends, shown } from "./text.js";

/** @typedef {import("../views/inbox.js").InboxView} InboxView */
/** @typedef {import("../store.js").Question} Question */

const DEMANDS = { two_people: "Two people", not_own: "Somebody else" };

/** @param {InboxView} inbox @param {Question} question @param {Question | null} current */
export function questionRow(inbox, question, current) {
  const { row } = question;
  const left = row.until_ms - inbox.app.now;
  const isOver = !isOpen(question);
  const isCurrent = question === current;
  const box = inbox.isSelecting ? checkbox(inbox, question) : nothing;
  const state = `${isCurrent ? "is-current" : ""} ${isOver ? "is-over" : ""}`;
  const time = isOver ? "" : remaining(left);
  const [start, end] = shortSummary(row);
  return html`<div class="question-row ${state}" data-question=${row.question} data-answer=${question.answer}
    ><a href="#/inbox/${row.question}" aria-current=${isCurrent ? "true" : "false"}
      ><span class="first"
        ><span class="what ${end ? "ends" : "cut"}">${ends(start || row.deed, end)}</span
        ><span class="left ${left < 60_000 ? "soon" : ""}" .textContent=${time}></span></span
      ><span class="second">${rowState(question) ?? rowMarks(row)}</span></a>${box}</div>`;
}

/** @param {InboxView} inbox @param {Question} question */
function checkbox(inbox, question) {
  const { summary, question: id } = question.row;
  const isPossible = isBatchable(question);
  return html`<label class="select" title=${isPossible ? "" : "This one is answered on its own"}
    ><input type="checkbox" aria-label="Select ${summary}" ?disabled=${!isPossible}
      .checked=${inbox.selected.has(id)} @change=${() => inbox.toggle(id)}></label>`;
}

/** @param {Question} question */
function rowState(question) {
  const { answer, outcome } = question;
  if (answer === "pressed") return html`<span class="state"><span class="spinner"></span>Pressed</span>`;
  if (answer === "recorded") return html`<span class="state">${icon("check")}Recorded</span>`;
  if (answer === "read")
    return html`<span class="state">${icon("checks")}${decisionWords(outcome?.decision ?? decisionOf(question))} · read</span>`;
  if (isOpen(question)) return null;
  const words = outcome ? outcomeWords(outcome) : "Over";
  return html`<span class="state"><span class="dot ${outcome?.decision ?? ""}"></span>${words}</span>`;
}

/** @param {import("../store.js").Group} group */
export function groupRow({ agent, project, machine, session, questions }) {
  const count = questions.length > 1 ? html`<span class="num">· ${questions.length}</span>` : nothing;
  const where = html`<strong title="${project} · session ${session}">${folderName(project)}</strong>`;
  return html`<div class="group"
    ><span class="cut"><strong>${agentName(agent)}</strong> in ${where}${machine ? html` on <strong>${shown(machine)}</strong>` : nothing}</span>${count}</div>`;
}

/**
 * Returns the second line of a row: the most important risks, or what the call does.
 * @param {import("../types/desk.js").Row} row
 */
function rowMarks(row) {
  const marks = row.needs === "confirm" ? [mark("warning", "Confirm", "red")] : [];
  if (row.demands?.length) marks.push(mark("warning", row.allowed_by ? "One more person" : DEMANDS[row.demands[0]], "amber"));
  const own = marks.length;
  const risks = [...row.risks].sort((a, b) => weight(b.kind) - weight(a.kind));
  for (const { kind } of risks.slice(0, 2 - marks.length)) {
    const [name, tone] = RISKS[kind] ?? [kind, ""];
    marks.push(mark(kind, name, tone));
  }
  const more = risks.length + own - marks.length;
  if (marks.length < 2) marks.unshift(html`<span .textContent=${row.deed}></span>`);
  const rest = more > 0 ? html`<span class="num" .textContent=${`+${more}`}></span>` : nothing;
  // A list would have two more nodes for each of them.
  return html`${marks[0]}${marks[1] ?? nothing}${rest}`;
}

/** @param {string} icon @param {string} name @param {string} tone */
function mark(icon, name, tone) {
  return html`<span class="risk ${tone}" .style=${iconStyle(icon)} .textContent=${name}></span>`;
}

/** @param {string} kind */
function weight(kind) {
  return ["", "amber", "red"].indexOf(RISKS[kind]?.[1] ?? "");
}
