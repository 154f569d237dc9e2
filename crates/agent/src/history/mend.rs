//! Makes any list of messages one that a model's API takes.
//!
//! What the API refuses once it refuses for ever, since the same messages are sent again with
//! every request. So nothing is sent that was not mended: each tool use has its result right after
//! it, each result its use, nothing is empty, and the user speaks first. A mended list is mended
//! no further.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::sound;
use crate::message::{Block, Message, Role};

/// What the model reads in place of a result that is not there.
pub const INTERRUPTED: &str = "interrupted: nobody knows whether it ran to its end";

/// Something that was not as the API wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fix {
    /// The number of the message that was read when it was found.
    pub number: u64,
    /// What was found.
    pub fault: Fault,
}

/// What can be wrong with a message, and what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A tool use has no result: it gets one that says so.
    NoResult,
    /// A result has no use, or a second one for it: dropped.
    NoUse,
    /// A result stands behind other things: put before them.
    LateResult,
    /// A tool use whose id was used before: dropped.
    SecondUse,
    /// A tool use without a proper id, name or input: dropped.
    BadUse,
    /// A text of nothing but white space: dropped.
    NoText,
    /// A message with nothing in it: dropped.
    Empty,
    /// An answer to nothing: dropped.
    NoQuestion,
    /// Two messages of one role in a row: joined.
    SameRole,
    /// A thought without a signature: dropped.
    Unsigned,
    /// A thought about messages that are not there any more as it knew them: dropped.
    Stale,
    /// A thought at the end of an answer, with nothing that came of it: dropped.
    LastThought,
    /// Something that only the other role may say: dropped.
    OtherRole,
    /// A picture or a document that no API takes: dropped.
    BadPicture,
    /// A message, or a part of one, that nobody can read: skipped.
    Unreadable,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoResult => "a tool was interrupted",
            Self::NoUse => "a tool's result belonged to no use of it",
            Self::LateResult => "a tool's result stood too late",
            Self::SecondUse => "two uses of a tool had the same id",
            Self::BadUse => "a use of a tool was incomplete",
            Self::NoText => "a text was empty",
            Self::Empty => "a message was empty",
            Self::NoQuestion => "an answer stood first",
            Self::SameRole => "two messages in a row were of one role",
            Self::Unsigned => "a thought had no signature",
            Self::Stale => "a thought was about messages that have changed",
            Self::LastThought => "an answer ended with a thought",
            Self::OtherRole => "a part of a message was of the other role",
            Self::BadPicture => "a picture or document was of no use",
            Self::Unreadable => "a message could not be read",
        })
    }
}

/// Makes `messages` what the API takes; says what it did. Doing it again changes nothing.
#[must_use]
pub fn repair(messages: Vec<Message>) -> (Vec<Message>, Vec<Fix>) {
    let mut mender = Mender::default();
    for (number, message) in (0..).zip(messages) {
        mender.push(number, message, false);
    }
    mender.close();
    let messages = mender.messages.into_iter().map(Arc::unwrap_or_clone).collect();
    (messages, mender.fixes)
}

/// The same messages without the model's thoughts. A model may refuse them when anything before
/// them has changed: the system prompt, the tools, or the messages. What was mended stays so, as
/// no answer is made of thoughts alone.
#[must_use]
pub fn without_thoughts(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let without = |message: &Arc<Message>| {
        if !message.content.iter().any(sound::is_thought) {
            return Arc::clone(message);
        }
        let rest = message.content.iter().filter(|block| !sound::is_thought(block));
        Arc::new(Message { role: message.role, content: rest.cloned().collect() })
    };
    messages.iter().map(without).collect()
}

/// Takes messages in order and has them as the API wants them.
#[derive(Debug, Default)]
pub(super) struct Mender {
    messages: Vec<Arc<Message>>,
    /// For each message the number after the last one that is part of it.
    ends: Vec<u64>,
    /// The ids of all tool uses.
    ids: HashSet<String>,
    /// Those of the last answer that have no result yet.
    open: Vec<String>,
    fixes: Vec<Fix>,
    /// The number of the message that is being read.
    number: u64,
    /// Whether a message is missing that was once sent.
    has_gap: bool,
}

impl Mender {
    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    pub(super) fn fixes(&self) -> &[Fix] {
        &self.fixes
    }

