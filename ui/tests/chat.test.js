// What the chat makes of the events of a session.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatStore } from "../chat_store.js";
import { conversationMarkdown } from "../conversation_file.js";
import { failure, headline, resultText } from "../tool_result.js";

const CHAT = { conversationId: "c" };

/** A store in which something was said and answered, and the number of its next event. */
function answered() {
  const store = new ChatStore();
  store.entered({ session: "s", folder: "/w" });
  store.requested({ id: "1", kind: "user_message", message: "Hello", metadata: CHAT }, 1);
  store.replied({ type: "token", id: "1", token: "Good " }, 2);
  store.replied({ type: "token", id: "1", token: "morning" }, 3);
  const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0 };
  store.replied({ type: "done", id: "1", data: { stopReason: "end_turn", usage, cost: 0.5 } }, 4);
  return store;
}

const texts = (/** @type {ChatStore} */ store) =>
  store.turns("c").map((turn) => [turn.text, turn.parts.map((part) => part.text ?? part.name).join("|")]);

test("pieces of an answer are one text, and cost is added up", () => {
  const store = answered();
  assert.deepEqual(texts(store), [["Hello", "Good morning"]]);
  assert.deepEqual(store.meter("c"), { input: 6, output: 2, cost: 0.5, context: 0, window: null });
  assert.equal(store.working("c"), null);
  assert.equal(store.takeEnd("1").data.cost, 0.5);
  assert.equal(store.takeEnd("1"), undefined);
});

test("what a turn takes is counted while it goes on, and once", () => {
  const store = answered();
  const usage = { inputTokens: 10, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 };
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  const more = { cost: 0.25, contextTokens: 14, contextWindow: 100 };
  store.replied({ type: "usage", id: "2", data: { ...usage, ...more } }, 6);
  const expected = { input: 16, output: 6, cost: 0.75, context: 14, window: 100 };
  assert.deepEqual(store.meter("c"), expected);
  store.replied({ type: "done", id: "2", data: { stopReason: "end_turn", usage, cost: 0.25 } }, 7);
  assert.deepEqual(store.meter("c"), expected);
});

test("a tool is one card from its first piece to its result", () => {
  const store = answered();
  const data = { toolId: "t", toolName: "run" };
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  store.replied({ type: "tool_input", id: "2", data: { ...data, text: '{"a"' } }, 6);
  store.replied({ type: "tool_use", id: "2", data: { ...data, input: { a: 1 } } }, 7);
  store.replied({ type: "tool_progress", id: "2", data: { ...data, stream: "stdout", text: "one" } }, 8);
  store.replied({ type: "tool_result", id: "2", data: { ...data, result: "all", isError: true } }, 9);
  const [part, ...more] = store.turns("c")[1].parts;
  assert.equal(more.length, 0);
  // A runtime that sends no card has one of its own.
  assert.deepEqual(part.card, { deed: "Use run", did: "Used run", subject: "", body: { type: "other", input: '{\n  "a": 1\n}' } });
  assert.deepEqual([part.output, part.result, part.isError, part.isOver], ["one", "all", true, true]);
  assert.equal(store.working("c")?.id, "2");
});

/** Begins a turn in which a tool was called without a result, and another one is being written. */
function withOpenCalls() {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  const card = { deed: "Run a command", did: "Ran a command", subject: "make", body: { type: "command", segments: [] } };
  store.replied({ type: "tool_use", id: "2", data: { toolId: "t", toolName: "run", input: {}, card } }, 6);
  store.replied({ type: "tool_input", id: "2", data: { toolId: "u", toolName: "write", text: '{"a"' } }, 7);
  return store;
}

/** What is said of the calls of the last turn. */
const calls = (/** @type {ChatStore} */ store) =>
  store.turns("c").at(-1).parts.filter(({ type }) => type === "tool").map((part) => [headline(part), failure(part)]);

test("a call without a result has not succeeded once its turn is over", () => {
  const open = [["Run a command", ""], ["write", ""]];
  const lost = [["Run a command", "no result"], ["write", "not finished"]];
  const stopped = withOpenCalls();
  assert.deepEqual(calls(stopped), open);
  stopped.replied({ type: "done", id: "2", data: { stopReason: "cancelled" } }, 8);
  assert.deepEqual(calls(stopped), lost);
  const died = withOpenCalls();
  died.failed({ id: "2", error: "the runtime has died" }, 8);
  assert.deepEqual(calls(died), lost);
  const loaded = answered();
  loaded.requested({ id: "3", kind: "load_conversation", conversationId: "c" }, 5);
  loaded.replied({ type: "user_message", id: "3", data: { message: "Run" } }, 6);
  loaded.replied({ type: "tool_use", id: "3", data: { toolId: "t", toolName: "run", input: {} } }, 7);
  loaded.replied({ type: "done", id: "3", data: { isUnfinished: true } }, 8);
  loaded.takeLoaded("3");
  assert.deepEqual(calls(loaded), [["Use run", "no result"]]);
});

