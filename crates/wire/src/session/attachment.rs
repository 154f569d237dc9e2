//! Files attached to a message: by path, or inline.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::LONGEST_FILE_NAME;
use crate::fields::Malformed;
use crate::raw::{Json, Members};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Attachment {
    /// A file that the runtime reads.
    File {
        path: String,
        /// Its media type, such as `text/plain`.
        mime: String,
    },
    /// A file whose content is part of the message, for front ends without paths, such as a web
    /// page.
    Inline {
        /// The bytes of the file in base64, or a `data:` URL.
        data: String,
        mime: String,
        /// Its name, in at most [`LONGEST_FILE_NAME`] characters.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

impl Attachment {
    /// Returns true if the content of the file is part of the message.
    pub fn is_inline(&self) -> bool {
        matches!(self, Self::Inline { .. })
    }

    /// Reads one attachment. The member `alias` is accepted in place of `mime`.
    fn from_raw_value(one: &RawValue, alias: &str, wrong: Malformed) -> Result<Self, Malformed> {
        let one = Json::from(one);
        if !one.is_object() {
            return Err(wrong);
        }
        let members = one.members();
        let text = |field: &str| match members.get_non_null(field) {
            None => Ok(None),
            Some(value) => value.string().map(Cow::into_owned).map(Some).ok_or(wrong.clone()),
        };
        let mime = text("mime")?.map_or_else(|| text(alias), |mime| Ok(Some(mime)))?;
        match (text("path")?, text("data")?, mime) {
            (Some(path), None, Some(mime)) => Ok(Self::File { path, mime }),
            (None, Some(data), Some(mime)) => {
                Ok(Self::Inline { data, mime, name: decode_file_name(&members)? })
            }
            _ => Err(wrong),
        }
    }
}

pub(super) fn decode_attachments(members: &Members) -> Result<Vec<Attachment>, Malformed> {
    const EXPECTED: &str = "an array of objects with mime and either path or data";
    let wrong = Malformed::wrong_field("attachments", EXPECTED);
    let Some(each) = members.get_non_null("attachments") else { return Ok(Vec::new()) };
    decode_list(each.get(), "mime", &wrong)
}

/// Reads the pictures of front ends of the first version, which send them as JSON in a string.
pub(super) fn decode_images(members: &Members) -> Result<Vec<Attachment>, Malformed> {
    const EXPECTED: &str =
        "an array of objects with data and mime_type, as it is or as JSON in a string";
    let wrong = Malformed::wrong_field("images", EXPECTED);
    let Some(images) = members.get_non_null("images") else { return Ok(Vec::new()) };
    let images = images.string().unwrap_or(Cow::Borrowed(images.get()));
    if images.is_empty() {
        return Ok(Vec::new());
    }
    let read = decode_list(&images, "mime_type", &wrong)?;
    if read.iter().all(Attachment::is_inline) { Ok(read) } else { Err(wrong) }
}

fn decode_list(each: &str, alias: &str, wrong: &Malformed) -> Result<Vec<Attachment>, Malformed> {
    let each: Vec<&RawValue> = serde_json::from_str(each).map_err(|_| wrong.clone())?;
    each.into_iter().map(|one| Attachment::from_raw_value(one, alias, wrong.clone())).collect()
}

fn decode_file_name(members: &Members) -> Result<Option<String>, Malformed> {
    let wrong = Malformed::wrong_field("attachments.name", "a string of at most 256 characters");
    let Some(name) = members.get_non_null("name") else { return Ok(None) };
    let name = name.string().ok_or(wrong.clone())?.into_owned();
    // Without counting all characters of a name that is far too long.
    let is_short = name.chars().nth(LONGEST_FILE_NAME).is_none();
    if is_short { Ok(Some(name)) } else { Err(wrong) }
}
