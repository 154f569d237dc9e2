// What can be done with a whole conversation: a new title, a file of it, its end.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { conversationMarkdown } from "../conversation_file.js";
import { confirmDialog } from "./confirm.js";
import { saveFile } from "./export.js";
import { icon } from "./icons.js";

/** @typedef {import("../chat_session.js").ChatSession} ChatSession */

/** @param {ChatSession} chat @param {string} title */
export function conversationMenu(chat, title) {
  return html`<details class="menu" data-conversation-menu @focusout=${closeUnfocused}>
    <summary class="button quiet small" title="More about this conversation" aria-label="More about this conversation">
      ${icon("more")}
    </summary>
    <div class="menu-box menu-items panel">${conversationItems(chat, title)}</div>
  </details>`;
}

/** Returns the items of the menu. @param {ChatSession} chat @param {string} title */
export function conversationItems(chat, title) {
  const isKept = chat.conversation && chat.store.capabilities.has("conversations");
  const turns = chat.store.turns(chat.conversation);
  const item = (/** @type {string} */ name, /** @type {string} */ picture, /** @type {string} */ words, /** @type {() => void} */ act) =>
    html`<button class="menu-item" type="button" data-conversation=${name} @click=${(/** @type {Event} */ event) => {
      /** @type {HTMLElement} */ (event.target).closest("details")?.removeAttribute("open");
      act();
    }}>${icon(picture)}${words}</button>`;
  return html`${isKept ? item("rename", "edit", "Rename…", () => renameDialog(chat, title)) : nothing}
    ${turns.length ? item("export", "download", "Export as Markdown", () => void exportTurns(chat, title)) : nothing}
    ${
      turns.length && chat.store.capabilities.has("compact")
        ? item("compact", "fold", "Continue from a summary", () => void chat.summarise())
        : nothing
    }
    ${isKept ? item("delete", "deletes", "Delete…", () => deleteDialog(chat, title)) : nothing}
    <a class="menu-item" href="#/status">${icon("status")}Runtime status</a>`;
}

/** Closes a menu that the focus leaves. @param {FocusEvent} event */
function closeUnfocused(event) {
  const menu = /** @type {HTMLDetailsElement} */ (event.currentTarget);
  if (event.relatedTarget && !menu.contains(/** @type {Node} */ (event.relatedTarget))) menu.open = false;
}

/** @param {ChatSession} chat @param {string} title */
function renameDialog(chat, title) {
  const { app, conversation } = chat;
  const rename = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const wanted = String(new FormData(form).get("title") ?? "").trim();
    app.closeDialog();
    if (wanted && wanted !== title) chat.rename(conversation, wanted);
  };
  app.openDialog(
    "Rename this conversation",
    () =>
      html`<form @submit=${rename}>
        <div class="dialog-body">
          <label class="labelled">Title <input class="field" name="title" data-title maxlength="200" value=${title} /></label>
        </div>
        <div class="dialog-foot">
          <button class="button quiet" type="button" @click=${() => app.closeDialog()}>Cancel</button>
          <button class="button primary" type="submit" data-rename-now>Rename</button>
        </div>
      </form>`,
  );
}

/** @param {ChatSession} chat @param {string} title */
function deleteDialog(chat, title) {
  const { app, conversation } = chat;
  const text = "The conversation and everything that was said in it are removed. Files that were changed stay as they are.";
  confirmDialog(app, `Delete “${title}”?`, text, "Delete", () => chat.remove(conversation));
}

/** Saves all of the conversation as a file. @param {ChatSession} chat @param {string} title */
async function exportTurns(chat, title) {
  const turns = await chat.history.allTurns();
  if (!turns.length) return chat.app.toast("The conversation changed, or could not be loaded. Export it again.");
  const name = title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "").slice(0, 60);
  saveFile([conversationMarkdown(title, turns)], "text/markdown", `${name || "conversation"}.md`);
}
