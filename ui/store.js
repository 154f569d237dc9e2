// The open questions and what became of them, as the page knows it from answers and ledger entries.
// It does no I/O and reads no clock.

/** @typedef {import("./types/desk.js").Row} Row */
/** @typedef {import("./types/desk.js").Card} Card */
/** @typedef {import("./types/desk.js").Entry} Entry */
/** @typedef {"none" | "pressed" | "recorded" | "read" | "lost"} AnswerState */

/**
 * @typedef {object} Outcome
 * @property {string} decision
 * @property {string | null} by
 * @property {string | null} channel
 * @property {string | null} text in words, once the question is closed
 */

/**
 * @typedef {object} Question
 * @property {Row} row
 * @property {Card | null} card
 * @property {string | null} lastWords what the agent said, if that came after the question
 * @property {boolean} isSketch whether the row was made from a ledger entry, without its risks
 * @property {AnswerState} answer how far this page's answer got
 * @property {boolean} isMine whether this page has pressed
 * @property {string | null} action what this page pressed last
 * @property {string | null} notice what the desk said about a press that did not decide
 * @property {{by: string, channel: string} | null} lastPress
 * @property {Set<string>} picks
 * @property {Outcome | null} outcome
 * @property {number | null} overAt when the page learnt that it is over
 */

/** @typedef {{session: string, agent: string, project: string, machine?: string, questions: Question[]}} Group */

/** How long a question that is over stays in the list, so that people see what became of it. */
export const LINGER_MS = 5_000;

export class QuestionStore {
  /** @type {Map<string, Question>} */
  questions = new Map();
  /** How many open questions the desk did not list. */
  beyond = 0;
  /** The number of the last entry of the ledger that the desk has reported. */
  head = 0;
  /** Rises with every change. */
  version = 0;
  #grouped = { version: -1, groups: /** @type {Group[]} */ ([]) };

  /**
   * Takes the list of the open questions that run out first.
   * @param {{head: number, open: number, rows: Row[]}} inbox @param {number} now
   */
  inboxLoaded({ head, open, rows }, now) {
    const listed = new Set(rows.map((row) => row.question));
    for (const row of rows) this.#rowLoaded(row);
    const last = open > rows.length ? (rows[rows.length - 1]?.until_ms ?? 0) : Infinity;
    for (const question of this.questions.values()) {
      // Gone from the list means over, unless it is younger than the list or beyond its end.
      const { row, overAt } = question;
      if (overAt !== null || listed.has(row.question) || row.seq > head || row.until_ms >= last) continue;
      question.outcome ??= { decision: "withdrawn", by: null, channel: null, text: "This question is over." };
      this.#end(question, now);
    }
    const known = [...this.questions.values()].filter(
      (question) => isOpen(question) && question.row.seq <= head,
    );
    this.beyond = Math.max(0, open - known.length);
    this.version += 1;
  }

  /** @param {Card} card */
  cardLoaded(card) {
    const question = this.#rowLoaded(card);
    question.card = withWords({ ...card, allowed_by: question.row.allowed_by }, question);
    this.version += 1;
  }

