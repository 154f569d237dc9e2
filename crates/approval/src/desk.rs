//! The desk: the only judge of what an agent may do.
//!
//! A pure state machine. [`Desk::handle`] takes the time and one [`Input`] and gives a [`Step`]:
//! what has to be written to the ledger, and what may be done once it is written, in that order.
//! So nothing is shown that was not registered, nothing is answered that was not recorded, and
//! whatever a process that is killed had promised is found again in the ledger ([`Desk::restore`]).
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
mod digest;
mod gates;
mod links;
mod output;
mod past;
mod pressed;
mod question;
mod quiet;
mod record;
mod restore;
mod settled;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use callgate_wire::approval::{Kind, Request, RequestId};

use crate::channel::{Doing, News, Who};

pub(crate) use asked::patience;
pub use authority::Authority;
pub use checked::asks_of;
pub use commands::{CODE_LIFETIME, WRONG_CODES};
pub use output::{Output, Step};
pub use question::{Ruling, Unattended};

use calls::CallMemory;
use care::Care;
use change::Wanted;
use commands::Codes;
use gates::Gates;
use past::Past;
use question::Open;
use quiet::QuietLines;

/// The most questions that may be open at once; one more is answered `timeout`.
pub const MOST_OPEN: usize = 16_384;
/// The most bytes that the requests of open questions may hold together.
pub const MOST_BYTES: usize = 256 * 1024 * 1024;
/// The longest reply that is passed on to an agent, in characters.
pub const LONGEST_WORDS: usize = 8_192;

/// A moment, by a clock that never jumps and by the one on the wall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Now {
    /// Since some fixed moment of this process.
    pub mono: Duration,
    /// Milliseconds since 1970.
    pub wall_ms: i64,
}

/// What holds for every question.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a question waits for its answer.
    pub timeout: Duration,
    /// How long an asker has to come back after the desk was restarted.
    pub grace: Duration,
    /// How long the terminal and the viewers have the first chance before phones are asked.
    pub phone_after: Duration,
    /// Whether chats and the terminal hear when an agent has finished a turn, and of its
    /// notifications.
    pub notify_on_stop: bool,
    /// Whether the desk has a terminal of its own.
    pub terminal: bool,
    /// Whether messages can be sent to phones.
    pub phones: bool,
    /// What holds for calls that no rule names in modes that ask nobody.
    pub unattended: Unattended,
    /// The key of the digests.
    pub key: [u8; 32],
}

/// Names the connection that brought a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskerId(pub u64);

