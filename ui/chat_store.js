// What chat pages know of the runtime's session, put together from its events.

import { applyEvent, endTurn, joinParts, newTurn } from "./turn_events.js";

/** @typedef {{data: import("../docs/protocol/session.js").QuestionResponse["data"], request: string, conversation: string, at: number}} AgentQuestion */
/** @typedef {import("../docs/protocol/session.js").AgentResponse} AgentResponse */
/** @typedef {import("../docs/protocol/session.js").Conversation} Conversation */
/** @typedef {{mime: string, name?: string, data?: string, size?: number}} ChatFile */
/** @typedef {{type: "text" | "thinking" | "notice" | "user", text: string, kind?: string}} TextPart */
/** @typedef {import("./types/desk.js").CallCard} CallCard */
/**
 * @typedef {object} ToolPart
 * @property {"tool"} type
 * @property {string} id
 * @property {string} name
 * @property {CallCard | null} card what it does, as soon as the model has said it
 * @property {string} draft the input while the model writes it
 * @property {string} output what it has printed so far
 * @property {any} result
 * @property {boolean} isError
 * @property {boolean} isOver
 * @property {boolean} isLost whether its turn has ended without its result
 */
/** @typedef {TextPart | ToolPart} Part */
/**
 * @typedef {object} Changes what a turn changed in files
 * @property {number} [turn] the number by which the runtime knows the turn
 * @property {number} files
 * @property {boolean} [undone]
 * @property {string} [unknown] what is not known of it
 * @property {import("./types/desk.js").PatchedFile[]} [diff] as soon as it was asked for
 * @property {{text: string, isPartial: boolean}} [problem] why it was not undone, and whether some of it could be
 */

/**
 * @typedef {object} Turn
 * @property {string} id
 * @property {string} conversation
 * @property {string | null} text the user's message; null for that of the turn before
 * @property {ChatFile[]} files
 * @property {boolean} replaces whether it takes the place of the turn before
 * @property {Part[]} parts
 * @property {Changes[]} changes
 * @property {boolean} isOver
 * @property {boolean} hasGap whether some of its events were missed
 * @property {number} beganAt the number of its request
 * @property {number} endedAt the number of its last event
 * @property {number} overAt when it ended, by the runtime's clock
 * @property {number} heardAt when its last event came, by this page's clock
 * @property {boolean} isUnfinished whether it was loaded without the end of its answer
 * @property {string} error
 * @property {string} stopReason
 * @property {string} working what the runtime last said of a turn that takes long
 */

/**
 * @typedef {object} AskedQuestion
 * @property {import("../docs/protocol/session.js").PermissionRequestResponse["data"] & {input: any}} data
 * @property {string} request the request that waits for the answer
 * @property {string} conversation
 * @property {number} at when it was asked, by the runtime's clock
 */

/** @typedef {{input: number, output: number, cost: number | null, context: number, window: number | null}} Meter */

/**
 * What was loaded of a conversation.
 * @typedef {{conversation: string, turns: Turn[], askedAt: number, first: number}} LoadedTurns
 *   asked for by the request with this number; the first of its messages has the other number
 */

/** How many answers of other requests are remembered for whoever asked for them. */
const MOST_ENDS = 64;
/** How many loaded conversations are kept for whoever asked for them: other windows load theirs. */
const MOST_LOADS = 4;
const TURNS = ["user_message", "regenerate", "edit_last"];
/** What changes a conversation, also from another window. */
const CHANGES = ["rename_conversation", "delete_conversation", "set_mode", "set_engine"];
/** A runtime that sends nothing about a turn for so long does not answer. */
const SILENCE_MS = 60_000;

export class ChatStore {
  session = "";
  folder = "";
  /** @type {string} */
  state = "starting";
  stateText = "";
  /** @type {Set<string>} */
  capabilities = new Set();
  /** @type {Turn[]} the turns that began since this page watches, of all conversations */
  live = [];
  /** @type {LoadedTurns | null} */
  loaded = null;
  /** @type {Turn[]} the turns that have ended and that nobody has looked at */
  ended = [];
  /** @type {Map<string, AskedQuestion>} what the runtime waits to be answered, by id */
  questions = new Map();
  /** @type {Map<string, AgentQuestion>} what the model and tool servers ask, by id */
  asked = new Map();
  /** @type {Record<string, Meter>} by conversation */
  meters = {};
  /** What is being loaded, by its requests. @type {Map<string, LoadedTurns>} */
  #loads = new Map();
  /** What was loaded, by its requests. @type {Map<string, LoadedTurns>} */
  #finished = new Map();
  /** @type {Map<string, string>} the conversations in which something is being undone, by its requests */
  #undos = new Map();
  /** @type {Map<string, string>} the conversations that are being cleared, by their requests */
  #clears = new Map();
  /** @type {Map<string, any>} the requests of any window that change a conversation, by their ids */
  #changing = new Map();
  /** Those that are done, until they are taken over. */
  changed = /** @type {any[]} */ ([]);
  /** @type {Map<string, any>} what the turns that go on have taken so far, by their conversations */
  #running = new Map();
  /** @type {Map<string, any>} the last responses to requests, by their ids */
  #ends = new Map();

