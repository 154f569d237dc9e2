//! The team's store in PostgreSQL, which several desks share.

mod address;
mod audit_rows;
mod database_link;
mod faults;
mod layout;
mod rows;
mod statements;
mod tls;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callgate_store::{ChainHead, EntryDraft};
use callgate_wire::HiddenText;
use callgate_wire::approval::RequestId;
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout_at};

use crate::audit::{
    AuditChain, AuditChainReport, AuditCopy, AuditLabels, AuditRecord, LedgerPart, rounds_of,
};
use crate::audit_query::AuditFilter;
use crate::document::{DocumentEdit, DocumentKind, EditReceipt, TeamDocument};
use crate::error::{TeamResult, TeamStoreError};
use crate::limits::{LONGEST_DELIVERY, check_name, check_text};
use crate::question::{
    AnswerReceipt, AskReceipt, DeliveryOutcome, QuestionChange, QuestionNote, TeamAnswer, TeamAsk,
    TeamQuestion, TeamQuestionState, allow_text,
};
use crate::{TeamChange, TeamStore, TeamStoreStatus};
use address::ServerAddress;
use database_link::{DatabaseLink, ServerSession};
use faults::ServerFault;
pub use layout::OLDEST_SERVER;
use rows::{RowValue, Values};

/// How long a walk along a chain may take.
const LONGEST_WALK: Duration = Duration::from_mins(10);

const ASKED: (QuestionChange, &str) = (QuestionChange::Asked, statements::ASK);
const ANSWERED: (QuestionChange, &str) = (QuestionChange::Answered, statements::ANSWER);
const WITHDRAWN: (QuestionChange, &str) = (QuestionChange::Withdrawn, statements::WITHDRAW);
const EXPIRED: (QuestionChange, &str) = (QuestionChange::Expired, statements::EXPIRE);

#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// `postgres://USER:PASSWORD@HOST[,HOST]/DATABASE`. Of several hosts, the one is used that is
    /// not a standby. `sslrootcert=FILE` names the authority of the server's certificate.
    pub url: HiddenText,
    /// Names the chain of this desk.
    pub desk: String,
    /// For how many days audit entries and closed questions are kept.
    pub kept_days: u32,
    /// How long one call may take, with all attempts to reach the server.
    pub patience: Duration,
}

/// A connection to the team's store in PostgreSQL. Its calls block, and must not be made from within
/// an async runtime.
pub struct PostgresTeamStore {
    link: DatabaseLink,
    desk: String,
    patience: Duration,
    /// Is there until the store is dropped.
    runtime: Option<Runtime>,
}

impl fmt::Debug for PostgresTeamStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTeamStore").field("desk", &self.desk).finish_non_exhaustive()
    }
}

impl PostgresTeamStore {
    /// Connects to the server and brings its tables up to date.
    pub fn open(settings: &PostgresSettings) -> TeamResult<Self> {
        let mut store = Self::prepare(settings)?;
        store.run(async |session| Ok(session.client.check_connection().await?))?;
        Ok(store)
    }

    /// Returns a store that connects when it is first used, so that a desk can start while the
    /// server is away. Fails only if the settings are wrong.
    pub fn prepare(settings: &PostgresSettings) -> TeamResult<Self> {
        check_name("the name of a desk", &settings.desk)?;
        let address = Arc::new(ServerAddress::parse(&settings.url)?);
        let link = DatabaseLink::new(address, settings.kept_days);
        Self::with_link(link, &settings.desk, settings.patience)
    }

