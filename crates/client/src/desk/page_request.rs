//! Requests that a page makes of the desk, through a host that passes them on.

use callgate_wire::desk::{DeskCommand, DeskMessage, DeskRequest, Unreadable};

use super::{DeskClient, DeskReplies};
use crate::DeskError;

#[derive(Debug)]
pub struct PageRequest(DeskRequest);

/// The messages of the desk for a request of a page, with the id that the page chose.
#[derive(Debug)]
pub struct PageReplies {
    id: String,
    replies: DeskReplies,
}

impl PageRequest {
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        DeskRequest::decode(line).map(Self)
    }

    /// Returns true for what a page may ask. Keys and codes are not made by pages, and entries have
    /// a stream of their own.
    pub fn is_allowed(&self) -> bool {
        !matches!(
            self.0.command,
            DeskCommand::Watch { .. }
                | DeskCommand::Answer { .. }
                | DeskCommand::Unlock { .. }
                | DeskCommand::Pair { .. }
                | DeskCommand::Code { .. }
                | DeskCommand::Gate { .. }
        )
    }

    /// Returns true for what the page of a person of a team may ask: what is needed to answer, to
    /// see what was decided and by which rules, and to care for their own links. Nothing of the
    /// desk's owner can be changed or tried out.
    pub fn is_allowed_for_person(&self) -> bool {
        matches!(
            self.0.command,
            DeskCommand::Press { .. }
                | DeskCommand::Inbox
                | DeskCommand::Card { .. }
                | DeskCommand::History { .. }
                | DeskCommand::Figures { .. }
                | DeskCommand::Export { .. }
                | DeskCommand::Verify
                | DeskCommand::Rules
                | DeskCommand::Links
                | DeskCommand::Unpair { .. }
                | DeskCommand::Code { page: false }
        )
    }

    pub fn removed_link(&self) -> Option<&str> {
        match &self.0.command {
            DeskCommand::Unpair { link } => Some(link),
            _ => None,
        }
    }

    pub async fn send(self, desk: &DeskClient) -> Result<PageReplies, DeskError> {
        let DeskRequest { id, command } = self.0;
        Ok(PageReplies { id, replies: desk.request(command).await? })
    }
}

impl PageReplies {
    /// Returns the next message; the last one is the answer, or an error of the desk. Returns
    /// `None` after that.
    pub async fn next(&mut self) -> Result<Option<DeskMessage>, DeskError> {
        let mut message = self.replies.next().await?;
        if let Some(
            DeskMessage::Answer { id, .. }
            | DeskMessage::Waiting { id, .. }
            | DeskMessage::Progress { id, .. }
            | DeskMessage::Error { id: Some(id), .. },
        ) = &mut message
        {
            self.id.clone_into(id);
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_make_no_keys_and_no_codes() {
        let is_allowed = |fields: &str| {
            PageRequest::decode(format!(r#"{{"id":"1",{fields}}}"#).as_bytes())
                .unwrap()
                .is_allowed()
        };
        assert!(is_allowed(r#""kind":"status""#) && is_allowed(r#""kind":"links""#));
        assert!(!is_allowed(r#""kind":"watch""#) && !is_allowed(r#""kind":"code""#));
        assert!(!is_allowed(r#""kind":"unlock","token":"t""#));
        assert!(!is_allowed(r#""kind":"pair","code":"c","name":"n""#));
        assert!(PageRequest::decode(b"{}").is_err());
    }
}
