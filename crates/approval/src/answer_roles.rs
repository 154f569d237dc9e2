//! Which questions the people of a team may answer.

use std::fmt;

use callgate_wire::approval::ApprovalRequest;

/// Says which questions the people of a team may answer. The owner of the desk is never asked
/// about.
pub trait AnswerRoles: Send + Sync + fmt::Debug {
    /// Returns true if a member may answer a question about this.
    fn covers_question(&self, member: &str, scope: &AnswerScope) -> bool;
}

/// What a question is about, as far as roles tell questions apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerScope {
    /// The machine that asks; `None` for the one on which the desk runs.
    pub machine: Option<String>,
    /// The home folder of its user there.
    pub home: Option<String>,
    /// The folder in which the agent works.
    pub project: String,
    /// The agent, as rules name it.
    pub agent: String,
    /// The agent's name for the tool.
    pub tool: String,
}

impl AnswerScope {
    pub(crate) fn from_request(request: &ApprovalRequest) -> Self {
        let (machine, home) =
            request.machine.as_ref().map(|there| (there.name.clone(), there.home.clone())).unzip();
        Self {
            machine,
            home,
            project: request.cwd.clone(),
            agent: request.agent.clone().unwrap_or_default(),
            tool: request.tool_name.clone(),
        }
    }
}
