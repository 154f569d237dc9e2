//! Reads the requests that only ask: about open questions, the history and the rules.

use super::{
    DeskCommand, ExplainQuery, HistoryFilter, MOST_HISTORY_ROWS, ProposalSource, UnreadableReason,
};
use crate::approval::RequestId;
use crate::fields::{Malformed, optional_field, optional_object, required_field};
use crate::raw::{Members, from_object};

const DECISION: &str = "allow, deny, ask or confirm";

impl DeskCommand {
    /// Reads a request of a kind that only asks.
    pub(super) fn read_question(kind: &str, members: &Members) -> Result<Self, UnreadableReason> {
        let text = || required_field(members, "text", "a string");
        Ok(match kind {
            "inbox" => Self::Inbox,
            "card" => Self::Card { question: RequestId::from_member(members, "question")? },
            "history" => Self::History {
                filter: decode_filter(members)?,
                before: optional_field(members, "before", "a whole number")?,
                limit: decode_limit(members)?,
            },
            "figures" => Self::Figures { filter: decode_filter(members)? },
            "export" => Self::Export {
                format: required_field(members, "format", "jsonl or csv")?,
                filter: decode_filter(members)?,
                before: optional_field(members, "before", "a whole number")?,
            },
            "verify" => Self::Verify,
            "sessions" => {
                Self::Sessions { since_ms: optional_field(members, "since_ms", "a whole number")? }
            }
            "rules" => Self::Rules,
            "check_rules" => Self::CheckRules { text: text()? },
            "explain" => Self::Explain(decode_explain_query(members)?),
            "backtest" => Self::Backtest { text: text()? },
            "save_rules" => Self::SaveRules {
                text: text()?,
                hash: required_field(members, "hash", "a string")?,
            },
            "propose" => Self::Propose {
                of: decode_proposal_source(members)?,
                decide: required_field(members, "decide", DECISION)?,
                seconds: optional_field(members, "seconds", "a whole number")?,
            },
            "suggest" => Self::Suggest,
            _ => return Err(UnreadableReason::unknown(kind)),
        })
    }
}

fn decode_filter(members: &Members) -> Result<HistoryFilter, Malformed> {
    const EXPECTED: &str = "an object with text, tool, agent, machine, project, session, decision, by, \
        since_ms and until_ms, each with a valid value";
    match members.get_non_null("filter") {
        None => Ok(HistoryFilter::default()),
        Some(filter) => {
            from_object(filter.get()).map_err(|_| Malformed::wrong_field("filter", EXPECTED))
        }
    }
}

fn decode_limit(members: &Members) -> Result<Option<u64>, Malformed> {
    const EXPECTED: &str = "a whole number from 1 to 200";
    match optional_field(members, "limit", EXPECTED)? {
        Some(limit) if !(1..=MOST_HISTORY_ROWS).contains(&limit) => {
            Err(Malformed::wrong_field("limit", EXPECTED))
        }
        limit => Ok(limit),
    }
}

fn decode_explain_query(members: &Members) -> Result<ExplainQuery, Malformed> {
    let query = ExplainQuery {
        tool: optional_field(members, "tool", "a string")?,
        command: optional_field(members, "command", "a string")?,
        input: optional_object(members, "input")?,
        project: required_field(members, "project", "a string")?,
        agent: optional_field(members, "agent", "a string")?,
    };
    match (&query.command, &query.input, &query.tool) {
        (Some(_), None, _) | (None, Some(_), Some(_)) => Ok(query),
        _ => {
            Err(Malformed::wrong_field("command", "given alone, or an input with its tool instead"))
        }
    }
}

fn decode_proposal_source(members: &Members) -> Result<ProposalSource, Malformed> {
    match (members.get_non_null("question"), optional_field(members, "seq", "a whole number")?) {
        (Some(_), None) => {
            RequestId::from_member(members, "question").map(ProposalSource::Question)
        }
        (None, Some(seq)) => Ok(ProposalSource::Entry(seq)),
        _ => Err(Malformed::wrong_field("question", "given alone, or seq instead")),
    }
}
