// What is said of a tool call: what it does or has done, how it failed, and its result as text.

/** @typedef {import("./chat_store.js").ToolPart} ToolPart */

/** Returns what a call does, or has done. @param {ToolPart} part @returns {string} */
export function headline({ card, name, isOver, isLost, isError }) {
  if (!card) return name;
  return isOver && !isLost && !isError ? card.did : card.deed;
}

/** Returns how a call failed that is over, or "". @param {ToolPart} part @returns {string} */
export function failure({ card, name, result, isError, isOver, isLost }) {
  if (!isOver) return "";
  if (isLost) return card ? "no result" : "not finished";
  // A signal is how a stopped command is meant to end.
  const how = name === "stop_command" ? "" : commandFailure(result);
  if (how || !isError) return how;
  if (result?.denied === true) return "denied";
  if (result?.interrupted === true) return "interrupted";
  return card?.body.type === "ask" ? "no answer" : "failed";
}

/**
 * Returns how a command failed that ran: a result without an error does not say that it succeeded.
 * @param {any} result
 */
function commandFailure(result) {
  if (!result || typeof result !== "object") return "";
  if (result.timedOut === true) return "time limit";
  if (typeof result.signal === "string") return result.signal;
  return Number.isInteger(result.exitCode) && result.exitCode !== 0 ? `exit code ${result.exitCode}` : "";
}

/** Returns how a command ended, or that it still runs in the background. @param {ToolPart} part */
export function ending(part) {
  const { result } = part;
  const code = Number.isInteger(result?.exitCode) ? `exit code ${result.exitCode}` : "";
  return failure(part) || (result?.signal ?? code) || (result?.running === true ? "still running" : "");
}

/** Returns true for what a command in the background has written. @param {any} result */
export function isCommandOutput(result) {
  return typeof result?.output === "string" && typeof result.running === "boolean";
}

/** Returns the text of a result, without what only programs read. @param {any} result @returns {string} */
export function resultText(result) {
  if (typeof result !== "object" || result === null) return String(result ?? "");
  const { answers, text, content, output, stdout, stderr, diff, error } = result;
  const told = [text, content, output].find((one) => typeof one === "string");
  if (told !== undefined) return told;
  const list = [content, result.matches, result.files].find((items) => Array.isArray(items));
  if (list) return list.map(itemText).join("\n");
  const streams = [stdout, stderr].filter((text) => typeof text === "string" && text.trim());
  if (streams.length || Number.isInteger(result.exitCode)) return streams.map((text) => text.trimEnd()).join("\n");
  if (pictureOf(result)) return "";
  const words = [diff, error].find((one) => typeof one === "string" && one) ?? factsText(answers ?? result);
  return words ?? JSON.stringify(result, null, 2);
}

/** @param {any} item a file, a place where something was found, or a part of a message */
function itemText(item) {
  if (typeof item === "string") return item;
  if (item?.path) return [item.path, item.line, item.text].filter((one) => one !== undefined).join(": ");
  return item?.text ?? `[${item?.type}]`;
}

/** Returns the members of a simple object, each on a line of its own, or null. @param {any} value @returns {string | null} */
function factsText(value) {
  return factLines("", value)?.join("\n") ?? null;
}

/** Returns the input of a call like the members of a result, or null if it is not as simple. @param {string} json */
export function inputText(json) {
  try {
    // A larger number would be another one in JavaScript.
    return /\d{16}/.test(json) ? null : factsText(JSON.parse(json));
  } catch {
    return null;
  }
}

/** Returns lines such as "memory.free: 7", or null for what they would not show well. @param {string} name @param {any} value @returns {string[] | null} */
function factLines(name, value) {
  if (value === null || value === "") return [];
  // The question of an answer has a mark at its end already.
  if (typeof value !== "object") return [name ? `${name}${/[?.:!]$/.test(name) ? "" : ":"} ${value}` : String(value)];
  const isList = Array.isArray(value);
  if (isList && value.some((one) => typeof one === "object")) return null;
  if (isList) return value.length ? factLines(name, value.join(", ")) : [];
  const lines = Object.entries(value).map(([key, one]) => factLines(name ? `${name}.${key}` : key, one));
  return lines.includes(null) ? null : /** @type {string[][]} */ (lines).flat();
}

/** Returns the address of the picture that is the result of a call, or "". @param {any} result */
export function pictureOf(result) {
  const { media_type: type, data } = result?.image ?? {};
  return /^image\/(png|jpeg|gif|webp)$/.test(type) && typeof data === "string" ? `data:${type};base64,${data}` : "";
}
