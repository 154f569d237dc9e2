// The inbox: all open questions over all agents and projects, and the one that is shown in full.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { Answering, TOO_SOON } from "../answering.js";
import { SETTLE_MS } from "../press_guard.js";
import { isBatchable, isOpen } from "../store.js";
import { counted } from "../words.js";
import { batchDialog } from "../parts/batch.js";
import { emptyInbox } from "../parts/empty_inbox.js";
import { questionCard } from "../parts/card.js";
import { icon } from "../parts/icons.js";
import { machineFilter, machineName, machineOf } from "../parts/machine_filter.js";
import { groupRow, questionRow } from "../parts/question_row.js";
import { VirtualList } from "../parts/virtual_list.js";

/** @typedef {import("../store.js").Question} Question */
/** @typedef {{group: import("../store.js").Group} | {question: Question}} ListItem */

const NARROW = matchMedia("(max-width: 759px)");
/** How long an answer that was read stays before the next question is shown. */
const ADVANCE_MS = 1_100;
/** How long the outcome of a question that ended elsewhere stays before the next one is shown. */
const OVER_MS = 2_500;
const NOT_CHOSEN = "This question opened automatically. Press Enter to select it, then answer.";

export class InboxView extends Answering {
  #list = /** @type {VirtualList<ListItem>} */ (new VirtualList("questions", "list-scroll"));
  #items = { version: -1, machine: "", items: /** @type {ListItem[]} */ ([]) };
  /** The machine whose questions are listed; empty for all. */
  #machine = "";
  /** @type {string | null} the question that is shown */
  current = null;
  /** Whether the shown question was open while it was shown. */
  #wasOpen = false;
  /**
   * Since when keys may answer the shown question. A question that came by itself has to be chosen
   * first: the keys may be meant for something else.
   */
  #keysFrom = Infinity;
  /** @type {string | null} the question that the next one is about to replace */
  #leaving = null;
  /** @type {Set<string>} */
  selected = new Set();
  isSelecting = false;

  /** @param {import("../router.js").Route} route */
  enter(route) {
    if (route.item) {
      this.#show(route.item);
      this.#keysFrom = -Infinity;
    } else if (NARROW.matches) this.current = null;
  }

