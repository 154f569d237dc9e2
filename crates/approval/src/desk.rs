//! The desk: the only judge of what an agent may do.
//!
//! A pure state machine. `Desk::handle` takes the time and one `DeskInput` and returns a
//! `DeskStep`: what has to be written to the ledger, and what may be done once it is written. So
//! nothing is shown or answered before it is recorded, and after a crash the desk is restored from
//! the ledger (`Desk::restore`).
//!
//! - A question is answered at most once, by whoever is first, and only to the asker that brought
//!   it. After a restart only an asker that comes back with the same question (the same keyed
//!   digest) is given what was decided meanwhile.
//! - "Allowed" is shown only after the answer has reached a live asker.
//! - No answer never means allow.

mod answer;
mod asked;
mod authority;
mod calls;
mod care;
mod change;
mod checked;
mod commands;
mod confirmed;
mod demands;
mod digest;
mod gates;
mod input;
mod links;
mod output;
mod pairing_codes;
mod past;
mod pressed;
mod question;
mod quiet;
mod reaching;
mod record;
mod recorded_question;
mod rehearsal;
mod relayed;
mod replies;
mod restore;
mod room;
mod roster;
mod said;
mod settings;
mod settled;
#[cfg(test)]
mod tests;
mod twins;
mod unchecked_runs;
mod unrecorded;
mod waits;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::{ApprovalResponse, Decision, RequestId, RequestKind};
use callgate_wire::ledger::TeamRoster;

use crate::answer_roles::AnswerRoles;
use crate::card::Card;
use crate::channel::ChannelReport;

pub use authority::{Authority, RELAY_ORIGIN, TEAM_ORIGIN};
pub(crate) use authority::{is_relay, is_team};
pub use checked::find_prompter;
pub use input::DeferReason;
pub(crate) use input::DeskInput;
pub(crate) use output::{DeskOutput, DeskStep};
pub use pairing_codes::{CODE_LIFETIME, PAGE_CODE_LIFETIME};
pub(crate) use question::question_patience;
pub use question::{Ruling, Unattended};
pub(crate) use record::input_key;
pub(crate) use recorded_question::RecordedQuestion;
pub use settings::DeskSettings;
pub(crate) use unchecked_runs::LONGEST_CALL;
pub(crate) use unrecorded::dropped_event;

use calls::CallMemory;
use care::{PressCare, full_key};
use change::WantedChange;
use change::WantedCode;
use gates::HostGates;
use pairing_codes::PairingCodes;
use past::ClosedQuestions;
use question::PendingQuestion;
use quiet::QuietLines;
use replies::ExpectedReplies;
use twins::TwinCalls;
use unchecked_runs::SeenChecks;
use waits::LateSessions;

/// The most questions that may be open at once; further ones are answered `timeout`.
pub(crate) const MOST_OPEN: usize = 16_384;
/// The most bytes that the requests of all open questions may have together.
pub(crate) const MOST_BYTES: usize = 256 * 1024 * 1024;
/// The longest message that is passed on to an agent, in characters.
const LONGEST_WORDS: usize = 8_192;

/// A moment on two clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeskTime {
    /// The monotonic clock: the time since the process started.
    pub(crate) mono: Duration,
    /// Milliseconds since 1970.
    pub(crate) wall_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AskerId(pub(crate) u64);

/// The desk: open questions, and everything that decides about them.
#[derive(Debug)]
pub(crate) struct Desk {
    settings: DeskSettings,
    /// Returns true if the channel to phones leaves out a part of what would be done. Passed in,
    /// because the desk knows no channel.
    cuts_on_phones: fn(&Card) -> bool,
    authority: Authority,
    /// Who may answer according to the settings alone. Removing a link takes nothing from them.
    given: Authority,
    /// The links, `chat/ID`, `user/ID` or `viewer/HASH`, each with its name.
    links: BTreeMap<String, String>,
    roster: TeamRoster,
    /// What they may answer; everything if there are no roles.
    roles: Option<Arc<dyn AnswerRoles>>,
    /// Changes of the links that wait for an answer, by their questions.
    changes: HashMap<RequestId, WantedChange>,
    own_questions: u64,
    rehearsal: Option<RequestId>,
    /// What a single press does not decide.
    care: PressCare,
    replies: ExpectedReplies,
    gates: HostGates,
    /// The processes and ancestors of those askers for which they matter.
    lineages: HashMap<AskerId, Vec<u32>>,
    open: HashMap<RequestId, PendingQuestion>,
    /// The next moment at which each open question needs attention. A set keeps them in order, so
    /// that one can be moved without a look at thousands of others.
    alarms: BTreeSet<(Duration, RequestId)>,
    askers: HashMap<AskerId, RequestId>,
    /// [`MOST_OPEN`], or less in a test.
    most_open: usize,
    bytes: usize,
    past: ClosedQuestions,
    lately: LateSessions,
    /// What was decided lately about calls, for later requests about the same calls.
    calls: CallMemory,
    twins: TwinCalls,
    /// The checks that came, by which runs without one are recognized.
    seen_checks: SeenChecks,
    /// Limits the lines that the terminal shows about calls that ran without a question.
    quiet: QuietLines,
    viewers: usize,
    /// Until when the last viewer that left may come back, on the monotonic clock.
    viewers_back_by: Option<Duration>,
    codes: PairingCodes,
    /// Muted chats, each with the end of its silence on the wall clock.
    muted: HashMap<i64, i64>,
    strangers: authority::StrangerQuota,
}

