// The history: every decision and tool run, with search, filters that live in the address, and plots.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask } from "../transport.js";
import { HERE, filterOf, formatRoute } from "../router.js";
import { agentName, counted, folderName } from "../words.js";
import { valueOf } from "../parts/controls.js";
import { exportDialog } from "../parts/export.js";
import { historyRow } from "../parts/history_row.js";
import { icon, openGate } from "../parts/icons.js";
import { LedgerBadge } from "../parts/ledger_badge.js";
import { machineName } from "../parts/machine_filter.js";
import { answersPlot, hoursPlot, sharesPlot, talliesPlot } from "../parts/plots.js";
import { VirtualList } from "../parts/virtual_list.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").HistoryRow} HistoryRow */

const NARROW = matchMedia("(max-width: 759px)");
const PAGE = 200;
const REFRESH_MS = 1_000;

export class HistoryView {
  #list = /** @type {VirtualList<HistoryRow>} */ (new VirtualList("decisions", "history-scroll"));
  /** @type {HistoryRow[]} */
  #rows = [];
  #badge;
  #next = /** @type {number | null} */ (null);
  #isLoading = false;
  #isStale = false;
  /** The last entry that the desk had reported when the rows were loaded. */
  #head = -1;
  #shown = "";
  #figures = /** @type {import("../types/desk.js").Figures | null} */ (null);
  #by = "project";
  #typing = 0;
  #refresh = 0;
  #options = /** @type {Record<string, string[]>} */ ({ project: [], agent: [], tool: [], machine: [] });

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.#badge = new LedgerBadge(app);
    NARROW.addEventListener("change", () => this.#list.reset());
  }

