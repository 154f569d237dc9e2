//! A letter: an input on its way to the desk.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

use crate::desk::DeskInput;

/// Something for the desk, and whom to tell that it was recorded.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) input: DeskInput,
    /// Signalled once the input is recorded, if its sender waits for that. Dropped, it says that
    /// the input was not recorded.
    pub(super) recorded: Option<oneshot::Sender<()>>,
}

impl Letter {
    pub(super) fn new(input: DeskInput) -> Self {
        Self { input, recorded: None }
    }
}

/// Where letters to the desk are put. The desk's thread handles them in order. If none is waiting,
/// a thread may also have its letter handled [at once](Self::handle_or_send).
#[derive(Clone)]
pub(super) struct LetterBox {
    letters: mpsc::Sender<Letter>,
    /// How many letters were put in and are not handled.
    unhandled: Arc<AtomicUsize>,
    at_once: Arc<OnceLock<HandleAtOnce>>,
}

/// Handles a letter on the calling thread.
pub(super) type HandleAtOnce = Box<dyn Fn(Letter) -> HandledAtOnce + Send + Sync>;

pub(super) enum HandledAtOnce {
    Done,
    /// It was handled, and the desk's thread has to wake up earlier than it knows.
    WakeDesk,
    Busy(Box<Letter>),
}

/// The other end of a letter box.
#[derive(Debug)]
pub(super) struct LetterQueue {
    letters: mpsc::Receiver<Letter>,
    unhandled: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub(super) struct DeskEnded;

impl LetterBox {
    /// Creates a box for this many letters.
    pub(super) fn new(room: usize) -> (Self, LetterQueue) {
        let (sender, letters) = mpsc::channel(room);
        let unhandled = Arc::<AtomicUsize>::default();
        let queue = LetterQueue { letters, unhandled: Arc::clone(&unhandled) };
        (Self { letters: sender, unhandled, at_once: Arc::default() }, queue)
    }

    pub(super) fn set_at_once(&self, handle: HandleAtOnce) {
        // Set once, after the box was made: the one desk is made of parts that hold the box.
        self.at_once.set(handle).ok();
    }

    pub(super) async fn send(&self, letter: Letter) -> Result<(), DeskEnded> {
        // Counted before it is sent, so that no later letter is handled first on another thread.
        self.unhandled.fetch_add(1, Ordering::SeqCst);
        self.letters.send(letter).await.map_err(|_| DeskEnded)
    }

    /// Does the same on a thread without a runtime.
    pub(super) fn blocking_send(&self, letter: Letter) -> Result<(), DeskEnded> {
        self.unhandled.fetch_add(1, Ordering::SeqCst);
        self.letters.blocking_send(letter).map_err(|_| DeskEnded)
    }

    /// Handles a letter on this thread, or sends it if others come first. Waking the desk's thread
    /// takes longer than most letters do, and an agent waits.
    pub(super) fn handle_or_send(&self, letter: Letter) -> Result<(), DeskEnded> {
        let handle = self.at_once.get().filter(|_| self.unhandled.load(Ordering::SeqCst) == 0);
        let Some(handle) = handle else { return self.blocking_send(letter) };
        match handle(letter) {
            HandledAtOnce::Done => Ok(()),
            // Any letter wakes the thread, which then looks anew at when it is due.
            HandledAtOnce::WakeDesk => self.blocking_send(Letter::new(DeskInput::Tick)),
            HandledAtOnce::Busy(letter) => self.blocking_send(*letter),
        }
    }

    pub(super) async fn wait_for_end(&self) {
        self.letters.closed().await;
    }

    /// Sends the desk an input and waits until it is recorded. Returns false if it was not, because
    /// the ledger could not be written or the desk has ended.
    pub(super) async fn send_recorded(&self, input: DeskInput) -> bool {
        let (recorded, is_recorded) = oneshot::channel();
        let letter = Letter { input, recorded: Some(recorded) };
        self.send(letter).await.is_ok() && is_recorded.await.is_ok()
    }

    /// Does the same on a thread without a runtime.
    pub(super) fn blocking_send_recorded(&self, input: DeskInput) -> bool {
        let (recorded, is_recorded) = oneshot::channel();
        let letter = Letter { input, recorded: Some(recorded) };
        self.blocking_send(letter).is_ok() && is_recorded.blocking_recv().is_ok()
    }
}

impl fmt::Debug for LetterBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LetterBox").finish_non_exhaustive()
    }
}

impl LetterQueue {
    /// Waits for letters, and adds at most this many to `taken`. Returns 0 once the box is gone.
    pub(super) async fn take_letters(&mut self, taken: &mut Vec<Letter>, most: usize) -> usize {
        self.letters.recv_many(taken, most).await
    }

    pub(super) fn mark_handled(&self, count: usize) {
        self.unhandled.fetch_sub(count, Ordering::SeqCst);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::AskerId;

    impl LetterQueue {
        pub(in crate::daemon) fn try_take(&mut self) -> Option<Letter> {
            self.letters.try_recv().ok()
        }

        pub(in crate::daemon) async fn take_letter(&mut self) -> Option<Letter> {
            self.letters.recv().await
        }
    }

    fn letter(asker: u64) -> Letter {
        Letter::new(DeskInput::Gone(AskerId(asker)))
    }

    fn asker_of(letter: Option<Letter>) -> Option<u64> {
        match letter?.input {
            DeskInput::Gone(asker) => Some(asker.0),
            _ => None,
        }
    }

    #[test]
    fn a_letter_is_handled_at_once_only_if_none_comes_first() {
        let (to_desk, mut queue) = LetterBox::new(4);
        to_desk.handle_or_send(letter(1)).unwrap();
        assert_eq!(asker_of(queue.try_take()), Some(1), "nobody handles letters at once yet");
        queue.mark_handled(1);

        let (at_once, handled) = std::sync::mpsc::channel();
        to_desk.set_at_once(Box::new(move |letter| {
            at_once.send(asker_of(Some(letter))).unwrap();
            HandledAtOnce::Done
        }));
        to_desk.handle_or_send(letter(2)).unwrap();
        assert_eq!(handled.try_recv(), Ok(Some(2)));
        to_desk.blocking_send(letter(3)).unwrap();
        to_desk.handle_or_send(letter(4)).unwrap();
        assert_eq!(asker_of(queue.try_take()), Some(3));
        to_desk.handle_or_send(letter(5)).unwrap();
        assert_eq!(asker_of(queue.try_take()), Some(4), "3 is taken, but not handled");
        assert_eq!(asker_of(queue.try_take()), Some(5));
        queue.mark_handled(3);
        to_desk.handle_or_send(letter(6)).unwrap();
        assert_eq!(handled.try_recv(), Ok(Some(6)));
        assert!(queue.is_empty() && handled.try_recv().is_err());
    }

    #[test]
    fn a_busy_desk_gets_the_letter_and_one_that_sleeps_too_long_is_woken() {
        let (to_desk, mut queue) = LetterBox::new(4);
        to_desk.set_at_once(Box::new(|letter| match &letter.input {
            DeskInput::Gone(AskerId(1)) => HandledAtOnce::Busy(Box::new(letter)),
            _ => HandledAtOnce::WakeDesk,
        }));
        to_desk.handle_or_send(letter(1)).unwrap();
        assert_eq!(asker_of(queue.try_take()), Some(1));
        queue.mark_handled(1);
        to_desk.handle_or_send(letter(2)).unwrap();
        assert!(matches!(queue.try_take().unwrap().input, DeskInput::Tick));
    }
}
