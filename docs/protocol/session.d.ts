/**
 * The session protocol (session.md) in TypeScript: what a front end writes to the runtime's stdin
 * and reads from its stdout, one JSON object per line. Types only; nothing here exists at run time.
 */

/** A request of a front end. */
export type AgentRequest =
  | UserMessageRequest
  | ClearHistoryRequest
  | GetStatusRequest
  | HelloRequest
  | ExtensionRequest;

/** A request that is served only after `hello`. */
export type ExtensionRequest =
  | CancelRequest
  | PermissionAnswerRequest
  | QuestionAnswerRequest
  | NewConversationRequest
  | ListConversationsRequest
  | LoadConversationRequest
  | RenameConversationRequest
  | DeleteConversationRequest
  | ForkConversationRequest
  | RewindRequest
  | CompactRequest
  | LeaveOutRequest
  | SetModeRequest
  | RegenerateRequest
  | EditLastRequest
  | ListModelsRequest
  | SetEngineRequest
  | ToolAnswerRequest
  | FindFilesRequest
  | ReadFileRequest
  | TurnDiffRequest
  | UndoTurnRequest
  | ReplayRequest;

/** A response of a runtime. A front end ignores unknown types. */
export type AgentResponse =
  | ReadyResponse
  | TokenResponse
  | ToolUseResponse
  | ToolResultResponse
  | EndResponse
  | ExtensionResponse;

/** The last response to a request. */
export type EndResponse = DoneResponse | ErrorResponse | StatusResponse;

/** A response that is sent only to a front end that asked for it, in `hello` or later. */
export type ExtensionResponse =
  | UserMessageResponse
  | ThinkingResponse
  | ToolInputResponse
  | ToolCallResponse
  | ToolProgressResponse
  | UsageResponse
  | PermissionRequestResponse
  | PermissionResolvedResponse
  | QuestionResponse
  | QuestionResolvedResponse
  | TurnChangesResponse
  | NoticeResponse;

/** One of the known words, or any other; a reader accepts both. */
export type Word<Known extends string> = Known | (string & {});

/** Something that a runtime can do, or that a front end accepts. */
export type Capability = Word<
  | 'streaming'
  | 'tools'
  | 'attachments'
  | 'inline_attachments'
  | 'engine'
  | 'hello'
  | 'cancel'
  | 'permission'
  | 'question'
  | 'conversations'
  | 'load_events'
  | 'edit'
  | 'thinking'
  | 'tool_progress'
  | 'notice'
  | 'replay'
  | 'set_engine'
  | 'list_models'
  | 'modes'
  | 'steer'
  | 'fork'
  | 'rewind'
  | 'usage'
  | 'tool_input'
  | 'files'
  | 'front_tools'
  | 'output_schema'
  | 'compact'
  | 'leave_out'
  | 'turn_diff'
  | 'search'
>;

/**
 * The front end's own context. Its `conversationId`, if present, is the conversation of the request:
 * a string of 1 to 128 bytes without control characters.
 */
export type Metadata = Record<string, unknown>;

// Requests

export interface Requested<Kind extends string> {
  /** Chosen by the front end, at most 256 bytes; every response to the request repeats it. */
  id: string;
  kind: Kind;
}

export type Attachment = FileAttachment | InlineAttachment;

export interface FileAttachment {
  /** The path of the file; a relative path starts in the runtime's working folder. */
  path: string;
  /** The file's media type. */
  mime: string;
  data?: never;
}

/** For a front end that has no paths, such as a web page. */
export interface InlineAttachment {
  /** The contents of the file, in base64 or as a `data:` URL with base64. */
  data: string;
  /** The file's media type. */
  mime: string;
  /** The name of the file, at most 256 characters. */
  name?: string;
  path?: never;
}

/** An image as a front end of the first version sends it. */
export interface FirstVersionImage {
  data: string;
  mime_type: string;
  name?: string;
}

/** A message of the user. */
export interface Said {
  message: string;
  attachments?: Attachment[];
  /** Further attachments of a front end of the first version: the array, or its JSON. */
  images?: string | FirstVersionImage[];
  metadata?: Metadata;
}

