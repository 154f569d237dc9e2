//! The desk protocol: how a viewer (a page, a shell, a terminal) watches the ledger grow and
//! answers questions.
//!
//! Each line is one JSON object, in both directions, for as long as the viewer stays connected. It
//! sends [`DeskRequest`]s; the desk sends [`DeskMessage`]s; the normative text is
//! `docs/protocol/desk.md`. Entries of the ledger and a changed input are only relayed, so their
//! bytes stay unchanged.

mod answer;
mod call_card;
mod card;
mod history;
mod inbox;
mod message;
mod request;
mod rules;
mod segment;
mod session_view;
mod settings;
mod status;
#[cfg(test)]
mod tests;
mod todo_item;

pub use crate::hidden_text::HiddenText;
pub use crate::ledger::AnswerChannel;
pub use crate::unreadable::{Unreadable, UnreadableReason};
pub use answer::DeskAnswer;
pub use call_card::CallCard;
pub use card::{
    CardChoice, CardContent, CardGrants, CardOffer, CardPicker, ChangedLine, ContentChange,
    FileOperation, LineOperation, PatchedFile, QuestionCard,
};
pub use history::{
    AnswerTimeBucket, AnswerTimes, DecisionShares, DeskHistory, ExportFormat, ExportedPage,
    HistoryDecider, HistoryDecision, HistoryFilter, HistoryRow, HourFigures, LedgerFigures,
    MOST_HISTORY_ROWS, NamedFigures, VerifiedLedger,
};
pub use inbox::{AnswerNeeds, AskedRuling, DeskInbox, InboxRow, RiskKind, RiskNote};
pub(crate) use message::ENTRY;
pub use message::{DeskMessage, WatchedEntry};
pub(crate) use request::decode_secret;
pub use request::{DeskCommand, DeskRequest};
pub use rules::{
    BacktestReport, BeyondCall, ExplainQuery, ExplainedDecision, ProposalSource, ProposedRule,
    RuleDecision, RuleExplanation, RuleFileView, RuleMatch, RuleProblem, RuleProblemLevel,
    RuleView, RulesView, SuggestedRule, SuggestedRules, TurnedCall, TurnedCount,
};
pub use segment::{CommandSegment, SegmentStyle};
pub use session_view::SessionView;
pub use settings::{SettingAccess, SettingView, SettingsView};
pub use status::{
    ConnectedRelay, DeskReach, DeskStatus, NamedLink, PhoneStatus, RemoteState, RemoteView,
    TeamLineView, ViewerCount,
};
pub use todo_item::{TodoItem, TodoStatus};

/// The longest line, without its newline, that a viewer may send.
pub const MAX_LINE: usize = 1024 * 1024;

/// The longest line, without its newline, that the desk sends: the longest entry fits.
pub const MAX_MESSAGE: usize = 17 * 1024 * 1024;

/// The longest id of a request, in bytes.
pub const LONGEST_ID: usize = 128;

/// The longest name that a viewer may give itself, in bytes.
pub const LONGEST_NAME: usize = 256;

/// The longest code or token that is accepted, in bytes.
pub const LONGEST_SECRET: usize = 128;

/// The longest web origin of a page, in bytes.
pub const LONGEST_ORIGIN: usize = 128;

/// The longest link, in bytes: that of a page has its origin.
pub const LONGEST_LINK: usize = 256;

/// The longest typed word that confirms an answer, in bytes.
pub const LONGEST_CONFIRM: usize = 256;

/// The longest value of a setting that a viewer may send, in bytes.
pub const LONGEST_SETTING: usize = 4096;

/// The shortest value of a gate, in bytes: nobody finds it by trying.
pub const SHORTEST_GATE: usize = 32;
