//! The world around the desk, in which everything may happen in any order: hooks that ask, die
//! and come back, presses that arrive before the message was sent, and a daemon that is killed
//! between any two things it does, above all between the ledger and the answer. Several requests
//! are about the same call: its check, the question for permission, the agent's report that it has
//! blocked it.
//!
//! Each seed plays one history and checks what must hold in all of them. The same checks catch
//! the desks of `naive.rs`, so they can see.

mod audit;
mod phone;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use callgate_wire::approval::{
    AllowDemands, ApprovalRequest, ApprovalResponse, Decision, RequestId,
};
use serde_json::json;

use super::super::question::Occasion;
use super::super::{AskerId, Desk, DeskInput, DeskOutput, DeskTime, Ruling};
use super::naive::{Boasts, Forgets, Generous, Hasty, Judge, ShowsFirst};
use super::{Ledger, request_of, settings};
use crate::channel::{ChannelOrder, ChannelReport, CopyPart, QuestionCopy, ReplyTo};
use audit::{Yes, is_justified};
use phone::Update;

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

struct World<J> {
    random: u64,
    now: DeskTime,
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
    let now = DeskTime { mono: Duration::from_secs(1), wall_ms: 1_700_000_000_000 };
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
            3 | 4 => Ruling::AtDesk {
                because: "a rule".to_owned(),
                needs_word: true,
                demands: AllowDemands::default(),
            },
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
            decision == Decision::Deny && matches!(hook.ruling, Ruling::AtDesk { .. });
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
                    let copy = QuestionCopy {
                        question: card.id.clone(),
                        chat,
                        message: self.messages,
                        part: CopyPart::Question,
                    };
                    self.inputs.push_back(DeskInput::News(ChannelReport::Shown(copy)));
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

    fn hook(&self, id: &RequestId) -> Option<&Hook> {
        self.hooks.iter().find(|hook| hook.request.request_id == *id)
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
}
