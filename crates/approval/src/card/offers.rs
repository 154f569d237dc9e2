//! What an agent offers to allow from now on, grouped into choices and described.
//!
//! Suggestions with the same destination belong together: an agent that gets only the first of them
//! asks again. A suggestion without a destination is a choice of its own.

use crate::plain;
use callgate_wire::approval::Action;
use callgate_wire::desk::CardOffer;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most choices; nobody would read more.
const MOST_OFFERS: usize = 8;

pub(super) fn from_suggestions(suggestions: &[Box<RawValue>]) -> Vec<CardOffer> {
    let values = parse_suggestions(suggestions);
    let groups = group_by_destination(&values).into_iter().zip(0..);
    groups
        .map(|((destination, members), at)| build_offer(&values, destination, &members, at))
        .collect()
}

pub(crate) fn members_of_offer(suggestions: &[Box<RawValue>], offer: usize) -> Option<Vec<usize>> {
    let values = parse_suggestions(suggestions);
    group_by_destination(&values).into_iter().nth(offer).map(|(_, members)| members)
}

fn parse_suggestions(suggestions: &[Box<RawValue>]) -> Vec<Value> {
    suggestions.iter().map(|raw| serde_json::from_str(raw.get()).unwrap_or_default()).collect()
}

fn group_by_destination(values: &[Value]) -> Vec<(Option<&str>, Vec<usize>)> {
    let mut groups: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
    // One element that is no object would make Claude Code drop the whole answer, and the allow
    // with it.
    for (at, value) in values.iter().enumerate().filter(|(_, value)| value.is_object()) {
        let destination = value["destination"].as_str();
        // Without a destination it stays alone: two such may be kept in different places.
        match groups.iter_mut().find(|(there, _)| there.is_some() && *there == destination) {
            Some((_, members)) => members.push(at),
            None => groups.push((destination, vec![at])),
        }
    }
    groups.truncate(MOST_OFFERS);
    groups
}

fn build_offer(
    values: &[Value],
    destination: Option<&str>,
    members: &[usize],
    at: u8,
) -> CardOffer {
    let meanings: Vec<String> =
        members.iter().map(|at| meaning_of_suggestion(&values[*at])).collect();
    let meaning = plain::safe_text(&meanings.join("; "));
    let changes_mode = members.iter().any(|at| values[*at]["type"] == "setMode");
    let lasts = plain::visible_text(&lasting_text(destination));
    CardOffer { action: Action::Always(at).to_string(), meaning, lasts, changes_mode }
}

fn meaning_of_suggestion(suggestion: &Value) -> String {
    let names = |field: &str| {
        let all = suggestion[field].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    match suggestion["type"].as_str().unwrap_or_default() {
        kind @ ("addRules" | "replaceRules" | "removeRules") => meaning_of_rules(kind, suggestion),
        "addDirectories" => format!("work in {}", names("directories")),
        "removeDirectories" => format!("no longer work in {}", names("directories")),
        "setMode" => match suggestion["mode"].as_str().unwrap_or("?") {
            "acceptEdits" => "accept all edits".to_owned(),
            "bypassPermissions" => "ask about nothing at all".to_owned(),
            mode => format!("mode {mode}"),
        },
        "toolAlwaysAllow" => {
            format!("every use of {}", suggestion["tool"].as_str().unwrap_or("this tool"))
        }
        // An unknown suggestion is shown as it is.
        _ => suggestion.to_string(),
    }
}

fn meaning_of_rules(kind: &str, suggestion: &Value) -> String {
    let all = suggestion["rules"].as_array().into_iter().flatten();
    let words = all.map(|rule| {
        let tool = rule["toolName"].as_str().unwrap_or("?");
        // Claude Code takes these for the whole tool.
        let content = rule["ruleContent"].as_str().filter(|it| !matches!(it.trim(), "" | "*"));
        content.map_or_else(
            || format!("every use of {tool}"),
            |content| {
                if tool == "Bash" { content.to_owned() } else { format!("{tool}({content})") }
            },
        )
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match (kind, suggestion["behavior"].as_str().unwrap_or("allow")) {
        ("addRules", "allow") => words,
        ("addRules", other) => format!("{other}: {words}"),
        ("removeRules", _) => format!("drop the rules for {words}"),
        (_, other) => format!("replace the rules by {other}: {words}"),
    }
}

fn lasting_text(destination: Option<&str>) -> String {
    match destination {
        Some("session") => "for this session".to_owned(),
        Some("localSettings") => "for good, in this project for you".to_owned(),
        Some("projectSettings") => "for good, in this project for everybody".to_owned(),
        Some("userSettings") => "for good, in all your projects".to_owned(),
        Some("cliArg") => "while this agent runs".to_owned(),
        Some(other) => format!("kept in {other}"),
        None => "for as long as the agent keeps it".to_owned(),
    }
}