export interface UserMessageRequest extends Requested<'user_message'>, Said {
  /** For the turn that runs in the conversation, which reads it in its next round. */
  steer?: boolean;
  /** A JSON Schema that the answer has to fit. */
  outputSchema?: object;
}

export interface ClearHistoryRequest extends Requested<'clear_history'> {
  metadata?: Metadata;
}

export interface GetStatusRequest extends Requested<'get_status'> {}

export interface HelloRequest extends Requested<'hello'> {
  /** What the front end accepts: `thinking`, `tool_input`, `tool_progress`, `usage`, `permission`, `question`, `notice`, `turn_diff`. */
  capabilities: Capability[];
  /** The tools that the front end supplies. */
  tools?: FrontTool[];
}

/** A tool that the front end supplies. */
export interface FrontTool {
  name: string;
  description?: string;
  /** A JSON Schema that describes an object. */
  inputSchema: object;
  readOnly?: boolean;
}

/** The result of a tool that the front end supplies. */
export interface ToolAnswerRequest extends Requested<'tool_answer'> {
  call: string;
  result: unknown;
  isError?: boolean;
}

export interface CancelRequest extends Requested<'cancel'> {
  /** The id of the request to end. */
  target: string;
}

export type PermissionAnswerRequest = AllowRequest | AllowAlwaysRequest | DenyRequest;

export interface PermissionAnswer<Decision extends string>
  extends Requested<'permission_answer'> {
  /** The `question` of the `permission_request`. */
  question: string;
  decision: Decision;
  /** The reason in the user's words; used with `deny`. */
  message?: string;
}

export interface AllowRequest extends PermissionAnswer<'allow'> {
  /** The tool's arguments as the user has edited them. */
  input?: Record<string, unknown>;
}

export interface AllowAlwaysRequest extends PermissionAnswer<'allow_always'> {
  input?: never;
}

export interface DenyRequest extends PermissionAnswer<'deny'> {
  input?: never;
}

export interface QuestionAnswerRequest extends Requested<'question_answer'> {
  /** The `question` of the `question`. */
  question: string;
  outcome: 'answered' | 'declined' | 'cancelled';
  /** With `answered`: the values by the names of their fields. */
  values?: Record<string, string | number | boolean | string[]>;
}

export interface NewConversationRequest extends Requested<'new_conversation'> {
  conversationId?: string;
  title?: string;
}

export interface ListConversationsRequest extends Requested<'list_conversations'> {
  limit?: number;
  /** Only those whose `updatedAt` is lower. */
  before?: number;
  /** Only those in whose title, or in one of whose messages, all of these words occur. */
  search?: string;
}

export interface LoadConversationRequest extends Requested<'load_conversation'> {
  conversationId: string;
  limit?: number;
  /** Only messages with a lower number. */
  before?: number;
  /** Whether all messages are in the `done` (the default), or are sent as events. */
  as?: 'messages' | 'events';
}

export interface RenameConversationRequest extends Requested<'rename_conversation'> {
  conversationId: string;
  title: string;
}

export interface DeleteConversationRequest extends Requested<'delete_conversation'> {
  conversationId: string;
}

export interface ForkConversationRequest extends Requested<'fork_conversation'> {
  conversationId: string;
  /** How many messages to copy; all by default. */
  length?: number;
  title?: string;
}

export interface RewindRequest extends Requested<'rewind'> {
  conversationId?: string;
  /** How many messages stay. */
  length: number;
}

export interface CompactRequest extends Requested<'compact'> {
  conversationId?: string;
}

export interface LeaveOutRequest extends Requested<'leave_out'> {
  conversationId?: string;
}

/** What a turn changed in files. */
export interface TurnDiffRequest extends Requested<'turn_diff'> {
  conversationId?: string;
  /** The last one that changed files and was not undone by default. */
  turn?: number;
}

/** Puts back what a turn changed in files. */
export interface UndoTurnRequest extends Requested<'undo_turn'> {
  conversationId?: string;
  /** The last one that changed files and was not undone by default. */
  turn?: number;
  /** Whether to put back the other files if some cannot be put back. */
  partial?: boolean;
}

