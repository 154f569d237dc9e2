//! A question of a box that is open at the desk above.

use callgate_wire::approval::RelayedAnswer;

use crate::question_room::QuestionShare;

/// How often the last words of one question may come. An agent has them once, and they may come
/// again after its desk was started anew.
const MOST_WORDS: usize = 4;

#[derive(Debug)]
pub(crate) struct HeldQuestion {
    pub(crate) answer: Option<RelayedAnswer>,
    /// How often its last words have come.
    words: usize,
    /// Gives the room back when the question is over.
    _share: QuestionShare,
}

impl HeldQuestion {
    pub(crate) fn new(answer: Option<RelayedAnswer>, share: QuestionShare) -> Self {
        Self { answer, words: 0, _share: share }
    }

    /// Notes that last words have come. Returns false if they come too often.
    pub(crate) fn takes_words(&mut self) -> bool {
        self.words = self.words.saturating_add(1);
        self.words <= MOST_WORDS
    }
}
