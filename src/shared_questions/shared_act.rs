//! A question of a machine as the database has it.

use std::time::Duration;

use callgate_approval::answer_roles::AnswerScope;
use callgate_team_store::{LONGEST_WAIT, TeamAnswer, TeamAsk, TeamQuestion};
use callgate_wire::approval::{AskerMachine, RelayedAnswer};
use callgate_wire::relay::{RelayReport, RelayedQuestion};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::machines::audit_labels::storable_name;

/// What a question is about. It is the same whenever its machine sends the question again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SharedAct {
    pub(super) machine: AskerMachine,
    /// The number of the run, for a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    /// The question as its machine has sent it, without what changes while it is open.
    question: Box<RawValue>,
}

/// Returns the question as it is recorded, and the agent's last words, which are noted beside it.
pub(super) fn ask_of_question(
    machine: &AskerMachine,
    run: Option<&str>,
    mut question: RelayedQuestion,
) -> Option<(TeamAsk, Option<String>)> {
    // It is kept within these limits, because the store would refuse the question otherwise.
    let wait = Duration::from_secs(question.seconds.max(1)).min(LONGEST_WAIT);
    // The time that is left and the last words change while a question is open, and would make it
    // another question when its machine sends it again.
    question.seconds = 0;
    let request = &mut question.request;
    let last_words = request.context.as_mut().and_then(|context| context.last_words.take());
    let (id, project) = (request.request_id.clone(), storable_name(&request.cwd));
    let agent = storable_name(request.agent.as_deref().unwrap_or_default());
    let report = String::from_utf8(RelayReport::Question(Box::new(question)).to_line()).ok()?;
    let question = RawValue::from_string(report.trim_end().to_owned()).ok()?;
    let act = SharedAct { machine: machine.clone(), run: run.map(str::to_owned), question };
    let (act, machine) = (serde_json::to_string(&act).ok()?, machine.name.clone());
    Some((TeamAsk { id, machine, project, agent, act, wait }, last_words))
}

impl SharedAct {
    /// Reads what a question is about. Returns `None` if no callgate has written it.
    pub(super) fn read(question: &TeamQuestion) -> Option<Self> {
        serde_json::from_str(&question.act).ok()
    }

    /// Returns the properties of a question that roles can name.
    pub(super) fn scope(&self, question: &RelayedQuestion) -> AnswerScope {
        let request = &question.request;
        AnswerScope {
            machine: Some(self.machine.name.clone()),
            home: Some(self.machine.home.clone()),
            project: request.cwd.clone(),
            agent: request.agent.clone().unwrap_or_default(),
            tool: request.tool_name.clone(),
        }
    }

    /// Returns the question as people are asked it.
    pub(super) fn relayed_question(&self, now: &TeamQuestion) -> Option<RelayedQuestion> {
        let RelayReport::Question(question) =
            RelayReport::decode(self.question.get().as_bytes()).ok()?
        else {
            return None;
        };
        let mut question = *question;
        let left = now.remaining.as_millis().div_ceil(1000);
        // One that was answered in its last moment is shown with its answer.
        question.seconds = u64::try_from(left).unwrap_or(u64::MAX).max(1);
        if let Some(words) = &now.last_words {
            question.request.context.get_or_insert_default().last_words = Some(words.clone());
        }
        Some(question)
    }
}

pub(super) fn recorded_answer(
    answer: &RelayedAnswer,
    id: [u8; 16],
    of: &TeamQuestion,
) -> TeamAnswer {
    TeamAnswer {
        id: callgate_wire::approval::RequestId::from_random(id),
        question: of.id.clone(),
        by: storable_name(&answer.by),
        members: answer.members.clone(),
        // It is read before each attempt.
        roles: 0,
        decision: answer.decision,
        body: serde_json::to_string(answer).unwrap_or_default(),
    }
}

/// Returns the answer of a person as its machine gets it.
pub(super) fn relayed_answer(answer: &TeamAnswer) -> Option<RelayedAnswer> {
    serde_json::from_str(&answer.body).ok()
}
