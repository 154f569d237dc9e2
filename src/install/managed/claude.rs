//! The settings of Claude Code for all users: our hooks, and what keeps others from undoing them.
//!
//! Pure: text in, text out.

use callgate_wire::hook::agents::JsonHooks;
use serde_json::{Value, json};

use super::super::RemovedHooks;
use super::super::edit::{self, InstalledSettings, WantedHook};
use super::super::layout::{self, JsonLayout};
use crate::agents::hooks::{EditRefusal, FoundHooks};
use crate::agents::json::{self, JsonMember};

/// The variable that would wrap every command of the agent.
const PREFIX: &str = "CLAUDE_CODE_SHELL_PREFIX";
const ENV: &str = "env";

/// Returns the keys beside the hooks. Nobody can disable hooks; no hook of somebody else can change
/// a call after ours has checked it, or answer in the user's place.
fn managed_switches() -> [(&'static str, Value); 2] {
    [("disableAllHooks", json!(false)), ("allowManagedHooksOnly", json!(true))]
}

/// Changes `text` so that our hooks are exactly the wanted ones and nothing undoes them.
pub(in crate::install) fn install_claude_hooks(
    text: &str,
    wanted: &[WantedHook],
) -> Result<InstalledSettings, EditRefusal> {
    let mut done = edit::install_json_hooks(&JsonHooks::CLAUDE, text, wanted)?;
    for (name, value) in managed_switches() {
        done.text = with_member(&done.text, name, &value)?;
    }
    // A project cannot override an empty value here, so that it puts nothing before our hook.
    done.text = if has_env(&done.text)? {
        with_env(&done.text, Some(""))?
    } else {
        with_member(&done.text, ENV, &json!({ PREFIX: "" }))?
    };
    Ok(done)
}

/// Removes our hooks, and the keys beside them unless the backup has them.
pub(in crate::install) fn uninstall_claude_hooks(
    text: &str,
    backup: Option<&str>,
) -> Result<RemovedHooks, EditRefusal> {
    let found = FoundHooks::parse_claude_text(text)?;
    if !found.has_ours() {
        return Ok(RemovedHooks::Nothing);
    }
    let there = edit::hooks_of_ours(text, &found);
    if let Some(before) = backup
        && install_claude_hooks(before, &there).is_ok_and(|done| done.text == text)
    {
        return Ok(RemovedHooks::AsBefore(before.to_owned()));
    }
    let had = backup.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let mut text = text.to_owned();
    for (name, value) in managed_switches() {
        // A key that the administrator had before stays.
        if had[name].is_null() {
            text = without_member(&text, name, &value)?;
        }
    }
    if had[ENV][PREFIX].is_null() {
        text = with_env(&text, None)?;
        text = if had[ENV].is_null() { without_member(&text, ENV, &json!({}))? } else { text };
    }
    let removed = edit::uninstall_json_hooks(&JsonHooks::CLAUDE, &text, None)?;
    let is_empty = |text: &str| {
        FoundHooks::parse_claude_text(text).is_ok_and(|found| found.members.is_empty())
    };
    Ok(match removed {
        RemovedHooks::Ours(text) if is_empty(&text) && backup.is_none() => RemovedHooks::File,
        removed => removed,
    })
}

fn parse_root(text: &str) -> Result<(FoundHooks, Vec<JsonMember>), EditRefusal> {
    let found = FoundHooks::parse_claude_text(text)?;
    let members = json::object_members(text, &found.root);
    Ok((found, members))
}

/// Sets a member of the object.
fn with_member(text: &str, name: &str, value: &Value) -> Result<String, EditRefusal> {
    let (found, members) = parse_root(text)?;
    // Of several members with one name, the last one counts.
    if let Some(member) = members.iter().rfind(|member| member.name == name) {
        return Ok(text_with_value(text, member, value));
    }
    let layout = JsonLayout::from_text(text, &found);
    Ok(layout.insert_child(text, &found.root, &found.members, Some(name), value))
}

/// Removes a member of the object if it has this value.
fn without_member(text: &str, name: &str, value: &Value) -> Result<String, EditRefusal> {
    let (found, members) = parse_root(text)?;
    let is_it = |member: &JsonMember| member.name == name && has_value(text, member, value);
    Ok(match members.iter().position(is_it) {
        Some(at) => layout::remove_child(text, &found.root, &found.members, at),
        None => text.to_owned(),
    })
}

fn has_env(text: &str) -> Result<bool, EditRefusal> {
    let (_, members) = parse_root(text)?;
    let env = members.iter().rfind(|member| member.name == ENV);
    Ok(env.is_some_and(|env| json::has_first_char(text, &env.value, '{')))
}

/// Sets the prefix in `env`, which has to be there, or removes the one that we have set.
fn with_env(text: &str, prefix: Option<&str>) -> Result<String, EditRefusal> {
    let (found, members) = parse_root(text)?;
    let Some(env) = members.iter().rfind(|member| member.name == ENV) else {
        return Ok(text.to_owned());
    };
    let variables = json::object_members(text, &env.value);
    let wholes: Vec<_> = variables.iter().map(|member| member.whole.clone()).collect();
    let at = variables.iter().rposition(|member| member.name == PREFIX);
    Ok(match (prefix, at) {
        (Some(prefix), Some(at)) => text_with_value(text, &variables[at], &json!(prefix)),
        (Some(prefix), None) => {
            let layout = JsonLayout::from_text(text, &found);
            layout.insert_child(text, &env.value, &wholes, Some(PREFIX), &json!(prefix))
        }
        (None, Some(at)) if has_value(text, &variables[at], &json!("")) => {
            layout::remove_child(text, &env.value, &wholes, at)
        }
        (None, _) => text.to_owned(),
    })
}

fn has_value(text: &str, member: &JsonMember, value: &Value) -> bool {
    serde_json::from_str::<Value>(&text[member.value.clone()]).is_ok_and(|it| it == *value)
}

fn text_with_value(text: &str, member: &JsonMember, value: &Value) -> String {
    if has_value(text, member, value) {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    text.replace_range(member.value.clone(), &value.to_string());
    text
}
