//! Permission modes, and going back in a conversation: copying it, and removing its last exchanges.

use callgate_mask::text::counted_noun;
use callgate_wire::session::{
    ConversationMessages, ConversationMode, ConversationTrimmed, LoadAs, PastMessage,
    SessionCommand,
};
use serde_json::Value;

use super::{ChatCore, Errand};

/// How many messages are searched for the beginning of an exchange. A runtime returns no more in
/// one reply.
const MOST_SEARCHED: u32 = 1000;

/// What to do with a conversation without its last exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchKind {
    /// The last exchanges are removed.
    Rewind,
    /// The rest becomes a new conversation.
    Fork,
}

impl ChatCore {
    /// Shows the current mode, or sets one.
    pub(super) fn mode_command(&mut self, name: &str) {
        let names = ConversationMode::ALL.map(ConversationMode::name).join(", ");
        match (name, ConversationMode::parse(name)) {
            ("", _) => {
                let now = self.status.mode.unwrap_or_default().name();
                self.show_note(&format!(
                    "The mode is {now}. The modes are {names}: /mode NAME chooses one."
                ));
            }
            (_, Some(mode)) => {
                let conversation_id = self.conversation.clone();
                let command = SessionCommand::SetMode { conversation_id, mode };
                self.send_errand(Errand::SetMode, command);
            }
            (_, None) => {
                self.transcript.draw_error(&format!("The modes are {names}."), &self.page);
            }
        }
    }

    /// Goes back by some exchanges: looks for the message at which the last of them begins.
    pub(super) fn branch_command(&mut self, kind: BranchKind, rest: &str) {
        let usual = if kind == BranchKind::Rewind { "1" } else { "0" };
        let count = if rest.is_empty() { usual } else { rest };
        let (Ok(count), Some(id)) = (count.parse::<usize>(), self.conversation.clone()) else {
            return self.show_note("Give a number of exchanges: your messages with their answers.");
        };
        if count == 0 {
            return self.start_branch(kind, None);
        }
        let (limit, load_as) = (Some(MOST_SEARCHED), LoadAs::Messages);
        let command =
            SessionCommand::LoadConversation { conversation_id: id, limit, before: None, load_as };
        self.send_errand(Errand::Branch { kind, count }, command);
    }

    /// Handles the messages in which an exchange is looked for.
    pub(super) fn branch_found(
        &mut self,
        kind: BranchKind,
        count: usize,
        loaded: &ConversationMessages,
    ) {
        let begins =
            (loaded.first..).zip(&loaded.messages).filter(|(_, said)| begins_exchange(said));
        let begins: Vec<u64> = begins.map(|(number, _)| number).collect();
        if let Some(length) = begins.len().checked_sub(count).and_then(|at| begins.get(at)) {
            self.start_branch(kind, Some(*length));
        } else {
            let all = counted_noun(begins.len(), "exchange");
            self.show_note(&format!("The conversation has only {all}."));
        }
    }

    fn start_branch(&mut self, kind: BranchKind, length: Option<u64>) {
        let Some(conversation_id) = self.conversation.clone() else { return };
        let (errand, command) = match (kind, length) {
            (BranchKind::Fork, length) => {
                let title = None;
                let command = SessionCommand::ForkConversation { conversation_id, length, title };
                (Errand::Fork, command)
            }
            (BranchKind::Rewind, Some(length)) => {
                let conversation_id = Some(conversation_id);
                (Errand::Rewind, SessionCommand::Rewind { conversation_id, length })
            }
            (BranchKind::Rewind, None) => return self.show_note("Nothing was removed."),
        };
        self.send_errand(errand, command);
    }

    /// Goes on with the conversation as it is now.
    pub(super) fn handle_branch(&mut self, kind: BranchKind, trimmed: ConversationTrimmed) {
        let messages = trimmed.length;
        self.show_note(&match kind {
            BranchKind::Fork => format!(
                "This is a copy of the conversation, with {messages} messages. /list has both."
            ),
            BranchKind::Rewind => format!(
                "The conversation has {messages} messages now. Files are as they were: see /undo."
            ),
        });
        self.conversation = Some(trimmed.conversation_id);
        // It may be among what is gone, and `/edit` would offer a message that is not the last.
        self.last_message = None;
    }
}

/// Returns true for a message that the user wrote, and not for the results of tools.
fn begins_exchange(said: &PastMessage) -> bool {
    let blocks: Vec<Value> = serde_json::from_str(said.content.get()).unwrap_or_default();
    said.role == "user" && blocks.iter().all(|block| block["type"] != "tool_result")
}
