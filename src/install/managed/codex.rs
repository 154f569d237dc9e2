//! What Codex requires of every session: our hooks, and that it runs hooks at all.
//!
//! Pure: text in, text out.

use callgate_hooks::hook_command::{CommandOwner, command_owner};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

use super::super::RemovedHooks;
use super::super::edit::{InstalledSettings, WantedHook};
use crate::agents::hooks::EditRefusal;

/// The key that keeps hooks of users, projects and plugins from running.
const MANAGED_ONLY: &str = "allow_managed_hooks_only";
const FEATURES: &str = "features";
const HOOKS: &str = "hooks";

/// Changes `text` so that our hooks are exactly the wanted ones and nobody can switch them off.
pub(in crate::install) fn install_codex_hooks(
    text: &str,
    wanted: &[WantedHook],
) -> Result<InstalledSettings, EditRefusal> {
    let mut document = parse_document(text)?;
    let table = document.as_table_mut();
    set_switch(table, MANAGED_ONLY);
    // Otherwise a project that Codex trusts could switch hooks off.
    set_switch(sub_table(table, FEATURES)?, HOOKS);
    // Otherwise nothing is touched, so that an up-to-date file keeps its comments and its order.
    if our_managed_hooks(&document) != wanted {
        drop_ours(&mut document);
        for hook in wanted {
            add_toml_hook(&mut document, hook)?;
        }
    }
    Ok(InstalledSettings { text: document.to_string(), ..InstalledSettings::default() })
}

/// Removes our hooks, and makes the keys beside them what they are in the backup.
pub(in crate::install) fn uninstall_codex_hooks(
    text: &str,
    backup: Option<&str>,
) -> Result<RemovedHooks, EditRefusal> {
    let mut document = parse_document(text)?;
    let there = our_managed_hooks(&document);
    if there.is_empty() {
        return Ok(RemovedHooks::Nothing);
    }
    if let Some(before) = backup
        && install_codex_hooks(before, &there).is_ok_and(|done| done.text == text)
    {
        return Ok(RemovedHooks::AsBefore(before.to_owned()));
    }
    let had = backup.and_then(|text| parse_document(text).ok()).unwrap_or_default();
    drop_ours(&mut document);
    let table = document.as_table_mut();
    reset_switch(table, MANAGED_ONLY, had.get(MANAGED_ONLY));
    if let Some(features) = table.get_mut(FEATURES).and_then(Item::as_table_like_mut) {
        reset_switch(features, HOOKS, had.get(FEATURES).and_then(|it| it.get(HOOKS)));
        if features.is_empty() && had.get(FEATURES).is_none() {
            table.remove(FEATURES);
        }
    }
    let text = document.to_string();
    let is_empty = text.trim().is_empty() && backup.is_none();
    Ok(if is_empty { RemovedHooks::File } else { RemovedHooks::Ours(text) })
}

fn parse_document(text: &str) -> Result<DocumentMut, EditRefusal> {
    let document: Result<DocumentMut, toml_edit::TomlError> = text.parse();
    document.map_err(|error| EditRefusal(format!("it is not TOML: {}", error.message())))
}

fn set_switch(table: &mut Table, name: &str) {
    if !is_on(table.get(name)) {
        table.insert(name, value(true));
    }
}

/// Makes a switch that is on what it was before. What others have made of it since stays.
fn reset_switch(table: &mut dyn TableLike, name: &str, before: Option<&Item>) {
    match before {
        _ if !is_on(table.get(name)) => {}
        Some(before) if is_on(Some(before)) => {}
        Some(before) => {
            table.insert(name, before.clone());
        }
        None => {
            table.remove(name);
        }
    }
}

fn is_on(item: Option<&Item>) -> bool {
    item.and_then(Item::as_bool) == Some(true)
}

/// Returns the table called `name`, which is made if it is absent.
fn sub_table<'a>(table: &'a mut Table, name: &str) -> Result<&'a mut Table, EditRefusal> {
    let made = || {
        let mut made = Table::new();
        // Its header is written only if it has values of its own.
        made.set_implicit(true);
        Item::Table(made)
    };
    let item = table.entry(name).or_insert_with(made);
    let odd = || EditRefusal(format!("`{name}` is not written as a table of its own"));
    item.as_table_mut().ok_or_else(odd)
}

fn add_toml_hook(document: &mut DocumentMut, hook: &WantedHook) -> Result<(), EditRefusal> {
    let mut handler = Table::new();
    handler.insert("type", value("command"));
    handler.insert("command", value(hook.command.as_str()));
    handler.insert("timeout", value(i64::try_from(hook.timeout).unwrap_or(i64::MAX)));
    let mut handlers = ArrayOfTables::new();
    handlers.push(handler);
    let mut group = Table::new();
    group.insert(HOOKS, Item::ArrayOfTables(handlers));
    let hooks = sub_table(document.as_table_mut(), HOOKS)?;
    let groups = hooks.entry(&hook.event).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let odd = || EditRefusal(format!("`hooks.{}` is not a list of tables", hook.event));
    groups.as_array_of_tables_mut().ok_or_else(odd)?.push(group);
    Ok(())
}

fn our_managed_hooks(document: &DocumentMut) -> Vec<WantedHook> {
    let events = document.get(HOOKS).and_then(Item::as_table_like);
    let events = events.into_iter().flat_map(|events| events.iter());
    let mut found = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array_of_tables().into_iter().flatten();
        let handlers = groups.filter_map(|group| group.get(HOOKS)?.as_array_of_tables()).flatten();
        for handler in handlers.filter(|handler| is_ours(handler)) {
            let command = handler.get("command").and_then(Item::as_str).unwrap_or_default();
            let timeout = handler.get("timeout").and_then(Item::as_integer);
            found.push(WantedHook {
                event: event.to_owned(),
                command: command.to_owned(),
                is_direct: false,
                timeout: timeout.and_then(|limit| limit.try_into().ok()).unwrap_or_default(),
            });
        }
    }
    found
}

fn is_ours(handler: &Table) -> bool {
    let command = handler.get("command").and_then(Item::as_str);
    command.is_some_and(|command| command_owner(command) == CommandOwner::Ours)
}

/// Removes our hooks, and what is empty then.
fn drop_ours(document: &mut DocumentMut) {
    let table = document.as_table_mut();
    let Some(hooks) = table.get_mut(HOOKS).and_then(Item::as_table_mut) else { return };
    for (_, groups) in hooks.iter_mut() {
        let Some(groups) = groups.as_array_of_tables_mut() else { continue };
        for group in groups.iter_mut() {
            let handlers = group.get_mut(HOOKS).and_then(Item::as_array_of_tables_mut);
            if let Some(handlers) = handlers {
                handlers.retain(|handler| !is_ours(handler));
            }
        }
        groups.retain(|group| {
            let handlers = group.get(HOOKS).and_then(Item::as_array_of_tables);
            handlers.is_none_or(|handlers| !handlers.is_empty())
        });
    }
    let is_bare = |item: &Item| item.as_array_of_tables().is_some_and(ArrayOfTables::is_empty);
    let bare: Vec<String> =
        hooks.iter().filter(|(_, item)| is_bare(item)).map(|(name, _)| name.to_owned()).collect();
    for name in bare {
        hooks.remove(&name);
    }
    if hooks.is_empty() {
        table.remove(HOOKS);
    }
}
