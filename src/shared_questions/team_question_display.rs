//! A question that people at this desk are shown: their presses go to the database, and what
//! becomes of it elsewhere comes from there.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use callgate_approval::answer_roles::AnswerScope;
use callgate_approval::daemon::{NotedAllow, RelayedAsker};
use callgate_approval::desk::DeferReason;
use callgate_link::random::random_bytes;
use callgate_team_store::{
    AnswerReceipt, DeliveryOutcome, QuestionNote, TeamAnswer, TeamQuestion, TeamQuestionState,
    TeamStoreError,
};
use callgate_wire::approval::{FirstAllow, RelayedAnswer, RequestId};
use sha2::{Digest as _, Sha256};

use super::shared_act::{SharedAct, recorded_answer, relayed_answer};
use super::{QuestionNews, SharedQuestions};
use crate::team::record_by_roles;

/// How long an answer may be on its way before people are told that its machine cannot be reached.
const SOON: Duration = Duration::from_secs(3);

/// How often one question is asked here: each press that does not count uses one up.
const MOST_SHOWINGS: u8 = 16;

/// A question that people at this desk are shown.
pub(super) struct TeamQuestionDisplay<'a> {
    shared: &'a SharedQuestions,
    asker: RelayedAsker,
    news: QuestionNews,
    /// How it was when this desk last looked.
    question: TeamQuestion,
    /// The agent's last words that people here are shown.
    last_words: Option<String>,
    /// The first allow that people here are shown.
    first_allow: Option<FirstAllow>,
    /// The first allow that was given here and is not recorded.
    unrecorded: Option<NotedAllow>,
    /// A first allow that was given here and does not count.
    void_allow: Option<FirstAllow>,
    scope: Arc<AnswerScope>,
}

/// How a question has ended here.
#[derive(PartialEq, Eq)]
enum DisplayEnd {
    Everywhere,
    /// Nobody here is asked any more, while the other desks may still wait.
    HereAlone,
}

enum PressReceipt {
    /// The question is closed, by this answer or otherwise.
    Closed(Box<TeamQuestion>),
    /// It cannot be recorded.
    Refused,
    /// Somebody who has given it may not answer the question any more.
    Void,
}

impl<'a> TeamQuestionDisplay<'a> {
    /// Shows a question until it is over.
    pub(super) async fn follow(shared: &'a SharedQuestions, mut news: QuestionNews) {
        let Some(mut question) = news.borrow_and_update().clone() else { return };
        for showing in 0..MOST_SHOWINGS {
            let id = question.id.clone();
            let Some(shown) = Self::start(shared, news.clone(), question, showing).await else {
                return shared
                    .warn("a question in the team's database cannot be read: update callgate");
            };
            if shown.wait_for_end().await == DisplayEnd::Everywhere {
                return;
            }
            let Some(open) = shared.find_open(&id).await else { return };
            shared.note_news(open.clone());
            question = open;
        }
    }

    async fn start(
        shared: &'a SharedQuestions,
        news: QuestionNews,
        question: TeamQuestion,
        showing: u8,
    ) -> Option<Self> {
        let act = SharedAct::read(&question)?;
        let mut relayed = act.relayed_question(&question)?;
        let scope = Arc::new(act.scope(&relayed));
        relayed.request.request_id = id_of_showing(&question.id, showing);
        let asker = shared.0.askers.ask(&act.machine, relayed).await;
        let last_words = question.last_words.clone();
        let (first_allow, unrecorded, void_allow) = (None, None, None);
        Some(Self {
            shared,
            asker,
            news,
            question,
            last_words,
            first_allow,
            unrecorded,
            void_allow,
            scope,
        })
    }

