// Written by callgate, which is asked before each tool runs. `callgate uninstall` removes this file.
import { spawn } from "node:child_process";

const COMMAND = ["CALLGATE_HOOK"];

// Gives one event to the hook. Fails if the hook is missing, fails or prints no answer.
const ask = (event, folder, call, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: "pipe" });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(err || `callgate's hook ended with ${code}`))));
    child.stdin.on("error", () => {});
    child.stdin.end(
      JSON.stringify({
        hook_event_name: event,
        session_id: call.sessionID,
        cwd: folder,
        tool_name: call.tool,
        tool_input: args,
        tool_use_id: call.callID,
      }),
    );
  });

// Asks about a call. Returns the input that is to run in place of the original, if there is one.
const check = async (folder, call, args) => {
  const { decision, reason, input } = JSON.parse(await ask("PreToolUse", folder, call, args));
  if (decision !== "allow" && decision !== "none") throw new Error(reason || "callgate denied this.");
  return input;
};

// opencode 1.x and Kilo: a function that returns hooks, which throw.
const plugin = async ({ directory }) => ({
  "tool.execute.before": async (call, output) => {
    const input = await check(directory, call, output.args);
    if (input) {
      for (const name of Object.keys(output.args)) delete output.args[name];
      Object.assign(output.args, input);
    }
  },
  "tool.execute.after": async (call) => {
    await ask("PostToolUse", directory, call, call.args).catch(() => {});
  },
});

// opencode 2, by its documentation: it says what a call acts on, and takes no other input.
const MEMBERS = { bash: "command", shell: "command", webfetch: "url", glob: "pattern", grep: "pattern" };
const evaluate = async (event) => {
  try {
    const member = MEMBERS[event.action] ?? "filePath";
    const isOne = member === "command" || !event.resources.length;
    for (const resource of isOne ? [event.resources.join("\n")] : event.resources) {
      const call = { tool: event.action, sessionID: event.sessionID };
      const input = await check(process.cwd(), call, { ...event.metadata, [member]: resource });
      if (input) throw new Error("opencode 2 cannot run a changed input.");
    }
  } catch (error) {
    event.effect = "deny";
    event.message = error.message;
  }
};

export default Object.assign(plugin, {
  id: "callgate",
  setup: async (context) => void (await context.permission.hook("evaluate", evaluate)),
});