/// What happens to the desk.
#[derive(Debug)]
pub enum Input {
    /// An asker brought a question, or wants a call checked.
    Asked {
        /// Who waits for the answer.
        asker: AskerId,
        /// The question.
        request: Request,
        /// What the rules say about it.
        ruling: Ruling,
        /// Whether the ledger has a question of this id that is over.
        is_replay: bool,
    },
    /// An asker brought a question about which the rules have not decided.
    Unruled {
        /// Who waits for the answer.
        asker: AskerId,
        /// The question.
        request: Request,
        /// Why they have not, in words for a person.
        why: String,
    },
    /// Which process an asker is, before it asks.
    From {
        /// The asker.
        asker: AskerId,
        /// The process, and if it says that its host is registered, those that it descends from.
        lineage: Vec<u32>,
    },
    /// A request that gets no answer: something has happened to an agent.
    Told(Request),
    /// An asker hung up before it had an answer.
    Gone(AskerId),
    /// An asker has read its answer.
    Delivered(AskerId),
    /// An asker hung up without having read its answer.
    Lost(AskerId),
    /// Something happened in a channel.
    News(News),
    /// So many viewers that may press are connected.
    Viewers(usize),
    /// A viewer wants a code with which a chat or a viewer can be linked.
    NewCode {
        /// The code; it comes from outside because a pure machine has no chance.
        code: String,
        /// Names the question that this becomes, if it becomes one.
        id: RequestId,
        /// Who wants it.
        who: Who,
        /// Whether the ledger has never had a link.
        is_first: bool,
        /// By what to tell them.
        doing: Doing,
    },
    /// A viewer gives a code and wants to be paired; the hash is of the token it will be given.
    PairViewer {
        /// The code.
        code: String,
        /// The viewer's name for itself.
        name: String,
        /// The hash of its token, in hex.
        token_hash: String,
        /// By what to tell it.
        doing: Doing,
    },
    /// A viewer shows a token and wants to know whether it may press.
    Unlock {
        /// The hash of its token, in hex.
        token_hash: String,
        /// By what to tell it.
        doing: Doing,
    },
    /// A viewer wants that somebody who was linked with a code may not answer any more.
    Unpair {
        /// Which link: `chat/ID`, `user/ID` or `viewer/HASH`.
        link: String,
        /// Names the question that this becomes, if it becomes one.
        id: RequestId,
        /// Who wants it.
        who: Who,
        /// By what to tell whoever wants it so.
        doing: Doing,
    },
    /// A host registers a value: whoever asks with it is asked about by the host.
    Gate {
        /// The value.
        value: String,
        /// Who registers it.
        who: Who,
        /// By what to tell them.
        doing: Doing,
    },
    /// A viewer has gone, and with it whatever it waited for.
    ViewerLeft(u64),
    /// Time has passed.
    Tick,
    /// What was to be recorded could not be written: nothing of it may take effect.
    LedgerFailed,
}

/// The desk.
#[derive(Debug)]
pub struct Desk {
    settings: Settings,
    authority: Authority,
    /// Who may answer by the settings alone.
    given: Authority,
    /// Who was linked with a code, `chat/ID`, `user/ID` or `viewer/HASH`, each with its name.
    links: BTreeMap<String, String>,
    /// What happens to the links when somebody says yes, by the question that asks for it.
    changes: HashMap<RequestId, Wanted>,
    /// How many such questions there have been.
    change_count: u64,
    /// What is not taken from a single press.
    care: Care,
    /// The values that hosts have registered.
    gates: Gates,
    /// The processes of askers for whom it matters, each with those that it descends from.
    lineages: HashMap<AskerId, Vec<u32>>,
    open: HashMap<RequestId, Open>,
    /// The next moment at which each open question needs attention.
    alarms: BTreeSet<(Duration, RequestId)>,
    askers: HashMap<AskerId, RequestId>,
    /// [`MOST_OPEN`], or less in a test.
    most_open: usize,
    bytes: usize,
    past: Past,
    /// What was decided about calls of which more may be heard.
    calls: CallMemory,
    /// The lines about what ran unasked that the terminal shows.
    quiet: QuietLines,
    viewers: usize,
    codes: Codes,
    /// Chats that want no questions, and until when by the wall.
    muted: HashMap<i64, i64>,
    /// How many more presses of strangers go into the ledger before some time has passed.
    strangers: authority::Patience,
}

impl Desk {
    /// A desk with nothing on it.
    #[must_use]
    pub fn new(settings: Settings, authority: Authority) -> Self {
        Self {
            settings,
            given: authority.clone(),
            authority,
            links: BTreeMap::new(),
            changes: HashMap::new(),
            change_count: 0,
            care: Care::default(),
            gates: Gates::default(),
            lineages: HashMap::new(),
            open: HashMap::new(),
            alarms: BTreeSet::new(),
            askers: HashMap::new(),
            most_open: MOST_OPEN,
            bytes: 0,
            past: Past::default(),
            calls: CallMemory::default(),
            quiet: QuietLines::default(),
            viewers: 0,
            codes: Codes::default(),
            muted: HashMap::new(),
            strangers: authority::Patience::default(),
        }
    }

