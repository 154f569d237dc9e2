//! Puts a summary in the place of what was said first, before the engine cannot read it all.

use std::sync::Arc;

use callgate_wire::session::{Event, Notice};

use super::{Drive, Shared, halted};
use crate::compact::{self, Cut};
use crate::engine::{Call, Piece, Usage};
use crate::event::Failure;
use crate::history::Step;
use crate::message::Message;

/// A summary that is as long as this has gone astray, and is not waited for any more.
const LONGEST_SUMMARY: usize = 256 * 1024;

impl Drive<'_> {
    /// Shortens the conversation if that has to be. Nothing is done when the turn is to stop
    /// meanwhile.
    pub(super) async fn make_room(&mut self) -> Result<(), Failure> {
        let messages = self.conversation();
        let Some(Cut { upto }) = compact::plan(&messages, self.read, self.shared.options.context)
        else {
            return Ok(());
        };
        let upto = upto.min(self.held.messages().len());
        if upto == 0 || self.replacing {
            return Ok(());
        }
        let mut usage = Usage::default();
        let asked = compact::summary_call(&messages, upto);
        let written = tokio::select! {
            biased;
            _ = halted(&mut self.halt) => return Ok(()),
            written = summarise(self.shared, &self.name, asked, &mut usage) => written,
        };
        let summary = compact::summary(&written);
        let summary = summary.unwrap_or_else(|| compact::fallback(&messages, upto));
        self.beside = self.beside.plus(usage);
        let spent = Some(self.spend(usage));
        self.held.commit(Step { spent, ..Step::default() }).await?;
        self.held.compact(upto, summary).await?;
        self.read = None;
        self.tell_shortened(upto);
        Ok(())
    }

    fn tell_shortened(&self, upto: usize) {
        let text = format!(
            "the first {upto} messages of this conversation were replaced by a summary, because \
             the model cannot read more"
        );
        let event = if self.shared.output.takes_notices() {
            Event::Notice(Notice { kind: "compacted".to_owned(), text })
        } else {
            Event::Token(format!("[{text}]\n\n"))
        };
        self.shared.output.say(&self.id, event);
    }
}

/// The engine's own summary; nothing when it gives none, or may not be asked.
async fn summarise(
    shared: &Shared,
    conversation: &str,
    messages: Vec<Arc<Message>>,
    usage: &mut Usage,
) -> String {
    let options = &shared.options;
    let mut written = String::new();
    if !options.engine.can_summarise() || shared.may_spend(conversation).await.is_err() {
        return written;
    }
    let mut answer = options.engine.answer(Call {
        system: Arc::clone(&options.system),
        messages,
        // A conversation that has used tools can only be sent along with them.
        tools: Arc::clone(&shared.specs),
        max_tokens: options.max_tokens,
        thinking: None,
    });
    let mut pieces = Vec::new();
    loop {
        let goes_on = answer.next(&mut pieces).await;
        for piece in pieces.drain(..) {
            match piece {
                Piece::Text(text) => written.push_str(&text),
                Piece::Usage(taken) => *usage = taken,
                _ => {}
            }
        }
        match goes_on {
            Ok(true) if written.len() < LONGEST_SUMMARY => {}
            Ok(_) => return written,
            // Half of a summary would hide the other half.
            Err(_) => return String::new(),
        }
    }
}
