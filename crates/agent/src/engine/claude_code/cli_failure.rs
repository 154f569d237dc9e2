//! Failed calls of the CLI's own tools in the form of the runtime's, so that front ends show how a
//! command ended.

use callgate_wire::tool_act::ToolAct;
use serde_json::{Value, json};

use crate::tool::{CallOutcome, raw_json};

/// What the CLI writes before the output of a command that failed.
const EXIT_CODE: &str = "Exit code ";
/// What it writes between both if the time of the command was over.
const TIMED_OUT: &str = "Command timed out after ";
/// What the model reads about a call during which the user stopped the turn.
const STOPPED: &str = "The user doesn't want to proceed with this tool use.";

/// Returns the outcome of a failed call that the runtime knows nothing else about. `text` is what
/// the model reads.
pub(super) fn failed_call(name: &str, input: &Value, text: String) -> CallOutcome {
    let act = input.as_object().map(|input| ToolAct::from_call("", name, input));
    // Only the text of a command has this form; that of another tool may begin with the same words
    // by chance.
    let is_command = matches!(act, Some(ToolAct::Run(_)));
    let known = is_command.then(|| failed_command(&text)).flatten();
    let result = known.unwrap_or_else(|| {
        let error = if text.starts_with(STOPPED) { "stopped by the user" } else { &*text };
        json!({ "error": error })
    });
    CallOutcome { result: raw_json(&result), text, images: Vec::new(), is_error: true }
}

/// Returns the result of a command that ended with another exit code than 0 or by its time limit.
fn failed_command(text: &str) -> Option<Value> {
    let (code, output) = text.strip_prefix(EXIT_CODE).map(split_line)?;
    let code: i64 = code.parse().ok()?;
    let timed_out = split_line(output).0.strip_prefix(TIMED_OUT);
    Some(match timed_out {
        Some(limit) => json!({
            "error": format!("ended by the time limit of {limit}"), "exitCode": null,
            "stdout": split_line(output).1, "timedOut": true,
        }),
        None => json!({
            "error": format!("failed with exit code {code}"), "exitCode": code,
            "stdout": output, "timedOut": false,
        }),
    })
}

/// Splits a text into its first line and the rest.
fn split_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_has_its_exit_code_and_its_output_apart() {
        let check = |name: &str, text: &str, expected: Value| {
            let outcome = failed_call(name, &json!({ "command": "make" }), text.to_owned());
            let result: Value = serde_json::from_str(outcome.result.get()).unwrap();
            assert_eq!(result, expected, "{text:?}");
            assert_eq!((&*outcome.text, outcome.is_error), (text, true));
        };
        let failed = |code: i64, output: &str| {
            json!({ "error": format!("failed with exit code {code}"), "exitCode": code,
                "stdout": output, "timedOut": false })
        };
        check("Bash", "Exit code 3\nout\nerr", failed(3, "out\nerr"));
        check("Bash", "Exit code 1", failed(1, ""));
        check("Bash", "Exit code 143\nout", failed(143, "out"));
        let limit = json!({ "error": "ended by the time limit of 2m 0s", "exitCode": null,
            "stdout": "out", "timedOut": true });
        check("Bash", "Exit code 143\nCommand timed out after 2m 0s\nout", limit);
        let stopped = format!("{STOPPED} The tool use was rejected.");
        check("Bash", &stopped, json!({ "error": "stopped by the user" }));
        for text in ["Exit code", "Exit code x\nout", "It said: Exit code 3\n", ""] {
            check("Bash", text, json!({ "error": text }));
        }
        check("Read", "Exit code 3\nout", json!({ "error": "Exit code 3\nout" }));
    }
}
