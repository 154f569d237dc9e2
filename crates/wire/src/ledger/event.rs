//! The kinds of entries, with the members of each.

use std::borrow::Cow;

use super::field::LedgerField;
use super::{
    AnswerChannel, ChainedLinks, ClosedHow, EventShape, FieldShape, LedgerKind, LedgerRuling,
    PressOutcome,
};
use crate::approval::Decision;
use crate::raw::{Json, Members, quoted};

ledger_events! {
    /// A question was asked.
    Asked QuestionAsked {
        /// The agent's name for the tool.
        tool: Cow<'a, str>,
        /// What the tool does, in words.
        deed [optional]: Option<Cow<'a, str>>,
        /// What the tool is to do, in one line.
        summary: Cow<'a, str>,
        /// The folder that the agent works in.
        cwd: Cow<'a, str>,
        /// The agent's session.
        session: Cow<'a, str>,
        /// The agent's own name.
        agent: Option<Cow<'a, str>>,
        /// What the rules said.
        ruling: LedgerRuling,
        /// Which rule said so, and why.
        because: Option<Cow<'a, str>>,
        /// A keyed digest of the whole question, by which an asker that comes back is recognized.
        digest: Cow<'a, str>,
        /// When the question times out, in milliseconds since 1970.
        until_ms: Option<i64>,
        /// The request of the approval protocol, masked. Of an input over 65,536 bytes only the
        /// `beginning`, the `end` and the number of `bytes` are recorded.
        request: Option<Json<'a>>,
        /// The agent's permission mode.
        mode [optional]: Option<Cow<'a, str>>,
        /// `true` if something that is masked could be executed.
        hides_what_runs [optional]: Option<bool>,
        /// The question that people were shown, if the agent itself has blocked the call.
        question [optional]: Option<Cow<'a, str>>,
        /// A keyed digest of a blocked call, which an allow lets try again.
        retry [optional]: Option<Cow<'a, str>>,
    }
    /// The agent's last words came after its question.
    Said AgentSaid {
        /// The words.
        last_words: Cow<'a, str>,
    }
    /// A question could not be sent to a chat; without a chat, none can be reached any more.
    Unsent QuestionUnsent {
        /// The chat.
        chat [optional]: Option<i64>,
        /// Why not.
        why: Cow<'a, str>,
    }
    /// Somebody has pressed a button, written an answer, or sent the bot a command.
    Pressed PersonPress {
        /// Their name.
        by: Cow<'a, str>,
        /// Where they did.
        channel: Option<AnswerChannel>,
        /// The Telegram chat.
        chat: Option<i64>,
        /// The Telegram user.
        user: Option<i64>,
        /// The button, `words`, `edit`, or the command.
        action: Cow<'a, str>,
        /// What came of it.
        outcome: Option<PressOutcome>,
    }
    /// A question was decided.
    Decided QuestionDecided {
        /// The decision.
        decision: Option<Decision>,
        /// Who decided: a person, a rule with its reason, or `nobody`.
        by: Cow<'a, str>,
        /// The message for the agent.
        message: Option<Cow<'a, str>>,
        /// Which of the agent's offers is allowed from now on, counted from 0.
        offer: Option<usize>,
        /// The answers picked for each of the agent's questions, counted from 0.
        picks: Option<Vec<Vec<u8>>>,
        /// The words that answer the agent's question.
        words: Option<Cow<'a, str>>,
        /// The changed input, as JSON.
        edited: Option<Cow<'a, str>>,
        /// Whether the agent's turn ends.
        interrupt: bool,
        /// The answer in words.
        chosen [optional]: Option<Cow<'a, str>>,
    }
    /// The answer has reached its asker.
    Delivered QuestionDelivered {}
    /// After a restart of the desk, the asker has come back for its answer.
    Returned AskerReturned {}
    /// A question is over.
    Closed QuestionClosed {
        /// How it ended: with an answer of the desk, with one at the agent's own prompt, or without
        /// an asker.
        how: Option<ClosedHow>,
        /// What people are shown.
        text: Cow<'a, str>,
    }
    /// A call was decided before it ran, without asking anybody. It belongs to a question if that
    /// question's answer decided it.
    Checked CallChecked {
        /// The agent's name for the tool.
        tool: Cow<'a, str>,
        /// What the tool is to do, in one line.
        summary: Cow<'a, str>,
        /// The agent's session.
        session: Cow<'a, str>,
        /// The folder that the agent works in.
        cwd: Cow<'a, str>,
        /// The agent's own name.
        agent: Option<Cow<'a, str>>,
        /// The agent's permission mode.
        mode: Option<Cow<'a, str>>,
        /// The agent's id of the call.
        tool_use_id: Option<Cow<'a, str>>,
        /// The decision.
        decision: Option<Decision>,
        /// Which rule decided, and why.
        by: Cow<'a, str>,
    }
    /// The runtime is about to run a tool that changes something.
    Running CallRunning {
        /// The name of the tool.
        tool: Cow<'a, str>,
        /// The conversation.
        session: Cow<'a, str>,
        /// The folder that the runtime works in.
        cwd: Cow<'a, str>,
        /// `callgate`.
        agent: Option<Cow<'a, str>>,
        /// The model's id of the call.
        call: Cow<'a, str>,
        /// The arguments, masked and shortened.
        summary: Cow<'a, str>,
        /// Why it may run.
        because: Cow<'a, str>,
    }
    /// A tool of the runtime has run.
    Ran CallRan [with call] {
        /// The name of the tool.
        tool: Cow<'a, str>,
        /// The conversation.
        session: Cow<'a, str>,
        /// The folder that the runtime works in.
        cwd: Cow<'a, str>,
        /// `callgate`.
        agent: Option<Cow<'a, str>>,
        /// The model's id of the call.
        call: Cow<'a, str>,
        /// The arguments, masked and shortened.
        summary: Cow<'a, str>,
        /// Whether it succeeded.
        ok: Option<bool>,
        /// How long it took, in milliseconds.
        ms: u64,
        /// Why it was allowed to run.
        because: Cow<'a, str>,
    }
    /// An agent has reported that a tool has run.
    Ran CallReported {
        /// The agent's name for the tool.
        tool: Cow<'a, str>,
        /// What the tool did, in one line.
        summary: Cow<'a, str>,
        /// The agent's session.
        session: Cow<'a, str>,
        /// The folder that the agent works in.
        cwd: Cow<'a, str>,
        /// The agent's own name.
        agent: Option<Cow<'a, str>>,
        /// The agent's permission mode.
        mode: Option<Cow<'a, str>>,
        /// The agent's id of the call.
        tool_use_id: Option<Cow<'a, str>>,
        /// Whether it succeeded.
        ok: Option<bool>,
        /// The input, masked and without texts over 4 KiB, if no question has it.
        input [optional]: Option<Json<'a>>,
    }
    /// The runtime did not run a tool.
    Refused CallRefused [with tool] {
        /// The name of the tool.
        tool: Cow<'a, str>,
        /// The conversation.
        session: Cow<'a, str>,
        /// The folder that the runtime works in.
        cwd: Cow<'a, str>,
        /// `callgate`.
        agent: Option<Cow<'a, str>>,
        /// The model's id of the call.
        call: Cow<'a, str>,
        /// The arguments, masked and shortened.
        summary: Cow<'a, str>,
        /// Why not.
        because: Cow<'a, str>,
    }
    /// The desk did not accept a question or an answer.
    Refused QuestionRefused {
        /// Why not.
        why: Cow<'a, str>,
    }
    /// A code for linking was made. The code itself is not recorded.
    Code CodeMade {
        /// How long it is valid.
        seconds: u64,
    }
    /// A chat was linked.
    Paired ChatPaired [with chat] {
        /// The name of the person.
        by: Cow<'a, str>,
        /// `telegram`.
        channel: Option<AnswerChannel>,
        /// The Telegram chat.
        chat: Option<i64>,
        /// The Telegram user.
        user: Option<i64>,
        /// `pair`.
        action: Cow<'a, str>,
        /// `paired`.
        outcome: Option<PressOutcome>,
        /// The links: `chat/ID`, and `user/ID` in a group.
        links: Option<Vec<String>>,
    }
    /// A viewer was linked.
    Paired ViewerPaired {
        /// `viewer`.
        channel: Option<AnswerChannel>,
        /// The name of the viewer.
        by: Cow<'a, str>,
        /// The link: `viewer/HASH`, with the hash of its token.
        links: Option<Vec<String>>,
    }
    /// A link was removed.
    Unpaired LinkRemoved {
        /// The link.
        link: Cow<'a, str>,
        /// Who or what has removed it.
        by: Cow<'a, str>,
    }
    /// A host that drives an agent, and asks its user itself, was registered.
    Gated HostGated {
        /// Its process.
        process: u32,
    }
    /// Somebody has replaced the user's rules.
    Saved RulesSaved {
        /// Their name.
        by: Cow<'a, str>,
        /// Where they did.
        channel: Option<AnswerChannel>,
        /// `rules`.
        tool: Cow<'a, str>,
        /// What was done, in one line.
        summary: Cow<'a, str>,
        /// How many rules there are now.
        count: usize,
        /// The hash of their text.
        hash: Cow<'a, str>,
    }
    /// The desk was started.
    Started DeskStarted {
        /// The version of callgate.
        version: Cow<'a, str>,
        /// Its process.
        pid: u32,
    }
    /// Entries were removed from the beginning of the ledger.
    Anchor EntriesPruned {
        /// The number of the last entry that was removed.
        through: u64,
        /// Its hash, in hex, from which the chain continues.
        hash: Cow<'a, str>,
        /// How many entries were removed.
        count: u64,
        /// When the earliest of them was written, in milliseconds since 1970.
        from_ms: i64,
        /// When the latest of them was written.
        to_ms: i64,
        /// The links that were valid at that point: `standing`, an object of links with their
        /// names, and `had_any`, whether there has ever been one. Early anchors do not have it.
        links [optional]: Option<ChainedLinks>,
    }
}
