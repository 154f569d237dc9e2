//! The agent's last words, which are sent after the question if they are found after it.

use std::time::{Duration, Instant};

use callgate_wire::approval::{LateWords, RequestId};

/// How long after a question the first look is due: where a rule answers, nobody reads the words.
const FIRST_LOOK: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordsLook {
    Found(String),
    /// They are not there yet: the next look is due after this time.
    Later(Duration),
    Never,
}

pub(super) struct PendingWords<'a> {
    pub(super) id: &'a RequestId,
    look: &'a mut dyn FnMut() -> WordsLook,
    /// When the next look is due, if there is one.
    pub(super) look_at: Option<Instant>,
    /// The line that carries the words, once they are found.
    line: Option<Vec<u8>>,
    /// Whether the line was sent on this connection.
    is_sent: bool,
}

impl<'a> PendingWords<'a> {
    pub(super) fn new(id: &'a RequestId, look: &'a mut dyn FnMut() -> WordsLook) -> Self {
        let look_at = Some(Instant::now() + FIRST_LOOK);
        Self { id, look, look_at, line: None, is_sent: false }
    }

    /// Notes that the question is sent on a new connection, so that the words have to follow it.
    pub(super) fn note_connection(&mut self) {
        self.is_sent = false;
    }

    /// Looks for the words if that is due, and returns the line that has to be sent now, if any.
    pub(super) fn take_line(&mut self) -> Option<Vec<u8>> {
        if self.look_at.is_some_and(|at| at <= Instant::now()) {
            self.look_at = None;
            match (self.look)() {
                WordsLook::Found(last_words) => {
                    let words = LateWords { request_id: self.id.clone(), last_words };
                    self.line = Some(words.to_line());
                }
                WordsLook::Later(pause) => self.look_at = Some(Instant::now() + pause),
                WordsLook::Never => {}
            }
        }
        // A copy is kept, because a desk that is dialled again gets the words again.
        let line = self.line.clone().filter(|_| !self.is_sent);
        self.is_sent |= line.is_some();
        line
    }
}
