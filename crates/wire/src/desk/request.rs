//! Requests of a viewer.

use serde::Serialize;

use super::{
    ExplainQuery, ExportFormat, HiddenText, HistoryFilter, LONGEST_CONFIRM, LONGEST_ID,
    LONGEST_LINK, LONGEST_NAME, LONGEST_ORIGIN, LONGEST_SECRET, LONGEST_SETTING, ProposalSource,
    RuleDecision, SHORTEST_GATE, Unreadable, UnreadableReason,
};
use crate::approval::{Action, Press, RelayedAnswer, RequestId};
use crate::fields::{
    Malformed, bounded_text, if_present, members_of, one_line, optional_field, optional_object,
    required_object, text_field,
};
use crate::raw::Members;

#[derive(Debug, Clone, Serialize)]
pub struct DeskRequest {
    /// The id, chosen by the viewer. The answer repeats it.
    pub id: String,
    #[serde(flatten)]
    pub command: DeskCommand,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DeskCommand {
    /// Sends the ledger's entries from this number on, and each new one when it is written; without
    /// a number, only the new ones.
    Watch {
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
    },
    Press {
        request_id: RequestId,
        #[serde(flatten)]
        press: Press,
        #[serde(skip_serializing_if = "Option::is_none")]
        confirm: Option<String>,
    },
    /// Brings the answer of a person at the desk above; for a relay.
    Answer {
        request_id: RequestId,
        answer: RelayedAnswer,
    },
    /// Proves that this viewer was paired.
    Unlock {
        /// The token that it was given then.
        token: HiddenText,
        /// The web origin that holds the token, if a page does.
        #[serde(skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        /// The name of the desk above, from a relay that has started this desk.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    Pair {
        /// A code from [`DeskCommand::Code`].
        code: HiddenText,
        /// The viewer's name for itself.
        name: String,
        /// The web origin that will hold the token, if a page does. The token counts only there.
        #[serde(skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
    },
    /// Creates a code with which one chat or one viewer can be linked.
    Code {
        /// Whether it is for a page: it can be used for a short time, and if it is used twice, both
        /// uses are void.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        page: bool,
    },
    /// Lists who was linked with a code.
    Links,
    Unpair {
        /// The link, in the form of [`NamedLink::link`](super::NamedLink::link).
        link: String,
    },
    /// Registers a value for as long as this connection lasts: the host of an agent that sends it
    /// asks its user itself.
    Gate {
        /// The value, as long as a secret may be and at least [`SHORTEST_GATE`](super::SHORTEST_GATE)
        /// bytes long.
        value: HiddenText,
    },
    /// Asks for the status of the desk.
    Status,
    /// Has the list of remotes read again, and asks how it stands with them.
    Remotes,
    /// Lists the open questions.
    Inbox,
    /// Asks for one question in full.
    Card {
        question: RequestId,
    },
    /// Lists what was decided and run, the newest first.
    History {
        filter: HistoryFilter,
        /// Only rows with a lower number.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// At most this many rows, and at most [`MOST_HISTORY_ROWS`](super::MOST_HISTORY_ROWS).
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    },
    Figures {
        filter: HistoryFilter,
    },
    /// Exports the history as text, in parts.
    Export {
        format: ExportFormat,
        filter: HistoryFilter,
        /// Only rows with a lower number.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
    },
    /// Verifies the ledger's chain.
    Verify,
    Sessions {
        /// When today began, in milliseconds since 1970; without it, a day ago.
        #[serde(skip_serializing_if = "Option::is_none")]
        since_ms: Option<i64>,
    },
    /// Asks for the rules that apply now.
    Rules,
    /// Asks what is wrong with these rules.
    CheckRules {
        text: String,
    },
    /// Asks what the rules would decide about a call.
    Explain(ExplainQuery),
    /// Asks what these rules would have decided so far.
    Backtest {
        text: String,
    },
    /// Replaces the user's rules.
    SaveRules {
        text: String,
        /// The hash of the text that it replaces.
        hash: String,
    },
    /// Asks for a rule for a call.
    Propose {
        #[serde(flatten)]
        of: ProposalSource,
        decide: RuleDecision,
        /// How long the rule holds; without it, for good.
        #[serde(skip_serializing_if = "Option::is_none")]
        seconds: Option<u64>,
    },
    /// Asks which rules would have saved the most questions.
    Suggest,
    /// Asks for the settings.
    Settings,
    /// Sets a setting that a viewer may set.
    SetSetting {
        key: String,
        /// Its value, or the secret that it stands for; without it, the key is removed.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<HiddenText>,
    },
    /// Puts a harmless question to everybody who may answer.
    Try,
}

impl DeskRequest {
    /// Reads a request from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(UnreadableReason::from)?;
        let id = text_field(&members, "id").ok_or(UnreadableReason::NoId)?;
        if id.len() > LONGEST_ID {
            let wrong = Malformed::wrong_field("id", "at most 128 bytes long");
            return Err(UnreadableReason::from(wrong).into());
        }
        match DeskCommand::from_members(&members) {
            Ok(command) => Ok(Self { id, command }),
            Err(reason) => Err(Unreadable { id: Some(id), reason }),
        }
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}

impl DeskCommand {
    fn from_members(members: &Members) -> Result<Self, UnreadableReason> {
        let kind = text_field(members, "kind").ok_or(UnreadableReason::NoKind)?;
        Ok(match kind.as_str() {
            "watch" => Self::Watch { from: optional_field(members, "from", "a whole number")? },
            "press" => Self::decode_press(members)?,
            "answer" => Self::Answer {
                request_id: RequestId::from_member(members, "request_id")?,
                answer: required_object(members, "answer", "an object with decision and by")?,
            },
            "unlock" => Self::Unlock {
                token: decode_secret(members, "token")?,
                origin: decode_origin(members)?,
                name: if_present(members, "name", |members, _| decode_pair_name(members))?,
            },
            "pair" => Self::Pair {
                code: decode_secret(members, "code")?,
                name: decode_pair_name(members)?,
                origin: decode_origin(members)?,
            },
            "code" => {
                let page = optional_field(members, "page", "true or false")?;
                Self::Code { page: page.unwrap_or_default() }
            }
            "links" => Self::Links,
            "unpair" => Self::Unpair { link: bounded_text(members, "link", LONGEST_LINK, LINK)? },
            "gate" => Self::Gate { value: decode_gate_value(members)? },
            "status" => Self::Status,
            "remotes" => Self::Remotes,
            "settings" => Self::Settings,
            "set_setting" => Self::SetSetting {
                key: bounded_text(members, "key", LONGEST_SECRET, "a string of at most 128 bytes")?,
                value: optional_bounded(members, "value", LONGEST_SETTING, SETTING)?
                    .map(HiddenText::new),
            },
            "try" => Self::Try,
            kind => return Self::read_question(kind, members),
        })
    }

