//! Hooks as `[[hooks]]` tables of a TOML file, which Kimi Code reads.
//!
//! Pure: text in, text out. The text is edited in place, so that comments and layout stay. Then
//! both texts are parsed: if anything but our hooks differs, the edit is refused.

use std::ops::Range;

use callgate_hooks::hook_command::{CommandOwner, command_owner};
use toml::{Table, Value};

use super::RemovedHooks;
use super::edit::{InstalledSettings, WantedHook};
use crate::agents::hooks::EditRefusal;

const HEADER: &str = "[[hooks]]";

/// Changes our hooks in `text` to exactly the wanted ones.
pub(crate) fn install_toml_hooks(
    text: &str,
    wanted: &[WantedHook],
) -> Result<InstalledSettings, EditRefusal> {
    let there = find_our_hooks(text)?;
    let mut done = InstalledSettings { text: text.to_owned(), ..InstalledSettings::default() };
    if there == wanted {
        return Ok(done);
    }
    let (mut new, others) = cut_our_hooks(text)?;
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    for hook in wanted {
        let gap = match new.as_str() {
            "" => "",
            new if new.ends_with('\n') => line,
            _ => &format!("{line}{line}"),
        };
        let text = |value: &str| toml_edit::Value::from(value).to_string();
        let lines = [
            HEADER.to_owned(),
            format!("event = {}", text(&hook.event)),
            format!("command = {}", text(&hook.command)),
            format!("timeout = {}", hook.timeout),
        ];
        new = format!("{new}{gap}{}{line}", lines.join(line));
        let was = there.iter().find(|old| old.event == hook.event);
        let list = if was.is_some() { &mut done.updated } else { &mut done.added };
        if was != Some(hook) {
            list.push(hook.event.clone());
        }
    }
    let is_gone = |old: &&WantedHook| wanted.iter().all(|hook| hook.event != old.event);
    done.removed = there.iter().filter(is_gone).map(|hook| hook.event.clone()).collect();
    // The text is searched by lines and not as TOML is, so what it means now is compared with what
    // is wanted.
    if find_our_hooks(&new)? != wanted || without_ours(parse_toml(&new)?) != others {
        return Err(edit_refusal("its `hooks` are written in a way that callgate does not edit"));
    }
    done.text = new;
    Ok(done)
}

/// Removes our hooks from `text`. `backup` is the text before the first of them was added.
pub(crate) fn uninstall_toml_hooks(
    text: &str,
    backup: Option<&str>,
) -> Result<RemovedHooks, EditRefusal> {
    let there = find_our_hooks(text)?;
    if there.is_empty() {
        return Ok(RemovedHooks::Nothing);
    }
    let is_this = |before: &str| {
        let is_clean = find_our_hooks(before).is_ok_and(|hooks| hooks.is_empty());
        is_clean && install_toml_hooks(before, &there).is_ok_and(|done| done.text == text)
    };
    match backup {
        Some(before) if is_this(before) => Ok(RemovedHooks::AsBefore(before.to_owned())),
        None if is_this("") => Ok(RemovedHooks::File),
        _ => cut_our_hooks(text).map(|(text, _)| RemovedHooks::Ours(text)),
    }
}

pub(crate) fn find_our_hooks(text: &str) -> Result<Vec<WantedHook>, EditRefusal> {
    let table = parse_toml(text)?;
    let hooks = table.get("hooks").and_then(Value::as_array).into_iter().flatten();
    Ok(hooks.filter_map(hook_of_ours).collect())
}

fn hook_of_ours(table: &Value) -> Option<WantedHook> {
    let text = |name| table.get(name).and_then(Value::as_str).map(str::to_owned);
    let command = text("command").filter(|command| command_owner(command) == CommandOwner::Ours)?;
    let timeout = table.get("timeout").and_then(Value::as_integer);
    let timeout = timeout.and_then(|timeout| timeout.try_into().ok()).unwrap_or_default();
    Some(WantedHook { event: text("event")?, command, is_direct: false, timeout })
}

/// Returns the text without our hooks, and what it means.
fn cut_our_hooks(text: &str) -> Result<(String, Table), EditRefusal> {
    let others = without_ours(parse_toml(text)?);
    let mut new = text.to_owned();
    // From the last to the first, so that the positions before a change stay valid.
    for block in hook_table_ranges(text).into_iter().rev() {
        let hooks = parse_toml(&text[block.clone()]).ok();
        let is_ours = hooks.and_then(|table| hook_of_ours(table.get("hooks")?.get(0)?)).is_some();
        if is_ours {
            // The empty line before it was ours, too.
            let before = &new[..block.start];
            let start = ["\r\n\r\n", "\n\n"]
                .iter()
                .find_map(|gap| Some(before.strip_suffix(gap)?.len() + gap.len() / 2));
            new.replace_range(start.unwrap_or(block.start)..block.end, "");
        }
    }
    if parse_toml(&new).ok().map(without_ours).as_ref() != Some(&others)
        || !find_our_hooks(&new)?.is_empty()
    {
        return Err(edit_refusal("callgate's hooks are not written as callgate writes them"));
    }
    Ok((new, others))
}

/// Returns where each table of hooks is: its header and the lines with values below it.
fn hook_table_ranges(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let mut is_inside = false;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let trimmed = line.trim();
        if trimmed == HEADER {
            blocks.push(at..end);
            is_inside = true;
        } else if is_inside && trimmed.contains('=') && !trimmed.starts_with(['#', '[']) {
            // A value over several lines ends the block early, which the comparison of both texts
            // refuses.
            if let Some(block) = blocks.last_mut() {
                block.end = end;
            }
        } else {
            is_inside = false;
        }
        at = end;
    }
    blocks
}

pub(super) fn parse_toml(text: &str) -> Result<Table, EditRefusal> {
    let table: Result<Table, toml::de::Error> = toml::from_str(text);
    table.map_err(|error| edit_refusal(&format!("it is not TOML: {}", error.message())))
}

/// Returns the settings without our hooks. An empty list means the same as none.
fn without_ours(mut table: Table) -> Table {
    if let Some(Value::Array(hooks)) = table.get_mut("hooks") {
        hooks.retain(|hook| hook_of_ours(hook).is_none());
        if hooks.is_empty() {
            table.remove("hooks");
        }
    }
    table
}

pub(super) fn edit_refusal(text: &str) -> EditRefusal {
    EditRefusal(text.to_owned())
}
