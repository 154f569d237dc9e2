//! What a box sends to the desk above.

use serde::Serialize;

use super::{
    LONGEST_HOME, LONGEST_REQUEST, LONGEST_TEXT, UnreadableReason, decode_ids, decode_name,
    decode_text,
};
use crate::approval::{AllowDemands, ApprovalRequest, Decision, RelayedAnswer, RequestId};
use crate::desk::{ENTRY, WatchedEntry, decode_secret};
use crate::fields::{
    Malformed, bounded_text, if_present, members_of, one_line, optional_field, required_field,
    required_object, text_field,
};
use crate::hidden_text::HiddenText;
use crate::ledger::LedgerRuling;
use crate::raw::{Json, Members};

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RelayReport {
    /// Opens the line.
    Hello(BoxHello),
    /// A person at the box has to allow that its questions are answered above.
    Waiting { text: String },
    /// The box's desk knows the desk above by this token from now on.
    Granted { token: HiddenText },
    /// A question that people have to answer. It is boxed, because it is larger than all other
    /// reports.
    Question(Box<RelayedQuestion>),
    /// The agent's last words, which came after its question.
    Said { question: RequestId, last_words: String },
    /// A question is no longer open.
    Closed(ClosedOutcome),
    /// All questions that are open have been sent.
    Synced {
        /// Those that are open, or whose answer is on its way to the agent.
        open: Vec<RequestId>,
    },
    Told {
        question: RequestId,
        /// Whether the agent has got it.
        done: bool,
        text: String,
    },
    /// The copy of the ledger begins anew, for this reason: what was copied is not a part of the
    /// box's ledger.
    Anew { text: String },
    /// The next entry of the box's ledger.
    Entry { entry: WatchedEntry },
    /// A heartbeat: the box is still there.
    Beat,
    /// Something is wrong, in words for a person. The desk above ends a line with more than 32 of
    /// these, since it shows each to people.
    Error { text: String },
}

#[derive(Debug, Clone, Serialize)]
pub struct BoxHello {
    pub protocol: u64,
    /// The version of its program.
    pub version: String,
    /// The box's own name for itself.
    pub host: String,
    /// The user whose agents ask.
    pub user: String,
    /// That user's home folder.
    pub home: String,
}

/// A question of a box that people have to answer. Every text in it is masked.
#[derive(Debug, Clone, Serialize)]
pub struct RelayedQuestion {
    pub request: ApprovalRequest,
    /// What the box's rules said: [`LedgerRuling::Ask`], `Guard` or `Confirm`.
    pub ruling: LedgerRuling,
    /// Why, if a rule says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    #[serde(skip_serializing_if = "AllowDemands::is_empty")]
    pub demands: AllowDemands,
    /// How long it stays open, in seconds.
    pub seconds: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct ClosedOutcome {
    pub question: RequestId,
    /// What was decided and has reached the agent, if anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What became of it, in words for a person.
    pub text: String,
}

impl ClosedOutcome {
    /// Returns true if it ended with this answer, given at the desk of this name.
    pub fn is_outcome_of(&self, answer: &RelayedAnswer, desk: &str) -> bool {
        let name = answer.attributed_name(desk);
        // A long name is recorded shortened.
        let is_by = |by: &String| !by.is_empty() && name.starts_with(&**by);
        self.decision == Some(answer.decision) && self.by.as_ref().is_some_and(is_by)
    }
}

impl RelayReport {
    /// Reads a report from a line's bytes, with or without the newline.
    pub fn decode(line: &[u8]) -> Result<Self, UnreadableReason> {
        let members = members_of(line)?;
        let kind = text_field(&members, "kind").ok_or(UnreadableReason::NoKind)?;
        let question = || RequestId::from_member(&members, "question");
        Ok(match kind.as_str() {
            "hello" => Self::Hello(decode_hello(&members)?),
            "waiting" => Self::Waiting { text: decode_text(&members, "text")? },
            "granted" => Self::Granted { token: decode_secret(&members, "token")? },
            "question" => Self::Question(Box::new(decode_question(&members)?)),
            "said" => Self::Said {
                question: question()?,
                last_words: decode_text(&members, "last_words")?,
            },
            "closed" => Self::Closed(ClosedOutcome {
                question: question()?,
                decision: optional_field(&members, "decision", "allow, deny or timeout")?,
                by: if_present(&members, "by", decode_text)?,
                text: decode_text(&members, "text")?,
            }),
            "synced" => Self::Synced { open: decode_ids(&members, "open")? },
            "told" => Self::Told {
                question: question()?,
                done: required_field(&members, "done", "true or false")?,
                text: decode_text(&members, "text")?,
            },
            "anew" => Self::Anew { text: decode_text(&members, "text")? },
            "entry" => Self::Entry { entry: required_object(&members, "entry", ENTRY)? },
            "beat" => Self::Beat,
            "error" => Self::Error { text: decode_text(&members, "text")? },
            kind => return Err(UnreadableReason::unknown(kind)),
        })
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }

    /// Cuts the texts that a rule, an agent or a person has written to what a line takes. The desk
    /// above would refuse the whole line, and with it the question or its end.
    #[must_use]
    pub fn with_bounded_texts(mut self) -> Self {
        let texts = match &mut self {
            Self::Question(question) => [question.because.as_mut(), None],
            Self::Said { last_words, .. } => [Some(last_words), None],
            Self::Closed(closed) => [closed.by.as_mut(), Some(&mut closed.text)],
            Self::Waiting { text }
            | Self::Told { text, .. }
            | Self::Anew { text }
            | Self::Error { text } => [Some(text), None],
            _ => [None, None],
        };
        for text in texts.into_iter().flatten() {
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        }
        self
    }
}

fn decode_hello(members: &Members) -> Result<BoxHello, Malformed> {
    Ok(BoxHello {
        protocol: required_field(members, "protocol", "a whole number")?,
        version: decode_name(members, "version")?,
        host: decode_name(members, "host")?,
        user: decode_name(members, "user")?,
        home: bounded_text(members, "home", LONGEST_HOME, "a string of at most 4096 bytes")?,
    })
}

fn decode_question(members: &Members) -> Result<RelayedQuestion, Malformed> {
    const RULING: &str = "ask, guard or confirm";
    const REQUEST: &str = "an object of at most 4 MiB";
    let request = members.get("request").map(Json::get);
    let request = request.filter(|request| request.len() <= LONGEST_REQUEST);
    let request = request.ok_or(Malformed::wrong_field("request", REQUEST))?;
    let ruling: LedgerRuling = required_field(members, "ruling", RULING)?;
    // What the rules of the box decide stays there: no line may allow or deny by them.
    if !ruling.is_for_people() {
        return Err(Malformed::wrong_field("ruling", RULING));
    }
    Ok(RelayedQuestion {
        request: ApprovalRequest::decode(request.as_bytes())?,
        ruling,
        because: if_present(members, "because", decode_text)?,
        // One that is not known here could not be met.
        demands: optional_field(members, "demands", "a list of two_people and not_own")?
            .unwrap_or_default(),
        seconds: required_field(members, "seconds", "a whole number")?,
    })
}
