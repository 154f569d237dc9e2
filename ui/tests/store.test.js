// Tests of the store of questions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LINGER_MS, QuestionStore, isBatchable } from "../store.js";

let seq = 0;
const row = (question, more = {}) => ({
  question,
  seq: ++seq,
  agent: "claude",
  project: "/p",
  session: "s",
  tool: "Bash",
  summary: question,
  asked_ms: 0,
  until_ms: 1_000,
  ruling: "ask",
  because: null,
  needs: "press",
  mode: null,
  risks: [],
  alike: null,
  ...more,
});
const entry = (kind, question, body = {}) => ({ seq: ++seq, at_ms: 0, kind, question, hash: "", body });
const loaded = (...rows) => {
  const store = new QuestionStore();
  store.inboxLoaded({ head: seq, open: rows.length, rows }, 0);
  return store;
};

test("what the desk says about an answer that waits for its machine is shown", () => {
  const store = loaded(row("q"));
  store.press("q", "allow");
  store.entryArrived(entry("decided", "q", { decision: "allow", by: "Ada" }), 1);
  store.told("q", { done: true, text: "Allowed by Ada. box cannot be reached, and gets it when it is back." });
  const { answer, notice } = store.questions.get("q");
  assert.equal(answer, "recorded");
  assert.match(notice, /gets it when it is back/);
});

test("an answer is pressed, then recorded, then read", () => {
  const store = loaded(row("q"));
  const answer = () => store.questions.get("q").answer;
  assert.equal(store.press("q", "allow"), true);
  assert.equal(answer(), "pressed");
  store.entryArrived(entry("decided", "q", { decision: "allow", by: "Ada" }), 1);
  assert.equal(answer(), "recorded");
  store.entryArrived(entry("delivered", "q"), 2);
  assert.equal(answer(), "read");
  store.entryArrived(entry("closed", "q", { how: "answered", text: "Allowed by Ada" }), 3);
  store.told("q", { done: true, text: "Allowed by Ada" });
  assert.equal(answer(), "read");
  assert.equal(store.questions.get("q").overAt, 3);
});

test("a second press is refused while the first is on its way", () => {
  const store = loaded(row("q"));
  assert.equal(store.press("q", "allow"), true);
  assert.equal(store.press("q", "allow"), false);
  assert.equal(store.press("q", "deny"), false);
});

test("a lost race is lost and says who won", () => {
  const store = loaded(row("q"));
  store.press("q", "allow");
  store.entryArrived(
    entry("pressed", "q", { by: "Bo", channel: "telegram", action: "deny", outcome: "decided" }),
    1,
  );
  store.entryArrived(entry("decided", "q", { decision: "deny", by: "Bo" }), 1);
  store.told("q", { done: false, text: "Already decided by Bo." });
  const { answer, outcome, notice } = store.questions.get("q");
  assert.equal(answer, "lost");
  assert.deepEqual([outcome.decision, outcome.by, outcome.channel], ["deny", "Bo", "telegram"]);
  assert.equal(notice, "Already decided by Bo.");
});

test("a press that has to be repeated leaves the question open", () => {
  const store = loaded(row("q"));
  store.press("q", "always");
  store.told("q", { done: false, text: "Press again." });
  const question = store.questions.get("q");
  assert.deepEqual([question.answer, question.notice], ["none", "Press again."]);
  assert.equal(store.press("q", "always"), true);
});

test("an answer that does not reach the agent is lost", () => {
  const store = loaded(row("q"));
  store.press("q", "allow");
  store.entryArrived(entry("decided", "q", { decision: "allow", by: "Ada" }), 1);
  store.entryArrived(entry("closed", "q", { how: "gone", text: "The agent is gone" }), 1);
  assert.equal(store.questions.get("q").answer, "lost");
});

test("an answer for an agent that is away is recorded, and read when it is back", () => {
  const store = loaded(row("q"));
  store.press("q", "allow");
  store.told("q", { done: true, text: "Allowed by Ada. The agent gets it when it is back." });
  const question = store.questions.get("q");
  assert.deepEqual([question.answer, question.overAt], ["recorded", null]);
  assert.equal(store.waiting(), 0);
  store.entryArrived(entry("decided", "q", { decision: "allow", by: "Ada" }), 1);
  assert.equal(question.answer, "recorded");
  store.entryArrived(entry("delivered", "q"), 2);
  assert.equal(question.answer, "read");
});

test("a failed request gives the question back", () => {
  const store = loaded(row("q"));
  store.press("q", "allow");
  store.pressFailed("q", "no connection");
  assert.equal(store.press("q", "allow"), true);
});

test("a new question is sketched from its entry and completed by its card", () => {
  const store = loaded();
  const asked = entry("asked", "n", {
    tool: "Bash",
    summary: "make",
    cwd: "/p",
    session: "s",
    agent: "claude",
    until_ms: 9,
    ruling: "ask",
  });
  assert.equal(store.entryArrived(asked, 0), "n");
  assert.equal(store.entryArrived(asked, 0), null);
  assert.equal(isBatchable(store.questions.get("n")), false);
  store.cardLoaded({ ...row("n"), risks: [{ kind: "network", text: "x" }] });
  assert.equal(store.questions.get("n").isSketch, false);
  assert.equal(store.questions.get("n").row.risks.length, 1);
});

