//! `docs/protocol/session.d.ts` matches the protocol: the TypeScript compiler accepts every example
//! of `session.md` and every line below, and refuses what our decoder refuses. The front end of
//! `docs/guide/agent.md` is checked with it, and run.

#![allow(clippy::expect_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use callgate_testkit::process::{Piped, run};
use callgate_testkit::tools::{node22, repo_root, tsc};
use callgate_wire::raw::Members;
use callgate_wire::session::{SessionRequest, SessionResponse, capability};
use serde_json::value::RawValue;
use tempfile::TempDir;

/// The compiler takes a second or two, many times that on a machine with much to do.
const DEADLINE: Duration = Duration::from_mins(3);

/// Messages with more, with less and with other words than the document's examples.
const GOOD: &[&str] = &[
    r#"{"id":"","kind":"user_message","message":"","attachments":[],"metadata":{}}"#,
    r#"{"id":"1","kind":"user_message","message":"\u2028","metadata":{"conversationId":"c","deep":{"a":[1,null]}}}"#,
    r#"{"id":"1","kind":"user_message","message":"","attachments":[{"path":"a","mime":"b"},{"data":"aGk=","mime":"b"},{"data":"","mime":"b","name":"c"}]}"#,
    r#"{"id":"1","kind":"user_message","message":"","images":"[]"}"#,
    r#"{"id":"1","kind":"user_message","message":"","images":[{"data":"aGk=","mime_type":"image/png","name":"a"}]}"#,
    r#"{"id":"1","kind":"clear_history","metadata":{"conversationId":"c"}}"#,
    r#"{"id":"1","kind":"hello","capabilities":[]}"#,
    r#"{"id":"1","kind":"hello","capabilities":["thinking","what nobody knows yet"]}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow"}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow","input":{"a":[1]}}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow_always","message":"fine"}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"deny"}"#,
    r#"{"id":"1","kind":"new_conversation"}"#,
    r#"{"id":"1","kind":"new_conversation","title":"T"}"#,
    r#"{"id":"1","kind":"list_conversations"}"#,
    r#"{"id":"1","kind":"list_conversations","search":"words"}"#,
    r#"{"id":"1","kind":"load_conversation","conversationId":"c"}"#,
    r#"{"id":"1","kind":"load_conversation","conversationId":"c","as":"messages"}"#,
    r#"{"id":"1","kind":"regenerate","metadata":{"conversationId":"c"}}"#,
    r#"{"id":"1","kind":"edit_last","message":"","attachments":[{"path":"a","mime":"b"}]}"#,
    r#"{"id":"1","kind":"replay","fromSeq":0}"#,
    r#"{"id":"1","kind":"list_models","engine":"e"}"#,
    r#"{"id":"1","kind":"set_engine","engine":"e","metadata":{"conversationId":"c"}}"#,
    r#"{"type":"ready","timestamp":0}"#,
    r#"{"type":"ready","version":"9","capabilities":["new"],"timestamp":0,"seq":1}"#,
    r#"{"type":"token","id":"","token":"","timestamp":0,"seq":2}"#,
    r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"n","input":"any"},"timestamp":0}"#,
    r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"n","input":{},"kind":"another","locations":[]},"timestamp":0}"#,
    r#"{"type":"user_message","id":"1","data":{"message":""},"timestamp":0}"#,
    r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"n","result":null},"timestamp":0}"#,
    r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"n","result":[1],"isError":true},"timestamp":0}"#,
    r#"{"type":"tool_progress","id":"1","data":{"toolId":"t","stream":"stderr","text":""},"timestamp":0}"#,
    r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"n","input":{},"title":""},"timestamp":0}"#,
    r#"{"type":"permission_resolved","id":"1","data":{"question":"q","decision":"another","text":""},"timestamp":0}"#,
    r#"{"id":"1","kind":"question_answer","question":"q","outcome":"cancelled"}"#,
    r#"{"type":"question","id":"1","data":{"question":"q","toolId":"t","text":"","fields":[{"name":"a","title":"A","required":true,"type":"number","maximum":2.5}]},"timestamp":0}"#,
    r#"{"type":"question_resolved","id":"1","data":{"question":"q","outcome":"another","text":""},"timestamp":0}"#,
    r#"{"type":"notice","id":"1","data":{"kind":"another","text":""},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"edit_last","stopReason":"another","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"cost":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"list_conversations","conversations":[],"current":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"load_conversation","conversationId":"c","messages":[{"role":"assistant","content":[{"type":"another","a":1}]}],"first":0,"length":1},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"load_conversation","conversationId":"c","first":0,"length":1},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"list_models","engines":[],"engine":"e","model":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","timestamp":0}"#,
    r#"{"type":"error","id":null,"error":"","timestamp":0,"seq":3}"#,
    r#"{"type":"error","id":"1","error":"","data":{"kind":"another","status":529,"retryable":true},"timestamp":0}"#,
    r#"{"type":"status","id":"1","data":{"state":"another","conversationLength":0,"uptime":0},"timestamp":0}"#,
    r#"{"type":"status","id":"1","data":{"state":"busy","conversationLength":0,"uptime":0,"requests":[{"id":"0","kind":"another","state":"another","since":1,"fromSeq":2}],"questions":[]},"timestamp":0}"#,
];

