//! Adds hooks to the text of a settings file and removes them, changing nothing else.
//!
//! Pure: text in, text out. After each change the text is parsed again, which keeps every change
//! simple; a settings file is small.

use std::ops::Range;

use callgate_hooks::hook_command::{CommandOwner, split_command};
use callgate_wire::hook::agents::JsonHooks;
use serde_json::{Map, Value, json};

use super::layout::{self, JsonLayout};
use super::removed_hooks::RemovedHooks;
use crate::agents::hooks::{EditRefusal, EventHooks, FoundHooks, HookHandler, is_installed};

/// A hook that the settings should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedHook {
    pub(crate) event: String,
    /// The command line that runs.
    pub(crate) command: String,
    /// Whether the agent starts the program itself. A shell in between obeys variables that a
    /// project may set, and may be wrapped by one of them.
    pub(crate) is_direct: bool,
    /// The time after which the agent ends it, in the unit of its settings.
    pub(crate) timeout: u64,
}

/// A settings file after [`install_json_hooks`], and what was done to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InstalledSettings {
    pub(crate) text: String,
    /// Events to which a hook was added.
    pub(crate) added: Vec<String>,
    /// Events whose hook was ours and was changed.
    pub(crate) updated: Vec<String>,
    /// Events from which a hook of ours was removed.
    pub(crate) removed: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// The text that stands for an empty or absent file.
const NOTHING: &str = "{}\n";

/// Changes our hooks in `text` to exactly the wanted ones.
pub(crate) fn install_json_hooks(
    form: &JsonHooks,
    text: &str,
    wanted: &[WantedHook],
) -> Result<InstalledSettings, EditRefusal> {
    let text = if text.trim().is_empty() { NOTHING } else { text };
    let mut done = InstalledSettings { text: text.to_owned(), ..InstalledSettings::default() };
    while let Some(place) = find_superfluous_hook(&FoundHooks::read_as(form, &done.text)?, wanted) {
        let found = FoundHooks::read_as(form, &done.text)?;
        done.removed.push(found.events[place[0]].name.clone());
        done.text = text_without_handler(&done.text, &found, place, &KeptParts::default());
    }
    for (name, value) in form.members {
        done.text = with_member(form, &done.text, name, value)?;
    }
    for hook in wanted {
        let found = FoundHooks::read_as(form, &done.text)?;
        let event = found.event(&hook.event);
        let is_there = |whose| event.is_some_and(|event| has_handler_of(event, whose));
        if is_there(CommandOwner::Ours) {
            let updated = update_our_hooks(form, &done.text, &found, hook);
            if updated != done.text {
                done.updated.push(hook.event.clone());
                done.text = updated;
            }
        } else if is_there(CommandOwner::Composed) {
            let note = "has a command of yours that runs callgate's hook; it stays as it is";
            done.notes.push(format!("{} {note}", hook.event));
        } else {
            done.text = add_json_hook(form, &done.text, &found, event, hook);
            done.added.push(hook.event.clone());
        }
    }
    done.notes.extend(hook_notes(&FoundHooks::read_as(form, &done.text)?));
    Ok(done)
}

/// Adds a member to the settings, unless there is one of this name.
fn with_member(
    form: &JsonHooks,
    text: &str,
    name: &str,
    value: &str,
) -> Result<String, EditRefusal> {
    let found = FoundHooks::read_as(form, text)?;
    if found.members.iter().any(|member| is_named(text, member, name)) {
        return Ok(text.to_owned());
    }
    let value = serde_json::from_str(value).unwrap_or_default();
    let layout = JsonLayout::from_text(text, &found);
    Ok(layout.insert_child(text, &found.root, &found.members, Some(name), &value))
}

fn is_named(text: &str, member: &Range<usize>, name: &str) -> bool {
    text[member.clone()].starts_with(&Value::from(name).to_string())
}

/// Returns notes on what keeps our hooks from running.
fn hook_notes(found: &FoundHooks) -> Vec<String> {
    let off = found.switch.map(|switch| format!("{switch}: no hook runs"));
    let narrow =
        ["PreToolUse", "PermissionRequest"].map(|name| narrow_matcher_note(found.event(name)?));
    off.into_iter().chain(narrow.into_iter().flatten()).collect()
}

