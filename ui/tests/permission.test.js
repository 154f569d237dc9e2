// Questions of the runtime: what the chat keeps of them, and the cards that are made of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatStore } from "../chat_store.js";
import { cardOf, diffLines, isExact } from "../permission_card.js";

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

test("a command is shown word by word", () => {
  const { body, grants, offers, can_edit, is_cut } = card({});
  assert.equal(body.type, "command");
  assert.equal(body.segments.map(({ text }) => text).join(""), 'make test "a b"');
  assert.deepEqual([grants.allow, offers, can_edit, is_cut], ["Runs this command once.", [], true, false]);
  assert.deepEqual(card({ input: { command: "make | tee" } }).body.segments.map(({ text }) => text), ["make | tee"]);
});

test("a file is shown by its diff, or whole if the diff was cut", () => {
  const input = { path: "a.txt", content: "one\ntwo\n" };
  const diff = "--- a.txt\n+++ a.txt\n@@ -1,1 +1,2 @@\n one\n+two\n";
  const { body } = card({ toolName: "write_file", input, diff });
  assert.equal(body.type, "edit");
  assert.deepEqual(body.changes[0].lines, [
    { op: " ", old: 1, new: 1, text: "one" },
    { op: "+", old: null, new: 2, text: "two" },
  ]);
  const cut = card({ toolName: "write_file", input, diff: `${diff}[the diff was cut]\n` }).body;
  assert.deepEqual(cut, { type: "write", path: "a.txt", content: "one\ntwo\n", lines: 2 });
  assert.deepEqual(diffLines("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")?.length, 2);
  assert.equal(diffLines(""), null);
});

test("what cannot be shown whole cannot be allowed, and what may be rounded cannot be edited", () => {
  const cut = card({ input: "The input is too long to be shown." });
  assert.deepEqual([cut.is_cut, cut.can_edit], [true, false]);
  assert.equal(card({ input: { id: 2 ** 60 } }).can_edit, false);
  assert.ok(isExact({ a: [1, -2.5, "x", null, true] }));
  assert.ok(!isExact({ a: [{ b: 0.12345678901234567 }] }));
});

test("always is offered where the runtime offers it, and no deadline is no time left", () => {
  assert.deepEqual(card({ canAllowAlways: true }).offers.map(({ action }) => action), ["allow_always"]);
  assert.equal(card({}).until_ms, Infinity);
  assert.equal(card({ deadline: 9 }).until_ms, 9);
});