  /** @param {Row} row */
  #rowLoaded(row) {
    const known = this.questions.get(row.question);
    if (known) {
      // The first of two allows may have come while the row was on its way.
      known.row = { ...row, allowed_by: row.allowed_by ?? known.row.allowed_by };
      known.isSketch = false;
      return known;
    }
    const question = newQuestion(row, false);
    this.questions.set(row.question, question);
    return question;
  }

  /**
   * Takes an entry of the ledger. Returns the id of a question whose card has to be loaded.
   * @param {Entry} entry @param {number} now @returns {string | null}
   */
  entryArrived(entry, now) {
    if (entry.question === null) return null;
    if (entry.kind === "asked") return this.#asked(entry, entry.question);
    const question = this.questions.get(entry.question);
    if (!question) return null;
    this.version += 1;
    const { body } = entry;
    if (entry.kind === "pressed") this.#pressedBy(question, body);
    else if (entry.kind === "said") this.#said(question, body);
    else if (entry.kind === "decided") this.#decided(question, body);
    else if (entry.kind === "delivered" && question.isMine && question.answer !== "lost")
      question.answer = "read";
    else if (entry.kind === "closed") this.#closed(question, body, now);
    return null;
  }

  /** @param {Entry} entry @param {string} id */
  #asked(entry, id) {
    if (this.questions.has(id)) return null;
    this.questions.set(id, newQuestion(sketch(entry, id), true));
    this.version += 1;
    return id;
  }

  /** @param {Question} question @param {Record<string, any>} body */
  #said(question, body) {
    question.lastWords = body.last_words ?? null;
    if (question.card) question.card = withWords(question.card, question);
  }

  /** @param {Question} question @param {Record<string, any>} body */
  #pressedBy(question, body) {
    question.lastPress = { by: body.by, channel: body.channel };
    if (body.outcome === "one of two") {
      question.row = { ...question.row, allowed_by: body.by };
      if (question.card) question.card = { ...question.card, allowed_by: body.by };
    }
    if (body.outcome !== "picked") return;
    const action = String(body.action);
    const pickers = question.card?.pickers ?? [];
    const picker = pickers[Number(action.slice(4).split(".")[0])];
    if (question.picks.has(action) && picker?.many) {
      question.picks.delete(action);
      return;
    }
    for (const choice of picker && !picker.many ? picker.choices : []) question.picks.delete(choice.action);
    question.picks.add(action);
  }

  /** @param {Question} question @param {Record<string, any>} body */
  #decided(question, body) {
    const { by, channel } = question.lastPress ?? { by: null, channel: null };
    // Where somebody decided is known only from their press, and a rule has none.
    const isPressed = by !== null && by === body.by;
    question.outcome = {
      decision: body.decision,
      by: body.by ?? null,
      channel: isPressed ? channel : null,
      text: null,
    };
    if (question.isMine && question.answer !== "lost" && question.answer !== "read")
      question.answer = "recorded";
  }

  /** @param {Question} question @param {Record<string, any>} body @param {number} now */
  #closed(question, body, now) {
    question.outcome ??= { decision: "withdrawn", by: null, channel: null, text: null };
    question.outcome.text = body.text ?? null;
    if (question.isMine && question.answer !== "none")
      question.answer = body.how === "answered" ? "read" : "lost";
    this.#end(question, now);
  }

  /** @param {Question} question @param {number} now */
  #end(question, now) {
    question.overAt ??= now;
  }

  /**
   * Notes that this page sends a press. Returns false if the question takes none now.
   * @param {string} id @param {string} action
   */
  press(id, action) {
    const question = this.questions.get(id);
    if (!question || !takesPress(question)) return false;
    Object.assign(question, { answer: "pressed", isMine: true, action, notice: null });
    this.version += 1;
    return true;
  }

  /**
   * Takes the desk's answer to this page's press.
   * @param {string} id @param {{done: boolean, text: string}} told
   */
  told(id, { done, text }) {
    const question = this.questions.get(id);
    if (!question) return;
    this.version += 1;
    const isPick = /^pick|^done$/.test(question.action ?? "");
    if (!done) this.#refused(question, text);
    else if (isPick && question.answer === "pressed") question.answer = "none";
    else if (question.answer === "pressed" || question.answer === "recorded") {
      // The entries say whether the agent has read it: it may be away for the moment.
      question.answer = "recorded";
      question.notice = text;
      question.outcome ??= { decision: decisionOf(question), by: null, channel: null, text: null };
    }
  }

  /** @param {Question} question @param {string} text */
  #refused(question, text) {
    question.notice = text;
    if (question.outcome || question.overAt !== null) question.answer = "lost";
    else Object.assign(question, { answer: "none", isMine: false });
  }

  /**
   * Notes that a press could not be sent, or that its answer was lost on the way.
   * @param {string} id @param {string} text
   */
  pressFailed(id, text) {
    const question = this.questions.get(id);
    if (!question || question.answer !== "pressed") return;
    // It stays ours: the press may have arrived, and then the entries tell how far it got.
    Object.assign(question, { answer: "none", notice: text });
    this.version += 1;
  }

  /**
   * Notes that a question is over without a known decision.
   * @param {string} id @param {string} text @param {number} now
   */
  over(id, text, now) {
    const question = this.questions.get(id);
    if (!question) return;
    question.outcome ??= { decision: "withdrawn", by: null, channel: null, text };
    this.#end(question, now);
    this.version += 1;
  }

  /**
   * Forgets questions that have been over for a while, except the one that is shown.
   * @param {number} now @param {string | null} shown
   */
  sweep(now, shown) {
    for (const [id, { overAt }] of this.questions) {
      // Whoever looks at it reads what became of it.
      if (overAt === null || id === shown || now - overAt < LINGER_MS) continue;
      this.questions.delete(id);
      this.version += 1;
    }
  }

  /** Returns the questions by session; what runs out first is on top. */
  groups() {
    // They are asked for several times in each frame, and sorted once for each change.
    if (this.#grouped.version !== this.version) {
      this.#grouped = { version: this.version, groups: grouped([...this.questions.values()]) };
    }
    return this.#grouped.groups;
  }

  /** Returns the questions in the order in which they are shown. */
  inOrder() {
    return this.groups().flatMap((group) => group.questions);
  }

  /** Returns how many questions wait for an answer. */
  waiting() {
    let count = this.beyond;
    for (const question of this.questions.values()) if (isOpen(question)) count += 1;
    return count;
  }

  /**
   * Returns the open questions that may be answered together with this one, itself included.
   * @param {Question} question
   */
  alike(question) {
    const { alike } = question.row;
    if (!isBatchable(question)) return [];
    return this.inOrder().filter((other) => other.row.alike === alike && isBatchable(other));
  }
}

