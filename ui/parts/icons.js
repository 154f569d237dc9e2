// Icons, drawn by hand on a grid of 20.

import { html } from "../vendor/lit-html/lit-html.js";
import { agentId } from "../words.js";

/** @type {Record<string, string>} */
const PATHS = {
  inbox:
    "M3 11.5 5 4.5a1.5 1.5 0 0 1 1.4-1h7.2A1.5 1.5 0 0 1 15 4.5l2 7v3.5a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 15zM3 11.5h4l1 2h4l1-2h4",
  history: "M3.5 10a6.5 6.5 0 1 0 2-4.7L3.5 7M3.5 3.5V7H7M10 6.5V10l2.5 1.5",
  rules: "M4 5.5h12M4 10h12M4 14.5h7M14 13l1.5 1.5L18 12",
  sessions: "M3 4.5h14v9H3zM7 16.5h6M6 7.5 8 9l-2 1.5M9.5 10.5H12",
  settings: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4",
  clock: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M10 6.5V10l2.5 1.5",
  check: "M4.5 10.5 8 14l7.5-8",
  checks: "M2.5 10.5 6 14l6.5-8M9.5 13l1 1 7-8",
  cross: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  back: "M12 4.5 6.5 10l5.5 5.5",
  next: "M8 4.5 13.5 10 8 15.5",
  stop: "M7 3.5h6l3.5 3.5v6L13 16.5H7L3.5 13V7zM7.5 7.5l5 5M12.5 7.5l-5 5",
  edit: "M4 16l.7-3.2L13 4.5a1.6 1.6 0 0 1 2.4 2.4L7.2 15.3z",
  reply: "M8 5 3.5 9.5 8 14M3.5 9.5H12a4.5 4.5 0 0 1 4.5 4.5v1",
  first_time: "M10 3v3M10 14v3M3 10h3M14 10h3M5.2 5.2l2 2M12.8 12.8l2 2M14.8 5.2l-2 2M7.2 12.8l-2 2",
  outside:
    "M8 4.5H5A1.5 1.5 0 0 0 3.5 6v9A1.5 1.5 0 0 0 5 16.5h9a1.5 1.5 0 0 0 1.5-1.5v-3M11 3.5h5.5V9M16.5 3.5 9.5 10.5",
  network: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M3.5 10h13M10 3.5c4 4 4 9 0 13M10 3.5c-4 4-4 9 0 13",
  deletes: "M4 6h12M8 6V4h4v2M5.5 6l.7 10.5h7.6L14.5 6M8.5 9v4.5M11.5 9v4.5",
  gate: "M10 3 4.5 5v4.5c0 3.6 2.3 6 5.5 7.5 3.2-1.5 5.5-3.9 5.5-7.5V5zM10 7.5V11M10 13.3v.1",
  hidden: "M3.5 10S6 5.5 10 5.5s6.5 4.5 6.5 4.5M3.5 10S6 14.5 10 14.5 16.5 10 16.5 10M4.5 3.5l11 13",
  unclear: "M7 7.5a3 3 0 1 1 4.4 2.6c-.9.5-1.4 1-1.4 2.1M10 15.4v.2",
  warning: "M10 3.5 17.5 16.5h-15zM10 8.5V12M10 14.2v.1",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4M12.7 12.7 16.5 16.5",
  download: "M10 3.5v9M6.5 9.5 10 13l3.5-3.5M4 16.5h12",
  spark: "M10 3l1.6 5.4L17 10l-5.4 1.6L10 17l-1.6-5.4L3 10l5.4-1.6z",
  bell: "M5.5 13.5V9a4.5 4.5 0 0 1 9 0v4.5L16 15H4zM8.5 17h3",
  chat: "M4 4.5h12v9H9L5.5 16.5v-3H4z",
  clip: "M13.5 6.5 7.8 12.2a1.7 1.7 0 0 0 2.4 2.4l5.7-5.7a3.4 3.4 0 0 0-4.8-4.8L5.4 9.8a5.1 5.1 0 0 0 7.2 7.2l4-4",
  again: "M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.8v3.7h-3.7",
  you: "M10 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6M4 16.5c.6-3 3-4.5 6-4.5s5.4 1.5 6 4.5",
  phone: "M6.5 3h7v14h-7zM9.5 14.7h1",
  browser: "M3 4.5h14v11H3zM3 8h14M5.5 6.2v.1M7.5 6.2v.1",
  status: "M3 10.5h3.5l2-5.5 3 10 2-4.5H17",
  more: "M4.5 10v.1M10 10v.1M15.5 10v.1",
  plus: "M10 4.5v11M4.5 10h11",
  keyboard: "M3 5.5h14v9H3zM6 8.5v.1M9 8.5v.1M12 8.5v.1M14.5 8.5v.1M6.5 11.8h7",
  copy: "M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4",
  fold: "M10 2.5v5M7.5 5.5 10 8l2.5-2.5M10 17.5v-5M7.5 14.5 10 12l2.5 2.5M3.5 10h13",
  down: "M10 4v11M5.5 10.5 10 15l4.5-4.5",
  branch: "M6 4.5v11M6 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M6 17a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M14 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M14 8c0 4-8 2-8 6",
  file: "M5.5 3h6l3.5 3.5V17h-9.5zM11.5 3v3.5H15",
};

