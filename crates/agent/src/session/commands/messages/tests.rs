//! Messages that fit into no line.

use serde_json::json;

use super::*;
use crate::message::MediaSource;

fn picture(bytes: usize) -> Block {
    let data = format!("{}==", "A".repeat(bytes.div_ceil(3) * 4 - 2));
    Block::Image { source: MediaSource::Base64 { media_type: "image/png".to_owned(), data } }
}

fn shown(blocks: &[Block]) -> Vec<serde_json::Value> {
    let content = fitting_content(blocks).unwrap();
    assert!(content.get().len() <= LONGEST);
    serde_json::from_str(content.get()).unwrap()
}

#[test]
fn what_fits_is_given_as_it_is() {
    let blocks = [picture(3_000_001), Block::text("x".repeat(6_000_000))];
    assert_eq!(fitting_content(&blocks).unwrap().get(), to_raw_value(&blocks).unwrap().get());
}

#[test]
fn the_largest_blocks_give_way_and_no_more_of_them() {
    let blocks = [Block::text("look"), picture(4_000_000), picture(12_000_001), picture(1000)];
    let shown = shown(&blocks);
    assert_eq!(shown[0]["text"], "look");
    assert_eq!(shown[1]["type"], "image");
    let told = json!({"type": "text", "text": "[a picture of 12000001 bytes is not shown here]"});
    assert_eq!(shown[2], told);
    assert_eq!(shown[3]["type"], "image");
}

#[test]
fn every_block_can_give_way() {
    let long = || "x".repeat(11_000_000);
    let input = RawValue::from_string(format!("{{\"a\":\"{}\"}}", long())).unwrap();
    let source = MediaSource::Base64 { media_type: "application/pdf".to_owned(), data: long() };
    for (block, expected) in [
        (Block::text(long()), json!({"type": "text", "text": left_out_note("text", 11_000_000)})),
        (
            Block::Document { source, title: None },
            json!({"type": "text", "text": left_out_note("document", 8_250_000)}),
        ),
        (
            Block::Thinking { thinking: long(), signature: String::new() },
            json!({"type": "text", "text": left_out_note("thought", 11_000_000)}),
        ),
        (
            Block::RedactedThinking { data: long() },
            json!({"type": "text", "text": left_out_note("thought", 11_000_000)}),
        ),
        (
            Block::ToolUse { id: "t".to_owned(), name: "look".to_owned(), input },
            json!({
                "type": "tool_use", "id": "t", "name": "look",
                "input": {"error": left_out_note("tool's input", 11_000_008)},
            }),
        ),
        (
            Block::ToolResult {
                tool_use_id: "t".to_owned(),
                content: long().into(),
                is_error: true,
            },
            json!({
                "type": "tool_result", "tool_use_id": "t", "is_error": true,
                "content": left_out_note("tool's result", 11_000_000),
            }),
        ),
    ] {
        assert_eq!(shown(&[block]), [expected]);
    }
}

#[test]
fn a_message_of_countless_blocks_gives_way_as_a_whole() {
    let blocks = vec![Block::text(""); 500_000];
    let size = to_raw_value(&blocks).unwrap().get().len();
    assert_eq!(shown(&blocks), [json!({"type": "text", "text": left_out_note("message", size)})]);
}
