//! Tools at work: what they are given, what they give, and how they fail.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_tools::{
    CallContext, Host, NoArguments, StructuredOutput, Tool, ToolContent, ToolError, ToolOutput,
    blocking,
};
use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fixture::{Stage, error, hello, text};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

/// What the tool's result is for the caller.
fn check(tool: Tool, arguments: Value, expected: &Expect) {
    let name = tool.name().to_owned();
    let host = Host::new([tool]).unwrap();
    expected.assert_eq(&match blocking::call(&host, &name, arguments) {
        Ok(result) => result.to_string(),
        Err(error) => error.to_string(),
    });
}

#[test]
fn tools_may_be_typed_or_raw_and_async_or_blocking() {
    let sum = expect![[r#"{"content":[{"type":"text","text":"3"}],"isError":false}"#]];
    let arguments = json!({"a": 1, "b": 2});
    let schema = json!({"type": "object"});
    let add = |args: Add, _: CallContext| async move { (args.a + args.b).to_string() };
    check(Tool::new("add", "d", add), arguments.clone(), &sum);
    let add = |args: Add, _: CallContext| (args.a + args.b).to_string();
    check(Tool::blocking("add", "d", add), arguments.clone(), &sum);
    let add = |args: Value, _: CallContext| async move {
        (args["a"].as_i64().unwrap() + args["b"].as_i64().unwrap()).to_string()
    };
    check(Tool::raw("add", "d", schema.clone(), add), arguments.clone(), &sum);
    let add = |args: Value, _: CallContext| {
        (args["a"].as_i64().unwrap() + args["b"].as_i64().unwrap()).to_string()
    };
    check(Tool::raw_blocking("add", "d", schema, add), arguments, &sum);
}

#[test]
fn results_may_be_text_items_a_value_or_nothing() {
    let tool =
        |output: fn() -> ToolOutput| Tool::blocking("t", "d", move |_: NoArguments, _| output());
    check(
        tool(|| {
            ToolOutput::items([ToolContent::text("a"), ToolContent::image("aGk=", "image/png")])
        }),
        json!({}),
        &expect![[
            r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false}"#
        ]],
    );
    check(
        tool(|| ToolOutput::items([ToolContent::text("no")]).as_failure()),
        json!({}),
        &expect![[r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#]],
    );
    check(
        tool(|| {
            let link = json!({"type": "resource_link", "uri": "file:///x", "name": "x"});
            ToolOutput::items([ToolContent::other(link.as_object().unwrap().clone())])
        }),
        json!({}),
        &expect![[
            r#"{"content":[{"type":"resource_link","uri":"file:///x","name":"x"}],"isError":false}"#
        ]],
    );
    check(
        Tool::blocking("t", "d", |_: NoArguments, _| StructuredOutput(Sum { sum: 3 })),
        json!({}),
        &expect![[
            r#"{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3},"isError":false}"#
        ]],
    );
    check(
        Tool::blocking("t", "d", |_: NoArguments, _| StructuredOutput(3)),
        json!({}),
        &expect!["IPCToolExecutionError: a structured result has to be an object: wrap it in one"],
    );
    check(
        Tool::blocking("t", "d", |_: NoArguments, _| ()),
        json!({}),
        &expect![[r#"{"content":[{"type":"text","text":"done"}],"isError":false}"#]],
    );
    check(
        Tool::blocking("t", "d", |_: NoArguments, _| Vec::<ToolContent>::new()),
        json!({}),
        &expect!["IPCToolExecutionError: the tool returned no content: return at least one item"],
    );
}

#[test]
fn errors_carry_a_class_name_and_their_causes() {
    check(
        Tool::blocking("t", "d", |_: NoArguments, _| {
            Err::<(), _>(ToolError::named("ValueError", "no"))
        }),
        json!({}),
        &expect!["ValueError: no"],
    );
    check(
        Tool::new("t", "d", |_: NoArguments, _| async {
            let number: i32 = "x".parse()?;
            Ok::<_, ToolError>(number.to_string())
        }),
        json!({}),
        &expect!["IPCToolExecutionError: invalid digit found in string"],
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_the_tool_runs() {
    let add = || Tool::blocking("add", "d", |_: Add, _| -> String { panic!("it must not run") });
    check(
        add(),
        json!({"a": "1"}),
        &expect![[
            r#"ToolArgumentError: the arguments of "add" do not fit: "b" is a required property; /a: "1" is not of type "integer""#
        ]],
    );
    check(
        add(),
        json!([]),
        &expect![[
            r#"ToolArgumentError: the arguments of "add" do not fit: [] is not of type "object""#
        ]],
    );
    let stage = Stage::new([add()]);
    let mut caller = stage.caller();
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    caller.send(format!(
        r#"{{"method":"call_tool","params":{{"name":"add","arguments":{{"a":{deep}}}}}}}"#
    ));
    let answer = caller.recv();
    let (kind, message) = error(&answer);
    assert_eq!(kind, "ToolArgumentError");
    assert!(message.contains("recursion limit exceeded"), "{message}");
}

#[test]
fn a_promised_output_schema_is_kept() {
    let schema =
        json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    let tool = |output: fn() -> ToolOutput| {
        Tool::blocking("t", "d", move |_: NoArguments, _| output()).output_schema(schema.clone())
    };
    check(
        tool(|| ToolOutput::items([ToolContent::text("3")])),
        json!({}),
        &expect![[
            r#"IPCToolExecutionError: the result of "t" does not fit its output schema: it has no structured value"#
        ]],
    );
    check(
        tool(|| {
            let value = json!({"sum": "3"}).as_object().unwrap().clone();
            ToolOutput::items([ToolContent::text("3")]).with_structured(value)
        }),
        json!({}),
        &expect![[
            r#"IPCToolExecutionError: the result of "t" does not fit its output schema: /sum: "3" is not of type "integer""#
        ]],
    );
    check(
        tool(|| ToolOutput::items([ToolContent::text("no")]).as_failure()),
        json!({}),
        &expect![[r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#]],
    );
}

#[test]
fn a_tool_knows_its_call_and_the_programs_state() {
    let counter = Arc::new(AtomicU32::new(0));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (count, notes) = (Arc::clone(&counter), Arc::clone(&seen));
    let tool = Tool::raw_blocking("t", "d", json!({"type": "object"}), move |_, call| {
        notes.lock().unwrap().push((
            call.call_id(),
            call.raw_arguments().get().to_owned(),
            call.meta().map(|meta| meta.get().to_owned()),
        ));
        count.fetch_add(1, Ordering::Relaxed);
    });
    let stage = Stage::new([tool]);
    let mut caller = stage.caller();
    for meta in [
        r#","_meta":{"claudecode/toolUseId":"toolu_1"}"#,
        r#","_meta":{"callId":"call_2", "n":1.0}"#,
        "",
    ] {
        caller.send(format!(
            r#"{{"method":"call_tool","params":{{"name":"t","arguments":{{"n":12345678901234567890123}}{meta}}}}}"#
        ));
        text(&caller.recv());
    }
    let arguments = r#"{"n":12345678901234567890123}"#.to_owned();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            (
                Some("toolu_1".to_owned()),
                arguments.clone(),
                Some(r#"{"claudecode/toolUseId":"toolu_1"}"#.to_owned())
            ),
            (
                Some("call_2".to_owned()),
                arguments.clone(),
                Some(r#"{"callId":"call_2", "n":1.0}"#.to_owned())
            ),
            (None, arguments, None),
        ]
    );
    assert_eq!(counter.load(Ordering::Relaxed), 3);
}

#[test]
fn a_panic_is_an_error_for_its_caller_alone() {
    let panics = [
        Tool::new("late", "d", |_: NoArguments, _| async { panic!("late") as &str }),
        Tool::new("early", "d", |_: NoArguments, _| -> std::future::Ready<()> {
            panic!("{}", "early")
        }),
        Tool::blocking("blocking", "d", |_: NoArguments, _| -> () { std::panic::panic_any(5) }),
        hello(),
    ];
    let stage = Stage::new(panics);
    let mut caller = stage.caller();
    for (name, words) in [("late", "late"), ("early", "early"), ("blocking", "without a message")] {
        let answer = caller.call(name, &json!({}));
        let message = format!("the tool panicked: {words}");
        assert_eq!(error(&answer), ("IPCToolExecutionError", &*message));
    }
    assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
}

#[test]
fn a_tool_that_hangs_is_given_up_after_its_limit() {
    let limit = Duration::from_millis(20);
    let hangs = [
        Tool::new("waits", "d", |_: NoArguments, _| std::future::pending::<()>()).time_limit(limit),
        Tool::blocking("blocks", "d", |_: NoArguments, call| {
            while !call.is_cancelled() {
                std::thread::yield_now();
            }
        })
        .time_limit(limit),
        hello(),
    ];
    let stage = Stage::new(hangs);
    let mut caller = stage.caller();
    for name in ["waits", "blocks"] {
        let answer = caller.call(name, &json!({}));
        let message = format!("{name:?} took longer than 0.02 s and was given up");
        assert_eq!(error(&answer), ("ToolTimeoutError", &*message));
        assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
    }
}

#[test]
fn a_tool_that_hangs_holds_up_nobody_else() {
    let (release, is_released) = channel::<()>();
    let is_released = Mutex::new(is_released);
    let hangs = Tool::blocking("hangs", "d", move |_: NoArguments, _| {
        is_released.lock().unwrap().recv().unwrap();
    });
    let stage = Stage::new([hangs, hello()]);
    let mut stuck = stage.caller();
    stuck.send_call("hangs", &json!({}));
    let mut caller = stage.caller();
    for _ in 0..20 {
        assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
    }
    release.send(()).unwrap();
    assert_eq!(text(&stuck.recv()), "done");
}

#[test]
fn a_caller_that_goes_away_cancels_its_call() {
    struct Ended(std::sync::mpsc::Sender<&'static str>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.send("dropped").unwrap();
        }
    }
    let (ended, how) = channel();
    let (dropped, watched) = (ended.clone(), ended);
    let tools = [
        Tool::new("dropped", "d", move |_: NoArguments, _| {
            dropped.send("entered").unwrap();
            let ended = Ended(dropped.clone());
            async move {
                std::future::pending::<()>().await;
                drop(ended);
            }
        }),
        Tool::blocking("told", "d", move |_: NoArguments, call| {
            watched.send("entered").unwrap();
            while !call.is_cancelled() {
                std::thread::yield_now();
            }
            watched.send("told").unwrap();
        }),
    ];
    let stage = Stage::new(tools);
    for expected in ["dropped", "told"] {
        let mut caller = stage.caller();
        caller.send_call(expected, &json!({}));
        // A call that is given up before it has begun never begins.
        assert_eq!(how.recv_timeout(Duration::from_secs(30)), Ok("entered"));
        drop(caller);
        assert_eq!(how.recv_timeout(Duration::from_secs(30)), Ok(expected));
    }
}

#[test]
fn a_result_over_the_limit_is_an_error_that_names_its_size() {
    let big = Tool::blocking("big", "d", |_: NoArguments, _| "x".repeat(10_485_760));
    let stage = Stage::new([big, hello()]);
    let mut caller = stage.caller();
    let answer = caller.call("big", &json!({}));
    let (kind, message) = error(&answer);
    assert_eq!(kind, "IPCMessageSizeError");
    assert!(
        message.starts_with("the answer has 10485826 bytes, but 10485760 bytes is the limit"),
        "{message}"
    );
    assert_eq!(text(&caller.call("hello", &json!({}))), "hello");
}

#[test]
fn progress_is_sent_to_a_caller_that_asked_for_it() {
    let reports = || {
        Tool::blocking("t", "d", |_: NoArguments, call| {
            call.report(f64::NAN, None, None);
            call.report(0.5, Some(f64::INFINITY), None);
            call.report(1.0, Some(2.0), Some(&"half".repeat(300)));
            call.report(2.0, None, None);
        })
    };
    let stage = Stage::new([reports()]);
    let mut caller = stage.caller();
    caller.send(r#"{"method":"call_tool","params":{"name":"t","arguments":{},"_meta":{"progressToken":1}}}"#);
    let first = json!({"progress": {"progress": 1.0, "total": 2.0, "message": "half".repeat(250)}});
    assert_eq!(caller.recv(), first);
    assert_eq!(caller.recv(), json!({"progress": {"progress": 2.0}}));
    assert_eq!(text(&caller.recv()), "done");
    assert_eq!(text(&caller.call("t", &json!({}))), "done");
}

#[test]
fn a_reason_does_not_repeat_large_arguments() {
    let schema = json!({"type": "object", "properties": {"list": {"items": {"type": "string"}}, "n": {"type": "integer"}}});
    let tool = || Tool::raw_blocking("t", "d", schema.clone(), |_, _| "x");
    let host = Host::new([tool()]).unwrap();
    let refused =
        |arguments: Value| blocking::call(&host, "t", arguments).unwrap_err().message().to_owned();
    let long = refused(json!({"n": "x".repeat(1_000_000)}));
    assert!(long.chars().count() < 300, "{}", long.len());
    assert!(long.ends_with(r#"xxx… is not of type "integer""#), "{long}");
    let many = refused(json!({"list": vec![1; 500_000]}));
    let first = r#"the arguments of "t" do not fit: /list/0: 1 is not of type "string"; /list/1: "#;
    assert!(many.starts_with(first) && many.len() < 300, "{many}");
}

#[test]
fn a_pattern_that_would_try_for_ever_gives_up() {
    let pattern = json!({"type": "string", "pattern": "^(?=a)(a|aa)+$"});
    let schema = json!({"type": "object", "properties": {"x": pattern}});
    let host = Host::new([Tool::raw_blocking("t", "d", schema, |_, _| "x")]).unwrap();
    assert!(blocking::call(&host, "t", json!({"x": "aaaa"})).is_ok());
    let hopeless = json!({"x": format!("{}b", "a".repeat(50_000))});
    assert_eq!(blocking::call(&host, "t", hopeless).unwrap_err().kind(), "ToolArgumentError");
}

#[test]
fn what_was_thrown_may_panic_again() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    let tools = [
        Tool::new("late", "d", |_: NoArguments, _| async { std::panic::panic_any(Bomb) as () }),
        Tool::blocking("blocking", "d", |_: NoArguments, _| std::panic::panic_any(Bomb) as ()),
    ];
    let stage = Stage::new(tools);
    let mut caller = stage.caller();
    for name in ["late", "blocking"] {
        let answer = caller.call(name, &json!({}));
        assert_eq!(error(&answer).1, "the tool panicked: without a message");
    }
}

/// Whoever handled it would run out of stack, and take the program along.
#[test]
fn a_result_that_is_nested_too_deeply_is_an_error() {
    fn nested(levels: usize) -> ToolOutput {
        let value = (0..levels).fold(json!(1), |value, _| Value::Array(vec![value]));
        let mut member = serde_json::Map::new();
        member.insert("deep".to_owned(), value);
        ToolOutput::items([ToolContent::text("deep")]).with_structured(member)
    }
    let tool = |levels: usize| Tool::blocking("t", "d", move |_: NoArguments, _| nested(levels));
    let host = Host::new([tool(400)]).unwrap();
    assert!(blocking::call(&host, "t", json!({})).is_ok());
    check(
        tool(200_000),
        json!({}),
        &expect![
            "IPCToolExecutionError: the tool's result is nested deeper than 500 levels: flatten it"
        ],
    );
    let schema = json!({"type": "object", "properties": {"deep": {"$ref": "#/$defs/list"}},
        "$defs": {"list": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/list"}}}});
    let host = Host::new([tool(400).output_schema(schema)]).unwrap();
    assert!(blocking::call(&host, "t", json!({})).is_ok());
}
