//! The results of servers' tools, for the model and for the front end.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_mask::text::{Measure, cut};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::message::MediaSource;
use crate::picture::{LARGEST_PICTURE, MOST_PICTURES, is_picture};
use crate::run::MOST_OUTPUT;
use crate::tool::CallOutcome;

/// What stands for a content that this version does not know.
const UNKNOWN: &str = "[something of an unknown kind is left out]";

/// Returns the outcome of a call.
pub(super) fn outcome(result: &CallToolResult) -> CallOutcome {
    let mut parts = Vec::new();
    let mut images = Vec::new();
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => parts.push(text.text.clone()),
            ContentBlock::Image(image) => match picture(&image.mime_type, &image.data) {
                Ok(source) if images.len() < MOST_PICTURES => images.push(source),
                Ok(_) => parts.push(format!("[more than {MOST_PICTURES} pictures]")),
                Err(note) => parts.push(note),
            },
            ContentBlock::Audio(audio) => {
                parts.push(format!("[sound of the type {} is left out]", audio.mime_type));
            }
            ContentBlock::ResourceLink(link) => parts.push(format!("{}: {}", link.name, link.uri)),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    parts.push(format!("{uri}:\n{text}"));
                }
                ResourceContents::BlobResourceContents { uri, .. } => {
                    parts.push(format!("[{uri} holds bytes, which are left out]"));
                }
                _ => parts.push(UNKNOWN.to_owned()),
            },
            _ => parts.push(UNKNOWN.to_owned()),
        }
    }
    if parts.is_empty() && images.is_empty() {
        parts.extend(result.structured_content.as_ref().map(ToString::to_string));
    }
    let text = shown(&parts.join("\n"));
    if result.is_error == Some(true) {
        let text = if text.is_empty() { "the tool failed and did not say why" } else { &text };
        // The API accepts no pictures in the result of a failed call.
        return CallOutcome::failed(text);
    }
    CallOutcome { images, ..CallOutcome::done(result, text) }
}

/// Returns a picture as the model reads it, or a note in place of it.
fn picture(mime_type: &str, data: &str) -> Result<MediaSource, String> {
    if !is_picture(mime_type) {
        return Err(format!("[a picture of the type {mime_type} is left out]"));
    }
    match STANDARD.decode(data) {
        Ok(bytes) if bytes.len() > LARGEST_PICTURE => {
            Err(format!("[a picture of {} bytes is left out: it is too large]", bytes.len()))
        }
        Ok(bytes) if !bytes.is_empty() => {
            Ok(MediaSource::Base64 { media_type: mime_type.to_owned(), data: data.to_owned() })
        }
        Ok(_) | Err(_) => Err("[a picture that cannot be read is left out]".to_owned()),
    }
}

/// Returns as much of a text as the model is given.
fn shown(text: &str) -> String {
    let kept = cut(text, MOST_OUTPUT, Measure::Bytes);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    format!("{kept}\n[… {} bytes are left out …]", text.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(result: Value, text: &str, pictures: usize) -> CallOutcome {
        let outcome = outcome(&serde_json::from_value(result).unwrap());
        assert_eq!((outcome.text.as_str(), outcome.images.len()), (text, pictures));
        outcome
    }

    #[test]
    fn text_and_pictures_reach_the_model() {
        let picture = json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="});
        let content =
            json!([{"type": "text", "text": "a"}, picture, {"type": "text", "text": "b"}]);
        let told = check(json!({ "content": content }), "a\nb", 1);
        assert!(!told.is_error);
        assert_eq!(serde_json::from_str::<Value>(told.result.get()).unwrap()["content"], content);
        check(
            json!({"content": [picture], "isError": true}),
            "the tool failed and did not say why",
            0,
        );
        check(json!({"content": [], "structuredContent": {"a": 1}}), r#"{"a":1}"#, 0);
    }

    #[test]
    fn what_a_model_cannot_read_is_named() {
        let image = |mime: &str, data: &str| json!({"content": [{"type": "image", "mimeType": mime, "data": data}]});
        check(image("image/tiff", "AAAA"), "[a picture of the type image/tiff is left out]", 0);
        check(image("image/png", "%%"), "[a picture that cannot be read is left out]", 0);
        let sound = json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"});
        check(json!({ "content": [sound] }), "[sound of the type audio/wav is left out]", 0);
        let long = "é".repeat(MOST_OUTPUT);
        let told = outcome(
            &serde_json::from_value(json!({"content": [{"type": "text", "text": long}]})).unwrap(),
        );
        assert!(told.text.ends_with("\n[… 100000 bytes are left out …]"), "{}", told.text.len());
        let blob = json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AAAA"}});
        check(json!({ "content": [blob] }), "[a:b holds bytes, which are left out]", 0);
        let failed =
            check(json!({"content": [{"type": "text", "text": "no"}], "isError": true}), "no", 0);
        assert!(failed.is_error && failed.result.get() == r#"{"error":"no"}"#);
    }
}
