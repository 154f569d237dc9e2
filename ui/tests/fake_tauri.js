// A desktop shell for tests, with a runtime that knows a few sentences. A test in a browser puts it
// into the page before the page's own scripts, so it imports nothing.

/**
 * @param {{folder?: string | null, theme?: string, desk?: "none" | "locked", isBare?: boolean, said?: number}} [options]
 *   a bare runtime knows no extensions; a desk has locked its inbox, unless the key is "good"; so many
 *   messages were said and answered before
 */
export function fakeTauri({ folder = "/home/ada/engine", theme = "system", desk = "none", isBare = false, said = 0 } = {}) {
  const known = ["hello", "permission", "modes", "edit", "list_models", "conversations", "load_events", "cancel", "compact"];
  const capabilities = isBare ? ["streaming", "tools"] : known;
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
  /** What the desk asks, as rows that are cards, too. */
  const rows = [];
  const deskEvents = [];
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
  const ask = (id, data, deed, body) => {
    questions.set(data.question, { turn: id, toolId: data.toolId });
    const card = cardFor(data, deed, body);
    if (desk === "locked") askAtDesk(card);
    reply(id, "tool_use", { data: { toolId: data.toolId, toolName: data.toolName, input: data.input } });
    reply(id, "permission_request", { data: { ...data, card } });
  };
  const askForm = (id) => {
    const question = `f-${id}`;
    questions.set(question, { turn: id, toolId: "t4" });
    const options = ["bash", "fish"].map((value) => ({ value, title: value }));
    const field = { name: "1", title: "Which shells?", required: true, type: "several_of", options, freeText: true };
    reply(id, "question", { data: { question, toolId: "t4", text: "Which shells?", fields: [field] } });
  };
  /** The card that the runtime sends with a question. */
  const cardFor = ({ question, toolName, title, input, deadline, canAllowAlways }, deed, body) => {
    const row = { question, seq: rows.length + 1, agent: "callgate", project: "/home/ada/engine", session: conversation };
    const more = { tool: toolName, deed, summary: title, asked_ms: Date.now(), until_ms: deadline, ruling: "ask" };
    const rest = { because: null, needs: "press", mode: null, risks: [], alike: null };
    const can = { takes_words: false, can_edit: true, can_stop: true, no_answer_denies: true, fails_open: null, hides_what_runs: false };
    const always = { action: "always", meaning: "Do not ask again", lasts: "for this session", changes_mode: false };
    const card = { body, input: JSON.stringify(input), last_words: null, pickers: [], blocked: null };
    const grants = { allow: "Lets this tool run once.", deny: "It does not run." };
    const offers = canAllowAlways ? [always] : [];
    return { ...row, ...more, ...rest, ...can, ...card, offers, grants, confirm_word_of: null, is_cut: false };
  };
  /** Sends an entry of the ledger. */
  const enter = (entry) => {
    for (const events of deskEvents) events.onmessage({ event: "entry", id: entry.seq, data: entry });
  };
  /** As with a real desk, which mirrors the question to the shell. */
  const askAtDesk = (card) => {
    const { question, seq, agent, project, session, tool, summary, asked_ms, until_ms } = card;
    rows.push({ ...card, grants: { allow: "Allowed by the desk.", deny: "Denied by the desk." } });
    const body = { agent, cwd: project, session, tool, summary, until_ms };
    enter({ seq, at_ms: asked_ms, kind: "asked", question, hash: "", body });
  };
  const say = (id, words) => {
    for (const token of words.split(/(?<= )/)) reply(id, "token", { token });
  };
  const deadline = () => Date.now() + 300_000;
  const change = (...lines) => ({
    everywhere: false,
    lines: lines.map(([op, text]) => ({ op, old: null, new: null, text })),
  });
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
      }, "Write a file", { type: "edit", path: "list.txt", changes: [change(["+", "Bread"])] }),
    patch: (id) =>
      ask(id, {
        question: `q-${id}`,
        toolId: "t3",
        toolName: "apply_patch",
        title: "patch a.rs, b.rs",
        input: { input: "*** Begin Patch" },
        canAllowAlways: false,
        deadline: deadline(),
      }, "Change files", {
        type: "patch",
        files: [
          { operation: "update", path: "a.rs", changes: [change(["-", "old"], ["+", "new"])] },
          { operation: "delete", path: "b.rs", changes: [] },
        ],
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
      }, "Run a command", { type: "command", segments: [{ text: "make test 'a b'", style: "word", break: false }], description: null }),
    form: (id) => askForm(id),
    both: (id) => [turns.run(id), askForm(id)],
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
    ...(isBare ? {} : extended),
  });
  const extended = {
    engine: "offline",
    engineReason: "because no key was found",
    model: "offline",
    mode: "ask",
    conversationId: conversation,
    questions: [],
    requests: [],
  };
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
      const { turn, toolId } = questions.get(question) ?? {};
      if (!turn) return reply(id, "error", { error: "this question is settled" });
      if (message === "wrong") return reply(id, "error", { error: "this answer cannot be given" });
      questions.delete(question);
      const isAllowed = decision !== "deny";
      const result = isAllowed ? `done with ${JSON.stringify(input ?? "its own input")}` : (message ?? "denied");
      reply(turn, "permission_resolved", { data: { question, decision, text: "Answered here" } });
      reply(id, "done", {});
      reply(turn, "tool_result", { data: { toolId, toolName: "", result, isError: !isAllowed } });
      if ([...questions.values()].some((other) => other.turn === turn)) return;
      say(turn, isAllowed ? `It was allowed: ${decision.replace("_", " ")}.` : `It was denied: ${message ?? "without words"}.`);
      endTurn(turn);
    },
    question_answer: (id, { question, outcome, values }) => {
      const { turn } = questions.get(question) ?? {};
      if (!turn) return reply(id, "error", { error: "no question with this id waits" });
      questions.delete(question);
      reply(turn, "question_resolved", { data: { question, outcome, text: "Answered here" } });
      reply(id, "done", {});
      if ([...questions.values()].some((other) => other.turn === turn)) return;
      say(turn, outcome === "answered" ? `Your answer: ${Object.values(values).flat().join(" and ")}.` : "You declined.");
      endTurn(turn);
    },
    compact: (id) => reply(id, "done", { data: { kind: "compact", conversationId: conversation, replaced: state.length } }),
    cancel: (id, { target }) => {
      reply(id, "done", {});
      endTurn(target, "cancelled");
    },
    clear_history: (id) => {
      state.length = 0;
      reply(id, "done", {});
    },
    load_conversation: (id, { before }) => {
      if (!said) return reply(id, "error", { error: "nothing was said in it yet" });
      // Fewer than were asked for, and not always whole turns.
      const end = before ?? 2 * said;
      const first = Math.max(0, end - 61);
      for (let at = first; at < end; at++) {
        if (at % 2) reply(id, "token", { token: `Answer ${(at - 1) / 2}.` });
        else reply(id, "user_message", { data: { message: `Message ${at / 2}.` } });
      }
      reply(id, "done", { data: { kind: "load_conversation", conversationId: conversation, first, length: 2 * said } });
    },
    new_conversation: (id) => reply(id, "done", { data: { conversationId: conversation } }),
    set_mode: (id) => reply(id, "done", { data: {} }),
  };
  const begin = () => {
    emit("state", { state: "starting" });
    emit("state", { state: "ready", capabilities });
  };
  /** Ends the runtime for good. */
  const end = () => {
    state.isStarted = false;
    for (const channel of watches.values()) channel.onmessage({ event: "end" });
    watches.clear();
  };
  const needDesk = (key) => {
    if (desk === "none") refuse(0, "no desk listens");
    if (key !== "good") refuse(401, "this window is not linked");
  };
  const commands = {
    shell_info: () => ({ version: "0.1.0", debug: true, folder, shortcut: "Ctrl+Shift+Space", shortcut_problem: null, theme }),
    desk_request: ({ key, line, messages }) => {
      needDesk(key);
      const { kind, question } = JSON.parse(line);
      const row = rows.find((one) => one.question === question);
      const answer = {
        inbox: { head: rows.length, open: rows.length, rows },
        card: { card: row },
        sessions: { sessions: [] },
      }[kind];
      messages.onmessage({ kind: answer ? kind : "error", text: "unknown", ...answer });
    },
    desk_watch: ({ key, events }) => {
      needDesk(key);
      deskEvents.push(events);
      events.onmessage({ event: "watching", id: null, data: { head: rows.length } });
      return deskEvents.length;
    },
    desk_unwatch: () => null,
    desk_pair: ({ code }) => (code === "7KQM2XWA" ? "good" : refuse(403, "This code is not valid, or has expired.")),
    chat_start: ({ folder: named }) => {
      const wanted = named ?? "/home/ada";
      if (!wanted.startsWith("/")) refuse(400, "there is no such folder");
      if (!state.isStarted) begin();
      state.isStarted = true;
      return { session, folder: wanted };
    },
    chat_send: ({ line }) => {
      const request = { ...JSON.parse(line), id: `${session}-${state.requests++}` };
      emit("request", request);
      if (isBare && !["user_message", "get_status", "clear_history"].includes(request.kind))
        calls.push(["extension", request]);
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
    folder_choose: () => "/home/ada/chosen",
    window_hide: () => null,
    open_outside: () => null,
    waiting_changed: () => null,
    notify: () => null,
    notify_answer: () => null,
    notify_unchecked: () => null,
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
    fake: { calls, commands, emit, end, enter, rows, tell: (payload) => listeners.forEach((listener) => listener({ payload })) },
  };
}