  /** @param {string} id */
  #show(id) {
    if (id === this.current) return;
    this.current = id;
    this.#keysFrom = Infinity;
    this.#wasOpen = false;
    this.reset();
    document.getElementById("card-scroll")?.scrollTo(0, 0);
  }

  get takesKeys() {
    return this.#keysFrom < Infinity || this.app.route.view !== "inbox";
  }

  /** Lets keys answer the shown question: at once, or a moment after the key that chose it. */
  #takeKeys(at = -Infinity) {
    if (this.takesKeys) return;
    this.#keysFrom = at + SETTLE_MS;
    this.app.update();
  }

  /** Returns the question to show: the chosen one, or on a wide page the first. */
  #shown() {
    const chosen = this.app.store.questions.get(this.current ?? "");
    if (chosen) this.#leaveWhenOver(chosen);
    if (chosen || NARROW.matches) return chosen ?? null;
    const first = this.#inOrder().find(isOpen) ?? null;
    if (first) this.#show(first.row.question);
    return first;
  }

  render() {
    const { app } = this;
    const question = this.#shown();
    if (question) this.watch(question);
    if (!app.store.questions.size) return emptyInbox(app);
    const showsCard = NARROW.matches && question;
    const beyond = counted(app.store.beyond, "more question");
    const more = html`<p class="small muted end-note">and ${beyond} after these</p>`;
    return html`<div class="inbox ${showsCard ? "shows-card" : ""} ${this.isSelecting ? "is-selecting" : ""}">
      <section class="list-pane" aria-label="Open questions">
        <div class="list-head">
          <h1 class="grow">Inbox <span class="muted num">${app.store.waiting()}</span></h1>
          <button
            class="button quiet small"
            type="button"
            data-select
            aria-pressed=${this.isSelecting ? "true" : "false"}
            @click=${() => this.#toggleSelecting()}
          >
            ${this.isSelecting ? "Done" : "Select"}
          </button>
          <button
            class="button quiet small"
            type="button"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            @click=${() => app.openHelp()}
          >
            ${icon("keyboard")}
          </button>
        </div>
        ${app.notices.askBell()}
        ${machineFilter(app.store.questions.values(), this.#machine, (machine) => this.#choose(machine))}
        <div class="list-scroll" id="list-scroll" @scroll=${() => app.update()}>
          ${this.#rows(question)} ${this.#listItems().length ? nothing : this.#noneThere()}
          ${app.store.beyond ? more : nothing}
        </div>
        ${this.selected.size ? this.#batchBar() : nothing}
      </section>
      <section
        class="card-pane"
        aria-label="Question"
        @pointerdown=${() => this.#takeKeys()}
        @focusin=${() => this.#takeKeys()}
      >
        ${question ? questionCard(this, question) : nothing}
      </section>
    </div>`;
  }

  /** @param {Question} question */
  inline(question) {
    this.#show(question.row.question);
    return super.inline(question);
  }

  /** @param {Question | null} current */
  #rows(current) {
    return this.#list.render({
      items: this.#listItems(),
      height: heightOf,
      key: keyOf,
      row: (item) => ("group" in item ? groupRow(item.group) : questionRow(this, item.question, current)),
      label: "Open questions",
    });
  }

  #listItems() {
    const { store } = this.app;
    if (this.#items.version !== store.version || this.#items.machine !== this.#machine) {
      const items = store
        .groups()
        .filter((group) => this.#isListed(group.questions[0]))
        .flatMap((group) => [{ group }, ...group.questions.map((question) => ({ question }))]);
      this.#items = { version: store.version, machine: this.#machine, items };
    }
    return this.#items.items;
  }

  /** @param {string} machine */
  #choose(machine) {
    this.#machine = machine;
    // What is not listed any more must not be answered together with what is.
    this.selected.clear();
    const shown = this.app.store.questions.get(this.current ?? "");
    if (shown && !this.#isListed(shown)) this.leaveCard();
    this.app.update();
  }

  /** @param {Question} question */
  #isListed(question) {
    return !this.#machine || machineOf(question) === this.#machine;
  }

  /** Returns the questions of the chosen machine in the order in which they are shown. */
  #inOrder() {
    return this.app.store.inOrder().filter((question) => this.#isListed(question));
  }

  /** Says that the chosen machine asks nothing. */
  #noneThere() {
    return html`<div class="end-note stack">
      <p class="small muted">${machineName(this.#machine)} has no open questions.</p>
      <p><button class="button small" type="button" @click=${() => this.#choose("")}>Show all machines</button></p>
    </div>`;
  }

  /** @param {Question[]} questions */
  openBatch(questions) {
    batchDialog(this.app, questions, () => {
      this.selected.clear();
      this.isSelecting = false;
    });
  }

  // Moving through the list

  /**
   * Shows the next question after a moment if the shown one is over. One that was over when it was
   * chosen stays, and so does one that ended elsewhere if there is no other.
   * @param {Question} question
   */
  #leaveWhenOver(question) {
    const id = question.row.question;
    const isMine = question.answer === "read";
    if (question.overAt === null) this.#wasOpen = true;
    else if (this.#wasOpen && this.#leaving !== id && (isMine || this.following(question))) {
      this.#leaving = id;
      setTimeout(() => this.#advanceAfter(question), isMine ? ADVANCE_MS : OVER_MS);
    }
  }

  /** @param {Question} question */
  #advanceAfter(question) {
    this.#leaving = null;
    if (this.current !== question.row.question || this.app.route.view !== "inbox") return;
    if (NARROW.matches) this.leaveCard();
    else {
      this.advance(question);
      // Whoever answers goes on with the next one; what ended elsewhere is replaced by itself.
      if (question.answer !== "read") this.#keysFrom = Infinity;
    }
  }

  /** @param {Question} question */
  alike(question) {
    return this.app.store.alike(question);
  }

  /** @param {Question} question @returns {Question | null} the open question after this one */
  following(question) {
    const all = this.#inOrder();
    const at = all.indexOf(question);
    return all.slice(at + 1).find(isOpen) ?? all.slice(0, Math.max(at, 0)).find(isOpen) ?? null;
  }

  /** @param {Question} question */
  advance(question) {
    const next = this.following(question);
    if (next) this.app.go({ view: "inbox", item: next.row.question }, true);
    else {
      this.current = null;
      this.app.go({ view: "inbox" }, true);
    }
  }

  leaveCard() {
    this.current = null;
    this.app.go({ view: "inbox" }, true);
  }

  /** @param {number} by @param {number} at */
  #move(by, at) {
    const all = this.#inOrder();
    const shown = all.findIndex((question) => question.row.question === this.current);
    const next = all[Math.min(all.length - 1, Math.max(0, shown + by))];
    if (!next) return;
    this.app.go({ view: "inbox", item: next.row.question }, true);
    this.#keysFrom = at + SETTLE_MS;
    const items = this.#listItems();
    this.#list.reveal(items.findIndex((item) => "question" in item && item.question === next));
  }

  /** @param {string} key @param {number} at when it was pressed @returns {boolean} whether it means something here */
  key(key, at) {
    const question = this.app.store.questions.get(this.current ?? "");
    /** @type {Record<string, () => void>} */
    const moves = {
      j: () => this.#move(1, at),
      ArrowDown: () => this.#move(1, at),
      k: () => this.#move(-1, at),
      ArrowUp: () => this.#move(-1, at),
      Escape: () => (this.reply ? this.closeReply() : this.leaveCard()),
    };
    // In the shell the key hides the window, unless something was opened.
    if (key === "Escape" && this.app.desktop && !this.reply && !this.app.route.item) return false;
    /** @type {Record<string, (question: Question) => void>} */
    const acts = {
      x: (question) => this.#selectByKey(question.row.question),
      Enter: (question) => (isOpen(question) ? this.#unfoldAll(question, at) : this.advance(question)),
    };
    if (moves[key]) moves[key]();
    else if (acts[key] && question) acts[key](question);
    else return question ? this.answerKey(question, key, at) : false;
    return true;
  }

  /** @param {Question} question @param {string} key @param {number} at @returns {boolean} */
  answerKey(question, key, at) {
    const isChosen = at >= this.#keysFrom || this.app.route.view !== "inbox";
    if (isChosen || !isOpen(question) || !/^[ader1-9]$/.test(key)) return super.answerKey(question, key, at);
    this.app.toast(this.takesKeys ? TOO_SOON : NOT_CHOSEN);
    return true;
  }

  /** @param {Question} question @param {number} at */
  #unfoldAll(question, at) {
    this.#takeKeys(at);
    this.app.unfold(`body-${question.row.question}`);
    document.getElementById("card-scroll")?.focus();
  }

  // Selection

  #toggleSelecting() {
    this.isSelecting = !this.isSelecting;
    this.selected.clear();
    this.app.update();
  }

  /** @param {string} id */
  #selectByKey(id) {
    this.isSelecting = true;
    this.toggle(id);
  }

  /** @param {string} id */
  toggle(id) {
    const question = this.app.store.questions.get(id);
    if (this.selected.has(id)) this.selected.delete(id);
    else if (question && isBatchable(question)) this.selected.add(id);
    else this.app.toast("This question is answered on its own.");
    this.app.update();
  }

  #batchBar() {
    const chosen = [...this.selected]
      .map((id) => this.app.store.questions.get(id))
      .filter((question) => question !== undefined && isBatchable(question));
    return html`<div class="batch-bar">
      <span class="grow">${counted(chosen.length, "question")} selected</span>
      <button
        class="button small primary"
        type="button"
        ?disabled=${!chosen.length}
        @click=${() => this.openBatch(/** @type {Question[]} */ (chosen))}
      >
        Answer together…
      </button>
    </div>`;
  }
}

/** @param {ListItem} item */
function heightOf(item) {
  return "group" in item ? 38 : 66;
}

/** @param {ListItem} item */
function keyOf(item) {
  return "group" in item ? `g ${item.group.session} ${item.group.project} ${item.group.machine}` : item.question.row.question;
}