/** @param {string} name @param {string} [more] further classes */
export function icon(name, more = "") {
  return html`<svg class="icon ${more}" viewBox="0 0 20 20" aria-hidden="true"><path d=${PATHS[name] ?? ""}></path></svg>`;
}

/** @type {Map<string, string>} */
const masks = new Map();

/**
 * Returns an icon as the style of an element, whose style sheet draws it: in lists, elements of its
 * own would be too many.
 * @param {string} name
 */
export function iconStyle(name) {
  const known = masks.get(name);
  if (known) return known;
  const look = `fill="none" stroke="#000" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"`;
  const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" ${look}><path d="${PATHS[name] ?? ""}"/></svg>`;
  const style = `--icon:url("data:image/svg+xml,${encodeURIComponent(image)}")`;
  masks.set(name, style);
  return style;
}

/**
 * The pictures of agents, drawn for this page: none is the sign of its maker.
 * @type {Record<string, string>}
 */
const AGENTS = {
  "claude-code": "M4.5 6.5 8 10l-3.5 3.5M9.5 14h6M14 4.5v4M12 6.5h4",
  amp: "M11 3.5 5.5 11H10l-1 5.5L14.5 9H10z",
  cline: "M14.5 6.5a5.5 5.5 0 1 0 0 7M10 9v2",
  copilot: "M4 11a3 3 0 0 1 6 0 3 3 0 0 1 6 0M4 11v2.5c3.5 3 8.5 3 12 0V11M7 7.5 8.5 5h3L13 7.5",
  droid: "M5 9h10v6.5H5zM8 12v.1M12 12v.1M10 9V6M8.5 5h3",
  goose: "M6 16c-2-4 1-6 4-6s2.5-6 5-6l2 1.5M6 16h7c2-1 2-4 0-5",
  grok: "M5 15 15 5M5 9a5.5 5.5 0 0 1 7-4M15 11a5.5 5.5 0 0 1-7 4",
  kilo: "M6 4v12M14 4 6.5 10 14 16",
  kimi: "M14.5 12.5A6 6 0 1 1 8 5a5 5 0 0 0 6.5 7.5z",
  opencode: "M4.5 4.5h11v11h-11zM8 8h4v4H8z",
  openhands: "M6 11V6.5M9 10V4.5M12 10V5M15 11.5v-4M6 11c0 4 2 6 4.5 6s4.5-2 4.5-5.5",
  pi: "M4.5 6.5h11M8 6.5V15M12.5 6.5V13a2 2 0 0 0 2 2",
  qwen: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12M12 12l4 4",
  codex: "M7.5 5 3.5 10l4 5M12.5 5l4 5-4 5M11 8v4M9 8v4",
  callgate: "M5 16V9a5 5 0 0 1 10 0v7M10 9v7",
  gemini: "M7 4.5a5.5 5.5 0 0 0 0 11M13 4.5a5.5 5.5 0 0 1 0 11M10 7v6",
  script: "M5 4.5h10M5 8.5h7M5 12.5h10M5 16h4",
};

/** The picture of an agent, or its first letter. @param {string | null} agent */
export function agentIcon(agent) {
  const path = AGENTS[agentId(agent)];
  return html`<span class="avatar" aria-hidden="true"
    >${path ? html`<svg class="icon" viewBox="0 0 20 20"><path d=${path}></path></svg>` : (agent || "?").charAt(0)}</span
  >`;
}

/** The mark of callgate: a gate with two wings. */
export function mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#4a48c9"></rect>
    <path d="M9 23V13a7 7 0 0 1 14 0v10M16 13v10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"></path>
  </svg>`;
}

/** The picture of an empty list: an open gate. */
export function openGate() {
  return html`<svg class="picture" viewBox="0 0 72 72" aria-hidden="true">
    <path d="M18 60V32a18 18 0 0 1 36 0v28"></path>
    <path d="M18 60 30 52V30l-12 4M54 60 42 52V30l12 4" opacity=".45"></path>
    <path d="M10 60h52" opacity=".45"></path>
  </svg>`;
}
