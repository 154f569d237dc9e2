// The frame around the views: navigation, the state of the connection, dialogs and toasts.

import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { repeat } from "./vendor/lit-html/directives/repeat.js";
import { icon, mark } from "./parts/icons.js";

/** @typedef {import("./app.js").App} App */

const NAMES = /** @type {const} */ ([
  ["inbox", "Inbox"],
  ["chat", "Chat"],
  ["history", "History"],
  ["rules", "Rules"],
  ["sessions", "Sessions"],
]);
const STATES = {
  live: "Connected",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  offline: "Not connected",
};

/** @param {App} app */
export function frame(app) {
  if (!app.isUsable) return html`<main>${app.team?.renderSignIn() ?? app.pair.render()}</main>${overlays(app)}`;
  const { view } = app.route;
  const hasCard =
    view === "inbox" && app.views.inbox.current !== null && app.store.questions.has(app.views.inbox.current);
  const state = connectionWords(app);
  return html`<div class="frame ${hasCard ? "has-card" : ""}">
      <nav class="nav" aria-label="Views">
        <div class="brand">${mark()}<span>callgate</span></div>
        ${NAMES.filter(([name]) => app.has(name)).map(([name, title]) => item(app, name, title))}
        <div class="end">
          ${app.team ? item(app, "you", app.team.person || "You") : item(app, "settings", "Settings")}
          <div class="link-state ${state === "No desk" ? "" : app.connection}" role="status" title=${state}>
            <span class="lamp"></span><span class="name">${state}</span>
          </div>
        </div>
      </nav>
      <main class="main">
        ${app.desktop?.banner() ?? nothing}
        ${app.desktop && !(app.desktop.needsDesk && app.loader.isLoaded) ? nothing : banner(app)}
        <div class="view" data-view=${view}>${app.lacksDesk ? app.desktop?.renderNoDesk() : app.view.render()}</div>
      </main>
    </div>
    ${overlays(app)}`;
}

/** @param {App} app */
function connectionWords(app) {
  if (!app.desktop) return STATES[app.connection];
  if (!app.isPaired) return app.desktop.hasDesk ? "Not linked" : "No desk";
  return app.connection === "offline" ? "No desk" : STATES[app.connection];
}

/** @param {App} app @param {import("./router.js").ViewName} name @param {string} title */
function item(app, name, title) {
  const waiting = { inbox: app.store.waiting(), chat: app.questions.waiting().length }[/** @type {"inbox" | "chat"} */ (name)] ?? 0;
  const number = waiting > 999 ? "999+" : waiting;
  const badge = html`<span class="count num">${number}<span class="only-read"> open</span></span>`;
  return html`<a
    class="item"
    href="#/${name}"
    aria-current=${app.route.view === name ? "page" : "false"}
    title=${title}
  >
    ${icon(name, "icon-l")}<span class="name">${title}</span>${waiting ? badge : nothing}</a
  >`;
}

/** @param {App} app */
function banner(app) {
  const seconds = Math.max(0, Math.ceil((app.retryAt - app.now) / 1_000));
  const next = html`Next attempt in <span class="num">${seconds}</span> s.`;
  const again = html`<button class="button small" type="button" @click=${() => app.retry()}>Try now</button>`;
  if (app.connection === "reconnecting")
    return html`<div class="banner" role="status">
      <span class="spinner"></span>The connection was lost. Reconnecting. Answers wait until it is back.
    </div>`;
  if (app.connection !== "offline") return nothing;
  return html`<div class="banner red" role="alert">
    ${icon("warning")}<span
      >${
        app.team ? "The team's desk does not answer." : html`callgate does not answer. Start it with <code>callgate up</code>.`
      }
      ${seconds === Infinity ? nothing : next}</span
    >${again}
  </div>`;
}

/** @param {App} app */
function overlays(app) {
  return html` ${
      app.dialog
        ? html`<dialog
            id="dialog"
            aria-labelledby="dialog-title"
            @close=${() => app.closeDialog()}
            @click=${(/** @type {Event} */ event) => event.target === event.currentTarget && app.closeDialog()}
          >
            <div class="dialog-head">
              <h2 id="dialog-title" class="grow">${app.dialog.title}</h2>
              <button
                class="button quiet small"
                type="button"
                aria-label="Close"
                @click=${() => app.closeDialog()}
              >
                ${icon("cross")}
              </button>
            </div>
            ${app.dialog.render()}
          </dialog>`
        : nothing
    }
    <div class="toasts" role="status" aria-live="polite">
      ${repeat(
        app.toasts,
        (toast) => toast.id,
        (toast) => html`<div class="toast">${toast.text}</div>`,
      )}
    </div>`;
}
