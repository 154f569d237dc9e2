// The transport of the desktop shell, with a shell that is none.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatLink } from "../chat_link.js";
import { ChatStore } from "../chat_store.js";
import { TauriTransport, call } from "../tauri_transport.js";
import { RequestError, ask } from "../transport.js";
import { fakeTauri } from "./fake_tauri.js";

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A transport with a key that the desk knows, and what it reports as lost. */
function linked(tauri, key = "good") {
  const lost = [];
  return { transport: new TauriTransport(tauri, () => key, (text) => lost.push(text)), lost };
}

/** Lets the fake desk answer with these messages, the last ones after the command has ended. */
function desk(tauri, early, late = []) {
  tauri.fake.commands.desk_request = ({ messages }) => {
    for (const message of early) messages.onmessage(message);
    setTimeout(() => late.forEach((message) => messages.onmessage(message)), 5);
  };
}

test("a request of the desk is a line, and its last message may come after the command's end", async () => {
  const tauri = fakeTauri();
  const { transport } = linked(tauri);
  desk(tauri, [{ kind: "progress", done: 1, total: 2 }], [{ kind: "told", done: true, text: "Yes." }]);
  const progress = [];
  const options = { raw: { input: '{"n":12345678901234567890}' }, progress: (one) => progress.push(one.done) };
  const begun = Date.now();
  const told = await ask(transport, "press", { request_id: "q" }, options);
  assert.ok(Date.now() - begun < 1_500, "nobody waits for more than the answer");
  assert.deepEqual([told.text, progress], ["Yes.", [1]]);
  const [command, args] = tauri.fake.calls[0];
  assert.deepEqual([command, args.key], ["desk_request", "good"]);
  assert.equal(args.line, '{"id":"p1","kind":"press","request_id":"q","input":{"n":12345678901234567890}}');
});

test("what the shell refuses is an error with its status, and a key that is not known is lost", async () => {
  const none = linked(fakeTauri({ desk: "none" }));
  await assert.rejects(ask(none.transport, "status", {}), { status: 0, message: "no desk listens" });
  assert.deepEqual(none.lost, []);
  const wrong = linked(fakeTauri({ desk: "locked" }), "old");
  await assert.rejects(ask(wrong.transport, "status", {}), { status: 401 });
  assert.deepEqual(wrong.lost, ["this window is not linked"]);
  const tauri = fakeTauri();
  await assert.rejects(call(tauri, "delete_everything"), { status: 403 });
  tauri.fake.commands.shell_info = () => {
    throw "just words";
  };
  await assert.rejects(call(tauri, "shell_info"), { status: 500, message: "just words" });
  assert.equal(await linked(tauri).transport.pair("7KQM2XWA", "here"), "good");
});

test("a request that is given up ends at once", async () => {
  const tauri = fakeTauri();
  tauri.fake.commands.desk_request = () => new Promise(() => {});
  const abort = new AbortController();
  const asked = ask(linked(tauri).transport, "status", {}, { signal: abort.signal });
  abort.abort();
  await assert.rejects(asked, { name: "AbortError" });
});

test("the ledger is followed, again after its end, and without a desk nobody looks for one", async () => {
  const tauri = fakeTauri();
  const { transport } = linked(tauri);
  const asked = [];
  tauri.fake.commands.desk_watch = ({ after, events }) => {
    asked.push(after);
    if (asked.length > 2) throw { status: 0, text: "no desk listens" };
    setTimeout(() => {
      events.onmessage({ event: "watching", id: null, data: { head: 3 } });
      events.onmessage({ event: "entry", id: 3 + asked.length, data: { seq: 3 + asked.length } });
      events.onmessage({ event: "end" });
    });
    return asked.length;
  };
  const [seen, states] = [[], []];
  const watch = transport.watch({
    watching: () => {},
    entry: ({ seq }) => seen.push(seq),
    connection: (state, wait) => states.push([state, wait]),
    locked: () => {},
  });
  while (states.at(-1)?.[0] !== "offline") {
    await soon();
    watch.retry();
  }
  assert.deepEqual([asked, seen], [[null, 4, 5], [4, 5]]);
  assert.deepEqual(states.at(-1), ["offline", Infinity]);
  watch.close();
});

test("a watch that is closed is ended in the shell, too", async () => {
  const tauri = fakeTauri();
  tauri.fake.commands.desk_watch = () => 7;
  const handlers = { watching() {}, entry() {}, connection() {}, locked() {} };
  const watch = linked(tauri).transport.watch(handlers);
  await soon();
  watch.close();
  await soon();
  assert.deepEqual(tauri.fake.calls.at(-1), ["desk_unwatch", { watch: 7 }]);
});

test("a conversation is held over the shell's commands", async () => {
  const tauri = fakeTauri();
  const store = new ChatStore();
  const events = [];
  const link = new ChatLink(linked(tauri).transport, store, (event) => events.push(event));
  link.watch();
  await soon();
  assert.deepEqual(events, ["gone"], "there is no runtime yet");
  await link.start("/home/ada/engine");
  link.watch();
  const status = await link.ask("get_status");
  assert.equal(status.engine, "offline");
  await link.ask("user_message", { message: "hello", metadata: { conversationId: "c1" } });
  assert.match(store.turns("c1")[0].parts[0].text, /^Good morning/);
  await assert.rejects(link.ask("fly"), (error) => error instanceof RequestError && error.message === "unknown");
});