test("words that come after the question are on its card, whichever comes first", () => {
  const store = loaded(row("q"), row("p"));
  const said = (id) => store.entryArrived(entry("said", id, { last_words: "I build." }), 0);
  const words = (id) => store.questions.get(id).card.last_words;
  store.cardLoaded({ ...row("q"), last_words: null });
  said("q");
  said("p");
  store.cardLoaded({ ...row("p"), last_words: null });
  assert.deepEqual([words("q"), words("p")], ["I build.", "I build."]);
});

test("what runs out first is on top, grouped by session", () => {
  const store = loaded(
    row("late", { until_ms: 900, session: "a" }),
    row("soon", { until_ms: 100, session: "b" }),
    row("mid", { until_ms: 500, session: "a" }),
  );
  assert.deepEqual(
    store.inOrder().map((q) => q.row.question),
    ["soon", "mid", "late"],
  );
  assert.deepEqual(
    store.groups().map((g) => g.session),
    ["b", "a"],
  );
});

test("questions that ended while the page was away are over, newer ones stay", () => {
  const store = loaded(row("old"));
  const head = seq;
  store.entryArrived(entry("asked", "new", { until_ms: 5 }), 0);
  store.inboxLoaded({ head, open: 0, rows: [] }, 7);
  assert.equal(store.questions.get("old").overAt, 7);
  assert.equal(store.questions.get("new").overAt, null);
  assert.equal(store.waiting(), 1);
});

test("questions that the desk does not list any more because there are too many stay", () => {
  const store = loaded(
    row("soon", { until_ms: 100 }),
    row("late", { until_ms: 900 }),
    row("gone", { until_ms: 50 }),
  );
  const rows = [row("soon", { until_ms: 100 })];
  store.inboxLoaded({ head: seq, open: 3, rows }, 7);
  const over = (id) => store.questions.get(id).overAt;
  assert.deepEqual([over("soon"), over("late"), over("gone")], [null, null, 7]);
  assert.equal(store.waiting(), 3);
});

test("a question that is over stays for a moment, longer if it is shown", () => {
  const store = loaded(row("q"));
  store.entryArrived(entry("closed", "q", { how: "answered", text: "x" }), 0);
  store.sweep(LINGER_MS - 1, null);
  assert.equal(store.questions.size, 1);
  store.sweep(LINGER_MS, "q");
  assert.equal(store.questions.size, 1);
  store.sweep(LINGER_MS, null);
  assert.equal(store.questions.size, 0);
});

test("confirm and guarded questions are never answered together with others", () => {
  const store = loaded(
    row("a", { alike: "x" }),
    row("b", { alike: "x" }),
    row("c", { alike: "x", needs: "confirm" }),
    row("d", { alike: "x", ruling: "guard" }),
    row("e", { alike: "y" }),
  );
  const alike = (id) => store.alike(store.questions.get(id)).map((q) => q.row.question);
  assert.deepEqual(alike("a"), ["a", "b"]);
  assert.deepEqual(alike("c"), []);
  assert.deepEqual(alike("d"), []);
});

test("what needs a look of its own is not answered together with others", () => {
  const store = loaded(row("a", { alike: "x" }), row("long"));
  const isOne = (id) => isBatchable(store.questions.get(id));
  assert.deepEqual([isOne("a"), isOne("long")], [true, false]);
});

test("picks follow the entries: one of a kind, or many that toggle", () => {
  const store = loaded(row("q"));
  const choices = (at) => [0, 1].map((n) => ({ label: "", description: null, action: `pick${at}.${n}` }));
  store.cardLoaded({
    ...row("q"),
    pickers: [
      { question: "", many: false, choices: choices(0) },
      { question: "", many: true, choices: choices(1) },
    ],
  });
  const pick = (action) =>
    store.entryArrived(entry("pressed", "q", { by: "Ada", channel: "viewer", action, outcome: "picked" }), 0);
  for (const action of ["pick0.0", "pick0.1", "pick1.0", "pick1.1", "pick1.0"]) pick(action);
  assert.deepEqual([...store.questions.get("q").picks].sort(), ["pick0.1", "pick1.1"]);
});

test("the first of two allows is shown, also if it comes while the question is loaded", () => {
  const store = loaded(row("q", { demands: ["two_people"] }));
  store.entryArrived(entry("pressed", "q", { by: "ada", outcome: "one of two" }), 1);
  store.cardLoaded({ ...row("q", { demands: ["two_people"] }), allowed_by: null });
  const { row: shown, card } = store.questions.get("q");
  assert.deepEqual([shown.allowed_by, card.allowed_by], ["ada", "ada"]);
});
