// What tells people about new questions and answers: the title, the icon of the tab, and
// notifications of the browser. They name agent, project and kind, and never the command.

import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { icon } from "./parts/icons.js";
import { agentName, folderName } from "./words.js";
import { keep, kept } from "./kept.js";

/** @typedef {import("./app.js").App} App */
/**
 * What is told of a question.
 * @typedef {Pick<import("./types/desk.js").Row, "question" | "agent" | "project" | "deed" | "asked_ms">} NoticedQuestion
 */

const ASKED = "callgate.notify-asked";
/** A question that is older is one that people have seen already, before the page was loaded again. */
const NEW_MS = 30_000;

export class Notices {
  #app;
  #count = -1;
  /** @type {Set<string>} */
  #notified = new Set();

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
  }

  /** @param {number} count how many questions wait */
  count(count) {
    if (count === this.#count) return;
    this.#count = count;
    document.title = count ? `(${count}) callgate` : "callgate";
    const link = /** @type {HTMLLinkElement | null} */ (document.getElementById("favicon"));
    if (link) link.href = `data:image/svg+xml,${encodeURIComponent(favicon(count))}`;
    const badge = /** @type {{setAppBadge?: (count: number) => Promise<void>}} */ (navigator);
    badge.setAppBadge?.(count).catch(() => {});
    this.#app.desktop?.waiting(count);
  }

  /** @param {NoticedQuestion} row a question that has just arrived */
  arrived(row) {
    // Whoever looks at the page sees it anyway. A list that is loaded again brings old questions,
    // too.
    if (this.permission() !== "granted" || document.hasFocus() || this.#notified.has(row.question)) return;
    if (Date.now() - row.asked_ms > NEW_MS) return;
    this.#notified.add(row.question);
    if (this.#app.desktop) return this.#app.desktop.notify(noticeOf(row));
    const title = `${agentName(row.agent)} in ${folderName(row.project)}`;
    const note = new Notification(title, {
      body: `Wants an answer: ${row.deed.toLowerCase()}`,
      tag: row.question,
    });
    note.onclick = () => {
      window.focus();
      this.#app.questions.open(row.question);
      note.close();
    };
  }

  /**
   * Tells of an answer that nobody has seen, or that there is none.
   * @param {import("./chat_store.js").Turn} turn @param {string} folder in which it was given
   */
  answered({ conversation, stopReason, overAt, error }, folder) {
    if (this.permission() !== "granted" || document.hasFocus()) return;
    if (["cancelled", "steered"].includes(stopReason) || Date.now() - overAt > NEW_MS) return;
    const project = folderName(folder);
    if (this.#app.desktop) return this.#app.desktop.notifyAnswer(conversation, project, error !== "");
    const note = new Notification(error ? "Answer failed" : "Answer ready", { body: `in ${project}`, tag: conversation });
    note.onclick = () => {
      window.focus();
      this.#app.go({ view: "chat", item: conversation });
      note.close();
    };
  }

  /**
   * Tells of a call that ran without a verdict.
   * @param {Record<string, any>} call the entry of the ledger
   */
  unchecked({ agent, cwd }) {
    const title = `${agentName(agent)} in ${folderName(cwd)}`;
    const body = "Ran a call without a verdict: its hook did not ask.";
    this.#app.toast(`${title}: ${body} See the history, and callgate doctor.`);
    if (this.permission() !== "granted" || document.hasFocus()) return;
    if (this.#app.desktop) return this.#app.desktop.notifyUnchecked(agentName(agent), folderName(cwd));
    const note = new Notification(title, { body, tag: "unchecked" });
    note.onclick = () => {
      window.focus();
      this.#app.go({ view: "history" });
      note.close();
    };
  }

  /** @returns {NotificationPermission} */
  permission() {
    if (this.#app.desktop) return "granted";
    return "Notification" in window ? Notification.permission : "denied";
  }

  /** Asks once, in the page and not by a pop-up, whether notifications are wanted. */
  askBell() {
    if (this.permission() !== "default" || kept(ASKED)) return nothing;
    return html`<div class="ask-bell">
      ${icon("bell")}<span class="grow">Get notifications?</span>
      <button class="button small" type="button" @click=${() => this.allow()}>Turn on</button>
      <button
        class="button quiet small"
        type="button"
        aria-label="No notifications"
        @click=${() => this.#dismiss()}
      >
        ${icon("cross")}
      </button>
    </div>`;
  }

  async allow() {
    keep(ASKED, "yes");
    await Notification.requestPermission();
    this.#app.update();
  }

  #dismiss() {
    keep(ASKED, "no");
    this.#app.update();
  }
}

/** @param {NoticedQuestion} row */
function noticeOf({ question, agent, project, deed }) {
  return { id: question, agent: agentName(agent), project: folderName(project), kind: deed };
}

/** @param {number} count */
function favicon(count) {
  const text = count > 99 ? "99" : String(count);
  const font = `font-family="sans-serif" font-size="13" font-weight="700" fill="#fff" text-anchor="middle"`;
  const number = `<text x="22" y="14.5" ${font}>${text}</text>`;
  const badge = count ? `<circle cx="22" cy="10" r="10" fill="#d63a2e"/>${number}` : "";
  const gate = `d="M9 23V13a7 7 0 0 1 14 0v10M16 13v10" fill="none" stroke="#fff" stroke-width="3"`;
  const mark = `<rect width="32" height="32" rx="8" fill="#4a48c9"/><path ${gate} stroke-linecap="round"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${mark}${badge}</svg>`;
}
