//! Tests of prompts.

use super::*;

fn sent(prompt: &Prompt) -> Value {
    serde_json::from_str(&prompt.to_line("u1")).expect("JSON")
}

#[test]
fn a_prompt_is_verbatim_unless_it_says_otherwise() {
    let line = sent(&"look at @/etc/hosts".into());
    assert_eq!(line["client_composed"], true);
    assert_eq!(line["message"]["content"], "look at @/etc/hosts");
    assert_eq!(line["uuid"], "u1");
    let line = sent(&Prompt::new("/clear").expand());
    assert_eq!(line.get("client_composed"), None);
}

#[test]
fn images_and_documents_are_blocks_in_their_order() {
    let prompt = Prompt::new("a").image(ImageFormat::Webp, b"\x00\xff").pdf(b"%PDF").text("b");
    let expected = json!([
        {"type": "text", "text": "a"},
        {"type": "image", "source":
            {"type": "base64", "media_type": "image/webp", "data": "AP8="}},
        {"type": "document", "source":
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}},
        {"type": "text", "text": "b"},
    ]);
    assert_eq!(sent(&prompt)["message"]["content"], expected);
}
