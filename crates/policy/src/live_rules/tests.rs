//! The policy is kept while its files are as they were, and never longer.

use std::fs::{self, File};

use callgate_rules::Moment;
use tempfile::TempDir;

use super::*;
use crate::guarded::build_guarded;
use crate::real_disk::tests::StuckDisk;
use crate::tests::{rules_around, test_config, test_surroundings};

struct Bench {
    folder: TempDir,
    ruler: LiveRules,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Bench {
    /// Without any rules yet; the agent's folder is `a/b`.
    fn new() -> Self {
        Self::with_unclear("ask")
    }

    /// With this value of `gate.unclear`.
    fn with_unclear(word: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        let rules = folder.path().join("user.toml").display().to_string();
        let variables = [("CALLGATE_RULES", &*rules), ("CALLGATE_GATE_UNCLEAR", word)];
        let around = test_surroundings(folder.path(), &variables);
        let config = test_config(&around);
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&warnings);
        let warn: Warn = Arc::new(move |text: &str| told.lock().unwrap().push(text.to_owned()));
        let guarded = build_guarded(&config, &around, None);
        let live = LiveRules::new(&config, guarded, rules_around(&around), warn);
        Self { ruler: live, folder, warnings }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn policy(&self, folder: &str) -> Arc<Policy> {
        let folder = self.path(folder);
        self.ruler.policy_for_folder(&folder)
    }

    /// The names of the rules that hold in `a/b`.
    fn names(&self) -> String {
        let policy = self.policy("a/b");
        policy.rules().iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join(" ")
    }
}

fn denies(name: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\ndecide = \"deny\"\ntool = \"read_file\"\n")
}

/// What could be guarded needs a person in either case.
#[test]
fn the_settings_say_what_becomes_of_commands_that_are_not_understood() {
    for (word, by_rule) in [("ask", true), ("mode", false)] {
        let bench = Bench::with_unclear(word);
        let text = "[[rule]]\nname = \"key\"\ndecide = \"deny\"\npath = \"keys/master\"\n";
        bench.write("user.toml", text);
        let cwd = bench.path("a/b").display().to_string();
        let alone = bench.ruler.policy_of(&RuleFile::from_toml("user.toml", text, Trust::User));
        for (command, is_unclear) in [("cat $(find keys -type f)", by_rule), ("cat \"$X\"", true)] {
            let input = serde_json::json!({ "command": command }).to_string();
            let act = Act::from_call("Bash", &input, &cwd, "claude-code", &bench.ruler.around.home);
            let alone = judge_act(&alone, &act, &RealDisk, &Moment::from_unix_ms(0, 0));
            for verdict in [bench.ruler.judge_tool_use("Bash", &input, &cwd, "claude-code"), alone]
            {
                let found = (verdict.decision, verdict.wants_person, verdict.is_unclear);
                let expected = (RuleDecision::Ask, is_unclear, is_unclear);
                assert_eq!(found, expected, "{word}, {command}: {}", verdict.because);
            }
        }
    }
}

#[test]
fn the_policy_is_kept_while_no_file_changes() {
    let bench = Bench::new();
    bench.write("user.toml", &denies("user"));
    let (first, other) = (bench.policy("a/b"), bench.policy("a"));
    assert!(!Arc::ptr_eq(&first, &other));
    for _ in 0..3 {
        assert!(Arc::ptr_eq(&first, &bench.policy("a/b")));
        assert!(Arc::ptr_eq(&other, &bench.policy("a")));
    }
    bench.write("a/b/.callgate/rules.toml", &denies("below"));
    assert!(!Arc::ptr_eq(&first, &bench.policy("a/b")));
    assert!(Arc::ptr_eq(&other, &bench.policy("a")));
}

#[test]
fn a_rule_holds_as_soon_as_it_is_written_and_no_longer_than_it_stands() {
    let bench = Bench::new();
    assert_eq!(bench.names(), "");
    for (file, text, expected) in [
        ("user.toml", "user", "user"),
        ("a/b/.callgate/rules.toml", "own", "user own"),
        ("a/.callgate/rules.toml", "above", "user own above"),
        (".callgate/rules.toml", "top", "user own above top"),
        ("a/.callgate/rules.toml", "changed", "user own changed top"),
        ("user.toml", "myself", "myself own changed top"),
    ] {
        bench.write(file, &denies(text));
        assert_eq!(bench.names(), expected, "{file}");
        assert_eq!(bench.names(), expected, "{file}, again");
    }
    for (gone, expected) in [
        ("a/.callgate", "myself own top"),
        ("a/b/.callgate", "myself top"),
        (".callgate", "myself"),
    ] {
        fs::remove_dir_all(bench.path(gone)).unwrap();
        assert_eq!(bench.names(), expected, "{gone}");
    }
    fs::remove_file(bench.path("user.toml")).unwrap();
    assert_eq!(bench.names(), "");
}