/// Returns a note on the tools to which an event is limited, if none of our hooks there is for all
/// tools.
fn narrow_matcher_note(event: &EventHooks) -> Option<String> {
    let ours = event.entries.iter().filter(|entry| entry.handlers.iter().any(is_ours));
    let matchers: Vec<Option<&str>> = ours.map(|entry| entry.matcher.as_deref()).collect();
    let is_all = |matcher: Option<&str>| {
        matcher.is_none_or(|text| matches!(text, r#""""# | r#""*""# | r#"".*""#))
    };
    if matchers.is_empty() || matchers.iter().copied().any(is_all) {
        return None;
    }
    let matchers: Vec<&str> = matchers.into_iter().flatten().collect();
    let tools = matchers.join(" or ");
    Some(format!("{} applies only to tools that match {tools}, as before", event.name))
}

fn is_ours(handler: &HookHandler) -> bool {
    handler.owner == CommandOwner::Ours
}

fn has_handler_of(event: &EventHooks, whose: CommandOwner) -> bool {
    event.entries.iter().flat_map(|entry| &entry.handlers).any(|handler| handler.owner == whose)
}

/// Finds the last hook of ours that is not wanted, or that duplicates another one with the same
/// matcher.
fn find_superfluous_hook(found: &FoundHooks, wanted: &[WantedHook]) -> Option<[usize; 3]> {
    let mut seen: Vec<(&str, Option<&str>)> = Vec::new();
    let mut last = None;
    for (event, place, _) in found.handlers().filter(|(_, _, handler)| is_ours(handler)) {
        let this = (event.name.as_str(), event.entries[place[1]].matcher.as_deref());
        let is_wanted = wanted.iter().any(|hook| hook.event == event.name);
        // A hook at an event for which we never install one was put there by somebody else.
        if is_installed(this.0) && (seen.contains(&this) || !is_wanted) {
            last = Some(place);
        }
        seen.push(this);
    }
    last
}

/// Updates the command and the time limit of our hooks where they differ.
fn update_our_hooks(form: &JsonHooks, text: &str, found: &FoundHooks, hook: &WantedHook) -> String {
    let layout = JsonLayout::from_text(text, found);
    let mut new = text.to_owned();
    let ours = |(event, _, handler): &(&EventHooks, _, &HookHandler)| {
        event.name == hook.event && is_ours(handler)
    };
    let mut handlers: Vec<&HookHandler> = found.handlers().filter(ours).map(|(.., h)| h).collect();
    // From the last to the first, so that the positions before a change stay valid.
    handlers.reverse();
    for handler in handlers {
        new = update_one_hook(form, new, &layout, handler, hook);
    }
    new
}

fn update_one_hook(
    form: &JsonHooks,
    mut new: String,
    layout: &JsonLayout<'_>,
    handler: &HookHandler,
    hook: &WantedHook,
) -> String {
    let HookHandler { whole, members, .. } = handler;
    let is_same_form = handler.args.is_some() == hook.is_direct;
    let is_same = |command: &str| command == hook.command && is_same_form;
    let command = handler.command.as_ref().filter(|(command, _)| !is_same(command));
    // Nobody has added anything to such a hook, so it is written anew as a whole.
    if command.is_some() && handler.is_simple && (hook.is_direct || !is_same_form) {
        let fresh = layout.replacement(&new, whole, members, &new_handler(form, hook));
        new.replace_range(whole.clone(), &fresh);
        return new;
    }
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    if let Some(at) = &handler.timeout {
        changes.push((at.clone(), hook.timeout.to_string()));
    } else {
        let timeout = Value::from(hook.timeout);
        new = layout.insert_child(&new, whole, members, Some(form.timeout), &timeout);
    }
    if let Some((_, at)) = command {
        let (program, arguments) = written_command(hook);
        changes.push((at.clone(), Value::from(program).to_string()));
        match (arguments, handler.args) {
            (Some(arguments), Some(at)) => {
                changes.push((members[at].clone(), format!("\"args\":{arguments}")));
            }
            (Some(arguments), None) => {
                new = layout.insert_child(&new, whole, members, Some("args"), &arguments);
            }
            (None, Some(at)) => {
                changes.push((layout::removal_range(whole, members, at), String::new()));
            }
            (None, None) => {}
        }
    }
    // The last one comes first, so that the positions before a change stay valid.
    changes.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    for (at, value) in changes {
        new.replace_range(at, &value);
    }
    new
}

/// Returns the command as it is written, and the arguments if the agent starts the program itself.
fn written_command(hook: &WantedHook) -> (String, Option<Value>) {
    if !hook.is_direct {
        return (hook.command.clone(), None);
    }
    let (program, arguments) = split_command(&hook.command);
    (program, Some(arguments.into()))
}

fn new_handler(form: &JsonHooks, hook: &WantedHook) -> Value {
    let (command, arguments) = written_command(hook);
    let mut handler = Map::new();
    for (name, value) in form.more {
        handler.insert((*name).to_owned(), json!(value));
    }
    handler.insert("type".to_owned(), json!("command"));
    handler.insert(form.command.to_owned(), json!(command));
    handler.extend(arguments.map(|arguments| ("args".to_owned(), arguments)));
    handler.insert(form.timeout.to_owned(), json!(hook.timeout));
    handler.into()
}

fn add_json_hook(
    form: &JsonHooks,
    text: &str,
    found: &FoundHooks,
    event: Option<&EventHooks>,
    hook: &WantedHook,
) -> String {
    let layout = JsonLayout::from_text(text, found);
    let handler = new_handler(form, hook);
    let entry = match form.matcher {
        _ if form.is_flat => handler,
        Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
        None => json!({"hooks": [handler]}),
    };
    if let Some(event) = event {
        let entries: Vec<_> = event.entries.iter().map(|entry| entry.whole.clone()).collect();
        return layout.insert_child(text, &event.value, &entries, None, &entry);
    }
    let list = json!([entry]);
    if found.hooks.is_some() {
        let events: Vec<_> = found.events.iter().map(|event| event.whole.clone()).collect();
        return layout.insert_child(text, &found.hooks_value, &events, Some(&hook.event), &list);
    }
    let hooks = json!({hook.event.as_str(): list});
    layout.insert_child(text, &found.root, &found.members, Some("hooks"), &hooks)
}

/// Removes our hooks from `text`. `backup` is the text before the first of them was added.
pub(crate) fn uninstall_json_hooks(
    form: &JsonHooks,
    text: &str,
    backup: Option<&str>,
) -> Result<RemovedHooks, EditRefusal> {
    let found = FoundHooks::read_as(form, text)?;
    if !found.has_ours() {
        return Ok(RemovedHooks::Nothing);
    }
    let there = hooks_of_ours(text, &found);
    // If installing again produces exactly this text, nobody else has changed the file since, and
    // it can be restored as it was.
    let is_this = |before: &str| {
        let is_clean = before.trim().is_empty()
            || FoundHooks::read_as(form, before).is_ok_and(|found| !found.has_ours());
        is_clean && install_json_hooks(form, before, &there).is_ok_and(|done| done.text == text)
    };
    match backup {
        Some(before) if is_this(before) => return Ok(RemovedHooks::AsBefore(before.to_owned())),
        _ if is_this(NOTHING) => return Ok(RemovedHooks::File),
        _ => {}
    }
    let keep = KeptParts::from_backup(form, backup);
    let mut text = text.to_owned();
    loop {
        let found = FoundHooks::read_as(form, &text)?;
        let last = found.handlers().filter(|(_, _, handler)| is_ours(handler)).last();
        let Some((_, place, _)) = last else { break };
        text = text_without_handler(&text, &found, place, &keep);
    }
    // Last, because a member stays as long as anybody has hooks.
    for (name, value) in form.members {
        text = without_member(form, &text, backup.unwrap_or_default(), name, value)?;
    }
    Ok(RemovedHooks::Ours(text))
}

/// Removes a member that we added to the settings `before`, unless there are still hooks.
fn without_member(
    form: &JsonHooks,
    text: &str,
    before: &str,
    name: &str,
    value: &str,
) -> Result<String, EditRefusal> {
    let place = |text: &str, found: &FoundHooks| {
        found.members.iter().position(|member| is_named(text, member, name))
    };
    let had = FoundHooks::read_as(form, before).is_ok_and(|it| place(before, &it).is_some());
    let found = FoundHooks::read_as(form, text)?;
    let Some(at) = place(text, &found).filter(|_| !had && found.hooks.is_none()) else {
        return Ok(text.to_owned());
    };
    let member = format!("{{{}}}", &text[found.members[at].clone()]);
    let member: Value = serde_json::from_str(&member).unwrap_or_default();
    // Somebody may have given it another value since.
    let is_ours = member[name] == serde_json::from_str::<Value>(value).unwrap_or_default();
    let removed = || layout::remove_child(text, &found.root, &found.members, at);
    Ok(if is_ours { removed() } else { text.to_owned() })
}

/// Returns the events with a command that runs our hook and more, which is not ours to remove.
pub(crate) fn composed_events(form: &JsonHooks, text: &str) -> Vec<String> {
    let Ok(found) = FoundHooks::read_as(form, text) else { return Vec::new() };
    let composed =
        found.handlers().filter(|(_, _, handler)| handler.owner == CommandOwner::Composed);
    composed.map(|(event, _, _)| event.name.clone()).collect()
}

/// Returns the first hook of ours of each event.
pub(crate) fn hooks_of_ours(text: &str, found: &FoundHooks) -> Vec<WantedHook> {
    let mut there: Vec<WantedHook> = Vec::new();
    for (event, _, handler) in found.handlers().filter(|(_, _, handler)| is_ours(handler)) {
        let timeout = handler.timeout.clone().and_then(|at| text[at].parse().ok());
        let command = handler.command.as_ref().map(|(command, _)| command.clone());
        if let (Some(timeout), Some(command)) = (timeout, command)
            && there.iter().all(|hook| hook.event != event.name)
        {
            let is_direct = handler.args.is_some();
            there.push(WantedHook { event: event.name.clone(), command, is_direct, timeout });
        }
    }
    there
}

/// The parts that existed before our hooks were added. They stay, even if they are empty.
#[derive(Debug, Default)]
struct KeptParts {
    hooks: bool,
    events: Vec<String>,
}

impl KeptParts {
    fn from_backup(form: &JsonHooks, backup: Option<&str>) -> Self {
        let found = backup.map(|backup| FoundHooks::read_as(form, backup));
        let Some(Ok(found)) = found else { return Self::default() };
        let events = found.events.into_iter().map(|event| event.name).collect();
        Self { hooks: found.hooks.is_some(), events }
    }
}

/// Returns the text without one handler, and without what is empty then.
fn text_without_handler(
    text: &str,
    found: &FoundHooks,
    place: [usize; 3],
    keep: &KeptParts,
) -> String {
    let [event_at, entry_at, handler_at] = place;
    let event = &found.events[event_at];
    let entry = &event.entries[entry_at];
    let cut = |container: &Range<usize>, children: Vec<Range<usize>>, at: usize| {
        layout::remove_child(text, container, &children, at)
    };
    if entry.handlers.len() > 1 || !entry.is_simple {
        let handlers = entry.handlers.iter().map(|handler| handler.whole.clone()).collect();
        return cut(&entry.list, handlers, handler_at);
    }
    if event.entries.len() > 1 || keep.events.contains(&event.name) {
        let entries = event.entries.iter().map(|entry| entry.whole.clone()).collect();
        return cut(&event.value, entries, entry_at);
    }
    match found.hooks {
        Some(hooks) if found.events.len() == 1 && !keep.hooks => {
            cut(&found.root, found.members.clone(), hooks)
        }
        _ => {
            let events = found.events.iter().map(|event| event.whole.clone()).collect();
            cut(&found.hooks_value, events, event_at)
        }
    }
}
