// Questions of the runtime: what the chat keeps of them, and the cards that are made of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatStore } from "../chat_store.js";
import { cardOf } from "../permission_card.js";

const DATA = {
  question: "q",
  toolId: "t",
  toolName: "run_shell_command",
  title: "make test",
  input: { command: "make", args: ["test", "a b"] },
};
const asked = (data) => ({ data: { ...DATA, ...data }, request: "1", conversation: "c", at: 5 });
const card = (data) => cardOf(asked(data), "/w");

/** A store with a turn that asks. */
function asking() {
  const store = new ChatStore();
  store.entered({ session: "s", folder: "/w" });
  store.requested({ id: "1", kind: "user_message", message: "Go", metadata: { conversationId: "c" } }, 1);
  store.replied({ type: "permission_request", id: "1", data: DATA, timestamp: 5 }, 2);
  return store;
}

test("a question is open until it is resolved, or until its turn ends", () => {
  const store = asking();
  assert.deepEqual([...store.questions.values()], [asked({})]);
  store.replied({ type: "permission_resolved", id: "1", data: { question: "q", decision: "deny", text: "" } }, 3);
  assert.equal(store.questions.size, 0);
  store.replied({ type: "permission_request", id: "1", data: DATA, timestamp: 6 }, 4);
  store.failed({ id: "1", error: "the runtime has ended" }, 5);
  assert.equal(store.questions.size, 0);
});

test("the status tells which questions were missed, and which are over", () => {
  const store = asking();
  const other = { type: "permission_request", id: "9", data: { ...DATA, question: "other" }, timestamp: 7 };
  store.statusLoaded({ questions: [other], requests: [{ id: "9", conversationId: "d" }] });
  assert.deepEqual([...store.questions.keys()], ["other"]);
  assert.equal(store.questions.get("other")?.conversation, "d");
  store.statusLoaded({});
  assert.equal(store.questions.size, 1, "a bare runtime says nothing about questions");
});

test("a runtime that sends nothing for a minute does not answer, unless it waits for a person", () => {
  const store = asking();
  const late = Date.now() + 61_000;
  assert.equal(store.silence("c", late), 0);
  store.questions.clear();
  assert.equal(store.silence("c", Date.now() + 30_000), 0);
  assert.ok(store.silence("c", late) >= 60_000);
  store.replied({ type: "done", id: "1", data: {} }, 3);
  assert.equal(store.silence("c", late), 0);
});

test("why the runtime died is known until it is ready again", () => {
  const store = new ChatStore();
  store.stateChanged({ state: "died", text: "it has ended", lastWords: "no key" });
  store.stateChanged({ state: "restarting" });
  assert.deepEqual([store.state, store.stateText], ["restarting", "it has ended: no key"]);
  store.stateChanged({ state: "given_up" });
  assert.equal(store.stateText, "it has ended: no key");
  store.stateChanged({ state: "ready", capabilities: [] });
  assert.equal(store.stateText, "");
});

test("a conversation that was cleared is empty on every page", () => {
  const store = asking();
  store.replied({ type: "token", id: "1", token: "Yes." }, 3);
  store.replied({ type: "done", id: "1", data: {} }, 4);
  assert.equal(store.turns("c").length, 1);
  store.requested({ id: "2", kind: "clear_history", metadata: { conversationId: "c" } }, 5);
  store.replied({ type: "done", id: "2" }, 6);
  assert.deepEqual(store.turns("c"), []);
});

test("the card of the runtime is the card, with the times of the question", () => {
  const sent = { body: { type: "patch", files: [] }, deed: "Change files", until_ms: 0 };
  assert.deepEqual(card({ card: sent, deadline: 9 }), { ...sent, asked_ms: 5, until_ms: 9 });
});

test("without a card, the input is shown as it is, and cannot be edited", () => {
  const { body, deed, can_edit, is_cut } = card({});
  assert.deepEqual(body, { type: "other", input: JSON.stringify(DATA.input) });
  assert.deepEqual([deed, can_edit, is_cut], ["Use run_shell_command", false, false]);
  assert.equal(card({ diff: "+x\n" }).body.input, "+x\n");
});

test("a diff that was cut is not all that is shown", () => {
  const { body } = card({ diff: `${"+é\n".repeat(20_000)}[the diff was cut]\n` });
  assert.equal(body.input, JSON.stringify(DATA.input));
});

test("what cannot be shown whole cannot be allowed", () => {
  assert.ok(card({ input: "The input is too long to be shown." }).is_cut);
  assert.ok(card({ input: { error: "the input of 9 bytes is not shown here" } }).is_cut);
});

test("always is offered where the runtime offers it, and no deadline is no time left", () => {
  assert.deepEqual(card({ canAllowAlways: true }).offers.map(({ action }) => action), ["always"]);
  assert.equal(card({}).until_ms, Infinity);
  assert.equal(card({ deadline: 9 }).until_ms, 9);
});
