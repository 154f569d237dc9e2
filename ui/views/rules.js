// The rules: a list, an explanation of what they decide, an editor with a backtest, and suggestions.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ask, errorText } from "../transport.js";
import { counted } from "../words.js";
import { goToLine, ruleEditor } from "../parts/editor.js";
import { ExplainPanel } from "../parts/explain.js";
import { icon } from "../parts/icons.js";
import { reviewDialog } from "../parts/review.js";
import { projectOf, ruleList, suggestion } from "../parts/rule_list.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").RuleBook} RuleBook */
/** @typedef {import("../types/desk.js").Problem} Problem */
/** @typedef {import("../types/desk.js").SuggestedRule} SuggestedRule */

const EDITOR = "rules-editor";
const TABS = /** @type {[string, string][]} */ ([
  ["", "Rules"],
  ["edit", "Edit"],
  ["suggestions", "Suggestions"],
]);

export class RulesView {
  #book = /** @type {RuleBook | null} */ (null);
  #error = "";
  #draft = "";
  #problems = /** @type {Problem[]} */ ([]);
  #checking = 0;
  #round = 0;
  #suggested = /** @type {{rules: SuggestedRule[] | null, done: number, total: number} | null} */ (null);

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.explain = new ExplainPanel(app);
  }

  /** @param {import("../router.js").Route} route */
  enter(route) {
    // A draft is never given up by looking elsewhere.
    if (!this.#book || !this.#isChanged()) this.reload();
    if (this.app.team) return;
    this.explain.load();
    if (route.item === "suggestions" && !this.#suggested) this.#suggest();
  }

  /** Loads the rules; a draft is given up. */
  reload() {
    return this.app.attempt(async () => {
      this.#error = "";
      const book = await ask(this.app.transport, "rules", {}).catch((error) => {
        this.#error = errorText(error);
        throw error;
      });
      [this.#book, this.#draft, this.#problems] = [book, book.text, book.problems];
      this.#suggested = this.app.route.item === "suggestions" ? this.#suggested : null;
    });
  }

  #isChanged() {
    return this.#draft !== this.#book?.text;
  }

  /** @param {string} text */
  #type(text) {
    this.#draft = text;
    clearTimeout(this.#checking);
    this.#checking = setTimeout(() => this.#check(), 150);
    this.app.update();
  }

  async #check() {
    const round = ++this.#round;
    await this.app.attempt(async () => {
      const { problems } = await ask(this.app.transport, "check_rules", { text: this.#draft });
      // Answers may overtake each other, and only the last is about this text.
      if (round === this.#round) this.#problems = problems;
    });
  }

  render() {
    const book = this.#book;
    return html`<div class="scroll" id="rules-scroll">
      <div class="page rules">
        <header class="page-head">
          <h1>Rules</h1>
          ${
            this.app.team
              ? nothing
              : html`<nav class="segmented" aria-label="Parts of the rules">${TABS.map((tab) => this.#tab(...tab))}</nav>`
          }
        </header>
        ${book ? this.#part(book) : this.#error ? this.#failed() : html`<div class="skeleton rules-skeleton"></div>`}
      </div>
    </div>`;
  }

  #failed() {
    return html`<div class="empty">
      <h2>The rules cannot be shown</h2>
      <p>${this.#error}</p>
      <div class="row">
        <button class="button" type="button" @click=${() => this.reload()}>Try again</button>
      </div>
    </div>`;
  }

  /** @param {string} name @param {string} title */
  #tab(name, title) {
    const isCurrent = (this.app.route.item ?? "") === name;
    const mark = name === "edit" && this.#book && this.#isChanged() ? " •" : "";
    return html`<a href="#/rules${name && `/${name}`}" aria-current=${isCurrent ? "page" : "false"}
      >${title}${mark}</a
    >`;
  }

  /** @param {RuleBook} book */
  #part(book) {
    const { item } = this.app.route;
    if (this.app.team) return this.#shownRules(book);
    if (item === "edit") return this.#editor(book);
    return item === "suggestions" ? this.#suggestions() : this.#overview(book);
  }

  /** Shows a person of a team the rules of its desk, which they cannot change. @param {RuleBook} book */
  #shownRules(book) {
    const files = [
      ...(book.team ? [ruleList(book.team, "Rules of the team", null)] : []),
      ...(book.rules.length ? [ruleList(book, "Rules of the team's desk", null)] : []),
    ];
    return html`<div class="stack">
      <p class="muted">
        Every machine decides by the team's rules and its own, and asks here about the rest. The owner of the team's
        desk changes the rules.
      </p>
      ${files.length ? files : html`<p>There are no rules yet.</p>`}
    </div>`;
  }

  /** @param {RuleBook} book */
  #overview(book) {
    return html`<div class="rules-columns">
      <div class="stack">
        ${
          book.problems.length
            ? html`<p class="note ${book.problems.some(({ level }) => level === "error") ? "red" : "amber"}">
                ${icon("warning")}<span
                  >${counted(book.problems.length, "problem")} in your rules.
                  <a class="link" href="#/rules/edit"
                    >Look at ${book.problems.length === 1 ? "it" : "them"}</a
                  ></span
                >
              </p>`
            : nothing
        }
        ${book.rules.length ? ruleList(book, "Your rules", (line) => this.#edit(line)) : this.#noRules(book)}
        ${book.team ? ruleList(book.team, "Rules of your team", null) : nothing}
        ${book.projects.map((file) => ruleList(file, `Rules of ${projectOf(file.path)}`, null))}
      </div>
      <aside>${this.explain.render()}</aside>
    </div>`;
  }

  /** @param {RuleBook} book */
  #noRules({ recommended, hash }) {
    const start = () => reviewDialog(this.app, { text: recommended ?? "", hash }, () => this.reload());
    return html`<div class="panel empty-rules">
      <h2>You have no rules yet</h2>
      <p class="muted">
        Rules answer what you would always answer the same way, and deny what must never happen. The recommended
        set lets agents read, build and test, asks about what leaves the machine, and denies what cannot be undone.
      </p>
      <div class="row wrap">
        ${
          recommended
            ? html`<button class="button primary" type="button" data-recommended @click=${start}>
                Start with the recommended set
              </button>`
            : nothing
        }
        <a class="button" href="#/rules/suggestions">${icon("spark")}Suggest rules</a
        ><a class="button" href="#/rules/edit">Write one</a>
      </div>
    </div>`;
  }

  /** @param {number} line */
  #edit(line) {
    this.app.go({ view: "rules", item: "edit" });
    this.app.updateNow();
    goToLine(EDITOR, this.#draft, line);
  }

  /** @param {RuleBook} book */
  #editor(book) {
    const errors = this.#problems.filter(({ level }) => level === "error");
    const review = () => reviewDialog(this.app, { text: this.#draft, hash: book.hash }, () => this.reload());
    return html`<div class="stack">
      <div class="row wrap">
        <code class="grow small muted cut">${book.path}</code>
        <button
          class="button quiet small"
          type="button"
          ?disabled=${!this.#isChanged()}
          @click=${() => this.reload()}
        >
          Discard changes
        </button>
        <button
          class="button primary small"
          type="button"
          data-review
          ?disabled=${!this.#isChanged() || errors.length > 0}
          @click=${review}
        >
          Check against the history, then save…
        </button>
      </div>
      ${ruleEditor(this.app, {
        id: EDITOR,
        text: this.#draft,
        problems: this.#problems,
        label: "Your rules",
        type: (text) => this.#type(text),
      })}
      ${
        this.#problems.length
          ? html`<div role="status"><ul class="problems">
              ${this.#problems.map(
                (problem) =>
                  html`<li class=${problem.level} data-line=${problem.line}>
                    ${icon("warning")}
                    <button
                      class="link plain"
                      type="button"
                      @click=${() => goToLine(EDITOR, this.#draft, problem.line)}
                    >
                      Line ${problem.line}</button
                    ><span>${problem.text}</span>
                  </li>`,
              )}
            </ul></div>`
          : html`<p class="small muted row">${icon("check")}No problems found.</p>`
      }
    </div>`;
  }

  async #suggest() {
    this.#suggested = { rules: null, done: 0, total: 0 };
    await this.app.attempt(async () => {
      const progress = (/** @type {import("../types/desk.js").Progress} */ { done, total }) => {
        this.#suggested = { rules: null, done, total };
        this.app.update();
      };
      const { rules } = await ask(this.app.transport, "suggest", {}, { progress }).catch((error) => {
        this.#suggested = null;
        throw error;
      });
      this.#suggested = { rules, done: 0, total: 0 };
    });
  }

  #suggestions() {
    const state = this.#suggested;
    if (!state)
      return html`<div class="empty">
        <h2>Rules from what you decided</h2>
        <p>callgate looks for the few rules that would have answered most of what you allowed anyway.</p>
        <div class="row">
          <button class="button primary" type="button" @click=${() => this.#suggest()}>
            ${icon("spark")}Suggest rules
          </button>
        </div>
      </div>`;
    if (!state.rules)
      return html`<div class="empty">
        <h2>Reading your decisions…</h2>
        <progress
          class="narrow"
          max=${state.total || 1}
          value=${state.done}
          aria-label="Suggestions"
        ></progress>
      </div>`;
    if (!state.rules.length)
      return html`<div class="empty">
        <h2>Nothing to suggest</h2>
        <p>There are too few questions that you answered the same way, or your rules answer them already.</p>
        <div class="row">
          <button class="button" type="button" @click=${() => this.#suggest()}>Look again</button>
        </div>
      </div>`;
    return html`<div class="stack">
      <div class="row wrap">
        <p class="muted grow">
          Rules that would have answered what you allowed anyway. None of them covers anything that you
          denied.
        </p>
        <button class="button quiet small" type="button" @click=${() => this.#suggest()}>Look again</button>
      </div>
      ${state.rules.map((rule) => suggestion(this.app, rule))}
    </div>`;
  }
}
