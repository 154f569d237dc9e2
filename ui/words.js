// Words and numbers as people read them.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** @type {Record<string, string>} */
const AGENTS = {
  "claude-code": "Claude Code",
  amp: "Amp",
  callgate: "callgate",
  claude: "Claude Code",
  cline: "Cline",
  codex: "Codex",
  copilot: "Copilot CLI",
  droid: "Factory droid",
  gemini: "Gemini CLI",
  goose: "goose",
  grok: "Grok",
  kilo: "Kilo",
  kimi: "Kimi Code",
  opencode: "opencode",
  openhands: "OpenHands",
  pi: "Pi",
  qwen: "Qwen Code",
  script: "A script",
};

/** @param {string | null} agent */
export function agentName(agent) {
  return AGENTS[agent ?? ""] ?? (agent || "An agent");
}

/** Returns the name that an agent has for programs, by either of its names. @param {string | null} agent */
export function agentId(agent) {
  const known = Object.entries(AGENTS).find(([id, name]) => id === agent || name === agent);
  return known ? Object.keys(AGENTS).find((id) => AGENTS[id] === known[1]) ?? "" : (agent ?? "");
}

/** @param {string} path @returns {string} the last folder of a path */
export function folderName(path) {
  return path.replace(/\/+$/, "").split("/").pop() || path || "no folder";
}

/**
 * Returns a path beneath the project without the project, and any other text as it is.
 * @param {string} path @param {string} project
 */
export function relativePath(path, project) {
  const folder = `${project.replace(/\/+$/, "")}/`;
  const isBeneath = folder.length > 1 && path.startsWith(folder) && path.length > folder.length;
  // With `..` in it a path may lead out of the project.
  return isBeneath && !/(^|\/)\.\.(\/|$)/.test(path) ? path.slice(folder.length) : path;
}

/** The longest end of a line that has room everywhere, in characters. */
const LONGEST_END = 26;

/**
 * Splits a line in two, of which only the first part is cut where there is little room: the second is
 * the last name of a path, or the last characters of any other long text.
 * @param {string} text @param {boolean} isPath @returns {[string, string]}
 */
export function splitEnd(text, isPath) {
  const name = isPath ? text.slice(Math.max(0, text.lastIndexOf("/", text.length - 2))) : text;
  const end = [...name].slice(-LONGEST_END).join("");
  return end === text ? [text, ""] : [text.slice(0, text.length - end.length), end];
}

/**
 * Returns the files or the place that a call is about, such as "a.rs, src/b.rs" or "'x y' in src", with
 * paths beneath the project without it.
 * @param {string} subject @param {string} project
 */