impl Desk {
    /// Makes a desk without questions. `cuts_on_phones` says for the channel to phones whether it
    /// leaves out a part of what would be done.
    pub(crate) fn new(
        settings: DeskSettings,
        authority: Authority,
        cuts_on_phones: fn(&Card) -> bool,
    ) -> Self {
        Self {
            settings,
            cuts_on_phones,
            given: authority.clone(),
            authority,
            links: BTreeMap::new(),
            roster: TeamRoster::default(),
            roles: None,
            changes: HashMap::new(),
            own_questions: 0,
            rehearsal: None,
            care: PressCare::default(),
            replies: ExpectedReplies::default(),
            gates: HostGates::default(),
            lineages: HashMap::new(),
            open: HashMap::new(),
            alarms: BTreeSet::new(),
            askers: HashMap::new(),
            most_open: MOST_OPEN,
            bytes: 0,
            past: ClosedQuestions::default(),
            lately: LateSessions::default(),
            calls: CallMemory::default(),
            twins: TwinCalls::default(),
            seen_checks: SeenChecks::default(),
            quiet: QuietLines::default(),
            viewers: 0,
            viewers_back_by: None,
            codes: PairingCodes::default(),
            muted: HashMap::new(),
            strangers: authority::StrangerQuota::default(),
        }
    }

    pub(crate) fn with_roles(self, roles: Option<Arc<dyn AnswerRoles>>) -> Self {
        Self { roles, ..self }
    }

    /// Handles one input. The records of the returned step must be committed, all of them, before
    /// any of its outputs is carried out.
    pub(crate) fn handle(&mut self, now: DeskTime, input: DeskInput) -> DeskStep {
        let mut step = DeskStep { now, ..DeskStep::default() };
        match input {
            DeskInput::From { asker, lineage } => drop(self.lineages.insert(asker, lineage)),
            DeskInput::Asked { asker, request, ruling, is_replay } => {
                let is_relayed = request.machine.is_some();
                self.see_check(now.mono, &request);
                if self.has_other_gate(asker, &request, &ruling) {
                    // Its host asks, so nobody decides here.
                    let response = ApprovalResponse::new(request.request_id, Decision::None);
                    step.outputs.push(DeskOutput::Answer(asker, response));
                } else if request.kind == RequestKind::Check && !is_relayed {
                    self.handle_check(&mut step, asker, request, ruling, is_replay);
                } else {
                    self.handle_question(&mut step, asker, request, ruling, is_replay);
                }
                self.forget_lineage(asker);
            }
            DeskInput::Unruled { asker, request, why } => {
                self.see_check(now.mono, &request);
                self.handle_unruled(&mut step, asker, request, why);
                self.forget_lineage(asker);
            }
            DeskInput::Said { asker, last_words } => {
                self.handle_last_words(&mut step, asker, &last_words);
            }
            DeskInput::Told(request) => self.handle_report(&mut step, &request),
            DeskInput::Gone(asker) | DeskInput::Lost(asker) => {
                self.handle_gone_asker(&mut step, asker);
            }
            DeskInput::Withdrawn { asker, text } => self.withdraw_question(&mut step, asker, &text),
            DeskInput::Synced { machine, open } => self.withdraw_left(&mut step, &machine, &open),
            DeskInput::Answered { who, question, answer, reply_to } => {
                self.handle_relayed_answer(&mut step, &who, &question, answer, &reply_to);
            }
            DeskInput::Deferred { asker, reason } => self.defer_answer(&mut step, asker, reason),
            DeskInput::TeamAnswered { asker, answer } => {
                self.take_team_answer(&mut step, asker, answer);
            }
            DeskInput::TeamAllowed { asker, first } => {
                self.take_team_allow(&mut step, asker, first);
            }
            DeskInput::Delivered(asker) => self.handle_delivered(&mut step, asker),
            DeskInput::News(news) => self.handle_news(&mut step, news),
            DeskInput::Viewers(count) => self.set_viewer_count(step.now, count),
            DeskInput::NewCode { code, id, who, is_for_page, is_first, reply_to } => {
                let who = self.named_person(who);
                let wanted = WantedCode { code, is_for_page, member: who.member.clone() };
                self.new_code(&mut step, wanted, &id, &who, is_first, reply_to);
            }
            DeskInput::PageServed { origins } => self.page_served(&mut step, &origins),
            DeskInput::PairViewer { code, name, token_hash, reply_to } => {
                self.pair_viewer(&mut step, &code, &name, &token_hash, &reply_to);
            }
            DeskInput::Unlock { token_hash, reply_to } => {
                self.handle_unlock(&mut step, &token_hash, &reply_to);
            }
            DeskInput::Unpair { link, id, who, reply_to } => {
                self.unpair(&mut step, &link, &id, &self.named_person(who), reply_to);
            }
            DeskInput::Gate { value, who, reply_to } => {
                self.register_gate(&mut step, value, &who, &reply_to);
            }
            DeskInput::Try { id, who, reply_to } => self.rehearse(&mut step, &id, &who, &reply_to),
            DeskInput::RulesSaved { who, saved } => {
                step.record_event(None, &record::saved_event(&self.named_person(who), &saved));
            }
            DeskInput::LinksRead(links) => self.take_up_links(&mut step, links),
            DeskInput::TeamLine { token_hash } => self.set_team_line(&mut step, token_hash),
            DeskInput::ViewerLeft(viewer) => self.viewer_left(&mut step, viewer),
            DeskInput::Tick | DeskInput::ReadLinks => {}
            DeskInput::Unrecorded(id) => self.drop_unrecorded(&mut step, &id),
            DeskInput::LedgerFailed { unrecorded } => self.ledger_failed(&mut step, &unrecorded),
        }
        // After the input: an answer that arrives together with its deadline counts.
        self.handle_due_alarms(&mut step);
        self.tell_of_more_runs(&mut step);
        step
    }

