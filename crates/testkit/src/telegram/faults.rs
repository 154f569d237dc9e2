//! What goes wrong on demand.

use std::time::Duration;

use super::Inner;

/// A way in which a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 429, with how long to wait.
    TooMany {
        /// Seconds in `retry_after`.
        seconds: u64,
    },
    /// This HTTP status, with a body that is no JSON, as a proxy gives it; nothing is done.
    Status(u16),
    /// A refusal in the API's own form; nothing is done.
    Refuse(u16, &'static str),
    /// The connection breaks, and nothing was done.
    BreakBefore,
    /// The call is done, and the connection breaks before the answer.
    BreakAfter,
    /// The call is slow, and then done.
    Delay(Duration),
    /// The call is done only after [`release`](super::Telegram::release).
    Hold,
    /// The call is done at once; its answer comes only after
    /// [`release`](super::Telegram::release).
    HoldAnswer,
    /// The answer is not what the API gives: half of a JSON object.
    Garbage,
}

/// Faults that are to come.
#[derive(Debug)]
pub(super) struct Planned {
    method: String,
    chat: Option<i64>,
    left: usize,
    fault: Fault,
}

impl Planned {
    pub(super) fn new(method: &str, chat: Option<i64>, left: usize, fault: Fault) -> Self {
        Self { method: method.to_owned(), chat, left, fault }
    }

    fn fits(&self, method: &str, chat: Option<i64>) -> bool {
        (self.method == "*" || self.method == method)
            && (self.chat.is_none() || self.chat == chat)
            && self.left > 0
    }
}

impl Inner {
    /// Returns the fault that this call meets, if any.
    pub(super) fn next_fault(&mut self, method: &str, chat: Option<i64>) -> Option<Fault> {
        let planned = self.faults.iter_mut().find(|planned| planned.fits(method, chat))?;
        if planned.left < usize::MAX {
            planned.left -= 1;
        }
        let fault = planned.fault;
        self.faults.retain(|planned| planned.left > 0);
        Some(fault)
    }
}
