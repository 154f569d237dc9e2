//! The world around the desk, in which everything may happen in any order: hooks that ask, die
//! and come back, presses that arrive before the message was sent, and a daemon that is killed
//! between any two things it does, above all between the ledger and the answer.
//!
//! Each seed plays one history and checks what must hold in all of them. The same checks catch
//! the desks of `naive.rs`, so they can see.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use callgate_wire::approval::{Action, Decision, Request, RequestId, Response};

use super::super::{AskerId, Desk, Input, Now, Output, Ruling};
use super::naive::{Boasts, Forgets, Judge, ShowsFirst};
use super::{Ledger, ada, request, settings, stranger};
use crate::channel::{Copy, Doing, News, Order, Press, State};

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
}

/// A hook as its agent sees it.
struct Hook {
    request: Request,
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

/// A button that somebody has pressed, until the daemon has confirmed it: Telegram keeps it.
#[derive(Clone)]
struct Update {
    number: usize,
    question: RequestId,
    action: Action,
    is_ada: bool,
}

struct World<J> {
    random: u64,
    now: Now,
    ledger: Ledger,
    judge: J,
    hooks: Vec<Hook>,
    next_asker: u64,
    /// Committed, and not yet done.
    outputs: VecDeque<Output>,
    /// Done, and not yet told to the desk. Lost when the daemon is killed.
    inputs: VecDeque<Input>,
    updates: VecDeque<Update>,
    pressed: usize,
    /// What is on the phone: buttons that can be pressed.
    on_phone: Vec<RequestId>,
    /// The first decision by somebody who may decide that the desk took, by question.
    first: HashMap<RequestId, Decision>,
    told: HashMap<usize, usize>,
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
            0 | 1 if self.hooks.len() < 12 => self.ask(),
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
    fn handle(&mut self, input: Input) -> bool {
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
        self.hooks.push(Hook {
            request: request(number, &format!("make part{number}")),
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
        let request = hook.request.clone();
        let is_replay = self.ledger.is_over(&request.request_id);
        let ruling = Ruling::Ask { because: None, is_guarded: false };
        self.handle(Input::Asked { asker, request, ruling, is_replay });
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
            Some(Output::Answer(asker, response)) => self.answer(asker, &response),
            Some(Output::Phones(order)) => self.order(order),
            Some(other) => Err(format!("nobody is there for {other:?}")),
        }
    }

    fn answer(&mut self, asker: AskerId, response: &Response) -> Result<(), String> {
        let Some(hook) = self.hooks.iter_mut().find(|hook| hook.asker == Some(asker)) else {
            self.inputs.push_back(Input::Lost(asker));
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
        if decision == Decision::Allow && self.first.get(id) != Some(&Decision::Allow) {
            return Err(format!("{id} was allowed by nobody"));
        }
        let is_recorded = self.ledger.of(id).iter().any(|entry| {
            entry.kind == "decided" && entry.body.contains(&format!("\"{}\"", decision.name()))
        });
        if !is_recorded && decision != Decision::Timeout {
            return Err(format!("{id} was answered before it was recorded"));
        }
        hook.end =
            Some(if decision == Decision::Timeout { End::FellBack } else { End::Read(decision) });
        self.inputs.push_back(Input::Delivered(asker));
        Ok(())
    }

    fn order(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Show { card, chats } => {
                for chat in chats {
                    self.messages += 1;
                    let copy = Copy { question: card.id.clone(), chat, message: self.messages };
                    self.inputs.push_back(Input::News(News::Shown(copy)));
                }
                self.on_phone.push(card.id.clone());
                Ok(())
            }
            Order::Mark { card, mark, .. } => self.check_mark(&card.id, mark.state),
            Order::Tell { doing: Doing::Callback(number), .. } => {
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

    fn check_mark(&self, id: &RequestId, state: State) -> Result<(), String> {
        let hook = self.hooks.iter().find(|hook| hook.request.request_id == *id);
        let end = hook.and_then(|hook| hook.end.as_ref());
        let is_true = match state {
            State::Allowed => end == Some(&End::Read(Decision::Allow)),
            State::Denied => end == Some(&End::Read(Decision::Deny)),
            _ => true,
        };
        let word = if state == State::Allowed { "allowed" } else { "denied" };
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
        let action = [Action::Allow, Action::Deny, Action::Allow, Action::Stop]
            [usize::try_from(self.chance(4)).unwrap()];
        let is_ada = self.chance(5) > 0;
        self.pressed += 1;
        self.updates.push_back(Update { number: self.pressed, question, action, is_ada });
    }

    /// The channel hands on a press; it is confirmed only once the desk has committed it.
    fn update(&mut self) {
        let Some(update) = self.updates.front().cloned() else { return };
        let who = if update.is_ada { ada() } else { stranger() };
        let could_count = update.is_ada && self.awaits(&update.question);
        let press = Press::Button(update.action);
        let doing = Doing::Callback(update.number.to_string());
        let question = update.question.clone();
        let is_committed = self.handle(Input::News(News::Pressed { who, question, press, doing }));
        if is_committed {
            self.updates.pop_front();
            let decision =
                if update.action == Action::Allow { Decision::Allow } else { Decision::Deny };
            if could_count {
                self.first.entry(update.question).or_insert(decision);
            }
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
                self.inputs.push_back(Input::Gone(asker));
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
        self.handle(Input::Tick);
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
            if hook.end == Some(End::Read(Decision::Allow)) && decided != 1 {
                return Err(format!("{id} was allowed without a record"));
            }
        }
        Ok(())
    }
}