#[test]
fn another_file_of_the_same_length_and_time_is_a_change() {
    let bench = Bench::new();
    let (file, other) = (bench.path("a/.callgate/rules.toml"), "a/.callgate/other.toml");
    bench.write("a/.callgate/rules.toml", &denies("one"));
    assert_eq!(bench.names(), "one");
    bench.write(other, &denies("two"));
    let then = fs::metadata(&file).unwrap().modified().unwrap();
    File::options().write(true).open(bench.path(other)).unwrap().set_modified(then).unwrap();
    fs::rename(bench.path(other), &file).unwrap();
    assert_eq!(bench.names(), "two");
}

#[test]
fn a_change_that_was_seen_for_one_folder_is_seen_for_all() {
    let bench = Bench::new();
    let deny = |policy: &Policy| policy.rules().len();
    assert_eq!((deny(&bench.policy("a/b")), deny(&bench.policy("a"))), (0, 0));
    bench.write("user.toml", &denies("user"));
    assert_eq!((deny(&bench.policy("a/b")), deny(&bench.policy("a"))), (1, 1));
}

#[test]
fn what_is_wrong_with_a_file_is_told_once_for_all_folders() {
    let bench = Bench::new();
    bench.write("user.toml", "[[rule]]\nname = 1\n");
    bench.policy("a/b");
    let told = bench.warnings.lock().unwrap().len();
    assert!(told > 0);
    for folder in ["a", "a/b", "", "a"] {
        bench.policy(folder);
    }
    assert_eq!(bench.warnings.lock().unwrap().len(), told);
}

#[test]
fn policies_of_few_folders_are_kept() {
    let bench = Bench::new();
    for number in 0..3 * MOST_BUILT {
        bench.policy(&format!("a/{number}"));
        assert!(lock(&bench.ruler.memory).built.len() <= MOST_BUILT);
    }
}

