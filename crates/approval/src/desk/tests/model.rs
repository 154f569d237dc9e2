//! The world around the desk, in which everything may happen in any order: hooks that ask, die
//! and come back, presses that arrive before the message was sent, and a daemon that is killed
//! between any two things it does, above all between the ledger and the answer. Several requests
//! are about the same call: its check, the question for permission, the agent's report that it has
//! blocked it.
//!
//! Each seed plays one history and checks what must hold in all of them. The same checks catch
//! the desks of `naive.rs`, so they can see.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use callgate_wire::approval::{
    Action, ApprovalRequest, ApprovalResponse, Decision, Press, RequestId,
};
use serde_json::json;

use super::super::question::Occasion;
use super::super::{AskerId, Desk, DeskInput, DeskOutput, Now, Ruling};
use super::naive::{Boasts, Forgets, Generous, Hasty, Judge, ShowsFirst};
use super::{Ledger, ada, request_of, settings, stranger};
use crate::channel::{ChannelOrder, MarkState, News, QuestionCopy, ReplyTo};

const HISTORIES: u64 = 500;
const EVENTS: usize = 150;

#[test]
fn no_history_loses_a_decision_or_lets_anything_through() {
    for seed in 0..HISTORIES {
        if let Err(why) = play::<Desk>(seed) {
            panic!("history {seed}: {why}");
        }
    }
}

#[test]
fn the_model_sees_the_mistakes_of_others() {
    let caught = |play: fn(u64) -> Result<(), String>, mistake: &str| {
        (0..HISTORIES).any(|seed| play(seed).is_err_and(|why| why.contains(mistake)))
    };
    assert!(caught(play::<ShowsFirst>, "was lost"));
    assert!(caught(play::<Forgets>, "was lost"));
    assert!(caught(play::<Boasts>, "is shown as allowed"));
    assert!(caught(play::<Generous>, "was allowed by nobody"));
    assert!(caught(play::<Hasty>, "was allowed by nobody"));
}

/// How long a yes at a check, or to a blocked call, may count: ten minutes from when its asker, who
/// may have been away, was answered.
const REMEMBERED: Duration = Duration::from_mins(11);

/// A yes of a person that may be given once more, to another request about the same call.
struct Yes {
    call: String,
    /// On which occasion it was given: it counts for another one.
    given: Occasion,
    at: Duration,
    is_used: bool,
}

/// A hook as its agent sees it.
struct Hook {
    request: ApprovalRequest,
    /// The call that it is about.
    call: String,
    occasion: Occasion,
    /// What the rules say about it.
    ruling: Ruling,
    /// Its connection, if the daemon it is connected to lives.
    asker: Option<AskerId>,
    /// Until when it tries to come back.
    redials_until: Duration,
    end: Option<End>,
}

#[derive(Debug, Clone, PartialEq)]
enum End {
    Read(Decision),
    FellBack,
    Died,
}

/// Something that somebody has pressed or written, until the daemon has confirmed it: Telegram keeps
/// it.
#[derive(Clone)]
struct Update {
    number: usize,
    question: RequestId,
    act: PhoneAct,
    is_ada: bool,
}

/// What somebody does on a phone.
#[derive(Clone, Copy, PartialEq)]
enum PhoneAct {
    /// They press a button.
    Press(Action),
    /// They reply, with the last word of the command or with another one.
    Reply { is_word: bool },
}

struct World<J> {
    random: u64,
    now: Now,
    ledger: Ledger,
    judge: J,
    hooks: Vec<Hook>,
    next_asker: u64,
    /// Committed, and not yet done.
    outputs: VecDeque<DeskOutput>,
    /// Done, and not yet told to the desk. Lost when the daemon is killed.
    inputs: VecDeque<DeskInput>,
    updates: VecDeque<Update>,
    pressed: usize,
    /// What is on the phone: buttons that can be pressed.
    on_phone: Vec<RequestId>,
    /// The first decision by somebody who may decide that the desk took, by question.
    first: HashMap<RequestId, Decision>,
    told: HashMap<usize, usize>,
    yeses: Vec<Yes>,
    messages: i64,
    /// What has happened, to be read when something is wrong.
    history: Vec<String>,
}

