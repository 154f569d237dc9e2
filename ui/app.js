// The page: its state, its connection to the desk, and what every view may do.

import { render } from "./vendor/lit-html/lit-html.js";
import { ChatSession } from "./chat_session.js";
import { ChatQuestions } from "./chat_questions.js";
import { keep, kept } from "./kept.js";
import { LazyView } from "./lazy_view.js";
import { Notices } from "./notices.js";
import { formatRoute, parseRoute } from "./router.js";
import { frame } from "./frame.js";
import { FrameSchedule } from "./frame_schedule.js";
import { QuestionLoader } from "./question_loader.js";
import { QuestionStore } from "./store.js";
import { HttpTransport } from "./http_transport.js";
import { TeamPage } from "./team_page.js";
import { RequestError, ask, errorText } from "./transport.js";
import { handleKey } from "./keys.js";
import { helpDialog } from "./parts/help.js";
import { beginFrame, loadMarkdown } from "./parts/markdown.js";
import { ChatView } from "./views/chat.js";
import { InboxView } from "./views/inbox.js";
import { PairView, takeCode } from "./views/pair.js";

/** @typedef {import("./router.js").Route} Route */
/** @typedef {import("./types/desk.js").Entry} Entry */

/**
 * @typedef {object} View
 * @property {(route: Route) => void} enter called when the address leads here
 * @property {() => unknown} render
 * @property {(entry: Entry) => void} [entry] called for each entry while the view is shown
 * @property {() => void} [rendered] called after the view was drawn
 * @property {(key: string, at: number) => boolean} [key]
 *   returns true if the key means something here; 'at' is when it was pressed
 * @property {(key: string) => boolean} [typed]
 *   returns true if the character goes to a field, which has the focus then
 */

const KEY = "callgate.key";

