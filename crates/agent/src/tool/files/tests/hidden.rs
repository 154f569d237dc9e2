//! What rules keep out of searches.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Room, nothing, run};
use crate::tool::files::{AllowedFolders, FileLimits, HiddenFiles, build_file_tools};

/// What was asked about: the tool, where it began, and a path.
type Asked = Arc<Mutex<Vec<(String, PathBuf, PathBuf)>>>;

/// Hides whatever has this name, and remembers what it was asked about.
fn hides(name: &'static str) -> (HiddenFiles, Asked) {
    let asked = Asked::default();
    let kept = Arc::clone(&asked);
    let hidden: HiddenFiles = Arc::new(move |tool, start| {
        let (tool, start, kept) = (tool.to_owned(), start.to_owned(), Arc::clone(&kept));
        Some(Box::new(move |path| {
            kept.lock().unwrap().push((tool.clone(), start.clone(), path.to_owned()));
            path.file_name().is_some_and(|last| last == name)
        }))
    });
    (hidden, asked)
}

fn result(room: &Room, hidden: HiddenFiles, tool: &str, input: &Value) -> (Value, String) {
    let roots = AllowedFolders::open(&room.path(""), &[room.path("")]).unwrap();
    let outcome = run(&build_file_tools(roots, FileLimits::default(), hidden), tool, input);
    assert!(!outcome.is_error, "{}", outcome.text);
    (serde_json::from_str(outcome.result.get()).unwrap(), outcome.text)
}

fn project() -> Room {
    let room = Room::new();
    room.put(".env", "KEY=1\n");
    room.put("src/a.rs", "KEY\n");
    room.put("src/.env", "KEY=2\n");
    room.put("secret/b.rs", "KEY\n");
    room.put("secret/deep/c.rs", "KEY\n");
    room
}

#[test]
fn a_hidden_file_is_not_searched_but_counted() {
    let room = project();
    let input = json!({ "pattern": "KEY" });
    let (found, text) = result(&room, hides(".env").0, "search_text", &input);
    assert_eq!(
        text,
        "secret/b.rs:1:KEY\nsecret/deep/c.rs:1:KEY\nsrc/a.rs:1:KEY\n\
         [files and folders excluded by rules: 2]"
    );
    assert_eq!((&found["leftOutByRules"], &found["searched"]), (&json!(2), &json!(3)));
    let (found, text) = result(&room, nothing(), "search_text", &input);
    assert_eq!((&found["leftOutByRules"], &found["searched"]), (&json!(0), &json!(5)));
    assert!(!text.contains("rules"), "{text}");
}

/// Else one could learn what is in the file by searching for one letter after the other.
#[test]
fn the_count_says_nothing_about_what_is_in_a_hidden_file() {
    let room = project();
    let about = |pattern: &str| {
        let input = json!({ "pattern": pattern, "regex": true, "path": "src" });
        let (found, text) = result(&room, hides(".env").0, "search_text", &input);
        (found.to_string(), text.replace(pattern, ""))
    };
    assert_eq!(about("^KEY=2"), about("^KEY=3"));
}

#[test]
fn what_is_in_a_hidden_folder_is_not_searched() {
    let room = project();
    let (found, _) = result(&room, hides("secret").0, "search_text", &json!({ "pattern": "KEY" }));
    assert_eq!((&found["leftOutByRules"], &found["searched"]), (&json!(1), &json!(3)));
    assert!(!found.to_string().contains("secret"), "{found}");
    let (found, text) =
        result(&room, hides("secret").0, "search_files", &json!({ "pattern": "*.rs" }));
    assert_eq!((&found["files"], &found["leftOutByRules"]), (&json!(["src/a.rs"]), &json!(1)));
    assert!(text.ends_with("\n[files and folders excluded by rules: 1]"), "{text}");
    // The folder's own name is known to list_files as well.
    let (found, _) =
        result(&room, hides("secret").0, "search_files", &json!({ "pattern": "secret" }));
    assert_eq!(found["files"], json!(["secret/"]));
}

#[test]
fn it_is_asked_by_the_paths_that_rules_see_and_only_about_what_is_searched() {
    let room = project();
    room.link("linked", "src");
    let asked = |tool: &str, input: Value| {
        let (hidden, asked) = hides("none");
        result(&room, hidden, tool, &input);
        let asked = asked.lock().unwrap().clone();
        assert!(asked.iter().all(|(by, ..)| by == tool));
        let short = |path: &Path| path.strip_prefix(room.path("")).unwrap().display().to_string();
        asked.iter().map(|(_, start, path)| (short(start), short(path))).collect::<Vec<_>>()
    };
    let own = |start: &str, path: &str| (start.to_owned(), path.to_owned());
    let input = json!({ "pattern": "KEY", "glob": "*.rs", "path": "src/../linked/" });
    assert_eq!(asked("search_text", input), [own("linked", "linked/a.rs")]);
    assert_eq!(asked("search_text", json!({ "pattern": "KEY", "path": ".env" })), []);
    let input = json!({ "pattern": "secret/**/*.rs" });
    assert_eq!(asked("search_files", input), [own("secret", "secret/deep")]);
}
