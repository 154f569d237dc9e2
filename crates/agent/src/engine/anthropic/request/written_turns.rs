//! The serialised turns of the last request, most of which the next request repeats.
//!
//! A conversation is sent as a whole with every request, and grows at its end. So its beginning is
//! serialised once: a request reuses what the one before it wrote of the same messages. The last
//! turns are always serialised again, because cache marks move there.

use std::sync::Arc;

use super::{RequestTurn, request_turns};
use crate::engine::CacheLife;
use crate::message::message_list::MessageList;
use crate::message::{ChatMessage, Role};

/// How many turns at the end are not kept. The user's last two, which get marks, are among them.
const MOVING: usize = 4;
/// The most bytes that are kept. Only a conversation with many pictures has more.
const LONGEST: usize = 4 * 1024 * 1024;
/// What the last turns of a request mostly need, in bytes.
const ROOM: usize = 16 * 1024;

/// The turns of the last request, except for its last ones.
#[derive(Debug, Default)]
pub(in crate::engine::anthropic) struct WrittenTurns {
    with_thoughts: bool,
    /// The messages of which the turns were made.
    messages: Vec<Arc<ChatMessage>>,
    turns: Vec<WrittenTurn>,
    /// The turns as JSON, each with a comma after it, for the next request.
    pub(super) json: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct WritingMode {
    pub(super) with_thoughts: bool,
    /// How long the provider keeps them.
    pub(super) life: CacheLife,
}

#[derive(Debug, Clone, Copy)]
struct WrittenTurn {
    /// How many messages there are up to its end.
    upto: usize,
    /// How many messages have to be the same so that nothing more can become part of it.
    sure: usize,
    /// Where it ends in the text.
    end: usize,
}

impl WrittenTurns {
    /// Writes the messages as a JSON array to `output`. Returns false if there is nothing to send.
    pub(super) fn write(
        &mut self,
        messages: &MessageList,
        WritingMode { with_thoughts, life }: WritingMode,
        output: &mut Vec<u8>,
    ) -> serde_json::Result<bool> {
        self.keep_common(messages, with_thoughts);
        let from = |written: &Self| written.turns.last().map_or(0, |turn| turn.upto);
        let mut fresh = request_turns(messages.iter_from(from(self)), with_thoughts);
        let users = fresh.iter().filter(|turn| turn.role == Role::User).count();
        // The user's last two turns get cache marks, so both have to be written anew.
        if users < 2 && !self.turns.is_empty() {
            self.clear();
            fresh = request_turns(messages.iter(), with_thoughts);
        }
        super::mark_for_cache(&mut fresh, life);
        if fresh.is_empty() {
            return Ok(false);
        }
        output.reserve(self.json.len() + ROOM);
        output.push(b'[');
        output.extend_from_slice(&self.json);
        self.add_turns(from(self), &fresh, output)?;
        output.push(b']');
        if self.json.len() > LONGEST {
            self.clear();
        }
        // A message that stays is not touched, because taking thousands of references anew takes a
        // noticeable part of the time to the first token.
        let sure = self.turns.last().map_or(0, |turn| turn.sure);
        self.messages.truncate(sure);
        let kept = self.messages.len();
        self.messages.extend(messages.iter_from(kept).take(sure - kept).cloned());
        Ok(true)
    }

    fn clear(&mut self) {
        self.turns.clear();
        self.json.clear();
    }

    /// Forgets all turns that are not made of the same messages.
    fn keep_common(&mut self, messages: &MessageList, with_thoughts: bool) {
        let is_same =
            |(one, other): &(&Arc<ChatMessage>, &Arc<ChatMessage>)| Arc::ptr_eq(one, other);
        let same = self.messages.iter().zip(messages.iter()).take_while(is_same).count();
        self.messages.truncate(same);
        // Without thoughts a turn has other bytes, although it is made of the same messages.
        let same = if self.with_thoughts == with_thoughts { same } else { 0 };
        self.with_thoughts = with_thoughts;
        let kept = self.turns.iter().take_while(|turn| turn.sure <= same).count();
        self.turns.truncate(kept);
        self.json.truncate(self.turns.last().map_or(0, |turn| turn.end));
    }

    /// Writes turns to `output`, and keeps all but the last ones.
    fn add_turns(
        &mut self,
        from: usize,
        fresh: &[RequestTurn<'_>],
        output: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let kept = fresh.len().saturating_sub(MOVING);
        for (at, turn) in fresh.iter().enumerate() {
            let start = output.len();
            serde_json::to_writer(&mut *output, turn)?;
            if at + 1 < fresh.len() {
                output.push(b',');
            }
            if at < kept {
                self.json.extend_from_slice(&output[start..]);
                // The next turn has the other role, so nothing is added to this one as long as that
                // is there.
                let (upto, sure) = (from + turn.upto, from + fresh[at + 1].upto);
                self.turns.push(WrittenTurn { upto, sure, end: self.json.len() });
            }
        }
        Ok(())
    }
}
