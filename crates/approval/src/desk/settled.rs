//! What agents report without asking: tools that have run, turns and sessions that have ended.

use callgate_rules::mask;
use callgate_wire::approval::{Decision, Kind, Request, RequestId, Response};
use serde_json::{Value, json};

use super::digest::Digest;
use super::question::Open;
use super::{Desk, Now, Output, Step, record};
use crate::channel::Order;
use crate::plain;

/// How much of an agent's last words is told when it has finished, in bytes.
const LAST_WORDS: usize = 600;

impl Desk {
    pub(super) fn told(&mut self, now: Now, step: &mut Step, request: &Request) {
        let event = request.context.as_ref().and_then(|context| context.event.as_deref());
        match (request.kind, event.unwrap_or_default()) {
            (Kind::Settle, "PostToolUse" | "PostToolUseFailure") => self.ran(now, step, request),
            (Kind::Settle, "SessionEnd") => self.ended(now, step, request, |_| true),
            (Kind::Settle, "Stop") => self.stopped(now, step, request),
            (Kind::Notify, _) => self.notified(now, step, request),
            // What is not known settles nothing.
            _ => {}
        }
    }

    /// A tool has run. It was allowed here, or a question about it was answered elsewhere.
    fn ran(&mut self, now: Now, step: &mut Step, request: &Request) {
        let Request { session_id, tool_name, tool_input, .. } = request;
        let run = Digest::of_run(&self.settings.key, session_id, tool_name, tool_input.get());
        let allowed = self.past.take_run(&run);
        let settled = if allowed.is_none() { self.asked_about(request) } else { None };
        let context = request.context.as_ref();
        let body = json!({
            "tool": record::shown(tool_name),
            "session": record::shown(session_id),
            "cwd": record::shown(&request.cwd),
            "agent": request.agent,
            "ok": context.and_then(|context| context.ok),
            "summary": summary(request),
        });
        step.note(now, "ran", allowed.as_ref().or(settled.as_ref()), &body);
        if let Some(id) = settled {
            self.settle(now, step, &id);
        }
    }

    /// The open question about this very run that was asked first, if there is one.
    fn asked_about(&self, request: &Request) -> Option<RequestId> {
        let told = request.context.clone().unwrap_or_default();
        let ran: Value = serde_json::from_str(request.tool_input.get()).unwrap_or_default();
        let agree = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        let is_same = |asked: &Request| {
            asked.session_id == request.session_id
                && asked.tool_name == request.tool_name
                && is_in(asked.tool_input.get(), &ran)
        };
        let matching = self.open.iter().filter(|(_, open)| {
            open.decided.is_none()
                && agree(&open.prompt_id, &told.prompt_id)
                && agree(&open.agent_id, &told.agent_id)
                && open.request.as_ref().is_some_and(is_same)
        });
        matching.min_by_key(|(_, open)| open.deadline).map(|(id, _)| id.clone())
    }

    /// A turn has ended: questions of its prompt by the main agent were answered elsewhere.
    /// Subagents may go on in the background.
    fn stopped(&mut self, now: Now, step: &mut Step, request: &Request) {
        let told = request.context.clone().unwrap_or_default();
        if let Some(prompt) = &told.prompt_id {
            self.ended(now, step, request, |open| {
                open.prompt_id.as_ref() == Some(prompt) && open.agent_id.is_none()
            });
        }
        if self.settings.notify_on_stop {
            let words = told.last_words.unwrap_or_default();
            self.say(now, step, request, &format!("has finished. {words}"));
        }
    }

    fn ended(
        &mut self,
        now: Now,
        step: &mut Step,
        request: &Request,
        is_over: impl Fn(&Open) -> bool,
    ) {
        let is_of_session = |open: &Open| {
            open.request.as_ref().is_some_and(|asked| asked.session_id == request.session_id)
        };
        let over = |open: &Open| open.decided.is_none() && is_of_session(open) && is_over(open);
        let ids: Vec<RequestId> =
            self.open.iter().filter(|(_, open)| over(open)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.settle(now, step, &id);
        }
    }

    /// Closes a question that was answered at the agent's own terminal; its asker, which may
    /// still wait, falls back.
    fn settle(&mut self, now: Now, step: &mut Step, id: &RequestId) {
        if let Some(asker) = self.open.get(id).and_then(|open| open.asker) {
            let response = Response::new(id.clone(), Decision::Timeout);
            step.outputs.push(Output::Answer(asker, response));
        }
        self.close(now, step, id, "settled");
    }

    fn notified(&mut self, now: Now, step: &mut Step, request: &Request) {
        let input: Value = serde_json::from_str(request.tool_input.get()).unwrap_or_default();
        // The question itself is already on every screen.
        if input["notification_type"] == "permission_prompt" || !self.settings.notify_on_stop {
            return;
        }
        if let Some(message) = input["message"].as_str() {
            self.say(now, step, request, &format!("says: {message}"));
        }
    }

    fn say(&self, now: Now, step: &mut Step, request: &Request, what: &str) {
        let agent = record::shown(request.agent.as_deref().unwrap_or("agent"));
        let what = plain::shown(what);
        let end = what.floor_char_boundary(LAST_WORDS);
        let text = format!("{agent} in {} {}", record::shown(&request.cwd), what[..end].trim_end());
        let chats: Vec<i64> = self.listening_chats(now).collect();
        if self.settings.phones && !chats.is_empty() {
            step.outputs.push(Output::Phones(Order::Say { chats, text: text.clone() }));
        }
        if self.settings.terminal {
            step.outputs.push(Output::Terminal(Order::Say { chats: Vec::new(), text }));
        }
    }
}

/// Whether all that was asked about is in what ran. More may have come to it: the answers of the
/// user, where the agent asked for them.
fn is_in(asked: &str, ran: &Value) -> bool {
    let asked: Value = serde_json::from_str(asked).unwrap_or_default();
    let members = asked.as_object();
    members.is_some_and(|members| members.iter().all(|(name, value)| ran.get(name) == Some(value)))
}

/// What ran, on one line.
fn summary(request: &Request) -> String {
    let input = mask::json(request.tool_input.get());
    crate::card::Card::new(request, input.shown(), 0, 0).summary()
}
