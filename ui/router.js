// Routes of the page. They live in the fragment of the address, which a browser never sends.

/** @typedef {"inbox" | "chat" | "history" | "rules" | "sessions" | "settings" | "status" | "you"} ViewName */
/** @typedef {{view: ViewName, item: string | null, params: Record<string, string>}} Route */

/** @type {ViewName[]} */
export const VIEWS = ["inbox", "chat", "history", "rules", "sessions", "settings", "status", "you"];

/** @param {string} fragment with or without `#` @returns {Route} */
export function parseRoute(fragment) {
  const text = fragment.replace(/^#?\/?/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  const [name, item] = path.split("/").map(decoded);
  const view = VIEWS.find((view) => view === name) ?? "inbox";
  const params = Object.fromEntries(new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)));
  return { view, item: item || null, params };
}

/** @param {Partial<Route> & {view: ViewName}} route @returns {string} the fragment with `#` */
export function formatRoute({ view, item, params }) {
  const path = item ? `${view}/${encodeURIComponent(item)}` : view;
  const filled = Object.entries(params ?? {}).filter(([, value]) => value !== "");
  const query = new URLSearchParams(filled).toString();
  return `#/${path}${query ? `?${query}` : ""}`;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the pairing code of a fragment such as `#code=7KQM2XWA`, if it has one.
 * @param {string} fragment
 */
export function pairingCode(fragment) {
  const code = new URLSearchParams(fragment.replace(/^#/, "")).get("code");
  return code && /^[0-9A-Za-z -]{4,64}$/.test(code) ? code : null;
}

/** The name of the desk's own machine in addresses and lists; no other machine has it. */
export const HERE = ".";
const FILTER_TEXTS = /** @type {const} */ (["text", "tool", "agent", "project", "session", "decision"]);
const RANGES = /** @type {Record<string, number>} */ ({
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
});

/**
 * Returns the filter of the history that an address describes.
 * @param {Record<string, string>} params @param {number} now
 * @returns {import("./types/desk.js").Filter}
 */
export function filterOf(params, now) {
  /** @type {import("./types/desk.js").Filter} */
  const filter = {};
  for (const name of FILTER_TEXTS) if (params[name]) filter[name] = params[name];
  if (params.by === "person" || params.by === "rule") filter.by = params.by;
  if (params.machine) filter.machine = params.machine === HERE ? "" : params.machine;
  const range = RANGES[params.since ?? ""];
  if (range) filter.since_ms = now - range;
  return filter;
}
