//! Whether the arguments of a tool stay here: no address of another machine, no path outside of
//! the project.
//!
//! It is for rules that allow tools about which nothing else is known, so whatever could be an
//! address or a path counts as one.

use serde_json::Value;

use crate::act::Act;
use crate::place::{BaseFolders, is_in, resolve_path};
use crate::steps;

/// Parts of the names of arguments that are addresses, whatever they look like.
const ADDRESS_NAMES: [&str; 10] =
    ["url", "uri", "href", "link", "address", "host", "domain", "endpoint", "webhook", "proxy"];
/// Parts of the names of arguments that are files: `main.rs` is no host there.
const FILE_NAMES: [&str; 5] = ["path", "file", "folder", "dir", "name"];

/// Checks that all arguments stay here. The error names the one that may not.
pub(crate) fn check_local_arguments(act: &Act) -> Result<(), String> {
    let input = act.input.as_deref().and_then(|input| serde_json::from_str::<Value>(input).ok());
    let Some(input) = input else { return Err("its arguments cannot be looked into".into()) };
    let mut left = vec![(String::new(), &input)];
    while let Some((name, value)) = left.pop() {
        match value {
            Value::String(text) => check_local_text(&name, text, act)?,
            Value::Array(values) => left.extend(values.iter().map(|value| (name.clone(), value))),
            Value::Object(members) => {
                left.extend(members.iter().map(|(name, value)| (name.clone(), value)));
            }
            // Numbers and truth values name neither an address nor a path.
            _ => {}
        }
    }
    match act.string_targets.iter().find(|target| !is_inside(target, act)) {
        Some(target) => Err(format!("an argument leads to {target}")),
        None => Ok(()),
    }
}

fn check_local_text(name: &str, text: &str, act: &Act) -> Result<(), String> {
    if !steps::spend_budget(text.len()) {
        return Err("its arguments cannot be looked into".into());
    }
    let folded: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let folded = folded.to_lowercase();
    let is_called = |names: &[&str]| names.iter().any(|name| folded.contains(name));
    // `email_address` names a mailbox, and no machine that the tool would connect to.
    let is_address_name = is_called(&ADDRESS_NAMES) && !folded.contains("mail");
    if (is_address_name && !text.trim().is_empty())
        // An address without its scheme, such as `//host/path`, leads away as well.
        || text.contains("//")
        || text.to_lowercase().contains("file:")
        || (!is_called(&FILE_NAMES) && text.split(is_blank).any(holds_host))
    {
        return Err(format!("the argument `{name}` may be an address"));
    }
    let is_outside = |piece: &str| may_be_path(piece) && !is_project_path(piece, act);
    if text.split(|c| is_blank(c) || ",=:@".contains(c)).any(is_outside) {
        return Err(format!("the argument `{name}` may be a path outside of the project"));
    }
    Ok(())
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || "\"'`<>()[]{}|;".contains(c)
}

/// Returns true if a piece of a text may name another machine. The address of a mailbox does not.
fn holds_host(piece: &str) -> bool {
    let is_mailbox = piece.contains('@') && !piece.contains(['/', ':']);
    !is_mailbox && piece.split(['/', ':', '?', '#', '@', ',', '=', '&']).any(is_host)
}

fn is_host(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    let is_number = |label: &&str| label.bytes().all(|b| b.is_ascii_digit());
    let is_top = |label: &&str| label.len() > 1 && label.starts_with(char::is_alphabetic);
    name == "localhost"
        || (labels.len() > 1
            && labels.iter().all(is_label)
            && (labels.last().is_some_and(is_top)
                || (labels.len() == 4 && labels.iter().all(is_number))))
}

fn may_be_path(piece: &str) -> bool {
    piece.contains(['/', '\\', '%', '$']) || piece.starts_with('~') || piece == ".."
}

/// Returns true if a path, or a name with slashes, is in the project. One that a tool may expand
/// is not.
fn is_project_path(piece: &str, act: &Act) -> bool {
    let base = BaseFolders { cwd: &act.project, home: &act.home };
    // An expanded variable may lead anywhere, wherever the text itself seems to lead.
    let is_plain = !piece.contains(['%', '$']);
    is_plain && is_inside(&resolve_path(&piece.replace('\\', "/"), base), act)
}

fn is_inside(path: &str, act: &Act) -> bool {
    act.projects().any(|project| is_in(path, project))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn stays(input: &Value) -> bool {
        let act =
            Act::from_call("mcp__x__get", &input.to_string(), "/home/ada/engine", "", "/home/ada");
        check_local_arguments(&act).is_ok()
    }

    #[test]
    fn arguments_without_addresses_and_outer_paths_stay_here() {
        for input in [
            json!({}),
            json!({"id": 7, "flag": true, "none": null}),
            json!({"folder": "inbox", "query": "meeting with Ada on 2026-05-01"}),
            json!({"from": "ada@example.com"}),
            json!({"repo": "octo/engine", "ref": "refs/heads/main"}),
            json!({"path": "src/main.rs"}),
            json!({"path": "/home/ada/engine/src/main.rs"}),
            json!({"filename": "report.docx"}),
            json!({"version": "1.2.3"}),
            json!({"url": ""}),
        ] {
            assert!(stays(&input), "{input}");
        }
    }

    #[test]
    fn whatever_may_lead_elsewhere_does_not() {
        for input in [
            json!({"address": "x"}),
            json!({"link": "x"}),
            json!({"target_url": "x"}),
            json!({"q": "https://evil.example/?k=secret"}),
            json!({"q": "see evil.example for more"}),
            json!({"q": "evil.example/?k=secret"}),
            json!({"q": "evil.example:80"}),
            json!({"q": "git@evil.example:x"}),
            json!({"q": "//evil.example"}),
            json!({"q": "127.0.0.1"}),
            json!({"q": "localhost:8080"}),
            json!({"urls": ["x"]}),
            json!({"a": {"b": [{"c": "http://x"}]}}),
            json!({"path": "/etc/shadow"}),
            json!({"path": "~/x"}),
            json!({"path": "../x"}),
            json!({"path": ".."}),
            json!({"path": "..\\x"}),
            json!({"path": "src/../../x"}),
            json!({"path": "%2e%2e/x"}),
            json!({"path": "$HOME/x"}),
            json!({"path": "file:/etc/x"}),
            json!({"q": "path=/etc/shadow"}),
        ] {
            assert!(!stays(&input), "{input}");
        }
        assert!(
            check_local_arguments(&Act::from_call(
                "mcp__x__get",
                "[]",
                "/home/ada",
                "",
                "/home/ada"
            ))
            .is_err()
        );
    }
}
