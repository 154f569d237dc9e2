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

export const Callgate = async ({ directory }) => ({
  "tool.execute.before": async (call, output) => {
    const answer = JSON.parse(await ask("PreToolUse", directory, call, output.args));
    if (answer.decision !== "allow" && answer.decision !== "none") {
      throw new Error(answer.reason || "callgate denied this.");
    }
    if (answer.input) {
      for (const name of Object.keys(output.args)) delete output.args[name];
      Object.assign(output.args, answer.input);
    }
  },
  "tool.execute.after": async (call) => {
    await ask("PostToolUse", directory, call, call.args).catch(() => {});
  },
});