/// No messages of this protocol, for both.
const BAD: &[&str] = &[
    r#"{"id":"1","kind":"fly"}"#,
    r#"{"id":"1"}"#,
    r#"{"id":1,"kind":"get_status"}"#,
    r#"{"kind":"get_status"}"#,
    r#"{"id":"1","kind":"user_message"}"#,
    r#"{"id":"1","kind":"user_message","message":7}"#,
    r#"{"id":"1","kind":"user_message","message":"","attachments":[{"path":"a"}]}"#,
    r#"{"id":"1","kind":"user_message","message":"","attachments":["a"]}"#,
    r#"{"id":"1","kind":"user_message","message":"","attachments":[{"mime":"b"}]}"#,
    r#"{"id":"1","kind":"user_message","message":"","attachments":[{"path":"a","data":"","mime":"b"}]}"#,
    r#"{"id":"1","kind":"user_message","message":"","attachments":[{"data":"","mime":"b","name":7}]}"#,
    r#"{"id":"1","kind":"user_message","message":"","images":7}"#,
    r#"{"id":"1","kind":"user_message","message":"","images":[{"data":"aGk="}]}"#,
    r#"{"id":"1","kind":"user_message","message":"","metadata":"c"}"#,
    r#"{"id":"1","kind":"hello"}"#,
    r#"{"id":"1","kind":"hello","capabilities":[7]}"#,
    r#"{"id":"1","kind":"cancel"}"#,
    r#"{"id":"1","kind":"cancel","target":1}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q"}"#,
    r#"{"id":"1","kind":"permission_answer","decision":"deny"}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"perhaps"}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow","input":7}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow_always","input":{}}"#,
    r#"{"id":"1","kind":"permission_answer","question":"q","decision":"deny","input":{}}"#,
    r#"{"id":"1","kind":"new_conversation","conversationId":7}"#,
    r#"{"id":"1","kind":"new_conversation","title":7}"#,
    r#"{"id":"1","kind":"list_conversations","limit":"7"}"#,
    r#"{"id":"1","kind":"list_conversations","before":"7"}"#,
    r#"{"id":"1","kind":"list_conversations","search":7}"#,
    r#"{"id":"1","kind":"load_conversation"}"#,
    r#"{"id":"1","kind":"load_conversation","conversationId":"c","before":"7"}"#,
    r#"{"id":"1","kind":"load_conversation","conversationId":"c","as":"pictures"}"#,
    r#"{"id":"1","kind":"rename_conversation","conversationId":"c"}"#,
    r#"{"id":"1","kind":"rename_conversation","title":"T"}"#,
    r#"{"id":"1","kind":"delete_conversation"}"#,
    r#"{"id":"1","kind":"regenerate","metadata":[]}"#,
    r#"{"id":"1","kind":"edit_last"}"#,
    r#"{"id":"1","kind":"replay"}"#,
    r#"{"id":"1","kind":"replay","fromSeq":"7"}"#,
    r#"{"id":"1","kind":"list_models","engine":7}"#,
    r#"{"id":"1","kind":"set_engine"}"#,
    r#"{"id":"1","kind":"set_engine","engine":"e","model":7}"#,
    r#"{"type":"fly","id":"1","timestamp":0}"#,
    r#"{"type":"ready"}"#,
    r#"{"type":"ready","capabilities":"all","timestamp":0}"#,
    r#"{"type":"token","id":"1","timestamp":0}"#,
    r#"{"type":"token","token":"","timestamp":0}"#,
    r#"{"type":"token","id":null,"token":"","timestamp":0}"#,
    r#"{"type":"token","id":"1","token":""}"#,
    r#"{"type":"token","id":"1","token":"","timestamp":"0"}"#,
    r#"{"type":"token","id":"1","token":"","timestamp":0,"seq":"1"}"#,
    r#"{"type":"thinking","id":"1","token":"","timestamp":0}"#,
    r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"n"},"timestamp":0}"#,
    r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"n","input":{},"locations":[{"line":1}]},"timestamp":0}"#,
    r#"{"type":"user_message","id":"1","data":{},"timestamp":0}"#,
    r#"{"type":"user_message","id":"1","data":{"message":"","attachments":[{"mime":"a"}]},"timestamp":0}"#,
    r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"n"},"timestamp":0}"#,
    r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"n","result":1,"isError":1},"timestamp":0}"#,
    r#"{"type":"tool_progress","id":"1","data":{"toolId":"t","stream":"log","text":""},"timestamp":0}"#,
    r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"n","input":{}},"timestamp":0}"#,
    r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"n","input":{},"title":"","deadline":"soon"},"timestamp":0}"#,
    r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"n","input":{},"title":"","canAllowAlways":"no"},"timestamp":0}"#,
    r#"{"type":"permission_resolved","id":"1","data":{"question":"q","text":""},"timestamp":0}"#,
    r#"{"id":"1","kind":"question_answer","question":"q"}"#,
    r#"{"id":"1","kind":"question_answer","question":"q","outcome":"allow"}"#,
    r#"{"type":"question","id":"1","data":{"question":"q","toolId":"t","text":"","fields":[{"name":"a","title":"A","required":true,"type":"colour"}]},"timestamp":0}"#,
    r#"{"type":"question_resolved","id":"1","data":{"question":"q","text":""},"timestamp":0}"#,
    r#"{"type":"notice","id":"1","data":{"text":""},"timestamp":0}"#,
    r#"{"type":"notice","id":"1","timestamp":0}"#,
    r#"{"type":"done","id":null,"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":7,"timestamp":0}"#,
    r#"{"type":"error","id":"1","timestamp":0}"#,
    r#"{"type":"error","error":"","timestamp":0}"#,
    r#"{"type":"error","id":"1","error":"","data":{"kind":"cut"},"timestamp":0}"#,
    r#"{"type":"status","id":"1","data":{"state":"idle","uptime":0},"timestamp":0}"#,
    r#"{"type":"status","id":"1","data":{"state":"idle","conversationLength":0,"uptime":0,"engine":7},"timestamp":0}"#,
    r#"{"type":"status","id":"1","data":{"state":"busy","conversationLength":0,"uptime":0,"requests":[{"id":"0"}]},"timestamp":0}"#,
    r#"{"type":"status","id":"1","data":{"state":"busy","conversationLength":0,"uptime":0,"questions":[{"type":"permission_request","id":"0","data":{},"timestamp":1}]},"timestamp":0}"#,
];

