//! The columns of questions and documents, as parts of statements, and how rows are declared. The
//! time by the clock of the store follows the columns of a question.

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

/// Declares a row as the database returns it: one field for each column, in their order.
macro_rules! stored_row {
    ($row:ident { $($(#[$about:meta])* $column:ident: $type:ty,)* }) => {
        pub(crate) struct $row {
            $($(#[$about])* pub(crate) $column: $type,)*
        }

        impl $row {
            #[cfg(feature = "postgres")]
            pub(crate) fn from_postgres(row: &tokio_postgres::Row) -> Self {
                // By their places: a look for each name would take longer than the rest.
                let mut places = 0_usize..;
                Self { $($column: row.get(places.next().unwrap_or_default()),)* }
            }
        }
    };
}