    async fn wait_for_end(mut self) -> DisplayEnd {
        let mut answered = pin!(self.asker.wait_for_answer());
        let mut allows = self.asker.take_allows();
        loop {
            self.pass_on().await;
            match &self.question.state {
                // The desk knows when its time is over.
                TeamQuestionState::Open | TeamQuestionState::Expired => {}
                TeamQuestionState::Answered(answer) => {
                    let answer = answer.clone();
                    self.follow_answer(answer, None).await;
                    return DisplayEnd::Everywhere;
                }
                TeamQuestionState::Withdrawn => {
                    self.withdraw().await;
                    return DisplayEnd::Everywhere;
                }
            }
            let next_allow = async {
                match &mut allows {
                    Some(allows) => allows.recv().await,
                    None => None,
                }
            };
            tokio::select! {
                // A press here is recorded before anything else is heard.
                biased;
                answer = &mut answered => {
                    if let Some(answer) = answer {
                        return self.press(&answer).await;
                    }
                    // Nobody has answered in time, or this desk knows the question from an earlier
                    // run, as one that is over.
                    self.asker.report_delivered().await;
                    return DisplayEnd::HereAlone;
                }
                Some(allow) = next_allow => {
                    self.first_allow = Some(allow.first.clone());
                    self.unrecorded = Some(allow);
                    self.record_allow().await;
                }
                // The sender lives until this question is no longer shown here.
                _ = self.news.changed() => self.look(),
                () = self.shared.wait_for_database(), if self.unrecorded.is_some() => {
                    self.record_allow().await;
                }
            }
        }
    }

    fn look(&mut self) {
        if let Some(newest) = self.news.borrow_and_update().clone() {
            self.question = newest;
        }
    }

    /// Passes on what the database knows of an open question and people here do not.
    async fn pass_on(&mut self) {
        let TeamQuestion { last_words, first_allow, .. } = &self.question;
        if let Some(words) = last_words.as_ref().filter(|_| *last_words != self.last_words) {
            self.last_words = Some(words.clone());
            self.asker.add_last_words(words.clone()).await;
        }
        if let Some(first) = first_allow.as_ref().filter(|_| *first_allow != self.first_allow) {
            self.first_allow = Some(first.clone());
            self.asker.take_team_allow(first.clone()).await;
        }
    }

    /// Records the first allow that was given here, if they may still give it. If another desk was
    /// faster, that one counts.
    async fn record_allow(&mut self) {
        let Some(NotedAllow { first, replaces }) = self.unrecorded.clone() else { return };
        // One that does not count is not recorded, so that there is nothing to be replaced.
        let replaces = replaces.filter(|replaced| Some(replaced) != self.void_allow.as_ref());
        let (id, scope) = (self.question.id.clone(), Arc::clone(&self.scope));
        let noted = first.clone();
        let recorded = self.shared.run(move |store| {
            let members = first.member.as_slice();
            let noted = record_by_roles(store, members, &scope, |store, roles| {
                let (first, replaces) = (first.clone(), replaces.clone());
                store.note_question(&id, &QuestionNote::FirstAllow { first, replaces, roles })
            });
            // Without the role nothing is recorded. The question then has no such allow, which
            // people here have to see.
            noted?.map_or_else(|| store.find_question(&id), Ok)
        });
        match recorded.await {
            Ok(question) => {
                self.unrecorded = None;
                if let Some(question) = question {
                    if question.first_allow.as_ref() != Some(&noted) {
                        self.void_allow = Some(noted);
                    }
                    self.shared.note_news(question);
                    self.look();
                }
            }
            Err(error @ TeamStoreError::Refused { .. }) => {
                self.unrecorded = None;
                self.shared.warn(&error.to_string());
            }
            // It is tried again.
            Err(_) => {}
        }
    }

    /// Records the answer that somebody here has given, and says what becomes of it.
    async fn press(mut self, answer: &RelayedAnswer) -> DisplayEnd {
        let question = match self.record_answer(answer).await {
            PressReceipt::Closed(question) => *question,
            PressReceipt::Refused => {
                self.asker.report_lost().await;
                return DisplayEnd::Everywhere;
            }
            PressReceipt::Void => {
                let text = format!("{} may not answer this any more", answer.by);
                self.shared.warn(&format!("an answer was not counted: {text}"));
                let text = format!("Not counted: {text}. It is asked again");
                self.asker.withdraw(text).await;
                return DisplayEnd::HereAlone;
            }
        };
        self.shared.note_news(question.clone());
        self.question = question;
        match &self.question.state {
            TeamQuestionState::Answered(recorded) => {
                let recorded = recorded.clone();
                self.follow_answer(recorded, Some(answer)).await;
            }
            TeamQuestionState::Withdrawn => self.withdraw().await,
            TeamQuestionState::Open | TeamQuestionState::Expired => self.asker.report_lost().await,
        }
        DisplayEnd::Everywhere
    }