fn play<J: Judge>(seed: u64) -> Result<(), String> {
    let now = Now { mono: Duration::from_secs(1), wall_ms: 1_700_000_000_000 };
    let ledger = Ledger::default();
    let mut world = World {
        random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        now,
        judge: J::start(now, &ledger),
        ledger,
        hooks: Vec::new(),
        next_asker: 1,
        outputs: VecDeque::new(),
        inputs: VecDeque::new(),
        updates: VecDeque::new(),
        pressed: 0,
        on_phone: Vec::new(),
        first: HashMap::new(),
        told: HashMap::new(),
        yeses: Vec::new(),
        messages: 0,
        history: Vec::new(),
    };
    let played = (0..EVENTS).try_for_each(|_| world.event()).and_then(|()| world.finish());
    played.map_err(|why| format!("{why}\n{}", world.history.join("\n")))
}

impl<J: Judge> World<J> {
    fn chance(&mut self, of: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20) % of
    }

    fn event(&mut self) -> Result<(), String> {
        match self.chance(20) {
            0 | 1 if self.hooks.len() < 16 => self.ask(),
            2..=6 => return self.do_output(),
            7..=10 => self.tell_desk(),
            11 | 12 => self.press(),
            13..=15 => self.update(),
            16 => self.hook_dies(),
            17 => self.redial(),
            18 if self.chance(3) == 0 => self.kill(),
            _ => self.wait(),
        }
        Ok(())
    }

    /// Gives the desk an input. The daemon may be killed before the commit or right after it.
    fn handle(&mut self, input: DeskInput) -> bool {
        let mut said = format!("{:?} {input:?}", self.now.mono);
        let step = self.judge.handle(self.now, input);
        let kinds = step.records.iter().map(|draft| format!(" {}", draft.kind));
        said.extend(kinds);
        self.history.push(said);
        match self.chance(80) {
            0 => {
                self.kill();
                false
            }
            1 => {
                self.ledger.commit(&step);
                self.kill();
                true
            }
            _ => {
                self.ledger.commit(&step);
                self.outputs.extend(step.outputs);
                true
            }
        }
    }

    fn ask(&mut self) {
        let number = self.hooks.len() as u64;
        // Half of them are about calls of their own, the others about few.
        let occasions = [Occasion::Check, Occasion::Permission, Occasion::Blocked, Occasion::Other];
        let mut occasion = occasions[usize::try_from(self.chance(4)).unwrap()];
        let mut call = "make common".to_owned();
        // What usually follows a yes.
        if self.chance(3) > 0
            && let Some(yes) = self.yeses.last()
        {
            occasion = match yes.given {
                Occasion::Check => Occasion::Permission,
                Occasion::Blocked => Occasion::Check,
                other => other,
            };
        }
        // An agent goes on with a call only after it has heard what came of the step before; checks
        // of calls that are alike may be under way at once.
        let hinders = |hook: &Hook| {
            let is_both_checks = occasion == Occasion::Check && hook.occasion == Occasion::Check;
            hook.call == call && hook.end.is_none() && !is_both_checks
        };
        if occasion == Occasion::Other || self.hooks.iter().any(hinders) {
            (occasion, call) = (Occasion::Other, format!("make part{number}"));
        }
        let ruling = match self.chance(10) {
            0 => Ruling::Allow { because: "a rule".to_owned() },
            1 => Ruling::Deny { because: "a rule".to_owned() },
            2 => Ruling::Ask { because: None, is_guarded: false },
            3 | 4 => Ruling::Confirm { because: "a rule".to_owned() },
            _ => Ruling::Ask { because: Some("a rule".to_owned()), is_guarded: false },
        };
        let (kind, event) = match occasion {
            Occasion::Check => ("check", Some("PreToolUse")),
            Occasion::Permission => ("ask", Some("PermissionRequest")),
            Occasion::Blocked => ("ask", Some("PermissionDenied")),
            Occasion::Other => ("ask", None),
        };
        let context =
            json!({ "event": event, "prompt_id": "p1", "mode": "auto", "takes": ["interrupt"] });
        let more = json!({ "kind": kind, "context": context });
        self.hooks.push(Hook {
            request: request_of(number, "Bash", &json!({ "command": call }), &more),
            call,
            occasion,
            ruling,
            asker: None,
            redials_until: self.now.mono + settings().grace,
            end: None,
        });
        self.dial(self.hooks.len() - 1);
    }

    fn dial(&mut self, at: usize) {
        let asker = AskerId(self.next_asker);
        self.next_asker += 1;
        let hook = &mut self.hooks[at];
        hook.asker = Some(asker);
        let (request, ruling) = (hook.request.clone(), hook.ruling.clone());
        let is_replay = self.ledger.is_over(&request.request_id);
        let input = if self.chance(12) == 0 {
            DeskInput::Unruled { asker, request, why: "the rules are slow".to_owned() }
        } else {
            DeskInput::Asked { asker, request, ruling, is_replay }
        };
        self.handle(input);
    }

    fn redial(&mut self) {
        let away = |hook: &Hook| hook.end.is_none() && hook.asker.is_none();
        match self.hooks.iter().position(away) {
            Some(at) if self.hooks[at].redials_until >= self.now.mono => self.dial(at),
            Some(at) => {
                self.hooks[at].end = Some(End::FellBack);
            }
            None => {}
        }
    }

    fn do_output(&mut self) -> Result<(), String> {
        match self.outputs.pop_front() {
            None => Ok(()),
            Some(DeskOutput::Answer(asker, response)) => self.answer(asker, &response),
            Some(DeskOutput::Phones(order)) => self.order(order),
            Some(other) => Err(format!("nobody is there for {other:?}")),
        }
    }

    fn answer(&mut self, asker: AskerId, response: &ApprovalResponse) -> Result<(), String> {
        let Some(hook) = self.hooks.iter_mut().find(|hook| hook.asker == Some(asker)) else {
            self.inputs.push_back(DeskInput::Lost(asker));
            return Ok(());
        };
        let id = &hook.request.request_id;
        if response.request_id != *id {
            return Err(format!("{id} was given the answer of {}", response.request_id));
        }
        if hook.end.is_some() {
            return Err(format!("{id} was answered twice"));
        }
        let decision = response.decision;
        let is_pressed = self.first.get(id) == Some(&Decision::Allow);
        if decision == Decision::Allow && !is_pressed {
            is_justified(hook, &mut self.yeses, self.now.mono)?;
        }
        if decision == Decision::Allow && matches!(hook.ruling, Ruling::Deny { .. }) {
            return Err(format!("{id} was allowed against a rule"));
        }
        let is_recorded = self.ledger.entries.iter().any(|entry| {
            let is_of_it = match entry.kind.as_str() {
                "decided" => entry.question.as_deref() == Some(id.as_str()),
                "checked" => entry.body.contains(&hook.call),
                _ => false,
            };
            is_of_it && entry.body.contains(&format!("\"{}\"", decision.name()))
        });
        // Without an answer, what a rule wants confirmed is denied.
        let is_unconfirmed =
            decision == Decision::Deny && matches!(hook.ruling, Ruling::Confirm { .. });
        let needs_record = matches!(decision, Decision::Allow | Decision::Deny) && !is_unconfirmed;
        if !is_recorded && needs_record {
            return Err(format!("{id} was answered before it was recorded"));
        }
        if decision == Decision::None && hook.occasion != Occasion::Check {
            return Err(format!("{id} was no check, and was answered with none"));
        }
        hook.end =
            Some(if decision == Decision::Timeout { End::FellBack } else { End::Read(decision) });
        self.inputs.push_back(DeskInput::Delivered(asker));
        Ok(())
    }

    fn order(&mut self, order: ChannelOrder) -> Result<(), String> {
        match order {
            ChannelOrder::Show { card, chats, .. } => {
                for chat in chats {
                    self.messages += 1;
                    let copy =
                        QuestionCopy { question: card.id.clone(), chat, message: self.messages };
                    self.inputs.push_back(DeskInput::News(News::Shown(copy)));
                }
                self.on_phone.push(card.id.clone());
                Ok(())
            }
            ChannelOrder::Mark { card, mark, .. } => self.check_mark(&card.id, mark.state),
            ChannelOrder::Tell { reply_to: ReplyTo::Callback(number), .. } => {
                let number: usize = number.parse().map_err(|_| "a strange callback")?;
                let count = self.told.entry(number).or_default();
                *count += 1;
                if *count > 1 {
                    return Err(format!("press {number} was told twice"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_mark(&self, id: &RequestId, state: MarkState) -> Result<(), String> {
        let hook = self.hooks.iter().find(|hook| hook.request.request_id == *id);
        let end = hook.and_then(|hook| hook.end.as_ref());
        let is_true = match state {
            MarkState::Allowed => end == Some(&End::Read(Decision::Allow)),
            MarkState::Denied => end == Some(&End::Read(Decision::Deny)),
            _ => true,
        };
        let word = if state == MarkState::Allowed { "allowed" } else { "denied" };
        if is_true { Ok(()) } else { Err(format!("{id} is shown as {word}, but ended in {end:?}")) }
    }

    fn tell_desk(&mut self) {
        match self.inputs.pop_front() {
            // Channels and connections report in any order among each other.
            Some(input) if self.chance(4) == 0 && !self.inputs.is_empty() => {
                self.inputs.push_back(input);
            }
            Some(input) => {
                self.handle(input);
            }
            None => {}
        }
    }

    fn press(&mut self) {
        if self.on_phone.is_empty() {
            return;
        }
        let which = usize::try_from(self.chance(self.on_phone.len() as u64)).unwrap();
        let question = self.on_phone[which].clone();
        let acts = [Action::Allow, Action::Deny, Action::Allow, Action::Stop].map(PhoneAct::Press);
        let mut act = acts[usize::try_from(self.chance(4)).unwrap()];
        if self.needs_word(&question) && self.chance(2) == 0 {
            act = PhoneAct::Reply { is_word: self.chance(2) == 0 };
        }
        let is_ada = self.chance(5) > 0;
        self.pressed += 1;
        self.updates.push_back(Update { number: self.pressed, question, act, is_ada });
    }

    /// The channel hands on a press; it is confirmed only once the desk has committed it.
    fn update(&mut self) {
        let Some(update) = self.updates.front().cloned() else { return };
        let who = if update.is_ada { ada() } else { stranger() };
        let decision = self.meaning(&update);
        let could_count = update.is_ada && self.awaits(&update.question);
        let was_decided = self.is_decided(&update.question);
        let press = match update.act {
            PhoneAct::Press(action) => Press::Button(action),
            PhoneAct::Reply { is_word } => Press::Words(self.word(&update.question, is_word)),
        };
        let reply_to = ReplyTo::Callback(update.number.to_string());
        let question = update.question.clone();
        let is_committed = self.handle(DeskInput::News(News::Pressed {
            who,
            question,
            press,
            confirm: None,
            reply_to,
            copy: None,
        }));
        if is_committed {
            self.updates.pop_front();
            let Some(decision) = decision else { return };
            if !was_decided && self.is_decided(&update.question) {
                self.said(&update.question, decision);
            }
            if could_count {
                self.first.entry(update.question).or_insert(decision);
            }
        }
    }

    /// What an act of Ada means. To a blocked call there is only yes and no; what a rule wants
    /// confirmed is allowed by its word alone, once that was asked for.
    fn meaning(&self, update: &Update) -> Option<Decision> {
        let hook = self.hook(&update.question);
        let is_blocked = hook.is_some_and(|hook| hook.occasion == Occasion::Blocked);
        match update.act {
            PhoneAct::Press(Action::Allow) if self.needs_word(&update.question) => None,
            PhoneAct::Press(Action::Allow) => Some(Decision::Allow),
            PhoneAct::Press(Action::Stop) if is_blocked => None,
            PhoneAct::Press(_) => Some(Decision::Deny),
            PhoneAct::Reply { is_word } if self.is_word_asked_for(&update.question) => {
                is_word.then_some(Decision::Allow)
            }
            PhoneAct::Reply { .. } => (!is_blocked).then_some(Decision::Deny),
        }
    }

    fn hook(&self, id: &RequestId) -> Option<&Hook> {
        self.hooks.iter().find(|hook| hook.request.request_id == *id)
    }

    fn needs_word(&self, id: &RequestId) -> bool {
        self.hook(id).is_some_and(|hook| matches!(hook.ruling, Ruling::Confirm { .. }))
    }

    /// The last word of a question's command, or another one.
    fn word(&self, id: &RequestId, is_right: bool) -> String {
        let last = self.hook(id).and_then(|hook| hook.call.split(' ').next_back());
        if is_right { last.unwrap_or_default().to_owned() } else { "yes".to_owned() }
    }

    /// Whether an allow was pressed that the desk answered by asking for the word.
    fn is_word_asked_for(&self, id: &RequestId) -> bool {
        let asks = |entry: &callgate_store::LedgerEntry| {
            entry.kind == "pressed" && entry.body.contains("unconfirmed")
        };
        self.ledger.of(id).iter().any(asks)
    }

    fn is_decided(&self, id: &RequestId) -> bool {
        self.ledger.of(id).iter().any(|entry| entry.kind == "decided")
    }

    /// Notes a yes that may count for another request about the same call.
    fn said(&mut self, id: &RequestId, decision: Decision) {
        let hook = self.hooks.iter().find(|hook| hook.request.request_id == *id);
        if let Some(hook) = hook.filter(|_| decision == Decision::Allow) {
            let (call, given) = (hook.call.clone(), hook.occasion);
            self.yeses.push(Yes { call, given, at: self.now.mono, is_used: false });
        }
    }

    /// Whether a decision about this question must reach its hook: it waits, or is on its way
    /// back, and nothing ended the question before.
    fn awaits(&self, id: &RequestId) -> bool {
        let hook = self.hooks.iter().find(|hook| hook.request.request_id == *id);
        hook.is_some_and(|hook| hook.end.is_none()) && !self.ledger.is_over(id)
    }

    fn hook_dies(&mut self) {
        if self.chance(3) > 0 {
            return;
        }
        let lives = |hook: &Hook| hook.end.is_none();
        if let Some(at) = self.hooks.iter().position(lives) {
            let hook = &mut self.hooks[at];
            hook.end = Some(End::Died);
            if let Some(asker) = hook.asker.take() {
                self.inputs.push_back(DeskInput::Gone(asker));
            }
        }
    }

    /// SIGKILL, and a new daemon at once.
    fn kill(&mut self) {
        self.history.push("killed".to_owned());
        self.outputs.clear();
        self.inputs.clear();
        for hook in self.hooks.iter_mut().filter(|hook| hook.end.is_none()) {
            if hook.asker.take().is_some() {
                hook.redials_until = self.now.mono + settings().grace;
            }
        }
        self.judge = J::start(self.now, &self.ledger);
    }

    fn wait(&mut self) {
        let step = [1, 5, 20][usize::try_from(self.chance(3)).unwrap()];
        self.pass(Duration::from_secs(step));
    }

    fn pass(&mut self, time: Duration) {
        self.now.mono += time;
        self.now.wall_ms += i64::try_from(time.as_millis()).unwrap();
        self.handle(DeskInput::Tick);
    }

    /// Everybody who can comes back and everything under way is done; then the books must agree.
    fn finish(&mut self) -> Result<(), String> {
        for _ in 0..200 {
            self.redial();
            self.update();
            while !self.inputs.is_empty() || !self.outputs.is_empty() {
                self.do_output()?;
                self.tell_desk();
            }
        }
        self.check_decisions()?;
        self.pass(Duration::from_secs(1_000));
        while !self.inputs.is_empty() || !self.outputs.is_empty() || self.judge.open_count() > 0 {
            self.pass(Duration::from_secs(1_000));
            self.do_output()?;
            self.tell_desk();
        }
        self.check_books()
    }

    fn check_decisions(&self) -> Result<(), String> {
        for hook in &self.hooks {
            let id = &hook.request.request_id;
            let (Some(first), Some(end)) = (self.first.get(id), &hook.end) else { continue };
            if matches!(end, End::Read(read) if read == first) || *end == End::Died {
                continue;
            }
            let came_in_time = hook.redials_until >= self.now.mono || hook.asker.is_some();
            if *end == End::FellBack && !came_in_time {
                continue;
            }
            return Err(format!("{first:?} of {id} was lost: the hook ended in {end:?}"));
        }
        Ok(())
    }

    fn check_books(&self) -> Result<(), String> {
        for hook in &self.hooks {
            let id = &hook.request.request_id;
            let count =
                |kind: &str| self.ledger.of(id).iter().filter(|entry| entry.kind == kind).count();
            let (asked, decided, closed) = (count("asked"), count("decided"), count("closed"));
            if asked > 1 || decided > 1 || closed != asked {
                return Err(format!("{id} has {asked} asked, {decided} decided, {closed} closed"));
            }
            let is_decided_at_once = hook.occasion == Occasion::Check && asked == 0;
            if hook.end == Some(End::Read(Decision::Allow)) && decided != 1 && !is_decided_at_once {
                return Err(format!("{id} was allowed without a record"));
            }
        }
        Ok(())
    }
}

/// An allow that nobody pressed comes from a rule, or from a yes about the same call that was not
/// given to anything else yet: of its check to the question for permission, of the report that it
/// was blocked to its check.
fn is_justified(hook: &Hook, yeses: &mut [Yes], now: Duration) -> Result<(), String> {
    if matches!(hook.ruling, Ruling::Allow { .. }) && hook.occasion != Occasion::Blocked {
        return Ok(());
    }
    let counts = match hook.occasion {
        Occasion::Permission => Some(Occasion::Check),
        Occasion::Check => Some(Occasion::Blocked),
        Occasion::Blocked | Occasion::Other => None,
    };
    let is_it = |yes: &&mut Yes| {
        !yes.is_used
            && yes.call == hook.call
            && Some(yes.given) == counts
            && now < yes.at + REMEMBERED
    };
    match yeses.iter_mut().find(is_it) {
        Some(yes) => {
            yes.is_used = true;
            Ok(())
        }
        None => Err(format!("{} was allowed by nobody", hook.request.request_id)),
    }
}
