//! The envelopes of MCP: JSON-RPC 2.0, one message a line.
//!
//! Only what the bridge has to understand is modelled; everything else is passed on as it came.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::raw::{Members, from_object, is_object, present};

/// The stateless revision, whose requests say their version in `_meta`.
pub const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The longest line this side writes: TypeScript clients close the connection above it.
pub const LONGEST_LINE: usize = 10 * 1024 * 1024;

/// The keys of `_meta` that the protocol itself uses.
pub mod meta {
    /// The version a modern request speaks.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client of a modern request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who answered.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The subscription that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Under which the client wants to be told of progress.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// JSON-RPC's error codes, and MCP's own.
pub mod code {
    /// The line is not JSON.
    pub const UNREADABLE: i32 = -32700;
    /// The line is JSON but no request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// There is no such method.
    pub const UNKNOWN_METHOD: i32 = -32601;
    /// The method's parameters are wrong.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The request speaks a version that is not spoken here.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}

/// A message from a client.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    /// The id of a request; absent in a notification.
    #[serde(borrow, default, deserialize_with = "present")]
    pub id: Option<&'a RawValue>,
    /// The method; absent in a response.
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    /// The parameters. They are read together with the envelope, so that large arguments are
    /// scanned only once; whoever needs one checks its type.
    #[serde(borrow, default)]
    pub params: Option<Members<'a>>,
}

/// Why a line is no message.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Unfit {
    /// It is not JSON.
    Unreadable,
    /// It is JSON but not a JSON-RPC 2.0 message.
    NoMessage,
    /// Its parameters are not an object.
    Params,
}

impl<'a> Message<'a> {
    /// Reads a line.
    pub fn decode(line: &'a [u8]) -> Result<Self, Unfit> {
        let line = std::str::from_utf8(line).map_err(|_| Unfit::Unreadable)?;
        match from_object::<Self>(line) {
            Ok(message) if message.jsonrpc.as_deref() == Some("2.0") && message.has_good_id() => {
                Ok(message)
            }
            Ok(_) => Err(Unfit::NoMessage),
            Err(_) => Err(unfit(line)),
        }
    }

    fn has_good_id(&self) -> bool {
        self.id.is_none_or(|id| {
            id.get().starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        })
    }
}

/// A second look at a line that could not be read: what exactly is wrong with it?
fn unfit(line: &str) -> Unfit {
    #[derive(Deserialize)]
    struct Loose<'a> {
        #[serde(borrow, default)]
        method: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    if serde_json::from_str::<&RawValue>(line).is_err() {
        return Unfit::Unreadable;
    }
    match serde_json::from_str::<Loose>(line) {
        Ok(Loose { method: Some(_), params: Some(params) }) if !is_object(params) => Unfit::Params,
        _ => Unfit::NoMessage,
    }
}
