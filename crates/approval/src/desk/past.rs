//! Closed questions, remembered for late presses and reports.

use std::collections::{HashMap, VecDeque};

use callgate_wire::approval::RequestId;

use super::digest::CallDigest;
use crate::channel::QuestionCopy;

/// How many closed questions are remembered. Whoever presses on an older one hears only that it is
/// no longer open.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct ClosedQuestions {
    pub(super) by_id: HashMap<RequestId, ClosedQuestion>,
    order: VecDeque<RequestId>,
    /// The questions that allowed a run which has not been reported yet, the latest last.
    runs: HashMap<CallDigest, Vec<RequestId>>,
}

#[derive(Debug)]
pub(super) struct ClosedQuestion {
    /// What became of it, in words for somebody who presses late.
    pub(super) text: String,
    /// The run of a tool that it allowed and that has not been reported yet.
    pub(super) awaits: Option<CallDigest>,
    /// The copies that show what became of it, or will.
    pub(super) copies: Vec<QuestionCopy>,
}

impl ClosedQuestions {
    pub(super) fn add(&mut self, id: RequestId, over: ClosedQuestion) {
        if let Some(run) = over.awaits {
            self.runs.entry(run).or_default().push(id.clone());
        }
        match self.by_id.insert(id.clone(), over) {
            None => self.order.push_back(id),
            Some(before) => self.forget_run(&id, &before),
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
            && let Some(over) = self.by_id.remove(&oldest)
        {
            self.forget_run(&oldest, &over);
        }
    }

    fn forget_run(&mut self, id: &RequestId, over: &ClosedQuestion) {
        let Some(run) = over.awaits else { return };
        if let Some(all) = self.runs.get_mut(&run) {
            if let Some(at) = all.iter().position(|other| other == id) {
                all.remove(at);
            }
            if all.is_empty() {
                self.runs.remove(&run);
            }
        }
    }

    /// Returns what became of a question, unless this copy shows it already. Notes that it does
    /// from now on.
    pub(super) fn text_for_new_copy(&mut self, copy: &QuestionCopy) -> Option<String> {
        let over = self.by_id.get_mut(&copy.question)?;
        if over.copies.contains(copy) {
            return None;
        }
        over.copies.push(copy.clone());
        Some(over.text.clone())
    }

    /// Takes the latest question that allowed this run and has not been matched with a report.
    pub(super) fn take_run(&mut self, run: &CallDigest) -> Option<RequestId> {
        let all = self.runs.get_mut(run)?;
        let id = all.pop();
        if all.is_empty() {
            self.runs.remove(run);
        }
        let id = id?;
        self.by_id.get_mut(&id)?.awaits = None;
        Some(id)
    }
}
