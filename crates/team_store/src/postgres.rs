//! The team's store in PostgreSQL, which several desks share.

mod address;
mod audit_rows;
mod change_watch;
mod database_link;
mod faults;
mod layout;
mod rows;
mod statements;
mod tls;
mod upkeep;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callgate_store::{ChainHead, EntryDraft};
use callgate_wire::HiddenText;
use callgate_wire::approval::RequestId;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::audit::{
    AuditChain, AuditChainReport, AuditLabels, AuditRecord, LedgerPart, divide_into_rounds,
    sql_number,
};
use crate::audit_query::AuditFilter;
use crate::document::{DocumentEdit, DocumentKind, EditReceipt, ROLES, TeamDocument};
use crate::error::{TeamResult, TeamStoreError};
use crate::limits::{check_name, check_text};
use crate::question::{
    AnswerReceipt, AskReceipt, QuestionChange, QuestionNote, TeamAnswer, TeamAsk, TeamQuestion,
    allow_text,
};
use crate::{TeamChange, TeamStore, TeamStoreStatus};
use address::ServerAddress;
use database_link::{DatabaseLink, ServerSession, SessionTask, SessionWork};
use faults::ServerFault;
pub use layout::OLDEST_SERVER;
use rows::{RowValue, Values};

const ASKED: (QuestionChange, &str) = (QuestionChange::Asked, statements::ASK);
const ANSWERED: (QuestionChange, &str) = (QuestionChange::Answered, statements::ANSWER);
const WITHDRAWN: (QuestionChange, &str) = (QuestionChange::Withdrawn, statements::WITHDRAW);

#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// `postgres://USER:PASSWORD@HOST[,HOST]/DATABASE`. Of several hosts, the one is used that is
    /// not a standby. `sslrootcert=FILE` names the authority of the server's certificate.
    pub url: HiddenText,
    /// Names the chain of this desk.
    pub desk: String,
    /// How long one call may take, with all attempts to reach the server.
    pub patience: Duration,
}

/// A connection to the team's store in PostgreSQL. Its calls block, and must not be made from
/// within an async runtime.
pub struct PostgresTeamStore {
    link: DatabaseLink,
    desk: String,
    patience: Duration,
    /// The history of the database to which the numbers of changes belong.
    history: Option<String>,
    /// `None` only while the store is dropped.
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
        let link = DatabaseLink::new(address);
        Self::with_link(link, &settings.desk, settings.patience)
    }

    fn with_link(link: DatabaseLink, desk: &str, patience: Duration) -> TeamResult<Self> {
        // One thread is enough, because the connection has to make progress only during calls,
        // which block.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| TeamStoreError::Unreachable {
            why: format!("no connection can be made here ({})", error.kind()),
        })?;
        let (desk, history) = (desk.to_owned(), None);
        Ok(Self { link, desk, patience, history, runtime: Some(runtime) })
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
        let mut task = SessionTask { work, done: None };
        self.run_work(&mut task)?;
        task.done.ok_or_else(desk_ends)
    }

    /// Is compiled once for all kinds of work.
    fn run_work(&mut self, work: &mut dyn SessionWork) -> TeamResult<()> {
        let runtime = self.runtime.as_ref().ok_or_else(desk_ends)?;
        runtime.block_on(self.link.run(self.patience, work))
    }

    /// Does `write`. Returns what it has changed; as an error what `find` finds, if it changed
    /// nothing.
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
                None => Ok(Err(rows::read_one(session, find.0, find.1).await?)),
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

    /// Fails if the roles have another version than this.
    fn check_roles_version(&mut self, version: u64) -> TeamResult<()> {
        let roles = self.find_document(DocumentKind::Policy, ROLES)?;
        let is_same = roles.map_or(0, |roles| roles.version) == version;
        if is_same { Ok(()) } else { Err(TeamStoreError::OtherRoles) }
    }

    fn read_one<T: RowValue>(
        &mut self,
        query: &'static str,
        values: Values<'_>,
    ) -> TeamResult<Option<T>> {
        self.run(async |session| rows::read_one(session, query, values).await)
    }

    fn read_all<T: RowValue>(
        &mut self,
        query: &'static str,
        values: Values<'_>,
    ) -> TeamResult<Vec<T>> {
        self.run(async |session| rows::read_all(session, query, values).await)
    }
}

