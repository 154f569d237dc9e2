//! Finds the key that a mistyped name stands for.

use super::keys::{KEYS, SettingKey, TABLES};

/// Returns the key that was most likely meant, if any is similar.
fn nearest(name: &str) -> Option<&'static str> {
    let (table, last) = split(name);
    let near = |key: &SettingKey| {
        let (key_table, key_last) = split(key.name);
        let distance = distance(last, key_last) + usize::from(table != key_table);
        (distance <= 1 + last.chars().count() / 3).then_some((distance, key.name))
    };
    let nearest = KEYS.iter().filter_map(near).min_by_key(|(distance, _)| *distance);
    let table = TABLES.into_iter().find(|table| strsim::damerau_levenshtein(name, table) <= 2);
    nearest.map(|(_, name)| name).or(table)
}

/// Returns the error for an unknown key, with the nearest key or all keys.
pub(crate) fn no_such_key(name: &str) -> String {
    if let Some(nearest) = nearest(name) {
        return format!("there is no key `{name}`; did you mean `{nearest}`?");
    }
    let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    format!("there is no key `{name}`; there are {}", names.join(", "))
}

/// Splits a name into its table, which may be empty, and the rest.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// Returns how many characters differ; a part of a name (`timeout`, `chats`) differs by two.
fn distance(name: &str, key: &str) -> usize {
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
            assert_eq!(nearest(name), expected, "{name}");
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
}