    /// Takes one input. What it gives must be recorded as a whole before any of it is done.
    pub fn handle(&mut self, now: Now, input: Input) -> Step {
        let mut step = Step { now, ..Step::default() };
        match input {
            Input::From { asker, lineage } => drop(self.lineages.insert(asker, lineage)),
            Input::Asked { asker, request, ruling, is_replay } => {
                if self.has_other_gate(asker, &request, &ruling) {
                    gates::pass_by(&mut step, asker, request.request_id);
                } else if request.kind == Kind::Check {
                    self.checked(&mut step, asker, request, ruling, is_replay);
                } else {
                    self.asked(&mut step, asker, request, ruling, is_replay);
                }
                if !self.askers.contains_key(&asker) {
                    self.lineages.remove(&asker);
                }
            }
            Input::Unruled { asker, request, why } => {
                self.unruled(&mut step, asker, request, why);
                if !self.askers.contains_key(&asker) {
                    self.lineages.remove(&asker);
                }
            }
            Input::Told(request) => self.told(&mut step, &request),
            Input::Gone(asker) => self.gone(&mut step, asker),
            Input::Delivered(asker) => self.delivered(&mut step, asker),
            Input::Lost(asker) => self.lost(&mut step, asker),
            Input::News(news) => self.news(&mut step, news),
            Input::Viewers(count) => self.viewers(&mut step, count),
            Input::NewCode { code, id, who, is_first, doing } => {
                self.new_code(&mut step, code, &id, &who, is_first, doing);
            }
            Input::PairViewer { code, name, token_hash, doing } => {
                self.pair_viewer(&mut step, &code, &name, &token_hash, &doing);
            }
            Input::Unlock { token_hash, doing } => self.unlock(&mut step, &token_hash, &doing),
            Input::Unpair { link, id, who, doing } => {
                self.unpair(&mut step, &link, &id, &who, doing);
            }
            Input::Gate { value, who, doing } => self.gate(&mut step, value, &who, &doing),
            Input::ViewerLeft(viewer) => self.viewer_left(&mut step, viewer),
            Input::Tick => {}
            Input::LedgerFailed => self.ledger_failed(&mut step),
        }
        self.ring(&mut step);
        self.tell_of_more_runs(&mut step);
        step
    }

    /// When time alone will change something.
    #[must_use]
    pub fn next_alarm(&self) -> Option<Duration> {
        let question = self.alarms.first().map(|(at, _)| *at);
        question.into_iter().chain(self.quiet.due()).min()
    }

    /// How many questions are open.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Whether the desk itself remembers a question of this id, open or over.
    #[must_use]
    pub fn knows(&self, id: &RequestId) -> bool {
        self.open.contains_key(id) || self.past.get(id).is_some()
    }

    fn news(&mut self, step: &mut Step, news: News) {
        match news {
            News::Shown(copy) => self.shown(step, copy),
            News::ShownInFull { question, chat } if self.open.contains_key(&question) => {
                self.care.shown_in_full(question, chat);
            }
            News::ShownInFull { .. } => {}
            News::Unsendable { question, chat, why } => {
                self.unsendable(step, &question, chat, &why);
            }
            News::Pressed { who, question, press, doing, copy } => {
                // Only a press of somebody who may answer tells where there are copies.
                if let Some(copy) = copy.filter(|_| self.authority.allows(&who)) {
                    self.pressed_on(step, copy);
                }
                self.pressed(step, &who, &question, press, &doing);
            }
            News::Forged { who, doing } => self.forged(step, &who, &doing),
            News::Command { who, name, rest, doing } => {
                self.command(step, &who, &name, &rest, &doing);
            }
            News::Broken { why } => self.phones_broken(step, &why),
        }
    }

    /// Deals with every question whose moment has come.
    fn ring(&mut self, step: &mut Step) {
        while let Some((at, id)) = self.alarms.first().cloned() {
            if at > step.now.mono {
                return;
            }
            self.alarms.remove(&(at, id.clone()));
            self.woken(step, &id);
        }
    }

    /// Sets the question's alarm anew after something about it has changed.
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
