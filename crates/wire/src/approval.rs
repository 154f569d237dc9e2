//! The approval protocol: how an agent's hook asks the desk before the agent acts.
//!
//! One connection carries one [`Request`] line and one [`Response`] line; the normative text is
//! `docs/protocol/approval.md`. What the tool would be given and what the agent suggests to allow
//! for good are only relayed, so they stay the bytes they were. The buttons on a phone carry a
//! [`Callback`].

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::raw::{Members, flatten, is_null, is_object};

/// Where the desk listens unless it is told otherwise.
pub const DEFAULT_SOCKET: &str = "/tmp/vibe-reachout.sock";

/// The longest line, without its newline, that either side may send.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// The longest callback data that Telegram takes, in bytes.
pub const MAX_CALLBACK: usize = 64;

/// Names one question: a UUID of version 4, kept in the spelling it came in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct RequestId(String);

impl RequestId {
    /// Checks that `text` is a UUID of version 4 in its hyphenated form.
    pub fn parse(text: &str) -> Result<Self, NotUuid> {
        if is_uuid_v4(text.as_bytes()) { Ok(Self(text.to_owned())) } else { Err(NotUuid) }
    }

    /// The id as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_uuid_v4(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A text that should have been a request id is not a UUID of version 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUuid;

impl fmt::Display for NotUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request id is not a UUID of version 4")
    }
}

impl std::error::Error for NotUuid {}

/// May this tool be run?
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// Names the question; the answer repeats it.
    pub request_id: RequestId,
    /// The tool the agent wants to run.
    pub tool_name: String,
    /// The object the tool would be given, as it came.
    pub tool_input: Box<RawValue>,
    /// The folder the agent works in.
    pub cwd: String,
    /// The agent's session, to tell several apart.
    pub session_id: String,
    /// What the agent offers to allow for good, each as it came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission_suggestions: Vec<Box<RawValue>>,
}

/// The desk's answer to a [`Request`].
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The question's id.
    pub request_id: RequestId,
    /// What was decided.
    pub decision: Decision,
    /// Why, in words for the agent; used with [`Decision::Deny`].
    pub message: Option<String>,
    /// The suggestion to apply from now on, as it came; used with [`Decision::Allow`].
    pub always_allow_suggestion: Option<Box<RawValue>>,
}

/// What was decided about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The tool may run.
    Allow,
    /// The tool may not run.
    Deny,
    /// Nobody decided: the agent asks in its own way.
    Timeout,
}

impl Request {
    /// Reads a request from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        let members = members_of(line)?;
        let suggestions = optional(&members, "permission_suggestions", "an array")?;
        Ok(Self {
            request_id: request_id(&members)?,
            tool_name: required(&members, "tool_name", "a string")?,
            tool_input: checked_object(&members, "tool_input")?
                .ok_or(Malformed::wrong("tool_input", "an object"))?,
            cwd: required(&members, "cwd", "a string")?,
            session_id: required(&members, "session_id", "a string")?,
            permission_suggestions: suggestions.unwrap_or_default(),
        })
    }

    /// The request as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl Response {
    /// Reads a response from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Malformed> {
        let members = members_of(line)?;
        Ok(Self {
            request_id: request_id(&members)?,
            decision: decision(&members)?,
            message: optional(&members, "message", "a string")?,
            always_allow_suggestion: checked_object(&members, "always_allow_suggestion")?,
        })
    }

    /// The response as one line, its newline included.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

/// A line that holds no message of this protocol.
///
/// Its text names fields and never quotes their values, so it may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// It is not one JSON object.
    NotJson {
        /// How many of the line's bytes could be read.
        bytes_read: usize,
    },
    /// A required field is missing, or a field is not what it has to be.
    WrongField {
        /// The field's name.
        field: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
}

impl Malformed {
    fn wrong(field: &'static str, expected: &'static str) -> Self {
        Self::WrongField { field, expected }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { bytes_read } => {
                write!(f, "the line is not one JSON object (read {bytes_read} bytes of it)")
            }
            Self::WrongField { field, expected } => {
                write!(f, "`{field}` must be {expected}")
            }
        }
    }
}

impl std::error::Error for Malformed {}

/// What a button on a phone carries: which question, and what was pressed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Callback {
    /// The question.
    pub request_id: RequestId,
    /// The button.
    pub action: Action,
}

/// The buttons under a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Allow this call.
    Allow,
    /// Deny this call.
    Deny,
    /// Allow this call, and its like from now on.
    Always,
}

