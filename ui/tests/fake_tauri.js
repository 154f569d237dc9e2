// A desktop shell for tests, with a runtime that knows a few sentences. A test in a browser puts it
// into the page before the page's own scripts, so it imports nothing.

/** @param {{folder?: string | null, theme?: string, desk?: "none" | "locked"}} [options] */
export function fakeTauri({ folder = "/home/ada/engine", theme = "system", desk = "none" } = {}) {
  const session = "5e551000";
  const conversation = "c1";
  const kept = [];
  const calls = [];
  const listeners = [];
  const watches = new Map();
  const questions = new Map();
  const settings = [
    { key: "agent.engine", value: "offline", origin: "default", help: "Who answers.", choices: ["anthropic", "offline"] },
    { key: "agent.model", value: null, origin: "default", help: "The model, as its provider names it." },
    { key: "agent.roots", value: ["/home/ada/engine"], origin: "the settings file", help: "Where its tools may work." },
    { key: "shell.shortcut", value: "Ctrl+Shift+Space", origin: "default", help: "Shows and hides this window." },
    { key: "shell.theme", value: theme, origin: "default", help: "Its colours.", choices: ["system", "light", "dark"] },
  ];
  const state = { hasKey: false, isStarted: false, requests: 0, length: 0 };
  class Channel {
    onmessage = () => {};
  }
  const refuse = (status, text) => {
    throw { status, text };
  };
  const emit = (event, data) => {
    const item = { event, id: kept.length + 1, data };
    kept.push(item);
    for (const channel of watches.values()) channel.onmessage(item);
  };
  const reply = (id, type, fields) => emit("reply", { type, id, timestamp: Date.now(), ...fields });
  const usage = { inputTokens: 12, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const endTurn = (id, stopReason = "end_turn") => {
    state.length += 2;
    reply(id, "done", { data: { kind: "user_message", stopReason, usage, cost: null } });
  };
  const ask = (id, data) => {
    questions.set(data.question, id);
    reply(id, "tool_use", { data: { toolId: data.toolId, toolName: data.toolName, input: data.input } });
    reply(id, "permission_request", { data });
  };
  const say = (id, words) => {
    for (const token of words.split(/(?<= )/)) reply(id, "token", { token });
  };
  const deadline = () => Date.now() + 300_000;
  const turns = {
    hello: (id) => [say(id, "Good morning. See [the guide](https://example.org/guide)."), endTurn(id)],
    write: (id) =>
      ask(id, {
        question: `q-${id}`,
        toolId: "t1",
        toolName: "write_file",
        title: "Write list.txt",
        input: { path: "list.txt", content: "Milk\nBread\n" },
        reason: "no rule decides this",
        canAllowAlways: true,
        deadline: deadline(),
        diff: "--- list.txt\n+++ list.txt\n@@ -1,1 +1,2 @@\n Milk\n+Bread\n",
      }),
    run: (id) =>
      ask(id, {
        question: `q-${id}`,
        toolId: "t2",
        toolName: "run_shell_command",
        title: "make test",
        input: { command: "make", args: ["test", "a b"] },
        canAllowAlways: false,
        deadline: deadline(),
      }),
    stall: (id) => say(id, "One moment "),
    die: (id) => {
      emit("failed", { id, error: "the runtime has ended" });
      emit("state", { state: "died", text: "the runtime has ended (signal: 9)", lastWords: "no key was found" });
      emit("state", { state: "given_up" });
    },
  };
  const status = () => ({
    state: "idle",
    conversationLength: state.length,
    uptime: 65_000,
    engine: "offline",
    engineReason: "because no key was found",
    model: "offline",
    mode: "ask",
    conversationId: conversation,
    questions: [],
    requests: [],
  });
  const answers = {
    get_status: (id) => reply(id, "status", { data: status() }),
    list_conversations: (id) => {
      const one = { conversationId: conversation, title: "The engine", length: state.length, createdAt: 0 };
      reply(id, "done", { data: { conversations: [{ ...one, updatedAt: Date.now() }], current: conversation } });
    },
    list_models: (id) => reply(id, "done", { data: { engines: [], engine: "offline", model: "offline" } }),
    user_message: (id, { message }) => {
      const turn = turns[message.split(" ")[0]];
      if (turn) turn(id);
      else [say(id, `You said: ${message}`), endTurn(id)];
    },
    permission_answer: (id, { question, decision, message, input }) => {
      const turn = questions.get(question);
      if (!turn) return reply(id, "error", { error: "this question is settled" });
      if (message === "wrong") return reply(id, "error", { error: "this answer cannot be given" });
      questions.delete(question);
      const isAllowed = decision !== "deny";
      const result = isAllowed ? `done with ${JSON.stringify(input ?? "its own input")}` : (message ?? "denied");
      reply(turn, "permission_resolved", { data: { question, decision, text: "Answered here" } });
      reply(id, "done", {});
      reply(turn, "tool_result", { data: { toolId: "t1", toolName: "", result, isError: !isAllowed } });
      say(turn, isAllowed ? `It was allowed: ${decision.replace("_", " ")}.` : `It was denied: ${message ?? "without words"}.`);
      endTurn(turn);
    },
    cancel: (id, { target }) => {
      reply(id, "done", {});
      endTurn(target, "cancelled");
    },
    clear_history: (id) => {
      state.length = 0;
      reply(id, "done", {});
    },
    load_conversation: (id) => reply(id, "error", { error: "nothing was said in it yet" }),
    new_conversation: (id) => reply(id, "done", { data: { conversationId: conversation } }),
    set_mode: (id) => reply(id, "done", { data: {} }),
  };
  const begin = () => {
    emit("state", { state: "starting" });
    emit("state", { state: "ready", capabilities: ["hello", "permission", "modes", "edit", "list_models"] });
  };
  const needDesk = (key) => {
    if (desk === "none") refuse(0, "no desk listens");
    if (key !== "good") refuse(401, "this window is not linked");
  };
  const commands = {
    shell_info: () => ({ version: "0.1.0", debug: true, folder, shortcut: "Ctrl+Shift+Space", theme }),
    desk_request: ({ key }) => needDesk(key),
    desk_watch: ({ key }) => needDesk(key),
    desk_unwatch: () => null,
    desk_pair: ({ code }) => (code === "7KQM2XWA" ? "good" : refuse(403, "This code is not valid, or has expired.")),
    chat_start: ({ folder: wanted }) => {
      if (!wanted.startsWith("/")) refuse(400, "there is no such folder");
      if (!state.isStarted) begin();
      state.isStarted = true;
      return { session, folder: wanted };
    },
    chat_send: ({ line }) => {
      const request = { ...JSON.parse(line), id: `${session}-${state.requests++}` };
      emit("request", request);
      // As in the shell, its replies come later.
      setTimeout(() => (answers[request.kind] ?? ((id) => reply(id, "error", { error: "unknown" })))(request.id, request));
      return request.id;
    },
    chat_watch: ({ session: seen, after, events }) => {
      if (!state.isStarted) return null;
      const number = watches.size + 1;
      setTimeout(() => {
        events.onmessage({ event: "session", id: null, data: { session, folder: folder ?? "/" } });
        for (const item of kept) if (seen !== session || item.id > (after ?? 0)) events.onmessage(item);
        watches.set(number, events);
      });
      return number;
    },
    chat_unwatch: () => null,
    chat_restart: () => begin(),
    settings_read: () => ({ settings, has_api_key: state.hasKey }),
    settings_write: ({ key, value }) => {
      const setting = settings.find((one) => one.key === key) ?? refuse(403, "the page may not set this");
      if (key === "shell.shortcut" && value && !value.includes("+")) refuse(400, `\`${value}\` is no shortcut`);
      Object.assign(setting, { value, origin: "the settings file" });
    },
    settings_store_api_key: () => {
      state.hasKey = true;
    },
    window_hide: () => null,
    open_outside: () => null,
    waiting_changed: () => null,
    notify: () => null,
  };
  const invoke = async (command, args = {}) => {
    calls.push([command, args]);
    if (!commands[command]) refuse(403, `command ${command} is not allowed`);
    return commands[command](args);
  };
  return {
    core: { invoke, Channel },
    event: { listen: async (_name, handler) => listeners.push(handler) },
    /** What tests look at and do. */
    fake: { calls, commands, emit, tell: (payload) => listeners.forEach((listener) => listener({ payload })) },
  };
}
