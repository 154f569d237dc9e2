//! Hooks of this process, called by the real CLI.

use std::sync::{Arc, Mutex};

use callgate_claude::{ClaudeSettings, Hook, HookEvent, HookInput, HookOutput, PermissionDecision};
use callgate_testkit::messages::Turn;

use crate::fixture::{Stage, TRANSPORTS, command, runs, uses};

type Heard = Arc<Mutex<Vec<HookInput>>>;

/// Adds a hook that keeps what it hears.
fn hooked(
    settings: ClaudeSettings,
    event: HookEvent,
    heard: &Heard,
    answer: fn(&HookInput) -> HookOutput,
) -> ClaudeSettings {
    let heard = Arc::clone(heard);
    settings.hook(Hook::new(event, move |input| {
        let output = answer(&input);
        heard.lock().unwrap().push(input);
        async { output }
    }))
}

fn by_command(call: &HookInput) -> HookOutput {
    match call.tool_input["command"].as_str() {
        Some("touch allowed") => HookOutput::allow(),
        Some("touch typed") => HookOutput::allow().input(command("touch edited")),
        Some("touch asked") => HookOutput::ask("a touchy subject"),
        Some("touch denied") => HookOutput::deny("not on a Sunday"),
        _ => HookOutput::proceed(),
    }
}

#[tokio::test]
async fn a_hook_decides_before_a_tool_runs() {
    let turns = ["touch allowed", "touch typed", "touch asked", "touch denied"].map(runs);
    let turns = turns.into_iter().chain([uses("echo", "hello"), Turn::text("Done.")]);
    let Some(stage) = Stage::new(turns) else { return };
    let (before, after) = (Heard::default(), Heard::default());
    let settings = hooked(stage.settings(), HookEvent::PreToolUse, &before, by_command);
    let settings = hooked(settings, HookEvent::PostToolUse, &after, |_| HookOutput::proceed());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let settings = settings.permission(move |question| {
        kept.lock().unwrap().push(question.input["command"].clone());
        async { PermissionDecision::allow() }
    });
    let model = stage.model_with(settings, TRANSPORTS[1]);
    assert_eq!(model.request("Go").await.unwrap(), "Done.");
    let exists = |name: &str| stage.claude.work().join(name).exists();
    assert!(exists("allowed") && exists("edited") && exists("asked"));
    assert!(!exists("typed") && !exists("denied"));
    assert_eq!(*asked.lock().unwrap(), ["touch asked"]);
    let told = stage.told();
    assert!(told[3].is_error && told[3].text.contains("not on a Sunday"), "{told:?}");
    let before = before.lock().unwrap();
    let tools: Vec<_> = before.iter().filter_map(|call| call.tool_name.as_deref()).collect();
    assert_eq!(tools, ["Bash", "Bash", "Bash", "Bash", "mcp__callgate__echo"]);
    assert_eq!(before[3].tool_use_id.as_deref(), Some(&*told[3].tool_use_id));
    assert_eq!(before[0].data["hook_event_name"], "PreToolUse");
    // The one that was denied did not run.
    assert_eq!(after.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_hook_is_called_for_what_it_matches() {
    let turns = [runs("touch it"), uses("echo", "hello"), Turn::text("Done.")];
    let Some(stage) = Stage::new(turns) else { return };
    let count = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&count);
    let hook = Hook::new(HookEvent::PreToolUse, move |call| {
        kept.lock().unwrap().extend(call.tool_name);
        async { HookOutput::allow() }
    });
    let settings = stage.settings().hook(hook.matcher("mcp__callgate__.*"));
    stage.model_with(settings, TRANSPORTS[1]).request("Go").await.unwrap();
    assert_eq!(*count.lock().unwrap(), ["mcp__callgate__echo"]);
    assert!(!stage.claude.work().join("it").exists(), "nobody allowed it");
}

/// A hook that gives no answer has allowed nothing.
#[tokio::test]
async fn a_hook_that_panics_denies() {
    let turns = [uses("echo", "in vain"), Turn::text("A pity.")];
    let Some(stage) = Stage::new(turns) else { return };
    let hook = Hook::new(HookEvent::PreToolUse, |_| async { panic!("no idea") });
    let model = stage.model_with(stage.settings().hook(hook), TRANSPORTS[1]);
    assert_eq!(model.request("Go").await.unwrap(), "A pity.");
    let told = stage.told();
    assert!(told[0].is_error && told[0].text.contains("has panicked"), "{told:?}");
}

#[tokio::test]
async fn prompts_and_ends_pass_their_hooks() {
    let Some(stage) = Stage::new(["Too soon.", "Now."].map(Turn::text)) else { return };
    let heard = Heard::default();
    let settings = hooked(stage.settings(), HookEvent::UserPromptSubmit, &heard, |_| {
        HookOutput::proceed().context("The tide is high.")
    });
    let settings = hooked(settings, HookEvent::Stop, &heard, |stop| {
        match stop.data["stop_hook_active"].as_bool() {
            Some(true) => HookOutput::proceed(),
            _ => HookOutput::deny("Say it again."),
        }
    });
    let model = stage.model_with(settings, TRANSPORTS[1]);
    assert_eq!(model.request("Go").await.unwrap(), "Now.");
    assert!(stage.sent().contains("The tide is high.") && stage.sent().contains("Say it again."));
    let events: Vec<HookEvent> =
        heard.lock().unwrap().iter().map(|input| input.event.clone()).collect();
    assert_eq!(events, [HookEvent::UserPromptSubmit, HookEvent::Stop, HookEvent::Stop]);
}
