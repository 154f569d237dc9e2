//! Requests of a viewer.

use serde::Serialize;

use super::{
    ExplainQuery, ExportFormat, HiddenText, HistoryFilter, LONGEST_CONFIRM, LONGEST_ID,
    LONGEST_LINK, LONGEST_NAME, LONGEST_ORIGIN, LONGEST_SECRET, LONGEST_SETTING, MOST_HISTORY_ROWS,
    ProposalSource, RuleDecision, SHORTEST_GATE, Unreadable, UnreadableReason,
};
use crate::approval::{Action, Press, RelayedAnswer, RequestId};
use crate::fields::{
    Malformed, bounded_text, if_present, members_of, one_line, optional_field, optional_object,
    required_field, required_object, text_field,
};
use crate::raw::Members;

#[derive(Debug, Clone, Serialize)]
pub struct DeskRequest {
    /// The id, chosen by the viewer. The answer repeats it.
    pub id: String,
    #[serde(flatten)]
    pub command: DeskCommand,
}

message_kinds! {
    pub enum DeskCommand {
        /// Sends the ledger's entries from this number on, and each new one when it is written;
        /// without a number, only the new ones.
        Watch "watch" {
            from optional: Option<u64> = WHOLE_NUMBER,
        };
        Press "press" {
            request_id: RequestId = RequestId::from_member,
            #[serde(flatten)]
            press: Press = decode_press,
            confirm optional: Option<String> = decode_confirm,
        };
        /// Brings the answer of a person at the desk above; for a relay.
        Answer "answer" {
            request_id: RequestId = RequestId::from_member,
            answer: RelayedAnswer = decode_relayed_answer,
        };
        /// Proves that this viewer was paired.
        Unlock "unlock" {
            /// The token that it was given then.
            token: HiddenText = decode_secret,
            /// The web origin that holds the token, if a page does.
            origin optional: Option<String> = decode_origin,
            /// The name of the desk above, from a relay that has started this desk.
            name optional: Option<String> = decode_pair_name,
        };
        Pair "pair" {
            /// A code from [`DeskCommand::Code`].
            code: HiddenText = decode_secret,
            /// The viewer's name for itself.
            name: String = decode_pair_name,
            /// The web origin that will hold the token, if a page does. The token counts only
            /// there.
            origin optional: Option<String> = decode_origin,
        };
        /// Creates a code with which one chat or one viewer can be linked.
        Code "code" {
            /// Whether it is for a page: it can be used for a short time, and if it is used twice,
            /// both uses are void.
            page optional: bool = "true or false",
        };
        /// Lists who was linked with a code.
        Links "links";
        Unpair "unpair" {
            /// The link, in the form of [`NamedLink::link`](super::NamedLink::link).
            link: String = decode_link,
        };
        /// Registers a value for as long as this connection lasts: the host of an agent that sends
        /// it asks its user itself.
        Gate "gate" {
            /// The value, as long as a secret may be and at least
            /// [`SHORTEST_GATE`](super::SHORTEST_GATE) bytes long.
            value: HiddenText = decode_gate_value,
        };
        /// Asks for the status of the desk.
        Status "status";
        /// Asks the desk to read the list of remotes again, and for the state of each.
        Remotes "remotes";
        /// Lists the open questions.
        Inbox "inbox";
        /// Asks for one question in full.
        Card "card" {
            question: RequestId = RequestId::from_member,
        };
        /// Lists what was decided and run, the newest first.
        History "history" {
            filter: HistoryFilter = decode_filter,
            /// Only rows with a lower number.
            before optional: Option<u64> = WHOLE_NUMBER,
            /// At most this many rows, and at most [`MOST_HISTORY_ROWS`].
            limit optional: Option<u64> = decode_row_limit,
        };
        Figures "figures" {
            filter: HistoryFilter = decode_filter,
        };
        /// Exports the history as text, in parts.
        Export "export" {
            format: ExportFormat = "jsonl or csv",
            filter: HistoryFilter = decode_filter,
            /// Only rows with a lower number.
            before optional: Option<u64> = WHOLE_NUMBER,
        };
        /// Verifies the ledger's chain.
        Verify "verify";
        Sessions "sessions" {
            /// When today began, in milliseconds since 1970; without it, a day ago.
            since_ms optional: Option<i64> = WHOLE_NUMBER,
        };
        /// Asks for the rules that apply now.
        Rules "rules";
        /// Asks what is wrong with these rules.
        CheckRules "check_rules" {
            text: String = TEXT,
        };
        /// Asks what the rules would decide about a call.
        Explain "explain" (ExplainQuery, decode_explain_query);
        /// Asks what these rules would have decided so far.
        Backtest "backtest" {
            text: String = TEXT,
        };
        /// Replaces the user's rules.
        SaveRules "save_rules" {
            text: String = TEXT,
            /// The hash of the text that it replaces.
            hash: String = TEXT,
        };
        /// Asks for a rule for a call.
        Propose "propose" {
            #[serde(flatten)]
            of: ProposalSource = decode_proposal_source,
            decide: RuleDecision = "allow, deny, ask or confirm",
            /// How long the rule holds; without it, for good.
            seconds optional: Option<u64> = WHOLE_NUMBER,
        };
        /// Asks which rules would have saved the most questions.
        Suggest "suggest";
        /// Asks for the settings.
        Settings "settings";
        /// Sets a setting that a viewer may set.
        SetSetting "set_setting" {
            key: String = decode_setting_key,
            /// Its value, or the secret that it stands for; without it, the key is removed.
            value optional: Option<HiddenText> = decode_setting_value,
        };
        /// Puts a harmless question to everybody who may answer.
        Try "try";
    }
}