  /** @param {{session: string, folder: string}} place */
  entered({ session, folder }) {
    if (session === this.session) return;
    this.session = session;
    this.folder = folder;
    this.live = [];
    this.loaded = null;
    this.questions.clear();
    this.asked.clear();
    this.#loads.clear();
    this.#finished.clear();
    this.#clears.clear();
    this.#undos.clear();
    this.#changing.clear();
    this.#ends.clear();
    this.#running.clear();
  }

  /** @param {{state: string, capabilities?: string[], text?: string, lastWords?: string | null}} state */
  stateChanged({ state, capabilities, text, lastWords }) {
    this.state = state;
    // Why it died is known until it is ready again.
    // Its last words are in the text already if it has ended by itself.
    const isNew = lastWords && !text?.includes(lastWords);
    if (state === "died") this.stateText = [text, isNew && lastWords].filter(Boolean).join(": ");
    else if (state === "ready" || state === "ended") this.stateText = "";
    if (capabilities) this.capabilities = new Set(capabilities);
  }

  /** @param {any} request @param {number} seq */
  requested(request, seq) {
    const conversation = request.metadata?.conversationId ?? request.conversationId ?? "";
    if (request.kind === "load_conversation")
      this.#loads.set(request.id, { conversation, turns: [], askedAt: seq, first: 0 });
    if (CHANGES.includes(request.kind)) this.#changing.set(request.id, request);
    if (request.kind === "undo_turn") this.#undos.set(request.id, conversation);
    if (request.kind === "clear_history") this.#clears.set(request.id, conversation);
    if (!TURNS.includes(request.kind)) return;
    const turn = newTurn(request.id, conversation);
    turn.heardAt = Date.now();
    turn.beganAt = seq;
    turn.text = request.kind === "regenerate" ? null : request.message;
    turn.files = request.attachments ?? [];
    turn.replaces = request.kind !== "user_message";
    this.live.push(turn);
  }

