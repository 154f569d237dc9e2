//! The requests that only ask: about open questions, the history and the rules.

use serde::ser::SerializeMap;

use super::{
    DeskCommand, ExplainQuery, HistoryFilter, MOST_HISTORY_ROWS, ProposalSource, UnreadableReason,
};
use crate::approval::RequestId;
use crate::fields::{Malformed, optional, optional_object, required, write_optional};
use crate::raw::{Members, from_object};

impl DeskCommand {
    /// Writes the fields of a request that only asks.
    pub(super) fn write_question<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Card { question } => map.serialize_entry("question", question),
            Self::History { filter, before, limit } => {
                map.serialize_entry("filter", filter)?;
                write_optional(map, "before", before.as_ref())?;
                write_optional(map, "limit", limit.as_ref())
            }
            Self::Figures { filter } => map.serialize_entry("filter", filter),
            Self::Export { format, filter, before } => {
                map.serialize_entry("format", format)?;
                map.serialize_entry("filter", filter)?;
                write_optional(map, "before", before.as_ref())
            }
            Self::Sessions { since_ms } => write_optional(map, "since_ms", since_ms.as_ref()),
            Self::CheckRules { text } | Self::Backtest { text } => {
                map.serialize_entry("text", text)
            }
            Self::SaveRules { text, hash } => {
                map.serialize_entry("text", text)?;
                map.serialize_entry("hash", hash)
            }
            Self::Explain(query) => {
                write_optional(map, "tool", query.tool.as_ref())?;
                write_optional(map, "command", query.command.as_ref())?;
                write_optional(map, "input", query.input.as_ref())?;
                map.serialize_entry("project", &query.project)?;
                write_optional(map, "agent", query.agent.as_ref())
            }
            Self::Propose { of, decide, seconds } => {
                match of {
                    ProposalSource::Question(question) => {
                        map.serialize_entry("question", question)?;
                    }
                    ProposalSource::Entry(seq) => map.serialize_entry("seq", seq)?,
                }
                map.serialize_entry("decide", decide)?;
                write_optional(map, "seconds", seconds.as_ref())
            }
            _ => Ok(()),
        }
    }

    /// Reads a request of a kind that only asks.
    pub(super) fn read_question(kind: &str, members: &Members) -> Result<Self, UnreadableReason> {
        let text = || required(members, "text", "a string");
        Ok(match kind {
            "inbox" => Self::Inbox,
            "card" => Self::Card { question: question(members)? },
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
                decide: decision(members)?,
                seconds: optional(members, "seconds", "a whole number")?,
            },
            "suggest" => Self::Suggest,
            _ => return Err(UnreadableReason::unknown(kind)),
        })
    }
}

fn question(members: &Members) -> Result<RequestId, Malformed> {
    const EXPECTED: &str = "a UUID of version 4";
    let id: String = required(members, "question", EXPECTED)?;
    RequestId::parse(&id).map_err(|_| Malformed::wrong("question", EXPECTED))
}

fn filter(members: &Members) -> Result<HistoryFilter, Malformed> {
    const EXPECTED: &str = "an object with text, tool, agent, project, session, decision, by, \
        since_ms and until_ms, each as it has to be";
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
        (Some(_), None) => question(members).map(ProposalSource::Question),
        (None, Some(seq)) => Ok(ProposalSource::Entry(seq)),
        _ => Err(Malformed::wrong("question", "given alone, or seq instead")),
    }
}

fn decision(members: &Members) -> Result<String, Malformed> {
    const EXPECTED: &str = "allow, deny, ask or confirm";
    let decide: String = required(members, "decide", EXPECTED)?;
    let is_known = matches!(decide.as_str(), "allow" | "deny" | "ask" | "confirm");
    if is_known { Ok(decide) } else { Err(Malformed::wrong("decide", EXPECTED)) }
}
