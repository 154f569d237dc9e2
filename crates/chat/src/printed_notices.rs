//! Which notices are worth a line where every line stays. Pure.

use callgate_wire::session::{Notice, SessionEvent};

/// The kind of the notice that an interrupted answer is requested again.
pub(crate) const RETRY: &str = "retry";
/// The kind of the notice that the runtime is still working.
pub(crate) const WORKING: &str = "working";
/// What stands between the cause of a retry and the time until it. The runtime words its notice
/// like this; if it did not, every attempt would be printed.
const BEFORE_TIME: &str = " (trying again";

/// What the last notices said that a runtime may repeat for half an hour.
#[derive(Debug, Default)]
pub struct PrintedNotices {
    retry: Option<String>,
    working: Option<String>,
}

impl PrintedNotices {
    /// Notes an event. Returns true for a notice that says the same as the one of its kind before
    /// it, with nothing but such notices between them.
    pub fn is_repeated(&mut self, event: &SessionEvent) -> bool {
        let SessionEvent::Notice(Notice { kind, text }) = event else {
            *self = Self::default();
            return false;
        };
        let last = match kind.as_str() {
            RETRY => &mut self.retry,
            WORKING => &mut self.working,
            _ => return false,
        };
        // The time until the next attempt differs each time.
        let said = text.split_once(BEFORE_TIME).map_or(text.as_str(), |(cause, _)| cause);
        let is_same = last.as_deref() == Some(said);
        *last = Some(said.to_owned());
        is_same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_printed_once_until_something_else_happens() {
        let mut printed = PrintedNotices::default();
        let mut is_new = |kind: &str, text: &str| {
            let notice = SessionEvent::notice(kind, text);
            !printed.is_repeated(&notice)
        };
        assert!(is_new(RETRY, "no route (trying again in 0.5 s)"));
        assert!(!is_new(RETRY, "no route (trying again in 1.0 s)"));
        assert!(is_new(WORKING, "waiting for the model"));
        assert!(!is_new(RETRY, "no route (trying again in 30.0 s)"));
        assert!(!is_new(WORKING, "waiting for the model"));
        assert!(is_new(RETRY, "overloaded (trying again in 30.0 s)"));
        assert!(is_new("compacted", "shorter") && is_new("compacted", "shorter"));
        printed.is_repeated(&SessionEvent::Token("so".to_owned()));
        assert!(!printed.is_repeated(&SessionEvent::notice(RETRY, "overloaded (trying again)")));
    }
}