  /** @param {any} reply @param {number} seq */
  replied(reply, seq) {
    const load = this.#loads.get(reply.id);
    const turn = load ? loadedTurn(load, reply) : this.live.find(({ id }) => id === reply.id);
    const conversation = turn?.conversation ?? this.#undos.get(reply.id) ?? "";
    if (reply.type === "permission_request") this.#asked(reply, conversation);
    if (reply.type === "permission_resolved") this.questions.delete(reply.data.question);
    if (reply.type === "question")
      this.asked.set(reply.data.question, agentQuestion(reply, turn?.conversation ?? ""));
    if (reply.type === "question_resolved") this.asked.delete(reply.data.question);
    if (turn) {
      turn.heardAt = Date.now();
      applyEvent(turn, reply);
    }
    if (reply.type === "usage") this.#count(turn?.conversation, reply.data);
    if (!["done", "error", "status"].includes(reply.type)) return;
    if (load && reply.type === "done") this.#finished.set(reply.id, finished(load, reply.data));
    for (const id of this.#finished.keys()) if (this.#finished.size > MOST_LOADS) this.#finished.delete(id);
    if (turn && !load) this.#end(turn, reply, seq);
    this.#loads.delete(reply.id);
    const change = this.#changing.get(reply.id);
    if (change && reply.type === "done") this.changed.push(change);
    this.#changing.delete(reply.id);
    // An undo asks too, but is no turn, whose end would take its questions away.
    if (this.#undos.delete(reply.id))
      for (const [id, { request }] of this.questions) if (request === reply.id) this.questions.delete(id);
    const cleared = this.#clears.get(reply.id);
    if (reply.type === "done" && cleared !== undefined) this.forget(cleared);
    this.#clears.delete(reply.id);
    this.#ends.set(reply.id, reply);
    for (const id of this.#ends.keys()) if (this.#ends.size > MOST_ENDS) this.#ends.delete(id);
  }

  /** @param {any} reply @param {string} conversation */
  #asked({ id, data, timestamp }, conversation) {
    this.questions.set(data.question, { data, request: id, conversation, at: timestamp });
  }

  /**
   * Takes the status of the runtime: what it asks may have been missed.
   * @param {{questions?: any[], agentQuestions?: any[], requests?: {id: string, conversationId?: string}[]}} status
   */
  statusLoaded({ questions, agentQuestions, requests }) {
    const conversationOf = (/** @type {string} */ of) => requests?.find(({ id }) => id === of)?.conversationId ?? "";
    if (agentQuestions)
      this.asked = new Map(agentQuestions.map((one) => [one.data.question, agentQuestion(one, conversationOf(one.id))]));
    if (!questions) return;
    const open = new Set(questions.map(({ data }) => data.question));
    for (const id of this.questions.keys()) if (!open.has(id)) this.questions.delete(id);
    for (const question of questions) {
      if (!this.questions.has(question.data.question)) this.#asked(question, conversationOf(question.id));
    }
  }

  /** Shows what a request has loaded. @param {string} request */
  takeLoaded(request) {
    this.loaded = this.#finished.get(request) ?? null;
    this.#finished.delete(request);
  }

  /** Adds the messages that a request has loaded to those after them. @param {string} request */
  takeEarlier(request) {
    const earlier = this.#finished.get(request);
    this.#finished.delete(request);
    const later = this.loaded;
    if (!earlier || later?.conversation !== earlier.conversation) return;
    const [next, ...rest] = later.turns;
    const last = earlier.turns.at(-1);
    // What was loaded before may have begun within a turn.
    const isRest = last && next?.text === null;
    if (isRest) Object.assign(next, { text: last.text, files: last.files });
    if (isRest) [next.parts, next.changes] = [joinParts(last.parts, next.parts), [...last.changes, ...next.changes]];
    const before = isRest ? earlier.turns.slice(0, -1) : earlier.turns;
    this.loaded = { ...later, turns: [...before, ...(next ? [next] : []), ...rest], first: earlier.first };
  }

  /** Returns true if a turn waits for a person. @param {Turn} turn */
  isAsking({ id }) {
    return [...this.questions.values(), ...this.asked.values()].some(({ request }) => request === id);
  }

  /** Notes that what a turn changed was put back, however the turn came here. @param {string} conversation @param {number | undefined} turn */
  undone(conversation, turn) {
    for (const { changes } of this.turns(conversation))
      for (const one of changes) if (one.turn === turn) one.undone = true;
  }

  /** Forgets what was said in a conversation. @param {string} conversation */
  forget(conversation) {
    this.live = this.live.filter((turn) => turn.conversation !== conversation || !turn.isOver);
    if (this.loaded?.conversation === conversation) this.loaded = null;
    delete this.meters[conversation];
  }

  /** @param {{id: string, error: string}} failure @param {number} seq */
  failed({ id, error }, seq) {
    this.replied({ type: "error", id, error }, seq);
  }

  /** Forgets what was seen, because some of it was missed. */
  missed() {
    this.live = this.live.filter((turn) => !turn.isOver);
    for (const turn of this.live) turn.hasGap = true;
    this.loaded = null;
  }

  /** @param {Turn} turn @param {any} reply @param {number} seq */
  #end(turn, reply, seq) {
    endTurn(turn);
    turn.endedAt = seq;
    turn.overAt = reply.timestamp ?? 0;
    this.ended.push(turn);
    for (const [id, { request }] of this.questions) if (request === turn.id) this.questions.delete(id);
    for (const [id, { request }] of this.asked) if (request === turn.id) this.asked.delete(id);
    turn.error = reply.type === "error" ? reply.error : "";
    turn.stopReason = reply.data?.stopReason ?? "";
    // It is part of the turn that it steered.
    if (turn.stopReason === "steered") this.live = this.live.filter((one) => one !== turn);
    // A turn that failed has taken what was last reported.
    const running = this.#running.get(turn.conversation);
    const [usage, cost] = reply.data?.usage ? [reply.data.usage, reply.data.cost] : [running, running?.cost];
    this.#running.delete(turn.conversation);
    if (usage) this.meters[turn.conversation] = counted(this.meter(turn.conversation), usage, cost);
  }

  /** @param {string | undefined} conversation @param {any} usage */
  #count(conversation, usage) {
    if (!conversation) return;
    this.#running.set(conversation, usage);
    const meter = this.meters[conversation] ?? NOTHING_COUNTED;
    const [context, window] = [usage.contextTokens ?? meter.context, usage.contextWindow ?? null];
    this.meters[conversation] = { ...meter, context, window };
  }

