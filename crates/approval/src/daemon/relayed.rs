//! Questions that the desks of other machines have passed on: only people answer them.

use std::fmt;
use std::sync::Arc;

use callgate_wire::approval::{
    AllowDemands, ApprovalRequest, ApprovalResponse, AskerMachine, FirstAllow, RelayedAnswer,
    RequestId,
};
use callgate_wire::ledger::LedgerRuling;
use callgate_wire::relay::RelayedQuestion;
use tokio::sync::{mpsc, oneshot};

use super::askers::{NotedAllow, RelayedNews};
use super::reception::Intake;
use crate::desk::{AskerId, DeferReason, DeskInput, Ruling};
use crate::plain;

/// Brings questions of other machines to the desk. The rules here do not apply to them: those of
/// the machine have, and its folders are not on this disk.
#[derive(Debug, Clone)]
pub struct RelayedAskers(pub(super) Arc<Intake>);

/// A question of another machine that is open here.
pub struct RelayedAsker {
    id: AskerId,
    intake: Arc<Intake>,
    answered: Option<oneshot::Receiver<ApprovalResponse>>,
    allows: Option<mpsc::UnboundedReceiver<NotedAllow>>,
}

impl fmt::Debug for RelayedAsker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RelayedAsker").field(&self.id).finish()
    }
}

impl RelayedAskers {
    pub async fn ask(&self, machine: &AskerMachine, question: RelayedQuestion) -> RelayedAsker {
        let RelayedQuestion { mut request, ruling, because, demands, seconds } = question;
        let context = request.context.get_or_insert_default();
        context.timeout_seconds = Some(seconds);
        // These concern the desk of the machine alone.
        (context.gated, context.answers, context.asks) = (None, None, None);
        context.words_follow = None;
        // Only here: nothing that comes in on the socket of askers can name a machine.
        request.machine = Some(machine.clone());
        let ruling = ruling_of_question(&request, ruling, because, demands);
        let id = self.0.next_asker();
        let RelayedNews { answered, allows } = self.0.askers.add_relayed(id);
        let asked = DeskInput::Asked { asker: id, request, ruling, is_replay: false };
        self.0.askers.forward_question(id, asked).await;
        let (answered, allows) = (Some(answered), Some(allows));
        RelayedAsker { id, intake: Arc::clone(&self.0), answered, allows }
    }

    /// Withdraws the questions of a machine that a desk before this one has left, except for these,
    /// which are open there.
    pub async fn withdraw_left(&self, machine: &str, open: Vec<RequestId>) {
        let machine = machine.to_owned();
        self.0.askers.notify_desk(DeskInput::Synced { machine, open }).await;
    }
}

/// Returns what the desk does: it asks people, whatever the machine claims.
fn ruling_of_question(
    request: &ApprovalRequest,
    ruling: LedgerRuling,
    because: Option<String>,
    demands: AllowDemands,
) -> Ruling {
    let because = because.map(|because| plain::foreign_line(&because));
    let needs_word = ruling == LedgerRuling::Confirm;
    if needs_word || !demands.is_empty() {
        let unnamed =
            || plain::foreign_line(&format!("a rule there is about {}", request.tool_name));
        let because = because.unwrap_or_else(unnamed);
        return Ruling::AtDesk { because, needs_word, demands };
    }
    match ruling {
        LedgerRuling::Guard => Ruling::Ask { because, is_guarded: true },
        _ => Ruling::Ask { because, is_guarded: false },
    }
}

impl RelayedAsker {
    /// Returns the answer of a person once there is one. It is `None` if there will be none: nobody
    /// has answered in time, the desk refuses the question, or this was called before. The future
    /// borrows nothing, so that its caller can report what happens meanwhile.
    pub fn wait_for_answer(
        &mut self,
    ) -> impl Future<Output = Option<RelayedAnswer>> + Send + use<> {
        let answered = self.answered.take();
        async move { answered?.await.ok()?.relayed.map(|answer| *answer) }
    }

    /// Takes the channel on which the first of two allows arrives when somebody here gives it.
    /// Returns `None` if it was taken before.
    pub fn take_allows(&mut self) -> Option<mpsc::UnboundedReceiver<NotedAllow>> {
        self.allows.take()
    }

    /// Passes on the answer of a person at another desk of the team. It is the one that counts.
    pub async fn take_team_answer(&self, answer: RelayedAnswer) {
        self.notify_desk(DeskInput::TeamAnswered { asker: self.id, answer }).await;
    }

    /// Passes on the first of two allows, given at another desk of the team.
    pub async fn take_team_allow(&self, first: FirstAllow) {
        self.notify_desk(DeskInput::TeamAllowed { asker: self.id, first }).await;
    }

    pub async fn add_last_words(&self, last_words: String) {
        self.notify_desk(DeskInput::Said { asker: self.id, last_words }).await;
    }

    pub async fn report_deferred(&self, reason: DeferReason) {
        self.notify_desk(DeskInput::Deferred { asker: self.id, reason }).await;
    }

    pub async fn report_delivered(self) {
        self.notify_desk(DeskInput::Delivered(self.id)).await;
    }

    /// Reports that the answer has not reached the agent, and never will.
    pub async fn report_lost(self) {
        self.notify_desk(DeskInput::Lost(self.id)).await;
    }

    /// Reports that the question is over on its machine, in words for a person.
    pub async fn withdraw(self, text: String) {
        self.notify_desk(DeskInput::Withdrawn { asker: self.id, text }).await;
    }

    async fn notify_desk(&self, input: DeskInput) {
        self.intake.askers.notify_desk(input).await;
    }
}

impl Drop for RelayedAsker {
    fn drop(&mut self) {
        self.intake.askers.remove_relayed(self.id);
    }
}
