//! Files that go with a message.

use expect_test::expect;

use super::super::*;
use super::{check, request};

fn message(rest: &str) -> String {
    format!(r#"{{"id":"1","kind":"user_message","message":"",{rest}}}"#)
}

#[test]
fn files_are_named_or_come_with_the_message() {
    let lines = [
        message(r#""attachments":[{"path":"/a","mime":"text/plain","data":null,"name":7}]"#),
        message(r#""attachments":[{"data":"aGk=","mime":"text/plain","path":null}]"#),
        message(r#""attachments":[{"data":"","mime":"","name":"a.png","new":1}]"#),
        // As the shell of the first version sends pictures, and as it might.
        message(
            r#""images":"[{\"data\":\"aGk=\",\"mime_type\":\"image/png\",\"name\":\"a.png\"}]""#,
        ),
        message(
            r#""attachments":[{"path":"/a","mime":"b"}],"images":[{"data":"aGk=","mime":"image/png"}]"#,
        ),
        message(r#""images":"","attachments":null"#),
        message(r#""images":"[]""#),
        message(r#""images":null"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(
        request,
        &lines,
        &expect![[r#"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [File { path: "/a", mime: "text/plain" }], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"path\":\"/a\",\"mime\":\"text/plain\"}]}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [Inline { data: "aGk=", mime: "text/plain", name: None }], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"data\":\"aGk=\",\"mime\":\"text/plain\"}]}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [Inline { data: "", mime: "", name: Some("a.png") }], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"data\":\"\",\"mime\":\"\",\"name\":\"a.png\"}]}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [Inline { data: "aGk=", mime: "image/png", name: Some("a.png") }], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"data\":\"aGk=\",\"mime\":\"image/png\",\"name\":\"a.png\"}]}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [File { path: "/a", mime: "b" }, Inline { data: "aGk=", mime: "image/png", name: None }], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\",\"attachments\":[{\"path\":\"/a\",\"mime\":\"b\"},{\"data\":\"aGk=\",\"mime\":\"image/png\"}]}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\"}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\"}\n"
            SessionRequest { id: "1", command: UserMessage(UserMessage { message: "", attachments: [], metadata: None, steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"user_message\",\"message\":\"\"}\n"
        "#]],
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let long = format!(
        r#""attachments":[{{"data":"","mime":"","name":"{}"}}]"#,
        "é".repeat(LONGEST_FILE_NAME + 1)
    );
    let lines = [
        message(r#""attachments":{}"#),
        message(r#""attachments":[[]]"#),
        message(r#""attachments":[{"path":"/a"}]"#),
        message(r#""attachments":[{"mime":"a"}]"#),
        message(r#""attachments":[{"path":"/a","data":"","mime":"a"}]"#),
        message(r#""attachments":[{"path":7,"data":"","mime":"a"}]"#),
        message(r#""attachments":[{"data":"","mime_type":"a"}]"#),
        message(r#""attachments":[{"data":"","mime":"a","name":7}]"#),
        message(&long),
        message(r#""images":7"#),
        message(r#""images":"no JSON""#),
        message(r#""images":"{}""#),
        message(r#""images":[{"data":"aGk="}]"#),
        message(r#""images":[{"path":"/a","mime":"image/png"}]"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(
        request,
        &lines,
        &expect![[r#"
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments` must be an array of objects with mime and either path or data
        Some("1"): `attachments.name` must be a string of at most 256 characters
        Some("1"): `attachments.name` must be a string of at most 256 characters
        Some("1"): `images` must be an array of objects with data and mime_type, as it is or as JSON in a string
        Some("1"): `images` must be an array of objects with data and mime_type, as it is or as JSON in a string
        Some("1"): `images` must be an array of objects with data and mime_type, as it is or as JSON in a string
        Some("1"): `images` must be an array of objects with data and mime_type, as it is or as JSON in a string
        Some("1"): `images` must be an array of objects with data and mime_type, as it is or as JSON in a string
    "#]],
    );
}

#[test]
fn some_requests_need_a_runtime_that_understands_them() {
    let needs = |line: &str| SessionRequest::decode(line.as_bytes()).unwrap().command.capability();
    assert_eq!(needs(&message(r#""attachments":[{"path":"/a","mime":"b"}]"#)), None);
    assert_eq!(
        needs(&message(r#""attachments":[{"data":"","mime":"b"}]"#)),
        Some(capability::INLINE_ATTACHMENTS)
    );
    let load = |rest: &str| {
        format!(r#"{{"id":"1","kind":"load_conversation","conversationId":"c"{rest}}}"#)
    };
    assert_eq!(needs(&load("")), None);
    assert_eq!(needs(&load(r#","as":"events""#)), Some(capability::LOAD_EVENTS));
    assert!(capability::ALL.contains(&capability::INLINE_ATTACHMENTS));
    assert!(capability::ALL.contains(&capability::LOAD_EVENTS));
}
