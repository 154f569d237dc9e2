// A conversation as Markdown, with everything that was said and done in it, in order.

import { failure, headline } from "./tool_result.js";

/** @typedef {import("./chat_store.js").Turn} Turn */
/** @typedef {import("./chat_store.js").Part} Part */
/** @typedef {import("./chat_store.js").ToolPart} ToolPart */

export const INTERRUPTED = "This answer was interrupted.";
/** Why an answer ended before it was whole. */
export const STOPS = /** @type {Record<string, string>} */ ({
  cancelled: "Stopped.",
  max_tokens: "The answer was too long and was cut.",
  max_turn_requests: "The answer reached the limit of rounds.",
  refusal: "The model refused to answer.",
});

/** @param {Turn} turn @returns {string} the answer as the model wrote it */
export function answerText(turn) {
  const texts = turn.parts.filter((part) => part.type === "text");
  return texts.map((part) => ("text" in part ? part.text.trim() : "")).join("\n\n");
}

/** @param {string} title @param {Turn[]} turns */
export function conversationMarkdown(title, turns) {
  return `# ${title}\n\n${turns.map(turnMarkdown).join("\n\n---\n\n")}\n`;
}

/** @param {Turn} turn */
function turnMarkdown({ text, files, parts, error, isUnfinished, stopReason }) {
  const attached = files.map(({ name, mime }) => `Attached: ${name ?? mime}`);
  const sections = [quoted([text, ...attached].filter(Boolean).join("\n"))];
  let isList = false;
  for (const part of parts) {
    const words = partMarkdown(part);
    const isCall = part.type === "tool";
    // Calls one after the other are one list.
    if (words) sections.push(isList && isCall ? `${sections.pop()}\n${words}` : words);
    if (words) isList = isCall;
  }
  const end = error ? `Error: ${error}` : isUnfinished ? INTERRUPTED : STOPS[stopReason];
  return [...sections, end && `*${end}*`].filter(Boolean).join("\n\n");
}

/** @param {Part} part */
function partMarkdown(part) {
  if (part.type === "text") return part.text.trim();
  if (part.type === "user") return quoted(part.text);
  return part.type === "tool" ? `- ${toolLine(part)}` : "";
}

/** @param {ToolPart} part */
function toolLine(part) {
  const subject = part.card?.subject.replaceAll("`", "'");
  const state = part.isOver ? failure(part) : "running";
  return [headline(part), subject && `\`${subject}\``, state && `(${state})`].filter(Boolean).join(" ");
}

/** @param {string} text */
function quoted(text) {
  return text && text.replace(/^/gm, "> ");
}
