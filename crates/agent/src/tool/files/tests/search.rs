//! `search_files` and `search_text`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{CANARY, Room, nothing, use_of};
use crate::tool::files::edit_file::edit_file;
use crate::tool::files::input::FileToolInput;
use crate::tool::files::list_files::list_files;
use crate::tool::files::read_file::read_file;
use crate::tool::files::search::hidden::HiddenFilter;
use crate::tool::files::search::needle::Needle;
use crate::tool::files::search::search_files::search_files;
use crate::tool::files::search::search_text::{TextSearch, search_text};
use crate::tool::files::search::walk::MOST_DEPTH;
use crate::tool::files::specs::list_files as list_files_spec;
use crate::tool::files::write_file::write_file;
use crate::tool::files::{
    AllowedFolders, CancelFlag, FileContext, FileLimits, FileTool, MAX_FILE, MAX_RESULT,
};
use crate::tool::{AgentTool, CallOutcome};

fn found(room: &Room, input: &Value) -> Vec<String> {
    serde_json::from_value(room.done("search_files", input).0["files"].clone()).unwrap()
}

/// Returns a small project.
fn project() -> Room {
    let room = Room::new();
    for path in [
        ".github/ci.yml",
        "Cargo.toml",
        "README.md",
        "src/Main.rs",
        "src/lib.rs",
        "src/deep/inner/main_test.rs",
        "main/notes.txt",
    ] {
        room.put(path, format!("this is {path}\n"));
    }
    room
}

#[test]
fn names_are_found_by_words_and_patterns() {
    let room = project();
    let check = |pattern: &str, expected: &[&str]| {
        assert_eq!(found(&room, &json!({ "pattern": pattern })), expected, "{pattern}");
    };
    check("main", &["main/", "src/Main.rs", "src/deep/inner/main_test.rs"]);
    check("MAIN", &["main/", "src/Main.rs", "src/deep/inner/main_test.rs"]);
    check("*.rs", &["src/Main.rs", "src/deep/inner/main_test.rs", "src/lib.rs"]);
    check("main*", &["main/", "src/Main.rs", "src/deep/inner/main_test.rs"]);
    check("src/*.rs", &["src/Main.rs", "src/lib.rs"]);
    check("src/**/*.rs", &["src/Main.rs", "src/deep/inner/main_test.rs", "src/lib.rs"]);
    check("**/inner/*", &["src/deep/inner/main_test.rs"]);
    check("{src,main}/*.{rs,txt}", &["main/notes.txt", "src/Main.rs", "src/lib.rs"]);
    check("[cr]*", &[".github/ci.yml", "Cargo.toml", "README.md"]);
    check("???.rs", &["src/lib.rs"]);
    check("src/lib.rs", &["src/lib.rs"]);
    check("ci", &[".github/ci.yml"]);
    check("*/", &[".github/", "main/", "src/", "src/deep/", "src/deep/inner/"]);
    check("missing/*.rs", &[]);
    check("README.md/*", &[]);
    // Folders that are named are taken by their letters, as the rules take them.
    check("SRC/*.rs", &[]);
    check("src/LIB.rs", &[]);
    let text = room.done("search_files", &json!({ "pattern": "nowhere" })).1;
    assert!(text.starts_with("nothing matches nowhere\n"), "{text}");
}

#[test]
fn what_is_found_can_be_used_as_it_is() {
    let room = project();
    let absolute = room.path("src").display().to_string();
    for path in ["src", "src/", "./src", absolute.as_str(), "main/../src"] {
        let files = found(&room, &json!({ "pattern": "lib.rs", "path": path }));
        assert_eq!(files.len(), 1, "{path}");
        let text = room.done("read_file", &json!({ "path": files[0] })).1;
        assert_eq!(text, "this is src/lib.rs\n");
        let (result, _) = room.done("search_text", &json!({ "pattern": "src/lib", "path": path }));
        assert_eq!(result["matches"][0]["path"], files[0]);
    }
    let files = found(&room, &json!({ "pattern": "deep/**/*.rs", "path": "src" }));
    assert_eq!(files, ["src/deep/inner/main_test.rs"]);
}