/// What the types alone refuse: our reader takes whatever object `done` has, and leaves it to
/// whoever asked.
const BAD_ENDS: &[&str] = &[
    r#"{"type":"done","id":"1","data":{"kind":"user_message","stopReason":7,"usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"cost":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"user_message","stopReason":"end_turn","usage":{"inputTokens":0},"cost":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"user_message","stopReason":"end_turn","cost":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"list_conversations","conversations":[{"conversationId":"c"}],"current":null},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"load_conversation","conversationId":"c","messages":[{"role":"system","content":[]}],"first":0,"length":1},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"replay","fromSeq":1},"timestamp":0}"#,
    // Each with the kind of another request, of one that says nothing, and of none.
    r#"{"type":"done","id":"1","data":{"kind":"replay","conversationId":"c"},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"user_message","fromSeq":1,"toSeq":1},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"kind":"hello"},"timestamp":0}"#,
    r#"{"type":"done","id":"1","data":{"fromSeq":1,"toSeq":1},"timestamp":0}"#,
];

/// The first version of the protocol, before it had extensions: what was right then is right now.
const FIRST_VERSION: &str = "
type Asked<K extends string> = { id: string; kind: K };
type FirstRequest =
  | (Asked<'user_message'> & { message: string; attachments?: Array<{ path: string; mime: string }>; metadata?: Record<string, unknown> })
  | Asked<'clear_history'>
  | Asked<'get_status'>;
