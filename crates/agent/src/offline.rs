//! The engine `offline`: no model and no network, but the real tools. It understands a handful of
//! commands in plain English, so that everything around a model can be tried on a machine where
//! nothing is set up.
//!
//! The same conversation gets the same answer. A message is understood as a whole or not at all;
//! what is said about a tool is made from its result and nothing else.

mod argv;
mod change;
mod deed;
mod look;
mod plan;
mod say;
mod summary;
mod words;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};

use crate::Later;
use crate::engine::{Answer, Call, Engine, EngineError, Piece, Stop, Usage};
use crate::message::{Block, Message, Role};
use deed::Deed;
use plan::{Plan, plan};

/// The name of the model that there is none.
pub const MODEL: &str = "offline";
/// How many words a piece of text has.
const WORDS: usize = 4;
/// What the ids of calls begin with.
const ID: &str = "offline_";

/// The engine that stands in for a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Engine for Offline {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn model(&self) -> &'static str {
        MODEL
    }

    fn can_summarise(&self) -> bool {
        false
    }

    fn answer(&self, call: Call) -> Box<dyn Answer> {
        Box::new(Said(answer(&call).into()))
    }
}

/// What is left to be said.
struct Said(VecDeque<Piece>);

impl Answer for Said {
    fn next<'a>(&'a mut self, into: &'a mut Vec<Piece>) -> Later<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            // Others get their turn between two pieces, as they would with a model.
            tokio::task::yield_now().await;
            let piece = self.0.pop_front();
            let is_more = piece.is_some();
            into.extend(piece);
            Ok(is_more)
        })
    }
}

/// The whole answer.
fn answer(call: &Call) -> Vec<Piece> {
    let moment = Moment::of(&call.messages);
    let mut text = String::new();
    if !call.messages.iter().any(|message| message.role == Role::Assistant) {
        text = format!("{}\n\n", say::WHO);
    }
    let next = moment.next(&mut text);
    let missing = next.iter().find(|deed| !call.tools.iter().any(|tool| tool.name == deed.tool()));
    let next = match missing {
        Some(deed) => {
            text.push_str(&say::missing(deed.tool()));
            Vec::new()
        }
        None => next,
    };
    if text.is_empty() && next.is_empty() {
        text.push_str(say::NOTHING);
    }
    let mut pieces: Vec<Piece> = in_pieces(&text).map(|piece| Piece::Text(piece.into())).collect();
    let number = unused(&call.messages);
    pieces.extend(next.iter().enumerate().map(|(at, deed)| use_of(deed, number, at)));
    pieces.push(Piece::Usage(Usage::default()));
    pieces.push(Piece::End(if next.is_empty() { Stop::EndTurn } else { Stop::ToolUse }));
    pieces
}

fn use_of(deed: &Deed, number: usize, at: usize) -> Piece {
    let input = to_raw_value(&deed.input()).unwrap_or_else(|_| RawValue::NULL.to_owned());
    Piece::ToolUse {
        id: format!("{ID}{number}_{at}"),
        name: deed.tool().into(),
        input,
        fault: None,
    }
}

/// A number that no call of the conversation has yet.
fn unused(messages: &[Arc<Message>]) -> usize {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let numbers = blocks.filter_map(|block| match block {
        Block::ToolUse { id, .. } => id.strip_prefix(ID)?.split('_').next()?.parse().ok(),
        _ => None,
    });
    // A conversation that was made shorter still has its last calls in it.
    numbers.map(|number: usize| number.saturating_add(1)).max().unwrap_or(0).max(messages.len())
}

/// A text in pieces of a few words, which are the text again when they are put together.
fn in_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends =
            rest.char_indices().zip(rest.chars().skip(1)).filter_map(|((at, c), next)| {
                (c.is_whitespace() && !next.is_whitespace()).then_some(at + c.len_utf8())
            });
        let end = ends.nth(WORDS - 1).unwrap_or(rest.len());
        let (piece, later) = rest.split_at(end);
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Where a conversation stands.
struct Moment<'a> {
    /// What the user said last.
    command: &'a str,
    /// How many rounds of tools there were since.
    rounds: usize,
    /// What came of the last one.
    results: Vec<summary::Came<'a>>,
}

impl<'a> Moment<'a> {
    fn of(messages: &'a [Arc<Message>]) -> Self {
        let spoken = messages.iter().rposition(|message| {
            message.role == Role::User && message.content.iter().any(|block| text(block).is_some())
        });
        let said = spoken.map_or(&[][..], |at| &messages[at].content);
        let since = &messages[spoken.map_or(messages.len(), |at| at + 1)..];
        let is_round = |message: &&Arc<Message>| {
            message.role == Role::Assistant
                && message.content.iter().any(|block| matches!(block, Block::ToolUse { .. }))
        };
        Self {
            command: said.iter().rev().find_map(text).unwrap_or_default(),
            rounds: since.iter().filter(is_round).count(),
            results: summary::results(since),
        }
    }

    /// Says what there is to say, and gives what is to be done next.
    fn next(&self, text: &mut String) -> Vec<Deed> {
        let mut steps = match plan(self.command) {
            Plan::Do(steps) => steps,
            Plan::Say(words) => {
                // The one line of who speaks is there already.
                text.push_str(if text.is_empty() { &words } else { say::without_who(&words) });
                return Vec::new();
            }
        };
        let left = steps.split_off(self.rounds.min(steps.len()));
        text.push_str(&summary::of(&self.results));
        if self.rounds > 0 && self.results.iter().any(|came| came.is_error) && !left.is_empty() {
            text.push_str(&say::stopped(&left));
            return Vec::new();
        }
        let next = left.into_iter().next().unwrap_or_default();
        if !next.is_empty() && self.rounds > 0 {
            text.push_str("\n\n");
        }
        next
    }
}

fn text(block: &Block) -> Option<&str> {
    if let Block::Text { text } = block { Some(text) } else { None }
}

#[cfg(test)]
mod tests;
