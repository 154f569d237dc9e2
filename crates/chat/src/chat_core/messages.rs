//! Messages of the user, with the files that they name.

use callgate_wire::session::{Attachment, UserMessage};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::ChatCore;
use crate::attached_files::find_attachments;

impl ChatCore {
    /// Returns a message of this conversation, with the files that it names, and shows it.
    pub(super) fn build_message(&mut self, text: &str) -> UserMessage {
        let files = find_attachments(text, &self.folders);
        let names: Vec<String> = files.iter().map(name_of).collect();
        if self.echoes {
            self.transcript.user_message(text, &names, &self.page);
        } else {
            self.transcript.end_answer(&self.page);
        }
        self.last_message = Some(text.to_owned());
        UserMessage { attachments: files, metadata: self.metadata(), ..UserMessage::new(text) }
    }

    /// Names the conversation, so that a runtime that was started again goes on with it.
    pub(super) fn metadata(&self) -> Option<Box<RawValue>> {
        let id = self.conversation.as_ref()?;
        to_raw_value(&json!({ "conversationId": id })).ok()
    }
}

fn name_of(file: &Attachment) -> String {
    match file {
        Attachment::File { path, .. } => path.clone(),
        Attachment::Inline { name, .. } => name.clone().unwrap_or_default(),
    }
}
