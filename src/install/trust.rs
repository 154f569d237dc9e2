//! Codex's trust in hooks: it runs only those whose hash is in the user's `config.toml`.
//!
//! Pure: text in, text out. The text is edited in place, so that comments and layout stay. Then
//! both texts are parsed as TOML: if anything but the wanted entries differs, the edit is refused.

use std::fmt::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml::{Table, Value as TomlValue};

use crate::agents::hook_command::CommandOwner;
use crate::agents::hooks::{EditRefusal, EventHooks, FoundHooks, HookHandler};

/// The time limit, in seconds, that Codex applies to a hook without one.
const DEFAULT_LIMIT: u64 = 600;

/// A hook that is to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedHook {
    /// Its name in `hooks.state`.
    pub(crate) key: String,
    /// `sha256:` and the digest of what it runs and when.
    pub(crate) hash: String,
}

/// Returns our hooks in the text of `file`, Codex's `hooks.json`, with the keys and hashes that
/// Codex computes for them.
pub(crate) fn of_ours(text: &str, file: &str) -> Result<Vec<TrustedHook>, EditRefusal> {
    let found = FoundHooks::read(text)?;
    let ours = found.handlers().filter(|(_, _, handler)| handler.owner == CommandOwner::Ours);
    let trusted = |(event, [_, entry, at], handler): (&EventHooks, [usize; 3], &HookHandler)| {
        let name = snake_case(&event.name);
        let (command, _) = handler.command.as_ref()?;
        let limit = handler.timeout.clone().and_then(|at| text[at].parse().ok());
        let matcher = event.entries[entry].matcher.as_deref();
        let matcher: Option<String> = matcher.and_then(|text| serde_json::from_str(text).ok());
        let hash = hash(&name, command, limit.unwrap_or(DEFAULT_LIMIT), matcher);
        Some(TrustedHook { key: format!("{file}:{name}:{entry}:{at}"), hash })
    };
    Ok(ours.filter_map(trusted).collect())
}