/** Who decides about a tool call that no rule decides. */
export type PermissionMode = 'ask' | 'plan' | 'auto';

export interface SetModeRequest extends Requested<'set_mode'> {
  conversationId?: string;
  mode: PermissionMode;
}

export interface RegenerateRequest extends Requested<'regenerate'> {
  metadata?: Metadata;
}

export interface EditLastRequest extends Requested<'edit_last'>, Said {}

export interface ListModelsRequest extends Requested<'list_models'> {
  /** Only this engine. */
  engine?: string;
}

export interface SetEngineRequest extends Requested<'set_engine'> {
  /** Another conversation than the current one; `metadata.conversationId` names it, too. */
  conversationId?: string;
  engine: string;
  /** The model, as its provider names it; without it, the engine chooses. */
  model?: string;
  metadata?: Metadata;
}

/** Finds files beneath the folders of the tools, for a picker. */
export interface FindFilesRequest extends Requested<'find_files'> {
  /** Words that all occur in the path. */
  query: string;
  limit?: number;
}

export interface ReadFileRequest extends Requested<'read_file'> {
  path: string;
  /** The first line, counted from 1. */
  offset?: number;
  /** The maximum number of lines. */
  limit?: number;
}

export interface ReplayRequest extends Requested<'replay'> {
  /** The number of the first response to send again. */
  fromSeq: number;
}

// Responses

export interface Numbered<Type extends string> {
  type: Type;
  /** Milliseconds since the Unix epoch. */
  timestamp: number;
  /** The response's number; present in every response from `hello` on. */
  seq?: number;
}

export interface Reply<Type extends string> extends Numbered<Type> {
  /** The request that this response belongs to. */
  id: string;
}

export interface ReadyResponse extends Numbered<'ready'> {
  version?: string;
  capabilities?: Capability[];
}

/** The user's message, in a conversation that is loaded as events, or one that steers the turn. */
export interface UserMessageResponse extends Reply<'user_message'> {
  data: {
    message: string;
    attachments?: PastAttachment[];
  };
}

export interface PastAttachment {
  mime: string;
  name?: string;
  /** Its size in bytes. */
  size: number;
  /** The file in base64: for an image or a document, if it fits into the line. */
  data?: string;
}

export interface TokenResponse extends Reply<'token'> {
  token: string;
}

export interface ThinkingResponse extends Reply<'thinking'> {
  thinking: string;
}

export interface ToolUseResponse extends Reply<'tool_use'> {
  data: {
    toolId: string;
    toolName: string;
    /** An object; a reader accepts any JSON. */
    input: unknown;
    /** What the tool does; present after `hello`. */
    kind?: ToolKind;
    /** The files and folders that the call concerns; present after `hello`. */
    locations?: ToolLocation[];
    /** The call as a front end draws it; present after `hello`. */
    card?: CallCard;
  };
}

/** A tool call as a front end draws it. */
export interface CallCard {
  /** What it does, such as "Run a command". */
  deed: string;
  /** What it has done when it has succeeded, such as "Ran a command". */
  did: string;
  /** What it is about, on one line; may be empty. */
  subject: string;
  body: CardBody;
}

/** A body of the desk protocol. */
export interface CardBody {
  type: string;
  [member: string]: unknown;
}

/** What a tool does, as in the Agent Client Protocol. */
export type ToolKind = Word<
  'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other'
>;

export interface ToolLocation {
  /** An absolute path. */
  path: string;
  /** The line, counted from 1, if the call starts at one. */
  line?: number;
}

export interface ToolResultResponse extends Reply<'tool_result'> {
  data: {
    toolId: string;
    toolName: string;
    result: unknown;
    /** Whether the tool failed or did not run; present after `hello`. */
    isError?: boolean;
  };
}

export interface ToolInputResponse extends Reply<'tool_input'> {
  data: {
    toolId: string;
    toolName: string;
    /** What the call does, as the card of the `tool_use` will say it; only in the first piece. */
    deed?: string;
    /** To be appended: a piece of the JSON of the input. */
    text: string;
  };
}