impl Callback {
    /// Reads callback data of the form `{request_id}:{action}`.
    pub fn parse(data: &str) -> Result<Self, NotCallback> {
        if data.len() > MAX_CALLBACK {
            return Err(NotCallback::TooLong);
        }
        let (id, action) = data.split_once(':').ok_or(NotCallback::NoAction)?;
        let request_id = RequestId::parse(id).map_err(|NotUuid| NotCallback::NoRequestId)?;
        let action = Action::parse(action).ok_or(NotCallback::UnknownAction)?;
        Ok(Self { request_id, action })
    }

    /// The callback data, never longer than [`MAX_CALLBACK`].
    #[must_use]
    pub fn to_data(&self) -> String {
        format!("{}:{}", self.request_id, self.action.name())
    }
}

impl Action {
    /// Every action, in the order in which buttons are shown.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Deny, Self::Always];

    /// The action's name in callback data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Always => "always",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// Callback data that no button of ours carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCallback {
    /// It is longer than [`MAX_CALLBACK`].
    TooLong,
    /// There is no colon, and so no action.
    NoAction,
    /// What stands before the colon is not a request id.
    NoRequestId,
    /// What stands after the colon is none of our actions.
    UnknownAction,
}

impl fmt::Display for NotCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the callback data is longer than 64 bytes",
            Self::NoAction => "the callback data has no action after a colon",
            Self::NoRequestId => "the callback data does not begin with a UUID of version 4",
            Self::UnknownAction => "the callback's action is not allow, deny or always",
        })
    }
}

impl std::error::Error for NotCallback {}

fn members_of(line: &[u8]) -> Result<Members<'_>, Malformed> {
    serde_json::from_slice(line).map_err(|error| Malformed::NotJson { bytes_read: error.column() })
}

fn required<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<T, Malformed> {
    let value = members.get(field).and_then(|value| serde_json::from_str(value.get()).ok());
    value.ok_or(Malformed::wrong(field, expected))
}

/// Like [`required`], but absent and `null` are nothing.
fn optional<T: DeserializeOwned>(
    members: &Members,
    field: &'static str,
    expected: &'static str,
) -> Result<Option<T>, Malformed> {
    match members.get(field) {
        Some(value) if !is_null(value) => required(members, field, expected).map(Some),
        _ => Ok(None),
    }
}

fn request_id(members: &Members) -> Result<RequestId, Malformed> {
    const EXPECTED: &str = "a UUID of version 4";
    let text: String = required(members, "request_id", EXPECTED)?;
    RequestId::parse(&text).map_err(|NotUuid| Malformed::wrong("request_id", EXPECTED))
}

fn decision(members: &Members) -> Result<Decision, Malformed> {
    const EXPECTED: &str = "allow, deny or timeout";
    match required::<String>(members, "decision", EXPECTED)?.as_str() {
        "allow" => Ok(Decision::Allow),
        "deny" => Ok(Decision::Deny),
        "timeout" => Ok(Decision::Timeout),
        _ => Err(Malformed::wrong("decision", EXPECTED)),
    }
}

fn checked_object(
    members: &Members,
    field: &'static str,
) -> Result<Option<Box<RawValue>>, Malformed> {
    match members.get(field) {
        Some(value) if is_object(value) => Ok(Some(value.to_owned())),
        Some(value) if !is_null(value) => Err(Malformed::wrong(field, "an object")),
        _ => Ok(None),
    }
}

