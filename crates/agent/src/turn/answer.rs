//! An answer as it comes together.

use crate::engine::AnswerPiece;
use crate::message::Block;

/// What has come of an answer so far.
#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    blocks: Vec<Block>,
    /// How many bytes it has.
    pub(super) size: usize,
}

impl PartialAnswer {
    pub(super) fn text(&mut self, piece: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text { text }) => text.push_str(piece),
            _ => self.blocks.push(Block::text(piece)),
        }
    }

    pub(super) fn thinking(&mut self, piece: &str) {
        match self.blocks.last_mut() {
            // A thought that is signed has ended.
            Some(Block::Thinking { thinking, signature }) if signature.is_empty() => {
                thinking.push_str(piece);
            }
            _ => self
                .blocks
                .push(Block::Thinking { thinking: piece.to_owned(), signature: String::new() }),
        }
    }

    pub(super) fn signature(&mut self, piece: &str) {
        match self.blocks.last_mut() {
            Some(Block::Thinking { signature, .. }) if signature.is_empty() => {
                signature.push_str(piece);
            }
            // Some models sign a thought that they do not show.
            _ => self
                .blocks
                .push(Block::Thinking { thinking: String::new(), signature: piece.to_owned() }),
        }
    }

    pub(super) fn block(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Returns true if nobody has seen anything of it.
    pub(super) fn is_unseen(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns true if it says nothing that a model could go on from.
    pub(super) fn is_silent(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            Block::Text { text } => text.trim().is_empty(),
            Block::ToolUse { .. } => false,
            _ => true,
        })
    }

    /// Returns all that can be sent to the model again. A thought alone cannot.
    pub(super) fn finish(self) -> Vec<Block> {
        if self.is_silent() {
            return Vec::new();
        }
        let is_sendable = |block: &Block| match block {
            Block::Text { text } => !text.trim().is_empty(),
            Block::Thinking { signature, .. } => !signature.is_empty(),
            _ => true,
        };
        self.blocks.into_iter().filter(is_sendable).collect()
    }
}

/// What a call takes beside its words: its result, its events and its place in the conversation.
const CALL: usize = 1024;

/// Returns how many bytes a piece has.
pub(super) fn size(piece: &AnswerPiece) -> usize {
    match piece {
        AnswerPiece::Text(text)
        | AnswerPiece::Thinking(text)
        | AnswerPiece::Signature(text)
        | AnswerPiece::Redacted(text) => text.len(),
        AnswerPiece::ToolUse { id, name, input, .. } => {
            CALL + id.len() + name.len() + input.get().len()
        }
        AnswerPiece::Usage(_) | AnswerPiece::End(_) => 0,
    }
}
