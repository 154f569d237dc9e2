//! Requests of the front end.

use serde::Serialize;

use super::{
    LONGEST_ID, LONGEST_REFUSED_ID, STRING_256, SessionCommand, Unreadable, UnreadableReason,
};
use crate::fields::{Malformed, members_of, one_line, text_field};

#[derive(Debug, Clone, Serialize)]
pub struct SessionRequest {
    /// The id, chosen by the front end. Every response to this request repeats it.
    pub id: String,
    #[serde(flatten)]
    pub command: SessionCommand,
}

impl SessionRequest {
    /// Reads a request from a line's bytes, with or without the newline.
    ///
    /// A request whose id is over [`LONGEST_ID`] is refused; the error has the id, unless that is
    /// over [`LONGEST_REFUSED_ID`], too.
    pub fn decode(line: &[u8]) -> Result<Self, Unreadable> {
        let members = members_of(line).map_err(UnreadableReason::from)?;
        let id = text_field(&members, "id").ok_or(UnreadableReason::NoId)?;
        if id.len() > LONGEST_ID {
            let reason = UnreadableReason::from(Malformed::wrong_field("id", STRING_256));
            let id = Some(id).filter(|id| id.len() <= LONGEST_REFUSED_ID);
            return Err(Unreadable { id, reason });
        }
        match SessionCommand::from_members(&members) {
            Ok(command) => Ok(Self { id, command }),
            Err(reason) => Err(Unreadable { id: Some(id), reason }),
        }
    }

    pub fn to_line(&self) -> Vec<u8> {
        one_line(self)
    }
}
