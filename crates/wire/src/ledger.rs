//! What the ledger records: the kinds of entries, one writer and one reader for their bodies.
//!
//! The reader takes whatever was ever written. It keeps kinds and members that this version does
//! not know, so that writing an entry again loses nothing.

#[macro_use]
mod declare;
mod event;
mod field;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::raw::{Json, Members};

pub use event::{
    AgentSaid, AskerReturned, CallChecked, CallRan, CallRefused, CallReported, CallRunning,
    ChatPaired, CodeMade, DeskStarted, EntriesPruned, HostGated, LedgerEvent, LinkRemoved,
    PersonPress, QuestionAsked, QuestionClosed, QuestionDecided, QuestionDelivered,
    QuestionRefused, QuestionUnsent, RulesSaved, ViewerPaired,
};

/// Declares words of the ledger, with their names there.
macro_rules! ledger_words {
    ($(#[$about:meta])* $words:ident { $($(#[$doc:meta])* $word:ident $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $words {
            $($(#[$doc])* #[serde(rename = $name)] $word,)*
        }

        impl $words {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$word,)*];

            /// Returns its name in the ledger.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$word => $name,)*
                }
            }

            /// Returns the one with this name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$word),)*
                    _ => None,
                }
            }
        }
    };
}

ledger_words! {
    /// The kind of an entry. Those of a question come first, in the order of its life.
    LedgerKind {
        /// A question was asked.
        Asked "asked",
        /// The agent's last words came after its question.
        Said "said",
        /// A question could not be sent to a chat.
        Unsent "unsent",
        /// Somebody has pressed a button or written something.
        Pressed "pressed",
        /// A question was decided.
        Decided "decided",
        /// An answer has reached its asker.
        Delivered "delivered",
        /// An asker has come back after a restart of the desk.
        Returned "returned",
        /// A question is over.
        Closed "closed",
        /// A call was decided without asking anybody.
        Checked "checked",
        /// The runtime is about to run a tool.
        Running "running",
        /// A tool has run.
        Ran "ran",
        /// A question, an answer or a call was refused.
        Refused "refused",
        /// A code for linking was made.
        Code "code",
        /// A chat or a viewer was linked.
        Paired "paired",
        /// A link was removed.
        Unpaired "unpaired",
        /// A host that asks its user itself was registered.
        Gated "gated",
        /// The user's rules were replaced.
        Saved "saved",
        /// The desk was started.
        Started "started",
        /// Entries were removed. Only pruning writes it.
        Anchor "anchor",
    }
}

/// An entry of one kind as the documentation describes it.
#[derive(Debug)]
pub struct EventShape {
    /// Its kind.
    pub kind: LedgerKind,
    /// What it records, in lines.
    pub about: &'static [&'static str],
    /// Its members in their order.
    pub fields: &'static [FieldShape],
}

/// A member of an entry as the documentation describes it.
#[derive(Debug)]
pub struct FieldShape {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub shape: &'static str,
    /// Whether it is left out where it has no value. Other members are `null` then.
    pub is_optional: bool,
    /// What it means, in lines.
    pub meaning: &'static [&'static str],
}

ledger_words! {
    /// What the rules said about a question.
    #[derive(Default)]
    LedgerRuling {
        /// A person decides.
        #[default]
        Ask "ask",
        /// A person decides, and nothing may be allowed from now on: it touches callgate itself.
        Guard "guard",
        /// A person decides, and types a word to allow it.
        Confirm "confirm",
        /// It may run.
        Allow "allow",
        /// It may not run.
        Deny "deny",
    }
}

impl LedgerRuling {
    /// Returns true if a person decides, since no rule does.
    #[must_use]
    pub fn is_for_people(self) -> bool {
        !matches!(self, Self::Allow | Self::Deny)
    }
}

ledger_words! {
    /// The channel through which a decision came.
    AnswerChannel {
        /// The terminal of `callgate up`.
        Terminal "terminal",
        /// A phone.
        Telegram "telegram",
        /// A viewer, such as the page.
        Viewer "viewer",
        /// A rule.
        Rule "rule",
    }
}

ledger_words! {
    /// What came of a press or a command.
    PressOutcome {
        /// It decided the question.
        Decided "decided",
        /// It picked one of the agent's answers.
        Picked "picked",
        /// It linked a chat.
        Paired "paired",
        /// It had no effect, because it does not fit the question.
        Nothing "nothing",
        /// It had no effect, because the word that confirms it was missing or wrong.
        Unconfirmed "unconfirmed",
        /// It had no effect, because it came before the question could be read.
        NotYet "not yet",
        /// It had no effect, because the question was over.
        Late "late",
        /// It had no effect, because whoever pressed may not answer.
        Stranger "stranger",
        /// It had no effect, because the code was wrong.
        WrongCode "wrong code",
        /// It had no effect, because no button of callgate was pressed.
        Forged "forged",
    }
}

ledger_words! {
    /// How a question ended.
    ClosedHow {
        /// Its asker got the answer.
        Answered "answered",
        /// It was answered at the agent's own prompt.
        Settled "settled",
        /// Its asker went away.
        Gone "gone",
    }
}

