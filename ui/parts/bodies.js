// What a question is about, by the kind of its call.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { counted, relativePath } from "../words.js";
import { diff } from "./diff.js";
import { icon } from "./icons.js";
import { plan } from "./markdown.js";
import { command, numbered, prettyJson, reason, shown } from "./text.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../types/desk.js").Body} Body */

/**
 * Shows what a call does, without a short command or the path if that is the headline.
 * @param {App} app @param {Body} body @param {string} key @param {string} project @param {boolean} [isHeadlined]
 */
export function body(app, body, key, project, isHeadlined = false) {
  const path = (/** @type {string} */ name, /** @type {unknown} */ more, isShown = !isHeadlined) =>
    pathLine(relativePath(name, project), name, more, isShown);
  switch (body.type) {
    case "command":
      return [described(body.description), isHeadlined ? nothing : command(app, key, body.segments)];
    case "read":
      return html`${path(body.path, "")}${described(body.what)}`;
    case "write":
      return html`${path(body.path, counted(body.lines, "line"))}${numbered(app, key, body.content)}`;
    case "edit":
      return html`${path(body.path, changed(body.changes))}${diff(app, key, body.changes)}`;
    case "patch":
      return body.files.map((file, at) => [
        path(file.path, html`${patched(file)} ${changed(file.changes)}`, true),
        diff(app, `${key}.${at}`, file.changes),
      ]);
    case "notebook":
      return html`${path(body.path, reason(body.what))}${numbered(app, key, body.content)}`;
    case "fetch":
      return html`<div class="address code-box"><pre class="command">${address(body.url)}</pre></div>
        ${body.what ? html`<p class="description">${shown(body.what)}</p>` : ""}`;
    case "plan":
      return planned(app, key, body.markdown);
    case "todo":
      return steps(body.items);
    case "ask":
      return html`<p class="asked"><span>${shown(body.question)}</span></p>
        ${body.detail ? html`<p class="description">${shown(body.detail)}</p>` : ""}`;
    case "mcp":
      return html`<p class="description">
          The tool <code>${shown(body.tool)}</code> of the server <code>${shown(body.server)}</code>
        </p>
        ${numbered(app, key, prettyJson(body.input))}`;
    default:
      return numbered(app, key, prettyJson(body.input));
  }
}

/** Shows the steps of a plan. @param {{text: string, status: string}[]} items */
export function steps(items) {
  return html`<ul class="steps-list">
    ${items.map(
      (item) =>
        html`<li class=${item.status}>
          <span class="tick">${item.status === "done" ? icon("check") : nothing}</span>
          <span>${shown(item.text)}</span>
          ${item.status === "pending" ? nothing : html`<span class="only-read">(${item.status})</span>`}
        </li>`,
    )}
  </ul>`;
}

/** The key under which it is kept that a plan is shown as it is written. @param {string} key */
export const sourceKey = (key) => `${key}.source`;

/** @param {App} app @param {string} key @param {string} source */
function planned(app, key, source) {
  const isSource = app.isUnfolded(sourceKey(key));
  const turn = () => app.setUnfolded(sourceKey(key), !isSource);
  return html`<div class="plan">
    <button class="button quiet plan-source" type="button" aria-pressed=${isSource} @click=${turn}>Source</button>
    ${isSource ? html`<pre class="pre">${shown(source)}</pre>` : plan(key, source)}
  </div>`;
}

/** @param {string | null} text */
function described(text) {
  return text ? html`<p class="description">${shown(text)}</p>` : nothing;
}

/** @param {string} name @param {string} path @param {unknown} more @param {boolean} isShown */
function pathLine(name, path, more, isShown) {
  if (!isShown && !more) return nothing;
  return html`<p class="path">
    ${isShown ? html`${icon("file")}<code title=${path}>${shown(name)}</code>` : nothing}<span class="muted">${more}</span>
  </p>`;
}

/** @param {import("../types/desk.js").PatchedFile} file @returns {unknown} what happens to the file */
function patched({ operation, moved_to, note }) {
  const does = { add: "is added", update: "is changed", delete: "is deleted" }[operation];
  const what = moved_to ? html`${does} and moved to <code>${shown(moved_to)}</code>` : does;
  return note ? html`${what} (${shown(note)})` : what;
}

/** @param {import("../types/desk.js").Change[]} changes */
function changed(changes) {
  const lines = changes.flatMap((change) => change.lines);
  const [added, removed] = ["+", "-"].map((op) => lines.filter((line) => line.op === op).length);
  return html`<span class="added-count">+${added}</span> <span class="removed-count">−${removed}</span>`;
}

/**
 * Shows an address with the part that says where it leads standing out.
 * @param {string} url
 */
function address(url) {
  const parts = /^([a-z+.-]+:\/\/)([^/?#]*)(.*)$/is.exec(url);
  if (!parts) return shown(url);
  return html`<span class="seg-comment">${shown(parts[1])}</span
    ><span class="seg-program">${shown(parts[2])}</span><span class="seg-option">${shown(parts[3])}</span>`;
}