test("an answer that is tried again writes its calls again", () => {
  const store = withOpenCalls();
  store.replied({ type: "notice", id: "2", data: { kind: "retry", text: "again in 1 s" } }, 8);
  assert.deepEqual(calls(store), [["Run a command", ""]]);
});

test("a result that was loaded apart from its call belongs to it", () => {
  const store = new ChatStore();
  store.entered({ session: "s", folder: "/w" });
  const load = (/** @type {string} */ id, /** @type {any[]} */ replies, /** @type {number} */ first) => {
    store.requested({ id, kind: "load_conversation", conversationId: "c" }, 1);
    for (const reply of replies) store.replied({ id, ...reply }, 2);
    store.replied({ id, type: "done", data: { first } }, 3);
  };
  const data = { toolId: "t", toolName: "run" };
  load("1", [{ type: "tool_result", data: { ...data, result: "all" } }, { type: "token", token: "Done" }], 2);
  store.takeLoaded("1");
  load("2", [{ type: "user_message", data: { message: "Run" } }, { type: "tool_use", data: { ...data, input: {} } }], 0);
  store.takeEarlier("2");
  assert.deepEqual(calls(store), [["Used run", ""]]);
  assert.equal(store.turns("c")[0].parts.length, 2);
});

test("a file of a conversation says what was done, in order, and what was not", () => {
  const store = withOpenCalls();
  store.replied({ type: "tool_result", id: "2", data: { toolId: "t", result: { error: "no", denied: true }, isError: true } }, 8);
  store.replied({ type: "user_message", id: "2", data: { message: "Slowly\nplease" } }, 9);
  store.replied({ type: "token", id: "2", token: "- one\n\n- two" }, 10);
  const running = "- Run a command `make` (denied)\n- write (running)\n\n> Slowly\n> please\n\n- one\n\n- two\n";
  const begin = "# The title\n\n> Hello\n\nGood morning\n\n---\n\n> Run\n\n";
  assert.equal(conversationMarkdown("The title", store.turns("c")), begin + running);
  store.turns("c")[1].files = [{ mime: "image/png" }, { name: "plan.txt", mime: "text/plain" }];
  store.failed({ id: "2", error: "the runtime has died" }, 11);
  const text = conversationMarkdown("The title", store.turns("c"));
  assert.ok(text.includes("> Run\n> Attached: image/png\n> Attached: plan.txt\n\n- Run"), text);
  assert.ok(text.endsWith("- write (not finished)\n\n> Slowly\n> please\n\n- one\n\n- two\n\n*Error: the runtime has died*\n"), text);
});

test("a result is text for people", () => {
  const texts = [
    ["as it is", "as it is"],
    [{ content: "" }, ""],
    [{ id: "c1", running: true, output: "listening\n" }, "listening\n"],
    [{ answers: { "Which colour?": "red", Port: "5432" } }, "Which colour? red\nPort: 5432"],
    [{ os: "Linux", memory: { free: 7 }, roots: ["/a", "/b"], zone: null }, "os: Linux\nmemory.free: 7\nroots: /a, /b"],
    [{ image: { type: "base64", media_type: "image/png", data: "AA==" } }, ""],
    [{ matches: [{ path: "a", line: 1, text: "x" }] }, "a: 1: x"],
    [{ exitCode: 0, stdout: "", stderr: "" }, ""],
    [{ list: [{ a: 1 }] }, '{\n  "list": [\n    {\n      "a": 1\n    }\n  ]\n}'],
  ];
  for (const [result, text] of texts) assert.equal(resultText(result), text);
});

test("what the runtime says again takes the place of what it said", () => {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  const notice = (kind, text) => store.replied({ type: "notice", id: "2", data: { kind, text } }, 6);
  notice("working", "1 tool at work");
  notice("working", "2 tools at work");
  const turn = store.turns("c")[1];
  assert.deepEqual([turn.working, turn.parts.length], ["2 tools at work", 0]);
  notice("retry", "again in 1 s");
  notice("other", "a note");
  notice("retry", "again in 2 s");
  assert.deepEqual(turn.parts.map((part) => part.text), ["a note", "again in 2 s"]);
  assert.equal(turn.working, "", "nothing is at work any more");
});

