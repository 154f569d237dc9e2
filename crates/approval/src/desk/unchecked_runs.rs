//! Calls that ran without a verdict: the agent reports a run about which its hook has never asked.
//!
//! Most agents run a tool if the hook before it was killed, was late or printed half an answer. If
//! the agent starts a hook after the tool, too, at least that can be recorded. Every check that
//! comes here is remembered until many others have followed. Whatever may have been checked
//! elsewhere is not reported: by the desk before a restart, or by a hook while no desk ran.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use callgate_wire::approval::{ApprovalRequest, RequestKind};
use callgate_wire::hook::AgentProfile;
use callgate_wire::ledger::AgentCall;
use callgate_wire::tool_act::ToolKind;

use super::checked::tool_use_id;
use super::digest::comparable_input;
use super::{Desk, DeskStep};

/// How long a call may run that nobody here has checked, because another one has.
pub(crate) const LONGEST_CALL: Duration = Duration::from_hours(1);
/// The most checks that are remembered.
pub(super) const MOST: usize = 16_384;
/// How long a session is not mentioned again after a notice. The ledger has every run.
const PAUSE: Duration = Duration::from_mins(10);
/// The most sessions and tools of agents that are remembered.
const MOST_NAMES: usize = 1_024;
/// Who decided about such a call, in the ledger.
const NOBODY: &str = "nobody: its hook did not ask";

#[derive(Debug, Default)]
pub(super) struct SeenChecks {
    /// Makes the digests. They never leave this process, and the agent waits while they are made.
    hasher: RandomState,
    /// How many of the remembered checks have each digest.
    digests: HashMap<u64, u32>,
    /// When each check came, with its digests.
    order: VecDeque<(Duration, [u64; 2])>,
    /// The tools whose runs were reported after a check, each with its agent.
    reported: HashSet<(String, String)>,
    /// Until when a run may have been checked elsewhere, or its check is forgotten.
    unsure_until: Duration,
    /// The sessions that were mentioned, and until when they are not mentioned again.
    mentioned: Vec<(Duration, String)>,
}

impl SeenChecks {
    fn add(&mut self, now: Duration, digests: [u64; 2]) {
        if self.order.len() == MOST
            && let Some((at, oldest)) = self.order.pop_front()
        {
            for digest in oldest {
                // A later check may be about a call that looks the same.
                if let Entry::Occupied(mut checks) = self.digests.entry(digest) {
                    *checks.get_mut() -= 1;
                    if *checks.get() == 0 {
                        checks.remove();
                    }
                }
            }
            // Its call may still be running, and would now be taken for one without a check.
            if at + LONGEST_CALL > now {
                self.unsure_until = now + LONGEST_CALL;
            }
        }
        for digest in digests {
            *self.digests.entry(digest).or_default() += 1;
        }
        self.order.push_back((now, digests));
    }

    fn can_mention(&mut self, now: Duration, session: &str) -> bool {
        self.mentioned.retain(|(until, _)| *until > now);
        let is_new = !self.mentioned.iter().any(|(_, known)| known == session);
        if is_new {
            self.mentioned.truncate(MOST_NAMES - 1);
            self.mentioned.insert(0, (now + PAUSE, session.to_owned()));
        }
        is_new
    }
}

impl Desk {
    /// Does not take runs of the next hour for unchecked: calls that run now may have been checked
    /// before this desk started.
    pub(crate) fn doubt_runs(&mut self) {
        // The monotonic clock of the desk begins with the process.
        self.seen_checks.unsure_until = LONGEST_CALL;
    }

    /// Remembers that a hook has asked about a call of an agent here.
    pub(super) fn see_check(&mut self, now: Duration, request: &ApprovalRequest) {
        let is_check = request.kind == RequestKind::Check && request.machine.is_none();
        if is_check && can_run_unchecked(request) {
            self.seen_checks.add(now, self.check_digests(request));
        }
    }

    /// Marks a run about which no hook has asked, and tells everybody.
    pub(super) fn mark_unchecked(
        &mut self,
        step: &mut DeskStep,
        request: &ApprovalRequest,
        ran: &mut AgentCall,
    ) {
        let agent = request.agent.clone().unwrap_or_default();
        let name = (agent, request.tool_name.clone());
        let [this, any] = self.check_digests(request);
        let digests = &self.seen_checks.digests;
        // Some agents name a call in one of the two events only.
        let is_named = tool_use_id(request).is_some();
        let unnamed = self.digest_without_id(any);
        let is_seen = digests.contains_key(&this)
            || digests.contains_key(&unnamed)
            || !is_named && digests.contains_key(&any);
        if is_seen {
            if self.seen_checks.reported.len() < MOST_NAMES {
                self.seen_checks.reported.insert(name);
            }
            return;
        }
        // Without an id, two events about one call may differ in what they say about it; and some
        // tools are not checked at all. So it takes a known tool, or one that was checked before.
        let is_sure =
            (is_named && is_act(&request.tool_name)) || self.seen_checks.reported.contains(&name);
        if !can_run_unchecked(request) || !is_sure || step.now.mono < self.seen_checks.unsure_until
        {
            return;
        }
        ran.by = Some(NOBODY.to_owned());
        if self.seen_checks.can_mention(step.now.mono, &request.session_id) {
            let what = format!(
                "ran a call without a verdict, because its hook did not ask: {}\n`callgate doctor` \
                 says whether the hook works.",
                ran.summary
            );
            self.announce_agent(step, request, &what);
        }
    }

    /// Returns the digests of a check: one by its id, if it has one, and one by what is called.
    fn check_digests(&self, request: &ApprovalRequest) -> [u64; 2] {
        let ApprovalRequest { session_id, tool_name, tool_input, .. } = request;
        let hasher = &self.seen_checks.hasher;
        let input = comparable_input(tool_name, tool_input.get());
        let any = hasher.hash_one(("run", session_id, tool_name, input));
        let this = match tool_use_id(request) {
            Some(id) => hasher.hash_one(("id", session_id, id)),
            None => self.digest_without_id(any),
        };
        [this, any]
    }

    /// Returns the digest of a check that has no id, from that of any such call.
    fn digest_without_id(&self, any: u64) -> u64 {
        self.seen_checks.hasher.hash_one(("no id", any))
    }
}

fn can_run_unchecked(request: &ApprovalRequest) -> bool {
    let agent = request.agent.as_deref().and_then(AgentProfile::find);
    agent.is_some_and(|agent| agent.failures.is_open())
}

/// Returns true for a tool that changes something, under any agent's name for it.
fn is_act(tool: &str) -> bool {
    use ToolKind::{Code, Edit, Notebook, Patch, Run, Write};
    matches!(ToolKind::for_tool("", tool), Run(_) | Code | Write | Edit | Notebook | Patch)
}
