// The rows of the history, and what each of them opens.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { formatRoute } from "../router.js";
import {
  agentName,
  ago,
  channelWords,
  clock,
  decisionWords,
  duration,
  folderName,
  fullTime,
  shortSummary,
} from "../words.js";
import { icon } from "./icons.js";
import { ends, reason, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").HistoryRow} HistoryRow */

/** @param {App} app @param {HistoryRow} row */
export function historyRow(app, row) {
  const hasFailed = row.decision === "ran" && row.ok === false;
  const decision = hasFailed ? "Failed" : decisionWords(row.decision);
  const isCall = row.decision !== "saved";
  const where = isCall ? [`${agentName(row.agent)} in ${folderName(row.project)}`] : ["Your rules"];
  if (row.machine) where.push(`on ${row.machine}`);
  if (row.edited) where.push("edited");
  if (row.words) where.push(`“${row.words}”`);
  const rule = row.channel === "rule" ? /\brule `([^`]+)`/.exec(row.by ?? "") : null;
  const by = rule ? `Rule “${rule[1]}”` : `${row.by ?? ""} ${channelWords(row.channel)}`;
  const [start, end] = shortSummary(row);
  const took = row.took_ms === null ? "" : duration(row.took_ms);
  return html`<button class="history-row" type="button" data-seq=${row.seq} @click=${() => openEntry(app, row)}
    ><span class="decision dotted ${hasFailed ? "deny" : row.decision}" .textContent=${decision}></span
    ><span class="what"
      ><code class=${end ? "ends" : "cut"}>${ends(start || row.tool, end)}</code
      ><span class="tiny muted cut">${shown(where.join(" · "))}</span></span
    ><span class="by small cut">${shown(by)}</span><span class="took small muted num" .textContent=${took}></span
    ><time class="small muted num" title=${fullTime(row.at_ms)} .textContent=${clock(row.at_ms, app.now)}></time></button>`;
}

/** @param {App} app @param {HistoryRow} row */
function openEntry(app, row) {
  const isCall = row.decision !== "saved";
  const decision = `${decisionWords(row.decision)}${row.edited ? ", with edited arguments" : ""}`;
  const session = formatRoute({ view: "history", params: { session: row.session } });
  const propose = () => app.proposeRule({ seq: row.seq }, row.summary);
  const facts = /** @type {[string, unknown][]} */ ([
    ["Decision", html`<span class="row"><span class="dot ${row.decision}"></span>${decision}</span>`],
    ["By", row.by && html`${row.channel === "rule" ? reason(row.by) : row.by} ${channelWords(row.channel)}`],
    ["Words", row.words && shown(row.words)],
    ["When", `${fullTime(row.at_ms)} (${ago(row.at_ms, app.now)})`],
    ["Took", row.took_ms === null ? null : duration(row.took_ms)],
    ["Result", row.ok === null ? null : row.ok ? "The tool succeeded" : "The tool failed"],
    ["Agent", isCall && agentName(row.agent)],
    ["Tool", isCall && html`<code>${row.tool}</code>`],
    ["Mode", row.mode],
    ["Folder", isCall && html`<code>${row.project}</code>`],
    ["Machine", row.machine ? shown(row.machine) : null],
    [
      "Session",
      isCall &&
        html`<a class="link" href=${session} @click=${() => app.closeDialog()}><code>${row.session}</code></a>`,
    ],
    ["Ledger entry", row.seq],
  ]);
  const known = facts.filter(([, value]) => value !== null && value !== "" && value !== false);
  app.openDialog(
    "Entry of the ledger",
    () => html`<div class="dialog-body">
      <div class="code-box"><pre class="command">${shown(row.summary)}</pre></div>
      <dl class="facts">${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
    </div>
    <div class="dialog-foot">
      ${
        row.machine
          ? html`<p class="small muted">The rules for this call are on ${shown(row.machine)}.</p>`
          : app.team
          ? nothing
          : isCall
          ? html`<button class="button" type="button" data-propose @click=${propose}>
              ${icon("rules")}Make a rule from this
            </button>`
          : html`<a class="button" href="#/rules" @click=${() => app.closeDialog()}>${icon("rules")}Show the rules</a>`
      }
    </div>`,
  );
}