test("that a message waits for its turn is said until its turn has come", () => {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  store.replied({ type: "notice", id: "2", data: { kind: "queued", text: "waits" } }, 6);
  const turn = store.turns("c")[1];
  assert.deepEqual([turn.working, turn.parts.length], ["waits", 0]);
  store.replied({ type: "token", id: "2", token: "I run" }, 7);
  assert.deepEqual([turn.working, turn.parts.map((part) => part.text)], ["", ["I run"]]);
});

test("what another window changes is known once it is done, and not if it fails", () => {
  const store = answered();
  store.requested({ id: "2", kind: "rename_conversation", conversationId: "c", title: "t" }, 5);
  store.requested({ id: "3", kind: "set_mode", conversationId: "c", mode: "plan" }, 6);
  store.requested({ id: "4", kind: "set_engine", conversationId: "c", engine: "steam" }, 7);
  assert.deepEqual(store.changed, []);
  store.replied({ type: "done", id: "3" }, 8);
  store.replied({ type: "error", id: "4", error: "there is no such engine" }, 9);
  store.replied({ type: "done", id: "2" }, 10);
  assert.deepEqual(store.changed.map(({ kind }) => kind), ["set_mode", "rename_conversation"]);
});

test("a message that steers is shown once, in the turn that it steers", () => {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  store.replied({ type: "token", id: "2", token: "I run" }, 6);
  store.requested({ id: "3", kind: "user_message", message: "Slowly", steer: true, metadata: CHAT }, 7);
  assert.equal(store.turns("c").length, 3, "it waits");
  store.replied({ type: "user_message", id: "2", data: { message: "Slowly" } }, 8);
  store.replied({ type: "done", id: "3", data: { stopReason: "steered" } }, 9);
  store.replied({ type: "token", id: "2", token: "Yes" }, 10);
  assert.deepEqual(texts(store).at(-1), ["Run", "I run|Slowly|Yes"]);
  assert.equal(store.turns("c").length, 2);
});

test("what was loaded and what goes on are shown once", () => {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Go on", metadata: CHAT }, 5);
  store.replied({ type: "token", id: "2", token: "Yes" }, 6);
  store.requested({ id: "3", kind: "load_conversation", conversationId: "c" }, 7);
  store.replied({ type: "user_message", id: "3", data: { message: "Hello" } }, 8);
  store.replied({ type: "token", id: "3", token: "Good morning" }, 9);
  store.replied({ type: "user_message", id: "3", data: { message: "Go on" } }, 10);
  store.replied({ type: "done", id: "3", data: {} }, 11);
  store.takeLoaded("3");
  assert.deepEqual(texts(store), [
    ["Hello", "Good morning"],
    ["Go on", "Yes"],
  ]);
});

/** Loads messages, each with its answer. */
function load(store, id, seq, said, fields = {}, request = {}) {
  store.requested({ id, kind: "load_conversation", conversationId: "c", ...request }, seq);
  for (const [message, token] of said) {
    if (message !== null) store.replied({ type: "user_message", id, data: { message } }, seq);
    store.replied({ type: "token", id, token }, seq);
  }
  store.replied({ type: "done", id, data: fields }, seq);
}

test("the same words said once more hide nothing that was said before", () => {
  const store = answered();
  load(store, "2", 5, [["Hello", "Good morning"], ["Go on", "The first"]]);
  store.takeLoaded("2");
  store.requested({ id: "3", kind: "user_message", message: "Go on", metadata: CHAT }, 6);
  store.replied({ type: "token", id: "3", token: "The second" }, 7);
  const expected = [["Hello", "Good morning"], ["Go on", "The first"], ["Go on", "The second"]];
  assert.deepEqual(texts(store), expected);
  store.replied({ type: "done", id: "3", data: { stopReason: "end_turn" } }, 8);
  assert.deepEqual(texts(store), expected);
});

test("what was undone is known also of a turn that was loaded meanwhile", () => {
  const store = answered();
  store.replied({ type: "turn_changes", id: "1", data: { turn: 7, files: 3 } }, 5);
  const [shown] = store.turns("c")[0].changes;
  store.requested({ id: "2", kind: "load_conversation", conversationId: "c" }, 6);
  store.replied({ type: "user_message", id: "2", data: { message: "Hello" } }, 7);
  store.replied({ type: "turn_changes", id: "2", data: { turn: 7, files: 3 } }, 8);
  store.replied({ type: "done", id: "2", data: {} }, 9);
  store.takeLoaded("2");
  store.undone("c", shown.turn);
  assert.equal(store.turns("c")[0].changes[0].undone, true);
});

