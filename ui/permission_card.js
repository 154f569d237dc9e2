// A question of the runtime as a card: the one that the runtime sends, or what a runtime without
// cards says of it.

/** @typedef {import("./types/desk.js").Card} Card */
/** @typedef {import("./chat_store.js").AskedQuestion} AskedQuestion */

/** A runtime cuts a diff that has more bytes: it is no more than a part of what would be allowed. */
const LONGEST_DIFF = 65_536;

/** @param {AskedQuestion} asked @param {string} folder in which the runtime works @returns {Card} */
export function cardOf({ data, conversation, at }, folder) {
  const { question, toolName, title, reason, canAllowAlways, deadline } = data;
  const times = { asked_ms: at, until_ms: deadline ?? Infinity };
  if (data.card) return { .../** @type {Card} */ (/** @type {unknown} */ (data.card)), ...times };
  const input = JSON.stringify(data.input);
  // In place of an input that is too long, the runtime sends words.
  const isWhole = typeof data.input === "object" && `${Object.keys(data.input ?? {})}` !== "error";
  const size = new TextEncoder().encode(data.diff ?? "").length;
  const diff = size <= LONGEST_DIFF ? data.diff : undefined;
  const always = { action: "always", changes_mode: false, lasts: "For this conversation" };
  return {
    question,
    seq: 0,
    agent: "callgate",
    project: folder,
    session: conversation,
    tool: toolName,
    deed: `Use ${toolName}`,
    summary: title,
    ...times,
    ruling: "ask",
    because: reason ?? null,
    needs: "press",
    mode: null,
    risks: [],
    alike: null,
    body: { type: "other", input: diff ?? input },
    input,
    last_words: null,
    offers: canAllowAlways ? [{ ...always, meaning: "Do not ask again about the same thing" }] : [],
    pickers: [],
    takes_words: false,
    // Numbers may have been rounded on the way.
    can_edit: false,
    can_stop: true,
    no_answer_denies: true,
    fails_open: null,
    hides_what_runs: false,
    blocked: null,
    confirm_word_of: null,
    grants: {
      allow: "Lets this tool run once.",
      deny: "It does not run; the agent is told so and goes on.",
    },
    is_cut: !isWhole,
  };
}