  /** @param {string} conversation @returns {Meter} */
  meter(conversation) {
    const meter = this.meters[conversation] ?? NOTHING_COUNTED;
    const running = this.#running.get(conversation);
    return running ? counted(meter, running, running.cost) : meter;
  }

  /**
   * Takes the last response to a request, if it has come.
   * @param {string} id
   */
  takeEnd(id) {
    const end = this.#ends.get(id);
    this.#ends.delete(id);
    return end;
  }

  /** @param {string} conversation @returns {Turn | null} the turn that is being worked on */
  working(conversation) {
    return this.live.find((turn) => turn.conversation === conversation && !turn.isOver) ?? null;
  }

  /**
   * Returns for how long the runtime has sent nothing about the turn that it works on, or 0 if
   * that is no cause for worry: it may wait for a person.
   * @param {string} conversation @param {number} now
   */
  silence(conversation, now) {
    const turn = this.working(conversation);
    const silence = !turn || this.isAsking(turn) ? 0 : now - turn.heardAt;
    return silence >= SILENCE_MS ? silence : 0;
  }

  /** @param {string} conversation @returns {string} why its last turn failed, if it did */
  #lastError(conversation) {
    return this.live.findLast((turn) => turn.conversation === conversation)?.error ?? "";
  }

  /** @param {string} conversation @returns {Turn[]} all turns, the oldest first */
  turns(conversation) {
    const loaded = this.loaded?.conversation === conversation ? this.loaded : null;
    // A turn that had ended before the load was asked for is part of what was loaded.
    const isNew = (/** @type {Turn} */ turn) => !turn.isOver || !loaded || turn.endedAt > loaded.askedAt;
    const live = this.live.filter((turn) => turn.conversation === conversation && isNew(turn));
    /** @type {Turn[]} */
    const shown = [...(loaded?.turns ?? [])];
    const last = shown.at(-1);
    // Why it has no end is known to the turn that failed here.
    if (last?.isUnfinished) last.error ||= this.#lastError(conversation);
    // The steps of an answer are kept while it goes on, so what was loaded may have its beginning.
    const isHalf = loaded && live[0] && live[0].beganAt < loaded.askedAt && !live[0].replaces;
    if (isHalf && last?.text === live[0].text) shown.pop();
    for (const turn of live) {
      const before = turn.replaces ? shown.pop() : null;
      if (turn.text === null && before) turn.text = before.text;
      shown.push(turn);
    }
    return shown;
  }
}

/** @type {Meter} */
const NOTHING_COUNTED = { input: 0, output: 0, cost: null, context: 0, window: null };

/** Adds what a turn has taken. @param {Meter} meter @param {any} usage @param {number | null} cost @returns {Meter} */
function counted(meter, usage, cost) {
  const input = meter.input + usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const output = meter.output + usage.outputTokens;
  return { ...meter, input, output, cost: cost === null ? meter.cost : (meter.cost ?? 0) + cost };
}

/**
 * Returns the turn that a loaded event belongs to. The first messages may lack the one that began their turn.
 * @param {LoadedTurns} load @param {any} reply
 */
function loadedTurn(load, reply) {
  const isMessage = reply.type === "user_message";
  if (["done", "error"].includes(reply.type) || (!isMessage && load.turns.length)) return load.turns.at(-1) ?? null;
  const turn = newTurn(`${reply.id} ${load.turns.length}`, load.conversation);
  turn.text = isMessage ? reply.data.message : null;
  turn.files = reply.data?.attachments ?? [];
  load.turns.push(turn);
  return isMessage ? null : turn;
}

/** @param {LoadedTurns} load @param {any} data @returns {LoadedTurns} */
function finished(load, data) {
  const last = load.turns.at(-1);
  if (last) last.isUnfinished = data?.isUnfinished === true;
  load.turns.forEach(endTurn);
  return { ...load, first: data?.first ?? 0 };
}

/** @param {any} reply @param {string} conversation @returns {AgentQuestion} */
function agentQuestion({ id, data, timestamp }, conversation) {
  return { data, request: id, conversation, at: timestamp };
}
