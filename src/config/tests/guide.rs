//! The table of the keys, and the guide that shows it.

use super::*;

/// Returns the row of a key in the guide.
fn guide_row(key: &SettingKey) -> String {
    let default = match (key.default, &key.kind) {
        ("", _) => "none".to_owned(),
        (words, _) if words.contains(' ') => words.to_owned(),
        (value, ValueKind::Whole { .. } | ValueKind::Switch | ValueKind::SwitchOrId) => {
            value.to_owned()
        }
        (value, _) => format!("`{value}`"),
    };
    let note = if key.note.is_empty() { "" } else { "; " };
    let variables = match (key.variable(), key.common) {
        (None, _) => "none".to_owned(),
        (Some(ours), None) => format!("`{ours}`"),
        (Some(ours), Some(common)) => format!("`{ours}`, `{common}`"),
    };
    let (name, help) = (key.name, key.help());
    format!("| `{name}` | {default} | {help}{note}{} | {variables} |", key.note)
}

/// The guide's table is the table of the keys, and its example is a settings file.
#[test]
fn the_guide_tells_of_every_key_and_no_other() {
    let guide = include_str!("../../../docs/guide/settings.md");
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = iter_keys().map(guide_row).collect();
    assert_eq!(rows, expected, "the table in the guide has to be:\n{}\n", expected.join("\n"));
    let (_, rest) = guide.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert_ne!(Home::with(example).config().timeout_seconds, Home::new().config().timeout_seconds);
}

/// Defaults that depend on the machine are not read from the table, which only names them.
#[test]
fn the_table_names_the_defaults_that_depend_on_the_machine() {
    let home = Home::new().variable("XDG_RUNTIME_DIR", "/$XDG_RUNTIME_DIR");
    let config = home.config();
    let check = |name: &str, path: &Path| {
        let path = path.display().to_string().replace("/$XDG", "$XDG");
        let path = path.replace(home.folder.path().to_str().unwrap(), "~");
        assert_eq!(keys::find_setting_key(name).unwrap().default, path);
    };
    check("socket", &config.socket.value);
    check("desk_socket", &config.desk_socket.value);
    check("database", &config.database);
    check("rules", &config.rules);
    check("legacy_socket", &config.legacy_socket.0.unwrap());
}
