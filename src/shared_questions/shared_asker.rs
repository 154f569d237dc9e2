//! The questions of a machine whose line is at this desk: they are recorded, and their answers come
//! from the database.

use callgate_team_store::{
    AskReceipt, DeliveryOutcome, QuestionNote, TeamQuestion, TeamQuestionState, TeamStoreError,
};
use callgate_wire::approval::{AskerMachine, RelayedAnswer, RequestId};
use callgate_wire::relay::RelayedQuestion;

use super::shared_act::{SharedAct, ask_of_question, relayed_answer};
use super::{QuestionNews, SharedQuestions};
use crate::machines::audit_labels::storable_text;

/// A question of a machine whose line is at this desk.
pub(crate) struct SharedAsker {
    shared: SharedQuestions,
    machine: String,
    id: RequestId,
    news: QuestionNews,
}

/// A question that a machine has asked before, perhaps at another desk.
pub(crate) struct PendingAsker {
    pub(crate) id: RequestId,
    pub(crate) asker: SharedAsker,
    pub(crate) answer: Option<RelayedAnswer>,
    /// How many bytes it has.
    pub(crate) size: usize,
}

impl SharedQuestions {
    /// Records a question of a machine, or of a run of a job. Returns `None` if the database
    /// refuses it, so that there will be no answer. Fails if it cannot be recorded now.
    pub(crate) async fn ask(
        &self,
        machine: &AskerMachine,
        run: Option<&str>,
        question: RelayedQuestion,
    ) -> Result<Option<SharedAsker>, String> {
        let id = question.request.request_id.clone();
        let Some((ask, last_words)) = ask_of_question(machine, run, question) else {
            return Ok(None);
        };
        // Before it is recorded, so that nothing is missed.
        let news = self.subscribe(&id);
        let recorded = self.run(move |store| {
            let receipt = store.ask_question(&ask)?;
            if let Some(words) = last_words {
                // The question is recorded, and has an asker whatever becomes of its words.
                match store.note_question(&ask.id, &last_words_note(&words)) {
                    Err(TeamStoreError::Refused { .. }) => {}
                    noted => drop(noted?),
                }
            }
            Ok(receipt)
        });
        match recorded.await {
            // A repetition is a retry after a cut, or after the line came to another desk.
            Ok(AskReceipt::Recorded(question) | AskReceipt::Repeated(question)) => {
                self.note_news(question);
                let machine = machine.name.clone();
                Ok(Some(SharedAsker { shared: self.clone(), machine, id, news }))
            }
            Ok(AskReceipt::OtherQuestion) => {
                self.warn(&format!("{}: another question has the id {id}", machine.name));
                Ok(None)
            }
            Err(error @ TeamStoreError::Refused { .. }) => {
                self.warn(&format!("{}: {error}", machine.name));
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns the questions of a machine, or of a run of a job, that are open or whose answers are
    /// on their way.
    pub(crate) async fn resume_questions(
        &self,
        machine: &str,
        run: Option<&str>,
    ) -> Result<Vec<PendingAsker>, String> {
        let name = machine.to_owned();
        let pending = self.run(move |store| store.pending_questions(Some(&name))).await;
        let is_of_run = |question: &TeamQuestion| {
            SharedAct::read(question).is_some_and(|act| act.run.as_deref() == run)
        };
        let mine = pending.map_err(|error| error.to_string())?.into_iter().filter(is_of_run);
        let resume = |question: TeamQuestion| {
            let (id, size) = (question.id.clone(), question.act.len());
            let news = self.subscribe(&id);
            // The answer is read from the news, because those may be newer than what was just read.
            self.note_news(question);
            let answer = news.borrow().as_ref().and_then(answer_of_question);
            let machine = machine.to_owned();
            let asker = SharedAsker { shared: self.clone(), machine, id: id.clone(), news };
            PendingAsker { id, asker, answer, size }
        };
        Ok(mine.map(resume).collect())
    }

    /// Withdraws all questions of a machine that does not belong to the team any more.
    pub(crate) async fn withdraw_machine(&self, machine: String, text: &'static str) {
        let withdrawn = self.run(move |store| {
            for question in store.pending_questions(Some(&machine))? {
                store.withdraw_question(&machine, &question.id, text)?;
            }
            Ok(())
        });
        // Another desk does it too; otherwise their time ends.
        withdrawn.await.ok();
    }
}

impl SharedAsker {
    /// Returns the answer once there is one; `None` if there will be none.
    pub(crate) fn wait_for_answer(
        &self,
    ) -> impl Future<Output = Option<RelayedAnswer>> + Send + use<> {
        let mut news = self.news.clone();
        async move {
            let is_closed = |question: &Option<TeamQuestion>| {
                question.as_ref().is_some_and(|it| it.state != TeamQuestionState::Open)
            };
            let closed = news.wait_for(is_closed).await.ok()?;
            closed.as_ref().and_then(answer_of_question)
        }
    }

    pub(crate) async fn add_last_words(&self, last_words: String) {
        self.note(last_words_note(&last_words)).await;
    }

    /// Reports that the answer has reached the agent.
    pub(crate) async fn report_delivered(self) {
        self.note(QuestionNote::Outcome(DeliveryOutcome::Delivered)).await;
    }

    /// Reports that the answer has not reached the agent, and never will.
    pub(crate) async fn report_lost(self) {
        self.note(QuestionNote::Outcome(DeliveryOutcome::Lost)).await;
    }

    /// Reports that the question is over on its machine, in words for a person.
    pub(crate) async fn withdraw(self, text: String) {
        let (machine, id) = (self.machine, self.id);
        let text = storable_text(&text);
        let withdrawn = self.shared.run(move |store| store.withdraw_question(&machine, &id, &text));
        // What cannot be recorded is found again when the machine has its next line.
        withdrawn.await.ok();
    }

    async fn note(&self, note: QuestionNote) {
        let id = self.id.clone();
        // The same holds for this.
        self.shared.run(move |store| store.note_question(&id, &note)).await.ok();
    }
}

fn last_words_note(words: &str) -> QuestionNote {
    QuestionNote::LastWords(storable_text(words))
}

fn answer_of_question(question: &TeamQuestion) -> Option<RelayedAnswer> {
    match &question.state {
        TeamQuestionState::Answered(answer) => relayed_answer(answer),
        _ => None,
    }
}