    /// Returns when the desk has to be called even if nothing happens.
    pub(crate) fn next_alarm(&self) -> Option<Duration> {
        let question = self.alarms.first().map(|(at, _)| *at);
        question.into_iter().chain(self.quiet.due()).min()
    }

    pub(crate) fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Returns true if the desk remembers a question of this id, open or closed.
    pub(crate) fn knows(&self, id: &RequestId) -> bool {
        self.open.contains_key(id) || self.past.by_id.contains_key(id)
    }

    /// Forgets the process of an asker that does not wait. Nothing else would: most checks are
    /// answered at once and have no question that is closed later.
    fn forget_lineage(&mut self, asker: AskerId) {
        if !self.askers.contains_key(&asker) {
            self.lineages.remove(&asker);
        }
    }

    fn handle_news(&mut self, step: &mut DeskStep, news: ChannelReport) {
        match news {
            ChannelReport::Shown(copy) => self.handle_shown_copy(step, copy),
            ChannelReport::ShownInFull { question, chat } if self.open.contains_key(&question) => {
                step.keep_value(full_key(&question, chat), String::new());
                self.care.in_full.insert((question, chat));
            }
            // The question may have ended while its pages were being sent.
            ChannelReport::ShownInFull { .. } => {}
            ChannelReport::Unsendable { question, chat, why } => {
                self.handle_unsendable(step, &question, chat, &why);
            }
            ChannelReport::Pressed { who, question, press, confirm, reply_to, copy } => {
                // By the links in the chain, and not by a name that somebody has chosen.
                let who = self.named_person(who);
                // Only a press of somebody who may answer is believed about copies.
                if let Some(copy) = copy.filter(|_| self.authority.allows(&who)) {
                    self.pressed_on(step, copy);
                }
                self.handle_press(step, &who, &question, press, confirm, &reply_to);
            }
            ChannelReport::Forged { who, reply_to } => {
                self.handle_forged_press(step, &self.named_person(who), &reply_to);
            }
            ChannelReport::Command { who, name, rest, reply_to } => {
                let who = self.named_person(who);
                self.handle_command(step, &who, &name, &rest, &reply_to);
            }
            ChannelReport::Wrote { who, text, reply_to } => {
                self.handle_words(step, &self.named_person(who), text, &reply_to);
            }
            ChannelReport::Broken { why } => self.phones_broken(step, &why),
            ChannelReport::Works => self.phones_work(step.now),
        }
    }

    fn handle_due_alarms(&mut self, step: &mut DeskStep) {
        while let Some((at, id)) = self.alarms.first().cloned() {
            if at > step.now.mono {
                return;
            }
            // First, because the alarm of a question that is gone would otherwise never leave this
            // loop.
            self.alarms.remove(&(at, id.clone()));
            self.handle_alarm(step, &id);
        }
    }

    /// Updates a question's alarm after something about it has changed.
    fn set_alarm(&mut self, id: &RequestId) {
        let Some(open) = self.open.get_mut(id) else { return };
        let next = open.next_moment();
        if let Some(old) = std::mem::replace(&mut open.alarm, next) {
            self.alarms.remove(&(old, id.clone()));
        }
        if let Some(next) = next {
            self.alarms.insert((next, id.clone()));
        }
    }
}
