//! Reads the requests that only ask: about open questions, the history and the rules.

use super::{
    DeskCommand, ExplainQuery, HistoryFilter, MOST_HISTORY_ROWS, ProposalSource, UnreadableReason,
};
use crate::approval::RequestId;
use crate::fields::{Malformed, optional, optional_object, required};
use crate::raw::{Members, from_object};

const DECISION: &str = "allow, deny, ask or confirm";

impl DeskCommand {
    /// Reads a request of a kind that only asks.
    pub(super) fn read_question(kind: &str, members: &Members) -> Result<Self, UnreadableReason> {
        let text = || required(members, "text", "a string");
        Ok(match kind {
            "inbox" => Self::Inbox,
            "card" => Self::Card { question: RequestId::read(members, "question")? },
            "history" => Self::History {
                filter: filter(members)?,
                before: optional(members, "before", "a whole number")?,
                limit: limit(members)?,
            },
            "figures" => Self::Figures { filter: filter(members)? },
            "export" => Self::Export {
                format: required(members, "format", "jsonl or csv")?,
                filter: filter(members)?,
                before: optional(members, "before", "a whole number")?,
            },
            "verify" => Self::Verify,
            "sessions" => {
                Self::Sessions { since_ms: optional(members, "since_ms", "a whole number")? }
            }
            "rules" => Self::Rules,
            "check_rules" => Self::CheckRules { text: text()? },
            "explain" => Self::Explain(explain(members)?),
            "backtest" => Self::Backtest { text: text()? },
            "save_rules" => {
                Self::SaveRules { text: text()?, hash: required(members, "hash", "a string")? }
            }
            "propose" => Self::Propose {
                of: source(members)?,
                decide: required(members, "decide", DECISION)?,
                seconds: optional(members, "seconds", "a whole number")?,
            },
            "suggest" => Self::Suggest,
            _ => return Err(UnreadableReason::unknown(kind)),
        })
    }
}

fn filter(members: &Members) -> Result<HistoryFilter, Malformed> {
    const EXPECTED: &str = "an object with text, tool, agent, project, session, decision, by, \
        since_ms and until_ms, each with a valid value";
    match members.some("filter") {
        None => Ok(HistoryFilter::default()),
        Some(filter) => from_object(filter.get()).map_err(|_| Malformed::wrong("filter", EXPECTED)),
    }
}

fn limit(members: &Members) -> Result<Option<u64>, Malformed> {
    const EXPECTED: &str = "a whole number from 1 to 200";
    match optional(members, "limit", EXPECTED)? {
        Some(limit) if !(1..=MOST_HISTORY_ROWS).contains(&limit) => {
            Err(Malformed::wrong("limit", EXPECTED))
        }
        limit => Ok(limit),
    }
}

fn explain(members: &Members) -> Result<ExplainQuery, Malformed> {
    let query = ExplainQuery {
        tool: optional(members, "tool", "a string")?,
        command: optional(members, "command", "a string")?,
        input: optional_object(members, "input")?,
        project: required(members, "project", "a string")?,
        agent: optional(members, "agent", "a string")?,
    };
    match (&query.command, &query.input, &query.tool) {
        (Some(_), None, _) | (None, Some(_), Some(_)) => Ok(query),
        _ => Err(Malformed::wrong("command", "given alone, or an input with its tool instead")),
    }
}

fn source(members: &Members) -> Result<ProposalSource, Malformed> {
    match (members.some("question"), optional(members, "seq", "a whole number")?) {
        (Some(_), None) => RequestId::read(members, "question").map(ProposalSource::Question),
        (None, Some(seq)) => Ok(ProposalSource::Entry(seq)),
        _ => Err(Malformed::wrong("question", "given alone, or seq instead")),
    }
}
