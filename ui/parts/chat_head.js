// The line above a conversation: its title and folder, what it has taken, who answers, and how.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { folderName } from "../words.js";
import { confirmDialog } from "./confirm.js";
import { choiceOf } from "./controls.js";
import { conversationItems, conversationMenu } from "./conversation_menu.js";
import { icon } from "./icons.js";
import { shown } from "./text.js";

/** @typedef {import("../chat_session.js").ChatSession} ChatSession */

const MODES = /** @type {[string, string][]} */ ([
  ["ask", "Ask"],
  ["plan", "Plan"],
  ["auto", "Auto"],
]);

/** @param {ChatSession} chat @param {() => void} toggleList shows or hides the list of conversations */
export function chatHead(chat, toggleList) {
  const one = chat.conversations.find(({ conversationId }) => conversationId === chat.conversation);
  const title = one?.title || "New conversation";
  return html`<header class="card-head">
    <button class="button quiet chat-back" type="button" aria-label="Conversations" data-list @click=${toggleList}>
      ${icon("back", "icon-l")}
    </button>
    <div class="grow">
      <h1 class="who cut">${shown(title)}</h1>
      <button
        class="tiny muted cut folder"
        type="button"
        title="Work in another folder"
        @click=${() => chat.leave()}
      >
        ${shown(folderName(chat.place))} · ${chat.place}
      </button>
    </div>
    ${meter(chat)} ${modes(chat)} ${model(chat)} ${tools(chat, title)}
    <button class="button quiet chat-menu" type="button" aria-label="Mode, model and more" data-menu @click=${() => menu(chat, title)}>
      ${icon("more", "icon-l")}
    </button>
  </header>`;
}

/**
 * Shows what has no room above the conversation of a narrow window.
 * @param {ChatSession} chat @param {string} title
 */
function menu(chat, title) {
  const labelled = (/** @type {string} */ name, /** @type {unknown} */ control) =>
    control === nothing ? nothing : html`<div class="stack"><h3>${name}</h3>${control}</div>`;
  chat.app.openDialog(
    "This conversation",
    () =>
      html`<div class="dialog-body chat-menu-body">
        ${labelled("Mode", modes(chat))} ${labelled("Model", model(chat))} ${labelled("Used", meter(chat))}
        <div class="menu-items">${clearButton(chat, "menu-item", "Clear…")} ${conversationItems(chat, title)}</div>
      </div>`,
  );
}

/** @param {ChatSession} chat */
function meter(chat) {
  const { input, output, cost, context, window } = chat.store.meter(chat.conversation);
  const share = window ? Math.min(1, context / window) : 0;
  const thousands = (/** @type {number} */ count) =>
    count < 1_000 ? String(count) : `${(count / 1_000).toFixed(1)}k`;
  if (!input && !output && !context) return nothing;
  const title = `${input.toLocaleString()} tokens read, ${output.toLocaleString()} written`;
  return html`<span class="chip num chat-meter" data-meter title=${title}>
    ${window ? html`<meter max="1" value=${share} aria-label="Context used"></meter>` : nothing}
    <span
      ><span class="tokens">${thousands(input)} in · ${thousands(output)} out</span>${
        cost === null ? nothing : html`<span class="cost">$${cost.toFixed(cost < 0.1 ? 4 : 2)}</span>`
      }</span
    >
  </span>`;
}

/** @param {ChatSession} chat */
function modes(chat) {
  const { mode } = chat.status ?? {};
  const setMode = (/** @type {string} */ chosen) => void chat.setMode(chosen);
  return chat.store.capabilities.has("modes") && mode ? choiceOf("Mode", MODES, mode, setMode) : nothing;
}

/** @param {ChatSession} chat */
function model(chat) {
  const { engine, model } = chat.status ?? {};
  const usable = chat.engines.filter(({ isAvailable }) => isAvailable);
  const name = model ?? engine;
  if (!usable.length) return name ? html`<span class="chip" data-engine>${name}</span>` : nothing;
  const options = usable.flatMap(({ name, models }) =>
    (models.length ? models : [{ id: null, title: name }]).map((one) => ({
      value: JSON.stringify([name, one.id]),
      title: one.title ?? one.id,
      isSet: name === engine && (one.id === model || one.id === null || models.length === 0),
    })),
  );
  const choose = async (/** @type {Event} */ event) => {
    const field = /** @type {HTMLSelectElement} */ (event.target);
    const [name, id] = JSON.parse(field.value);
    const before = options.findIndex(({ isSet }) => isSet);
    // A choice that was refused is not in effect.
    if (!(await chat.setEngine(name, id))) field.selectedIndex = Math.max(0, before);
  };
  return html`<select class="field engine" aria-label="Model" data-engine @change=${choose}>
      ${options.some(({ isSet }) => isSet) ? nothing : html`<option selected>${model ?? engine}</option>`}
      ${options.map(({ value, title, isSet }) => html`<option value=${value} ?selected=${isSet}>${title}</option>`)}
    </select>`;
}

/** @param {ChatSession} chat @param {string} title */
function tools(chat, title) {
  return html`<div class="row chat-tools">
    ${clearButton(chat, "button quiet small", "")} ${conversationMenu(chat, title)}
  </div>`;
}

/** @param {ChatSession} chat @param {string} look @param {string} words */
function clearButton(chat, look, words) {
  if (!chat.store.turns(chat.conversation).length) return nothing;
  return html`<button
    class=${look}
    type="button"
    data-clear
    title="Forget everything in this conversation"
    aria-label="Clear this conversation"
    @click=${() => confirmClear(chat)}
  >
    ${icon("deletes")}${words}
  </button>`;
}

/** Asks before everything in a conversation is forgotten. @param {ChatSession} chat */
export function confirmClear(chat) {
  const { app, conversation } = chat;
  const text = "Everything that was said in it is removed from its history. Files that were changed stay as they are.";
  confirmDialog(app, "Clear this conversation?", text, "Clear", () => chat.clear(conversation));
}
