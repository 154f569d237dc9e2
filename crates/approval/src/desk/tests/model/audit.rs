//! What must hold in every history.

use std::time::Duration;

use callgate_wire::approval::{Decision, RequestId};

use super::{End, Hook, World};
use crate::channel::MarkState;
use crate::desk::Ruling;
use crate::desk::question::Occasion;
use crate::desk::tests::naive::Judge;

/// How long a yes at a check, or to a blocked call, may count: ten minutes from when its asker, who
/// may have been away, was answered.
const REMEMBERED: Duration = Duration::from_mins(11);

/// A yes of a person that may be given once more, to another request about the same call.
pub(super) struct Yes {
    pub(super) call: String,
    /// On which occasion it was given: it counts for another one.
    pub(super) given: Occasion,
    pub(super) at: Duration,
    pub(super) is_used: bool,
}

impl<J: Judge> World<J> {
    pub(super) fn check_mark(&self, id: &RequestId, state: MarkState) -> Result<(), String> {
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

    pub(super) fn check_decisions(&self) -> Result<(), String> {
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

    pub(super) fn check_books(&self) -> Result<(), String> {
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
pub(super) fn is_justified(hook: &Hook, yeses: &mut [Yes], now: Duration) -> Result<(), String> {
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
