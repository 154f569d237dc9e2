//! Every JSON example in `docs/protocol/` is a message that our types read and write back.
//!
//! A fenced block says what it holds after the word `json`, as in `json session-request`. It may
//! hold several messages, one after the other. A block that does not say what it holds, and a
//! document without any block, fail the test: an example that nobody checks goes stale.

use std::path::{Path, PathBuf};
use std::{fs, io};

use callgate_wire::{approval, session};
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
fn both_line_protocols_have_a_document() {
    let documents = documents().expect("docs/protocol is there");
    for name in ["session.md", "approval.md"] {
        assert!(documents.iter().any(|path| path.ends_with(name)), "docs/protocol/{name} is gone");
    }
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

fn documents() -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol");
    let entries = fs::read_dir(folder)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
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
        "session-response" => session_response(message),
        "approval-request" => approval_request(message),
        "approval-response" => approval_response(message),
        "tools-request" => tools_request(message),
        "tools-response" => tools_response(message),
        "tools-schema" => tools_schema(message),
        "mcp" => mcp(message),
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
    let request = session::Request::decode(message.as_bytes());
    request.map(|request| request.to_line()).map_err(|error| error.to_string())
}

fn session_response(message: &str) -> Result<Vec<u8>, String> {
    let response = session::Response::decode(message.as_bytes());
    response.map(|response| response.to_line()).map_err(|error| error.to_string())
}

fn approval_request(message: &str) -> Result<Vec<u8>, String> {
    let request = approval::Request::decode(message.as_bytes());
    request.map(|request| request.to_line()).map_err(|error| error.to_string())
}

fn approval_response(message: &str) -> Result<Vec<u8>, String> {
    let response = approval::Response::decode(message.as_bytes());
    response.map(|response| response.to_line()).map_err(|error| error.to_string())
}

// The four below only see that the message is JSON; their types take over one by one.

fn tools_request(message: &str) -> Result<Vec<u8>, String> {
    any_json(message)
}

fn tools_response(message: &str) -> Result<Vec<u8>, String> {
    any_json(message)
}

fn tools_schema(message: &str) -> Result<Vec<u8>, String> {
    any_json(message)
}

fn mcp(message: &str) -> Result<Vec<u8>, String> {
    any_json(message)
}

fn any_json(message: &str) -> Result<Vec<u8>, String> {
    let value: Value = serde_json::from_str(message).map_err(|error| error.to_string())?;
    Ok(value.to_string().into_bytes())
}
