//! The results of servers' tools, for the model and for the front end.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use callgate_mask::text::{Measure, cut_to_length};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::message::MediaSource;
use crate::message::picture::MOST_PICTURES;
use crate::tool::CallOutcome;
use crate::tool::run::MOST_OUTPUT;

/// What stands for a content that this version does not know.
const UNKNOWN: &str = "[something of an unknown kind is left out]";

pub(super) fn outcome_of_result(result: &CallToolResult) -> CallOutcome {
    let mut parts = Vec::new();
    let mut images = Vec::new();
    for block in &result.content {
        match block {
            ContentBlock::Text(text) => parts.push(text.text.clone()),
            ContentBlock::Image(image) => match decode_picture(&image.mime_type, &image.data) {
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
    // The protocol wants it repeated as text, so it is read only where that is missing: otherwise
    // the model would read it twice.
    if parts.is_empty() && images.is_empty() {
        parts.extend(result.structured_content.as_ref().map(ToString::to_string));
    }
    let text = shown_text(&parts.join("\n"));
    if result.is_error == Some(true) {
        let text = if text.is_empty() { "the tool failed and did not say why" } else { &text };
        // The API accepts no pictures in the result of a failed call.
        return CallOutcome::failed(text);
    }
    CallOutcome { images, ..CallOutcome::done(result, text) }
}

/// Returns a picture as the model reads it, or a note in place of it. What it is shows in its
/// bytes, whatever the server says.
fn decode_picture(mime_type: &str, data: &str) -> Result<MediaSource, String> {
    let read = STANDARD.decode(data).map_err(|_| "its bytes are not base64".to_owned());
    read.and_then(|bytes| crate::message::picture::parse_picture(&bytes))
        .map_err(|reason| format!("[a picture of the type {mime_type} is left out: {reason}]"))
}

/// Returns as much of a text as the model is given.
fn shown_text(text: &str) -> String {
    let kept = cut_to_length(text, MOST_OUTPUT, Measure::Bytes);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    format!("{kept}\n[… {} bytes are left out …]", text.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::picture::tests::SMALL_PNG;
    use serde_json::{Value, json};

    fn check(result: Value, text: &str, pictures: usize) -> CallOutcome {
        let outcome = outcome_of_result(&serde_json::from_value(result).unwrap());
        assert_eq!((outcome.text.as_str(), outcome.images.len()), (text, pictures));
        outcome
    }

    #[test]
    fn text_and_pictures_reach_the_model() {
        let picture = json!({"type": "image", "mimeType": "image/png", "data": SMALL_PNG});
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
        check(
            image("image/tiff", "AAAA"),
            "[a picture of the type image/tiff is left out: it is not a PNG, JPEG, GIF or WebP \
             picture, or not a whole one]",
            0,
        );
        check(
            image("image/png", "%%"),
            "[a picture of the type image/png is left out: its bytes are not base64]",
            0,
        );
        // A bitmap of 9,000 pixels, which every later request would be refused for.
        let wide = b"GIF89a\x28\x23\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b";
        check(
            image("image/gif", &STANDARD.encode(wide)),
            "[a picture of the type image/gif is left out: the picture has 9000 × 1 pixels, and a \
             model reads at most 8000 on a side: make it smaller]",
            0,
        );
        let sound = json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"});
        check(json!({ "content": [sound] }), "[sound of the type audio/wav is left out]", 0);
        let long = "é".repeat(MOST_OUTPUT);
        let told = outcome_of_result(
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
