//! The store of a team's desk: questions and their answers, the team's documents, and the audit
//! log.
//!
//! [`TeamStore`] is what desks need that share a team, and `PostgresTeamStore` keeps it in
//! PostgreSQL. A single team desk has no such store: it keeps questions, answers and members in its
//! own ledger, in SQLite. What both promise is one suite, run with real desks:
//! `tests/team/promises.rs` of the program.
//!
//! **Recorded before effect.** A call that changes something returns after the commit.
//!
//! **Once.** A question is recorded once although its asker retries, and answered at most once
//! although several desks try: its id and the answer's own id tell a repetition from another. So
//! every change may be repeated after a lost acknowledgement, and the stores do that themselves.
//!
//! **One clock.** Times are those of the server. A desk passes durations, never times, so that its
//! own clock changes nothing.
//!
//! **No stale state.** Nothing is cached: a call reads from the store or fails.
//!
//! **The audit log** has a chain of hashes for each machine, in the form of `callgate-store`. A
//! machine's entries are copied with the hashes that it gave them, and refused if they do not
//! follow what was copied before. Each change of a question or a document adds an entry to the
//! chain of the desk that made it, in the same transaction.

#![allow(clippy::doc_markdown, reason = "SQLite and PostgreSQL are names, not code")]
#![cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, unused_macros, reason = "the only store is left out")
)]

#[macro_use]
mod columns;

mod audit;
mod audit_query;
mod document;
mod error;
mod limits;
#[cfg(feature = "postgres")]
mod postgres;
mod question;

use std::time::Duration;

use callgate_store::ChainHead;
use callgate_wire::approval::RequestId;

pub use audit::{
    AuditChain, AuditChainReport, AuditCopy, AuditLabels, AuditProtection, AuditRecord, LedgerPart,
    chain_name, unknown_before,
};
pub use audit_query::AuditFilter;
pub use document::{DocumentEdit, DocumentKind, EditReceipt, ROLES, TeamDocument};
pub use error::{TeamResult, TeamStoreError};
pub use limits::{
    LONGEST_DELIVERY, LONGEST_NAME, LONGEST_WAIT, MOST_COPIES, MOST_PENDING, MOST_ROWS,
};
#[cfg(feature = "postgres")]
pub use postgres::{OLDEST_SERVER, PostgresSettings, PostgresTeamStore};
pub use question::{
    AnswerReceipt, AskReceipt, DeliveryOutcome, QuestionNote, TeamAnswer, TeamAsk, TeamQuestion,
    TeamQuestionState,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamChange {
    /// A question was asked or closed, or something was noted about it.
    Question(Box<TeamQuestion>),
    Document(TeamDocument),
}

impl TeamChange {
    /// Returns the number of the change. Each is greater than those before it.
    pub fn number(&self) -> u64 {
        match self {
            Self::Question(question) => question.changed,
            Self::Document(document) => document.changed,
        }
    }
}

/// How large the store is, and what it guarantees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamStoreStatus {
    pub bytes: u64,
    /// The bytes of the audit log among them.
    pub audit_bytes: u64,
    /// The bytes of the audit log of the last whole day; `None` if there was none.
    pub day_bytes: Option<u64>,
    /// For how many days audit entries and closed questions are kept.
    pub kept_days: u32,
    pub protection: AuditProtection,
}

/// One connection to the store of a team's desk. Calls block; a desk has one for the thread that
/// records, one that waits for changes, and one for people who search.
pub trait TeamStore: Send {
    /// Opens another connection to the same store.
    fn connect_again(&self) -> TeamResult<Box<dyn TeamStore>>;

    /// Records a question, once for each id.
    fn ask_question(&mut self, ask: &TeamAsk) -> TeamResult<AskReceipt>;

    /// Records an answer, if the question is open, its time is not over, and the members who have
    /// given it belong to the team. Fails with [`TeamStoreError::OtherRoles`] if the roles are not
    /// those any more by which they may.
    fn answer_question(&mut self, answer: &TeamAnswer) -> TeamResult<AnswerReceipt>;

    /// Closes an open question of `machine` whose asker needs no answer any more; `text` says why,
    /// in words for a person. Returns the question as it is then, or `None` if the machine has no
    /// such question.
    fn withdraw_question(
        &mut self,
        machine: &str,
        question: &RequestId,
        text: &str,
    ) -> TeamResult<Option<TeamQuestion>>;

    /// Adds a note to a question, if its state lets it. Returns the question as it is then, or
    /// `None` if there is no such question. The allow of a member fails as their answer does.
    fn note_question(
        &mut self,
        question: &RequestId,
        note: &QuestionNote,
    ) -> TeamResult<Option<TeamQuestion>>;

    /// Closes all open questions whose time is over, and returns them. Answers of which nothing was
    /// heard for [`LONGEST_DELIVERY`] after that time are lost, and their questions returned too.
    fn expire_questions(&mut self) -> TeamResult<Vec<TeamQuestion>>;

