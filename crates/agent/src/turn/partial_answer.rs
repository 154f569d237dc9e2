//! An answer that is being put together.

use crate::engine::AnswerPiece;
use crate::message::{Block, append_text, append_thought};

#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    blocks: Vec<Block>,
    pub(super) size: usize,
    /// The call whose input was shown last.
    drafted: String,
}

impl PartialAnswer {
    pub(super) fn append_text(&mut self, piece: &str) {
        append_text(&mut self.blocks, piece);
    }

    pub(super) fn append_thinking(&mut self, piece: &str) {
        append_thought(&mut self.blocks, piece);
    }

    pub(super) fn append_signature(&mut self, piece: &str) {
        match self.blocks.last_mut() {
            Some(Block::Thinking { signature, .. }) if signature.is_empty() => {
                signature.push_str(piece);
            }
            // Some models sign a thought that they do not show, and want it back all the same.
            _ => self
                .blocks
                .push(Block::Thinking { thinking: String::new(), signature: piece.to_owned() }),
        }
    }

    pub(super) fn append_block(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Notes that a piece of a call's input is shown. Returns true for the first one.
    pub(super) fn begins_input(&mut self, call: &str) -> bool {
        let is_first = self.drafted != call;
        if is_first {
            call.clone_into(&mut self.drafted);
        }
        is_first
    }

    /// Returns true if nothing of it was shown.
    pub(super) fn is_unseen(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns true if it holds nothing that the model could continue from.
    pub(super) fn has_nothing_to_continue(&self) -> bool {
        self.blocks.iter().all(|block| match block {
            Block::Text { text } => text.trim().is_empty(),
            Block::ToolUse { .. } => false,
            _ => true,
        })
    }

    /// Returns the blocks that are stored. Some of them may not be sent to the model again.
    pub(super) fn finish(self) -> Vec<Block> {
        let is_blank =
            |block: &Block| matches!(block, Block::Text { text } if text.trim().is_empty());
        self.blocks.into_iter().filter(|block| !is_blank(block)).collect()
    }
}

/// The size of a call in addition to its text: its result, its events and its place in the
/// conversation.
const CALL: usize = 1024;

pub(super) fn piece_size(piece: &AnswerPiece) -> usize {
    match piece {
        AnswerPiece::Text(text)
        | AnswerPiece::Thinking(text)
        | AnswerPiece::Signature(text)
        | AnswerPiece::Redacted(text) => text.len(),
        AnswerPiece::ToolUse { id, name, input, .. } | AnswerPiece::OwnCall { id, name, input } => {
            CALL + id.len() + name.len() + input.get().len()
        }
        AnswerPiece::OwnResult { outcome, .. } => outcome.text.len() + outcome.result.get().len(),
        // The whole input is counted with its call.
        AnswerPiece::ToolInput { .. }
        | AnswerPiece::ToolRejected { .. }
        | AnswerPiece::RoundEnd
        | AnswerPiece::EngineState(_)
        | AnswerPiece::Cost(_)
        | AnswerPiece::LatestResponse(_)
        | AnswerPiece::Usage(_)
        | AnswerPiece::End(_) => 0,
    }
}