export class App {
  /** @type {Route} */
  route = parseRoute("");
  store = new QuestionStore();
  /** @type {import("./transport.js").Connection} */
  connection = "connecting";
  retryAt = 0;
  now = Date.now();
  /** How often the page has come into view. */
  appearances = 0;
  /** @type {{title: string, render: () => unknown} | null} */
  dialog = null;
  /** @type {{id: number, text: string}[]} */
  toasts = [];
  frames = new FrameSchedule(() => this.#draw());
  #toastId = 0;
  /** @type {Set<string>} */
  #unfolded = new Set();
  #replayed = 0;
  /** @type {{close: () => void, retry: () => void} | null} */
  #watch = null;
  /** The clock of a page that is seen. @type {ReturnType<typeof setInterval> | undefined} */
  #clock;

  /** @param {((app: App) => import("./desktop.js").Desktop) | null} makeDesktop in the window of the shell */
  constructor(makeDesktop) {
    const key = () => kept(KEY);
    const lost = (/** @type {string} */ text) => this.locked(text);
    /** The desktop shell, if the page is in its window. */
    this.desktop = makeDesktop?.(this) ?? null;
    const http = new HttpTransport(key, lost);
    /** What is special about the page of a team, which alone is served over TLS. */
    this.team = !this.desktop && location.protocol === "https:" ? new TeamPage(this, http) : null;
    /** @type {import("./transport.js").Transport} */
    this.transport = this.desktop?.transport(key, lost) ?? http;
    this.notices = new Notices(this);
    this.loader = new QuestionLoader(this);
    this.chat = new ChatSession(this);
    this.questions = new ChatQuestions(this);
    this.pair = new PairView(this);
    this.views = {
      inbox: new InboxView(this),
      chat: new ChatView(this),
      history: new LazyView(this, async () => new (await import("./views/history.js")).HistoryView(this)),
      rules: new LazyView(this, async () => new (await import("./views/rules.js")).RulesView(this)),
      sessions: new LazyView(this, async () => new (await import("./views/sessions.js")).SessionsView(this)),
      settings: new LazyView(this, async () => new (await import("./views/settings.js")).SettingsView(this)),
      status: new LazyView(this, async () => new (await import("./views/status.js")).StatusView(this)),
      you: new LazyView(this, async () => new (await import("./views/you.js")).YouView(this)),
    };
  }

  /** @returns {View} */
  get view() {
    return this.views[this.route.view];
  }

  get isPaired() {
    return kept(KEY) !== null;
  }

  /** Whether there is something to show: the chat of the desktop shell needs no desk. */
  get isUsable() {
    return this.isPaired || this.desktop !== null;
  }

  /** Whether there is such a view for whoever uses the page. @param {import("./router.js").ViewName} view */
  has(view) {
    return this.team ? this.team.views.includes(view) : view !== "you";
  }

  /** Whether the view cannot be shown, because it needs a desk and none is there. */
  get lacksDesk() {
    return this.desktop?.lacksDesk ?? false;
  }

  async start() {
    const code = this.team ? null : takeCode();
    this.team?.arrive();
    await this.desktop?.start();
    if (this.desktop && !location.hash) history.replaceState(null, "", formatRoute({ view: "chat" }));
    this.#routed();
    window.addEventListener("hashchange", () => this.#moved());
    window.addEventListener("resize", () => this.update());
    window.addEventListener("online", () => this.#watch?.retry());
    document.addEventListener("visibilitychange", () => this.#seen());
    document.addEventListener("keydown", (event) => handleKey(this, event));
    this.#seen();
    if (this.isPaired) this.#connect(code);
    else if (code) this.pair.pair(code);
    this.update();
    // Not needed for the first drawing, and so not in its way.
    setTimeout(loadMarkdown, 200);
  }

  /** @param {string | null} [code] used if the key of this browser is not accepted any more */
  async #connect(code = null) {
    if (code) {
      try {
        await ask(this.transport, "status", {});
      } catch (error) {
        if (error instanceof RequestError && error.status === 401) return this.pair.pair(code);
      }
    }
    this.#watch?.close();
    this.#watch = this.transport.watch({
      watching: (head, person) => {
        if (this.team) this.team.person = person ?? "";
        this.#replayed = head;
        this.loader.loadInbox();
      },
      entry: (entry) => this.#entry(entry),
      connection: (connection, wait) => {
        this.connection = connection;
        this.retryAt = Date.now() + wait;
        document.body.dataset.connection = connection;
        this.update();
      },
      locked: (text) => this.locked(text),
    });
    this.view.enter(this.route);
  }

  retry() {
    this.#watch?.retry();
    this.desktop?.look(true);
  }

  /** @param {string} key */
  paired(key) {
    keep(KEY, key);
    this.#connect();
    this.update();
  }

  /** Forgets the key of this browser, which is not valid any more. @param {string} text why */
  locked(text) {
    keep(KEY, null);
    this.#watch?.close();
    this.#watch = null;
    this.store = new QuestionStore();
    this.loader.isLoaded = false;
    this.closeDialog();
    if (this.team) this.team.reset(text);
    else this.pair.reset(text);
    this.update();
  }

  // What the desk reports

  /** @param {Entry} entry */
  #entry(entry) {
    this.now = Date.now();
    this.store.head = entry.seq;
    // What was asked before this connection is in the list that is being loaded.
    const isOld = entry.kind === "asked" && entry.seq <= this.#replayed;
    const added = isOld ? null : this.store.entryArrived(entry, this.now);
    if (added) this.#added(added);
    if (entry.kind === "closed" && this.store.beyond) this.loader.loadInbox();
    if (entry.kind === "ran" && entry.body.by && entry.seq > this.#replayed) this.notices.unchecked(entry.body);
    this.view.entry?.(entry);
    this.changed();
  }

  /** @param {string} id */
  #added(id) {
    const question = this.store.questions.get(id);
    if (question) this.notices.arrived(question.row);
    this.loader.loadNew(id);
  }

  /** Takes over what has changed in the store. */
  changed() {
    this.notices.count(this.waiting());
    this.update();
  }

  /** Takes over what the runtime of the chat asks. */
  questionsChanged() {
    for (const asked of this.questions.refresh()) this.notices.arrived(asked);
    this.changed();
  }