    /// How many of the messages that came are in the first `count` of these.
    pub(super) fn end_of(&self, count: usize) -> u64 {
        count.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    /// Takes what stands for all messages below `upto`.
    pub(super) fn begin(&mut self, upto: u64, summary: Message) {
        self.push(upto.saturating_sub(1), summary, false);
    }

    /// Takes the next message; of one that is `aged` the thoughts no longer count.
    pub(super) fn push(&mut self, number: u64, message: Message, aged: bool) {
        self.number = number;
        match message.role {
            Role::User => self.question(message.content),
            Role::Assistant => self.answer(message.content, aged || self.has_gap),
        }
    }

    /// Notes that a message, or a part of it, cannot be read.
    pub(super) fn skip(&mut self, number: u64) {
        self.number = number;
        self.has_gap = true;
        self.fix(Fault::Unreadable);
    }

    /// Gives every tool use of the last answer a result.
    pub(super) fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        let results: Vec<Block> = open
            .into_iter()
            .map(|tool_use_id| {
                self.fix(Fault::NoResult);
                Block::ToolResult { tool_use_id, content: INTERRUPTED.to_owned(), is_error: true }
            })
            .collect();
        if !results.is_empty() {
            let end = self.end_of(self.messages.len());
            self.put_results(results, end);
        }
    }

    fn fix(&mut self, fault: Fault) {
        self.fixes.push(Fix { number: self.number, fault });
    }

    fn last_role(&self) -> Option<Role> {
        self.messages.last().map(|message| message.role)
    }

    fn question(&mut self, content: Vec<Block>) {
        let (mut results, mut others) = (Vec::new(), Vec::new());
        for block in content {
            if let Err(fault) = sound::of_user(&block) {
                self.fix(fault);
                continue;
            }
            let Block::ToolResult { tool_use_id, .. } = &block else {
                others.push(block);
                continue;
            };
            match self.open.iter().position(|id| id == tool_use_id) {
                Some(at) => {
                    self.open.remove(at);
                    if !others.is_empty() {
                        self.fix(Fault::LateResult);
                    }
                    results.push(block);
                }
                None => self.fix(Fault::NoUse),
            }
        }
        if results.is_empty() && others.is_empty() {
            return self.fix(Fault::Empty);
        }
        if self.last_role() == Some(Role::User) {
            self.fix(Fault::SameRole);
        }
        self.put_results(results, self.number + 1);
        if let Some(last) = self.messages.last_mut() {
            Arc::make_mut(last).content.extend(others);
        }
    }

    /// Puts results into the last message, before all but other results; or into a new one.
    fn put_results(&mut self, results: Vec<Block>, end: u64) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => {
                let content = &mut Arc::make_mut(last).content;
                let is_result = |block: &&Block| matches!(block, Block::ToolResult { .. });
                let at = content.iter().take_while(is_result).count();
                content.splice(at..at, results);
                self.end_at(end);
            }
            _ => self.put(Message::user(results), end),
        }
    }

    fn answer(&mut self, content: Vec<Block>, is_aged: bool) {
        if self.messages.is_empty() {
            return self.fix(Fault::NoQuestion);
        }
        self.close();
        let mut kept = Vec::new();
        let mut open = Vec::new();
        for block in content {
            match self.judge(&block, is_aged) {
                Ok(()) => {
                    if let Block::ToolUse { id, .. } = &block {
                        open.push(id.clone());
                    }
                    kept.push(block);
                }
                Err(fault) => self.fix(fault),
            }
        }
        while kept.pop_if(|last| sound::is_thought(last)).is_some() {
            self.fix(Fault::LastThought);
        }
        if kept.is_empty() {
            return self.fix(Fault::Empty);
        }
        self.open = open;
        if self.last_role() == Some(Role::Assistant) {
            self.fix(Fault::SameRole);
            self.end_at(self.number + 1);
            if let Some(last) = self.messages.last_mut() {
                Arc::make_mut(last).content.extend(kept);
            }
        } else {
            self.put(Message::assistant(kept), self.number + 1);
        }
    }

    fn judge(&mut self, block: &Block, is_aged: bool) -> Result<(), Fault> {
        sound::of_assistant(block)?;
        match block {
            _ if is_aged && sound::is_thought(block) => Err(Fault::Stale),
            Block::ToolUse { id, .. } if !self.ids.insert(id.clone()) => Err(Fault::SecondUse),
            _ => Ok(()),
        }
    }

    fn put(&mut self, message: Message, end: u64) {
        self.messages.push(Arc::new(message));
        self.ends.push(end);
    }

    fn end_at(&mut self, end: u64) {
        if let Some(last) = self.ends.last_mut() {
            *last = end;
        }
    }
}