  get #params() {
    return this.app.route.params;
  }

  /** @param {import("../router.js").Route} route */
  enter(route) {
    const address = formatRoute({ view: "history", params: route.params });
    // Entries that came while another view was shown are not reported here.
    if (address === this.#shown && !this.#isStale && this.#head === this.app.store.head) return;
    this.#shown = address;
    this.#load();
  }

  async #load() {
    this.#isStale = false;
    this.#head = this.app.store.head;
    this.#isLoading = true;
    const shown = this.#shown;
    const filter = filterOf(this.#params, Date.now());
    await this.app.attempt(async () => {
      const page = await ask(this.app.transport, "history", { filter, limit: PAGE });
      // Somebody has chosen another filter meanwhile.
      if (shown !== this.#shown) return;
      this.#rows = page.rows;
      this.#next = page.next;
    });
    this.#isLoading = false;
    await this.app.attempt(async () => {
      const figures = await ask(this.app.transport, "figures", { filter });
      if (shown !== this.#shown) return;
      this.#figures = figures;
      for (const name of /** @type {const} */ (["project", "agent", "tool", "machine"])) {
        const names = (figures[`by_${name}`] ?? []).map((tally) => tally.name);
        this.#options[name] = [...new Set([...this.#options[name], ...names])].sort();
      }
    });
  }

  async #more() {
    if (this.#isLoading || this.#next === null) return;
    this.#isLoading = true;
    const [shown, before] = [this.#shown, this.#next];
    await this.app.attempt(async () => {
      const page = await ask(this.app.transport, "history", {
        filter: filterOf(this.#params, Date.now()),
        before,
        limit: PAGE,
      });
      if (shown !== this.#shown) return;
      this.#rows = [...this.#rows, ...page.rows];
      this.#next = page.next;
    });
    this.#isLoading = false;
  }

  /** @param {import("../types/desk.js").Entry} entry */
  entry(entry) {
    if (!["asked", "decided", "checked", "ran", "closed", "saved"].includes(entry.kind)) return;
    this.#isStale = true;
    if (this.#refresh) return;
    this.#refresh = setTimeout(() => {
      this.#refresh = 0;
      const top = document.getElementById("history-scroll")?.scrollTop ?? 0;
      // Rows that are added above would move what somebody reads further down.
      if (this.#isStale && top < 80 && this.app.route.view === "history") this.#load();
    }, REFRESH_MS);
  }

  /** @param {Record<string, string>} change */
  #filter(change) {
    const params = { ...this.#params, ...change };
    document.getElementById("history-scroll")?.scrollTo(0, 0);
    this.app.go({ view: "history", params }, true);
  }

  #scrolled() {
    if (this.#list.isNearEnd()) this.#more();
    this.app.update();
  }

  render() {
    const count = Object.values(this.#params).filter(Boolean).length;
    return html`<div class="scroll" id="history-scroll" @scroll=${() => this.#scrolled()}>
      <div class="page history">
        <header class="page-head">
          <h1 class="grow">History</h1>
          ${this.#badge.render()}
          <button
            class="button small"
            type="button"
            data-export
            @click=${() => exportDialog(this.app, filterOf(this.#params, Date.now()))}
          >
            ${icon("download")}Export
          </button>
        </header>
        ${this.#plots()} ${this.#filters(count)}
        ${
          this.#isStale
            ? html`<button
                class="chip accent fresh"
                type="button"
                @click=${() => {
                  document.getElementById("history-scroll")?.scrollTo(0, 0);
                  this.#load();
                }}
              >
                New entries. Show them
              </button>`
            : nothing
        }
        ${
          this.#rows.length
            ? html`<div class="history-list">${this.#listOfRows()}</div>
                <p class="small muted end-note">
                  ${this.#next === null ? `${counted(this.#rows.length, "entry", "entries")} in total` : "Loading more…"}
                </p>`
            : this.#empty(count)
        }
      </div>
    </div>`;
  }

  rendered() {
    if (this.#list.isOutdated()) this.app.update();
  }

  #listOfRows() {
    return this.#list.render({
      items: this.#rows,
      height: NARROW.matches ? 72 : 54,
      key: (row) => row.seq,
      row: (row) => historyRow(this.app, row),
      label: "Decisions and runs",
    });
  }

  #plots() {
    const figures = this.#figures;
    if (!figures)
      return html`<div class="plots">
        ${NARROW.matches ? nothing : [0, 1, 2, 3].map(() => html`<div class="skeleton plot"></div>`)}
      </div>`;
    const addressOf = (/** @type {string} */ name) =>
      formatRoute({ view: "history", params: { ...this.#params, [this.#by]: name } });
    const choose = (/** @type {string} */ by) => {
      this.#by = by;
      this.app.update();
    };
    const plots = html`<div class="plots">
      ${hoursPlot(this.app, figures)} ${answersPlot(figures.answer_ms)} ${sharesPlot(figures.shares)}
      ${talliesPlot(figures, this.#by, choose, addressOf)}
    </div>`;
    return NARROW.matches
      ? html`<details class="fold-plots">
          <summary>Figures</summary>
          ${plots}
        </details>`
      : plots;
  }

  /** @param {number} count how many filters are set */
  #filters(count) {
    const type = (/** @type {Event} */ event) => {
      const { value } = /** @type {HTMLInputElement} */ (event.target);
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#filter({ text: value.trim() }), 200);
    };
    const others = this.#options.machine;
    const machines = (others.length ? [HERE, ...others] : []).map(
      (name) => /** @type {[string, string]} */ ([name, machineName(name)]),
    );
    const { session } = this.#params;
    const drop = () => this.#filter({ session: "" });
    const ofSession = html`<button class="chip accent" type="button" @click=${drop}>
      Session ${session?.slice(0, 8)} ${icon("cross")}
    </button>`;
    return html`<form
      class="filters"
      role="search"
      @submit=${(/** @type {Event} */ event) => event.preventDefault()}
    >
      <label class="search"
        >${icon("search")}<span class="only-read">Search</span
        ><input
          class="field"
          id="search"
          type="search"
          placeholder="Search commands, files, words, names"
          .value=${this.#params.text ?? ""}
          @input=${type}
      /></label>
      ${this.#select("decision", "Any decision", [
        ["allow", "Allowed"],
        ["deny", "Denied"],
        ["timeout", "No answer"],
        ["withdrawn", "Withdrawn"],
        ["open", "Waiting"],
        ["ran", "Ran"],
        ["saved", "Rules saved"],
      ])}
      ${this.#select("by", "By anybody", [
        ["person", "By a person"],
        ["rule", "By a rule"],
      ])}
      ${this.#select("since", "Any time", [
        ["hour", "Last hour"],
        ["day", "Last day"],
        ["week", "Last week"],
        ["month", "Last 30 days"],
      ])}
      ${this.#select(
        "project",
        "Any project",
        this.#options.project.map((name) => [name, folderName(name)]),
      )}
      ${this.#select(
        "agent",
        "Any agent",
        this.#options.agent.map((name) => [name, agentName(name)]),
      )}
      ${this.#select(
        "tool",
        "Any tool",
        this.#options.tool.map((name) => [name, name]),
      )}
      ${machines.length || this.#params.machine ? this.#select("machine", "Any machine", machines) : nothing}
      ${session ? ofSession : nothing}
      ${count ? html`<a class="link small" href="#/history">Clear</a>` : nothing}
    </form>`;
  }

  /** @param {string} name @param {string} none @param {[string, string][]} options */
  #select(name, none, options) {
    const value = this.#params[name] ?? "";
    const known =
      value && !options.some(([option]) => option === value) ? [...options, [value, value]] : options;
    return html`<select
      class="field ${value ? "is-set" : ""}"
      aria-label=${none}
      data-filter=${name}
      @change=${(/** @type {Event} */ event) => this.#filter({ [name]: valueOf(event) })}
    >
      <option value="" ?selected=${!value}>${none}</option>
      ${known.map(([option, title]) => html`<option value=${option} ?selected=${option === value}>${title}</option>`)}
    </select>`;
  }

  /** @param {number} count */
  #empty(count) {
    if (this.#isLoading)
      return html`<div class="history-list">
        ${[0, 1, 2, 3, 4].map(() => html`<div class="skeleton history-skeleton"></div>`)}
      </div>`;
    if (count)
      return html`<div class="empty">
        <h2>Nothing matches</h2>
        <p>No entry matches all filters.</p>
        <div class="row"><a class="button" href="#/history">Clear the filters</a></div>
      </div>`;
    return html`<div class="empty">
      ${openGate()}
      <h2>No decisions yet</h2>
      <p>
        Everything that agents ask, and everything that rules decide for you, is recorded here, in a chain
        that shows whether anything was changed later.
      </p>
      <div class="row"><a class="button primary" href="#/inbox">Go to the inbox</a></div>
    </div>`;
  }
}