/** What the turn has taken so far. */
export interface UsageResponse extends Reply<'usage'> {
  data: Usage & {
    /** In US dollars; `null` if it is not known. */
    cost: number | null;
    /** The share of the input that was read from the provider's cache, 0 to 1. */
    cachedShare?: number | null;
    /** The tokens of the conversation. */
    contextTokens: number;
    /** How many tokens the model can read; `null` if it is not known. */
    contextWindow: number | null;
  };
}

/** A tool that the front end supplies is to run. */
export interface ToolCallResponse extends Reply<'tool_call'> {
  data: {
    call: string;
    toolId: string;
    toolName: string;
    input: unknown;
  };
}

export interface ToolProgressResponse extends Reply<'tool_progress'> {
  data: {
    toolId: string;
    stream: 'stdout' | 'stderr';
    /** To be appended to what this stream sent before. */
    text: string;
  };
}

export interface PermissionRequestResponse extends Reply<'permission_request'> {
  data: {
    /** Identifies the question. */
    question: string;
    toolId: string;
    toolName: string;
    /** The tool's arguments, with secrets masked. */
    input: unknown;
    /** What is about to happen, in one line. */
    title: string;
    /** Why a person is asked. */
    reason?: string;
    /** Whether `allow_always` is offered. */
    canAllowAlways?: boolean;
    /** Until when an answer counts, in milliseconds since the Unix epoch. */
    deadline?: number;
    /** What would change in a file: a unified diff, with secrets masked. */
    diff?: string;
    /** The question as a `card` of the desk protocol. */
    card?: { body: CardBody; [member: string]: unknown };
  };
}

/** A question of the model or of a tool server. Its answer permits nothing. */
export interface QuestionResponse extends Reply<'question'> {
  data: {
    /** Identifies the question. */
    question: string;
    /** The call that waits for the answer. */
    toolId: string;
    /** The tool server that asks; absent if the model asks. */
    server?: string;
    /** What is asked. */
    text: string;
    /** An address that the person is asked to visit. It must not be opened unasked. */
    url?: string;
    /** What an answer consists of; none if consent is all that is asked for. */
    fields: QuestionField[];
    /** Until when an answer counts, in milliseconds since the Unix epoch. */
    deadline?: number;
  };
}

/** One part of the answer to a question. */
export type QuestionField = {
  /** Its name in the `values` of an answer. */
  name: string;
  title: string;
  description?: string;
  required: boolean;
} & (
  | { type: 'text'; minLength?: number; maxLength?: number; format?: Word<'email' | 'uri' | 'date' | 'date-time'>; default?: string }
  | { type: 'number' | 'integer'; minimum?: number; maximum?: number; default?: number }
  | { type: 'boolean'; default?: boolean }
  | { type: 'one_of'; options: FieldOption[]; freeText?: boolean; default?: string }
  | { type: 'several_of'; options: FieldOption[]; freeText?: boolean; minItems?: number; maxItems?: number; default?: string[] }
);

/** One of the values that can be chosen. */
export interface FieldOption {
  value: string;
  title: string;
  description?: string;
}

export interface QuestionResolvedResponse extends Reply<'question_resolved'> {
  data: {
    question: string;
    outcome: Word<'answered' | 'declined' | 'cancelled' | 'unanswered'>;
    text: string;
  };
}

export interface PermissionResolvedResponse extends Reply<'permission_resolved'> {
  data: {
    question: string;
    decision: Word<'allow' | 'deny' | 'timeout'>;
    text: string;
  };
}

/** How many files the turn changed. */
export interface TurnChangesResponse extends Reply<'turn_changes'> {
  data: {
    /** Absent if no change is known. */
    turn?: number;
    files: number;
    undone?: boolean;
    /** What is not known of the changes, and why. */
    unknown?: string;
  };
}

export interface NoticeResponse extends Reply<'notice'> {
  data: {
    kind: Word<'working' | 'compacted' | 'retry' | 'queued' | 'interrupted'>;
    text: string;
  };
}

/** The end of a request of this kind, or of any kind if none is given. */
export interface DoneResponse<Kind extends RequestKind = RequestKind> extends Reply<'done'> {
  /** The outcome of the request; present after `hello`, for requests that have one. */
  data?: DoneData<Kind>;
}

