/**
 * The session protocol (session.md) in TypeScript: what a front end writes to the runtime's stdin
 * and reads from its stdout, one JSON object a line. Types only; nothing here exists at run time.
 */

/** What a front end sends. */
export type AgentRequest =
  | UserMessageRequest
  | ClearHistoryRequest
  | GetStatusRequest
  | HelloRequest
  | ExtensionRequest;

/** What is served only after `hello`. */
export type ExtensionRequest =
  | CancelRequest
  | PermissionAnswerRequest
  | NewConversationRequest
  | ListConversationsRequest
  | LoadConversationRequest
  | RenameConversationRequest
  | DeleteConversationRequest
  | RegenerateRequest
  | EditLastRequest
  | ReplayRequest;

/** What a runtime sends. A front end passes over types that it does not know. */
export type AgentResponse =
  | ReadyResponse
  | TokenResponse
  | ToolUseResponse
  | ToolResultResponse
  | EndResponse
  | ExtensionResponse;

/** The last response to a request. */
export type EndResponse = DoneResponse | ErrorResponse | StatusResponse;

/** What is sent only to a front end whose `hello` asked for it, or that asked for it later. */
export type ExtensionResponse =
  | UserMessageResponse
  | ThinkingResponse
  | ToolProgressResponse
  | PermissionRequestResponse
  | PermissionResolvedResponse
  | NoticeResponse;

/** One of the known words, or another one, which a reader accepts. */
export type Word<Known extends string> = Known | (string & {});

/** What a runtime can do, and what a front end can take. */
export type Capability = Word<
  | 'streaming'
  | 'tools'
  | 'attachments'
  | 'inline_attachments'
  | 'engine'
  | 'hello'
  | 'cancel'
  | 'permission'
  | 'conversations'
  | 'load_events'
  | 'edit'
  | 'thinking'
  | 'tool_progress'
  | 'notice'
  | 'replay'
>;

/**
 * Context of the front end's own. Where it has a `conversationId`, that is the conversation of the
 * request: a string of 1 to 128 bytes without control characters.
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
  /** Where the file lies; a relative path counts from the runtime's working folder. */
  path: string;
  /** The file's media type. */
  mime: string;
  data?: never;
}

/** For a front end that has no paths, such as a page. */
export interface InlineAttachment {
  /** The file itself, in base64 or as a `data:` URL with base64. */
  data: string;
  /** The file's media type. */
  mime: string;
  /** What it is called, in at most 256 characters. */
  name?: string;
  path?: never;
}

/** A picture as a front end of the first version sends it. */
export interface FirstVersionImage {
  data: string;
  mime_type: string;
  name?: string;
}

/** What the user said. */
export interface Said {
  message: string;
  attachments?: Attachment[];
  /** Further attachments of a front end of the first version: the array, or its JSON. */
  images?: string | FirstVersionImage[];
  metadata?: Metadata;
}

export interface UserMessageRequest extends Requested<'user_message'>, Said {}

export interface ClearHistoryRequest extends Requested<'clear_history'> {
  metadata?: Metadata;
}

export interface GetStatusRequest extends Requested<'get_status'> {}

export interface HelloRequest extends Requested<'hello'> {
  /** What the front end takes: `thinking`, `tool_progress`, `permission`, `notice`. */
  capabilities: Capability[];
}

export interface CancelRequest extends Requested<'cancel'> {
  /** The id of the request that is to end. */
  target: string;
}

export type PermissionAnswerRequest = AllowRequest | AllowAlwaysRequest | DenyRequest;

export interface PermissionAnswer<Decision extends string>
  extends Requested<'permission_answer'> {
  /** The `question` of the `permission_request`. */
  question: string;
  decision: Decision;
  /** Why not, in the user's words; it counts with `deny`. */
  message?: string;
}

export interface AllowRequest extends PermissionAnswer<'allow'> {
  /** The tool's arguments as the user has changed them. */
  input?: Record<string, unknown>;
}

export interface AllowAlwaysRequest extends PermissionAnswer<'allow_always'> {
  input?: never;
}

export interface DenyRequest extends PermissionAnswer<'deny'> {
  input?: never;
}

export interface NewConversationRequest extends Requested<'new_conversation'> {
  conversationId?: string;
  title?: string;
}

export interface ListConversationsRequest extends Requested<'list_conversations'> {
  limit?: number;
  /** Only those whose `updatedAt` is less. */
  before?: number;
}

export interface LoadConversationRequest extends Requested<'load_conversation'> {
  conversationId: string;
  limit?: number;
  /** Only messages of a lower number. */
  before?: number;
  /** Whether the messages are all in the `done`, which is meant without this, or come as events. */
  as?: 'messages' | 'events';
}

export interface RenameConversationRequest extends Requested<'rename_conversation'> {
  conversationId: string;
  title: string;
}

export interface DeleteConversationRequest extends Requested<'delete_conversation'> {
  conversationId: string;
}

export interface RegenerateRequest extends Requested<'regenerate'> {
  metadata?: Metadata;
}

export interface EditLastRequest extends Requested<'edit_last'>, Said {}

export interface ReplayRequest extends Requested<'replay'> {
  /** The number of the first response that is wanted again. */
  fromSeq: number;
}

// Responses

export interface Numbered<Type extends string> {
  type: Type;
  /** Milliseconds since the Unix epoch. */
  timestamp: number;
  /** The response's number; from `hello` on every response has it. */
  seq?: number;
}

export interface Reply<Type extends string> extends Numbered<Type> {
  /** The request that this is about. */
  id: string;
}

export interface ReadyResponse extends Numbered<'ready'> {
  version?: string;
  capabilities?: Capability[];
}