#[test]
fn defaults_hold_also_in_a_policy_that_was_built_again() {
    let mut bench = Bench::new();
    bench.policy("a/b");
    let folder = bench.folder.path().join("a/b").display().to_string();
    bench.ruler = bench.ruler.with_defaults(PolicyDefaults::read_inside([&*folder]));
    let act = Act::from_call("read_file", r#"{"path": "x"}"#, &folder, "callgate", &folder);
    for rules in ["", "# none\n"] {
        bench.write("user.toml", rules);
        let verdict = judge_act(&bench.policy("a/b"), &act, &RealDisk, &Moment::from_unix_ms(0, 0));
        assert_eq!(verdict.decision, RuleDecision::Allow, "{}", verdict.because);
    }
}

#[test]
fn the_folders_that_the_environment_names_are_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [
        ("CLAUDE_CONFIG_DIR", "/srv/claude"),
        ("CODEX_HOME", "/srv/codex"),
        ("XDG_CONFIG_HOME", "/srv/config"),
        ("GIT_CONFIG_GLOBAL", "/srv/gitconfig"),
        ("XDG_RUNTIME_DIR", "/srv/run"),
        ("CALLGATE_LEGACY_SOCKET", "/srv/legacy.sock"),
    ];
    let around = test_surroundings(folder.path(), &variables);
    let config = test_config(&around);
    let guarded = build_guarded(&config, &around, None);
    let asks = |path: &str| {
        let input = format!(r#"{{"file_path": "{path}"}}"#);
        let act = Act::from_call(
            "Write",
            &input,
            "/srv/project",
            "claude",
            &folder.path().display().to_string(),
        );
        guarded.touches(&act).is_some()
    };
    for path in [
        "/srv/claude/settings.json",
        "/srv/claude/agents/x.md",
        "/srv/codex/hooks.json",
        "/srv/config/opencode/plugin/x.js",
        "/srv/config/git/config",
        "/srv/gitconfig",
        "/srv/run/callgate/ask.sock",
        "/srv/run/callgate/callgate-agent-1/desk.sock",
        "/srv/legacy.sock",
        "/srv/config/systemd/user/callgate.service",
        "/srv/config/systemd/user/callgate.service.d/x.conf",
    ] {
        assert!(asks(path), "{path}");
    }
    for path in ["/srv/project/src/x", "/srv/config/other/x", "/srv/config/systemd/user/x.service"]
    {
        assert!(!asks(path), "{path}");
    }
}

#[test]
fn a_disk_that_does_not_answer_holds_up_no_other_verdict() {
    let mut bench = Bench::new();
    bench.write("user.toml", &denies("user"));
    let (disk, asked, hold) = StuckDisk::new(&bench.path("far"));
    bench.ruler.disk = disk;
    let (folder, far) = (bench.path("a/b").display().to_string(), bench.path("far/x"));
    let read = |path: &Path| {
        let input = serde_json::json!({ "path": path }).to_string();
        bench.ruler.judge_tool_use("read_file", &input, &folder, "callgate").decision
    };
    std::thread::scope(|scope| {
        let stuck = scope.spawn(|| read(&far));
        asked.recv().unwrap();
        assert_eq!(read(&bench.path("a/b/c")), RuleDecision::Deny);
        // Rules that are read anew meanwhile hold at once.
        bench.write("user.toml", "");
        assert_eq!(read(&bench.path("a/b/c")), RuleDecision::Ask);
        let learnt = bench.path("settings").display().to_string();
        bench.ruler.guard_settings(Some(&learnt));
        assert!(!stuck.is_finished());
        drop(hold);
        // By the rules as they were when it was asked.
        assert_eq!(stuck.join().unwrap(), RuleDecision::Deny);
    });
}

#[test]
fn a_folder_that_is_learnt_while_a_policy_is_built_is_guarded_by_the_next() {
    let bench = Bench::new();
    let built = bench.ruler.build_folder_policy(&bench.path("a/b"));
    let learnt = bench.path("settings").display().to_string();
    bench.ruler.guard_settings(Some(&learnt));
    assert!(!Arc::ptr_eq(&built.guarded, &lock(&bench.ruler.memory).guarded));
    let input = serde_json::json!({ "path": format!("{learnt}/x"), "content": "" }).to_string();
    let folder = bench.path("a/b").display().to_string();
    assert!(bench.ruler.judge_tool_use("write_file", &input, &folder, "callgate").is_guarded);
    let known = lock(&bench.ruler.memory).built.len();
    // A policy without it is used for the call that it was built for, and not kept.
    bench.ruler.cache_policy(&bench.path("other"), &Arc::new(built));
    assert_eq!(lock(&bench.ruler.memory).built.len(), known);
}

/// Whoever names many folders unguards neither those before nor those after.
#[test]
fn a_settings_folder_is_guarded_however_many_were_named_before() {
    let bench = Bench::new();
    let cwd = bench.path("a/b").display().to_string();
    let is_guarded = |folder: &str| {
        let line = serde_json::json!({
            "request_id": "550e8400-e29b-41d4-a716-446655440000",
            "tool_name": "write_file",
            "tool_input": { "path": format!("{folder}/hooks.json"), "content": "" },
            "cwd": cwd,
            "session_id": "s1",
            "context": { "settings_folder": folder },
        });
        let request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
        let ruling = bench.ruler.judge_request(&request);
        matches!(ruling, Ruling::Ask { is_guarded: true, .. })
    };
    for number in 0..MOST_SETTINGS_FOLDERS + 2 {
        assert!(is_guarded(&format!("/srv/settings-{number}")), "{number}");
    }
    assert!(is_guarded("/srv/settings-0"));
    assert_eq!(lock(&bench.ruler.memory).settings_folders.len(), MOST_SETTINGS_FOLDERS);
}

/// A reason may name a path of the agent, or quote the rules of a project: nothing in it moves the
/// cursor of a terminal.
#[test]
fn the_reason_of_a_ruling_is_one_visible_line() {
    let bench = Bench::new();
    let rule = r#"tool = "Read", decide = "ask", reason = "\u001b[2J\nx""#;
    bench.write("user.toml", &format!("rule = [{{ name = \"r\", {rule} }}]"));
    let folder = bench.path("a/b").display().to_string();
    let verdict = bench.ruler.judge_tool_use("Read", r#"{"file_path":"x"}"#, &folder, "claude");
    let ruling = ruling_of(&verdict);
    let because = ruling.because().unwrap();
    assert!(because.ends_with("(⟨U+001B⟩[2J⏎x)"), "{because}");
}
