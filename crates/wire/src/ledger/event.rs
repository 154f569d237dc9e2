//! The kinds of entries and their bodies.

use serde_json::value::RawValue;

use super::declare::{LedgerMember, body_object, non_null_json, take_member};
use super::{ChainedLinks, MemberKind, SharedMember};
use crate::approval::{AllowDemands, Decision};
use crate::raw::Members;

ledger_kinds! {
    Asked "asked": Asked(QuestionAsked);
    Said "said": Said(AgentSaid);
    Unsent "unsent": Unsent(QuestionUnsent);
    Pressed "pressed": Pressed(PersonPress);
    Decided "decided": Decided(QuestionDecided);
    Delivered "delivered": Delivered(NoMembers);
    Returned "returned": Returned(NoMembers);
    Closed "closed": Closed(QuestionClosed);
    Checked "checked": Checked(AgentCall);
    Running "running": Running(RuntimeCall);
    Ran "ran": RuntimeRan(RuntimeCall) with call, Ran(AgentCall);
    Refused "refused": RuntimeRefused(RuntimeCall) with tool, Refused(QuestionRefused);
    Code "code": Code(CodeMade);
    Paired "paired": ChatPaired(PersonPress) with chat, ViewerPaired(ViewerPaired);
    Unpaired "unpaired": Unpaired(LinkRemoved);
    Invited "invited": Invited(MemberInvited);
    Joined "joined": Joined(MemberJoined);
    Revoked "revoked": Revoked(MemberRevoked);
    Mirrored "mirrored": Mirrored(MemberMirrored);
    Gated "gated": Gated(HostGated);
    Saved "saved": Saved(RulesSaved);
    Started "started": Started(DeskStarted);
    Anchor "anchor": Anchor(EntriesPruned);
}

// A field that is added later is `optional`: entries of earlier versions would otherwise be written
// again with a `null` that they never had.
ledger_bodies! {
    /// A question that was asked.
    QuestionAsked {
        tool: String,
        deed optional: Option<String>,
        summary: String,
        cwd: String,
        session: String,
        agent: Option<String>,
        ruling: LedgerRuling,
        because: Option<String>,
        digest: String,
        until_ms: Option<i64>,
        request: Option<Box<RawValue>>,
        mode optional: Option<String>,
        hides_what_runs optional: Option<bool>,
        question optional: Option<String>,
        retry optional: Option<String>,
        machine optional: Option<String>,
        demands optional: Option<AllowDemands>,
    }
    /// The agent's last words, which came after its question.
    AgentSaid {
        last_words: String,
    }
    /// A question that could not be sent to a chat.
    QuestionUnsent {
        chat optional: Option<i64>,
        why: String,
    }
    /// A press of a button, an answer in words, or a command to the bot, which may make links.
    PersonPress {
        by: String,
        channel: Option<AnswerChannel>,
        chat: Option<i64>,
        user: Option<i64>,
        action: String,
        outcome: Option<PressOutcome>,
        links optional: Option<Vec<String>>,
        person optional: Option<String>,
    }
    /// The decision about a question.
    QuestionDecided {
        decision: Option<Decision>,
        by: String,
        message: Option<String>,
        offer: Option<usize>,
        picks: Option<Vec<Vec<u8>>>,
        words: Option<String>,
        edited: Option<String>,
        interrupt: bool,
        chosen optional: Option<String>,
    }
    /// An event about which nothing more is recorded.
    NoMembers {}
    /// The end of a question.
    QuestionClosed {
        how: Option<ClosedHow>,
        text: String,
    }
    /// A call of an agent, decided without asking anybody or reported after it has run.
    AgentCall {
        tool: String,
        summary: String,
        session: String,
        cwd: String,
        agent: Option<String>,
        mode: Option<String>,
        tool_use_id: Option<String>,
        decision optional: Option<Decision>,
        by optional: Option<String>,
        ok optional: Option<bool>,
        input optional: Option<Box<RawValue>>,
    }
    /// A call in the runtime: about to run, run or refused.
    RuntimeCall {
        tool: String,
        session: String,
        cwd: String,
        agent: Option<String>,
        call: String,
        summary: String,
        ok optional: Option<bool>,
        ms optional: Option<u64>,
        because: String,
    }
    /// A question or an answer that the desk did not accept.
    QuestionRefused {
        why: String,
    }
    /// A code for linking.
    CodeMade {
        seconds: u64,
    }
    /// A viewer that was linked.
    ViewerPaired {
        channel: Option<AnswerChannel>,
        by: String,
        links: Option<Vec<String>>,
        person optional: Option<String>,
    }
    /// A link that was removed.
    LinkRemoved {
        link: String,
        by: String,
    }
    /// An invitation to a team.
    MemberInvited {
        name: String,
        member: Option<MemberKind>,
        owner optional: Option<String>,
        secret: String,
        until_ms: Option<i64>,
        by: String,
    }
    /// A member that has used its invitation.
    MemberJoined {
        name: String,
        secret: String,
        token optional: Option<String>,
    }
    /// A member that was removed, or an invitation that was taken back.
    MemberRevoked {
        name: String,
        by: String,
    }
    /// A member as the team's database has it now; `None` if it was removed. Each desk records it
    /// in its own ledger, so that whoever reads members from the chain needs no database.
    MemberMirrored {
        name: String,
        member: Option<SharedMember>,
        by: String,
    }
    /// A host that drives an agent and asks its user itself.
    HostGated {
        process: u32,
    }
    /// A replacement of the user's rules.
    RulesSaved {
        by: String,
        channel: Option<AnswerChannel>,
        tool: String,
        summary: String,
        count: usize,
        hash: String,
    }
    /// The desk has started.
    DeskStarted {
        version: String,
        pid: u32,
    }
    /// A removal of entries from the beginning of the ledger, from which the chain continues.
    #[derive(PartialEq, Eq)]
    EntriesPruned {
        through: u64,
        hash: String,
        count: u64,
        from_ms: i64,
        to_ms: i64,
        links optional: Option<ChainedLinks>,
    }
}

words! {
    /// What the rules said about a question.
    #[derive(Default)]
    pub enum LedgerRuling {
        #[default]
        Ask "ask",
        Guard "guard",
        Confirm "confirm",
        Allow "allow",
        Deny "deny",
    }
    /// The channel through which a decision came.
    pub enum AnswerChannel {
        Terminal "terminal",
        Telegram "telegram",
        Viewer "viewer",
        Rule "rule",
    }
    /// What came of a press or a command.
    pub enum PressOutcome {
        Decided "decided",
        Picked "picked",
        Paired "paired",
        Nothing "nothing",
        Unconfirmed "unconfirmed",
        OneOfTwo "one of two",
        Barred "barred",
        NotYet "not yet",
        Late "late",
        Stranger "stranger",
        WrongCode "wrong code",
        Forged "forged",
    }
    /// How a question ended.
    pub enum ClosedHow {
        Answered "answered",
        Settled "settled",
        Gone "gone",
    }
}
