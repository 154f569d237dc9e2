//! The table of all keys.

use callgate_wire::desk::SettingAccess;

use callgate_mask::text::list_choices;

use super::*;
use crate::value::ValueKind;

#[test]
fn every_table_is_known() {
    for key in iter_keys().filter(|key| key.name.contains('.')) {
        assert!(
            key.name.split_once('.').is_some_and(|(table, _)| TABLES.contains(&table)),
            "{}",
            key.name
        );
    }
}

#[test]
fn every_choice_is_accepted() {
    let mut count = 0;
    for key in iter_keys() {
        let ValueKind::Choice { words, is_valid } = key.kind else { continue };
        count += 1;
        assert!(words.contains(&key.default), "{}", key.name);
        assert!(words.iter().all(|word| is_valid(word)), "{}: {words:?}", key.name);
        assert!(key.help().ends_with(&list_choices(words)), "{}", key.help());
    }
    assert_eq!(count, 8);
    assert_eq!(list_choices(&["a", "b", "c"]), "a, b or c");
    assert_eq!(list_choices(&["a"]), "a");
}

/// What a viewer may set names no program, file, socket or address, and not who may answer.
#[test]
fn viewers_set_only_what_names_nothing_outside() {
    const OUTSIDE: [&str; 12] = [
        "socket", "file", "command_", "_command", "url", "port", "proxy", "cli", "database",
        "roots", "servers", "allowed",
    ];
    for key in iter_keys() {
        let is_plain = match key.kind {
            ValueKind::Whole { .. }
            | ValueKind::Switch
            | ValueKind::Choice { .. }
            | ValueKind::Text { .. }
            | ValueKind::Dollars
            | ValueKind::SwitchOrId => true,
            ValueKind::File
            | ValueKind::Socket
            | ValueKind::Folders
            | ValueKind::Url { .. }
            | ValueKind::Secret
            | ValueKind::Command
            | ValueKind::Tables { .. }
            | ValueKind::Ids { .. } => false,
        };
        match key.access {
            SettingAccess::Set => {
                let is_time = key.name.ends_with("_seconds") || key.name.ends_with("_mb");
                let names = OUTSIDE.iter().any(|word| key.name.contains(word));
                assert!(is_plain && (is_time || !names), "{}", key.name);
            }
            SettingAccess::Secret => assert!(key.name.ends_with("_keyring"), "{}", key.name),
            SettingAccess::See => {}
        }
    }
}
