// The sessions: which agents run where, what they last said, and what they were allowed today.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";
import { formatRoute } from "../router.js";
import { agentName, ago, counted, folderName } from "../words.js";
import { agentIcon, icon, openGate } from "../parts/icons.js";
import { shown } from "../parts/text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").SessionState} SessionState */

/** So many are drawn; the rest can be found in the history. */
const MOST = 60;
/** An agent that was heard of within this time is at work. */
const ACTIVE_MS = 120_000;

export class SessionsView {
  #sessions = /** @type {SessionState[] | null} */ (null);
  #refresh = 0;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
  }

  enter() {
    this.#load();
  }

  #load() {
    return this.app.attempt(async () => {
      const today = new Date().setHours(0, 0, 0, 0);
      const { sessions } = await ask(this.app.transport, "sessions", { since_ms: today });
      this.#sessions = sessions;
    });
  }

  /** @param {import("../types/desk.js").Entry} _entry */
  entry(_entry) {
    this.#refresh ||= setTimeout(() => {
      this.#refresh = 0;
      if (this.app.route.view === "sessions") this.#load();
    }, 1_000);
  }

  render() {
    const sessions = this.#sessions;
    const older = (sessions?.length ?? 0) - MOST;
    return html`<div class="scroll">
      <div class="page">
        <header class="page-head"><h1 class="grow">Sessions</h1></header>
        ${
          !sessions
            ? html`<div class="session-grid">
                <div class="skeleton session"></div>
                <div class="skeleton session"></div>
              </div>`
            : sessions.length
              ? html`<div class="session-grid">
                    ${sessions.slice(0, MOST).map((session) => this.#card(session))}
                  </div>
                  ${older > 0 ? html`<p class="small muted end-note">${counted(older, "older session is", "older sessions are")} in the history</p>` : nothing}`
              : empty()
        }
      </div>
    </div>`;
  }

  /** @param {SessionState} session */
  #card(session) {
    const { agent, project, machine, branch, mode, warning, last_words: words } = session;
    // White space between elements would be nodes of the document, too.
    return html`<article class="panel session" data-session=${session.session}
      ><header class="row"
        >${agentIcon(agent)}<div class="grow"
          ><div class="row"
            ><h2 class="cut grow" title=${project} .textContent=${folderName(project)}></h2
            >${state(session, this.app.now)}</div
          ><p class="tiny muted row session-facts"
            ><span .textContent=${agentName(agent)}></span
            >${machine ? html`<span>on ${shown(machine)}</span>` : nothing}${branch ? html`<span class="row branch cut" title="Branch">${icon("branch")}${shown(branch)}</span>` : nothing}${
              mode ? html`<span .textContent=${`mode ${mode}`}></span>` : nothing
            }<span .textContent=${ago(session.last_ms, this.app.now)}></span></p></div></header
      >${warning ? html`<p class="note red">${icon("warning")}<span>${warning}</span></p>` : nothing}<blockquote
        class=${words ? "" : "muted"}
        >${words ? shown(words) : "No messages seen yet"}</blockquote
      ><footer class="today"
        ><dl>${figure("allowed today", session.allowed_today)}${figure("denied", session.denied_today)}${figure(
          "by rule",
          session.by_rule_today,
        )}</dl
        ><span class="row session-ways">${ways(session)}</span></footer></article>`;
  }
}

/** @param {string} name @param {number} count */
function figure(name, count) {
  return html`<div><dt .textContent=${name}></dt><dd class="num" .textContent=${count.toLocaleString()}></dd></div>`;
}

/** Returns what can be done about a session. @param {SessionState} session */
function ways({ session, agent, waiting, question }) {
  const watch = formatRoute({ view: "history", params: { session } });
  return html`<a class="button quiet small" href=${watch}>Watch</a>${
    waiting
      ? html`<a class="button primary small" data-answer-session href="#/inbox/${question ?? ""}">Answer</a>`
      : agent === "callgate"
        ? html`<a class="button small" href="#/chat/${encodeURIComponent(session)}">Open</a>`
        : nothing
  }`;
}

/** Says whether a session waits, works or is quiet. @param {SessionState} session @param {number} now */
function state({ waiting, last_ms }, now) {
  if (waiting) return html`<span class="chip accent">${counted(waiting, "question")} open</span>`;
  return now - last_ms < ACTIVE_MS ? html`<span class="chip green">Active</span>` : html`<span class="chip">Quiet</span>`;
}

function empty() {
  return html`<div class="empty">
    ${openGate()}
    <h2>No agent has asked yet</h2>
    <p>Install the hook into the agents that you use. From then on their sessions are listed here.</p>
    <p><code>callgate install</code></p>
  </div>`;
}
