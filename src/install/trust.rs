//! Codex's trust in hooks: it runs only those whose hash is in the user's `config.toml`.
//!
//! Pure: text in, text out. The text is edited in place, so that comments and layout stay. Then
//! both texts are parsed as TOML: if anything but the wanted entries differs, the edit is refused.

use std::fmt::Write;

use callgate_hooks::hook_command::CommandOwner;
use callgate_store::Sha256Hash;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml::{Table, Value as TomlValue};

use super::toml_hooks::{edit_refusal, parse_toml};
use crate::agents::hooks::{EditRefusal, EventHooks, FoundHooks, HookHandler};

/// The time limit, in seconds, that Codex applies to a hook without one.
const DEFAULT_LIMIT: u64 = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedHook {
    /// Its name in `hooks.state`.
    pub(crate) key: String,
    /// `sha256:` and the digest of what it runs and when.
    pub(crate) hash: String,
}

/// Returns our hooks in the text of `file`, Codex's `hooks.json`, with the keys and hashes that
/// Codex computes for them.
pub(crate) fn find_trusted_hooks(text: &str, file: &str) -> Result<Vec<TrustedHook>, EditRefusal> {
    let found = FoundHooks::parse_claude_text(text)?;
    let ours = found.handlers().filter(|(_, _, handler)| handler.owner == CommandOwner::Ours);
    let trusted = |(event, [_, entry, at], handler): (&EventHooks, [usize; 3], &HookHandler)| {
        let name = snake_case(&event.name);
        let (command, _) = handler.command.as_ref()?;
        let limit = handler.timeout.clone().and_then(|at| text[at].parse().ok());
        let matcher = event.entries[entry].matcher.as_deref();
        let matcher: Option<String> = matcher.and_then(|text| serde_json::from_str(text).ok());
        let hash = hook_hash(&name, command, limit.unwrap_or(DEFAULT_LIMIT), matcher);
        Some(TrustedHook { key: format!("{file}:{name}:{entry}:{at}"), hash })
    };
    Ok(ours.filter_map(trusted).collect())
}

/// Returns the keys of the hooks in the text of `file` that are not ours, in order. Codex
/// identifies a hook by its position, so one that moves up becomes another one.
pub(crate) fn keys_of_others(text: &str, file: &str) -> Result<Vec<String>, EditRefusal> {
    let found = FoundHooks::parse_claude_text(text)?;
    let others = found.handlers().filter(|(_, _, handler)| handler.owner != CommandOwner::Ours);
    let key = |(event, [_, entry, at], _): (&EventHooks, [usize; 3], &HookHandler)| {
        format!("{file}:{}:{entry}:{at}", snake_case(&event.name))
    };
    Ok(others.map(key).collect())
}

/// Converts `PreToolUse` to `pre_tool_use`.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn hook_hash(event: &str, command: &str, limit: u64, matcher: Option<String>) -> String {
    // Codex hashes compact JSON with its keys in alphabetical order, as they are here.
    let handler =
        json!({ "async": false, "command": command, "timeout": limit, "type": "command" });
    let mut hashed = json!({ "event_name": event, "hooks": [handler] });
    if let Some(matcher) = matcher {
        hashed["matcher"] = Value::from(matcher);
    }
    format!("sha256:{}", Sha256Hash(Sha256::digest(hashed.to_string()).into()))
}

/// Returns the text of `config.toml` with these hooks trusted.
pub(crate) fn add_trust(text: &str, hooks: &[TrustedHook]) -> Result<String, EditRefusal> {
    let mut wanted = parse_toml(text)?;
    let mut new = text.to_owned();
    for TrustedHook { key, hash } in hooks {
        let states = states_mut(&mut wanted)?;
        let is_new = !states.contains_key(key);
        let state = states.entry(key.clone()).or_insert_with(|| Table::new().into());
        let state = state.as_table_mut().ok_or_else(|| edit_refusal("a state is not a table"))?;
        state.insert("trusted_hash".to_owned(), hash.clone().into());
        let line = format!("trusted_hash = \"{hash}\"");
        new = match find_table_block(&new, key).filter(|_| !is_new) {
            Some(at) => with_line(&new, at, &line),
            None => {
                format!("{}[hooks.state.{}]\n{line}\n", with_empty_line(&new), toml_quoted(key))
            }
        };
    }
    checked_text(new, wanted)
}

