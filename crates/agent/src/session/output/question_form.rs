//! How the front end is asked what is no permission.

use callgate_link::sync::lock;
use callgate_wire::session::capability;

use super::SessionOutput;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionForm {
    Fields,
    /// As a part of the answer, and the user's next message is theirs.
    Text,
    /// Not at all: it has said what it takes, and takes no questions.
    Nothing,
}

impl SessionOutput {
    pub(crate) fn question_form(&self) -> QuestionForm {
        let state = lock(&self.0.state);
        let takes = |kind| state.takes(kind);
        if takes(capability::QUESTION) {
            QuestionForm::Fields
        } else if state.takes.is_none() || takes(capability::PERMISSION) {
            QuestionForm::Text
        } else {
            QuestionForm::Nothing
        }
    }
}