fn one_line(message: &impl Serialize) -> Vec<u8> {
    // The types above hold strings, names and checked JSON, and memory takes all of them.
    let encoded = serde_json::to_vec(message);
    let mut line = encoded.unwrap_or_else(|error| unreachable!("an approval message: {error}"));
    flatten(&mut line);
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

    /// Reads each input and shows what was read and how it is written, or why it was refused.
    fn check(read: fn(&str) -> String, inputs: &[&str], expected: &Expect) {
        let shown: Vec<String> =
            inputs.iter().map(|input| read(&input.replace("ID", ID))).collect();
        expected.assert_eq(&(shown.join("\n") + "\n").replace(ID, "ID"));
    }

    fn request(line: &str) -> String {
        match Request::decode(line.as_bytes()) {
            Ok(request) => shown(&request, request.to_line()),
            Err(malformed) => format!("{malformed:?}\n  = {malformed}"),
        }
    }

    fn response(line: &str) -> String {
        match Response::decode(line.as_bytes()) {
            Ok(response) => shown(&response, response.to_line()),
            Err(malformed) => format!("{malformed:?}\n  = {malformed}"),
        }
    }

    fn callback(data: &str) -> String {
        match Callback::parse(data) {
            Ok(callback) => format!("{:?} = {:?}", callback.action, callback.to_data()),
            Err(refused) => refused.to_string(),
        }
    }

    fn request_id(id: &str) -> String {
        RequestId::parse(id).map_or_else(|refused| refused.to_string(), |id| format!("{id:?}"))
    }

    fn shown(message: &impl fmt::Debug, line: Vec<u8>) -> String {
        let message = format!("{message:?}").replace('\r', "␍").replace('\n', "␊");
        format!("{message}\n  = {:?}", text(line))
    }

    fn text(line: Vec<u8>) -> String {
        String::from_utf8(line).expect("JSON is UTF-8")
    }

    #[test]
    fn requests() {
        check(
            request,
            &[
                r#"{"request_id":"ID","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","session_id":"s"}"#,
                r#"{"session_id":"s","new":[1],"cwd":"/w","tool_input":{ "z":1.0, "a":"\u0041" },"tool_name":"Bash","request_id":"ID","permission_suggestions":null}"#,
                "{\"request_id\":\"ID\",\"tool_name\":\"Edit\",\"tool_input\":{\r\n},\"cwd\":\"/w\",\"session_id\":\"s\",\"permission_suggestions\":[{\n\"type\":\"setMode\"},7]}\r\n",
            ],
            &expect![[r#"
                Request { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({"command":"ls"}), cwd: "/w", session_id: "s", permission_suggestions: [] }
                  = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"cwd\":\"/w\",\"session_id\":\"s\"}\n"
                Request { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({ "z":1.0, "a":"\u0041" }), cwd: "/w", session_id: "s", permission_suggestions: [] }
                  = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{ \"z\":1.0, \"a\":\"\\u0041\" },\"cwd\":\"/w\",\"session_id\":\"s\"}\n"
                Request { request_id: RequestId("ID"), tool_name: "Edit", tool_input: RawValue({␍␊}), cwd: "/w", session_id: "s", permission_suggestions: [RawValue({␊"type":"setMode"}), RawValue(7)] }
                  = "{\"request_id\":\"ID\",\"tool_name\":\"Edit\",\"tool_input\":{  },\"cwd\":\"/w\",\"session_id\":\"s\",\"permission_suggestions\":[{ \"type\":\"setMode\"},7]}\n"
            "#]],
        );
    }

    #[test]
    fn malformed_requests() {
        check(
            request,
            &[
                "",
                "no JSON",
                r#"["ID","Bash",{},"/w","s"]"#,
                r#"{"request_id":"ID"} {}"#,
                r#"{"tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s"}"#,
                r#"{"request_id":"1","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s"}"#,
                r#"{"request_id":"ID","tool_input":{},"cwd":"/w","session_id":"s"}"#,
                r#"{"request_id":"ID","tool_name":"Bash","cwd":"/w","session_id":"s"}"#,
                r#"{"request_id":"ID","tool_name":"Bash","tool_input":null,"cwd":"/w","session_id":"s"}"#,
                r#"{"request_id":"ID","tool_name":"Bash","tool_input":["secret"],"cwd":"/w","session_id":"s"}"#,
                r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"session_id":"s"}"#,
                r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":null}"#,
                r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","permission_suggestions":{}}"#,
            ],
            &expect![[r#"
                NotJson { bytes_read: 0 }
                  = the line is not one JSON object (read 0 bytes of it)
                NotJson { bytes_read: 2 }
                  = the line is not one JSON object (read 2 bytes of it)
                NotJson { bytes_read: 0 }
                  = the line is not one JSON object (read 0 bytes of it)
                NotJson { bytes_read: 55 }
                  = the line is not one JSON object (read 55 bytes of it)
                WrongField { field: "request_id", expected: "a UUID of version 4" }
                  = `request_id` must be a UUID of version 4
                WrongField { field: "request_id", expected: "a UUID of version 4" }
                  = `request_id` must be a UUID of version 4
                WrongField { field: "tool_name", expected: "a string" }
                  = `tool_name` must be a string
                WrongField { field: "tool_input", expected: "an object" }
                  = `tool_input` must be an object
                WrongField { field: "tool_input", expected: "an object" }
                  = `tool_input` must be an object
                WrongField { field: "tool_input", expected: "an object" }
                  = `tool_input` must be an object
                WrongField { field: "cwd", expected: "a string" }
                  = `cwd` must be a string
                WrongField { field: "session_id", expected: "a string" }
                  = `session_id` must be a string
                WrongField { field: "permission_suggestions", expected: "an array" }
                  = `permission_suggestions` must be an array
            "#]],
        );
    }

    #[test]
    fn responses() {
        check(
            response,
            &[
                r#"{"request_id":"ID","decision":"allow","message":null,"always_allow_suggestion":{ "type":"addRules" }}"#,
                r#"{"request_id":"ID","decision":"deny","message":"use\nthe script","always_allow_suggestion":null}"#,
                r#"{"request_id":"ID","decision":"timeout","since":"later"}"#,
                r#"{"request_id":"ID","decision":"maybe"}"#,
                r#"{"request_id":"ID","decision":{"allow":null}}"#,
                r#"{"request_id":"ID","message":"why"}"#,
                r#"{"request_id":"ID","decision":"deny","message":["secret"]}"#,
                r#"{"request_id":"ID","decision":"allow","always_allow_suggestion":"secret"}"#,
                r#"{"decision":"allow"}"#,
            ],
            &expect![[r#"
                Response { request_id: RequestId("ID"), decision: Allow, message: None, always_allow_suggestion: Some(RawValue({ "type":"addRules" })) }
                  = "{\"request_id\":\"ID\",\"decision\":\"allow\",\"message\":null,\"always_allow_suggestion\":{ \"type\":\"addRules\" }}\n"
                Response { request_id: RequestId("ID"), decision: Deny, message: Some("use\nthe script"), always_allow_suggestion: None }
                  = "{\"request_id\":\"ID\",\"decision\":\"deny\",\"message\":\"use\\nthe script\",\"always_allow_suggestion\":null}\n"
                Response { request_id: RequestId("ID"), decision: Timeout, message: None, always_allow_suggestion: None }
                  = "{\"request_id\":\"ID\",\"decision\":\"timeout\",\"message\":null,\"always_allow_suggestion\":null}\n"
                WrongField { field: "decision", expected: "allow, deny or timeout" }
                  = `decision` must be allow, deny or timeout
                WrongField { field: "decision", expected: "allow, deny or timeout" }
                  = `decision` must be allow, deny or timeout
                WrongField { field: "decision", expected: "allow, deny or timeout" }
                  = `decision` must be allow, deny or timeout
                WrongField { field: "message", expected: "a string" }
                  = `message` must be a string
                WrongField { field: "always_allow_suggestion", expected: "an object" }
                  = `always_allow_suggestion` must be an object
                WrongField { field: "request_id", expected: "a UUID of version 4" }
                  = `request_id` must be a UUID of version 4
            "#]],
        );
    }

    #[test]
    fn request_ids() {
        check(
            request_id,
            &[
                "ID",
                "550E8400-E29B-41D4-B716-446655440000",
                "550e8400-e29b-11d4-a716-446655440000",
                "550e8400-e29b-41d4-c716-446655440000",
                "550e8400-e29b-41d4-a716-44665544000g",
                "550e8400e29b41d4a716446655440000",
                "{ID}",
                "ID ",
                "",
            ],
            &expect![[r#"
                RequestId("ID")
                RequestId("550E8400-E29B-41D4-B716-446655440000")
                the request id is not a UUID of version 4
                the request id is not a UUID of version 4
                the request id is not a UUID of version 4
                the request id is not a UUID of version 4
                the request id is not a UUID of version 4
                the request id is not a UUID of version 4
                the request id is not a UUID of version 4
            "#]],
        );
    }

    #[test]
    fn callbacks() {
        let long = format!("ID:{}", "x".repeat(28));
        check(
            callback,
            &["ID:allow", "ID:deny", "ID:always", "ID:Allow", "ID:", "ID", "7:allow", "", &long],
            &expect![[r#"
                Allow = "ID:allow"
                Deny = "ID:deny"
                Always = "ID:always"
                the callback's action is not allow, deny or always
                the callback's action is not allow, deny or always
                the callback data has no action after a colon
                the callback data does not begin with a UUID of version 4
                the callback data has no action after a colon
                the callback data is longer than 64 bytes
            "#]],
        );
    }

    #[test]
    fn callback_data_fits_into_a_button() {
        for action in Action::ALL {
            let request_id = RequestId::parse(ID).expect("a UUID");
            assert!(Callback { request_id, action }.to_data().len() <= MAX_CALLBACK);
        }
    }

    proptest! {
        #[test]
        fn any_request_is_one_line_and_comes_back(tool_name: String, cwd: String, said: String) {
            let tool_input = serde_json::json!({ "said": said });
            let request = Request {
                request_id: RequestId::parse(ID).expect("a UUID"),
                tool_name,
                tool_input: serde_json::value::to_raw_value(&tool_input).expect("JSON"),
                cwd,
                session_id: String::new(),
                permission_suggestions: Vec::new(),
            };
            let line = request.to_line();
            prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
            let back = Request::decode(&line).expect("our own line");
            prop_assert_eq!(format!("{back:?}"), format!("{request:?}"));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = (Request::decode(&bytes), Response::decode(&bytes));
        }
    }
}