  /** How many questions wait for an answer, of the desk and of the runtime. */
  waiting() {
    const own = this.questions.waiting().filter((id) => !this.store.questions.has(id));
    return this.store.waiting() + own.length;
  }

  // What views use

  /** Draws the page soon. */
  update() {
    this.frames.request();
  }

  updateNow() {
    this.frames.drawNow();
  }

  #draw() {
    this.now = Date.now();
    const root = document.getElementById("app");
    if (!root) return;
    beginFrame();
    render(frame(this), root);
    if (this.isUsable) this.view.rendered?.();
    const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("dialog"));
    if (dialog && !dialog.open) dialog.showModal();
  }

  /** Keeps the time while somebody sees the page. A hidden one rests until something happens. */
  #seen() {
    clearInterval(this.#clock);
    if (document.hidden) return;
    this.appearances += 1;
    this.#clock = setInterval(() => this.#tick(), 1_000);
    this.#watch?.retry();
    this.#tick();
  }

  #tick() {
    this.now = Date.now();
    this.desktop?.look();
    this.store.sweep(this.now, this.route.view === "inbox" ? this.views.inbox.current : null);
    this.update();
  }

  /** @param {Partial<Route> & {view: Route["view"]}} route @param {boolean} [replaces] */
  go(route, replaces = false) {
    const address = formatRoute(route);
    if (replaces) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.#routed();
  }

  /** Follows the address. Somebody may have followed the link with a code in this very tab. */
  #moved() {
    const code = this.team ? null : takeCode();
    this.team?.arrive();
    if (code && !this.isPaired) this.pair.pair(code);
    this.#routed();
  }

  #routed() {
    const route = parseRoute(location.hash);
    // What is open there may be about the conversation that is left.
    if (this.route.view === "chat") this.closeDialog();
    this.route = this.has(route.view) ? route : parseRoute("");
    if (this.isUsable && !this.lacksDesk) this.view.enter(this.route);
    this.desktop?.look();
    this.update();
  }

  /** @param {string} key */
  isUnfolded(key) {
    return this.#unfolded.has(key);
  }

  /** @param {string} key */
  unfold(key) {
    this.setUnfolded(key, true);
  }

  /** @param {string} key @param {boolean} isUnfolded */
  setUnfolded(key, isUnfolded) {
    if (isUnfolded === this.#unfolded.has(key)) return;
    if (isUnfolded) this.#unfolded.add(key);
    else this.#unfolded.delete(key);
    this.update();
  }

  /** @param {string} title @param {() => unknown} render */
  openDialog(title, render) {
    this.dialog = { title, render };
    this.update();
  }

  closeDialog() {
    this.dialog = null;
    this.update();
  }

  openHelp() {
    helpDialog(this);
  }

  /** @param {{question?: string, seq?: number}} of @param {string} summary */
  async proposeRule(of, summary) {
    await this.attempt(async () => {
      const { proposalDialog } = await import("./parts/proposal.js");
      proposalDialog(this, of, summary);
    });
  }

  /** @param {string} text */
  toast(text) {
    const id = ++this.#toastId;
    this.toasts = [...this.toasts.filter((toast) => toast.text !== text), { id, text }].slice(-3);
    setTimeout(() => {
      this.toasts = this.toasts.filter((toast) => toast.id !== id);
      this.update();
    }, 5_000);
    this.update();
  }

  /**
   * Does something that may fail, and says so if it does.
   * @param {() => Promise<void>} work
   */
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      this.#failed(error);
    }
    this.update();
  }

  /** @param {unknown} error */
  #failed(error) {
    if (error instanceof RequestError && error.status === 401) return;
    if (
      error instanceof RequestError &&
      (error.status === 0 || error.status === 503) &&
      this.connection !== "live"
    )
      return;
    this.toast(errorText(error));
  }
}

async function main() {
  const tauri = window.__TAURI__;
  // A browser does not load what only the shell needs.
  const shell = tauri && (await import("./desktop.js"));
  new App(shell ? (app) => new shell.Desktop(tauri, app) : null).start();
}

main();
