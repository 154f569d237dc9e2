// A question of the runtime as a card: what the inbox shows of a question of the desk, as far as
// the session protocol says it.

/** @typedef {import("./types/desk.js").Card} Card */
/** @typedef {import("./types/desk.js").Body} Body */
/** @typedef {import("./types/desk.js").DiffLine} DiffLine */
/** @typedef {import("./chat_store.js").AskedQuestion} AskedQuestion */

const GRANTS = /** @type {Record<string, string>} */ ({
  command: "Runs this command once.",
  write: "Writes this file once.",
  edit: "Makes this change once.",
  fetch: "Fetches this page once.",
  plan: "Lets the agent carry out this plan.",
});

/** @param {AskedQuestion} asked @param {string} folder in which the runtime works @returns {Card} */
export function cardOf({ data, conversation, at }, folder) {
  const { question, toolName, title, reason, canAllowAlways, deadline } = data;
  const input = JSON.stringify(data.input);
  // In place of an input that is too long, the runtime sends words.
  const isWhole = typeof data.input === "object" && data.input !== null;
  const body = isWhole ? bodyOf(data) : /** @type {Body} */ ({ type: "other", input });
  const always = { action: "allow_always", changes_mode: false, lasts: "For this conversation" };
  return {
    question,
    seq: 0,
    agent: "callgate",
    project: folder,
    session: conversation,
    tool: toolName,
    summary: title,
    asked_ms: at,
    until_ms: deadline ?? Infinity,
    ruling: "ask",
    because: reason ?? null,
    needs: "press",
    mode: null,
    risks: [],
    alike: null,
    body,
    input,
    last_words: null,
    offers: canAllowAlways ? [{ ...always, meaning: "Do not ask again about the same thing" }] : [],
    pickers: [],
    takes_words: false,
    can_edit: isWhole && isExact(data.input),
    can_stop: true,
    no_answer_denies: true,
    hides_what_runs: false,
    blocked: null,
    confirm_word_of: null,
    grants: {
      allow: GRANTS[body.type] ?? "Lets this tool run once.",
      deny: "It does not run; the agent is told so and goes on.",
    },
    is_cut: !isWhole,
  };
}

/** @param {AskedQuestion["data"]} data @returns {Body} */
function bodyOf({ input, diff, toolName }) {
  const text = (/** @type {string} */ name) => (typeof input[name] === "string" ? input[name] : null);
  const [command, path, content] = [text("command"), text("path") ?? text("file_path"), text("content")];
  const lines = diff ? diffLines(diff) : null;
  if (lines && path !== null) return { type: "edit", path, changes: [{ everywhere: false, lines }] };
  if (command !== null) return commandBody(command, input.args, text("description"));
  if (path !== null && content !== null)
    return { type: "write", path, content, lines: content.replace(/\n$/, "").split("\n").length };
  const [url, plan] = [text("url"), text("plan")];
  if (url !== null && Object.keys(input).length === 1) return { type: "fetch", url, what: null };
  if (plan !== null && toolName === "ExitPlanMode") return { type: "plan", markdown: plan };
  const server = /^mcp__(.+?)__(.+)$/.exec(toolName);
  const json = JSON.stringify(input);
  if (server) return { type: "mcp", server: server[1], tool: server[2], input: json };
  return { type: "other", input: json };
}

/** @param {string} command @param {unknown} args @param {string | null} description @returns {Body} */
function commandBody(command, args, description) {
  if (!Array.isArray(args))
    return { type: "command", segments: [{ text: command, style: "word", break: false }], description };
  // Each argument is one word, whatever is in it.
  const words = args.map((arg) => {
    const word = String(arg);
    return { text: ` ${/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)}`, break: false };
  });
  /** @type {import("./types/desk.js").Segment[]} */
  const segments = [
    { text: command, style: "program", break: false },
    ...words.map((word) => ({ ...word, style: /** @type {const} */ ("word") })),
  ];
  return { type: "command", segments, description };
}

/**
 * Returns the lines of a unified diff with their numbers, or `null` if it is not whole.
 * @param {string} diff @returns {DiffLine[] | null}
 */
export function diffLines(diff) {
  /** @type {DiffLine[]} */
  const lines = [];
  let [before, after, isInside] = [0, 0, false];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const op = line.charAt(0);
    if (hunk) [before, after, isInside] = [Number(hunk[1]), Number(hunk[2]), true];
    else if (isInside && (op === "+" || op === "-" || op === " ")) {
      const [old, fresh] = [op === "+" ? null : before++, op === "-" ? null : after++];
      lines.push({ op, old, new: fresh, text: line.slice(1) });
    } else if (isInside && op !== "\\") return null;
  }
  return lines.length ? lines : null;
}

/**
 * Returns true if a value is the same after a way through JavaScript: numbers may have been rounded.
 * @param {unknown} value @returns {boolean}
 */
export function isExact(value) {
  if (typeof value === "number")
    return Number.isSafeInteger(value) || (value % 1 !== 0 && String(Math.abs(value)).length <= 16);
  return typeof value !== "object" || value === null || Object.values(value).every(isExact);
}
