//! Messages that are read and written back.

use std::fmt::Debug;

use callgate_wire::raw::flatten_json;
use callgate_wire::tools::{CallProgress, HostResponse};
use callgate_wire::{approval, session};
use serde_json::Value;

use super::one_line;

/// The longest text of a refusal: an unknown kind, each of its characters escaped, and our text.
const LONGEST_REFUSAL: usize = 64 * 10 + 100;

/// Checks that a host's answer is read the same on one line as on several, and survives rewriting.
pub fn tools_response(data: &[u8]) {
    let mut flat = data.to_vec();
    flatten_json(&mut flat);
    assert!(!flat.contains(&b'\n') && !flat.contains(&b'\r'), "not one line");
    if let Ok(value) = serde_json::from_slice::<Value>(data) {
        assert_eq!(serde_json::from_slice::<Value>(&flat).ok(), Some(value), "another value");
    }
    let flat = HostResponse::decode(&flat);
    let Ok(response) = HostResponse::decode(data) else { return };
    let Ok(flat) = flat else { panic!("only read on several lines: {response:?}") };
    let mut written = response.encode();
    let Ok(back) = HostResponse::decode(&written) else {
        panic!("cannot be read back: {response:?}")
    };
    assert_same(&response, &back);
    flatten_json(&mut written);
    let Ok(back) = HostResponse::decode(&written) else { panic!("cannot be read back: {flat:?}") };
    assert_same(&flat, &back);
}

fn assert_same(one: &HostResponse<'_>, other: &HostResponse<'_>) {
    match (one, other) {
        (HostResponse::Result(one), HostResponse::Result(other)) => {
            assert_eq!(one.get(), other.get());
        }
        (HostResponse::Error(one), HostResponse::Error(other)) => {
            assert_eq!((&one.message, &one.kind), (&other.message, &other.kind));
        }
        (HostResponse::Progress(one), HostResponse::Progress(other)) => {
            assert_same_progress(one, other);
        }
        _ => panic!("{one:?} comes back as {other:?}"),
    }
}

/// The last bit of a number may be lost when it is written and read.
fn assert_same_progress(one: &CallProgress<'_>, other: &CallProgress<'_>) {
    let is_near = |one: f64, other: f64| (one - other).abs() <= one.abs() * f64::EPSILON;
    let is_same_total = match (one.total, other.total) {
        (Some(one), Some(other)) => is_near(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    let is_same = is_near(one.progress, other.progress) && is_same_total;
    assert!(is_same && one.message == other.message, "{one:?} comes back as {other:?}");
}

/// Checks that a line of the session protocol is refused with a short text, or survives rewriting.
pub fn session_line(data: &[u8]) {
    check_line(data, session::SessionRequest::decode, session::SessionRequest::to_line);
    check_line(data, session::SessionResponse::decode, session::SessionResponse::to_line);
    if let Ok(session::SessionRequest { id, command }) = session::SessionRequest::decode(data) {
        let conversation = command.conversation_id().map_or(0, |id| id.len());
        assert!(id.len() <= session::LONGEST_ID, "an id over the limit");
        assert!(conversation <= session::LONGEST_CONVERSATION_ID, "a conversation over the limit");
    }
    if let Ok(session::SessionResponse::Reply(reply)) = session::SessionResponse::decode(data) {
        session_numbered(reply);
    }
}

/// Checks that a number can be put into a line without one, and that the data of an end survives.
fn session_numbered(mut reply: session::SessionReply) {
    reply.seq = None;
    let mut line = Vec::new();
    reply.write(&mut line);
    line.truncate(line.len() - "}\n".len());
    line.extend_from_slice(b",\"seq\":7}\n");
    reply.seq = Some(7);
    let mut numbered = Vec::new();
    reply.write(&mut numbered);
    assert_eq!(line, numbered, "the number is not the last of a line");
    if let Some(loaded) = reply.event.done_data::<session::ConversationMessages>() {
        let back =
            session::SessionEvent::done(&loaded).done_data::<session::ConversationMessages>();
        assert_eq!(back.as_ref().map(shown), Some(shown(&loaded)), "another conversation");
    }
}

/// Checks that a line of the approval protocol, or the data of a button, is refused with a short
/// text, or survives rewriting.
pub fn approval_line(data: &[u8]) {
    check_line(data, approval::ApprovalRequest::decode, approval::ApprovalRequest::to_line);
    check_line(data, approval::ApprovalResponse::decode, approval::ApprovalResponse::to_line);
    let text = String::from_utf8_lossy(data);
    if let Some(callback) = approval::Callback::parse(&text) {
        assert_eq!(callback.to_data(), text, "callback data");
        assert!(text.len() <= approval::MAX_CALLBACK, "callback data over the limit");
    }
}

fn check_line<M: Debug, E: ToString>(
    data: &[u8],
    decode: impl Fn(&[u8]) -> Result<M, E>,
    to_line: impl Fn(&M) -> Vec<u8>,
) {
    let read = |line: &[u8]| decode(line).map_err(|refusal| refusal.to_string());
    let message = match read(data) {
        Ok(message) => message,
        Err(refusal) => return assert!(refusal.len() <= LONGEST_REFUSAL, "{refusal}"),
    };
    let line = to_line(&message);
    one_line(&line);
    match read(&line) {
        Ok(back) => {
            assert_eq!(shown(&message), shown(&back), "another message comes back");
            assert_eq!(line, to_line(&back), "another line comes back");
        }
        Err(refusal) => panic!("our own line is refused: {refusal}"),
    }
}

/// Checks that relayed JSON keeps all but its line ends, which become spaces.
fn shown(message: &impl Debug) -> String {
    format!("{message:?}").replace(['\n', '\r'], " ")
}
