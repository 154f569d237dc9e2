//! What the fake answers: turns, each a list of blocks, or a failure.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// One scripted answer.
///
/// ```
/// use callgate_testkit::messages::Turn;
/// use serde_json::json;
///
/// let turn = Turn::text("I look.").tool("Bash", json!({"command": "echo hi"}));
/// let slow = Turn::text("Hello").pieces(1).wire_bytes(3);
/// let limited = Turn::rate_limited(1);
/// ```
#[derive(Clone, Debug)]
pub struct Turn {
    pub(crate) blocks: Vec<Block>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) piece: usize,
    pub(crate) wire: Option<usize>,
    pub(crate) pings: bool,
    pub(crate) is_prepared: bool,
    /// The events after the first in chunks of HTTP, once a script has the turn.
    pub(crate) framed: Option<Arc<[u8]>>,
    pub(crate) end: End,
    pub(crate) pauses: Option<StreamPauses>,
    /// What the service's own check says of the tool uses.
    pub(crate) check: Option<ToolCheck>,
}

/// After how many events a stream waits, and for what.
#[derive(Clone, Debug)]
pub(crate) struct StreamPauses {
    pub(crate) after: Vec<usize>,
    pub(crate) go_on: Arc<Mutex<Receiver<()>>>,
}

/// What the service's own check of dangerous tool uses says, on which Claude Code's auto mode
/// relies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolCheck {
    Passed,
    /// They are dangerous, for this reason.
    Flagged(&'static str),
}

/// One block of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    Text(String),
    Thinking(String),
    Tool {
        id: Option<String>,
        name: String,
        input: Value,
    },
    /// A tool use whose input is this text, which need not be what any parser writes.
    ToolText {
        name: String,
        input: String,
    },
    /// A block as it is, for types that no client knows.
    Raw(Value),
}

/// How an answer ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    /// The connection breaks after so many events.
    Cut(usize),
    /// Nothing more comes after so many events, and the connection stays.
    Stall(usize),
    /// An `error` event after so many events.
    Error(usize, &'static str),
    /// The connection ends without an answer.
    HangUp,
    /// No stream at all: an HTTP error.
    Http {
        status: u16,
        kind: &'static str,
        words: &'static str,
        retry_after: Option<u32>,
    },
}

impl Turn {
    /// Creates an answer with no block yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            blocks: Vec::new(),
            stop_reason: None,
            piece: 12,
            wire: None,
            pings: true,
            is_prepared: false,
            framed: None,
            end: End::Whole,
            pauses: None,
            check: None,
        }
    }

    /// Creates an answer that is one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().and_text(text)
    }

    /// Creates an answer that is one tool use.
    #[must_use]
    pub fn tool_use(name: impl Into<String>, input: Value) -> Self {
        Self::new().tool(name, input)
    }

    /// 429 with `retry-after` in seconds.
    #[must_use]
    pub fn rate_limited(retry_after: u32) -> Self {
        Self::http(429, "rate_limit_error", Some(retry_after))
    }

    /// 529, the service is overloaded.
    #[must_use]
    pub fn overloaded() -> Self {
        Self::http(529, "overloaded_error", None)
    }

    /// 500, something broke at the service.
    #[must_use]
    pub fn broken() -> Self {
        Self::http(500, "api_error", None)
    }

    /// Any other HTTP error.
    #[must_use]
    pub fn refused(status: u16, kind: &'static str) -> Self {
        Self::http(status, kind, None)
    }

    /// Sets the message of an HTTP error; otherwise it is the error's type.
    #[must_use]
    pub fn saying(mut self, message: &'static str) -> Self {
        if let End::Http { words, .. } = &mut self.end {
            *words = message;
        }
        self
    }

    /// No answer at all: the connection ends when the request has come.
    #[must_use]
    pub fn hang_up() -> Self {
        Self::ending(End::HangUp)
    }

    fn http(status: u16, kind: &'static str, retry_after: Option<u32>) -> Self {
        Self::ending(End::Http { status, kind, words: kind, retry_after })
    }

    fn ending(end: End) -> Self {
        Self { end, ..Self::new() }
    }

    /// Adds a text.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.block(Block::Text(text.into()))
    }

    /// Adds a tool use with an id of the fake's own.
    #[must_use]
    pub fn tool(self, name: impl Into<String>, input: Value) -> Self {
        self.block(Block::Tool { id: None, name: name.into(), input })
    }

    /// Adds a tool use whose input is this JSON text. It is only streamed.
    #[must_use]
    pub fn tool_text(self, name: impl Into<String>, input: impl Into<String>) -> Self {
        self.block(Block::ToolText { name: name.into(), input: input.into() })
    }

    /// Says what the service's own check makes of the tool uses. Without it Claude Code takes the
    /// check for unavailable.
    #[must_use]
    pub fn checked(self, check: ToolCheck) -> Self {
        Self { check: Some(check), ..self }
    }

    /// Adds a tool use with this id.
    #[must_use]
    pub fn tool_with_id(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> Self {
        self.block(Block::Tool { id: Some(id.into()), name: name.into(), input })
    }

    /// Adds a thought.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.block(Block::Thinking(text.into()))
    }

    /// Adds a block as it is, for instance of a type that does not exist yet.
    #[must_use]
    pub fn raw(self, block: Value) -> Self {
        self.block(Block::Raw(block))
    }

    fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Sets the stop reason; otherwise it is `tool_use` or `end_turn` by the blocks.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Sets how many characters a delta has (12 otherwise).
    #[must_use]
    pub fn pieces(mut self, characters: usize) -> Self {
        self.piece = characters.max(1);
        self
    }

    /// Cuts the stream into writes of so many bytes, through events and characters alike.
    #[must_use]
    pub fn wire_bytes(mut self, bytes: usize) -> Self {
        self.wire = Some(bytes.max(1));
        self
    }

    /// Makes the stream before it is asked for and sends it in a few large writes, each event still
    /// a chunk of its own unless [`wire_bytes`](Self::wire_bytes) says otherwise. For measuring: a
    /// stream of 20,000 pieces costs the fake next to nothing. A tool use needs an id of its own
    /// here, and the stream its end.
    #[must_use]
    pub fn prepared(mut self) -> Self {
        self.is_prepared = true;
        self
    }

    /// Sets whether `ping` events come in between, as they do from the service.
    #[must_use]
    pub fn pings(mut self, on: bool) -> Self {
        self.pings = on;
        self
    }

    /// Breaks the connection after so many events.
    #[must_use]
    pub fn cut_after(mut self, events: usize) -> Self {
        self.end = End::Cut(events);
        self
    }

    /// Sends nothing more after so many events, until the client has gone.
    #[must_use]
    pub fn stall_after(mut self, events: usize) -> Self {
        self.end = End::Stall(events);
        self
    }

    /// Waits after each of these numbers of events until the test goes on, or its sender is gone.
    #[must_use]
    pub fn pause_after(mut self, events: &[usize], go_on: Receiver<()>) -> Self {
        let (after, go_on) = (events.to_vec(), Arc::new(Mutex::new(go_on)));
        self.pauses = Some(StreamPauses { after, go_on });
        self
    }

    /// Sends an `error` event of that type after so many events.
    #[must_use]
    pub fn error_after(mut self, events: usize, kind: &'static str) -> Self {
        self.end = End::Error(events, kind);
        self
    }
}

impl Default for Turn {
    fn default() -> Self {
        Self::new()
    }
}