/** What the user said, in a conversation that is loaded as events. */
export interface UserMessageResponse extends Reply<'user_message'> {
  data: {
    message: string;
    attachments?: PastAttachment[];
  };
}

export interface PastAttachment {
  mime: string;
  name?: string;
  /** How many bytes it has. */
  size: number;
  /** In base64: of a picture or a document, where it fits into the line. */
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
    /** An object from a runtime by session.md; a reader accepts any JSON. */
    input: unknown;
    /** What the tool does; said after `hello`. */
    kind?: ToolKind;
    /** The files and folders that the call is about; said after `hello`. */
    locations?: ToolLocation[];
  };
}

/** What a tool does, as the Agent Client Protocol has it. */
export type ToolKind = Word<
  'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other'
>;

export interface ToolLocation {
  /** An absolute path. */
  path: string;
  /** The line in it, counted from 1, where the call begins with one. */
  line?: number;
}

export interface ToolResultResponse extends Reply<'tool_result'> {
  data: {
    toolId: string;
    toolName: string;
    result: unknown;
    /** Whether the tool failed or did not run; said after `hello`. */
    isError?: boolean;
  };
}

export interface ToolProgressResponse extends Reply<'tool_progress'> {
  data: {
    toolId: string;
    stream: 'stdout' | 'stderr';
    /** To be appended to what this stream said before. */
    text: string;
  };
}

export interface PermissionRequestResponse extends Reply<'permission_request'> {
  data: {
    /** Names the question. */
    question: string;
    toolId: string;
    toolName: string;
    /** The tool's arguments, secrets hidden. */
    input: unknown;
    /** What is about to happen, in one line. */
    title: string;
    /** Why it has to be asked. */
    reason?: string;
    /** Whether `allow_always` is on offer. */
    canAllowAlways?: boolean;
    /** Until when an answer counts, in milliseconds since the Unix epoch. */
    deadline?: number;
    /** What would change in a file: a unified diff, secrets hidden. */
    diff?: string;
  };
}

export interface PermissionResolvedResponse extends Reply<'permission_resolved'> {
  data: {
    question: string;
    decision: Word<'allow' | 'deny' | 'timeout'>;
    text: string;
  };
}

export interface NoticeResponse extends Reply<'notice'> {
  data: {
    kind: Word<'working' | 'compacted' | 'retry' | 'queued' | 'interrupted'>;
    text: string;
  };
}

/** The end of a request of this kind; of any kind, where none is named. */
export interface DoneResponse<Kind extends RequestKind = RequestKind> extends Reply<'done'> {
  /** What came of the request; said after `hello`, by the requests that have something to say. */
  data?: DoneData<Kind>;
}

export type RequestKind = AgentRequest['kind'];

/** What the `done` of a request of this kind says: its `kind` tells which object it is. */
export type DoneData<Kind extends RequestKind = RequestKind> = Kind extends keyof DoneDataByKind
  ? { kind: Kind } & DoneDataByKind[Kind]
  : never;

/** What `done` says beside its `kind`, by the kind of the request; the others say nothing. */
export interface DoneDataByKind {
  user_message: TurnEnd;
  regenerate: TurnEnd;
  edit_last: TurnEnd;
  new_conversation: Created;
  list_conversations: Listed;
  load_conversation: Loaded | LoadedAsEvents;
  replay: Replayed;
}

export interface ErrorResponse extends Numbered<'error'> {
  /** `null`, after `hello`, where the error is about a line whose id could not be read. */
  id: string | null;
  /** For a person. */
  error: string;
  /** For programs; said after `hello`. */
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
    /** The requests that have no end yet; said after `hello`. */
    requests?: OpenRequest[];
    /** The questions that wait for an answer, as they were asked; said after `hello`. */
    questions?: PermissionRequestResponse[];
  };
}

export interface OpenRequest {
  id: string;
  kind: Word<RequestKind>;
  state: Word<'queued' | 'working'>;
  /** When it came, in milliseconds since the Unix epoch. */
  since: number;
  /** No response to it has a lower number: `replay` from here on gives what was said about it. */
  fromSeq: number;
  conversationId?: string;
  /** What the user said, its beginning if it is long. */
  message?: string;
}

export interface ErrorData {
  kind: string;
  /** The status of the provider's HTTP answer. */
  status: number | null;
  /** Whether the same request may work later. */
  retryable: boolean;
}

// What `done` says

/** To `user_message`, `regenerate` and `edit_last`. */
export interface TurnEnd {
  stopReason: Word<'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled'>;
  usage: Usage;
  /** In US dollars; `null` where it is not known. */
  cost: number | null;
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

/** To `list_conversations`. */
export interface Listed {
  conversations: Conversation[];
  /** The id of the current one. */
  current: string | null;
}

export interface Conversation {
  conversationId: string;
  title?: string;
  /** How many messages it has. */
  length: number;
  createdAt: number;
  updatedAt: number;
}

/** To `load_conversation`, as messages. */
export interface Loaded {
  conversationId: string;
  title?: string;
  messages: PastMessage[];
  /** The number of the first of `messages`; a conversation's first message has the number 0. */
  first: number;
  /** How many messages the conversation has. */
  length: number;
}

/** To `load_conversation`, as events, which came before. */
export interface LoadedAsEvents {
  conversationId: string;
  title?: string;
  messages?: never;
  /** The number of the first message whose events came. */
  first: number;
  /** How many messages the conversation has. */
  length: number;
}

export interface PastMessage {
  role: 'user' | 'assistant';
  content: Block[];
}

/** A part of a message, as the Messages API has it: `text`, `image`, `tool_use` and others. */
export interface Block {
  type: string;
  [field: string]: unknown;
}

/** To `replay`. */
export interface Replayed {
  fromSeq: number;
  /** The number of the last response that came again; `fromSeq - 1` when there was none. */
  toSeq: number;
}