/// Returns the text without the trust in these hooks, where their hashes are these.
pub(crate) fn remove_trust(text: &str, hooks: &[TrustedHook]) -> Result<String, EditRefusal> {
    let mut wanted = parse_toml(text)?;
    let mut new = text.to_owned();
    for TrustedHook { key, hash } in hooks {
        let states = states_mut(&mut wanted)?;
        let there = states.get(key).and_then(|it| it.get("trusted_hash")?.as_str());
        // The trust stays if the hash is another one, because somebody else has trusted another
        // hook at this place.
        if there != Some(hash.as_str()) {
            continue;
        }
        states.remove(key);
        let Some((start, end)) = find_table_block(&new, key) else {
            return Err(edit_refusal("the trust in our hooks is not written as Codex writes it"));
        };
        // The empty line before it was ours, too.
        let before = new[..start].strip_suffix("\n\n").map_or(start, |rest| rest.len() + 1);
        new.replace_range(before..end, "");
    }
    checked_text(new, wanted)
}

/// Returns the table `hooks.state`, which is created if it is absent.
fn states_mut(config: &mut Table) -> Result<&mut Table, EditRefusal> {
    let mut table = config;
    for name in ["hooks", "state"] {
        let inner = table.entry(name).or_insert_with(|| Table::new().into());
        let odd = || edit_refusal(&format!("`{name}` is not a table"));
        table = inner.as_table_mut().ok_or_else(odd)?;
    }
    Ok(table)
}

/// Returns the new text if it means what is wanted and nothing else.
fn checked_text(new: String, wanted: Table) -> Result<String, EditRefusal> {
    let is_wanted = parse_toml(&new)
        .is_ok_and(|table| without_empty_tables(table) == without_empty_tables(wanted));
    let odd = || edit_refusal("its `hooks` are written in a way that callgate does not edit");
    is_wanted.then_some(new).ok_or_else(odd)
}

/// Removes empty tables of hooks, which mean the same as none.
fn without_empty_tables(mut config: Table) -> Table {
    let is_empty = |value: Option<&TomlValue>| {
        value.and_then(TomlValue::as_table).is_some_and(Table::is_empty)
    };
    if let Some(hooks) = config.get_mut("hooks").and_then(TomlValue::as_table_mut)
        && is_empty(hooks.get("state"))
    {
        hooks.remove("state");
    }
    if is_empty(config.get("hooks")) {
        config.remove("hooks");
    }
    config
}

/// Finds the table of this key: its header and the lines that Codex writes below it.
fn find_table_block(text: &str, key: &str) -> Option<(usize, usize)> {
    let headers = [format!("[hooks.state.{}]", toml_quoted(key)), format!("[hooks.state.'{key}']")];
    let is_header = |line: &str| headers.iter().any(|header| header == line.trim());
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match start {
            None if is_header(line) => start = Some(at),
            Some(start) if !is_of_state(line) => return Some((start, at)),
            _ => {}
        }
        at += line.len();
    }
    start.map(|start| (start, at))
}

/// Returns true if the line sets one of the two keys that a state has.
fn is_of_state(line: &str) -> bool {
    let name = line.split('=').next().unwrap_or_default().trim();
    line.contains('=') && matches!(name, "trusted_hash" | "enabled")
}

/// Inserts the line below the header of a block, in place of one for the same key.
fn with_line(text: &str, (start, end): (usize, usize), new: &str) -> String {
    let mut lines: Vec<&str> = text[start..end].lines().collect();
    lines.retain(|line| !line.trim_start().starts_with("trusted_hash"));
    lines.insert(1, new);
    format!("{}{}\n{}", &text[..start], lines.join("\n"), &text[end..])
}

fn with_empty_line(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.ends_with('\n') => format!("{text}\n"),
        text => format!("{text}\n\n"),
    }
}

fn toml_quoted(key: &str) -> String {
    let mut quoted = String::from('"');
    for letter in key.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                // Writing to a string does not fail.
                write!(quoted, "\\u{:04X}", u32::from(letter)).ok();
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
