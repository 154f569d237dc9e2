//! Finds the key that a mistyped name stands for.

use crate::keys::{TABLES, iter_keys};
use crate::setting_key::SettingKey;

/// Returns the key that was most likely meant, if any is similar.
fn nearest_key(name: &str) -> Option<&'static str> {
    let (table, last) = split_at_last_dot(name);
    let near = |key: &SettingKey| {
        let (key_table, key_last) = split_at_last_dot(key.name);
        // Another table counts as one wrong character, because tables are often left out.
        let distance = name_distance(last, key_last) + usize::from(table != key_table);
        // A longer name may have more mistakes in it.
        (distance <= 1 + last.chars().count() / 3).then_some((distance, key.name))
    };
    let nearest = iter_keys().filter_map(near).min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, name)| name).or_else(|| nearest_table(name))
}

/// How many keys of a group are named.
const MOST_NAMED: usize = 6;

/// Returns the error for an unknown key, with the nearest key, or else with the group that the name
/// belongs to, or all groups.
pub fn no_such_key(name: &str) -> String {
    if let Some(nearest) = nearest_key(name) {
        return format!("there is no key `{name}`; did you mean `{nearest}`?");
    }
    let (table, last) = split_at_last_dot(name);
    let groups = match nearest_table(table) {
        Some(group) => format!("`{group}` has {}", closest_in(group, last)),
        None => format!(
            "there are {} and the groups {}",
            closest_in("", last),
            TABLES.map(|group| format!("`{group}`")).join(", ")
        ),
    };
    format!("there is no key `{name}`; {groups}: `callgate config show` lists all keys")
}

/// Returns the table that was most likely meant, if any is similar.
fn nearest_table(name: &str) -> Option<&'static str> {
    let distances = TABLES.map(|table| (strsim::damerau_levenshtein(name, table), table));
    let nearest = distances.into_iter().filter(|(distance, _)| *distance <= 2).min();
    nearest.map(|(_, table)| table)
}

/// Names the keys of a group that are closest to a name, and how many others there are.
fn closest_in(group: &str, name: &str) -> String {
    let mut keys: Vec<&str> = iter_keys().map(|key| key.name).collect();
    keys.retain(|key| split_at_last_dot(key).0 == group);
    keys.sort_by_key(|key| name_distance(name, split_at_last_dot(key).1));
    let others = keys.len().saturating_sub(MOST_NAMED);
    keys.truncate(MOST_NAMED);
    let named: Vec<String> = keys.into_iter().map(|key| format!("`{key}`")).collect();
    let named = named.join(", ");
    if others == 0 { named } else { format!("{named}, {others} more") }
}

/// Splits a name into its table, which may be empty, and the rest.
fn split_at_last_dot(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// Returns how many characters differ; a part of a name (`timeout`, `chats`) differs by two.
fn name_distance(name: &str, key: &str) -> usize {
    // One or two characters are a part of too many names.
    let is_part = name.len() >= 3 && (key.starts_with(name) || key.ends_with(name));
    let has_more = name.starts_with(key) || name.ends_with(key);
    let characters = strsim::damerau_levenshtein(name, key);
    if is_part || has_more { characters.min(2) } else { characters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_leads_to_the_nearest_right_one() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest_key(name), expected, "{name}");
        };
        check("timout_seconds", Some("timeout_seconds"));
        check("timeout", Some("timeout_seconds"));
        check("sokcet", Some("socket"));
        check("Socket", Some("socket"));
        check("desk-socket", Some("desk_socket"));
        check("token", Some("telegram.token"));
        check("telegram.tokenfile", Some("telegram.token_file"));
        check("telegram.chats", Some("telegram.allowed_chats"));
        check("allowed_users", Some("telegram.allowed_users"));
        check("telegram.url", Some("telegram.api_url"));
        check("database_path", Some("database"));
        check("telgram", Some("telegram"));
        check("agnet", Some("agent"));
        check("agent.maxtokens", Some("agent.max_tokens"));
        check("model", Some("agent.model"));
        check("agent.root", Some("agent.roots"));
        check("unattended", Some("gate.unattended"));
        check("gate.absent", Some("gate.when_absent"));
        check("unclear", Some("gate.unclear"));
        check("colour", None);
        check("x", None);
    }

    /// No list of all keys, which nobody reads in one line.
    #[test]
    fn a_name_that_is_near_nothing_leads_to_the_closest_groups() {
        let said = no_such_key("colour");
        let groups = " and the groups `gate`, `page`, `team`, `telegram`, `agent`, `shell`: ";
        assert!(said.starts_with("there is no key `colour`; there are `"), "{said}");
        assert!(said.contains(groups) && said.ends_with("`callgate config show` lists all keys"));
        let said = no_such_key("agnt.background_colour");
        assert!(said.contains("; `agent` has `agent."), "{said}");
        assert!(
            said.contains(" more: `callgate config show`") && !said.contains("`gate"),
            "{said}"
        );
        let said = no_such_key("page.background_colour");
        assert!(said.contains("; `page` has `page."), "{said}");
        assert!(iter_keys().count() > 30 && said.matches('`').count() < 20, "{said}");
    }
}