    fn with_link(link: DatabaseLink, desk: &str, patience: Duration) -> TeamResult<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| TeamStoreError::Unreachable {
            why: format!("no connection can be made here ({})", error.kind()),
        })?;
        Ok(Self { link, desk: desk.to_owned(), patience, runtime: Some(runtime) })
    }

    /// Sets how long one call may take.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Does `work`, again if the connection is lost.
    fn run<T>(
        &mut self,
        work: impl AsyncFnMut(&mut ServerSession) -> Result<T, ServerFault>,
    ) -> TeamResult<T> {
        self.run_within(self.patience, work)
    }

    fn run_within<T>(
        &mut self,
        patience: Duration,
        work: impl AsyncFnMut(&mut ServerSession) -> Result<T, ServerFault>,
    ) -> TeamResult<T> {
        let Some(runtime) = &self.runtime else {
            return Err(TeamStoreError::Unreachable { why: "the desk ends".to_owned() });
        };
        runtime.block_on(self.link.run(patience, work))
    }

    /// Does `write`. Returns what it has changed; as an error what `find` finds, if it changed nothing.
    fn change_row<T: RowValue>(
        &mut self,
        write: &'static str,
        values: Values<'_>,
        audit: impl Fn(&T) -> (AuditLabels, EntryDraft),
        find: (&'static str, Values<'_>),
    ) -> TeamResult<Result<T, Option<T>>> {
        let desk = self.desk.clone();
        self.run(async |session| {
            match rows::change_row(session, &desk, write, values, &audit).await? {
                Some(changed) => Ok(Ok(changed)),
                None => Ok(Err(rows::read_all(session, find.0, find.1).await?.pop())),
            }
        })
    }

    fn change_question(
        &mut self,
        id: &str,
        (change, write): (QuestionChange, &'static str),
        values: Values<'_>,
    ) -> TeamResult<Result<TeamQuestion, Option<TeamQuestion>>> {
        let audit = |question: &TeamQuestion| question.audit_entry(change);
        self.change_row(write, values, audit, (statements::FIND_QUESTION, &[&id]))
    }

    /// Does a change of a question, and returns the question as it is then, whether or not it was
    /// changed.
    fn change_or_find(
        &mut self,
        id: &str,
        change: (QuestionChange, &'static str),
        values: Values<'_>,
    ) -> TeamResult<Option<TeamQuestion>> {
        Ok(self.change_question(id, change, values)?.map_or_else(|found| found, Some))
    }

    fn read_all<T: RowValue>(
        &mut self,
        query: &'static str,
        values: Values<'_>,
    ) -> TeamResult<Vec<T>> {
        self.run(async |session| rows::read_all(session, query, values).await)
    }
}

impl Drop for PostgresTeamStore {
    fn drop(&mut self) {
        // It waits for nothing, wherever the store is dropped.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl TeamStore for PostgresTeamStore {
    fn connect_again(&self) -> TeamResult<Box<dyn TeamStore>> {
        Ok(Box::new(Self::with_link(self.link.another(), &self.desk, self.patience)?))
    }

    fn ask_question(&mut self, ask: &TeamAsk) -> TeamResult<AskReceipt> {
        ask.check()?;
        let TeamAsk { id, machine, project, agent, act, .. } = ask;
        let (id, wait) = (id.as_str(), ask.wait_ms());
        let values: Values<'_> = &[&id, machine, project, agent, act, &wait];
        Ok(match self.change_question(id, ASKED, values)? {
            Ok(question) => AskReceipt::Recorded(question),
            Err(Some(found)) => found.receipt_for(ask),
            Err(None) => AskReceipt::OtherQuestion,
        })
    }

    fn answer_question(&mut self, answer: &TeamAnswer) -> TeamResult<AnswerReceipt> {
        answer.check()?;
        let TeamAnswer { id, question, by, decision, body } = answer;
        let (id, question, decision) = (id.as_str(), question.as_str(), decision.name());
        let values: Values<'_> = &[&question, &id, by, &decision, body];
        Ok(match self.change_question(question, ANSWERED, values)? {
            Ok(question) => AnswerReceipt::Recorded(question),
            Err(Some(found)) => found.receipt_for_answer(answer),
            Err(None) => AnswerReceipt::Unknown,
        })
    }

    fn withdraw_question(
        &mut self,
        machine: &str,
        question: &RequestId,
        text: &str,
    ) -> TeamResult<Option<TeamQuestion>> {
        check_name("the name of a machine", machine)?;
        check_text("the end of a question", text)?;
        let id = question.as_str();
        let found = self.change_or_find(id, WITHDRAWN, &[&id, &machine, &text])?;
        Ok(found.filter(|found| found.machine == machine))
    }

    fn note_question(
        &mut self,
        question: &RequestId,
        note: &QuestionNote,
    ) -> TeamResult<Option<TeamQuestion>> {
        note.check()?;
        let (id, kind) = (question.as_str(), note.change());
        match note {
            QuestionNote::LastWords(words) => {
                self.change_or_find(id, (kind, statements::NOTE_WORDS), &[&id, words])
            }
            QuestionNote::FirstAllow { first, replaces } => {
                let (first, before) = (allow_text(first), replaces.as_ref().map(allow_text));
                let write = (kind, statements::NOTE_FIRST_ALLOW);
                self.change_or_find(id, write, &[&id, &first, &before])
            }
            QuestionNote::Outcome(outcome) => {
                let write = (kind, statements::NOTE_OUTCOME);
                self.change_or_find(id, write, &[&id, &outcome.name()])
            }
        }
    }

    fn expire_questions(&mut self) -> TeamResult<Vec<TeamQuestion>> {
        let late = i64::try_from(LONGEST_DELIVERY.as_millis()).unwrap_or(i64::MAX);
        let lost = QuestionNote::Outcome(DeliveryOutcome::Lost);
        let mut expired = Vec::new();
        loop {
            let due: Vec<TeamQuestion> = self.read_all(statements::DUE_QUESTIONS, &[&late])?;
            if due.is_empty() {
                return Ok(expired);
            }
            for TeamQuestion { id, state, .. } in due {
                let given_up = match state {
                    TeamQuestionState::Open => {
                        self.change_or_find(id.as_str(), EXPIRED, &[&id.as_str()])?
                    }
                    _ => self.note_question(&id, &lost)?,
                };
                // Somebody may have answered it at the last moment.
                expired.extend(given_up.filter(|question| !question.is_pending()));
            }
        }
    }

    fn find_question(&mut self, id: &RequestId) -> TeamResult<Option<TeamQuestion>> {
        Ok(self.read_all(statements::FIND_QUESTION, &[&id.as_str()])?.pop())
    }

    fn open_questions(&mut self) -> TeamResult<Vec<TeamQuestion>> {
        self.read_all(statements::OPEN_QUESTIONS, &[])
    }

    fn pending_questions(&mut self, machine: Option<&str>) -> TeamResult<Vec<TeamQuestion>> {
        self.read_all(statements::PENDING_QUESTIONS, &[&machine])
    }

    fn edit_document(&mut self, edit: &DocumentEdit) -> TeamResult<EditReceipt> {
        edit.check()?;
        let DocumentEdit { kind, name, id, by, body, .. } = edit;
        let (kind, id, replaced) = (kind.name(), id.as_str(), edit.replaced_version());
        let values: Values<'_> = &[&kind, name, &replaced, body, &id, by];
        let find: (_, Values<'_>) = (statements::FIND_DOCUMENT, &[&kind, name]);
        let edited = self.change_row(statements::EDIT, values, TeamDocument::audit_entry, find)?;
        Ok(edited.map_or_else(|found| edit.receipt_for(found), EditReceipt::Recorded))
    }

    fn find_document(
        &mut self,
        kind: DocumentKind,
        name: &str,
    ) -> TeamResult<Option<TeamDocument>> {
        check_name("the name of a document", name)?;
        Ok(self.read_all(statements::FIND_DOCUMENT, &[&kind.name(), &name])?.pop())
    }

    fn list_documents(&mut self, kind: DocumentKind) -> TeamResult<Vec<TeamDocument>> {
        self.read_all(statements::LIST_DOCUMENTS, &[&kind.name()])
    }

    fn last_change(&mut self) -> TeamResult<u64> {
        self.run(async |session| {
            let last: i64 = session.client.query_one("SELECT last_change()", &[]).await?.get(0);
            Ok(u64::try_from(last).unwrap_or_default())
        })
    }

    fn changes_after(&mut self, after: u64) -> TeamResult<Vec<TeamChange>> {
        self.run(async |session| rows::read_changes(session, after).await)
    }

    fn wait_for_changes(&mut self, after: u64, limit: Duration) -> TeamResult<Vec<TeamChange>> {
        let deadline = Instant::now() + limit;
        loop {
            let changes = self.run(async |session| {
                // First, so that nothing that is written after the look is missed.
                session.listen().await?;
                rows::read_changes(session, after).await
            })?;
            if !changes.is_empty() {
                return Ok(changes);
            }
            let (Some(session), Some(runtime)) = (&self.link.session, &self.runtime) else {
                continue;
            };
            let hint = Arc::clone(&session.hint);
            if runtime.block_on(async { timeout_at(deadline, hint.notified()).await }).is_err() {
                // A hint may be lost with its connection, so the last look decides.
                return self.changes_after(after);
            }
        }
    }

    fn copy_entries(
        &mut self,
        machine: &str,
        after: ChainHead,
        copies: &[AuditCopy],
    ) -> TeamResult<ChainHead> {
        let part = LedgerPart { chain: machine.to_owned(), after, copies: copies.to_vec() };
        self.copy_ledgers(&[part])?.pop().unwrap_or(Ok(after))
    }

    fn copy_ledgers(&mut self, parts: &[LedgerPart]) -> TeamResult<Vec<TeamResult<ChainHead>>> {
        let mut results: Vec<_> = parts.iter().map(LedgerPart::check).collect();
        for round in rounds_of(parts, &results) {
            let sent: Vec<&LedgerPart> = round.iter().map(|at| &parts[*at]).collect();
            let copied = self.run(async |session| audit_rows::copy_ledgers(session, &sent).await);
            round.iter().zip(copied?).for_each(|(at, result)| results[*at] = result);
        }
        Ok(results)
    }

    fn chain_heads(&mut self, machine: Option<&str>) -> TeamResult<Vec<AuditChain>> {
        self.run(async |session| audit_rows::read_chain_heads(session, machine).await)
    }

    fn chain_entries(&mut self, chain: &str, after: u64) -> TeamResult<Vec<AuditRecord>> {
        self.run(async |session| audit_rows::read_chain_entries(session, chain, after).await)
    }

    fn search_audit(&mut self, filter: &AuditFilter) -> TeamResult<Vec<AuditRecord>> {
        self.run(async |session| audit_rows::search(session, filter).await)
    }

    fn verify_chain(&mut self, machine: &str) -> TeamResult<Option<AuditChainReport>> {
        self.run_within(LONGEST_WALK, async |session| audit_rows::verify(session, machine).await)
    }

    fn tend_audit(&mut self) -> TeamResult<()> {
        self.run(async |session| Ok(session.client.batch_execute(statements::TEND).await?))
    }

    fn read_status(&mut self) -> TeamResult<TeamStoreStatus> {
        self.run(async |session| rows::read_status(session).await)
    }
}
