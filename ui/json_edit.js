// Edits of a tool's input as JSON text, so that everything that is not edited stays byte for byte.

const PLACEHOLDER = /\[hidden \d+: [^\]]*\]/g;

/**
 * Returns the span of a member's value in the text of a JSON object, or `null`.
 * @param {string} json @param {string} name @returns {[number, number] | null}
 */
export function memberSpan(json, name) {
  let at = skipSpace(json, 0);
  if (json[at] !== "{") return null;
  at = skipSpace(json, at + 1);
  while (json[at] === '"') {
    const end = stringEnd(json, at);
    // The name may be written with escapes.
    const found = JSON.parse(json.slice(at, end));
    const start = skipSpace(json, skipSpace(json, end) + 1);
    const stop = valueEnd(json, start);
    if (found === name) return [start, stop];
    at = skipSpace(json, stop);
    if (json[at] !== ",") return null;
    at = skipSpace(json, at + 1);
  }
  return null;
}

/**
 * Returns the text of a JSON object in which a member that is a string has another value.
 * @param {string} json @param {string} name @param {string} value
 */
export function withText(json, name, value) {
  const span = memberSpan(json, name);
  if (!span) return json;
  return json.slice(0, span[0]) + JSON.stringify(value) + json.slice(span[1]);
}

/**
 * Returns the member of a JSON object if it is a string, or `null`.
 * @param {string} json @param {string} name @returns {string | null}
 */
export function textOf(json, name) {
  try {
    const value = JSON.parse(json)[name];
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/**
 * Returns what is wrong with an edited input, in words, or `null`.
 * @param {string} before @param {string} after
 */
export function editProblem(before, after) {
  let value;
  try {
    value = JSON.parse(after);
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : error}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "The arguments must be one JSON object.";
  const [had, has] = [before, after].map((text) => (text.match(PLACEHOLDER) ?? []).sort());
  const lost = had.find((mark) => count(has, mark) < count(had, mark));
  if (lost) return `Keep ${lost} where it is: it stands for a value that stays hidden.`;
  const added = has.find((mark) => count(has, mark) > count(had, mark));
  return added ? `${added} may occur only as often as before.` : null;
}

/** @param {string[]} all @param {string} one */
function count(all, one) {
  return all.filter((each) => each === one).length;
}

/** @param {string} json @param {number} at */
function skipSpace(json, at) {
  while (/[ \t\r\n]/.test(json[at] ?? "")) at += 1;
  return at;
}

/** @param {string} json @param {number} at the opening quote */
function stringEnd(json, at) {
  for (at += 1; at < json.length && json[at] !== '"'; at += 1) if (json[at] === "\\") at += 1;
  return at + 1;
}

/** @param {string} json @param {number} at */
function valueEnd(json, at) {
  let depth = 0;
  while (at < json.length) {
    const sign = json[at];
    if (sign === '"') at = stringEnd(json, at);
    else if (sign === "{" || sign === "[") [depth, at] = [depth + 1, at + 1];
    else if (sign === "}" || sign === "]") {
      if (depth === 0) return at;
      [depth, at] = [depth - 1, at + 1];
    } else if (sign === "," && depth === 0) return at;
    else at += 1;
    if (depth === 0 && /[,}\]\s]/.test(json[at] ?? "") && sign !== " ") return at;
  }
  return at;
}