export type RequestKind = AgentRequest['kind'];

/** The `data` of the `done` of a request of this kind; `kind` discriminates the objects. */
export type DoneData<Kind extends RequestKind = RequestKind> = Kind extends keyof DoneDataByKind
  ? { kind: Kind } & DoneDataByKind[Kind]
  : never;

/** The fields of `data` besides `kind`, by the kind of the request; other kinds have no `data`. */
export interface DoneDataByKind {
  user_message: TurnEnd;
  regenerate: TurnEnd;
  edit_last: TurnEnd;
  new_conversation: Created;
  list_conversations: Listed;
  load_conversation: Loaded | LoadedAsEvents;
  list_models: ModelList;
  set_engine: EngineSet;
  fork_conversation: Trimmed;
  rewind: Trimmed;
  compact: Compacted;
  leave_out: LeftOut;
  set_mode: ModeSet;
  find_files: { files: FileMatch[]; truncated: boolean };
  read_file: FileText;
  turn_diff: TurnDiff;
  undo_turn: TurnUndone;
  replay: Replayed;
}

export interface ErrorResponse extends Numbered<'error'> {
  /** `null`, after `hello`, if the error is about a line whose id could not be read. */
  id: string | null;
  /** For a person. */
  error: string;
  /** For programs; present after `hello`. */
  data?: ErrorData;
}

export interface StatusResponse extends Reply<'status'> {
  data: {
    state: Word<'idle' | 'busy'>;
    conversationLength: number;
    /** Milliseconds since the runtime started. */
    uptime: number;
    engine?: string;
    engineReason?: string;
    model?: string;
    conversationId?: string;
    /** The mode of the current conversation; present after `hello`. */
    mode?: PermissionMode;
    /** The files of the project whose instructions the model reads; present after `hello`. */
    instructions?: InstructionFile[];
    /** The open requests; present after `hello`. */
    requests?: OpenRequest[];
    /** The questions that wait for an answer, as they were asked; present after `hello`. */
    questions?: PermissionRequestResponse[];
    /** The open questions of the model and of tool servers, as they were asked; present after `hello`. */
    agentQuestions?: QuestionResponse[];
    /** The MCP servers; present after `hello`. */
    servers?: McpServerStatus[];
  };
}

/** A file or folder that `find_files` has found. */
export interface FileMatch {
  path: string;
  /** The path from the working folder on, if it lies there. */
  name: string;
  kind: Word<'file' | 'folder'>;
}

/** The lines of a file. */
export interface FileText {
  path: string;
  content: string;
  firstLine: number;
  lastLine: number;
  totalLines: number | null;
  more: boolean;
  size: number;
}

/** A file of the project with instructions for the model. */
export interface InstructionFile {
  path: string;
  bytes: number;
  /** Whether the model reads only a part of it. */
  cut: boolean;
}

export interface McpServerStatus {
  name: string;
  state: Word<'unused' | 'connecting' | 'needs_sign_in' | 'ready' | 'failed'>;
  /** The state in words for a person, and the reason if it failed. */
  text: string;
  /** How many tools it has. */
  tools: number;
  /** Whether the project's `.mcp.json` names it. */
  isProject: boolean;
}

export interface OpenRequest {
  id: string;
  kind: Word<RequestKind>;
  state: Word<'queued' | 'working'>;
  /** When it arrived, in milliseconds since the Unix epoch. */
  since: number;
  /** The lowest number a response to it can have: `replay` from here returns all of them. */
  fromSeq: number;
  conversationId?: string;
  /** The user's message, or its beginning if it is long. */
  message?: string;
}

export interface ErrorData {
  kind: string;
  /** The status of the provider's HTTP answer. */
  status: number | null;
  /** Whether the same request may work later. */
  retryable: boolean;
}

// The `data` of `done`

