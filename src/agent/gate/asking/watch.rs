//! Watches what becomes of a question at the daemon's desk, on a thread of its own.
//!
//! It reports when the desk has the question, so that nobody answers before that, and how it ended,
//! in the desk's words. It decides nothing: the answer goes to the asker. The request says whether
//! the front end takes questions, so that the desk knows that somebody is there.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::DeskError;
use callgate_client::viewer::Viewer;
use callgate_wire::approval::RequestId;
use callgate_wire::desk::DeskMessage;
use callgate_wire::ledger::{LedgerEvent, LedgerRuling, QuestionAsked};

use crate::agent::gate::board::{Board, QuestionTerms};

/// How often the thread checks whether it is still needed, and dials a desk that is gone.
const BEAT: Duration = Duration::from_millis(100);

/// Ends the watching when it is dropped.
#[derive(Debug)]
pub(super) struct WatchGuard(Arc<AtomicBool>);

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct QuestionWatch {
    desk_socket: PathBuf,
    board: Arc<Board>,
    id: RequestId,
    /// The number of the last entry that was seen.
    head: u64,
    is_over: Arc<AtomicBool>,
}

/// Starts to watch before the question is asked. The watch is established when this returns.
pub(super) fn start_watch(
    desk_socket: PathBuf,
    board: &Arc<Board>,
    id: &RequestId,
) -> Result<WatchGuard, DeskError> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut watch = QuestionWatch {
        desk_socket,
        board: Arc::clone(board),
        id: id.clone(),
        head: 0,
        is_over: Arc::clone(&is_over),
    };
    let mut viewer = Viewer::connect(&watch.desk_socket)?;
    // The reply is awaited here: from then on no entry is missed, so the question may be asked.
    watch.head = viewer.watch(None)?;
    let watching = WatchGuard(is_over);
    let started: io::Result<_> = thread::Builder::new()
        .name("watch".to_owned())
        .spawn(move || watch.follow_question(viewer));
    started?;
    Ok(watching)
}

impl QuestionWatch {
    fn follow_question(mut self, viewer: Viewer) {
        let mut viewer = Some(viewer);
        while !self.is_over.load(Ordering::Relaxed) {
            let Some(there) = viewer.as_mut() else {
                thread::sleep(BEAT);
                viewer = self.reconnect().ok();
                continue;
            };
            match self.handle_next(there) {
                Ok(true) => return,
                Ok(false) => {}
                // The asker reconnects to a desk that was restarted; so do we.
                Err(_) => viewer = None,
            }
        }
    }

    /// Reconnects, from the entry after the last one seen.
    fn reconnect(&self) -> Result<Viewer, DeskError> {
        let mut viewer = Viewer::connect(&self.desk_socket)?;
        viewer.watch(Some(self.head + 1))?;
        Ok(viewer)
    }

    /// Handles the next entry, if one comes soon. Returns true if it was the question's last.
    fn handle_next(&mut self, viewer: &mut Viewer) -> Result<bool, DeskError> {
        let Some(DeskMessage::Entry(entry)) = viewer.next(Instant::now() + BEAT)? else {
            return Ok(false);
        };
        self.head = entry.seq;
        if entry.question.as_deref() != Some(self.id.as_str()) {
            return Ok(false);
        }
        match entry.event() {
            LedgerEvent::Asked(asked) if asked.ruling.is_for_people() => {
                self.board.show_asked(&self.id, terms_of_question(&asked));
            }
            LedgerEvent::Closed(closed) => {
                let is_told = !closed.text.is_empty();
                self.board.note_end(&self.id, if is_told { &closed.text } else { "It is over" });
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    }
}

/// Returns the desk's terms for the question. A guarded act is never allowed from now on, nor one
/// of which a rule wants more than a press.
fn terms_of_question(asked: &QuestionAsked) -> QuestionTerms {
    QuestionTerms {
        deadline_ms: asked.until_ms.and_then(|until| until.try_into().ok()),
        takes_always: asked.demands.is_none()
            && !matches!(asked.ruling, LedgerRuling::Guard | LedgerRuling::Confirm),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_desk_guards_is_not_allowed_from_now_on() {
        let terms = |body: &str| match LedgerEvent::decode_body("asked", body).0 {
            LedgerEvent::Asked(asked) => {
                let QuestionTerms { deadline_ms, takes_always } = terms_of_question(&asked);
                (deadline_ms, takes_always)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(terms(r#"{"ruling":"ask","until_ms":7}"#), (Some(7), true));
        assert_eq!(terms(r#"{"ruling":"guard","until_ms":7}"#), (Some(7), false));
        assert_eq!(terms(r#"{"ruling":"confirm","until_ms":7}"#), (Some(7), false));
        let demanded = r#"{"ruling":"ask","until_ms":7,"demands":["two_people"]}"#;
        assert_eq!(terms(demanded), (Some(7), false));
        assert_eq!(terms(r#"{"ruling":"ask","until_ms":-7}"#), (None, true));
        assert_eq!(terms("{}"), (None, true));
    }
}
