//! The envelopes of MCP: JSON-RPC 2.0, one message per line.
//!
//! Only what the bridge has to understand is modelled; everything else is passed on unchanged.

use std::borrow::Cow;

use crate::raw::{Json, Members};
use crate::scan::LONGEST_ID;

/// The stateless revision, whose requests name their version in `_meta`.
pub const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The longest line that is written, in bytes: TypeScript clients close the connection above it.
pub const LONGEST_LINE: usize = 10 * 1024 * 1024;

/// The keys of `_meta` that the protocol itself uses.
pub mod meta {
    /// The version that a modern request speaks.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client of a modern request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The name and version of the server.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The subscription that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The token under which the client wants progress notifications.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// JSON-RPC's error codes, and MCP's own.
pub mod code {
    /// The line is not JSON.
    pub const UNREADABLE: i32 = -32700;
    /// The line is JSON but not a request.
    pub const INVALID_REQUEST: i32 = -32600;
    pub const UNKNOWN_METHOD: i32 = -32601;
    /// The method's parameters are wrong.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The request's version is not supported.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}

#[derive(Debug)]
pub struct McpMessage<'a> {
    /// The id of a request; absent in a notification.
    pub id: Option<Json<'a>>,
    /// The method; absent in a response.
    pub method: Option<Cow<'a, str>>,
    /// The parameters; empty if there are none.
    pub params: Members<'a>,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum NotMcpMessage {
    /// It is not JSON.
    Unreadable,
    /// It is JSON but not a JSON-RPC 2.0 message.
    NoMessage,
    /// Its parameters are not an object.
    Params,
}

impl<'a> McpMessage<'a> {
    pub fn decode(line: &'a [u8]) -> Result<Self, NotMcpMessage> {
        let line = std::str::from_utf8(line).map_err(|_| NotMcpMessage::Unreadable)?;
        match Members::read_with(line, "params") {
            Ok((members, params)) => Self::from_members(&members, params),
            // JSON-RPC has one error for what is no JSON, and another for JSON that is no message.
            Err(_) if Json::from_text(line).is_ok() => Err(NotMcpMessage::NoMessage),
            Err(_) => Err(NotMcpMessage::Unreadable),
        }
    }

    fn from_members(
        members: &Members<'a>,
        params: Option<Members<'a>>,
    ) -> Result<Self, NotMcpMessage> {
        let is_rpc = members.string("jsonrpc").as_deref() == Some("2.0");
        let has_answer = members.get("result").is_some() || members.get("error").is_some();
        let id = members.get("id");
        let is_good_id = id.is_none_or(|id| id.is_id() && id.get().len() <= LONGEST_ID);
        let method =
            members.get("method").map(|method| method.string().ok_or(NotMcpMessage::NoMessage));
        let method = method.transpose()?;
        // Two readers could take different ones.
        let is_twice = |name: &&str| members.0.iter().filter(|(key, _)| key == *name).count() > 1;
        if ["jsonrpc", "id", "method", "params"].iter().any(is_twice) {
            return Err(NotMcpMessage::NoMessage);
        }
        if !is_rpc || !is_good_id || (method.is_none() && !has_answer) {
            return Err(NotMcpMessage::NoMessage);
        }
        if method.is_some() && params.is_none() && members.get_non_null("params").is_some() {
            return Err(NotMcpMessage::Params);
        }
        Ok(Self { id, method, params: params.unwrap_or_default() })
    }
}