impl DeskRequest {
    /// Reads a request from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(UnreadableReason::from)?;
        let id = text_field(&members, "id").ok_or(UnreadableReason::NoId)?;
        if id.len() > LONGEST_ID {
            // The answer does not repeat such an id, whose length has no other bound than that of
            // the line.
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

const LINK: &str = "a link, such as chat/123456789";
const TEXT: &str = "a string";
const WHOLE_NUMBER: &str = "a whole number";

fn decode_press(members: &Members, _: &str) -> Result<Press, Malformed> {
    const BUTTON: &str = "one of the buttons";
    const ONE: &str = "given alone, or words or input instead";
    let action: Option<String> = optional_field(members, "action", BUTTON)?;
    let words = optional_field(members, "words", TEXT)?;
    let input = optional_object(members, "input")?;
    match (action, words, input) {
        (Some(name), None, None) => {
            let action = Action::parse(&name);
            Ok(Press::Button(action.ok_or(Malformed::wrong_field("action", BUTTON))?))
        }
        (None, Some(words), None) => Ok(Press::Words(words)),
        (None, None, Some(input)) => Ok(Press::Input(input)),
        _ => Err(Malformed::wrong_field("action", ONE)),
    }
}

fn decode_confirm(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_CONFIRM, "a string of at most 256 bytes")
}

fn decode_relayed_answer(
    members: &Members,
    name: &'static str,
) -> Result<RelayedAnswer, Malformed> {
    required_object(members, name, "an object with decision and by")
}

pub(crate) fn decode_secret(
    members: &Members,
    name: &'static str,
) -> Result<HiddenText, Malformed> {
    decode_setting_key(members, name).map(HiddenText::new)
}

fn decode_setting_key(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_SECRET, "a string of at most 128 bytes")
}

fn decode_setting_value(members: &Members, name: &'static str) -> Result<HiddenText, Malformed> {
    bounded_text(members, name, LONGEST_SETTING, "a string of at most 4096 bytes")
        .map(HiddenText::new)
}

fn decode_link(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_LINK, LINK)
}

fn decode_gate_value(members: &Members, name: &'static str) -> Result<HiddenText, Malformed> {
    const EXPECTED: &str = "a string of 32 to 128 bytes";
    match bounded_text(members, name, LONGEST_SECRET, EXPECTED)? {
        value if value.len() >= SHORTEST_GATE => Ok(HiddenText::new(value)),
        _ => Err(Malformed::wrong_field(name, EXPECTED)),
    }
}

fn decode_pair_name(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_NAME, "a string of at most 256 bytes")
}

fn decode_origin(members: &Members, name: &'static str) -> Result<String, Malformed> {
    const EXPECTED: &str = "a web origin of at most 128 bytes";
    let origin = bounded_text(members, name, LONGEST_ORIGIN, EXPECTED)?;
    let is_good = origin.bytes().all(|byte| byte.is_ascii_graphic());
    if is_good { Ok(origin) } else { Err(Malformed::wrong_field(name, EXPECTED)) }
}

fn decode_filter(members: &Members, name: &'static str) -> Result<HistoryFilter, Malformed> {
    const EXPECTED: &str = "an object with text, tool, agent, machine, project, session, decision, by, \
        since_ms and until_ms, each with a valid value";
    let read = |members: &Members, name| required_object(members, name, EXPECTED);
    if_present(members, name, read).map(Option::unwrap_or_default)
}

fn decode_row_limit(members: &Members, name: &'static str) -> Result<u64, Malformed> {
    const EXPECTED: &str = "a whole number from 1 to 200";
    let limit = required_field(members, name, EXPECTED)?;
    let is_good = (1..=MOST_HISTORY_ROWS).contains(&limit);
    if is_good { Ok(limit) } else { Err(Malformed::wrong_field(name, EXPECTED)) }
}

fn decode_explain_query(members: &Members) -> Result<ExplainQuery, Malformed> {
    let query = ExplainQuery::from_members(members)?;
    match (&query.command, &query.input, &query.tool) {
        (Some(_), None, _) | (None, Some(_), Some(_)) => Ok(query),
        _ => {
            Err(Malformed::wrong_field("command", "given alone, or an input with its tool instead"))
        }
    }
}

fn decode_proposal_source(members: &Members, _: &str) -> Result<ProposalSource, Malformed> {
    match (members.get_non_null("question"), optional_field(members, "seq", WHOLE_NUMBER)?) {
        (Some(_), None) => {
            RequestId::from_member(members, "question").map(ProposalSource::Question)
        }
        (None, Some(seq)) => Ok(ProposalSource::Entry(seq)),
        _ => Err(Malformed::wrong_field("question", "given alone, or seq instead")),
    }
}