fn desk_ends() -> TeamStoreError {
    TeamStoreError::Unreachable { why: "the desk ends".to_owned() }
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
            // The question was removed between the two statements, so its id was used.
            Err(None) => AskReceipt::OtherQuestion,
        })
    }

    fn answer_question(&mut self, answer: &TeamAnswer) -> TeamResult<AnswerReceipt> {
        answer.check()?;
        let TeamAnswer { id, question, by, members, decision, body, .. } = answer;
        let (id, question, decision) = (id.as_str(), question.as_str(), decision.name());
        let roles = sql_number(answer.roles);
        let values: Values<'_> = &[&question, &id, by, &decision, body, members, &roles];
        let receipt = match self.change_question(question, ANSWERED, values)? {
            Ok(question) => AnswerReceipt::Recorded(question),
            Err(Some(found)) => found.receipt_for_answer(answer),
            Err(None) => AnswerReceipt::Unknown,
        };
        // The roles are compared, because the statement does not say whether a member or their
        // version did not fit.
        if matches!(receipt, AnswerReceipt::NoMember(_)) {
            self.check_roles_version(answer.roles)?;
        }
        Ok(receipt)
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
        // A machine learns nothing about the question of another one.
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
            QuestionNote::FirstAllow { first, replaces, roles } => {
                let (allow, before) = (allow_text(first), replaces.as_ref().map(allow_text));
                let (write, version) = ((kind, statements::NOTE_FIRST_ALLOW), sql_number(*roles));
                let values: Values<'_> = &[&id, &allow, &before, &first.member, &version];
                let found = self.change_or_find(id, write, values)?;
                let is_noted =
                    found.as_ref().is_none_or(|found| found.first_allow.as_ref() == Some(first));
                if !is_noted && first.member.is_some() {
                    self.check_roles_version(*roles)?;
                }
                Ok(found)
            }
            QuestionNote::Outcome(outcome) => {
                let write = (kind, statements::NOTE_OUTCOME);
                self.change_or_find(id, write, &[&id, &outcome.name()])
            }
        }
    }

    fn expire_questions(&mut self) -> TeamResult<Vec<TeamQuestion>> {
        self.close_due_questions()
    }

    fn find_question(&mut self, id: &RequestId) -> TeamResult<Option<TeamQuestion>> {
        self.read_one(statements::FIND_QUESTION, &[&id.as_str()])
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
        self.read_one(statements::FIND_DOCUMENT, &[&kind.name(), &name])
    }

    fn list_documents(&mut self, kind: DocumentKind) -> TeamResult<Vec<TeamDocument>> {
        self.read_all(statements::LIST_DOCUMENTS, &[&kind.name()])
    }

    fn last_change(&mut self) -> TeamResult<u64> {
        let last: i64 = self.run(async |session| {
            Ok(session.client.query_one("SELECT last_change()", &[]).await?.get(0))
        })?;
        // The number that was just read belongs to the history of this server.
        self.note_history();
        Ok(u64::try_from(last).unwrap_or_default())
    }

    fn read_clock(&mut self) -> TeamResult<i64> {
        self.run(async |session| Ok(session.client.query_one("SELECT now_ms()", &[]).await?.get(0)))
    }

    fn changes_after(&mut self, after: u64) -> TeamResult<Vec<TeamChange>> {
        self.read_changes(after)
    }

    fn wait_for_changes(&mut self, after: u64, limit: Duration) -> TeamResult<Vec<TeamChange>> {
        self.wait_until(after, Instant::now() + limit)
    }

    fn take_unread(&mut self) -> Vec<String> {
        let session = self.link.session.as_mut();
        session.map(|session| std::mem::take(&mut session.unread)).unwrap_or_default()
    }

    fn copy_ledgers(&mut self, parts: &[LedgerPart]) -> TeamResult<Vec<TeamResult<ChainHead>>> {
        let mut results: Vec<_> = parts.iter().map(LedgerPart::check).collect();
        for round in divide_into_rounds(parts, &results) {
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
        // Each part has the whole time of one call, so that a long chain can be verified, too.
        let mut walk = None;
        loop {
            let report = self
                .run(async |session| audit_rows::verify_part(session, machine, &mut walk).await)?;
            if let Some(report) = report {
                return Ok(report);
            }
        }
    }

    fn set_kept_days(&mut self, days: u32) -> TeamResult<Option<u32>> {
        let days = i32::try_from(days).unwrap_or(i32::MAX);
        let before =
            self.run(async |session| Ok(layout::set_kept_days(&session.client, days).await?))?;
        Ok(before.and_then(|days| u32::try_from(days).ok()))
    }

    fn tend_audit(&mut self) -> TeamResult<()> {
        self.remove_old()
    }

    fn read_status(&mut self) -> TeamResult<TeamStoreStatus> {
        self.run(async |session| rows::read_status(session).await)
    }
}
