//! Requests and their answers.

use callgate_claude::{
    ClaudeError, ClaudeEvent, ClaudeOutcome, ModelRequest, ToolDenial, ToolTransport,
};
use callgate_testkit::messages::Turn;
use callgate_testkit::tools;
use callgate_tools::{CallContext, HostError, Tool};
use serde_json::{Value, json};

use crate::fixture::{Stage, TRANSPORTS, Words, command, read, read_until, runs, uses};

#[tokio::test]
async fn the_agent_calls_functions_of_this_process() {
    for transport in TRANSPORTS {
        let turns = [
            uses("echo", "hello"),
            uses("fail", "no such day"),
            uses("panics", "at the disco"),
            uses("echo", "still here"),
            Turn::text("It said hello."),
        ];
        let Some(stage) = Stage::new(turns) else { return };
        let panics = Tool::blocking("panics", "Panics.", |args: Words, _| -> String {
            panic!("{}", args.text)
        });
        let mut model = stage.model(transport);
        model.set_tools(stage.host([panics]), transport);
        assert_eq!(model.request("Say hello").await.unwrap(), "It said hello.");
        let told = stage.told();
        let process = std::process::id();
        assert_eq!(told[0].text, format!("hello, says process {process}"));
        assert_eq!(told[3].text, format!("still here, says process {process}"));
        let are_errors: Vec<bool> = told.iter().map(|result| result.is_error).collect();
        assert_eq!(are_errors, [false, true, true, false]);
        let failed = &told[1].text;
        assert!(failed.contains("ValueError") && failed.contains("no such day"), "{failed}");
        let panicked = &told[2].text;
        assert!(panicked.contains("IPCToolExecutionError"), "{panicked}");
        assert!(panicked.contains("at the disco"), "{panicked}");
        stage.fake.assert_played();
    }
}

/// What is best today is the control channel: no bridge, no socket, no file; and a tool of this
/// process all the same.
#[tokio::test]
async fn by_itself_a_call_takes_the_control_channel() {
    let Some(stage) = Stage::new([uses("wait", "hello"), Turn::text("Said.")]) else { return };
    assert_eq!(ToolTransport::default(), ToolTransport::Auto);
    let model = stage.model(ToolTransport::Auto);
    let mut stream = model.stream("Say hello").unwrap();
    read_until(&mut stream, stage.visits.entered(1)).await;
    assert_eq!(stage.processes("bridge"), Vec::<u32>::new());
    assert_eq!(std::fs::read_dir(stage.folder.path()).unwrap().count(), 0);
    stage.visits.release();
    let (events, error) = read(stream).await;
    assert!(error.is_none(), "{error:?}");
    assert!(matches!(events.last(), Some(ClaudeEvent::Finished(answer)) if answer.text == "Said."));
    assert_eq!(stage.told()[0].text, "hello");
}

/// No program has to serve as the bridge for it.
#[tokio::test]
async fn by_itself_a_call_needs_no_bridge() {
    let Some(stage) = Stage::new([uses("echo", "hello"), Turn::text("Said.")]) else { return };
    let mut model = stage.model(ToolTransport::Auto);
    model.set_tools(stage.host([]).bridge("/nowhere/callgate"), ToolTransport::Auto);
    assert_eq!(model.request("Say hello").await.unwrap(), "Said.");
    assert!(stage.told()[0].text.starts_with("hello, says process"));
}

/// Reports of a tool reach the CLI while it runs, and the CLI has a use for them.
#[tokio::test]
async fn progress_is_told_to_the_cli() {
    let Some(stage) = Stage::new([uses("reports", "it"), Turn::text("Well.")]) else { return };
    let reports = Tool::new("reports", "Reports.", |_: Words, context: CallContext| async move {
        context.report(0.5, Some(1.0), Some("half of it"));
        "done"
    });
    let (said, heard) = (stage.claude.folder().join("said"), stage.claude.folder().join("heard"));
    let script = format!(
        "tee {} | {} \"$@\" | tee {}",
        heard.display(),
        tools::claude().unwrap().display(),
        said.display()
    );
    let settings = stage.settings().cli(stage.program("overheard", &script));
    let mut model = stage.model_with(settings, ToolTransport::Sdk);
    model.set_tools(stage.host([reports]), ToolTransport::Sdk);
    assert_eq!(model.request("Go").await.unwrap(), "Well.");
    let heard = std::fs::read_to_string(heard).unwrap();
    let lines: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_progress =
        |line: &&Value| line["request"]["message"]["method"] == "notifications/progress";
    let told: Vec<&Value> = lines.iter().filter(is_progress).collect();
    let [told] = told[..] else { panic!("{told:?}") };
    let params = &told["request"]["message"]["params"];
    assert_eq!(params["message"], "half of it");
    let said = std::fs::read_to_string(said).unwrap();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = lines.iter().map(|line| &line["request"]["message"]["params"]);
    let mut tokens = asked.filter(|params| params["name"] == "reports");
    assert_eq!(params["progressToken"], tokens.next().unwrap()["_meta"]["progressToken"]);
    let answers = lines.iter().map(|line| &line["response"]);
    let mut answers = answers.filter(|answer| answer["request_id"] == told["request_id"]);
    assert_eq!(answers.next().unwrap()["subtype"], "success");
    let place = |what: &str| heard.find(what).unwrap();
    assert!(place("half of it") < place(r#""text":"done""#), "it comes before the answer");
}

#[tokio::test]
async fn an_answer_says_what_is_known_about_it() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([runs("touch denied"), Turn::text("I may not.")]) else {
            return;
        };
        let model = stage.model(transport);
        let answer = model.request_with_metadata("Touch it").await.unwrap();
        assert_eq!(answer.text, "I may not.");
        assert_eq!(answer.structured, None);
        assert!(answer.cost_usd.unwrap() > 0.0, "{answer:?}");
        assert!(answer.usage.output_tokens > 0 && !answer.model_usage.is_empty(), "{answer:?}");
        assert_eq!(answer.turns, 2);
        assert_eq!(answer.session_id.len(), 36);
        assert_eq!(answer.stop_reason.as_deref(), Some("end_turn"));
        assert_eq!((&answer.outcome, answer.is_error()), (&ClaudeOutcome::Success, false));
        let tool_use_id = stage.told()[0].tool_use_id.clone();
        let input = command("touch denied");
        assert_eq!(
            answer.denials,
            [ToolDenial { tool_name: "Bash".to_owned(), tool_use_id, input }]
        );
        // Nobody decides here, and the model is told so.
        assert!(stage.told()[0].text.contains("nobody is there to allow this"), "{answer:?}");
        assert!(!stage.claude.work().join("denied").exists());
    }
}

