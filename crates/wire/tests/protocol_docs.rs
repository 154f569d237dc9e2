//! Every JSON example in `docs/protocol/` is a message that our types read and write back.
//!
//! A fenced block says what it holds after the word `json`, as in `json session-request`. It may
//! hold several messages, one after the other. A block that does not say what it holds, and a
//! document without any block, fail the test: an example that nobody checks goes stale.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io, iter};

use callgate_wire::approval::AllowDemand;
use callgate_wire::ledger::{
    AnswerChannel, ClosedHow, LedgerEvent, LedgerMember, LedgerRuling, MemberKind, PressOutcome,
};
use callgate_wire::raw::{Json, Members, json_string};
use callgate_wire::{approval, desk, mcp, relay, session, tools};
use expect_test::expect;
use serde_json::Value;
use serde_json::value::RawValue;

/// One fenced block of JSON.
#[derive(Debug, PartialEq)]
struct Block {
    /// The line of its opening fence, counted from 1.
    line: usize,
    /// What follows `json` on that line.
    tag: String,
    text: String,
}

#[test]
fn examples_round_trip() {
    let mut wrong = Vec::new();
    for path in documents().expect("docs/protocol is there") {
        wrong.extend(check_document(&path).expect("a readable document"));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_protocol_has_a_document() {
    let documents = documents().expect("docs/protocol is there");
    for name in ["session.md", "approval.md", "desk.md", "relay.md", "tools.md", "ledger.md"] {
        assert!(documents.iter().any(|path| path.ends_with(name)), "docs/protocol/{name} is gone");
    }
}

#[test]
fn every_kind_of_entry_is_documented_as_it_is_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol/ledger.md");
    let document = fs::read_to_string(path).expect("docs/protocol/ledger.md is there");
    let mut sections = document.split("\n## `").skip(1);
    let mut kinds = LedgerEvent::MEMBERS.chunk_by(|(one, _), (other, _)| one == other);
    let mut documented = BTreeSet::new();
    for (section, bodies) in sections.by_ref().zip(kinds.by_ref()) {
        let name = bodies[0].0.name();
        assert!(section.starts_with(&format!("{name}`\n\n")), "{name} is next, not {section}");
        let bodies = bodies.iter().map(|(_, members)| *members).filter(|of| !of.is_empty());
        let tables = tables(section, "member | value");
        assert_eq!(tables.len(), bodies.clone().count(), "the tables of {name}");
        for (table, members) in tables.iter().zip(bodies) {
            check_table(name, table, members);
            documented.extend(table.iter().map(|row| (members.as_ptr(), row[0])));
        }
    }
    assert!(sections.next().is_none() && kinds.next().is_none(), "as many sections as kinds");
    for (kind, members) in LedgerEvent::MEMBERS {
        for member in *members {
            let is_there = documented.contains(&(members.as_ptr(), member.name));
            assert!(is_there, "{} of {kind:?} is not documented", member.name);
        }
    }
    for (title, words) in [
        ("ruling", words(LedgerRuling::ALL, LedgerRuling::name)),
        ("channel", channels()),
        ("outcome", words(PressOutcome::ALL, PressOutcome::name)),
        ("how", words(ClosedHow::ALL, ClosedHow::name)),
    ] {
        let tables = tables(&document, title);
        let rows: Vec<&str> = tables.iter().flatten().map(|row| row[0]).collect();
        assert_eq!(rows, words, "the words of {title}");
    }
    let blocks = json_blocks(&document).expect("closed blocks");
    let entries = blocks.iter().flat_map(|block| messages(&block.text).expect("entries"));
    let mut examples: Vec<String> = entries.map(|entry| variant_of(entry.get())).collect();
    examples.dedup();
    assert_eq!(examples.len(), LedgerEvent::MEMBERS.len(), "an example of each: {examples:?}");
}

/// The rows of each table with this head, whose last column is the meaning.
fn tables<'a>(text: &'a str, head: &str) -> Vec<Vec<Vec<&'a str>>> {
    let columns = "|---".repeat(head.split(" | ").count() + 1);
    let head = format!("\n| {head} | meaning |\n{columns}|\n");
    let rows = |table: &'a str| table.lines().take_while(|line| line.starts_with("| `"));
    let cells = |row: &'a str| {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        iter::once(cells[0].trim_matches('`')).chain(cells[1..].iter().copied()).collect()
    };
    text.split(&head).skip(1).map(|table| rows(table).map(cells).collect()).collect()
}

/// A table lists the members in their order, and leaves out only optional ones: those that entries
/// of this kind never have.
fn check_table(kind: &str, table: &[Vec<&str>], members: &[LedgerMember]) {
    let mut members = members.iter();
    for row in table {
        let member = loop {
            let next = members.next();
            let member = next.unwrap_or_else(|| panic!("{kind} has no {} there", row[0]));
            if member.name == row[0] {
                break member;
            }
            assert!(member.is_optional, "{} of {kind} is not documented", member.name);
        };
        let value = row[1].strip_suffix(", optional").filter(|_| member.is_optional);
        assert_eq!(value.unwrap_or(row[1]), value_of(member), "{} of {kind}", row[0]);
    }
    assert!(members.all(|member| member.is_optional), "the last members of {kind}");
}

/// What a document calls the values of a member.
fn value_of(member: &LedgerMember) -> String {
    let all_words = |words: Vec<&str>| {
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let (last, others) = quoted.split_last().unwrap_or_else(|| panic!("there are words"));
        format!("{} or {last}", others.join(", "))
    };
    let of = member.value_type;
    match of.strip_prefix("Option<").and_then(|of| of.strip_suffix('>')).unwrap_or(of) {
        "String" => "string".to_owned(),
        "bool" => "boolean".to_owned(),
        "u32" | "u64" | "i64" | "usize" => "number".to_owned(),
        "Vec<String>" => "array of strings".to_owned(),
        "AllowDemands" => {
            let words = words(AllowDemand::ALL, AllowDemand::name);
            format!("array of {}", all_words(words).replace(" or ", " and "))
        }
        "Vec<Vec<u8>>" => "array of arrays of numbers".to_owned(),
        "Box<RawValue>" => "JSON".to_owned(),
        "ChainedLinks" | "SharedMember" => "object".to_owned(),
        "Decision" => all_words(vec!["allow", "deny", "timeout"]),
        "LedgerRuling" => all_words(words(LedgerRuling::ALL, LedgerRuling::name)),
        "AnswerChannel" => all_words(channels()),
        "PressOutcome" => all_words(words(PressOutcome::ALL, PressOutcome::name)),
        "MemberKind" => all_words(words(MemberKind::ALL, MemberKind::name)),
        "ClosedHow" => all_words(words(ClosedHow::ALL, ClosedHow::name)),
        other => panic!("values of the type {other} are not documented"),
    }
}

fn words<T: Copy, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> Vec<&'static str> {
    all.map(name).to_vec()
}

/// The channels of people: what a rule decides is recorded with the rule.
fn channels() -> Vec<&'static str> {
    let mut channels = words(AnswerChannel::ALL, AnswerChannel::name);
    channels.retain(|channel| *channel != "rule");
    channels
}

/// The name of the variant of an entry.
fn variant_of(entry: &str) -> String {
    let members = Json::from_text(entry).map(Json::members).unwrap_or_default();
    let kind = members.string("kind").unwrap_or_default();
    let (event, _) = LedgerEvent::decode_body(&kind, members.get("body").map_or("", Json::get));
    format!("{event:?}").split('(').next().unwrap_or_default().to_owned()
}

#[test]
fn what_is_wrong_with_a_document_is_found() {
    let check = |document: &str| check_blocks(document).join("; ");
    assert_eq!(check("# Nothing\n```text\n{}\n```\n"), "no JSON example");
    assert_eq!(check("```json\n{}\n```\n"), "line 1: unknown tag \"\"");
    assert_eq!(check("\n```json tea\n{}\n```\n"), "line 2: unknown tag \"tea\"");
    assert_eq!(check("```json mcp\n```\n"), "line 1: the block is empty");
    assert_eq!(check("```json mcp\n{}\n"), "line 1: the block has no end");
    assert!(check("```json mcp\n{} {]\n```\n").starts_with("line 1: not JSON"));
    assert_eq!(
        check("  ```json session-request\n  {\"id\":\"1\",\"kind\":\"fly\"}\n  ```\n"),
        "line 1: unknown kind of message \"fly\""
    );
    let lost = r#"{"id":"1","kind":"get_status","lost":1}"#;
    assert!(
        check(&format!("```json session-request\n{lost}\n```\n"))
            .starts_with("line 1: comes back as")
    );
}

