// Tests of when the page is drawn, with a clock and frames of their own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameSchedule } from "../frame_schedule.js";

/** A browser whose time goes on when a test says so. */
function makeBrowser(t) {
  const browser = { now: 1_000, frames: [], timers: [] };
  t.mock.method(performance, "now", () => browser.now);
  t.mock.method(globalThis, "setTimeout", (call, wait) => browser.timers.push({ call, at: browser.now + wait }));
  globalThis.requestAnimationFrame = (call) => browser.frames.push(call);
  t.after(() => delete globalThis.requestAnimationFrame);
  return browser;
}

/** Lets so many milliseconds pass, with a frame in each 16th. */
function pass(browser, ms) {
  for (const end = browser.now + ms; browser.now < end; browser.now += 1) {
    for (const { call } of browser.timers.splice(0).filter((timer) => timer.at <= browser.now || !browser.timers.push(timer)))
      call();
    if (browser.now % 16 === 0) for (const call of browser.frames.splice(0)) call();
  }
}

test("what changes is drawn in the next frame, once", (t) => {
  const browser = makeBrowser(t);
  const drawn = [];
  const frames = new FrameSchedule(() => drawn.push(browser.now));
  for (let at = 0; at < 5; at += 1) frames.request();
  pass(browser, 100);
  assert.deepEqual(drawn, [1_008]);
});

test("what grows is drawn at once, then at most each 30 ms, and its last step is drawn", (t) => {
  const browser = makeBrowser(t);
  const drawn = [];
  const frames = new FrameSchedule(() => drawn.push(browser.now));
  for (let at = 0; at < 300; at += 1) {
    frames.requestGrown();
    pass(browser, 1);
  }
  const last = browser.now;
  assert.equal(drawn[0], 1_008);
  const pauses = drawn.slice(1).map((at, index) => at - drawn[index]);
  assert.ok(pauses.every((pause) => pause >= 30 && pause <= 48), String(pauses));
  pass(browser, 100);
  assert.ok(drawn.at(-1) >= last - 1, "the last step is drawn");
  const count = drawn.length;
  // A change that nobody can wait for does not wait.
  frames.request();
  pass(browser, 16);
  assert.equal(drawn.length, count + 1);
});
