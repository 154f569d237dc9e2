// Tests of routes, edits, the guard against early presses, and words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readUnifiedDiff } from "../unified_diff.js";
import { codePieces } from "../parts/code_colours.js";
import { editProblem, memberSpan, textOf, withText } from "../json_edit.js";
import { PressGuard, SETTLE_MS } from "../press_guard.js";
import { filterOf, formatRoute, pairingCode, parseRoute } from "../router.js";
import { agentId, agentName, duration, outcomeWords, remaining, shortSummary, splitEnd, visibleParts, whyAsked } from "../words.js";

test("why somebody is asked, and what happens without an answer, by kind of question", () => {
  const card = {
    agent: "claude-code",
    tool: "Bash",
    body: { type: "command" },
    because: null,
    blocked: null,
    no_answer_denies: false,
  };
  const told = (more) => Object.values(whyAsked({ ...card, ...more }));
  const falls = "the agent asks in its own terminal; if it has none, it is denied";
  assert.deepEqual(told({}), ["No rule covers this, so you are asked.", falls]);
  assert.deepEqual(told({ because: "rule `x`" }), ["rule `x`", falls]);
  assert.deepEqual(told({ because: "rule `x`", no_answer_denies: true }), ["rule `x`", "it is denied"]);
  const blocked = "Claude Code has blocked this call by itself, and you can let it try again.";
  assert.deepEqual(told({ blocked: "auto mode blocked it" }), [blocked, "it stays blocked"]);
  assert.deepEqual(told({ blocked: "b", because: "rule `x`" }), ["rule `x`", "it stays blocked"]);
  const ask = { body: { type: "ask" } };
  assert.deepEqual(told({ ...ask, tool: "AskUserQuestion" }), ["Claude Code asks you something.", falls]);
  assert.deepEqual(told({ ...ask, tool: "Elicitation" }), ["A tool server of Claude Code asks you something.", falls]);
  const script = ["A script on this machine asks you.", "the script is told that nobody answered"];
  assert.deepEqual(told({ ...ask, agent: "A script", tool: "Ask" }), script);
  assert.deepEqual(told({ agent: "callgate" }), ["No rule covers this, so you are asked.", "it is denied"]);
  assert.equal(told({ body: { type: "plan" } })[0], "Claude Code asks whether it may carry out this plan.");
});

test("routes survive the way into the address and back", () => {
  const route = { view: "history", item: "a/b c", params: { text: "rm -rf & co", by: "rule" } };
  assert.deepEqual(parseRoute(formatRoute(route)), route);
  assert.deepEqual(parseRoute(""), { view: "inbox", item: null, params: {} });
  assert.equal(parseRoute("#/nowhere/%zz").view, "inbox");
});

test("the code is read from the fragment only in its own form", () => {
  assert.equal(pairingCode("#code=7KQM2XWA"), "7KQM2XWA");
  assert.equal(pairingCode("#code=<script>"), null);
  assert.equal(pairingCode("#/history?text=code"), null);
});

test("a filter takes what it knows and ignores the rest", () => {
  assert.deepEqual(filterOf({ text: "make", by: "x", since: "hour", other: "1" }, 3_600_001), {
    text: "make",
    since_ms: 1,
  });
});

test("an edit of one argument leaves the others byte for byte", () => {
  const json = '{ "n": 12345678901234567890, "command":"a \\"b\\" }", "x": [1, {"command": 2}] }';
  assert.equal(
    withText(json, "command", 'c\n"'),
    '{ "n": 12345678901234567890, "command":"c\\n\\"", "x": [1, {"command": 2}] }',
  );
  assert.equal(textOf(json, "command"), 'a "b" }');
  assert.equal(memberSpan(json, "none"), null);
  assert.equal(withText('{"a":1 ,"command":"x"}', "command", "y"), '{"a":1 ,"command":"y"}');
  assert.equal(
    withText('{"a":"," , "b" : [ ] , "command" : "x" }', "command", "y"),
    '{"a":"," , "b" : [ ] , "command" : "y" }',
  );
});

