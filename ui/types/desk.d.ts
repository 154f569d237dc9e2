// The types of the desk protocol as the page uses it. docs/protocol/desk.md describes them.

export type Decision = "allow" | "deny" | "timeout" | "withdrawn" | "open" | "ran" | "saved";
export type Channel = "terminal" | "telegram" | "viewer" | "rule";

export interface Filter {
  text?: string;
  tool?: string;
  agent?: string;
  machine?: string;
  project?: string;
  session?: string;
  decision?: string;
  by?: "person" | "rule";
  since_ms?: number;
  until_ms?: number;
}

export type RiskKind = "first_time" | "outside" | "network" | "deletes" | "gate" | "hidden" | "unclear";
export interface Risk { kind: RiskKind; text: string }

export interface Row {
  question: string;
  seq: number;
  agent: string;
  project: string;
  session: string;
  tool: string;
  deed: string;
  summary: string;
  asked_ms: number;
  until_ms: number;
  ruling: "ask" | "guard";
  because: string | null;
  needs: "press" | "confirm";
  mode: string | null;
  risks: Risk[];
  alike: string | null;
  machine?: string;
  demands?: Demand[];
  allowed_by?: string;
}

/** What a rule demands of an allow. */
export type Demand = "two_people" | "not_own";

export type SegmentStyle =
  | "program" | "word" | "option" | "string" | "variable"
  | "operator" | "comment" | "path" | "hidden" | "unclear";
export interface Segment { text: string; style: SegmentStyle; break: boolean }

export interface DiffLine { op: " " | "+" | "-"; old: number | null; new: number | null; text: string }
export interface Change { everywhere: boolean; place?: string; lines: DiffLine[] }
export interface PatchedFile {
  operation: "add" | "update" | "delete";
  path: string;
  moved_to?: string;
  note?: string;
  changes: Change[];
}

export type Body =
  | { type: "command"; segments: Segment[]; description: string | null }
  | { type: "read"; path: string; what: string | null }
  | { type: "write"; path: string; content: string; lines: number }
  | { type: "edit"; path: string; changes: Change[] }
  | { type: "patch"; files: PatchedFile[] }
  | { type: "notebook"; path: string; what: string; content: string }
  | { type: "fetch"; url: string; what: string | null }
  | { type: "plan"; markdown: string }
  | { type: "todo"; items: { text: string; status: "pending" | "active" | "done" }[] }
  | { type: "ask"; question: string; detail: string | null }
  | { type: "mcp"; server: string; tool: string; input: string }
  | { type: "other"; input: string };

/** A tool call as it is shown in a conversation. */
export interface CallCard { deed: string; did: string; subject: string; body: Body }

export interface Offer { action: string; meaning: string; lasts: string; changes_mode: boolean }
export interface Choice { label: string; description: string | null; action: string }
export interface Picker { question: string; many: boolean; choices: Choice[] }

export interface Card extends Row {
  body: Body;
  input: string;
  last_words: string | null;
  offers: Offer[];
  pickers: Picker[];
  takes_words: boolean;
  can_edit: boolean;
  can_stop: boolean;
  no_answer_denies: boolean;
  fails_open: string | null;
  hides_what_runs: boolean;
  blocked: string | null;
  confirm_word_of: string | null;
  grants: { allow: string; deny: string };
  is_cut: boolean;
}

export interface HistoryRow {
  seq: number;
  at_ms: number;
  question: string | null;
  tool: string;
  summary: string;
  project: string;
  session: string;
  agent: string | null;
  machine?: string;
  mode: string | null;
  decision: Decision;
  by: string | null;
  channel: Channel | null;
  took_ms: number | null;
  ok: boolean | null;
  words: string | null;
  edited: boolean;
}

export interface Tally { name: string; count: number; allowed: number; denied: number }
export interface Figures {
  hours: { at_ms: number; asked: number; allowed: number; denied: number; by_rule: number }[];
  answer_ms: { p50: number | null; p90: number | null; buckets: { up_to_ms: number | null; count: number }[] };
  shares: { allowed: number; denied: number; by_rule: number; timeout: number };
  by_project: Tally[];
  by_agent: Tally[];
  by_tool: Tally[];
  by_machine?: Tally[];
}

export interface SessionState {
  session: string;
  agent: string;
  project: string;
  machine?: string;
  branch?: string;
  question?: string;
  mode: string | null;
  last_words: string | null;
  last_ms: number;
  waiting: number;
  allowed_today: number;
  denied_today: number;
  by_rule_today: number;
  warning: string | null;
}

export interface Problem { line: number; level: "error" | "warning"; text: string }
export interface ListedRule {
  name: string;
  decide: string;
  line: number;
  text: string;
  until: string | null;
  is_over: boolean;
  reason: string | null;
  source: string;
}
export interface RuleFile { path: string; problems: Problem[]; rules: ListedRule[] }
export interface RuleBook extends RuleFile { text: string; hash: string; recommended?: string; team?: RuleFile; projects: RuleFile[] }

export interface SettingView {
  key: string;
  value: unknown;
  origin: string;
  help: string;
  choices?: string[];
  access: "see" | "set" | "secret";
  command?: string;
}

export interface Explained {
  decision: "allow" | "deny" | "ask" | "confirm" | "undecided";
  because: string;
  considered: { rule: string; matches: boolean; text: string }[];
  segments: Segment[] | null;
}

