//! What a front end asks that has lost what it had: how things stand, and what was said.

use std::sync::Arc;

use callgate_wire::session::{BUSY, Event, IDLE, Status};

use super::Session;
use super::output::Output;
use crate::failure::RequestFailure;

impl Session {
    /// Answers `get_status`, at once also while much is going on.
    pub(super) fn status(&mut self, id: String) {
        let (shared, current) = (Arc::clone(&self.shared), Arc::clone(&self.current));
        let state = if self.halts.is_empty() { IDLE } else { BUSY };
        let uptime = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let name = id.clone();
        let task = self.jobs.spawn(async move {
            let (conversation, length) = current.length(&shared).await;
            let options = &shared.options;
            let (requests, questions) = shared.output.open_beside(&id);
            let status = Status {
                state: state.to_owned(),
                conversation_length: length,
                uptime,
                engine: Some(options.engine.name().to_owned()),
                engine_reason: Some(options.engine_reason.clone()),
                model: Some(options.engine.model().to_owned()),
                conversation_id: conversation,
                requests: Some(requests),
                questions: Some(questions),
            };
            shared.output.say(&id, Event::Status(status));
        });
        self.named.insert(task.id(), (name, None));
    }
}

/// Answers `replay`.
pub(super) fn replay(output: &Output, from: u64) -> Event {
    match output.replay(from) {
        Ok(replayed) => Event::done(&replayed),
        Err(oldest) => {
            let text = format!("response {from} is not kept any more: the oldest is {oldest}");
            RequestFailure::permanent("not_found", text).into()
        }
    }
}