test("hidden values must stay in an edit, each as often as before", () => {
  const before = '{"command":"curl -H [hidden 1: GitHub token] x"}';
  assert.equal(editProblem(before, before.replace("x", "y")), null);
  assert.match(editProblem(before, '{"command":"curl"}'), /Keep \[hidden 1/);
  assert.match(editProblem(before, before.replace(" x", " [hidden 1: GitHub token]")), /as often/);
  assert.match(editProblem(before, "{"), /not valid JSON/);
  assert.match(editProblem("{}", "[]"), /one JSON object/);
});

test("presses count only after what is shown has been still for a while", () => {
  const guard = new PressGuard();
  guard.show("a", 1000);
  assert.equal(guard.remaining("a", 1000), SETTLE_MS);
  guard.show("a", 1500);
  assert.equal(guard.remaining("a", 1000 + SETTLE_MS), 0);
  guard.show("b", 2000);
  assert.equal(guard.remaining("b", 2001), SETTLE_MS - 1);
  assert.equal(guard.remaining("a", 9000), SETTLE_MS);
});

test("times read well", () => {
  assert.deepEqual([900, 1_500, 59_000, 61_000, 3_900_000, 90_000_000].map(duration), [
    "900 ms",
    "1.5 s",
    "59 s",
    "1 min",
    "1 h 5 min",
    "1 day",
  ]);
  assert.deepEqual([-5, 1, 65_000, 7_200_000].map(remaining), ["0:00", "0:01", "1:05", "2 h"]);
  assert.deepEqual([119_999, 120_000, 59 * 60_000, 3_600_000 - 1].map(remaining), ["2:00", "2 min", "59 min", "59 min"]);
});

test("hours are joined into bars, and those without calls are empty", async () => {
  // The library that draws asks for a document as soon as it is loaded.
  Object.assign(globalThis, { document: { createTreeWalker: () => null, createComment: () => null } });
  const { barsOf } = await import("../parts/plots.js");
  const at = (/** @type {number} */ hour) => ({ at_ms: hour * 3_600_000, asked: 3, allowed: 1, denied: 1, by_rule: 2 });
  // What rules decide is not asked.
  assert.deepEqual(barsOf([]), { bars: [], span: 3_600_000 });
  const few = barsOf([at(10), at(12)]);
  const some = { allowed: 1, denied: 1, by_rule: 2, other: 1 };
  const none = { allowed: 0, denied: 0, by_rule: 0, other: 0 };
  assert.deepEqual(few.bars.map(({ at: _, ...bar }) => bar), [some, none, some]);
  assert.deepEqual(few.bars.map(({ at }) => at / 3_600_000), [10, 11, 12]);
  // Two weeks: six hours are one bar.
  const many = barsOf([at(0), at(5), at(6), at(335)]);
  assert.deepEqual([many.span / 3_600_000, many.bars.length], [6, 56]);
  assert.deepEqual([many.bars[0].allowed, many.bars[1].allowed, many.bars[55].other], [2, 1, 1]);
});

test("a line is cut before the name at its end", () => {
  assert.deepEqual(splitEnd("src/parser/lines.rs", true), ["src/parser", "/lines.rs"]);
  assert.deepEqual(splitEnd("src/parser/", true), ["src", "/parser/"]);
  assert.deepEqual(["notes.txt", "/notes.txt", "/", ""].map((path) => splitEnd(path, true)[1]), ["", "", "", ""]);
  const name = `${"a".repeat(40)}.rs`;
  assert.deepEqual(splitEnd(`src/${name}`, true), [`src/${"a".repeat(17)}`, `${"a".repeat(23)}.rs`]);
  assert.deepEqual(splitEnd("make test", false), ["make test", ""]);
  assert.deepEqual(splitEnd("cargo test --workspace -- /dev/null", false), ["cargo tes", "t --workspace -- /dev/null"]);
  assert.equal(splitEnd("🚪".repeat(27), false)[1], "🚪".repeat(26));
});

test("a summary has the path of a file beneath its project, and a command whole", () => {
  const short = (summary) => shortSummary({ summary, project: "/home/ada/engine" });
  assert.deepEqual(short("edit /home/ada/engine/src/parser.rs"), ["edit src", "/parser.rs"]);
  assert.deepEqual(short("replace cell 2 of /home/ada/engine/a.ipynb"), ["replace cell 2 of a.ipynb", ""]);
  assert.deepEqual(short("read /etc/passwd"), ["read /etc", "/passwd"]);
  assert.deepEqual(short("patch /home/ada/engine/src/a.rs, /home/ada/engine/b.rs"), ["patch src", "/a.rs, b.rs"]);
  assert.deepEqual(short("put back /home/ada/engine/a.rs, /etc/b"), ["put back a.rs, /etc", "/b"]);
  assert.deepEqual(short("find '*.rs' in /home/ada/engine"), ["find '*.rs' in .", ""]);
  assert.deepEqual(short("search for x in /home/ada/engine/src/parser"), ["search for x in src", "/parser"]);
  const words = "search for 'a in /home/ada/engine/b' in .";
  assert.equal(short(words).join(""), words);
  for (const command of ["cp /home/ada/engine/a.rs /tmp", "find /home/ada/engine -name x", "echo in /home/ada/engine/a"])
    assert.deepEqual(short(command), [command, ""]);
});

test("invisible characters are named", () => {
  assert.deepEqual(visibleParts("a\u200bb\u202e\n"), [
    { text: "a", isInvisible: false },
    { text: "U+200B", isInvisible: true },
    { text: "b", isInvisible: false },
    { text: "U+202E", isInvisible: true },
    { text: "\n", isInvisible: false },
  ]);
});

test("an outcome says who, and where", () => {
  const outcome = { decision: "allow", by: "Ada", channel: "telegram", text: null };
  assert.equal(outcomeWords(outcome), "Allowed by Ada on the phone.");
  assert.equal(outcomeWords({ ...outcome, text: "Allowed by Ada" }), "Allowed by Ada on the phone.");
  const you = { ...outcome, by: "you", text: "Allowed by you" };
  assert.equal(outcomeWords({ ...you, channel: "terminal" }), "Allowed by you in the terminal.");
  assert.equal(outcomeWords({ ...you, channel: "viewer" }), "Allowed by you.");
  const ruled = { decision: "allow", by: "rule", channel: "rule", text: "Allowed by rule `tests` (rules.toml:2): it is `make`" };
  assert.equal(outcomeWords(ruled), "Allowed by rule “tests”.");
  assert.equal(outcomeWords({ decision: "timeout", by: null, channel: null, text: null }), "No answer.");
});

test("code is coloured, and nothing of it changes", () => {
  const kinds = (info, code) => codePieces(info, code).filter(({ kind }) => kind).map(({ kind, text }) => `${kind} ${text}`);
  assert.deepEqual(kinds("rust", 'let a = "x"; // 1\n'), ["keyword let", 'text "x"', "comment // 1"]);
  assert.deepEqual(kinds("rust,ignore", "fn f<'a>() -> u8 { 7 }"), ["keyword fn", "number 7"]);
  assert.deepEqual(kinds("sh", "echo a#b # c"), ["comment # c"]);
  assert.deepEqual(kinds("diff", "@@ 1\n-a\n+b\n"), ["keyword @@ 1\n", "removed -a\n", "added +b\n"]);
  assert.deepEqual(kinds("unknown", "let a"), []);
  for (const info of ["rust", "py", "js", "sh", "toml", "json", "go", "sql", "css", "html", "diff", "", "x"]) {
    const code = 'let "a\\"b\n/* x\n\'y` # -- <!-- select 0x1F 1.5\n+z\u{1f600}\r\n"""';
    assert.equal(codePieces(info, code).map(({ text }) => text).join(""), code, info);
  }
});

test("a unified diff is read with the numbers of its lines, and other text is none", () => {
  const text = [
    "--- a/src/a.rs\t2026-01-01",
    "+++ b/src/a.rs",
    "@@ -3,3 +3,3 @@ fn main() {",
    " kept",
    "--- old",
    "+new",
    "",
    "\\ No newline at end of file",
    "@@ -9 +9 @@",
    "-x",
    "+y",
    "--- /dev/null",
    "+++ b/b.rs",
    "@@ -0,0 +1 @@",
    "+first",
  ].join("\n");
  const files = readUnifiedDiff(text);
  assert.deepEqual(
    files.map(({ path, changes }) => [path, changes.map(({ lines }) => lines.map((one) => [one.op, one.old, one.new, one.text]))]),
    [
      [
        "src/a.rs",
        [
          [[" ", 3, 3, "kept"], ["-", 4, null, "-- old"], ["+", null, 4, "new"], [" ", 5, 5, ""]],
          [["-", 9, null, "x"], ["+", null, 9, "y"]],
        ],
      ],
      ["b.rs", [[["+", null, 1, "first"]]]],
    ],
  );
  assert.deepEqual(readUnifiedDiff("--- a\n+++ b\nno hunk"), []);
  assert.deepEqual(readUnifiedDiff("1 + 1\n- a list"), []);
});

test("an agent is known by the name that it has for programs and by the one for people", () => {
  const pairs = [["claude", "claude-code"], ["Claude Code", "claude-code"], ["Codex", "codex"], ["gemini", "gemini"]];
  for (const [agent, id] of pairs) assert.equal(agentId(agent), id);
  assert.deepEqual(["qwen", "Qwen Code", "another", null].map(agentName), ["Qwen Code", "Qwen Code", "another", "An agent"]);
  assert.equal(agentId("another"), "another");
});
