//! What a tools-only MCP server answers: a pure function from a line to an action.
//!
//! Both eras of MCP are served, request by request. A request whose `_meta` names its protocol
//! version belongs to the stateless era (2026-07-28); every other one belongs to the era that
//! begins with `initialize`.

mod catalogue;
mod reply;

use std::borrow::Cow;

use callgate_wire::frame::OverlongLine;
use callgate_wire::mcp::{LEGACY, LONGEST_LINE, MODERN, McpMessage, NotMcpMessage, code, meta};
use callgate_wire::raw::{Json, Members};
use callgate_wire::scan::IdScan;
use callgate_wire::tools::RetryFields;

pub use catalogue::Catalogue;
pub(crate) use catalogue::{LARGEST_SCHEMA_FILE, check_entry};
pub use reply::{CallReply, CallTicket};
use reply::{error_line, result_line};

/// The longest line that is read: the largest call, and room for its envelope.
pub const LONGEST_REQUEST: usize = LONGEST_LINE + 1024 * 1024;

/// How many characters of a client's word an error repeats.
pub(crate) const LONGEST_WORD: usize = 100;

/// What to do about a line of a client.
#[derive(Debug)]
pub enum McpAction<'a> {
    /// Write this line.
    Reply(String),
    /// Call a tool; its result or error answers the request.
    Call(McpCall<'a>),
    /// Stop working on the request with this id; it gets no answer.
    Cancel(&'a str),
    /// Do nothing.
    Nothing,
}

/// A tool to be called.
#[derive(Debug)]
pub struct McpCall<'a> {
    /// The request's id.
    pub id: Json<'a>,
    /// The tool's name; it is in the catalogue.
    pub name: Cow<'a, str>,
    /// The arguments, an object, as they were sent.
    pub arguments: Json<'a>,
    /// The client's `_meta` of the call.
    pub meta: Option<Json<'a>>,
    /// What the client adds to a call that it repeats after a question.
    pub retry: RetryFields<'a>,
    era: McpEra,
}

/// One of the two ways of speaking MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum McpEra {
    /// The session begins with `initialize`.
    Legacy,
    /// Each request carries all that it needs.
    Modern,
}

/// The reason why a request is refused, as JSON-RPC reports it.
#[derive(Debug)]
struct McpRefusal {
    code: i32,
    message: String,
    data: Option<String>,
}

impl McpRefusal {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }
}

impl McpCall<'_> {
    /// Returns what is needed to answer the call later.
    #[must_use]
    pub fn ticket(&self) -> CallTicket {
        let token = self.meta.and_then(|meta| meta.members().get_non_null(meta::PROGRESS_TOKEN));
        CallTicket::new(self.id, token, self.era)
    }
}

/// Answers a line of a client.
#[must_use]
pub fn answer<'a>(catalogue: &Catalogue, line: &'a [u8]) -> McpAction<'a> {
    let message = match McpMessage::decode(line) {
        Ok(message) => message,
        Err(unfit) => return refuse_unfit(line, unfit),
    };
    match (message.id, message.method) {
        (Some(id), Some(method)) => answer_request(catalogue, id, &method, &message.params)
            .unwrap_or_else(|refusal| McpAction::Reply(error_line(id.get(), &refusal))),
        (None, Some(method)) => handle_notification(&method, &message.params),
        // A response to a request that was never made.
        (_, None) => McpAction::Nothing,
    }
}

/// Answers a line that was too long to be read.
#[must_use]
pub fn refuse_too_long(line: &OverlongLine) -> McpAction<'static> {
    let message = format!(
        "IPCMessageSizeError: the request has {} bytes, but {LONGEST_REQUEST} bytes is the limit: \
         send less at once",
        line.size
    );
    let refusal = McpRefusal::new(code::INVALID_REQUEST, message);
    McpAction::Reply(error_line(line.id.as_deref().unwrap_or("null"), &refusal))
}

fn refuse_unfit(line: &[u8], unfit: NotMcpMessage) -> McpAction<'static> {
    let refusal = match unfit {
        NotMcpMessage::Unreadable => McpRefusal::new(code::UNREADABLE, "the line is not JSON"),
        NotMcpMessage::NoMessage => {
            McpRefusal::new(code::INVALID_REQUEST, "the line is not one JSON-RPC 2.0 message")
        }
        NotMcpMessage::Params => McpRefusal::invalid_params("`params` is not an object"),
    };
    // Even a line that cannot be read is answered under its id, because its client waits for that.
    let mut scan = IdScan::default();
    scan.push(line);
    McpAction::Reply(error_line(scan.finish().as_deref().unwrap_or("null"), &refusal))
}

fn handle_notification<'a>(method: &str, params: &Members<'a>) -> McpAction<'a> {
    match (method, params.get_non_null("requestId")) {
        ("notifications/cancelled", Some(id)) => McpAction::Cancel(id.get()),
        _ => McpAction::Nothing,
    }
}

