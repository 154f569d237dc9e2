// Tests of the readers of streams, and of how requests are encoded.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader, LineReader } from "../streams.js";
import { backOff, encode } from "../transport.js";

const STREAM =
  ': hello\n\nevent: watching\ndata: {"head":7}\n\nevent: entry\r\nid: 8\r\ndata: {"a":\r\ndata: "ü: x"}\r\n\r\n\n: ping\n\ndata: plain\n\n';
const EXPECTED = [
  { event: "watching", id: null, data: '{"head":7}' },
  { event: "entry", id: "8", data: '{"a":\n"ü: x"}' },
  { event: "message", id: null, data: "plain" },
];

test("every way to cut a stream gives the same events", () => {
  for (let first = 0; first <= STREAM.length; first += 1) {
    for (let second = first; second <= STREAM.length; second += 1) {
      const reader = new EventReader();
      const parts = [STREAM.slice(0, first), STREAM.slice(first, second), STREAM.slice(second)];
      assert.deepEqual(
        parts.flatMap((part) => reader.push(part)),
        EXPECTED,
      );
    }
  }
});

test("an event that is not complete is not delivered", () => {
  assert.deepEqual(new EventReader().push("event: entry\ndata: {}\n"), []);
});

test("lines are complete, and the last one may lack its end", () => {
  const reader = new LineReader();
  assert.deepEqual(reader.push('{"a":1}\r\n{"b"'), ['{"a":1}']);
  assert.deepEqual(reader.push(":2}"), []);
  assert.equal(reader.finish(), '{"b":2}');
});

test("raw fields are sent as they are", () => {
  const body = encode("1", "press", { request_id: "q" }, { input: '{"n":12345678901234567890}' });
  assert.equal(body, '{"id":"1","kind":"press","request_id":"q","input":{"n":12345678901234567890}}');
});

test("the waits between attempts grow and end", () => {
  assert.deepEqual([0, 1, 2, 100].map(backOff), [250, 500, 1000, 15000]);
});