type Answered<T extends string> = { type: T; id: string; timestamp: number };
type FirstResponse =
  | { type: 'ready'; timestamp: number; version?: string; capabilities?: string[] }
  | (Answered<'token'> & { token: string })
  | (Answered<'tool_use'> & { data: { toolId: string; toolName: string; input: unknown } })
  | (Answered<'tool_result'> & { data: { toolId: string; toolName: string; result: unknown } })
  | Answered<'done'>
  | (Answered<'error'> & { error: string })
  | (Answered<'status'> & { data: { state: string; conversationLength: number; uptime: number } });
export const request = (first: FirstRequest): AgentRequest => first;
export const response = (first: FirstResponse): AgentResponse => first;
";

/// A front end: `type` alone tells which fields there are, and no type was forgotten.
const FRONT_END: &str = "
export function shown(response: AgentResponse): string {
  switch (response.type) {
    case 'ready': return response.version ?? '';
    case 'token': return response.token;
    case 'thinking': return response.thinking;
    case 'user_message': return response.data.message;
    case 'tool_use': return response.data.kind ?? response.data.toolName;
    case 'tool_result': return response.data.isError ? 'failed' : 'fine';
    case 'tool_input': return response.data.text;
    case 'tool_call': return response.data.toolName;
    case 'tool_progress': return response.data.text;
    case 'usage': return String(response.data.cost ?? response.data.contextTokens);
    case 'permission_request': return response.data.diff ?? response.data.title;
    case 'permission_resolved': return response.data.text;
    case 'question': return response.data.fields.map((field) => field.type).join();
    case 'question_resolved': return response.data.outcome;
    case 'turn_changes': return response.data.unknown ?? String(response.data.turn);
    case 'notice': return response.data.text;
    case 'done': return end(response);
    case 'error': return response.error;
    case 'status': return response.data.engine ?? response.data.state;
    default: { const none: never = response; return none; }
  }
}

// The kind tells which object it is, and no kind was forgotten.
function end(response: DoneResponse): string {
  const data = response.data;
  switch (data?.kind) {
    case 'user_message': case 'regenerate': case 'edit_last': return data.stopReason;
    case 'new_conversation': return data.conversationId;
    case 'list_conversations': return data.conversations[0]?.title ?? '';
    case 'load_conversation': return String(data.messages?.length ?? data.length);
    case 'list_models': return data.engines[0]?.models[0]?.id ?? data.engine;
    case 'set_engine': return data.model;
    case 'fork_conversation': return data.conversationId;
    case 'rewind': return String(data.length);
    case 'compact': return String(data.replaced);
    case 'leave_out': return String(data.message);
    case 'turn_diff': return data.files[0]?.changes[0]?.lines[0]?.text ?? '';
    case 'undo_turn': return data.left[0]?.reason ?? '';
    case 'set_mode': return data.mode;
    case 'find_files': return data.files[0]?.name ?? '';
    case 'read_file': return data.content;
    case 'replay': return String(data.toSeq);
    case undefined: return '';
    default: { const none: never = data; return none; }
  }
}

// Who knows what it has asked knows what it gets.
export const listed = (response: DoneResponse<'list_conversations'>): number | undefined =>
  response.data?.conversations.length;
export const silent = (response: DoneResponse<'hello'>): undefined => response.data;
";

