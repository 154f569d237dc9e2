//! The columns of questions and documents, as parts of statements. The time by the clock of the
//! store follows those of a question.

/// The columns of a question, in the order in which `QuestionRow` has them.
macro_rules! question_columns {
    () => {
        "id, machine, project, agent, act, asked_ms, deadline_ms, state, closed_ms, closed_text, \
         last_words, first_allow, answer_id, answered_by, decision, answer, outcome, changed"
    };
}

/// The columns of a document, in the order in which `DocumentRow` has them.
macro_rules! document_columns {
    () => {
        "kind, name, version, body, edit_id, edited_by, edited_ms, changed"
    };
}

pub(crate) const QUESTION_COLUMNS: &str = question_columns!();
pub(crate) const DOCUMENT_COLUMNS: &str = document_columns!();
