//! Handles the messages of the CLI.

use std::sync::Arc;

use callgate_wire::control::{self, CliMessage};
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::raw::{Json, Members};
use tokio::time::Instant;

use super::{CHANGE, CliDriver, CliLifetime, DriverStage, INITIALIZE};
use crate::event::{self, ClaudeEvent};
use crate::hooks::Hook;
use crate::jobs::{FinishedJob, PROGRESS};
use crate::permission::PermissionQuestion;
use crate::process::LONGEST_LINE;
use crate::{ClaudeAnswer, ClaudeError, ClaudeOutcome, cli};

impl CliDriver {
    pub(super) fn take_read(&mut self, count: usize) -> Result<(), ClaudeError> {
        if count > 0 {
            self.heard = Instant::now();
            self.lines.mark_filled(count);
            return self.read_lines();
        }
        // It has answered, and only agents in the background were waited for.
        if self.turn.answer.is_some() {
            self.finish_turn();
        } else if let Some(process) = self.process.take() {
            self.stage = DriverStage::Dying(Box::pin(process.early_exit_error()));
        }
        Ok(())
    }

    fn read_lines(&mut self) -> Result<(), ClaudeError> {
        // Taken out, because a line borrows from its decoder while the rest of the driver handles
        // it.
        let mut lines = std::mem::replace(&mut self.lines, LineDecoder::new(LONGEST_LINE));
        let mut outcome = Ok(());
        while let Some(line) = lines.next_frame() {
            outcome = self.read_line(line);
            // The call is over: what follows its answer is ignored.
            if outcome.is_err() || matches!(self.stage, DriverStage::Leaving(_)) {
                break;
            }
        }
        self.lines = lines;
        outcome
    }

    fn read_line(&mut self, line: DecodedLine<'_>) -> Result<(), ClaudeError> {
        let line = match line {
            DecodedLine::Whole(line) => line,
            DecodedLine::TooLong(line) => {
                return Err(self.garbage_error(format!("it has {} bytes", line.size)));
            }
        };
        match CliMessage::decode(line) {
            Err(error) => Err(self.garbage_error(error.to_string())),
            Ok(CliMessage::Request { id, subtype, request }) => {
                self.begin_job(&id, &subtype, &request);
                Ok(())
            }
            Ok(CliMessage::Answer { id, outcome }) => self.take_answer(&id, outcome),
            Ok(CliMessage::Cancel { id }) => {
                self.jobs.cancel(&id);
                Ok(())
            }
            Ok(CliMessage::Message { kind, message }) => self.take_message(&kind, &message),
        }
    }

    fn take_answer(
        &mut self,
        id: &str,
        outcome: Result<Json<'_>, String>,
    ) -> Result<(), ClaudeError> {
        if id.starts_with(CHANGE) {
            if let Some(change) = self.change.as_mut().filter(|change| change.id == id) {
                change.outcome = Some(outcome.map(drop));
            }
            return Ok(());
        }
        match outcome {
            Ok(response) if id == INITIALIZE => {
                cli::check_version(response.members().string("claude_code_version").as_deref())
            }
            Ok(_) => Ok(()),
            // A CLI that does not accept progress goes on without it.
            Err(_) if id.starts_with(PROGRESS) => Ok(()),
            Err(reason) => {
                // The rest of the id says what was requested.
                let what = id.trim_start_matches("callgate-").to_owned();
                Err(ClaudeError::Refused { what, reason })
            }
        }
    }

    fn take_message(&mut self, kind: &str, message: &Members<'_>) -> Result<(), ClaudeError> {
        if let Some(is_idle) = event::is_idle(kind, message) {
            self.reports_idle = true;
            if is_idle && self.turn.answer.is_some() {
                self.finish_turn();
            }
            return Ok(());
        }
        if kind == "command_lifecycle" {
            // The state of our prompt in the CLI's queue, which never has more than one.
            return Ok(());
        }
        let is_own = self.is_own(kind, message);
        for event in event::events_in_message(kind, message) {
            match event {
                ClaudeEvent::Finished(answer) if is_own => self.take_turn(answer),
                ClaudeEvent::Finished(_) => {}
                ClaudeEvent::Started(started) => {
                    // Before the turn goes on: a CLI that has dropped our tools would answer
                    // without them.
                    self.links.check_setup(&started)?;
                    self.begin_turn();
                    self.inbox.push_back(ClaudeEvent::Started(started));
                }
                event => self.inbox.push_back(event),
            }
        }
        Ok(())
    }