#[test]
fn wrong_examples_of_the_tools_protocol_are_found() {
    let check = |tag: &str, message: &str| check_message(tag, message).err().unwrap_or_default();
    let found = [
        check("tools-request", r#"{"method":"fly","params":{"name":"a","arguments":{}}}"#),
        check("tools-request", r#"{"method":"call_tool","params":{"name":"a"}}"#),
        check(
            "tools-request",
            r#"{"method":"call_tool","params":{"name":"a","arguments":{}},"x":1}"#,
        ),
        check("tools-response", r#"{"result":{},"error":{"message":"","type":""}}"#),
        check("tools-response", r#"{"error":{"message":"no"}}"#),
        check("tools-response", r#"{"result":{},"x":1}"#),
        check("tools-schema", r#"{"name":"a"}"#),
        check("tools-schema", r#"[{"name":"a","description":"","input_schema":{}}]"#),
        check("tools-schema", r#"[{"name":"a","input_schema":{"type":"object"}}]"#),
        check("tools-schema", r#"[{"name":"a","inputSchema":{"type":"object"}}]"#),
        check("mcp", r#"{"id":1,"method":"ping"}"#),
        check("mcp", r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#),
        check("mcp", r#"{"jsonrpc":"2.0","id":1,"method":"ping","parms":{}}"#),
        check("mcp", r#"{"jsonrpc":"2.0","result":{}}"#),
        check("mcp", r#"{"jsonrpc":"2.0","id":1,"error":{"code":"-32601"}}"#),
    ];
    expect![[r#"
        unknown method "fly": there is only "call_tool"
        the request's `arguments` are not an object
        comes back as {"method":"call_tool","params":{"name":"a","arguments":{}}}
        the host's answer needs exactly one of `result` and `error`
        the host's `error` cannot be read: missing field `type` at line 1 column 16
        comes back as {"result":{}}
        invalid type: map, expected a sequence at line 1 column 0
        `input_schema` has no place in an entry, or not with this value
        an entry without `description`
        `inputSchema` has no place in an entry, or not with this value
        no message of JSON-RPC: NoMessage
        needs exactly one of `method`, `result` and `error`
        unknown member "parms"
        a response without `id`
        `error` needs `code` and `message`"#]]
    .assert_eq(&found.join("\n"));
}

fn documents() -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol");
    let entries = fs::read_dir(folder)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    // Its examples are HTTP: the tests of the page's host send them.
    paths.retain(|path| !path.ends_with("page.md"));
    paths.sort();
    Ok(paths)
}

fn check_document(path: &Path) -> io::Result<Vec<String>> {
    let wrong = check_blocks(&fs::read_to_string(path)?);
    Ok(wrong.into_iter().map(|wrong| format!("{}: {wrong}", path.display())).collect())
}

/// What is wrong with the document's examples; nothing when all is well.
fn check_blocks(document: &str) -> Vec<String> {
    match json_blocks(document) {
        Err(unclosed) => vec![format!("line {unclosed}: the block has no end")],
        Ok(blocks) if blocks.is_empty() => vec!["no JSON example".to_owned()],
        Ok(blocks) => blocks.iter().filter_map(|block| check_block(block).err()).collect(),
    }
}

/// The blocks of JSON, or the line of a fence that is never closed.
fn json_blocks(document: &str) -> Result<Vec<Block>, usize> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let mut text = String::new();
        loop {
            let (_, line) = lines.next().ok_or(at + 1)?;
            if line.trim() == "```" {
                break;
            }
            text += line;
            text.push('\n');
        }
        if let Some(tag) = json_tag(info) {
            blocks.push(Block { line: at + 1, tag: tag.to_owned(), text });
        }
    }
    Ok(blocks)
}

/// The tag of a block whose language is `json`.
fn json_tag(info: &str) -> Option<&str> {
    let (language, tag) = info.trim().split_once(' ').unwrap_or((info.trim(), ""));
    (language == "json").then_some(tag.trim())
}

fn check_block(block: &Block) -> Result<(), String> {
    let at = |wrong: String| format!("line {}: {wrong}", block.line);
    let messages = messages(&block.text).map_err(at)?;
    for message in messages {
        check_message(&block.tag, message.get()).map_err(at)?;
    }
    Ok(())
}

fn messages(text: &str) -> Result<Vec<Box<RawValue>>, String> {
    let stream = serde_json::Deserializer::from_str(text).into_iter();
    let messages: Vec<_> =
        stream.collect::<Result<_, _>>().map_err(|e| format!("not JSON: {e}"))?;
    if messages.is_empty() { Err("the block is empty".to_owned()) } else { Ok(messages) }
}

fn check_message(tag: &str, message: &str) -> Result<(), String> {
    let back = match tag {
        "session-request" => session_request(message),
        // Older forms that are read, and never written.
        "session-request-read" => return session_request(message).map(drop),
        "session-response" => session_response(message),
        "approval-request" => approval_request(message),
        "approval-response" => approval_response(message),
        "approval-words" => approval_words(message),
        "desk-request" => desk_request(message),
        "desk-message" => desk_message(message),
        "relay-report" => relay::RelayReport::decode(message.as_bytes())
            .map(|report| report.to_line())
            .map_err(|error| error.to_string()),
        "relay-order" => relay::RelayOrder::decode(message.as_bytes())
            .map(|order| order.to_line())
            .map_err(|error| error.to_string()),
        "tools-request" => tools_request(message),
        "tools-response" => tools_response(message),
        "tools-schema" => tools_schema(message),
        "mcp" => mcp(message),
        "ledger-entry" => ledger_entry(message),
        unknown => Err(format!("unknown tag {unknown:?}")),
    }?;
    same(message, &back)
}

fn same(message: &str, back: &[u8]) -> Result<(), String> {
    let before: Value = serde_json::from_str(message).map_err(|error| error.to_string())?;
    let after: Value = serde_json::from_slice(back).map_err(|error| error.to_string())?;
    if before == after { Ok(()) } else { Err(format!("comes back as {after}")) }
}

fn session_request(message: &str) -> Result<Vec<u8>, String> {
    let request = session::SessionRequest::decode(message.as_bytes());
    request.map(|request| request.to_line()).map_err(|error| error.to_string())
}

fn session_response(message: &str) -> Result<Vec<u8>, String> {
    let response = session::SessionResponse::decode(message.as_bytes());
    response.map(|response| response.to_line()).map_err(|error| error.to_string())
}

fn approval_request(message: &str) -> Result<Vec<u8>, String> {
    let request = approval::ApprovalRequest::decode(message.as_bytes());
    request.map(|request| request.to_line()).map_err(|error| error.to_string())
}

fn approval_response(message: &str) -> Result<Vec<u8>, String> {
    let response = approval::ApprovalResponse::decode(message.as_bytes());
    response.map(|response| response.to_line()).map_err(|error| error.to_string())
}

fn approval_words(message: &str) -> Result<Vec<u8>, String> {
    let words = approval::LateWords::decode(message.as_bytes());
    words.map(|words| words.to_line()).map_err(|error| error.to_string())
}

fn desk_request(message: &str) -> Result<Vec<u8>, String> {
    let request = desk::DeskRequest::decode(message.as_bytes());
    request.map(|request| request.to_line()).map_err(|error| error.to_string())
}

fn desk_message(message: &str) -> Result<Vec<u8>, String> {
    let message = desk::DeskMessage::decode(message.as_bytes());
    message.map(|message| message.to_line()).map_err(|error| error.to_string())
}

/// An entry as `callgate log --json` prints it.
fn ledger_entry(message: &str) -> Result<Vec<u8>, String> {
    let mut members = Members::from_text(message).map_err(|error| error.to_string())?;
    let names: Vec<&str> = members.0.iter().map(|(name, _)| &**name).collect();
    if names != ["seq", "time", "at_ms", "kind", "question", "hash", "body"] {
        return Err(format!("its members are {names:?}"));
    }
    let (kind, body) = (members.string("kind").unwrap_or_default(), members.0.pop());
    let (event, rest) =
        LedgerEvent::decode_body(&kind, body.as_ref().map_or("", |(_, body)| body.get()));
    match (&event, rest.0.as_slice()) {
        (LedgerEvent::Unknown { .. }, _) => return Err(format!("unknown kind {kind:?}")),
        (_, [(name, _), ..]) => return Err(format!("unknown member {name:?}")),
        _ => {}
    }
    let entry = written(&members);
    Ok(format!("{},\"body\":{}}}", entry.trim_end_matches('}'), event.body(&rest)).into_bytes())
}

fn tools_request(message: &str) -> Result<Vec<u8>, String> {
    let call = tools::CallRequest::decode(message.as_bytes())?;
    let around = tools::CallFrame::new(&call.name, call.meta, call.retry);
    Ok([&around.head, call.arguments.get(), &around.tail].concat().into_bytes())
}

fn tools_response(message: &str) -> Result<Vec<u8>, String> {
    tools::HostResponse::decode(message.as_bytes()).map(|response| response.encode())
}

fn tools_schema(message: &str) -> Result<Vec<u8>, String> {
    let entries: Vec<&RawValue> =
        serde_json::from_str(message).map_err(|error| error.to_string())?;
    let entries: Vec<Members> = entries.iter().map(|entry| Json::from(*entry).members()).collect();
    entries.iter().try_for_each(check_entry)?;
    let entries: Vec<String> = entries.iter().map(written).collect();
    Ok(format!("[{}]", entries.join(",")).into_bytes())
}

fn check_entry(entry: &Members) -> Result<(), String> {
    const OPTIONAL: [&str; 5] = ["title", "annotations", "output_schema", "icons", "_meta"];
    for (key, value) in &entry.0 {
        let value: Value = serde_json::from_str(value.get()).map_err(|error| error.to_string())?;
        let is_good = match &**key {
            "name" => value.as_str().is_some_and(|name| !name.is_empty()),
            "description" => value.is_string() || value.is_null(),
            "input_schema" | "output_schema" => value["type"] == "object",
            key => OPTIONAL.contains(&key),
        };
        if !is_good {
            return Err(format!("`{key}` has no place in an entry, or not with this value"));
        }
    }
    let missing =
        ["name", "description", "input_schema"].into_iter().find(|key| entry.get(key).is_none());
    missing.map_or(Ok(()), |key| Err(format!("an entry without `{key}`")))
}

fn mcp(message: &str) -> Result<Vec<u8>, String> {
    let decoded = mcp::McpMessage::decode(message.as_bytes())
        .map_err(|unfit| format!("no message of JSON-RPC: {unfit:?}"))?;
    let members = Members::from_text(message).map_err(|error| error.to_string())?;
    let known: &[&str] = match (&decoded.method, members.get("result"), members.get("error")) {
        (Some(_), None, None) => &["jsonrpc", "id", "method", "params"],
        (None, Some(_), None) => &["jsonrpc", "id", "result"],
        (None, None, Some(error)) => {
            check_error(error)?;
            &["jsonrpc", "id", "error"]
        }
        _ => return Err("needs exactly one of `method`, `result` and `error`".to_owned()),
    };
    if decoded.method.is_none() && decoded.id.is_none() {
        return Err("a response without `id`".to_owned());
    }
    match members.0.iter().find(|(key, _)| !known.contains(&&**key)) {
        Some((key, _)) => Err(format!("unknown member {key:?}")),
        None => Ok(written(&members).into_bytes()),
    }
}

fn check_error(error: Json<'_>) -> Result<(), String> {
    let error: Value = serde_json::from_str(error.get()).map_err(|error| error.to_string())?;
    let is_good = error["code"].is_i64() && error["message"].is_string();
    if is_good { Ok(()) } else { Err("`error` needs `code` and `message`".to_owned()) }
}

fn written(members: &Members) -> String {
    let members: Vec<String> =
        members.0.iter().map(|(key, value)| format!("{}:{value}", json_string(key))).collect();
    format!("{{{}}}", members.join(","))
}
