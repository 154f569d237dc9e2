//! Decides when a conversation is too long for its model, and what to replace then. Pure.
//!
//! The first turns are replaced by a summary, which the model writes, or which is composed without
//! it. The last turns stay as they are, unless the last one alone is too long: then its first
//! rounds are replaced too, and it goes on from its last ones.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::sync::Arc;

use callgate_mask::text::shortened_text;

use crate::history::without_thoughts;
use crate::message::estimate::message_tokens;
use crate::message::{Block, ChatMessage, Role};

/// The percentage of the model's context that may be used before turns are replaced. The rest is
/// for the answer, and for what the estimate misses.
const FULL: u64 = 80;
/// The percentage of the context that stays as it is. If more stayed, the next summary would follow
/// soon.
const KEPT: u64 = 30;
/// The assumed context of an unknown model, in tokens.
const WINDOW: u64 = 200_000;
const LARGE_WINDOW: u64 = 1_000_000;
/// Prefixes of the names of models with a context of a million tokens.
const LARGE: [&str; 5] =
    ["claude-fable-5", "claude-mythos-5", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5"];

/// The limits of a summary without a model, and of each message in it, in characters.
const LONGEST_LIST: usize = 8000;
const LONGEST_ITEM: usize = 400;

/// The prompt with which the model is asked for a summary.
pub const REQUEST: &str = "\
This conversation is getting too long. Write a summary that takes its place, for yourself: you \
will go on from it without seeing what came before. Say what the user wants and has decided, in \
their own words where they matter; what was done, with the names of files, commands and their \
results; what was found out; what failed and why; and what is still to be done. Leave out \
greetings and everything that no longer matters. Use no tools. Write nothing but the summary.";

const OPENING: &str = "[The beginning of this conversation was left out. This is its summary:]";
const LIST: &str = "[The beginning of this conversation was left out, and there is no summary of \
                    it. These are the user's messages in it, shortened:]";

/// Returns the context of a model in tokens; a low number for an unknown model.
pub fn model_window(model: &str) -> u64 {
    let is_large = LARGE.iter().any(|name| model.starts_with(name));
    if is_large { LARGE_WINDOW } else { WINDOW }
}

/// Returns true if this many tokens leave the model too little room. `counted` is the estimate of
/// all messages and `newest` that of the user's newest one, which the last answer did not read; for
/// `last_tokens` see [`messages_to_replace`].
pub fn is_full(counted: u64, newest: u64, last_tokens: Option<u64>, window: u64) -> bool {
    needed_tokens(counted, newest, last_tokens) > share_of_window(window, FULL)
}

fn needed_tokens(counted: u64, newest: u64, last_tokens: Option<u64>) -> u64 {
    counted.max(last_tokens.unwrap_or(0).saturating_add(newest))
}

fn share_of_window(window: u64, hundredths: u64) -> u64 {
    window / 100 * hundredths
}

/// Returns how many of the first messages have to be replaced by a summary before the model is
/// asked with these messages, of which the last may be the user's newest. Returns `None` if there
/// is enough room, or nothing can be replaced.
/// `last_tokens` is the number of tokens read and written for the last answer, including the system
/// prompt and the tools, which are not estimated here. After a cut it is no longer meaningful.
pub fn messages_to_replace(
    messages: &[Arc<ChatMessage>],
    last_tokens: Option<u64>,
    window: u64,
) -> Option<usize> {
    let sizes: Vec<u64> = messages.iter().map(|message| message_tokens(message)).collect();
    let counted: u64 = sizes.iter().sum();
    let is_new = messages.last().is_some_and(|message| message.role == Role::User);
    let newest = sizes.last().copied().filter(|_| is_new).unwrap_or(0);
    let (needed, full) =
        (needed_tokens(counted, newest, last_tokens), share_of_window(window, FULL));
    if needed <= full {
        return None;
    }
    // Where each turn and each later round begins, and the number of tokens from there on. The
    // estimates are scaled by the tokens that were counted.
    let mut left = counted;
    let (mut starts, mut rounds) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let scaled = u128::from(left) * u128::from(needed) / u128::from(counted.max(1));
        let start = (at, u64::try_from(scaled).unwrap_or(u64::MAX));
        if at > 0 && message.begins_turn() {
            starts.push(start);
        } else if at > 1 && is_new && message.role == Role::Assistant {
            rounds.push(start);
        }
        left -= sizes[at];
    }
    let first_within = |most: u64| starts.iter().find(|(_, left)| *left <= most);
    let last_whole = starts.iter().rev().find(|(at, _)| at + 1 < messages.len());
    // The last whole turn stays, unless that alone is too much.
    let wanted = match (first_within(share_of_window(window, KEPT)), last_whole) {
        (Some(early), Some(whole)) => Some(early.min(whole)),
        (early, whole) => whole.or(early),
    };
    let wanted = wanted.filter(|(_, left)| *left <= full).or_else(|| first_within(full));
    // The last turn alone is too much: its last rounds stay, at least one of them.
    let last_turn = starts.last().map_or(0, |(at, _)| *at);
    let mut rounds = rounds.iter().filter(|(at, _)| *at > last_turn + 1);
    let round = || {
        let last = rounds.clone().next_back();
        rounds.find(|(_, left)| *left <= share_of_window(window, KEPT)).or(last)
    };
    wanted.or_else(round).or(starts.last()).map(|(at, _)| *at)
}

/// Returns the messages that ask the model for a summary of the first `upto`.
pub fn summary_call(messages: &[Arc<ChatMessage>], upto: usize) -> Vec<Arc<ChatMessage>> {
    let mut call = without_thoughts(&messages[..upto.min(messages.len())]);
    let request = Block::text(REQUEST);
    match call.last_mut() {
        Some(last) if last.role == Role::User => Arc::make_mut(last).content.push(request),
        _ => call.push(Arc::new(ChatMessage::user(vec![request]))),
    }
    call
}

/// Returns the message with the model's summary; `None` if the summary is empty.
pub fn summary_message(written: &str) -> Option<ChatMessage> {
    let written = written.trim();
    let text = || format!("{OPENING}\n\n{written}");
    (!written.is_empty()).then(|| ChatMessage::user(vec![Block::text(text())]))
}

/// Returns the message with a summary without a model: a list of what the user has said.
pub fn fallback_summary(messages: &[Arc<ChatMessage>], upto: usize) -> ChatMessage {
    let cut = &messages[..upto.min(messages.len())];
    let said = cut.iter().filter(|message| message.role == Role::User);
    let texts = said.flat_map(|message| &message.content).filter_map(Block::as_text);
    // The last ones matter most.
    let mut room = LONGEST_LIST;
    let mut items: Vec<String> = Vec::new();
    for text in texts.rev() {
        let item = shortened_text(text.trim(), LONGEST_ITEM);
        let Some(left) = room.checked_sub(item.chars().count()) else { break };
        room = left;
        items.push(item);
    }
    let mut list = LIST.to_owned();
    for item in items.iter().rev() {
        // Writing to a string cannot fail.
        write!(list, "\n- {item}").ok();
    }
    ChatMessage::user(vec![Block::text(list)])
}
