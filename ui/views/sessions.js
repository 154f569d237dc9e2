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
                  ${older > 0 ? html`<p class="small muted end-note">and ${older} older ones, which are in the history</p>` : nothing}`
              : empty()
        }
      </div>
    </div>`;
  }

  /** @param {SessionState} session */
  #card(session) {
    const waiting = counted(session.waiting, "question");
    const address = formatRoute({ view: "history", params: { session: session.session } });
    return html`<article class="panel session" data-session=${session.session}>
      <header class="row">
        ${agentIcon(session.agent)}
        <div class="grow">
          <div class="row">
            <h2 class="cut grow" title=${session.project}>${folderName(session.project)}</h2>
            ${session.waiting ? html`<a class="chip accent" href="#/inbox">${waiting} open</a>` : nothing}
          </div>
          <p class="tiny muted cut">
            ${agentName(session.agent)} ·
            ${ago(session.last_ms, this.app.now)}${session.mode ? ` · mode ${session.mode}` : ""}
          </p>
        </div>
      </header>
      ${session.warning ? html`<p class="note red">${icon("warning")}<span>${session.warning}</span></p>` : nothing}
      <blockquote class=${session.last_words ? "" : "muted"}>
        ${session.last_words ? shown(session.last_words) : "It has not said anything yet."}
      </blockquote>
      <footer class="today">
        <dl>
          <div>
            <dt>allowed today</dt>
            <dd class="num">${session.allowed_today.toLocaleString()}</dd>
          </div>
          <div>
            <dt>denied</dt>
            <dd class="num">${session.denied_today.toLocaleString()}</dd>
          </div>
          <div>
            <dt>by rule</dt>
            <dd class="num">${session.by_rule_today.toLocaleString()}</dd>
          </div>
        </dl>
        <a class="link small" href=${address}>History</a>
      </footer>
    </article>`;
  }
}

function empty() {
  return html`<div class="empty">
    ${openGate()}
    <h2>No agent has asked yet</h2>
    <p>Install the hook into the agents that you use. From then on their sessions are listed here.</p>
    <p><code>callgate install</code></p>
  </div>`;
}
