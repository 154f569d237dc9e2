//! The errors of a client.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::ErrorData;

/// Why a request failed, or the client could not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    #[error("there is no tokio runtime here: start the client inside one")]
    NoTokio,
    #[error("{reason}; it is being restarted: send the request again")]
    Died {
        /// The reason, for a person.
        reason: Arc<str>,
    },
    #[error("the runtime has died {deaths} times in a row and is not restarted: {reason}")]
    GivenUp {
        deaths: u32,
        /// How it died last.
        reason: Arc<str>,
    },
    #[error("no event for {}", duration_text(*after))]
    Idle { after: Duration },
    #[error("the runtime did not read the request within {}", duration_text(*after))]
    NotTaken { after: Duration },
    #[error(
        "the request was cancelled, because its events were not read for {}: read them, or detach the request",
        duration_text(*after)
    )]
    NotRead { after: Duration },
    #[error("a part of the answer is lost: send the request again")]
    Lost,
    #[error("the request was cancelled")]
    Cancelled,
    #[error("the request has {size} bytes, but {limit} is the limit: send less")]
    TooLarge {
        /// The request's bytes.
        size: usize,
        /// The most bytes of a line.
        limit: usize,
    },
    #[error("{open} requests are open, which is the limit: wait for one to end")]
    TooMany { open: usize },
    #[error("the runtime does not support `{kind}`: use a newer one")]
    NotOffered {
        /// The kind of request, or the missing capability.
        kind: &'static str,
    },
    #[error("no request with this id is open")]
    NotOpen,
    #[error("the session is closed")]
    Closed,
    #[error("{error}")]
    Refused {
        /// What could not be done, for a person.
        error: String,
        /// The error in a form for programs.
        data: Option<ErrorData>,
    },
    #[error("the runtime's answer to `{kind}` cannot be read: use a runtime of the same version")]
    Unexpected { kind: &'static str },
}

fn duration_text(after: Duration) -> String {
    match (after.as_secs(), after.subsec_millis()) {
        (seconds, 0) => format!("{seconds} s"),
        (0, millis) => format!("{millis} ms"),
        (seconds, millis) => format!("{seconds}.{millis:03} s"),
    }
}

#[cfg(test)]
mod tests;