/// The links recorded in the chain: by entries of the kinds `paired` and `unpaired`, and by the
/// anchor of entries that were pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainedLinks {
    /// The valid links (`chat/ID`, `user/ID` or `viewer/HASH`), each with the name under which it
    /// was made.
    pub standing: BTreeMap<String, String>,
    /// Whether there has ever been a link.
    pub had_any: bool,
}

impl ChainedLinks {
    /// Applies an entry that makes or removes links.
    pub fn apply(&mut self, event: &LedgerEvent<'_>) {
        let (made, name) = match event {
            LedgerEvent::ChatPaired(paired) => (paired.links(), &paired.by),
            LedgerEvent::ViewerPaired(ViewerPaired { by, links, .. }) => {
                (links.clone().unwrap_or_default(), by)
            }
            LedgerEvent::LinkRemoved(LinkRemoved { link, .. }) => {
                self.standing.remove(&**link);
                return;
            }
            _ => return,
        };
        self.standing.extend(made.into_iter().map(|link| (link, name.to_string())));
        self.had_any = true;
    }
}

impl ChatPaired<'_> {
    /// Returns the links that were made. Early entries do not name them; they follow from the chat
    /// and the user.
    fn links(&self) -> Vec<String> {
        match (&self.links, self.chat, self.user) {
            (Some(links), ..) => links.clone(),
            (None, Some(chat), Some(user)) if chat == user => vec![format!("chat/{chat}")],
            (None, Some(chat), Some(user)) => vec![format!("chat/{chat}"), format!("user/{user}")],
            _ => Vec::new(),
        }
    }
}

/// What an entry says about a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerCall<'e> {
    /// The name of the tool.
    pub tool: &'e str,
    /// What it is to do, in one line.
    pub summary: &'e str,
    /// The folder.
    pub cwd: &'e str,
    /// The session or the conversation.
    pub session: &'e str,
    /// The agent's own name.
    pub agent: &'e str,
    /// The agent's permission mode.
    pub mode: Option<&'e str>,
    /// Whether it succeeded, if it has run.
    pub ok: Option<bool>,
    /// Why it runs or does not run, in the runtime.
    pub because: &'e str,
}

impl LedgerEvent<'_> {
    /// Returns what the entry says about a call, if it is about one.
    #[must_use]
    pub fn call(&self) -> Option<LedgerCall<'_>> {
        macro_rules! call {
            ($event:ident) => {
                LedgerCall {
                    tool: &$event.tool,
                    summary: &$event.summary,
                    cwd: &$event.cwd,
                    session: &$event.session,
                    agent: $event.agent.as_deref().unwrap_or_default(),
                    ..LedgerCall::default()
                }
            };
        }
        Some(match self {
            Self::QuestionAsked(asked) => {
                LedgerCall { mode: asked.mode.as_deref(), ..call!(asked) }
            }
            Self::CallChecked(call) => LedgerCall { mode: call.mode.as_deref(), ..call!(call) },
            Self::CallReported(call) => {
                LedgerCall { mode: call.mode.as_deref(), ok: call.ok, ..call!(call) }
            }
            Self::CallRan(call) => {
                LedgerCall { ok: call.ok, because: &call.because, ..call!(call) }
            }
            Self::CallRunning(call) => LedgerCall { because: &call.because, ..call!(call) },
            Self::CallRefused(call) => LedgerCall { because: &call.because, ..call!(call) },
            Self::RulesSaved(saved) => {
                LedgerCall { tool: &saved.tool, summary: &saved.summary, ..LedgerCall::default() }
            }
            _ => return None,
        })
    }
}

/// A question's request as far as it could be read: in an old entry, members may be missing.
#[derive(Debug, Clone, Default)]
pub struct RecordedRequest<'a> {
    /// The agent's name for the tool.
    pub tool_name: Cow<'a, str>,
    /// The input, masked.
    pub tool_input: Option<Json<'a>>,
    /// The folder that the agent works in.
    pub cwd: Cow<'a, str>,
    /// The agent's session.
    pub session_id: Cow<'a, str>,
    /// The agent's own name.
    pub agent: Cow<'a, str>,
    /// What the agent said last.
    pub last_words: Option<Cow<'a, str>>,
}

impl<'a> QuestionAsked<'a> {
    /// Returns the request, as far as it can be read.
    #[must_use]
    pub fn recorded_request(&self) -> RecordedRequest<'a> {
        let members = self.request.map(Json::members).unwrap_or_default();
        let text = |members: &Members<'a>, name: &str| members.string(name).unwrap_or_default();
        RecordedRequest {
            tool_name: text(&members, "tool_name"),
            tool_input: members.some("tool_input"),
            cwd: text(&members, "cwd"),
            session_id: text(&members, "session_id"),
            agent: text(&members, "agent"),
            last_words: members.some("context").and_then(|of| of.members().string("last_words")),
        }
    }
}

#[cfg(test)]
mod tests;
