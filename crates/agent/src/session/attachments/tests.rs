//! Files that come with a message, and those that are read.

use super::*;
use crate::message::picture::tests::SMALL_PNG;

fn inline(data: &str, mime: &str, name: Option<&str>) -> Attachment {
    let (data, mime, name) = (data.to_owned(), mime.to_owned(), name.map(str::to_owned));
    Attachment::Inline { data, mime, name }
}

fn read_one(file: &Attachment) -> Result<String, String> {
    let blocks = read_all(std::slice::from_ref(file), Path::new("/"))?;
    Ok(serde_json::to_string(&blocks).unwrap())
}

#[test]
fn what_comes_with_a_message_is_used_like_a_file() {
    let taken = [
        inline(SMALL_PNG, "image/png", Some("a.png")),
        // It is what its bytes are.
        inline(SMALL_PNG.trim_end_matches('='), "image/jpg", None),
        inline(&format!("data:image/png;base64,{SMALL_PNG}"), "image/webp; q=1", None),
        inline("aGk=", "application/pdf", Some("a.pdf")),
        inline("aGk=", "application/pdf", None),
        inline("aGk=", "text/plain", Some("a \"b\".txt")),
        inline("", "text/plain", None),
    ];
    let blocks: Vec<String> = taken.iter().map(|file| read_one(file).unwrap()).collect();
    let picture = format!(
        r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{SMALL_PNG}"}}}}]"#
    );
    assert_eq!(blocks[..3], [&*picture; 3]);
    let document = r#"[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}"#;
    assert_eq!(blocks[3], format!(r#"{document},"title":"a.pdf"}}]"#));
    assert_eq!(blocks[4], format!("{document}}}]"));
    let words = r#"[{"type":"text","text":"The attached file \"a \\\"b\\\".txt\":\n\nhi"}]"#;
    assert_eq!(blocks[5], words);
    assert!(blocks[6].contains("unnamed"), "{}", blocks[6]);
}

#[test]
fn what_cannot_be_used_is_told_with_its_name() {
    let refused = |file: &Attachment| read_one(file).unwrap_err();
    let not_base64 = "the attached file \"a.png\" cannot be used: its `data` is not base64: encode \
                      the bytes of the file";
    for data in ["not base64!", "data:image/png,aGk=", "aGk=aGk=", "a\nGk="] {
        assert_eq!(refused(&inline(data, "image/png", Some("a.png"))), not_base64, "{data}");
    }
    assert_eq!(
        refused(&inline("", "image/png", None)),
        "the attached file \"unnamed\" cannot be used: it is empty"
    );
    assert!(refused(&inline("aGk=", "image/tiff", None)).contains("PNG, JPEG, GIF or WebP"));
    let cut = &SMALL_PNG[..SMALL_PNG.len() - 8];
    assert!(refused(&inline(cut, "image/png", None)).contains("not a whole one"));
    assert!(refused(&inline("/w==", "video/mp4", None)).contains("neither text nor a picture"));
    let many = vec![inline("aGk=", "text/plain", None); MOST_FILES + 1];
    let refused = read_all(&many, Path::new("/")).unwrap_err();
    assert_eq!(refused, "101 files are attached: attach at most 100");
}

#[test]
fn all_files_of_a_message_share_one_limit() {
    let mut left = 3;
    assert_eq!(decode_inline("aGk=", &mut left), Ok(b"hi".to_vec()));
    let refused = decode_inline("aGk=", &mut left).unwrap_err();
    assert_eq!(refused, "the files of a message may have 67108864 bytes together");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::fs::write(&path, "hi").unwrap();
    assert_eq!(read_bytes(&path, &mut left), Err(refused));
}

#[test]
fn an_attached_text_is_told_apart_from_words() {
    let file = inline("aGk=", "text/plain", Some("a \"b\".txt"));
    let blocks = read_all(&[file], Path::new("/")).unwrap();
    let [Block::Text { text }] = &blocks[..] else { panic!("{blocks:?}") };
    assert_eq!(attached_text(text), Some(("a \"b\".txt".to_owned(), "hi")));
    assert_eq!(attached_text("The attached file is missing:\n\nwhy?"), None);
    assert_eq!(attached_text("hi"), None);
}