fn answer_request<'a>(
    catalogue: &Catalogue,
    id: Json<'a>,
    method: &str,
    params: &Members<'a>,
) -> Result<McpAction<'a>, McpRefusal> {
    let era = era_of_request(params.get_non_null("_meta"))?;
    let result = match (method, era) {
        ("tools/call", _) => return decode_call(catalogue, id, params, era).map(McpAction::Call),
        ("subscriptions/listen", McpEra::Modern) => {
            return answer_subscription(id, params).map(McpAction::Reply);
        }
        ("server/discover", McpEra::Modern) => reply::discover_result(),
        ("server/discover", McpEra::Legacy) => {
            return Err(McpRefusal::invalid_params(format!(
                "`_meta` needs {}",
                meta::PROTOCOL_VERSION
            )));
        }
        ("initialize", _) => reply::initialize_result(negotiate_version(params)?),
        ("ping", McpEra::Legacy) => "{}".to_owned(),
        ("tools/list", _) if params.get_non_null("cursor").is_some() => {
            return Err(McpRefusal::invalid_params("unknown cursor: all tools are on one page"));
        }
        ("tools/list", McpEra::Legacy) => format!(r#"{{"tools":{}}}"#, catalogue.tools),
        ("tools/list", McpEra::Modern) => reply::listed_modern(catalogue),
        _ => {
            let message = format!("unknown method {:?}", shortened_word(method));
            return Err(McpRefusal::new(code::UNKNOWN_METHOD, message));
        }
    };
    Ok(McpAction::Reply(result_line(id.get(), &result)))
}

/// Returns the era of a request, or an error if its `_meta` is malformed.
fn era_of_request(meta: Option<Json<'_>>) -> Result<McpEra, McpRefusal> {
    let Some(meta) = meta else { return Ok(McpEra::Legacy) };
    if !meta.is_object() {
        return Err(McpRefusal::invalid_params("`_meta` is not an object"));
    }
    let members = meta.members();
    let Some(version) = members.get(meta::PROTOCOL_VERSION) else { return Ok(McpEra::Legacy) };
    let Some(version) = version.string() else {
        return Err(McpRefusal::invalid_params(format!(
            "`{}` is not a string",
            meta::PROTOCOL_VERSION
        )));
    };
    if !members.get(meta::CLIENT_CAPABILITIES).is_some_and(Json::is_object) {
        let message = format!("`_meta` needs the object {}", meta::CLIENT_CAPABILITIES);
        return Err(McpRefusal::invalid_params(message));
    }
    if version == MODERN { Ok(McpEra::Modern) } else { Err(unsupported_version(&version)) }
}

fn unsupported_version(requested: &str) -> McpRefusal {
    let supported: Vec<&str> = std::iter::once(MODERN).chain(LEGACY).collect();
    let requested = shortened_word(requested);
    let data = serde_json::json!({"supported": supported, "requested": requested});
    let message = format!("protocol version {requested} is not supported");
    McpRefusal { code: code::UNSUPPORTED_VERSION, message, data: Some(data.to_string()) }
}

/// Returns the version to speak after `initialize`: the client's own if it is known, otherwise the
/// newest.
fn negotiate_version(params: &Members<'_>) -> Result<&'static str, McpRefusal> {
    let asked = params.string("protocolVersion");
    let asked =
        asked.ok_or_else(|| McpRefusal::invalid_params("`protocolVersion` has to be a string"))?;
    Ok(LEGACY.into_iter().find(|version| *version == asked).unwrap_or(LEGACY[0]))
}

fn decode_call<'a>(
    catalogue: &Catalogue,
    id: Json<'a>,
    params: &Members<'a>,
    era: McpEra,
) -> Result<McpCall<'a>, McpRefusal> {
    let name = params.string("name");
    let name = name.ok_or_else(|| McpRefusal::invalid_params("`name` has to be a string"))?;
    if !catalogue.has(&name) {
        let message = format!("ToolNotFoundError: unknown tool: {}", shortened_word(&name));
        return Err(McpRefusal::invalid_params(message));
    }
    let arguments = match params.get_non_null("arguments") {
        None => Json::EMPTY,
        Some(arguments) if arguments.is_object() => arguments,
        Some(_) => return Err(McpRefusal::invalid_params("`arguments` has to be an object")),
    };
    let retry = match era {
        // Only in the stateless era can a tool ask its user something.
        McpEra::Modern => RetryFields::from_params(params),
        McpEra::Legacy => RetryFields::default(),
    };
    Ok(McpCall { id, name, arguments, meta: params.get_non_null("_meta"), retry, era })
}

/// Acknowledges a subscription. The list of tools never changes, so nothing follows; the request
/// stays open until the client ends it.
fn answer_subscription(id: Json<'_>, params: &Members<'_>) -> Result<String, McpRefusal> {
    if !params.get_non_null("notifications").is_some_and(Json::is_object) {
        return Err(McpRefusal::invalid_params("`notifications` has to be an object"));
    }
    Ok(reply::acknowledgement_line(id))
}

/// Returns as much of a client's word as an error repeats.
fn shortened_word(word: &str) -> String {
    word.chars().take(LONGEST_WORD).collect()
}

#[cfg(test)]
mod tests;