    fn find_question(&mut self, id: &RequestId) -> TeamResult<Option<TeamQuestion>>;

    /// Returns the open questions, the oldest first, at most [`MOST_PENDING`].
    fn open_questions(&mut self) -> TeamResult<Vec<TeamQuestion>>;

    /// Returns the questions, or those of one machine, that are open or whose answer is on its way,
    /// the oldest first, at most [`MOST_PENDING`]: what a desk continues with after a start.
    fn pending_questions(&mut self, machine: Option<&str>) -> TeamResult<Vec<TeamQuestion>>;

    /// Writes or removes a document, if nobody has changed it since the version that the edit
    /// names.
    fn edit_document(&mut self, edit: &DocumentEdit) -> TeamResult<EditReceipt>;

    /// Returns a document, also one that was removed.
    fn find_document(&mut self, kind: DocumentKind, name: &str)
    -> TeamResult<Option<TeamDocument>>;

    /// Returns all documents of a kind that were not removed, in the order of their names.
    fn list_documents(&mut self, kind: DocumentKind) -> TeamResult<Vec<TeamDocument>>;

    /// Returns the number of the last change, or 0.
    fn last_change(&mut self) -> TeamResult<u64>;

    /// Returns the time by the clock of the store, in milliseconds since 1970.
    fn read_clock(&mut self) -> TeamResult<i64>;

    /// Returns what has changed since the change `after`, in order, at most [`MOST_ROWS`] changes.
    /// Whatever has changed several times is returned once, as it is now. Fails once with
    /// [`TeamStoreError::Replaced`] if another server has taken over since the number of the last
    /// change was asked for, so that `after` may stand for something else there.
    fn changes_after(&mut self, after: u64) -> TeamResult<Vec<TeamChange>>;

    /// Waits until something has changed since the change `after`, at most for `limit`, and returns
    /// it as [`changes_after`](Self::changes_after) does.
    fn wait_for_changes(&mut self, after: u64, limit: Duration) -> TeamResult<Vec<TeamChange>>;

    /// Returns, and forgets, the rows that lists have left out because they cannot be read: they
    /// have a word of a newer callgate, or somebody has changed them by hand.
    fn take_unread(&mut self) -> Vec<String>;

    /// Copies entries of a machine's ledger, as [`copy_ledgers`](Self::copy_ledgers) copies a part.
    fn copy_entries(
        &mut self,
        machine: &str,
        after: ChainHead,
        copies: &[AuditCopy],
    ) -> TeamResult<ChainHead> {
        let part = LedgerPart { chain: machine.to_owned(), after, copies: copies.to_vec() };
        self.copy_ledgers(&[part])?.pop().unwrap_or(Ok(after))
    }

    /// Copies parts of ledgers, each of at most [`MOST_COPIES`] entries. The first part of a chain
    /// may begin anywhere in the ledger; later ones have to continue it. Entries that were copied
    /// before are compared and ignored. Returns the end of each copied chain, or why it was
    /// refused; if the whole fails, none of them may be copied.
    fn copy_ledgers(&mut self, parts: &[LedgerPart]) -> TeamResult<Vec<TeamResult<ChainHead>>>;

    /// Returns all chains, or those of one machine or desk, the oldest first.
    fn chain_heads(&mut self, machine: Option<&str>) -> TeamResult<Vec<AuditChain>>;

    /// Returns the first entries of a chain after the entry `after`, at most [`MOST_ROWS`].
    fn chain_entries(&mut self, chain: &str, after: u64) -> TeamResult<Vec<AuditRecord>>;

    /// Returns the entries that a filter selects, the newest first.
    fn search_audit(&mut self, filter: &AuditFilter) -> TeamResult<Vec<AuditRecord>>;

    /// Walks the chain of a machine. Returns `None` if it has none.
    fn verify_chain(&mut self, machine: &str) -> TeamResult<Option<AuditChainReport>>;

    /// Sets for how many days audit entries and closed questions are kept, if this login may.
    /// Returns for how many they were kept before, if that has changed.
    fn set_kept_days(&mut self, days: u32) -> TeamResult<Option<u32>>;

    /// Removes what is older than the days for which it is kept, and prepares the next days. Call
    /// it every hour. What others are reading is removed another time.
    fn tend_audit(&mut self) -> TeamResult<()>;

    fn read_status(&mut self) -> TeamResult<TeamStoreStatus>;
}

/// Joins changes of both kinds in their order. Of each at most [`MOST_ROWS`] were read, so there is
/// no gap before the last that is returned.
fn order_changes(questions: Vec<TeamQuestion>, documents: Vec<TeamDocument>) -> Vec<TeamChange> {
    let question = |question| TeamChange::Question(Box::new(question));
    let mut changes: Vec<TeamChange> = questions.into_iter().map(question).collect();
    changes.extend(documents.into_iter().map(TeamChange::Document));
    changes.sort_by_key(TeamChange::number);
    // A full list of one kind may end before the other one. What is cut off is read the next time.
    changes.truncate(MOST_ROWS);
    changes
}
