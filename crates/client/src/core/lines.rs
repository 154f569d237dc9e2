//! Handles the lines of the runtime.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::frame::{DecodedLine, OverlongLine};
use callgate_wire::raw::Members;
use callgate_wire::session::{
    SessionCommand, SessionEvent, SessionReply, SessionResponse, Unreadable, UnreadableReason,
    capability,
};

use super::pending_request::RequestStage;
use super::sequence_numbers::SequenceVerdict;
use super::{ClientCore, CoreOutput, OVERHEAD};
use crate::{ClientError, RequestEvent};

/// How long the runtime may take to send lines again.
const REPLAY_LIMIT: Duration = Duration::from_secs(10);

impl ClientCore {
    pub(super) fn handle_line(&mut self, now: Duration, line: DecodedLine<'_>) {
        // A process that is being ended still writes, about requests that have failed already.
        if !self.life.is_heard() {
            return;
        }
        match line {
            DecodedLine::TooLong(line) => self.too_long(now, &line),
            DecodedLine::Whole(line) => match SessionResponse::decode(line) {
                Ok(SessionResponse::Ready(ready)) => self.handle_ready(now, ready),
                Ok(SessionResponse::Reply(reply)) => self.handle_reply(now, reply, line.len()),
                Err(unreadable) => self.handle_unreadable(now, line, &unreadable),
            },
        }
    }

    fn handle_reply(&mut self, now: Duration, reply: SessionReply, size: usize) {
        // Before its number is checked: while lines are missing, its own number is too high, so it
        // would be ignored, and a failed replay would only be noticed by its time limit.
        if reply.id.as_deref().is_some_and(|id| self.numbers.is_replay(id)) {
            return self.handle_replay_end(now, &reply);
        }
        if self.is_next(now, reply.seq) {
            self.deliver(now, reply, size);
        }
    }

    /// Returns true if a line with this number is the next. Otherwise the missing lines are
    /// requested.
    fn is_next(&mut self, now: Duration, seq: Option<u64>) -> bool {
        match self.numbers.take_number(seq) {
            SequenceVerdict::Take => return true,
            SequenceVerdict::Repeated => self.passed_over.repeated += 1,
            SequenceVerdict::Early => {}
            SequenceVerdict::Missing(from) => {
                self.passed_over.gaps += 1;
                self.request_replay(now, from);
            }
        }
        false
    }

    fn request_replay(&mut self, now: Duration, from: u64) {
        if !self.life.has_capability(capability::REPLAY) {
            return self.fail_running_requests(now);
        }
        let id = self.send_own_request(SessionCommand::Replay { from_seq: from });
        self.numbers.start_replay(id, from, now + REPLAY_LIMIT);
    }

    fn handle_replay_end(&mut self, now: Duration, reply: &SessionReply) {
        if !reply.event.is_end() {
            return;
        }
        let has_done = matches!(reply.event, SessionEvent::Done(_));
        if !(self.numbers.end_replay() && has_done) {
            return self.fail_running_requests(now);
        }
        // It has a number itself; should something be missing before it, that is asked for next.
        self.is_next(now, reply.seq);
    }

    /// Fails all running requests, because missing lines cannot be recovered.
    pub(super) fn fail_running_requests(&mut self, now: Duration) {
        // What is missing is given up: the next number is a new beginning.
        self.numbers.reset();
        while let Some(index) =
            self.open.iter().position(|open| open.stage == RequestStage::Written)
        {
            self.give_up(now, index, ClientError::Lost);
        }
    }

    fn deliver(&mut self, now: Duration, reply: SessionReply, size: usize) {
        let index = reply.id.as_deref().and_then(|id| self.find_request(id));
        // A request that was not written cannot be answered.
        let index = index.filter(|index| self.open[*index].stage == RequestStage::Written);
        let Some(index) = index else {
            if !reply.id.is_some_and(|id| self.is_own(&id)) {
                self.passed_over.stray += 1;
            }
            return;
        };
        self.open[index].note_event(now, &reply.event);
        let is_end = reply.event.is_end();
        let happened = RequestEvent::Said(Arc::new(reply));
        if is_end {
            return self.end_request(now, index, happened, size);
        }
        let id = Arc::clone(&self.open[index].id);
        self.outputs.push(CoreOutput::Happened { id, happened, size: size + OVERHEAD });
    }

    fn is_own(&self, id: &str) -> bool {
        id.strip_prefix(&self.name).is_some_and(|rest| rest.starts_with("-own-"))
    }

    /// Handles a line that is too long, and would be again: its request fails, and the others
    /// continue.
    fn too_long(&mut self, now: Duration, line: &OverlongLine) {
        self.passed_over.too_long += 1;
        self.numbers.pass_one();
        let id: Option<String> = line.id.as_deref().and_then(|id| serde_json::from_str(id).ok());
        let index = id.and_then(|id| self.find_request(&id));
        if let Some(index) = index.filter(|index| self.open[*index].stage == RequestStage::Written)
        {
            self.give_up(now, index, ClientError::Lost);
        }
    }

    /// Ignores a line that cannot be read. A line of a later version counts with its number; a
    /// garbled one is noticed as missing when the next arrives.
    fn handle_unreadable(&mut self, now: Duration, line: &[u8], unreadable: &Unreadable) {
        match unreadable.reason {
            UnreadableReason::UnknownKind(_) => self.passed_over.unknown += 1,
            _ => self.passed_over.unreadable += 1,
        }
        let members = std::str::from_utf8(line).ok().and_then(|line| Members::from_text(line).ok());
        let seq = members.and_then(|members| members.get("seq")?.get().parse().ok());
        if seq.is_none() {
            return;
        }
        self.is_next(now, seq);
        if let Some(index) = unreadable.id.as_deref().and_then(|id| self.find_request(id)) {
            // Whatever it says, the request is running.
            self.open[index].heard = now;
        }
    }
}
