// Markdown without its parser, which a browser could not load.

import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

// The first attempt to load the parser fails.
const hooks = `let attempts = 0;
export async function resolve(name, context, next) {
  if (name.includes("markdown-it") && attempts++ === 0) throw new Error("it could not be loaded");
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

test("a text is shown as it is written where the parser fails to load, and the next one tries again", async () => {
  const element = () => ({ classList: { add: () => {} }, textContent: "" });
  Object.assign(globalThis, { document: { createElement: element } });
  const { GrowingMarkdown, loadMarkdown } = await import("../parts/markdown.js");
  const text = new GrowingMarkdown();
  assert.equal(text.show("**words**", true).textContent, "**words**");
  assert.equal(text.isBehind, true, "it is drawn again once the parser is there");
  await loadMarkdown();
  text.show("**words**", true);
  assert.equal(text.isBehind, false, "nothing loads, so nothing is waited for");
  const next = new GrowingMarkdown();
  next.show("more", true);
  assert.equal(next.isBehind, true);
});