export function relativeSubject(subject, project) {
  const [, words, folder] = /^(.* in )(\/[^\s']*)$/s.exec(subject) ?? [];
  if (folder) return words + (folder === project ? "." : relativePath(folder, project));
  return subject.split(", ").map((path) => relativePath(path, project)).join(", ");
}

/**
 * Returns the summary of a call in two parts, of which only the first may be cut. A path beneath the
 * project is without the project. Commands are in one part.
 * @param {{summary: string, project: string}} row @returns {[string, string]}
 */
export function shortSummary({ summary, project }) {
  const search = /^((?:find|search for) )(.* in \/[^\s']*)$/s.exec(summary);
  const files = /^((?:read|write|edit|list|patch|put back|(?:insert|replace|delete) [^/]* of) )(\/.*)$/s.exec(summary);
  const [, deed, subject] = search ?? files ?? [];
  if (!deed) return [summary, ""];
  const [folders, name] = splitEnd(relativeSubject(subject, project), true);
  return [deed + folders, name];
}

/** @param {number} ms @returns {string} such as "12 s", "4 min", "2 h 5 min" */
export function duration(ms) {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, "")} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) {
    const minutes = Math.floor((ms % HOUR) / MINUTE);
    return `${Math.floor(ms / HOUR)} h${minutes ? ` ${minutes} min` : ""}`;
  }
  const days = Math.floor(ms / DAY);
  return `${days} ${days === 1 ? "day" : "days"}`;
}

/** @param {number} ms @returns {string} the time that is left, such as "59 min", and "1:05" at the end */
export function remaining(ms) {
  if (ms <= 0) return "0:00";
  if (ms >= 2 * MINUTE) return duration(ms);
  const seconds = Math.ceil(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** @param {number} at @param {number} now @returns {string} such as "just now" or "4 min ago" */
export function ago(at, now) {
  const ms = now - at;
  if (ms < 5_000) return "just now";
  return `${duration(ms < MINUTE ? Math.floor(ms / 1_000) * 1_000 : ms)} ago`;
}

// To make a formatter takes many times as long as to use it.
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY_OF_YEAR = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const FULL_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** @param {number} at @returns {string} the day of a year */
export function dayOf(at) {
  return DAY_OF_YEAR.format(at);
}

/** @param {number} at @returns {string} the time of a day */
export function timeOf(at) {
  return TIME.format(at);
}

/** @param {number} at @param {number} now @returns {string} a time of day, with the day if it is another */
export function clock(at, now) {
  const [date, today] = [new Date(at), new Date(now)];
  const isThisYear = date.getFullYear() === today.getFullYear();
  if (isThisYear && date.getMonth() === today.getMonth() && date.getDate() === today.getDate()) return timeOf(at);
  return `${isThisYear ? dayOf(at) : DATE.format(at)}, ${timeOf(at)}`;
}

/** @param {number} at */
export function fullTime(at) {
  return FULL_TIME.format(at);
}

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** @param {string | null} channel @returns {string} where somebody answered */
export function channelWords(channel) {
  if (channel === "telegram") return "on the phone";
  if (channel === "terminal") return "in the terminal";
  if (channel === "viewer") return "in a page";
  return "";
}

/** @param {string} decision */
export function decisionWords(decision) {
  /** @type {Record<string, string>} */
  const words = {
    allow: "Allowed",
    deny: "Denied",
    timeout: "No answer",
    withdrawn: "Withdrawn",
    open: "Waiting",
    ran: "Ran",
    saved: "Rules saved",
    ask: "Asks you",
    confirm: "Confirm",
    undecided: "No rule",
  };
  return words[decision] ?? decision;
}

/** @param {import("./store.js").Outcome} outcome */
export function outcomeWords({ decision, by, channel, text }) {
  // The history has where the rule is, and why it holds.
  const rule = /^(Allowed|Denied) by (?:(?:allowed|denied) by )?rule `([^`]+)`/.exec(text ?? "");
  if (rule) return `${rule[1]} by rule “${rule[2]}”.`;
  // "You" in a viewer are at the front end of the program that asks, which is no page.
  const where = by && !(by === "you" && channel === "viewer") ? channelWords(channel) : "";
  if (text) return /[.!?]$/.test(text) ? text : `${text}${text.includes(where) ? "" : ` ${where}`}.`;
  return `${[decisionWords(decision), by && `by ${by}`, channelWords(channel)].filter(Boolean).join(" ")}.`;
}

/**
 * Returns what has to happen before a question is allowed, if more than one press.
 * @param {Pick<import("./types/desk.js").Row, "demands" | "allowed_by">} row @returns {string | null}
 */
export function demandWords({ demands = [], allowed_by }) {
  if (allowed_by) return `${allowed_by} allowed; one more person is needed`;
  const isTwo = demands.includes("two_people");
  if (!demands.includes("not_own")) return isTwo ? "Two people have to allow this" : null;
  const other = "obody may allow what their own machine asks";
  return isTwo ? `Two people have to allow this, and n${other}` : `N${other}`;
}

/**
 * Returns why a question is asked, as a sentence or as the desk's reason, and what happens without an
 * answer.
 * @param {Pick<import("./types/desk.js").Card, "agent" | "tool" | "body" | "because" | "blocked" | "no_answer_denies">} card
 */
export function whyAsked({ agent, tool, body, because, blocked, no_answer_denies }) {
  const name = agentName(agent);
  const isScript = name === agentName("script");
  const asks = () => {
    if (blocked) return `${name} has blocked this call by itself, and you can let it try again.`;
    if (tool === "Elicitation") return `A tool server of ${name} asks you something.`;
    if (isScript) return "A script on this machine asks you.";
    if (body.type === "ask") return `${name} asks you something.`;
    if (body.type === "plan") return `${name} asks whether it may carry out this plan.`;
    return "No rule covers this, so you are asked.";
  };
  const unanswered = () => {
    if (blocked) return "it stays blocked";
    if (isScript) return "the script is told that nobody answered";
    if (no_answer_denies || agent === "callgate") return "it is denied";
    return "the agent asks in its own terminal; if it has none, it is denied";
  };
  return { why: because ?? asks(), unanswered: unanswered() };
}

const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/gu;

/**
 * Splits a text into visible parts and the names of invisible characters in it.
 * @param {string} text @returns {{text: string, isInvisible: boolean}[]}
 */
export function visibleParts(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match.index > at) parts.push({ text: text.slice(at, match.index), isInvisible: false });
    const code = match[0].codePointAt(0) ?? 0;
    parts.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, "0")}`, isInvisible: true });
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isInvisible: false });
  return parts;
}