/// What the guide's front end uses of Node's own modules.
const NODE: &str = "
interface Writes { write(text: string): boolean; end(): void }
interface Reads { setEncoding(encoding: 'utf8'): this; on(event: 'data', take: (text: string) => void): this }
declare const process: { stdin: Reads; stdout: Writes; exit(): never };
declare module 'node:child_process' {
  interface Child { stdin: Writes; stdout: Reads; on(event: 'exit', take: () => void): this }
  export function spawn(command: string, args: string[], options: { stdio: string[] }): Child;
}
declare module 'node:readline' {
  interface Lines { on(event: 'line', take: (line: string) => void): this; on(event: 'close', take: () => void): this }
  export function createInterface(options: { input: Reads }): Lines;
}
";

/// What a front end does with the types of the runtime's tools.
const TOOLS: &str = "\
import type { RuntimeTools } from './runtime-tools';
export function lines(result: RuntimeTools['read_file']['result']): string[] {
  return result.content.split('\\n').map((line, at) => `${result.firstLine + at} ${line}`);
}
export const call: RuntimeTools['run_shell_command']['input'] = { command: 'ls', args: ['-l'] };
// @ts-expect-error a program is needed
export const wrong: RuntimeTools['run_shell_command']['input'] = { args: [] };
";

#[test]
fn typescript_takes_what_we_take_and_refuses_what_we_refuse() {
    let Some(mut tsc) = tsc() else { return };
    let folder = TempDir::with_prefix("callgate-types-").unwrap();
    for name in ["session.d.ts", "runtime-tools.d.ts"] {
        fs::copy(document(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("tools.ts"), TOOLS).unwrap();
    fs::write(folder.path().join("check.ts"), source()).unwrap();
    fs::write(folder.path().join("chat.mts"), front_end()).unwrap();
    fs::write(folder.path().join("node.d.ts"), NODE).unwrap();
    tsc.current_dir(folder.path());
    tsc.args(["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUnusedLocals"]);
    tsc.args(["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"]);
    tsc.args(["check.ts", "chat.mts", "tools.ts", "node.d.ts"]);
    let ended = run(tsc, DEADLINE);
    assert!(ended.status.success(), "{}\n{}", ended.stdout, numbered(&source()));
}

#[test]
fn the_lines_are_good_and_bad_for_us_too() {
    for line in examples().iter().map(String::as_str).chain(GOOD.iter().copied()) {
        assert_eq!(refused(line), None, "{line}");
    }
    for line in BAD {
        assert!(refused(line).is_some(), "{line}");
    }
    for line in BAD_ENDS {
        assert_eq!(refused(line), None, "{line}");
    }
}

/// The guide's front end, as its reader starts it: with Node, and `callgate` on the PATH.
#[test]
fn the_front_end_of_the_guide_talks_and_answers_questions() {
    let front_end = front_end();
    assert!(front_end.lines().count() <= 40, "it has {} lines", front_end.lines().count());
    let Some(node) = node22() else { return };
    let home = TempDir::with_prefix("callgate-front-end-").unwrap();
    fs::write(home.path().join("chat.mts"), front_end).unwrap();
    fs::write(home.path().join("old.txt"), "before\u{2028}after\n").unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_callgate"));
    let mut command = Command::new(node);
    command.arg("chat.mts").current_dir(home.path()).env_clear();
    command.env("HOME", home.path()).env("PATH", program.parent().unwrap());
    command.env("CALLGATE_SOCKET", home.path().join("ask.sock"));
    let mut chat = Piped::spawn(command).deadline(DEADLINE);
    // It begins with a question of the runtime's, and a person's yes.
    chat.send(r#"write "hello" to new.txt"#);
    let asked = until(&mut chat, "?");
    assert!(asked.contains("[edit] "), "{asked}");
    assert!(asked.contains("+hello"), "{asked}");
    assert!(asked.ends_with(": y, n or always?\n"), "{asked}");
    assert!(!home.path().join("new.txt").exists());
    chat.send("y");
    until(&mut chat, "new.txt");
    // A line ends where the protocol says, and nowhere else.
    chat.send("read old.txt");
    until(&mut chat, "before\u{2028}after");
    chat.send(r#"write "no" to other.txt"#);
    until(&mut chat, "?");
    chat.send("n");
    until(&mut chat, "Denied");
    chat.close_stdin();
    assert!(chat.wait_exit(DEADLINE).success(), "{}", chat.stderr());
    assert_eq!(fs::read_to_string(home.path().join("new.txt")).unwrap(), "hello");
    assert!(!home.path().join("other.txt").exists());
}

/// The lines that come until one has this text, all of them.
fn until(chat: &mut Piped, text: &str) -> String {
    let mut all = String::new();
    loop {
        let line = chat.recv_line();
        all.push_str(&line);
        all.push('\n');
        if line.contains(text) {
            return all;
        }
    }
}

/// The front end in the guide.
fn front_end() -> String {
    let guide = fs::read_to_string(repo_root().join("docs/guide/agent.md")).expect("the guide");
    let (_, block) = guide.split_once("```ts\n").expect("the guide has a front end");
    block.split("```").next().expect("a block has an end").to_owned()
}

fn document(name: &str) -> PathBuf {
    repo_root().join("docs/protocol").join(name)
}

/// All that the compiler is to look at.
fn source() -> String {
    let examples = examples();
    let good: Vec<&str> = examples.iter().map(String::as_str).chain(GOOD.iter().copied()).collect();
    let mut lines = vec![
        "import type { AgentRequest, AgentResponse, Capability, DoneResponse } from './session';"
            .to_owned(),
    ];
    lines.extend(constants("good", &good));
    let bad: Vec<&str> = BAD.iter().chain(BAD_ENDS).copied().collect();
    for constant in constants("bad", &bad) {
        lines.extend(["// @ts-expect-error".to_owned(), constant]);
    }
    lines.push(words(&good, "AgentRequest", "kind"));
    lines.push(words(&good, "AgentResponse", "type"));
    lines.push(format!("export const all: Capability[] = {:?};", capability::ALL));
    lines.extend([FIRST_VERSION.to_owned(), FRONT_END.to_owned()]);
    lines.join("\n")
}

fn constants(name: &str, messages: &[&str]) -> Vec<String> {
    let constant = |(at, message): (usize, &&str)| {
        format!("export const {name}{at}: {} = {message};", side(message))
    };
    messages.iter().enumerate().map(constant).collect()
}

/// Has the compiler see that each type has a message here, and each message a type.
fn words(messages: &[&str], side: &str, field: &str) -> String {
    let words: BTreeSet<String> = messages.iter().filter_map(|line| word(line, field)).collect();
    let words: Vec<String> = words.iter().map(|word| format!("{word}: true")).collect();
    let words = words.join(", ");
    format!("export const {field}s: Record<{side}['{field}'], true> = {{ {words} }};")
}

/// The messages in the document, each on a line.
fn examples() -> Vec<String> {
    let text = fs::read_to_string(document("session.md")).expect("the document is there");
    let mut messages = Vec::new();
    for block in text.split("```json session-").skip(1) {
        let (_, block) = block.split_once('\n').expect("a block has lines");
        let block = block.split("```").next().unwrap_or_default();
        let each = serde_json::Deserializer::from_str(block).into_iter();
        let each = each.map(|message: Result<Box<RawValue>, _>| message.expect("JSON"));
        messages.extend(each.map(|message| message.get().replace('\n', " ")));
    }
    assert!(messages.len() > 40, "the document has lost its examples");
    messages
}

/// Which of the two a message is meant to be.
fn side(line: &str) -> &'static str {
    if word(line, "type").is_some() { "AgentResponse" } else { "AgentRequest" }
}

fn word(line: &str, field: &str) -> Option<String> {
    Members::from_text(line).expect("an object").get(field).map(|word| word.to_string())
}

fn refused(line: &str) -> Option<String> {
    let refusal = match side(line) {
        "AgentRequest" => SessionRequest::decode(line.as_bytes()).err(),
        _ => SessionResponse::decode(line.as_bytes()).err(),
    };
    refusal.map(|refusal| refusal.to_string())
}

fn numbered(source: &str) -> String {
    let lines: Vec<String> =
        source.lines().enumerate().map(|(at, line)| format!("{}: {line}", at + 1)).collect();
    lines.join("\n")
}
