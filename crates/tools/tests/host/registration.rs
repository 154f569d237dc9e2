//! Tools that real clients would refuse are refused when the host is made.

use callgate_tools::{Host, NoArguments, Tool};
use serde_json::{Value, json};

use crate::fixture::{Stage, error, hello, text};

fn named(name: &str) -> Tool {
    Tool::blocking(name, "d", |_: NoArguments, _| "x")
}

fn with_schema(schema: Value) -> Tool {
    Tool::raw_blocking("t", "d", schema, |_, _| "x")
}

fn refusal(tools: impl IntoIterator<Item = Tool>) -> String {
    Host::new(tools).expect_err("a refusal").to_string()
}

#[test]
fn names_must_suit_the_models_api_and_be_unique() {
    let longest = "x".repeat(64);
    for good in ["a", "A-b_9", &longest] {
        Host::new([named(good)]).unwrap();
    }
    let too_long = "x".repeat(65);
    for bad in ["a b", "a.b", "ü", "a/b", &too_long] {
        assert!(refusal([named(bad)]).contains("its name has to consist of"), "{bad}");
    }
    assert!(refusal([named("")]).contains("its `name` is empty"));
    assert_eq!(
        refusal([hello(), hello()]),
        "cannot offer the tool \"hello\": another tool has this name"
    );
}

#[test]
fn schemas_must_be_those_of_objects() {
    Host::new([with_schema(json!({}))]).expect("arguments are an object anyway");
    for (schema, reason) in [
        (json!({"type": "string"}), "without `\"type\": \"object\"`"),
        (json!({"type": "object", "required": "a"}), "`required` is not a list of names"),
        (
            json!({"type": "object", "properties": {"a": {"type": "strin"}}}),
            "`input_schema` is no JSON Schema",
        ),
        (
            json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
            "`input_schema` is no JSON Schema",
        ),
    ] {
        let refusal = refusal([with_schema(schema)]);
        assert!(refusal.contains(reason), "{refusal}");
    }
    assert!(
        refusal([hello().output_schema(json!(true))]).contains("it is not the schema of an object")
    );
    assert!(refusal([hello().icons(json!("x"))]).contains("it is not a list of icons"));
    assert!(
        refusal([hello().annotation("readOnlyHint", json!("yes"))])
            .contains("it is not an object of hints")
    );
    assert!(
        refusal([Tool::blocking("t", "d", |(): (), _| "x")])
            .contains("without `\"type\": \"object\"`")
    );
}

#[test]
fn what_is_said_of_a_tool_is_in_the_schema_file() {
    let tool = hello()
        .title("Hello")
        .read_only()
        .annotation("openWorldHint", json!(false))
        .icons(json!([{"src": "data:x"}]))
        .meta(json!({"own": 1}).as_object().unwrap().clone());
    let stage = Stage::new([tool]);
    let file = std::fs::read(stage.session.schema_path()).unwrap();
    let schema: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(schema[0]["title"], "Hello");
    assert_eq!(schema[0]["annotations"], json!({"readOnlyHint": true, "openWorldHint": false}));
    assert_eq!(schema[0]["icons"], json!([{"src": "data:x"}]));
    assert_eq!(schema[0]["_meta"], json!({"own": 1}));
}

#[test]
fn a_filter_is_the_same_in_the_schema_file_and_in_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([named("a"), named("b"), named("c")]).unwrap().folder(folder.path());
    let some = host.only(["c", "a", "c"]).unwrap();
    assert_eq!(some.tool_names().collect::<Vec<_>>(), ["c", "a"]);
    assert_eq!(
        host.only(["d"]).unwrap_err().to_string(),
        "there is no tool \"d\": choose one of the host's tools"
    );
    let session = callgate_tools::blocking::start(&some).unwrap();
    let schema: Value =
        serde_json::from_slice(&std::fs::read(session.schema_path()).unwrap()).unwrap();
    let listed: Vec<&str> =
        schema.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(listed, ["c", "a"]);
    let mut caller = crate::fixture::Caller::new(&session);
    assert_eq!(text(&caller.call("a", &json!({}))), "x");
    assert_eq!(error(&caller.call("b", &json!({}))).0, "ToolNotFoundError");
    assert_eq!(host.tool_names().count(), 3);
}
