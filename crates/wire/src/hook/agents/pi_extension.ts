// Written by callgate, which is asked before each tool runs. `callgate uninstall` removes this file.
import { spawn } from "node:child_process";

const COMMAND = ["CALLGATE_HOOK"];

// Gives one event to the hook. Fails if the hook is missing, fails or prints no answer.
const ask = (event, call, context) =>
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
        session_id: context.sessionManager?.getSessionId?.(),
        cwd: context.cwd,
        tool_name: call.toolName,
        tool_input: call.input,
        tool_use_id: call.toolCallId,
      }),
    );
  });

export default function (pi) {
  pi.on("tool_call", async (call, context) => {
    const answer = JSON.parse(await ask("PreToolUse", call, context));
    if (answer.decision !== "allow" && answer.decision !== "none") {
      throw new Error(answer.reason || "callgate denied this.");
    }
    if (answer.input) {
      for (const name of Object.keys(call.input)) delete call.input[name];
      Object.assign(call.input, answer.input);
    }
  });
  pi.on("tool_result", async (call, context) => {
    await ask(call.isError ? "PostToolUseFailure" : "PostToolUse", call, context).catch(() => {});
  });
}