    /// Returns false if a result belongs to an earlier prompt, such as that of an agent in the
    /// background whose end was not waited for.
    fn is_own(&self, kind: &str, message: &Members<'_>) -> bool {
        // After the first answer, the results of agents in the background add to it.
        if kind != "result" || self.turn.answer.is_some() {
            return true;
        }
        let prompt = message.string("user_message_uuid");
        let origin = message.get_non_null("origin").map(Json::members).unwrap_or_default();
        prompt.is_none_or(|prompt| *prompt == *self.turn.id)
            && origin.string("kind").as_deref() != Some("task-notification")
    }

    fn begin_turn(&mut self) {
        let is_first = !std::mem::replace(&mut self.turn.has_begun, true);
        if is_first && self.turn.is_interrupted {
            self.send_interrupt();
        }
    }

    /// Takes the answer of a turn. Another turn may follow when agents in the background have
    /// ended.
    fn take_turn(&mut self, mut answer: ClaudeAnswer) {
        if self.turn.is_interrupted && answer.outcome == ClaudeOutcome::ExecutionError {
            answer.outcome = ClaudeOutcome::Interrupted;
        }
        self.turn.answer = Some(match self.turn.answer.take() {
            Some(earlier) => answer.merge_earlier(earlier),
            None => answer,
        });
        // Otherwise the turn ends when the CLI is idle, because agents in the background may add to
        // the answer.
        if !self.reports_idle || self.turn.is_interrupted {
            self.finish_turn();
        }
    }

    /// Ends the turn with its answer.
    pub(super) fn finish_turn(&mut self) {
        let answer = self.turn.answer.take();
        self.inbox.extend(answer.map(ClaudeEvent::Finished));
        // Before the next prompt is sent: its turn would begin with the events of this one.
        if self.turn.is_abandoned {
            self.inbox.clear();
        }
        self.stage = match (self.lifetime, self.process.take()) {
            (CliLifetime::OneTurn, Some(process)) => {
                DriverStage::Leaving(Box::pin(process.shut_down()))
            }
            (CliLifetime::Conversation, Some(process)) => {
                self.process = Some(process);
                DriverStage::Resting
            }
            (_, None) => DriverStage::Ended,
        };
        if let Some(prompt) = self.next_prompt.take() {
            self.send_prompt(prompt);
        }
    }

    /// Starts to handle a control request of the CLI, concurrently with everything else.
    fn begin_job(&mut self, id: &str, subtype: &str, request: &Members<'_>) {
        match (subtype, &self.links.inline) {
            ("can_use_tool", _) => {
                self.jobs.start_question(
                    id,
                    self.decider.clone(),
                    PermissionQuestion::from_request(request),
                );
            }
            ("hook_callback", _) if let Some(hook) = self.find_hook(request) => {
                let input = hook.decode_input(request);
                self.jobs.start_hook(id, hook, input);
            }
            ("mcp_message", Some(inline)) => {
                let message = request.get("message").unwrap_or(Json::EMPTY).get().to_owned();
                self.jobs.start_mcp_reply(id, Arc::clone(inline), message);
            }
            _ => {
                // The CLI waits for an answer to a request that is unknown here, too.
                let refusal = control::failure_line(id, &format!("{subtype} is not supported"));
                self.outbox.extend(refusal.into_bytes());
            }
        }
    }

    fn find_hook(&self, request: &Members<'_>) -> Option<Hook> {
        let index: usize = request.string("callback_id")?.parse().ok()?;
        self.hooks.get(index).cloned()
    }

    pub(super) fn finish_job(&mut self, done: FinishedJob) {
        self.heard = Instant::now();
        // Before the answer: MCP has no progress of a call that is over.
        self.outbox.extend(self.jobs.rest_of_progress(self.links.server_name()).into_bytes());
        self.outbox.extend(done.line.unwrap_or_default().into_bytes());
        self.inbox.extend(done.event);
    }
}