#[test]
fn patterns_do_not_lead_out() {
    let room = project();
    room.link("out", room.outside());
    for pattern in [
        "..",
        "../*",
        "../outside/*",
        "src/../../outside/*",
        "{..,src}/*",
        "{a,../outside}/*",
        "**/../../outside/*",
        "{.,x}./*",
        "/etc/*",
        "{/etc,src}/*",
        "~/x",
        "~",
        "",
        "a\0b",
    ] {
        room.failed("search_files", &json!({ "pattern": pattern }));
        room.failed("search_text", &json!({ "pattern": "a", "glob": pattern }));
    }
    for pattern in ["out/*", "*/canary*", "canary", "**/canary.txt", "out/canary.txt", "[o]ut/*"] {
        assert!(found(&room, &json!({ "pattern": pattern })).is_empty(), "{pattern}");
        let all = json!({ "pattern": pattern, "includeIgnored": true });
        assert!(found(&room, &all).is_empty(), "{pattern}");
    }
    assert_eq!(found(&room, &json!({ "pattern": "out" })), ["out"]);
    let (result, _) = room.done("search_text", &json!({ "pattern": CANARY }));
    assert_eq!(result["matches"], json!([]));
}

#[test]
fn ignored_files_are_left_out_unless_asked_for() {
    let room = Room::new();
    for path in [
        "a.rs",
        "a.log",
        "target/a.rs",
        "sub/a.log",
        "sub/keep.log",
        "sub/deep/a.tmp",
        "sub/deep/b.rs",
        "other/only-here.rs",
        ".git/config",
        "excluded.rs",
    ] {
        room.put(path, "needle\n");
    }
    room.put(".gitignore", "*.log\ntarget/\n/sub/deep/*.tmp\n");
    room.put("sub/.gitignore", "!keep.log\n");
    room.put("sub/deep/.ignore", "b.rs\n");
    room.put("other/.gitignore", "a.rs\n");
    room.put(".git/info/exclude", "excluded.rs\n");
    let names = |input: &Value| {
        let (result, _) = room.done("search_text", input);
        let matches = result["matches"].as_array().unwrap().clone();
        matches.iter().map(|m| m["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let seen = ["a.rs", "other/only-here.rs", "sub/keep.log"];
    assert_eq!(names(&json!({ "pattern": "needle" })), seen);
    let files = found(&room, &json!({ "pattern": "[a-z]*.*" }));
    assert_eq!(files, seen);
    // The files above the folder that is searched count as well.
    assert_eq!(names(&json!({ "pattern": "needle", "path": "sub" })), ["sub/keep.log"]);
    assert!(names(&json!({ "pattern": "needle", "path": "sub/deep" })).is_empty());
    // What is named is searched, ignored or not.
    assert_eq!(names(&json!({ "pattern": "needle", "path": "target" })), ["target/a.rs"]);
    assert_eq!(names(&json!({ "pattern": "needle", "path": "a.log" })), ["a.log"]);
    let all = names(&json!({ "pattern": "needle", "includeIgnored": true }));
    assert_eq!(all.len(), 10);
    assert!(found(&room, &json!({ "pattern": "config" })).is_empty());
    let all = json!({ "pattern": "config", "includeIgnored": true });
    assert_eq!(found(&room, &all), [".git/config"]);
}

#[test]
fn an_ignore_file_that_is_a_link_is_not_followed() {
    let room = Room::new();
    fs::write(room.outside().join("ignore"), "a.rs\n").unwrap();
    room.link(".gitignore", room.outside().join("ignore"));
    room.put("a.rs", "");
    assert_eq!(found(&room, &json!({ "pattern": "a.rs" })), ["a.rs"]);
}

#[test]
fn text_is_found_by_line() {
    let room = Room::new();
    room.put("a.txt", "one\ntwo (2)\r\nThree\ntwo two\n");
    room.put("b.rs", "let two = 2;");
    let check = |input: Value, expected: &str| {
        assert_eq!(room.done("search_text", &input).1, expected, "{input}");
    };
    check(json!({ "pattern": "two" }), "a.txt:2:two (2)\na.txt:4:two two\nb.rs:1:let two = 2;");
    check(json!({ "pattern": "two", "glob": "*.RS" }), "b.rs:1:let two = 2;");
    check(json!({ "pattern": "two", "path": "b.rs" }), "b.rs:1:let two = 2;");
    check(json!({ "pattern": "(2)" }), "a.txt:2:two (2)");
    check(json!({ "pattern": "THREE", "ignoreCase": true }), "a.txt:3:Three");
    check(json!({ "pattern": "(2)", "ignoreCase": true }), "a.txt:2:two (2)");
    check(json!({ "pattern": "^t.*$", "regex": true }), "a.txt:2:two (2)\na.txt:4:two two");
    check(json!({ "pattern": r"\)$", "regex": true }), "a.txt:2:two (2)");
    check(json!({ "pattern": "two (2)\r\nThree" }), "a.txt:2:two (2)");
    check(json!({ "pattern": "x*", "regex": true, "path": "b.rs" }), "b.rs:1:let two = 2;");
    check(json!({ "pattern": "four" }), "four occurs in none of the 2 files searched");
    let (result, _) = room.done("search_text", &json!({ "pattern": "Three" }));
    let expected = json!([{ "path": "a.txt", "line": 3, "text": "Three" }]);
    assert_eq!((&result["matches"], &result["truncated"]), (&expected, &json!(false)));
    let broken = json!({ "pattern": "(", "regex": true });
    room.check_failed("search_text", &broken, "leave `regex` out");
    let huge = json!({ "pattern": "((a{100}){100}){100}", "regex": true });
    room.check_failed("search_text", &huge, "size limit");
    room.check_failed("search_text", &json!({ "pattern": "" }), "from 1 to");
    room.check_failed(
        "search_text",
        &json!({ "pattern": "a", "path": "nothing" }),
        "does not exist",
    );
}

#[test]
fn binary_and_huge_files_are_left_out_and_told_of() {
    let room = Room::with(FileLimits { max_file: 100, max_result: MAX_RESULT });
    room.put("binary", "needle\0");
    room.put("huge", "needle\n".repeat(100));
    room.put("latin", b"caf\xe9 needle\n");
    let text = room.done("search_text", &json!({ "pattern": "needle" })).1;
    assert_eq!(
        text,
        "latin:1:caf\u{fffd} needle\n[files left out, too large: 1]\n\
         [files left out, binary: 1]"
    );
}

#[test]
fn long_lines_are_cut_around_what_was_found() {
    let room = Room::new();
    let line = "ä".repeat(5000) + "needle" + &"ö".repeat(5000);
    room.put("long", &line);
    let (result, _) = room.done("search_text", &json!({ "pattern": "needle" }));
    let text = result["matches"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("…ä") && text.contains("äneedleö"));
    assert!(text.ends_with("ö…") && text.len() < 420, "{text}");
}

#[test]
fn results_are_bounded_and_say_so() {
    let room = Room::with(FileLimits { max_file: MAX_FILE, max_result: 2000 });
    room.put("many", "needle\n".repeat(5000));
    for n in 0..300 {
        room.put(&format!("files/{n:03}"), "");
    }
    let (result, text) = room.done("search_text", &json!({ "pattern": "needle", "maxResults": 7 }));
    assert_eq!(result["matches"].as_array().unwrap().len(), 7);
    assert!(result["truncated"] == true && text.contains("[there are more:"), "{text}");
    let input = json!({ "pattern": "needle", "maxResults": 1_000_000 });
    assert!(room.done("search_text", &input).1.len() < 2200);
    let (result, text) = room.done("search_files", &json!({ "pattern": "0*", "maxResults": 100 }));
    assert_eq!(
        (result["files"].as_array().unwrap().len(), &result["truncated"]),
        (100, &json!(false))
    );
    assert!(!text.contains("there are more"));
    let (result, text) = room.done("search_files", &json!({ "pattern": "0*", "maxResults": 99 }));
    assert_eq!(
        (result["files"].as_array().unwrap().len(), &result["truncated"]),
        (99, &json!(true))
    );
    assert!(text.contains("[there are more:"));
    let input = json!({ "pattern": "*", "maxResults": 1_000_000 });
    assert!(room.done("search_files", &input).1.len() < 2200);
}

#[test]
fn loops_and_depth_end_a_search() {
    let room = Room::new();
    room.put("a/file", "");
    room.link("a/up", "..");
    room.link("a/self", ".");
    assert_eq!(found(&room, &json!({ "pattern": "file" })), ["a/file"]);
    let mut deep = room.path("");
    for _ in 0..MOST_DEPTH + 5 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "").unwrap();
    let (result, text) = room.done("search_files", &json!({ "pattern": "file" }));
    let expected = (&json!(["a/file"]), &json!(true));
    assert_eq!((&result["files"], &result["truncated"]), expected);
    assert!(text.contains("[folders deeper than 64, not searched: 1]"), "{text}");
    let path = "d/".repeat(10);
    let files = found(&room, &json!({ "pattern": "file", "path": path }));
    assert_eq!(files, ["d/".repeat(MOST_DEPTH + 5) + "file"]);
}

fn context(roots: AllowedFolders) -> Arc<FileContext> {
    FileContext::new(roots, FileLimits::default(), nothing())
}

#[test]
fn what_nobody_waits_for_ends() {
    let room = Room::new();
    room.put("file", "needle\n");
    let roots = AllowedFolders::open(&room.path(""), &[room.path("")]).unwrap();
    let context = context(roots);
    let input = FileToolInput::from_json(r#"{"pattern": "needle"}"#, "c").unwrap();
    let stop = CancelFlag::default();
    assert!(search_text(&context, &input, &stop).is_ok());
    let read = FileToolInput::from_json(r#"{"path": "file"}"#, "c").unwrap();
    assert!(read_file(&context, &read, &stop).is_ok());
    stop.0.store(true, Ordering::Relaxed);
    assert_eq!(
        search_text(&context, &input, &stop).unwrap_err(),
        "cannot search .: it was cancelled"
    );
    assert!(search_files(&context, &input, &stop).is_err());
    assert!(list_files(&context, &input, &stop).is_err());
    let input = FileToolInput::from_json(r#"{"path": "file", "offset": 2}"#, "c").unwrap();
    assert!(read_file(&context, &input, &stop).unwrap_err().contains("cancelled"));
    let input = FileToolInput::from_json(r#"{"path": "file", "content": ""}"#, "c").unwrap();
    assert!(write_file(&context, &input, &stop).unwrap_err().contains("cancelled"));
    let edit = r#"{"path": "file", "oldText": "needle\n", "newText": ""}"#;
    assert!(edit_file(&context, &FileToolInput::from_json(edit, "c").unwrap(), &stop).is_err());
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "needle\n");
    assert_eq!(room.names(), ["file"]);
}

/// A search whose time is over says so, and does not say that there is nothing.
#[test]
fn a_search_keeps_its_time_limit() {
    let room = Room::new();
    room.put("file", "needle\n");
    let roots = AllowedFolders::open(&room.path(""), &[room.path("")]).unwrap();
    let (context, stop) = (context(roots), CancelFlag::default());
    for (pattern, is_regex) in [("needle", false), ("ne+dle", true)] {
        let check = |until: Instant, stop: &CancelFlag| {
            let needle = Needle::from_pattern(pattern, is_regex, false).unwrap();
            let filter = HiddenFilter::new(&context.hidden, "search_text", room.path(""));
            let mut search = TextSearch::new(&context, needle, None, 10, filter, stop, until);
            search.search_file(b"needle\n", b"file");
            (search.found.len(), search.is_late)
        };
        let now = Instant::now();
        assert_eq!(check(now + Duration::from_hours(1), &stop), (1, false));
        // The clock has moved on since then.
        assert_eq!(check(now.checked_sub(Duration::from_secs(1)).unwrap(), &stop), (0, true));
        let stopped = CancelFlag::default();
        stopped.0.store(true, Ordering::Relaxed);
        assert_eq!(check(now + Duration::from_hours(1), &stopped), (0, true));
    }
}

/// Dropping the future is what stops it.
#[test]
fn a_dropped_use_is_told_to_stop() {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    fn wait(_: &FileContext, _: &FileToolInput, stop: &CancelFlag) -> Result<CallOutcome, String> {
        let start = Instant::now();
        while !stop.is_set() && start.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
        STOPPED.store(stop.is_set(), Ordering::Relaxed);
        stop.check_unset().map(|()| CallOutcome::failed("nobody stopped it"))
    }
    let room = Room::new();
    let roots = AllowedFolders::open(&room.path(""), &[room.path("")]).unwrap();
    let context = context(roots);
    let tool = FileTool { spec: list_files_spec(), work: wait, check: None, context };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut run = tool.run_call(use_of(&json!({})));
    let is_ready = runtime.block_on(async {
        std::future::poll_fn(|cx| std::task::Poll::Ready(run.as_mut().poll(cx).is_ready())).await
    });
    assert!(!is_ready);
    drop(run);
    // The runtime waits for its threads.
    drop(runtime);
    assert!(STOPPED.load(Ordering::Relaxed));
}
