//! The questions of the machine that are open: at this desk alone, or at all desks of the team.

use std::time::Duration;

use callgate_approval::daemon::RelayedAsker;
use callgate_approval::desk::DeferReason;
use callgate_relay::LinePort;
use callgate_wire::approval::{RelayedAnswer, RequestId};
use callgate_wire::relay::RelayedQuestion;
use tokio::task::JoinSet;

use super::MachineSession;
use crate::shared_questions::{PendingAsker, SharedAsker};

/// How long a machine that is connected may take to say what became of an answer, before the person
/// who gave it is told that it waits.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(3);

/// A question of the machine that is open.
pub(super) enum OpenAsker {
    /// People at this desk answer it.
    Local(RelayedAsker),
    /// People at any desk of the team answer it. This desk shows it like all others.
    Shared(SharedAsker),
}

impl OpenAsker {
    pub(super) async fn add_last_words(&self, last_words: String) {
        match self {
            Self::Local(asker) => asker.add_last_words(last_words).await,
            Self::Shared(asker) => asker.add_last_words(last_words).await,
        }
    }

    /// Reports that an answer is kept: the machine cannot be reached, or does not confirm it.
    pub(super) async fn report_deferred(&self, reason: DeferReason) {
        // Each desk of the team sees by itself that an answer does not arrive.
        if let Self::Local(asker) = self {
            asker.report_deferred(reason).await;
        }
    }

    /// Reports that nobody has answered in time.
    pub(super) async fn report_unanswered(self) {
        // The database has closed the others.
        if let Self::Local(asker) = self {
            asker.report_delivered().await;
        }
    }

    /// Reports that the answer has reached the agent.
    pub(super) async fn report_delivered(self) {
        match self {
            Self::Local(asker) => asker.report_delivered().await,
            Self::Shared(asker) => asker.report_delivered().await,
        }
    }

    /// Reports that the answer has not reached the agent, and never will.
    pub(super) async fn report_lost(self) {
        match self {
            Self::Local(asker) => asker.report_lost().await,
            Self::Shared(asker) => asker.report_lost().await,
        }
    }

    /// Reports that the question is over on its machine, in words for a person.
    pub(super) async fn withdraw(self, text: String) {
        match self {
            Self::Local(asker) => asker.withdraw(text).await,
            Self::Shared(asker) => asker.withdraw(text).await,
        }
    }
}

impl MachineSession {
    /// Forgets the questions, which are in the team's database.
    pub(super) fn forget_questions(&mut self) {
        self.asked.clear();
        // This ends the tasks that wait for answers, whose questions are taken up anew with the
        // next line.
        self.answers = JoinSet::new();
        self.upper.replace_questions([]);
    }

    /// Takes up the questions of the machine that are in the team's database, perhaps because their
    /// line was at another desk.
    pub(super) async fn resume_questions(&mut self) -> Result<(), String> {
        let Some(shared) = self.home.shared.clone() else { return Ok(()) };
        let pending = shared.resume_questions(self.name(), self.run.as_deref()).await?;
        self.forget_questions();
        let held = pending.iter().map(|it| (it.id.clone(), it.answer.clone(), it.size));
        self.upper.replace_questions(held.collect::<Vec<_>>());
        for PendingAsker { id, asker, answer, .. } in pending {
            if answer.is_none() {
                self.await_answer(id.clone(), asker.wait_for_answer());
            }
            self.asked.insert(id, OpenAsker::Shared(asker));
        }
        Ok(())
    }

    /// Withdraws the questions that a desk before this one has left, and that are not open at the
    /// machine any more: it was not asked about them, since only the desk itself still has them.
    pub(super) async fn withdraw_left(&self, open: Vec<RequestId>) {
        // Those of a team are in its database, and a run of a job does not know what the others
        // ask.
        if self.home.shared.is_none() && self.run.is_none() {
            self.home.askers.withdraw_left(self.name(), open).await;
        }
    }

    /// Says that a machine has not confirmed an answer, unless it has meanwhile.
    pub(super) async fn miss_receipt(&self, question: &RequestId) {
        if let Some(asker) = self.asked.get(question) {
            asker.report_deferred(DeferReason::Silence).await;
        }
    }

    fn await_answer(
        &mut self,
        id: RequestId,
        answered: impl Future<Output = Option<RelayedAnswer>> + Send + 'static,
    ) {
        self.answers.spawn(async move { (id, answered.await) });
    }

    /// Asks people a question. Returns why the line ends, if it does.
    pub(super) async fn ask_people(&mut self, question: RelayedQuestion) -> Option<String> {
        let id = question.request.request_id.clone();
        let Some(shared) = self.home.shared.clone() else {
            let mut asker = self.home.askers.ask(&self.machine, question).await;
            self.await_answer(id.clone(), asker.wait_for_answer());
            self.asked.insert(id, OpenAsker::Local(asker));
            return None;
        };
        match shared.ask(&self.machine, self.run.as_deref(), question).await {
            Ok(Some(asker)) => {
                self.await_answer(id.clone(), asker.wait_for_answer());
                self.asked.insert(id, OpenAsker::Shared(asker));
                None
            }
            Ok(None) => {
                // Nothing is sent back, so the question stays open at its machine until its time is
                // over.
                self.upper.answer_question(&id, None);
                None
            }
            // Its own desk goes on, and asks again at a desk that can record it.
            Err(why) => Some(why),
        }
    }

    /// Takes the answer to a question; `None` if there will be none.
    pub(super) async fn take_answer(
        &mut self,
        port: Option<&mut LinePort>,
        question: &RequestId,
        answer: Option<RelayedAnswer>,
    ) {
        if answer.is_none()
            && let Some(asker) = self.asked.remove(question)
        {
            // Nobody has answered, and the desk of the machine waits no longer than this one.
            asker.report_unanswered().await;
        }
        let mut port = port;
        // Without a line the answer is reported as kept at once.
        if port.is_some() {
            let question = question.clone();
            self.receipts.spawn(async move {
                tokio::time::sleep(CONFIRMED_WITHIN).await;
                question
            });
        }
        for act in self.upper.answer_question(question, answer) {
            self.carry_out(port.as_deref_mut(), act).await;
        }
    }
}