test("what another window loads changes nothing here", () => {
  const store = answered();
  load(store, "2", 5, [["Hello", "Good morning"]]);
  store.takeLoaded("2");
  load(store, "3", 6, [["Other", "words"]], {}, { conversationId: "d" });
  load(store, "4", 7, [["Hello", "Good morning"]], { first: 1 });
  assert.deepEqual([store.loaded.conversation, store.loaded.first], ["c", 0]);
});

test("earlier messages are put before the others, also within a turn", () => {
  const store = answered();
  load(store, "2", 5, [[null, "its end"], ["Go on", "Yes"]], { first: 3 });
  store.takeLoaded("2");
  assert.deepEqual([texts(store), store.loaded.first], [[[null, "its end"], ["Go on", "Yes"]], 3]);
  load(store, "3", 6, [["Hello", "Good morning"], ["Count", "its beginning"]], { first: 0 }, { before: 3 });
  store.takeEarlier("3");
  const expected = [["Hello", "Good morning"], ["Count", "its beginning|its end"], ["Go on", "Yes"]];
  assert.deepEqual([texts(store), store.loaded.first], [expected, 0]);
});

test("an answer that is made again takes the place of the last", () => {
  const store = answered();
  store.requested({ id: "2", kind: "regenerate", metadata: CHAT }, 5);
  store.replied({ type: "token", id: "2", token: "Hi" }, 6);
  assert.deepEqual(texts(store), [["Hello", "Hi"]]);
  store.requested({ id: "3", kind: "edit_last", message: "Hey", metadata: CHAT }, 7);
  store.failed({ id: "3", error: "the runtime has died" }, 8);
  assert.deepEqual(texts(store), [["Hey", ""]]);
  assert.equal(store.turns("c")[0].error, "the runtime has died");
});

test("what a killed runtime had shown stays, with the reason and an offer to try again", () => {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Go on", metadata: CHAT }, 5);
  store.replied({ type: "token", id: "2", token: "Half an" }, 6);
  store.failed({ id: "2", error: "the runtime has died" }, 7);
  store.requested({ id: "3", kind: "load_conversation", conversationId: "c" }, 8);
  store.replied({ type: "user_message", id: "3", data: { message: "Go on" } }, 9);
  store.replied({ type: "token", id: "3", token: "Half an" }, 10);
  store.replied({ type: "done", id: "3", data: { isUnfinished: true } }, 11);
  store.takeLoaded("3");
  const [turn, ...more] = store.turns("c");
  assert.deepEqual([more.length, turn.parts.map((part) => part.text)], [0, ["Half an"]]);
  assert.deepEqual([turn.isUnfinished, turn.error], [true, "the runtime has died"]);
  store.requested({ id: "4", kind: "regenerate", metadata: CHAT }, 12);
  assert.deepEqual(texts(store), [["Go on", ""]]);
});

test("an answer with a gap is known when it ends", () => {
  const store = answered();
  store.ended.length = 0;
  store.requested({ id: "2", kind: "user_message", message: "Go on", metadata: CHAT }, 5);
  store.missed();
  store.replied({ type: "done", id: "2", data: {} }, 90);
  assert.deepEqual(
    store.ended.map((turn) => turn.hasGap),
    [true],
  );
});

test("another session, and a gap, forget what was seen", () => {
  const store = answered();
  store.missed();
  assert.deepEqual(store.turns("c"), []);
  store.entered({ session: "t", folder: "/x" });
  assert.deepEqual([store.live.length, store.folder], [0, "/x"]);
});

test("what a turn changed belongs to it, and an undo is asked in its conversation", () => {
  const store = answered();
  store.requested({ id: "2", kind: "user_message", message: "Run", metadata: CHAT }, 5);
  store.replied({ type: "turn_changes", id: "2", data: { turn: 7, files: 3 } }, 6);
  store.replied({ type: "done", id: "2", data: { stopReason: "end_turn" } }, 7);
  assert.deepEqual(store.turns("c").map(({ changes }) => changes), [[], [{ turn: 7, files: 3 }]]);
  store.requested({ id: "3", kind: "undo_turn", conversationId: "c", turn: 7 }, 8);
  store.replied({ type: "permission_request", id: "3", data: { question: "q", input: {} }, timestamp: 1 }, 9);
  assert.equal(store.questions.get("q")?.conversation, "c");
  store.replied({ type: "error", id: "3", error: "no", data: { kind: "denied" } }, 10);
  assert.equal(store.questions.size, 0);
});
