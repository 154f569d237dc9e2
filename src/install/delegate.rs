//! The rule in `amp.permissions` that has Amp ask a program about every tool.
//!
//! Pure: text in, text out. The first rule that matches a call decides, so ours is the first.

use std::ops::Range;

use callgate_hooks::hook_command::{LARGE, SMALL};
use callgate_wire::hook::agents::JsonHooks;
use serde_json::{Value, json};

use super::RemovedHooks;
use super::edit::InstalledSettings;
use super::layout::{self, JsonLayout};
use crate::agents::hooks::{EditRefusal, FoundHooks};
use crate::agents::json;

const RULES: &str = "amp.permissions";
/// The file as far as it is no list of rules.
const FORM: JsonHooks = JsonHooks { has_comments: true, ..JsonHooks::CLAUDE };
/// The text that stands for an empty or absent file.
const NOTHING: &str = "{}\n";

/// The list of rules in a settings file.
struct FoundRules {
    found: FoundHooks,
    /// The index of the member with the list, and where the list is.
    list: Option<(usize, Range<usize>)>,
    rules: Vec<Range<usize>>,
    /// The index of our rule, and its program.
    ours: Option<(usize, String)>,
}

impl FoundRules {
    fn parse_text(text: &str) -> Result<Self, EditRefusal> {
        let found = FoundHooks::read_as(&FORM, text)?;
        let plain = json::without_comments(text);
        let members = json::object_members(&plain, &found.root);
        let mut named = members.iter().enumerate().filter(|(_, member)| member.name == RULES);
        let list = named.next().map(|(at, member)| (at, member.value.clone()));
        let is_odd =
            list.as_ref().is_some_and(|(_, list)| !json::has_first_char(&plain, list, '['));
        if is_odd || named.next().is_some() {
            return Err(EditRefusal(format!("`{RULES}` is not one list")));
        }
        let rules = list.as_ref().map_or(Vec::new(), |(_, list)| json::array_items(&plain, list));
        let program = |(at, rule): (usize, &Range<usize>)| {
            let rule: Value = serde_json::from_str(&plain[rule.clone()]).ok()?;
            let program = rule["to"].as_str().filter(|_| rule["action"] == "delegate")?;
            // Only the name counts, because the folder may be that of an earlier installation.
            let name = program.rsplit('/').next();
            matches!(name, Some(SMALL | LARGE)).then(|| (at, program.to_owned()))
        };
        let ours = rules.iter().enumerate().find_map(program);
        Ok(Self { found, list, rules, ours })
    }
}

/// Adds our rule with this program, or brings it up to date.
pub(crate) fn install_rule(text: &str, program: &str) -> Result<InstalledSettings, EditRefusal> {
    let text = if text.trim().is_empty() { NOTHING } else { text };
    let mut done = InstalledSettings { text: text.to_owned(), ..InstalledSettings::default() };
    let mut rules = FoundRules::parse_text(text)?;
    let event = || vec![RULES.to_owned()];
    match &rules.ours {
        Some((0, there)) if there == program => return Ok(done),
        Some((at, _)) => {
            done.text = text_without_rule(text, &rules, *at);
            done.updated = event();
            rules = FoundRules::parse_text(&done.text)?;
        }
        None => done.added = event(),
    }
    let rule = json!({"tool": "*", "action": "delegate", "to": program});
    let layout = JsonLayout::from_text(&done.text, &rules.found);
    let FoundHooks { root, members, .. } = &rules.found;
    done.text = match (&rules.list, rules.rules.first()) {
        (None, _) => layout.insert_child(&done.text, root, members, Some(RULES), &json!([rule])),
        (Some((_, list)), None) => layout.insert_child(&done.text, list, &[], None, &rule),
        (Some(_), Some(first)) => layout.insert_before(&done.text, first, &rule),
    };
    Ok(done)
}

/// Removes our rule. `backup` is the text before it was added.
pub(crate) fn uninstall_rule(
    text: &str,
    backup: Option<&str>,
) -> Result<RemovedHooks, EditRefusal> {
    let rules = FoundRules::parse_text(text)?;
    let Some((at, program)) = &rules.ours else { return Ok(RemovedHooks::Nothing) };
    let is_clean = |before: &str| {
        before.trim().is_empty()
            || FoundRules::parse_text(before).is_ok_and(|rules| rules.ours.is_none())
    };
    let is_this = |before: &str| {
        is_clean(before) && install_rule(before, program).is_ok_and(|done| done.text == text)
    };
    if let Some(before) = backup.filter(|before| is_this(before)) {
        return Ok(RemovedHooks::AsBefore(before.to_owned()));
    }
    if backup.is_none() && is_this(NOTHING) {
        return Ok(RemovedHooks::File);
    }
    let had_list =
        backup.is_some_and(|it| FoundRules::parse_text(it).is_ok_and(|it| it.list.is_some()));
    let text = match &rules.list {
        // A list that was there before ours stays, even if it is empty.
        Some((member, _)) if rules.rules.len() == 1 && !had_list => {
            layout::remove_child(text, &rules.found.root, &rules.found.members, *member)
        }
        _ => text_without_rule(text, &rules, *at),
    };
    Ok(RemovedHooks::Ours(text))
}

/// Returns the program of our rule, and whether it is the first.
pub(crate) fn find_our_rule(text: &str) -> Result<Option<(String, bool)>, EditRefusal> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(FoundRules::parse_text(text)?.ours.map(|(at, program)| (program, at == 0)))
}

fn text_without_rule(text: &str, rules: &FoundRules, at: usize) -> String {
    let list = rules.list.as_ref().map_or(0..0, |(_, list)| list.clone());
    layout::remove_child(text, &list, &rules.rules, at)
}