export interface Turned { seq: number; at_ms: number; summary: string; project: string; was: string; would: string }
export interface Backtested {
  judged: number;
  let_through: Turned[];
  let_through_count: number;
  turned: { from: string; to: string; count: number }[];
  saved: number;
  examples: Turned[];
}

export interface SuggestedRule {
  toml: string;
  name: string;
  saves: number;
  beyond: { seq: number; summary: string; project: string }[];
  beyond_count: number;
}

export interface DeskStatus {
  version: string;
  pid: number;
  uptime_seconds: number;
  open: number;
  head: number;
  socket: string;
  database: string;
  reach: {
    terminal: boolean;
    telegram: { bot: string | null; trouble: string | null } | null;
    viewers: { connected: number; paired: number };
  };
  is_relay: boolean;
  relays: { name: string; since_ms: number; is_team?: boolean }[];
  team?: TeamLineView;
  listening?: string;
}

/** The line of this machine to the team's desk. */
export interface TeamLineView {
  address: string;
  name: string;
  state: RemoteView["state"];
  since_ms: number;
  text: string | null;
}

/** A machine whose questions are answered here. */
export interface RemoteView {
  host: string;
  state: "connected" | "connecting" | "waiting" | "failed";
  since_ms: number;
  text: string | null;
  user: string | null;
  home: string | null;
  copied: number;
}

/** An answer that was given at another desk. */
export interface RelayedAnswer {
  decision: "allow" | "deny";
  by: string;
  message?: string;
  offer?: number;
  picks?: number[][];
  words?: string;
  edited?: string;
  interrupt?: boolean;
  met?: Demand[];
}

export interface Link { link: string; name: string; person?: string }
export interface Verified { whole: boolean; entries: number; head: string | null; text: string }
export interface Progress { done: number; total: number }

export interface Entry {
  seq: number;
  at_ms: number;
  kind: string;
  question: string | null;
  hash: string;
  body: Record<string, any>;
}

/** The fields of each kind of message. */
export interface Messages {
  watching: { head: number };
  entry: { entry: Entry };
  locked: { text: string };
  told: { done: boolean; text: string };
  error: { text: string };
  waiting: { text: string; seconds: number };
  progress: { done: number; total: number };
  code: { code: string; seconds: number };
  paired: { token: string };
  links: { links: Link[] };
  status: { status: DeskStatus };
  remotes: { remotes: RemoteView[] };
  inbox: { head: number; open: number; rows: Row[] };
  card: { card: Card };
  history: { rows: HistoryRow[]; next: number | null };
  figures: Figures;
  exported: { text: string; next: number | null };
  verified: Verified;
  sessions: { sessions: SessionState[] };
  rules: RuleBook;
  problems: { problems: Problem[] };
  explained: Explained;
  backtested: Backtested;
  proposed: { toml: string; name: string };
  suggested: { rules: SuggestedRule[] };
  settings: { settings: SettingView[]; problems: string[] };
}
/** A message of one kind. An entry and `locked` answer no request. */
export type DeskMessage<K extends keyof Messages = keyof Messages> = {
  [Kind in K]: { kind: Kind; id?: string | null } & Messages[Kind];
}[K];

/** The fields of each kind of request, and the kind of its answer. */
export interface Requests {
  watch: [{ from?: number }, "watching"];
  press: [{ request_id: string; action?: string; words?: string; input?: object; confirm?: string }, "told"];
  answer: [{ request_id: string; answer: RelayedAnswer }, "told"];
  unlock: [{ token: string; origin?: string }, "told"];
  pair: [{ code: string; name: string; origin?: string }, "paired" | "told"];
  code: [{ page?: boolean }, "code" | "told"];
  links: [{}, "links"];
  unpair: [{ link: string }, "told"];
  gate: [{ value: string }, "told"];
  status: [{}, "status"];
  remotes: [{}, "remotes"];
  inbox: [{}, "inbox"];
  card: [{ question: string }, "card" | "told"];
  history: [{ filter: Filter; before?: number; limit?: number }, "history"];
  figures: [{ filter: Filter }, "figures"];
  export: [{ format: "jsonl" | "csv"; filter: Filter; before?: number }, "exported"];
  verify: [{}, "verified"];
  sessions: [{ since_ms?: number }, "sessions"];
  rules: [{}, "rules"];
  check_rules: [{ text: string }, "problems"];
  explain: [{ tool?: string; command?: string; input?: object; project: string; agent?: string }, "explained"];
  backtest: [{ text: string }, "backtested"];
  save_rules: [{ text: string; hash: string }, "told"];
  propose: [{ question?: string; seq?: number; decide: string; seconds?: number }, "proposed"];
  suggest: [{}, "suggested"];
  settings: [{}, "settings"];
  set_setting: [{ key: string; value?: string }, "told"];
  try: [{}, "told"];
}
export type RequestKind = keyof Requests;
export type RequestFields<K extends RequestKind> = Requests[K][0];
export type DeskRequest<K extends RequestKind = RequestKind> = {
  [Kind in K]: { id: string; kind: Kind } & RequestFields<Kind>;
}[K];
export type AnswerTo<K extends RequestKind> = DeskMessage<Requests[K][1]>;
