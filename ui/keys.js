// The keyboard: which keys mean what, and when they mean nothing.

/** @typedef {import("./app.js").App} App */

/** The keys and what they do, as the cheat sheet shows them. */
export const KEYS = /** @type {[string[], string][]} */ ([
  [["j", "k"], "Next question, previous question"],
  [["a"], "Allow once"],
  [["d"], "Deny"],
  [["r"], "Deny with words, or answer in words"],
  [["e"], "Edit the arguments, then allow"],
  [["1", "…", "9"], "Choose one of the answers that an agent offers"],
  [["s"], "Show a plan as it is written, or formatted again"],
  [["x"], "Select, to answer several together"],
  [["Enter"], "Select a question that opened automatically, and show all of it; after an answer, go to the next"],
  [["g", "then i c h r s"], "Go to the inbox, chat, history, rules, sessions"],
  [["/"], "Search the history"],
  [["Esc"], "Close or go back"],
  [["?"], "This list"],
  [["↑"], "In the chat, where typing writes a message: from an empty message to the question. Esc goes back"],
]);

let wentAt = -Infinity;

/** So long after its last key somebody still types, though the field is gone. */
const TYPING_MS = 2_000;
/** The field that was typed into last, and when. */
const typing = { field: /** @type {HTMLElement | null} */ (null), at: -Infinity };

/** Forgets who types: a press of the mouse, or a key that sends or closes, was the last of it. */
function endTyping() {
  typing.field = null;
}

document.addEventListener("pointerdown", endTyping, true);

/**
 * Whether a key goes on with words whose field has gone, because somebody else has answered the question.
 * It must not answer the next one.
 * @param {App} app @param {KeyboardEvent} event
 */
function goesOnTyping(app, { timeStamp }) {
  if (!typing.field || typing.field.isConnected || timeStamp - typing.at > TYPING_MS) return false;
  typing.at = timeStamp;
  app.toast("What you typed was not sent: that question is over.");
  return true;
}

/** Whether a key sends what a field has. @param {KeyboardEvent} event @param {HTMLElement} field */
function sends({ key }, field) {
  return key === "Enter" && !field.matches("textarea");
}

/** @param {App} app @param {KeyboardEvent} event */
export function handleKey(app, event) {
  // A key that is held down answers nothing: what it means changes with what is shown.
  if (!app.isUsable || event.repeat || event.altKey || event.metaKey || event.isComposing) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey) {
    endTyping();
    if (event.key === "Enter") target.closest("form")?.requestSubmit();
    return;
  }
  if (event.key === "Escape") endTyping();
  if (event.key === "Escape" && app.desktop && !app.dialog) return escape(app, event, target);
  const isTyping = target.matches("input:not([type=checkbox]), textarea, select");
  if (isTyping && event.key === "Escape") target.blur();
  else if (isTyping) [typing.field, typing.at] = [sends(event, target) ? null : target, event.timeStamp];
  if (isTyping || app.dialog || goesOnTyping(app, event)) return;
  const isPressable = target.matches("button, a, summary, input");
  // The browser presses what has the focus, so the key must not mean something else as well.
  if (isPressable && (event.key === "Enter" || event.key === " ")) return;
  if (!app.lacksDesk && app.view.typed?.(event.key)) return;
  if (meaning(app, event)) event.preventDefault();
}

/**
 * Escape in the desktop shell: hides the window, unless something in it takes the key.
 * @param {App} app @param {KeyboardEvent} event @param {HTMLElement} target
 */
function escape(app, event, target) {
  // A field for searching empties itself.
  if (target.matches("input[type=search]") && /** @type {HTMLInputElement} */ (target).value) return;
  event.preventDefault();
  if (app.lacksDesk || !app.view.key?.("Escape", event.timeStamp)) app.desktop?.hide();
}

/** @param {App} app @param {KeyboardEvent} event */
function meaning(app, { key, timeStamp }) {
  const isGoing = timeStamp - wentAt < 1_500;
  wentAt = -Infinity;
  const view = isGoing ? { i: "inbox", c: "chat", h: "history", r: "rules", s: "sessions" }[key] : undefined;
  if (view) app.go({ view: /** @type {import("./router.js").ViewName} */ (view) });
  else if (key === "g") wentAt = timeStamp;
  else if (key === "?") app.openHelp();
  else if (key === "/") {
    app.go({ view: "history" });
    app.views.history.load().then(() => {
      app.updateNow();
      document.getElementById("search")?.focus();
    });
  } else return app.view.key?.(key, timeStamp) ?? false;
  return true;
}
