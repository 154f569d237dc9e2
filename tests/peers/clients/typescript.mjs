// The TypeScript SDK's clients: version 1, and version 2 in the mode that it is told. The checks are
// those of checks.py; one that fails ends the script with the reason.

import { isDeepStrictEqual } from "node:util";

const facts = JSON.parse(process.argv[2]);
const { Client } = await import(facts.modules.client);
const { StdioClientTransport } = await import(facts.modules.stdio);

// Nothing waits for it to pass: it only ends a script that hangs.
const DEADLINE = 60_000;
setTimeout(() => fail(`no end after ${DEADLINE} ms`), DEADLINE).unref();

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

function same(seen, wanted) {
  if (!isDeepStrictEqual(seen, wanted)) {
    throw new Error(`saw ${JSON.stringify(seen)}\nwanted ${JSON.stringify(wanted)}`);
  }
}

const say = (news) => console.log(JSON.stringify(news));
const text = (result) => result.content[0].text;

const options = facts.mode === "legacy" ? {} : { versionNegotiation: { mode: facts.mode } };
const client = new Client({ name: "peers", version: "1" }, options);
const transport = new StdioClientTransport({ command: facts.command, args: facts.arguments });

function call(name, args, options = {}) {
  const request = { name, arguments: args };
  // Version 1 takes a schema for the result before the options.
  return facts.major === 1 ? client.callTool(request, undefined, options) : client.callTool(request, options);
}

/** Calls `report`, and gives the running call and a promise of its three reports. */
function report(options = {}) {
  const seen = [];
  let running;
  const complete = new Promise((resolve, reject) => {
    const onprogress = ({ progress, total, message }) => {
      seen.push([progress, total, message ?? null]);
      if (progress === total) resolve(seen);
    };
    running = call("report", {}, { ...options, onprogress });
    running.catch(reject);
  });
  return { running, complete };
}

async function afterGivingUp(name) {
  const label = `after giving up ${name}`;
  same(text(await call("echo", { text: label })), label);
  same(text(await call("add", { a: 20, b: 22 })), "42");
}

const checks = {
  async lists() {
    same((await client.listTools()).tools.map((tool) => tool.name), facts.names);
    // Version 1 does not tell which protocol version was settled on.
    if (facts.major > 1) same(client.getNegotiatedProtocolVersion(), facts.version);
  },

  async calls() {
    const result = await call("echo", { text: facts.odd_text });
    same(text(result), facts.odd_text);
    same(result.isError ?? false, false);
    const point = await call("structured", { x: 1, y: -2 });
    same(point.structuredContent, { x: -1, y: 2 });
    same(JSON.parse(text(point)), { x: -1, y: 2 });
  },

  async content() {
    const [words, picture] = (await call("picture", {})).content;
    same(words.text, "a pixel");
    same([picture.data, picture.mimeType], [facts.pixel, "image/png"]);
    const size = 5 * 1024 * 1024;
    same(text(await call("big", { bytes: size })), "x".repeat(size));
  },

  async failures() {
    let result = await call("fail", { text: "no such day" });
    same([result.isError, text(result)], [true, "ValueError: no such day"]);
    result = await call("add", { a: "one", b: 1 });
    same([result.isError, text(result).split(":")[0]], [true, "ToolArgumentError"]);
  },

  async progress() {
    const { running, complete } = report();
    same(await complete, [[1, 3, "one"], [2, 3, "zwei ü"], [3, 3, null]]);
    await call("release", {});
    same(text(await running), "reported");
  },

  async cancellation() {
    const stop = new AbortController();
    const { running, complete } = report({ signal: stop.signal });
    await complete;
    stop.abort("not needed");
    same(await running.then(() => "an answer", () => "given up"), "given up");
    await afterGivingUp("report");
  },

  /** Nobody releases the call, so the client is sure to lose its patience. */
  async timeout() {
    const outcome = await call("slow", { text: "too late" }, { timeout: 1000 }).then(text, (error) => error.message);
    same(/timed out/i.test(outcome), true);
    await afterGivingUp("slow");
  },

  async together() {
    const labels = Array.from({ length: facts.together }, (_, number) => `call ${number}`);
    const results = await Promise.all(labels.map((label) => call("ro_wait", { text: label })));
    same(results.map(text), labels);
  },

  /** More calls at once than a host takes: they wait for their turn, and none is refused. */
  async many() {
    const labels = Array.from({ length: 500 }, (_, number) => `call ${number}`);
    const results = await Promise.all(labels.map((label) => call("echo", { text: label })));
    same(results.map(text), labels);
  },
};

try {
  await client.connect(transport);
  for (const name of facts.checks) {
    await checks[name]();
    say({ passed: name });
  }
  await client.close();
} catch (error) {
  fail(error.stack);
}
