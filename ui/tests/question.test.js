// The form of a question, and what the chat knows of open questions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatStore } from "../chat_store.js";
import { formValues } from "../form_values.js";

const options = [
  { value: "r", title: "Red" },
  { value: "b", title: "Blue" },
];

/** @param {[string, string][]} entries */
function form(entries) {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
}

test("values have the types of their fields, and what is empty is left out", () => {
  /** @type {import("../../docs/protocol/session.js").QuestionField[]} */
  const fields = [
    { name: "mail", title: "Mail", required: true, type: "text" },
    { name: "count", title: "Count", required: false, type: "integer" },
    { name: "gift", title: "Gift", required: false, type: "boolean" },
    { name: "one", title: "One", required: false, type: "one_of", options, freeText: true },
    { name: "all", title: "All", required: false, type: "several_of", options, freeText: true },
  ];
  const given = form([
    ["mail", "a@b"],
    ["count", "2"],
    ["gift", "on"],
    ["one", "callgate:other"],
    ["onecallgate:other", " green "],
    ["all", "r"],
    ["all", "b"],
    ["allcallgate:other", "not chosen"],
  ]);
  assert.deepEqual(formValues(fields, given), { mail: "a@b", count: 2, gift: true, one: "green", all: ["r", "b"] });
  assert.deepEqual(formValues(fields, form([["mail", ""]])), { gift: false });
});

test("a question is open until it is resolved or its turn is over", () => {
  const store = new ChatStore();
  store.entered({ session: "s", folder: "/w" });
  store.requested({ id: "1", kind: "user_message", message: "Go", metadata: { conversationId: "c" } }, 1);
  const data = { question: "q", toolId: "t", text: "Which?", fields: [] };
  store.replied({ type: "question", id: "1", data, timestamp: 2 }, 2);
  assert.deepEqual([...store.asked.values()], [{ data, request: "1", conversation: "c", at: 2 }]);
  assert.equal(store.isAsking(store.turns("c")[0]), true);
  store.replied({ type: "question_resolved", id: "1", data: { question: "q" } }, 3);
  assert.equal(store.asked.size, 0);
  const requests = [{ id: "1", conversationId: "c" }];
  store.statusLoaded({ questions: [], agentQuestions: [{ id: "1", data }], requests });
  assert.equal(store.asked.get("q")?.conversation, "c");
  store.replied({ type: "done", id: "1", data: {} }, 4);
  assert.equal(store.asked.size, 0);
});