/// Returns the keys of the hooks in the text of `file` that are not ours, in order. Codex
/// identifies a hook by its position, so one that moves up becomes another one.
pub(crate) fn keys_of_others(text: &str, file: &str) -> Result<Vec<String>, EditRefusal> {
    let found = FoundHooks::read(text)?;
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

fn hash(event: &str, command: &str, limit: u64, matcher: Option<String>) -> String {
    // The keys are in alphabetical order.
    let handler =
        json!({ "async": false, "command": command, "timeout": limit, "type": "command" });
    let mut hashed = json!({ "event_name": event, "hooks": [handler] });
    if let Some(matcher) = matcher {
        hashed["matcher"] = Value::from(matcher);
    }
    let mut hash = "sha256:".to_owned();
    for byte in Sha256::digest(hashed.to_string()) {
        // Writing to a string does not fail.
        write!(hash, "{byte:02x}").ok();
    }
    hash
}

/// Returns the text of `config.toml` with these hooks trusted.
pub(crate) fn add(text: &str, hooks: &[TrustedHook]) -> Result<String, EditRefusal> {
    let mut wanted = parse(text)?;
    let mut new = text.to_owned();
    for TrustedHook { key, hash } in hooks {
        let states = states_mut(&mut wanted)?;
        let is_new = !states.contains_key(key);
        let state = states.entry(key.clone()).or_insert_with(|| Table::new().into());
        let state = state.as_table_mut().ok_or_else(|| refusal("a state is not a table"))?;
        state.insert("trusted_hash".to_owned(), hash.clone().into());
        let line = format!("trusted_hash = \"{hash}\"");
        new = match block(&new, key).filter(|_| !is_new) {
            Some(at) => with_line(&new, at, &line),
            None => format!("{}[hooks.state.{}]\n{line}\n", ended(&new), quoted(key)),
        };
    }
    checked(new, wanted)
}

/// Returns the text without the trust in these hooks, where their hashes are these.
pub(crate) fn remove(text: &str, hooks: &[TrustedHook]) -> Result<String, EditRefusal> {
    let mut wanted = parse(text)?;
    let mut new = text.to_owned();
    for TrustedHook { key, hash } in hooks {
        let states = states_mut(&mut wanted)?;
        let there = states.get(key).and_then(|it| it.get("trusted_hash")?.as_str());
        if there != Some(hash.as_str()) {
            continue;
        }
        states.remove(key);
        let Some((start, end)) = block(&new, key) else {
            return Err(refusal("the trust in our hooks is not written as Codex writes it"));
        };
        // The empty line before it was ours, too.
        let before = new[..start].strip_suffix("\n\n").map_or(start, |rest| rest.len() + 1);
        new.replace_range(before..end, "");
    }
    checked(new, wanted)
}

fn parse(text: &str) -> Result<Table, EditRefusal> {
    let table: Result<Table, toml::de::Error> = toml::from_str(text);
    table.map_err(|error| refusal(&format!("it is not TOML: {}", error.message())))
}

fn refusal(text: &str) -> EditRefusal {
    EditRefusal(text.to_owned())
}

/// Returns the table `hooks.state`, which is created if it is absent.
fn states_mut(config: &mut Table) -> Result<&mut Table, EditRefusal> {
    let mut table = config;
    for name in ["hooks", "state"] {
        let inner = table.entry(name).or_insert_with(|| Table::new().into());
        let odd = || refusal(&format!("`{name}` is not a table"));
        table = inner.as_table_mut().ok_or_else(odd)?;
    }
    Ok(table)
}

/// Returns the new text if it means what is wanted and nothing else.
fn checked(new: String, wanted: Table) -> Result<String, EditRefusal> {
    let is_wanted = parse(&new).is_ok_and(|table| pruned(table) == pruned(wanted));
    let odd = || refusal("its `hooks` are written in a way that callgate does not edit");
    is_wanted.then_some(new).ok_or_else(odd)
}

/// Removes empty tables of hooks, which mean the same as none.
fn pruned(mut config: Table) -> Table {
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
fn block(text: &str, key: &str) -> Option<(usize, usize)> {
    let headers = [format!("[hooks.state.{}]", quoted(key)), format!("[hooks.state.'{key}']")];
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

/// Returns the text with an empty line at its end, unless it is empty.
fn ended(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.ends_with('\n') => format!("{text}\n"),
        text => format!("{text}\n\n"),
    }
}

/// Quotes a key for TOML.
fn quoted(key: &str) -> String {
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
mod tests {
    use super::*;

    fn trusted(name: &str, digit: char) -> TrustedHook {
        let hash = format!("sha256:{}", digit.to_string().repeat(64));
        TrustedHook { key: format!("/h\"o/.codex/hooks.json:{name}:0:0"), hash }
    }

    /// The values are those that Codex 0.166.0 computed for the same hooks.
    #[test]
    fn hashes_are_those_that_codex_computes() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command",
            "command":"/usr/bin/callgate-hook --agent codex","timeout":4260}]}],
            "SessionEnd":[{"hooks":[{"type":"command","command":"beep"}]},{"matcher":"*",
            "hooks":[{"type":"command","command":"/usr/bin/callgate-hook","timeout":3}]}]}}"#;
        let ours = of_ours(text, "/h/hooks.json").unwrap();
        let keys: Vec<&str> = ours.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["/h/hooks.json:pre_tool_use:0:0", "/h/hooks.json:session_end:1:0"]);
        assert_eq!(
            ours[0].hash,
            "sha256:bb0095f8477826c02dcba13f305ff1b892b3d25bc23705800ebb424d1155e42a"
        );
        assert_eq!(
            ours[1].hash,
            "sha256:e4e310548d73f7e118b5118dd6fbf12ab090f94db13eec5c04f0e9c84bfe66d9"
        );
    }

    #[test]
    fn trust_is_added_changed_and_removed_and_all_else_stays() {
        for before in [
            "",
            "# mine\nmodel = \"x\" # why\n",
            "a = 1",
            "[hooks]\n# none yet\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
            "[hooks.state.\"other:0\"]\ntrusted_hash = \"sha256:1\"\n\n# the end\n",
            "[hooks.state]\n",
        ] {
            let hooks = [trusted("stop", 'a'), trusted("pre_tool_use", 'b')];
            let with = add(before, &hooks).unwrap();
            assert!(with.starts_with(before), "{with}");
            assert_eq!(add(&with, &hooks).unwrap(), with, "twice is once");
            let without = remove(&with, &hooks).unwrap();
            assert_eq!(without.trim_end(), before.trim_end(), "{with}");
            let newer = [trusted("stop", 'c'), trusted("pre_tool_use", 'b')];
            let changed = add(&with, &newer).unwrap();
            assert_eq!(changed, with.replace(&"a".repeat(64), &"c".repeat(64)));
            assert_eq!(remove(&changed, &hooks[..1]).unwrap(), changed, "that is not ours");
        }
    }

    #[test]
    fn what_the_user_has_switched_off_stays_off() {
        let off = "[hooks.state.'/h/hooks.json:stop:0:0']\nenabled = false\n# x\n";
        let hook = TrustedHook { key: "/h/hooks.json:stop:0:0".into(), hash: "sha256:1".into() };
        let line = "trusted_hash = \"sha256:1\"\nenabled";
        assert_eq!(add(off, &[hook]).unwrap(), off.replace("enabled", line));
    }

    #[test]
    fn what_cannot_be_edited_is_refused() {
        let hooks = [trusted("stop", 'a')];
        for (text, why) in [
            ("a = ", "it is not TOML"),
            ("hooks = 1\n", "`hooks` is not a table"),
            ("[hooks]\nstate = 1\n", "`state` is not a table"),
            ("hooks = { state = {} }\n", "does not edit"),
            ("[hooks]\nstate = { x = { trusted_hash = \"1\" } }\n", "does not edit"),
        ] {
            let refused = add(text, &hooks).unwrap_err().to_string();
            assert!(refused.contains(why), "{text}: {refused}");
        }
        // A line in a text is no header.
        let text = add("", &hooks).unwrap();
        let inside = format!("a = '''\n{text}'''\n");
        assert!(add(&inside, &hooks).unwrap().starts_with(&inside));
        assert_eq!(remove(&inside, &hooks).unwrap(), inside);
    }
}