/** To `user_message`, `regenerate` and `edit_last`. */
export interface TurnEnd {
  stopReason: Word<
    'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled' | 'steered' | 'answered'
  >;
  usage: Usage;
  /** In US dollars; `null` if it is not known. */
  cost: number | null;
  /** The answer to a message with an `outputSchema`. */
  output?: unknown;
  /** How many tool calls were denied; absent if none was. */
  deniedCalls?: number;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

/** To `new_conversation`. */
export interface Created {
  conversationId: string;
}

/** To `fork_conversation` and `rewind`. */
export interface Trimmed {
  /** The new conversation, or the one that was cut. */
  conversationId: string;
  /** The number of its messages. */
  length: number;
}

/** To `compact`. */
export interface Compacted {
  conversationId: string;
  /** How many messages the summary replaces; people still see them. */
  replaced: number;
}

/** To `turn_diff`. */
export interface TurnDiff {
  conversationId: string;
  turn: number;
  /** The number of the message with which it began, counted from 0. */
  message: number;
  /** In milliseconds since the Unix epoch. */
  endedAt: number;
  undone: boolean;
  /** What is not known of the changes, and why. */
  unknown?: string;
  files: ChangedFile[];
}

export interface ChangedFile {
  operation: 'add' | 'update' | 'delete';
  path: string;
  moved_to?: string;
  /** What else happens to it, or why its lines are not shown. */
  note?: string;
  changes: {
    everywhere: boolean;
    lines: { op: ' ' | '+' | '-'; old: number | null; new: number | null; text: string }[];
  }[];
}

/** To `undo_turn`. */
export interface TurnUndone {
  conversationId: string;
  turn: number;
  /** The files that were put back. */
  restored: string[];
  /** The files that were left as they are. */
  left: { path: string; reason: string }[];
}

/** To `leave_out`. */
export interface LeftOut {
  conversationId: string;
  /** The number of the message, counted from 0; people still see it. */
  message: number;
}

/** To `set_mode`. */
export interface ModeSet {
  conversationId: string;
  mode: PermissionMode;
}

/** To `list_conversations`. */
export interface Listed {
  conversations: Conversation[];
  /** The id of the current one. */
  current: string | null;
}

export interface Conversation {
  conversationId: string;
  title?: string;
  /** The number of its messages. */
  length: number;
  createdAt: number;
  updatedAt: number;
  /** The folder in which it began, if that is known. */
  folder?: string;
}

/** To `load_conversation`, as messages. */
export interface Loaded {
  conversationId: string;
  title?: string;
  messages: PastMessage[];
  /** The number of the first of `messages`; a conversation's first message has the number 0. */
  first: number;
  /** The number of messages in the conversation. */
  length: number;
  /** Whether the last turn has no whole answer and nobody works on it. */
  isUnfinished?: boolean;
}

/** To `load_conversation`, as events, which precede it. */
export interface LoadedAsEvents {
  conversationId: string;
  title?: string;
  messages?: never;
  /** The number of the first message whose events were sent. */
  first: number;
  /** The number of messages in the conversation. */
  length: number;
  /** Whether the last turn has no whole answer and nobody works on it. */
  isUnfinished?: boolean;
}

export interface PastMessage {
  role: 'user' | 'assistant';
  content: Block[];
}

/** A part of a message, as in the Messages API: `text`, `image`, `tool_use` and others. */
export interface Block {
  type: string;
  [field: string]: unknown;
}

/** To `list_models`. */
export interface ModelList {
  engines: EngineListing[];
  /** The engine of the current conversation. */
  engine: string;
  /** The model of the current conversation; `null` if it is not known. */
  model: string | null;
}

export interface EngineListing {
  name: Word<'anthropic' | 'openai' | 'claude-code' | 'offline'>;
  /** Whether it can answer now. */
  isAvailable: boolean;
  /** Where it was found, or why it cannot answer and what to do. */
  reason?: string;
  models: ModelListing[];
}

export interface ModelListing {
  id: string;
  title?: string;
  /** In tokens. */
  contextWindow?: number;
}

/** To `set_engine`. */
export interface EngineSet {
  conversationId: string;
  engine: string;
  model: string;
}

/** To `replay`. */
export interface Replayed {
  fromSeq: number;
  /** The number of the last response that was sent again; `fromSeq - 1` if there was none. */
  toSeq: number;
}
