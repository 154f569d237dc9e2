//! The settings of Claude Code for all users: our hooks, and what keeps others from undoing them.
//!
//! Pure: text in, text out.

use std::ops::Range;

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
    done.text = match find_env(&done.text)? {
        Some(env) if json::has_first_char(&done.text, &env.value, '{') => {
            with_prefix(&done.text, &env)?
        }
        _ => with_member(&done.text, ENV, &json!({ PREFIX: "" }))?,
    };
    Ok(done)
}

/// Removes our hooks, and makes the keys beside them what they are in the backup.
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
        let root = FoundHooks::parse_claude_text(&text)?.root;
        text = with_member_before(&text, &root, name, &value, &had[name]);
    }
    if let Some(env) = find_env(&text)? {
        text = with_member_before(&text, &env.value, PREFIX, &json!(""), &had[ENV][PREFIX]);
    }
    if had[ENV].is_null() {
        let root = FoundHooks::parse_claude_text(&text)?.root;
        text = with_member_before(&text, &root, ENV, &json!({}), &Value::Null);
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

/// Makes a member of an object what it was before, if it has the value that we have set. What
/// others have made of it since stays.
fn with_member_before(
    text: &str,
    object: &Range<usize>,
    name: &str,
    set: &Value,
    before: &Value,
) -> String {
    let members = json::object_members(text, object);
    let is_it = |member: &JsonMember| member.name == name && has_value(text, member, set);
    match members.iter().rposition(is_it) {
        Some(at) if before.is_null() => {
            layout::remove_child(text, object, &whole_members(&members), at)
        }
        Some(at) => text_with_value(text, &members[at], before),
        None => text.to_owned(),
    }
}

fn find_env(text: &str) -> Result<Option<JsonMember>, EditRefusal> {
    let (_, members) = parse_root(text)?;
    Ok(members.into_iter().rfind(|member| member.name == ENV))
}

/// Sets an empty prefix in `env`, which is an object.
fn with_prefix(text: &str, env: &JsonMember) -> Result<String, EditRefusal> {
    let variables = json::object_members(text, &env.value);
    if let Some(prefix) = variables.iter().rfind(|member| member.name == PREFIX) {
        return Ok(text_with_value(text, prefix, &json!("")));
    }
    let layout = JsonLayout::from_text(text, &FoundHooks::parse_claude_text(text)?);
    let wholes = whole_members(&variables);
    Ok(layout.insert_child(text, &env.value, &wholes, Some(PREFIX), &json!("")))
}

fn whole_members(members: &[JsonMember]) -> Vec<Range<usize>> {
    members.iter().map(|member| member.whole.clone()).collect()
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
