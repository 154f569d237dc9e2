//! Lets another model answer if the chosen one cannot.

use std::time::Duration;

use callgate_wire::session::SessionEvent;

use super::TurnDriver;
use crate::engine::{EngineError, EngineErrorKind};

/// The status of an answer about a model that the provider does not know.
const UNKNOWN: u16 = 404;

impl TurnDriver<'_> {
    /// Turns to the fallback model if the model is overloaded or unknown. Returns the error with
    /// which the turn goes on: one after which the model is asked again, if there is another model.
    pub(super) fn fall_back(&mut self, error: EngineError) -> EngineError {
        let is_unknown = error.kind == EngineErrorKind::Refused && error.status == Some(UNKNOWN);
        if !is_unknown && error.kind != EngineErrorKind::Overloaded {
            return error;
        }
        let model = &self.answering.model;
        let fallback = self.shared.options.fallback.as_ref();
        let Some(fallback) = fallback.filter(|fallback| *fallback != model).cloned() else {
            return error;
        };
        let text = format!("{model} cannot answer, so {fallback} answers this message");
        self.events.push(SessionEvent::notice("fallback", text));
        self.answering.model = fallback;
        // After an error of this kind the turn asks again, and another model need not be waited
        // for.
        let (kind, retry_after) = (EngineErrorKind::Overloaded, Some(Duration::ZERO));
        EngineError { kind, retry_after, ..error }
    }
}