    /// Records an answer, as soon as the database answers, if those who have given it may still
    /// give it then.
    async fn record_answer(&self, answer: &RelayedAnswer) -> PressReceipt {
        let Ok(id) = random_bytes() else { return PressReceipt::Refused };
        // All attempts have one id, so that one that was recorded without an acknowledgement is
        // found again.
        let recorded = recorded_answer(answer, id, &self.question);
        loop {
            let (mut one, scope) = (recorded.clone(), Arc::clone(&self.scope));
            let members = recorded.members.clone();
            let receipt = self.shared.run(move |store| {
                let answered = record_by_roles(store, &members, &scope, |store, roles| {
                    one.roles = roles;
                    store.answer_question(&one)
                });
                if let Some(receipt) = answered? {
                    return Ok(Some(receipt));
                }
                // It may be recorded without an acknowledgement, from before they lost their role.
                let found = store.find_question(&one.question)?;
                let closed = found.filter(|found| found.state != TeamQuestionState::Open);
                Ok(closed.map(AnswerReceipt::TooLate))
            });
            match receipt.await {
                Ok(Some(
                    AnswerReceipt::Recorded(question)
                    | AnswerReceipt::Repeated(question)
                    | AnswerReceipt::TooLate(question),
                )) => return PressReceipt::Closed(Box::new(question)),
                Ok(Some(AnswerReceipt::Unknown)) => return PressReceipt::Refused,
                Ok(Some(AnswerReceipt::NoMember(_)) | None) => return PressReceipt::Void,
                Err(error @ TeamStoreError::Refused { .. }) => {
                    self.shared.warn(&error.to_string());
                    return PressReceipt::Refused;
                }
                Err(_) => {
                    self.asker.report_deferred(DeferReason::Database).await;
                    self.shared.wait_for_database().await;
                }
            }
        }
    }

    /// Follows the answer on its way to the agent; `own` is what somebody here has pressed.
    async fn follow_answer(mut self, answer: TeamAnswer, own: Option<&RelayedAnswer>) {
        let Some(relayed) = relayed_answer(&answer) else {
            return self.shared.warn("an answer in the team's database cannot be read");
        };
        // Whose it is only their own desk knows.
        let own = own.map(|own| RelayedAnswer { members: Vec::new(), ..own.clone() });
        // Somebody at another desk was faster, or this desk was started anew: the desk here has to
        // be told which answer counts.
        if own.as_ref() != Some(&relayed) {
            self.asker.take_team_answer(relayed).await;
        }
        let mut is_soon = true;
        loop {
            match self.question.outcome {
                Some(DeliveryOutcome::Delivered) => return self.asker.report_delivered().await,
                Some(DeliveryOutcome::Lost) => return self.asker.report_lost().await,
                None => {}
            }
            tokio::select! {
                _ = self.news.changed() => self.look(),
                () = tokio::time::sleep(SOON), if is_soon => {
                    is_soon = false;
                    self.asker.report_deferred(DeferReason::Machine).await;
                }
            }
        }
    }

    async fn withdraw(self) {
        let text = self.question.closed_text;
        self.asker.withdraw(text.unwrap_or_else(|| "It is over on its machine".to_owned())).await;
    }
}

/// Returns the id under which a question is asked at this desk. To ask a question that is over here
/// takes another id, and one that the next run of the desk finds again.
fn id_of_showing(shared: &RequestId, showing: u8) -> RequestId {
    if showing == 0 {
        return shared.clone();
    }
    let digest = Sha256::new().chain_update(shared.as_str()).chain_update([showing]).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    RequestId::from_random(bytes)
}