    fn decode_press(members: &Members) -> Result<Self, Malformed> {
        const BUTTON: &str = "one of the buttons";
        const ONE: &str = "given alone, or words or input instead";
        let request_id = RequestId::from_member(members, "request_id")?;
        let action: Option<String> = optional_field(members, "action", BUTTON)?;
        let words = optional_field(members, "words", "a string")?;
        let input = optional_object(members, "input")?;
        let press = match (action, words, input) {
            (Some(name), None, None) => {
                let action = Action::parse(&name);
                Press::Button(action.ok_or(Malformed::wrong_field("action", BUTTON))?)
            }
            (None, Some(words), None) => Press::Words(words),
            (None, None, Some(input)) => Press::Input(input),
            _ => return Err(Malformed::wrong_field("action", ONE)),
        };
        let confirm =
            optional_bounded(members, "confirm", LONGEST_CONFIRM, "a string of at most 256 bytes")?;
        Ok(Self::Press { request_id, press, confirm })
    }
}

const SETTING: &str = "a string of at most 4096 bytes";
const LINK: &str = "a link, such as chat/123456789";

pub(crate) fn decode_secret(
    members: &Members,
    field: &'static str,
) -> Result<HiddenText, Malformed> {
    bounded_text(members, field, LONGEST_SECRET, "a string of at most 128 bytes")
        .map(HiddenText::new)
}

fn decode_gate_value(members: &Members) -> Result<HiddenText, Malformed> {
    const EXPECTED: &str = "a string of 32 to 128 bytes";
    match bounded_text(members, "value", LONGEST_SECRET, EXPECTED)? {
        value if value.len() >= SHORTEST_GATE => Ok(HiddenText::new(value)),
        _ => Err(Malformed::wrong_field("value", EXPECTED)),
    }
}

fn decode_pair_name(members: &Members) -> Result<String, Malformed> {
    bounded_text(members, "name", LONGEST_NAME, "a string of at most 256 bytes")
}

fn decode_origin(members: &Members) -> Result<Option<String>, Malformed> {
    const EXPECTED: &str = "a web origin of at most 128 bytes";
    let origin = optional_bounded(members, "origin", LONGEST_ORIGIN, EXPECTED)?;
    let is_good = |origin: &String| origin.bytes().all(|byte| byte.is_ascii_graphic());
    match origin {
        Some(origin) if !is_good(&origin) => Err(Malformed::wrong_field("origin", EXPECTED)),
        origin => Ok(origin),
    }
}

fn optional_bounded(
    members: &Members,
    field: &'static str,
    limit: usize,
    expected: &'static str,
) -> Result<Option<String>, Malformed> {
    if_present(members, field, |members, field| bounded_text(members, field, limit, expected))
}
