//! Questions and their answers.

use std::time::Duration;

use callgate_store::EntryDraft;
use callgate_wire::approval::{Decision, FirstAllow, RequestId};
use callgate_wire::words;
use serde_json::json;

use crate::audit::AuditLabels;
use crate::error::TeamStoreError;
use crate::limits::{LONGEST_WAIT, check_name, check_object, check_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamAsk {
    pub id: RequestId,
    pub machine: String,
    pub project: String,
    pub agent: String,
    /// What the agent wants to do: one JSON object with masked text, which people are shown.
    pub act: String,
    /// How long an answer may take.
    pub wait: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamQuestion {
    pub id: RequestId,
    pub machine: String,
    pub project: String,
    pub agent: String,
    /// One JSON object.
    pub act: String,
    /// When it was recorded, in milliseconds since 1970 by the clock of the store.
    pub asked_ms: i64,
    /// When its time is over, by the same clock.
    pub deadline_ms: i64,
    /// What was left of its time when it was read.
    pub remaining: Duration,
    pub state: TeamQuestionState,
    pub closed_ms: Option<i64>,
    /// What its machine said when it withdrew it, in words for a person.
    pub closed_text: Option<String>,
    /// The agent's last words, if they came after the question.
    pub last_words: Option<String>,
    pub first_allow: Option<FirstAllow>,
    /// What became of its answer; `None` while nobody knows.
    pub outcome: Option<DeliveryOutcome>,
    /// When it was read, by the clock of the store.
    pub read_ms: i64,
    pub changed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamQuestionState {
    Open,
    Answered(TeamAnswer),
    /// Its asker needs no answer any more.
    Withdrawn,
    /// Nobody answered in time.
    Expired,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamAnswer {
    /// The answer's own id, by which a repetition is recognised.
    pub id: RequestId,
    pub question: RequestId,
    pub by: String,
    /// The members of the team among those who have given it. It is recorded only while all of them
    /// belong to the team. They are not kept with the answer.
    pub members: Vec<String>,
    /// The version of the [roles](crate::ROLES) that let them answer, 0 if there were none. Without
    /// members it does not count.
    pub roles: u64,
    pub decision: Decision,
    /// The whole answer for the agent: one JSON object.
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionNote {
    /// The agent's last words, which came after the question. Only the first words count, and only
    /// while it is open.
    LastWords(String),
    /// The first of two allows, while the question is open. That of a member counts only while they
    /// belong to the team.
    FirstAllow {
        first: FirstAllow,
        /// The one that it replaces. If the question has another, nothing is noted.
        replaces: Option<FirstAllow>,
        /// The version of the roles that let the member allow it, as in a [`TeamAnswer`].
        roles: u64,
    },
    /// What became of the answer. Only the first outcome counts.
    Outcome(DeliveryOutcome),
}

words! {
    pub enum DeliveryOutcome {
        /// It has reached the agent.
        Delivered "delivered",
        /// It has not reached the agent, and never will.
        Lost "lost",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskReceipt {
    Recorded(TeamQuestion),
    /// The same question was recorded before, and may be closed by now.
    Repeated(TeamQuestion),
    /// Another question has this id. Nothing was recorded.
    OtherQuestion,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerReceipt {
    Recorded(TeamQuestion),
    /// The same answer was recorded before.
    Repeated(TeamQuestion),
    /// The question was closed before, or its time is over. Nothing was recorded.
    TooLate(TeamQuestion),
    /// Somebody who has given the answer does not belong to the team any more. Nothing was
    /// recorded.
    NoMember(TeamQuestion),
    Unknown,
}

words! {
    /// The states of a question, as they are stored.
    pub(crate) enum StateWord {
        Open "open",
        Answered "answered",
        Withdrawn "withdrawn",
        Expired "expired",
    }
}

impl TeamAsk {
    pub(crate) fn check(&self) -> Result<(), TeamStoreError> {
        check_name("the machine of a question", &self.machine)?;
        check_name("the project of a question", &self.project)?;
        check_name("the agent of a question", &self.agent)?;
        check_object("the act of a question", &self.act)?;
        if self.wait.is_zero() || self.wait > LONGEST_WAIT {
            let why = "it is not between a moment and a day";
            return Err(TeamStoreError::Refused { what: "the time of a question", why });
        }
        Ok(())
    }

    /// Returns the time for an answer in milliseconds.
    pub(crate) fn wait_ms(&self) -> i64 {
        // Less than a millisecond would be rounded to no time at all.
        i64::try_from(self.wait.as_millis()).unwrap_or(i64::MAX).max(1)
    }
}

impl TeamAnswer {
    pub(crate) fn check(&self) -> Result<(), TeamStoreError> {
        check_name("the author of an answer", &self.by)?;
        for member in &self.members {
            check_name("the author of an answer", member)?;
        }
        check_object("an answer", &self.body)?;
        if !matches!(self.decision, Decision::Allow | Decision::Deny) {
            let why = "a person allows or denies";
            return Err(TeamStoreError::Refused { what: "an answer", why });
        }
        Ok(())
    }
}

impl TeamQuestion {
    /// Returns the outcome for the asker of a question that was recorded before.
    pub(crate) fn receipt_for(self, ask: &TeamAsk) -> AskReceipt {
        let ours = (&self.id, &self.machine, &self.project, &self.agent, &self.act);
        // The time for an answer is left out, because it is shorter whenever the question comes
        // again.
        let is_same = ours == (&ask.id, &ask.machine, &ask.project, &ask.agent, &ask.act);
        if is_same { AskReceipt::Repeated(self) } else { AskReceipt::OtherQuestion }
    }

    /// Returns the outcome for the author of an answer that could not be recorded.
    pub(crate) fn receipt_for_answer(self, answer: &TeamAnswer) -> AnswerReceipt {
        match &self.state {
            TeamQuestionState::Answered(recorded) if recorded.id == answer.id => {
                AnswerReceipt::Repeated(self)
            }
            // Nothing else keeps an answer from a question that is open.
            TeamQuestionState::Open if !self.remaining.is_zero() => AnswerReceipt::NoMember(self),
            _ => AnswerReceipt::TooLate(self),
        }
    }

    /// Returns true if it is open, or its answer is on its way.
    pub fn is_pending(&self) -> bool {
        match self.state {
            TeamQuestionState::Open => true,
            TeamQuestionState::Answered(_) => self.outcome.is_none(),
            TeamQuestionState::Withdrawn | TeamQuestionState::Expired => false,
        }
    }

    pub(crate) fn audit_entry(&self, change: QuestionChange) -> (AuditLabels, EntryDraft) {
        let at_ms = match change {
            QuestionChange::Asked => self.asked_ms,
            change if change.closes() => self.closed_ms.unwrap_or_default(),
            // A note changes no time of the question, so the time counts at which its row was
            // returned.
            _ => self.read_ms,
        };
        let mut body = json!({ "machine": self.machine, "project": self.project,
            "agent": self.agent });
        let (mut who, mut decision) = (None, None);
        match (change, &self.state) {
            (QuestionChange::Answered, TeamQuestionState::Answered(answer)) => {
                (who, decision) = (Some(answer.by.clone()), Some(answer.decision));
                body["by"] = json!(answer.by);
                body["decision"] = json!(answer.decision);
                body["answer"] = json!(answer.id);
            }
            (QuestionChange::Delivered | QuestionChange::Lost, TeamQuestionState::Answered(it)) => {
                body["answer"] = json!(it.id);
            }
            (QuestionChange::FirstAllow, _) => {
                who = self.first_allow.as_ref().map(|first| first.name.clone());
                body["by"] = json!(who);
            }
            (QuestionChange::Words, _) => body["last_words"] = json!(self.last_words),
            (QuestionChange::Withdrawn, _) => body["text"] = json!(self.closed_text),
            _ => {}
        }
        if matches!(change, QuestionChange::Asked | QuestionChange::Answered) {
            // It was checked when it was asked.
            body["act"] = serde_json::from_str(&self.act).unwrap_or_default();
        }
        let project = Some(self.project.clone());
        let labels = AuditLabels { project, agent: Some(self.agent.clone()), who, decision };
        let (kind, question) = (change.name().to_owned(), Some(self.id.as_str().to_owned()));
        (labels, EntryDraft { at_ms, kind, question, body: body.to_string() })
    }
}

words! {
    /// The changes of a question, by the kinds of their audit entries.
    pub(crate) enum QuestionChange {
        Asked "team_asked",
        Words "team_words",
        FirstAllow "team_first_allow",
        Answered "team_answered",
        Withdrawn "team_withdrawn",
        Expired "team_expired",
        Delivered "team_delivered",
        Lost "team_lost",
    }
}

impl QuestionChange {
    fn closes(self) -> bool {
        matches!(self, Self::Answered | Self::Withdrawn | Self::Expired)
    }
}

impl QuestionNote {
    pub(crate) fn check(&self) -> Result<(), TeamStoreError> {
        match self {
            Self::LastWords(words) => check_text("the words of an agent", words),
            Self::FirstAllow { first, .. } => {
                check_name("the author of an allow", &first.name)?;
                let member = first.member.as_deref();
                member.map_or(Ok(()), |member| check_name("the author of an allow", member))
            }
            Self::Outcome(_) => Ok(()),
        }
    }

    pub(crate) fn change(&self) -> QuestionChange {
        match self {
            Self::LastWords(_) => QuestionChange::Words,
            Self::FirstAllow { .. } => QuestionChange::FirstAllow,
            Self::Outcome(DeliveryOutcome::Delivered) => QuestionChange::Delivered,
            Self::Outcome(DeliveryOutcome::Lost) => QuestionChange::Lost,
        }
    }
}

/// Names the row of a question for a person.
pub(crate) fn question_name(id: &str) -> String {
    format!("the question {id}")
}

pub(crate) fn allow_text(first: &FirstAllow) -> String {
    serde_json::to_string(first).unwrap_or_default()
}

stored_row! {
    QuestionRow {
        id: String,
        machine: String,
        project: String,
        agent: String,
        act: String,
        asked_ms: i64,
        deadline_ms: i64,
        state: String,
        closed_ms: Option<i64>,
        closed_text: Option<String>,
        last_words: Option<String>,
        first_allow: Option<String>,
        answer_id: Option<String>,
        answered_by: Option<String>,
        decision: Option<String>,
        answer: Option<String>,
        outcome: Option<String>,
        changed: i64,
        /// The time by the clock of the store.
        now_ms: i64,
    }
}

impl QuestionRow {
    /// Reads the question, unless the row has something that no version of callgate writes.
    pub(crate) fn read(self) -> Result<TeamQuestion, TeamStoreError> {
        let damaged = TeamStoreError::Damaged { what: "a question" };
        self.try_read().ok_or(damaged)
    }

    fn try_read(self) -> Option<TeamQuestion> {
        let id = RequestId::parse(&self.id)?;
        let state = match StateWord::parse(&self.state)? {
            StateWord::Open => TeamQuestionState::Open,
            StateWord::Withdrawn => TeamQuestionState::Withdrawn,
            StateWord::Expired => TeamQuestionState::Expired,
            StateWord::Answered => TeamQuestionState::Answered(TeamAnswer {
                id: RequestId::parse(&self.answer_id?)?,
                question: id.clone(),
                by: self.answered_by?,
                // They and the version of the roles were only compared, and are not kept.
                members: Vec::new(),
                roles: 0,
                decision: Decision::parse(&self.decision?)?,
                body: self.answer?,
            }),
        };
        let first_allow = self.first_allow.map(|text| serde_json::from_str(&text).ok());
        let outcome = self.outcome.map(|outcome| DeliveryOutcome::parse(&outcome));
        // Both are by the clock of the store, because that of a desk may be wrong.
        let remaining = u64::try_from(self.deadline_ms - self.now_ms).unwrap_or_default();
        Some(TeamQuestion {
            id,
            machine: self.machine,
            project: self.project,
            agent: self.agent,
            act: self.act,
            asked_ms: self.asked_ms,
            deadline_ms: self.deadline_ms,
            remaining: Duration::from_millis(remaining),
            state,
            closed_ms: self.closed_ms,
            closed_text: self.closed_text,
            last_words: self.last_words,
            // What cannot be read is damage, and not an absence.
            first_allow: first_allow.map_or(Some(None), |first| first.map(Some))?,
            outcome: outcome.map_or(Some(None), |outcome| outcome.map(Some))?,
            read_ms: self.now_ms,
            changed: u64::try_from(self.changed).ok()?,
        })
    }
}