/** @param {Row} row @param {boolean} isSketch @returns {Question} */
export function newQuestion(row, isSketch) {
  return {
    row,
    isSketch,
    card: null,
    lastWords: null,
    answer: "none",
    isMine: false,
    action: null,
    notice: null,
    lastPress: null,
    picks: new Set(),
    outcome: null,
    overAt: null,
  };
}

/**
 * Returns a card with the words that came after the question: it may have been loaded before.
 * @param {Card} card @param {Question} question @returns {Card}
 */
function withWords(card, { lastWords }) {
  return lastWords === null ? card : { ...card, last_words: lastWords };
}

/** @param {Entry} entry @param {string} id @returns {Row} */
function sketch({ seq, at_ms, body }, id) {
  return {
    question: id,
    seq,
    agent: body.agent ?? "",
    project: body.cwd ?? "",
    session: body.session ?? "",
    tool: body.tool ?? "",
    deed: body.deed ?? `Use ${body.tool ?? "a tool"}`,
    summary: body.summary ?? "",
    asked_ms: at_ms,
    until_ms: body.until_ms ?? at_ms,
    ruling: body.ruling === "guard" ? "guard" : "ask",
    because: body.because ?? null,
    needs: body.ruling === "confirm" ? "confirm" : "press",
    mode: body.mode ?? null,
    risks: [],
    alike: null,
    demands: body.demands ?? [],
    ...(body.machine ? { machine: body.machine } : {}),
  };
}

/** @param {Question} question */
export function isOpen({ outcome, overAt }) {
  return overAt === null && outcome === null;
}

/** @param {Question} question */
export function takesPress(question) {
  return isOpen(question) && question.answer === "none";
}

/**
 * Returns true if a question may be answered together with others.
 * @param {Question} question
 */
export function isBatchable(question) {
  const { row, isSketch } = question;
  const isPlain = row.needs === "press" && row.ruling === "ask" && !row.demands?.length;
  // What the desk finds like no other needs a look of its own: it is long, or hides what could run.
  const needsLook = row.alike === null;
  // A sketch has no risks yet, which whoever answers several at once has to see.
  return takesPress(question) && !isSketch && isPlain && !needsLook;
}

/**
 * Returns what this page's answer decides. Words deny, unless the agent asks for words.
 * @param {Question} question
 */
export function decisionOf({ action, card }) {
  if (action === "words") return card?.takes_words ? "allow" : "deny";
  return action === "deny" || action === "stop" ? "deny" : "allow";
}

/** @param {Question[]} questions @returns {Group[]} */
function grouped(questions) {
  const urgent = (/** @type {Question} */ a, /** @type {Question} */ b) =>
    a.row.until_ms - b.row.until_ms || a.row.seq - b.row.seq;
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const question of questions.sort(urgent)) {
    const { session, agent, project, machine } = question.row;
    const key = JSON.stringify([session, project, machine]);
    const group = groups.get(key) ?? { session, agent, project, machine, questions: [] };
    group.questions.push(question);
    groups.set(key, group);
  }
  return [...groups.values()];
}
