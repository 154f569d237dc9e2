//! Messages of the user's.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::attachment::{Attachment, decode_attachments, decode_images};
use super::conversation::{decode_metadata, of_metadata};
use crate::fields::{Malformed, if_present, optional_field, optional_object, required_field};
use crate::raw::Members;

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    pub message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// A JSON object that only the front end understands, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Box<RawValue>>,
    /// Whether the message is for the turn that runs in its conversation, which reads it in its
    /// next round. Without such a turn it is an ordinary message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
    /// The JSON Schema that the answer has to fit, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Box<RawValue>>,
}

/// A message of the user's in a conversation that is loaded as events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastUserMessage {
    pub message: String,
    /// The files that were attached.
    #[serde(default, deserialize_with = "null_as_empty", skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<PastAttachment>,
}

/// An attached file, in a conversation that is loaded as events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastAttachment {
    pub mime: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many bytes it has.
    pub size: u64,
    /// The content in base64, if it is a picture or document that fits into a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl UserMessage {
    /// Returns a message without files that names no conversation.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            attachments: Vec::new(),
            metadata: None,
            steer: false,
            output_schema: None,
        }
    }

    pub fn conversation_id(&self) -> Option<String> {
        // An id that is wrong was refused when the message was read.
        of_metadata(self.metadata.as_deref()).ok().flatten()
    }

    pub(super) fn from_members(members: &Members) -> Result<Self, Malformed> {
        let metadata = if_present(members, "metadata", decode_metadata)?;
        let message = required_field(members, "message", "a string")?;
        let mut attachments = decode_attachments(members)?;
        attachments.extend(decode_images(members)?);
        let steer = optional_field(members, "steer", "true or false")?.unwrap_or_default();
        let output_schema = optional_object(members, "outputSchema")?;
        Ok(Self { message, attachments, metadata, steer, output_schema })
    }
}

/// Reads an array that may be `null`, which counts as absent.
fn null_as_empty<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<PastAttachment>, D::Error> {
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}
