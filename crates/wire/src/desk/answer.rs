//! The desk's answers to a viewer's requests.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{
    BacktestReport, DeskHistory, DeskInbox, DeskStatus, ExportedPage, HiddenText, LedgerFigures,
    NamedLink, ProposedRule, QuestionCard, RemoteView, RuleExplanation, RuleProblem, RulesView,
    SessionView, SettingsView, SuggestedRules, UnreadableReason, VerifiedLedger,
};
use crate::fields::{Malformed, optional_list, required_field, required_object};
use crate::raw::{Members, from_object};

/// The kinds of answers. Where nothing else is said, one answers the request of its name.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DeskAnswer {
    /// The answer to `watch`: entries follow.
    Watching {
        /// The number of the last entry at that moment; what comes after it is new.
        head: u64,
    },
    /// The answer to `press`, `unlock`, `unpair`, `gate`, `save_rules`, `set_setting` and `try`, to
    /// a `pair` or `code` that was refused, and to a `card` of a question that is not open.
    Told {
        /// Whether it changed anything.
        done: bool,
        /// What came of it, in words for a person.
        text: String,
    },
    Code {
        code: HiddenText,
        /// How long it can be used.
        seconds: u64,
    },
    /// The answer to a `pair` that was accepted, which unlocks the connection.
    Paired {
        /// The token that unlocks later connections.
        token: HiddenText,
    },
    Links {
        links: Vec<NamedLink>,
    },
    Status {
        status: Box<DeskStatus>,
    },
    Remotes {
        remotes: Vec<RemoteView>,
    },
    Inbox(DeskInbox),
    /// The answer to `card`, if the question is open.
    Card {
        card: Box<QuestionCard>,
    },
    History(DeskHistory),
    Figures(LedgerFigures),
    Exported(ExportedPage),
    Verified(VerifiedLedger),
    Sessions {
        /// The sessions, the most recently active first.
        sessions: Vec<SessionView>,
    },
    Rules(RulesView),
    /// The answer to `check_rules`.
    Problems {
        /// What is wrong, by line.
        problems: Vec<RuleProblem>,
    },
    Explained(RuleExplanation),
    Backtested(BacktestReport),
    Proposed(ProposedRule),
    Suggested(SuggestedRules),
    Settings(SettingsView),
}

#[derive(Serialize)]
struct AnswerLine<'a> {
    id: &'a str,
    #[serde(flatten)]
    answer: &'a DeskAnswer,
}

impl DeskAnswer {
    pub(super) fn write<S: Serializer>(&self, id: &str, to: S) -> Result<S::Ok, S::Error> {
        AnswerLine { id, answer: self }.serialize(to)
    }

    pub(super) fn from_members(
        kind: &str,
        line: &[u8],
        members: &Members,
    ) -> Result<Self, UnreadableReason> {
        Ok(match kind {
            "watching" => {
                Self::Watching { head: required_field(members, "head", "a whole number")? }
            }
            "told" => Self::Told {
                done: required_field(members, "done", "true or false")?,
                text: required_field(members, "text", "a string")?,
            },
            "code" => Self::Code {
                code: decode_secret(members, "code")?,
                seconds: required_field(members, "seconds", "a whole number")?,
            },
            "paired" => Self::Paired { token: decode_secret(members, "token")? },
            "links" => Self::Links { links: decode_links(members)? },
            "status" => Self::Status { status: required_object(members, "status", STATUS)? },
            "remotes" => Self::Remotes { remotes: required_field(members, "remotes", FIELDS)? },
            "inbox" => Self::Inbox(decode_fields(line)?),
            "card" => Self::Card { card: required_object(members, "card", FIELDS)? },
            "history" => Self::History(decode_fields(line)?),
            "figures" => Self::Figures(decode_fields(line)?),
            "exported" => Self::Exported(decode_fields(line)?),
            "verified" => Self::Verified(decode_fields(line)?),
            "sessions" => Self::Sessions { sessions: required_field(members, "sessions", FIELDS)? },
            "rules" => Self::Rules(decode_fields(line)?),
            "problems" => Self::Problems { problems: required_field(members, "problems", FIELDS)? },
            "explained" => Self::Explained(decode_fields(line)?),
            "backtested" => Self::Backtested(decode_fields(line)?),
            "proposed" => Self::Proposed(decode_fields(line)?),
            "suggested" => Self::Suggested(decode_fields(line)?),
            "settings" => Self::Settings(decode_fields(line)?),
            _ => return Err(UnreadableReason::unknown(kind)),
        })
    }
}

const STATUS: &str = "an object with version, pid and the state of the desk";
const LINKS: &str = "an array of objects with link and name";
const FIELDS: &str = "accompanied by all fields of this kind, each with a valid value";

fn decode_fields<T: DeserializeOwned>(line: &[u8]) -> Result<T, Malformed> {
    // From the whole line, because these fields are beside `id` and `kind` and not in an object of
    // their own.
    serde_json::from_slice(line).map_err(|_| Malformed::wrong_field("kind", FIELDS))
}

fn decode_links(members: &Members) -> Result<Vec<NamedLink>, Malformed> {
    // One by one, because a derived struct would also accept an array in place of an object.
    let each: Option<Vec<Box<RawValue>>> = optional_list(members, "links")?;
    let each = each.ok_or(Malformed::wrong_field("links", LINKS))?;
    let read: Result<_, _> = each.iter().map(|one| from_object(one.get())).collect();
    read.map_err(|_| Malformed::wrong_field("links", LINKS))
}

fn decode_secret(members: &Members, field: &'static str) -> Result<HiddenText, Malformed> {
    required_field(members, field, "a string").map(|text: String| HiddenText::new(text))
}
