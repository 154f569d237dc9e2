//! What an end of a line at the desk above wants to be done.

use callgate_wire::approval::RequestId;
use callgate_wire::relay::{BoxHello, RelayOrder, RelayedQuestion};

#[derive(Debug)]
pub enum UpperAct {
    Send(RelayOrder),
    Connected(BoxHello),
    /// A person at the box has to allow it, in words for a person.
    Waiting(String),
    /// These are its open questions, and answers go back.
    Synced(Vec<RequestId>),
    Ask(Box<RelayedQuestion>),
    AddWords {
        question: RequestId,
        last_words: String,
    },
    /// A question is over at the box, without an answer from here.
    Withdraw {
        question: RequestId,
        text: String,
    },
    /// The answer to a question is kept until the box is back.
    Defer(RequestId),
    Delivered(RequestId),
    Lost {
        question: RequestId,
        text: String,
    },
    Warn(String),
    /// The line is over, for this reason, and has to be made again.
    End(String),
}
