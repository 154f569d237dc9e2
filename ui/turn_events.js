// What the events of a runtime make of a turn of a conversation.

/** @typedef {import("./chat_store.js").Turn} Turn */
/** @typedef {import("./chat_store.js").Part} Part */
/** @typedef {import("./chat_store.js").ToolPart} ToolPart */
/** @typedef {import("./types/desk.js").CallCard} CallCard */

/** @param {string} id @param {string} conversation @returns {Turn} */
export function newTurn(id, conversation) {
  const state = { isOver: false, hasGap: false, beganAt: 0, endedAt: 0, overAt: 0, heardAt: 0, error: "", stopReason: "", working: "", replaces: false };
  const isUnfinished = false;
  return { id, isUnfinished, conversation, text: "", files: [], parts: [], changes: [], ...state };
}

/** Adds what an event says to its turn. @param {Turn} turn @param {any} reply */
export function applyEvent(turn, reply) {
  const { type, data } = reply;
  turn.working = "";
  if (type === "token") append(turn, "text", reply.token);
  else if (type === "thinking") append(turn, "thinking", reply.thinking);
  else if (type === "notice") noticed(turn, data);
  else if (type === "turn_changes") turn.changes.push(data);
  else if (type === "user_message") turn.parts.push({ type: "user", text: data.message });
  else if (type === "tool_input") tool(turn, data).draft += data.text;
  else if (type === "tool_use") tool(turn, data).card = data.card ?? plainCard(data);
  else if (type === "tool_progress") tool(turn, data).output += data.text;
  else if (type === "tool_result")
    Object.assign(tool(turn, data), { result: data.result, isError: data.isError === true, isOver: true });
}

/**
 * Shows a notice. One that the runtime repeats takes the place of the one before it.
 * @param {Turn} turn @param {{kind: string, text: string}} notice
 */
function noticed(turn, { kind, text }) {
  // Both are over once the turn goes on.
  if (kind === "working" || kind === "queued") {
    turn.working = text;
    return;
  }
  // What the model had begun of a call is not continued: it writes the call again.
  const isOld = (/** @type {Part} */ part) =>
    part.type === "tool" ? !part.card && !part.isOver : part.type === "notice" && part.kind === kind;
  if (kind === "retry") turn.parts = turn.parts.filter((part) => !isOld(part));
  turn.parts.push({ type: "notice", kind, text });
}

/** The card of a call of a runtime that sends none. @param {any} data @returns {CallCard} */
function plainCard({ toolName, input }) {
  const body = /** @type {const} */ ({ type: "other", input: JSON.stringify(input, null, 2) });
  return { deed: `Use ${toolName}`, did: `Used ${toolName}`, subject: "", body };
}

/** @param {Turn} turn @param {"text" | "thinking"} type @param {string} text */
function append(turn, type, text) {
  const last = turn.parts.at(-1);
  if (last?.type === type) last.text += text;
  else turn.parts.push({ type, text });
}

/** @param {Turn} turn @param {{toolId: string, toolName?: string}} data @returns {ToolPart} */
function tool(turn, { toolId, toolName }) {
  const known = turn.parts.find((part) => part.type === "tool" && part.id === toolId);
  if (known) return /** @type {ToolPart} */ (known);
  /** @type {ToolPart} */
  const part = {
    type: "tool",
    id: toolId,
    name: toolName ?? "",
    card: null,
    draft: "",
    output: "",
    result: null,
    isError: false,
    isOver: false,
    isLost: false,
  };
  turn.parts.push(part);
  return part;
}

/** Ends a turn. No result comes any more for the calls that have none. @param {Turn} turn */
export function endTurn(turn) {
  turn.isOver = true;
  for (const part of turn.parts) if (part.type === "tool" && !part.isOver) part.isOver = part.isLost = true;
}

/**
 * Joins the parts of a turn that was loaded in two pieces. The second may begin with the results of
 * calls in the first.
 * @param {Part[]} before @param {Part[]} after @returns {Part[]}
 */
export function joinParts(before, after) {
  const rest = after.filter((part) => {
    if (part.type !== "tool" || part.card) return true;
    const call = before.find((one) => one.type === "tool" && one.id === part.id);
    if (call) Object.assign(call, { result: part.result, isError: part.isError, isLost: false });
    return !call;
  });
  return [...before, ...rest];
}