#[tokio::test]
async fn an_answer_can_be_a_value() {
    for transport in TRANSPORTS {
        let value = json!({"city": "Köln", "number": 3});
        let Some(stage) = Stage::new([
            uses("echo", "first"),
            Turn::tool_use("StructuredOutput", value.clone()),
            Turn::text("Done."),
        ]) else {
            return;
        };
        let schema = json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "number": {"type": "integer"}},
            "required": ["city", "number"],
        });
        let ask = ModelRequest::new("Where?").output_schema(schema);
        let answer = stage.model(transport).request_with_metadata(ask).await.unwrap();
        assert_eq!(answer.structured, Some(value), "{answer:?}");
    }
}

#[tokio::test]
async fn a_call_can_have_fewer_tools() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([
            uses("echo", "offered"),
            uses("fail", "not offered"),
            Turn::text("So be it."),
        ]) else {
            return;
        };
        let model = stage.model(transport);
        let answer =
            model.request(ModelRequest::new("Try both").only_tools(["echo"])).await.unwrap();
        assert_eq!(answer, "So be it.");
        let mut offered = stage.fake.last().tool_names();
        offered.retain(|name| name.starts_with("mcp__"));
        assert_eq!(offered, ["mcp__callgate__echo"]);
        let told = stage.told();
        assert!(told[0].text.starts_with("offered, says"), "{told:?}");
        assert!(told[1].is_error && told[1].text.contains("No such tool"), "{told:?}");
        let unknown =
            model.request(ModelRequest::new("Try").only_tools(["ecco"])).await.unwrap_err();
        let is_unknown =
            |error: &HostError| matches!(error, HostError::UnknownTool(name) if name == "ecco");
        assert!(matches!(&unknown, ClaudeError::Tools(error) if is_unknown(error)), "{unknown}");
    }
}

#[tokio::test]
async fn a_model_without_tools_of_ours_answers_too() {
    let Some(stage) = Stage::new([Turn::text("Just words.")]) else { return };
    let model = callgate_claude::Model::with_settings(stage.settings());
    assert_eq!(model.request("Talk").await.unwrap(), "Just words.");
    assert!(!stage.sent().contains("mcp__"));
}

#[tokio::test]
async fn a_service_that_refuses_is_an_error_with_its_reason() {
    let Some(stage) = Stage::new([Turn::refused(403, "permission_error")]) else { return };
    let model = stage.model(TRANSPORTS[1]);
    let error = model.request("Hello?").await.unwrap_err();
    let ClaudeError::Unfinished(answer) = &error else { panic!("{error}") };
    assert!(answer.is_error() && !answer.session_id.is_empty(), "{answer:?}");
    assert!(error.to_string().contains("403"), "{error}");
}

/// A result may be too large for a message; a prompt of some length is not.
#[tokio::test]
async fn what_is_too_large_is_an_error_for_the_model() {
    for transport in TRANSPORTS {
        let turns = [uses("huge", "answer"), uses("echo", "small"), Turn::text("Well.")];
        let Some(stage) = Stage::new(turns) else { return };
        let huge = Tool::blocking("huge", "Says too much.", |_: Words, _| "x".repeat(11_000_000));
        let mut model = stage.model(transport);
        model.set_tools(stage.host([huge]), transport);
        let prompt = format!("Go. {}", "A long prompt. ".repeat(20_000));
        assert_eq!(model.request(prompt.as_str()).await.unwrap(), "Well.");
        let told = stage.told();
        let too_large = &told[0];
        assert!(too_large.is_error && too_large.text.len() < 1000, "{too_large:?}");
        assert!(too_large.text.contains("IPCMessageSizeError"), "{too_large:?}");
        assert!(told[1].text.starts_with("small, says"), "{told:?}");
        assert!(stage.fake.last().user_text().contains(prompt.trim_end()));
    }
}
