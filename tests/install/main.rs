//! `callgate install` and `callgate uninstall` as a user runs them: the program, real files, and
//! the real Claude Code.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod against;
mod claude_code;
mod codex;
mod every_agent;
mod managed;
mod settings_files;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Finished, run};
use callgate_testkit::script::{copy_program, write_program};
use callgate_testkit::test_home::TestHome;
use serde_json::{Value, json};

const CALLGATE: &str = env!("CARGO_BIN_EXE_callgate");
/// The small program, which stands beside the other.
const HOOK: &str = env!("CARGO_BIN_EXE_callgate-hook");
/// A settings file with a life of its own.
const MINE: &str = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            \
     {\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}\n        ]\n    },\n    \
     \"env\": {\"Ü\": \"1\"}\n}\n\n";

/// A home folder of a test's own, in which nothing of this machine is found.
struct Home {
    base: TestHome,
    program: PathBuf,
    variables: Vec<(OsString, OsString)>,
    user: Option<u32>,
}

impl Home {
    fn new() -> Self {
        let base = TestHome::new();
        fs::create_dir(base.path("work")).unwrap();
        let home = Self { base, program: CALLGATE.into(), variables: Vec::new(), user: None };
        home.program("claude", "#!/bin/sh\nexit 1\n");
        home
    }

    /// With `text` as the user's settings of Claude Code.
    fn with(text: &str) -> Self {
        let home = Self::new();
        fs::create_dir(home.path(".claude")).unwrap();
        fs::write(home.settings(), text).unwrap();
        home
    }

    fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path(name)
    }

    fn settings(&self) -> PathBuf {
        self.path(".claude/settings.json")
    }

    fn backup(&self) -> PathBuf {
        self.path(".claude/settings.json.before-callgate")
    }

    /// What follows the program in every hook command for this agent.
    fn options(&self, agent: &str) -> String {
        let folder = self.path(".config/callgate").display().to_string();
        let socket = self.path(".local/share/callgate/ask.sock").display().to_string();
        format!(
            "--agent {agent} --config {folder}/config.toml --socket {socket} \
             --rules {folder}/rules.toml"
        )
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.base.command(&self.program, arguments);
        command.current_dir(self.path("work")).env("PATH", self.path("bin"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.command(arguments), DEADLINE)
    }

    fn does(&self, arguments: &[&str]) -> String {
        self.run(arguments).success().stdout
    }

    /// Fails, says why, and leaves every file as it was.
    fn refuses(&self, arguments: &[&str], why: &str) {
        let before = self.files();
        let finished = self.run(arguments);
        assert_eq!(finished.status.code(), Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains(why), "{}", finished.stderr);
        assert_eq!(self.files(), before);
    }

    /// All files and folders with their modes and contents.
    fn files(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.base.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
                let content = fs::read(&path).unwrap_or_default();
                found.push((path.clone(), about.mode(), content));
                if about.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        write_program(&path, script);
        path
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = !word.contains([' ', '\'']);
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The events and what runs at each: the command line and the time limit of its last hook.
fn hooks(path: &Path) -> Vec<(String, String, u64)> {
    let settings: Value = serde_json::from_str(&read(path)).unwrap();
    let events = settings["hooks"].as_object().unwrap();
    let hook = |(event, entries): (&String, &Value)| {
        let entry = entries.as_array().unwrap().last().unwrap();
        let hook = entry["hooks"].as_array().unwrap().last().unwrap();
        let command = hook["command"].as_str().unwrap();
        let command = hook["args"].as_array().map_or(command.to_owned(), |arguments| {
            let arguments = arguments.iter().map(|argument| quoted(argument.as_str().unwrap()));
            [quoted(command)].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
        });
        (event.clone(), command, hook["timeout"].as_u64().unwrap_or_default())
    };
    events.iter().map(hook).collect()
}

fn events(path: &Path) -> Vec<String> {
    hooks(path).into_iter().map(|(event, ..)| event).collect()
}

#[test]
fn the_first_time_makes_file_and_folder_for_the_user_alone() {
    let home = Home::new();
    let said = home.does(&["install"]);
    assert!(said.contains("changed") && said.contains("callgate up"), "{said}");
    assert!(said.lines().count() <= 13, "{said}");
    assert!(said.contains(&format!("`{CALLGATE} rules init`")), "{said}");
    assert!(said.contains(&format!("Next: run `{CALLGATE} up`")), "{said}");
    assert!(said.contains("starts in auto mode (its default), which asks nobody: "), "{said}");
    assert_eq!((mode(&home.path(".claude")), mode(&home.settings())), (0o700, 0o600));
    let command = format!("{HOOK} {}", home.options("claude"));
    let ours = |event: &str, timeout| (event.to_owned(), command.clone(), timeout);
    let expected = [
        ours("PreToolUse", 4260),
        ours("PermissionRequest", 4260),
        ours("PostToolUse", 10),
        ours("Stop", 10),
        ours("PermissionDenied", 4260),
        ours("ConfigChange", 10),
        ours("PostToolUseFailure", 10),
        ours("SessionEnd", 10),
        ours("Notification", 10),
        ours("Elicitation", 4260),
    ];
    assert_eq!(hooks(&home.settings()), expected);
    let before = home.files();
    assert!(home.does(&["install"]).contains("is up to date"));
    assert_eq!(home.files(), before, "a second time changes nothing");
    assert!(home.does(&["uninstall"]).contains("removed"));
    assert!(!home.path(".claude").exists());
    assert!(home.does(&["uninstall"]).contains("there is no hook to remove"));
    assert!(home.does(&["uninstall", "--agent", "claude"]).contains("has no hook of callgate"));
}

#[test]
fn a_dry_run_tells_and_does_nothing() {
    let home = Home::with(MINE);
    let before = home.files();
    let said = home.does(&["install", "--dry-run"]);
    assert!(said.contains("would change") && said.contains("PermissionRequest"), "{said}");
    assert_eq!(home.files(), before);
    home.does(&["install"]);
    let before = home.files();
    assert!(home.does(&["uninstall", "--dry-run"]).contains("would be as it was"));
    assert_eq!(home.files(), before);
}

/// An agent hands the environment of a project on to its hooks.
#[test]
fn the_command_line_holds_all_that_the_hook_needs() {
    let home = Home::with(MINE)
        .env("CALLGATE_SOCKET", "/run/it's mine.sock")
        .env("CALLGATE_RULES", "/r.toml");
    home.does(&["install"]);
    let config = home.path(".config/callgate/config.toml").display().to_string();
    let expected = format!(
        r"{HOOK} --agent claude --config {config} --socket '/run/it'\''s mine.sock' --rules /r.toml"
    );
    assert!(hooks(&home.settings()).iter().skip(1).all(|hook| hook.1 == expected));
    let own = "timeout_seconds = 3600\nsocket = \"/s.sock\"\n";
    fs::write(home.path("work/my own.toml"), own).unwrap();
    let home = Home { variables: Vec::new(), ..home };
    let said = home.does(&["install", "--config", "my own.toml"]);
    assert!(said.contains("updated  PreToolUse, PermissionRequest"), "{said}");
    let file = home.path("work/my own.toml");
    let rules = home.path(".config/callgate/rules.toml").display().to_string();
    let expected = format!(
        "{HOOK} --agent claude --config '{}' --socket /s.sock --rules {rules}",
        file.display()
    );
    assert!(hooks(&home.settings()).iter().skip(1).all(|hook| hook.1 == expected));
    home.does(&["uninstall"]);
    assert_eq!(read(&home.settings()), MINE);
}

#[test]
fn a_callgate_that_has_moved_is_updated_in_place() {
    let mut home = Home::with(MINE);
    home.does(&["install"]);
    let moved = home.path("it's moved/callgate");
    fs::create_dir(moved.parent().unwrap()).unwrap();
    copy_program(CALLGATE.as_ref(), &moved);
    home.program.clone_from(&moved);
    let said = home.does(&["install"]);
    assert!(said.contains("updated") && !said.contains("added"), "{said}");
    let expected = format!("{} hook {}", quoted(moved.to_str().unwrap()), home.options("claude"));
    assert!(hooks(&home.settings()).iter().all(|hook| hook.1 == expected || hook.1 == "beep"));
    // A link on PATH, which outlives an update, is better than the file that it leads to.
    symlink(&moved, home.path("bin/callgate")).unwrap();
    home.does(&["install"]);
    let stable = format!("{} hook {}", home.path("bin/callgate").display(), home.options("claude"));
    assert!(hooks(&home.settings()).iter().all(|hook| hook.1 == stable || hook.1 == "beep"));
    fs::remove_file(home.path("bin/callgate")).unwrap();
    let renamed = home.path("callgate-1.2");
    fs::rename(&moved, &renamed).unwrap();
    home.program = renamed;
    home.refuses(&["install"], "by the name callgate");
    home.program = CALLGATE.into();
    home.does(&["uninstall"]);
    assert_eq!(read(&home.settings()), MINE);
}

/// The small program starts sooner, and is installed where it is surely the one beside this.
#[test]
fn the_small_program_is_installed_where_it_stands_beside_this_one() {
    let mut home = Home::with(MINE);
    let folder = home.path("opt");
    fs::create_dir(&folder).unwrap();
    let (large, small) = (folder.join("callgate"), folder.join("callgate-hook"));
    copy_program(CALLGATE.as_ref(), &large);
    home.program.clone_from(&large);
    let installs = |expected: &str| {
        let said = home.does(&["install"]);
        let expected = format!("{expected} {}", home.options("claude"));
        let is_there = |hook: &(String, String, u64)| hook.1 == expected;
        assert!(hooks(&home.settings()).iter().all(is_there), "{expected}: {said}");
        assert!(home.does(&["install"]).contains("is up to date"));
        said
    };
    let with_large = format!("{} hook", large.display());
    installs(&with_large);
    fs::write(&small, "#!/bin/sh\n").unwrap();
    set_mode(&small, 0o644);
    installs(&with_large);
    set_mode(&small, 0o755);
    let said = installs(small.to_str().unwrap());
    assert!(said.contains("updated") && !said.contains("added"), "{said}");
    // Links on PATH outlive an update; one that leads elsewhere is another program.
    let bin = home.path("bin");
    symlink(&large, bin.join("callgate")).unwrap();
    let linked = format!("{} hook", bin.join("callgate").display());
    installs(&linked);
    symlink(HOOK, bin.join("callgate-hook")).unwrap();
    installs(&linked);
    fs::remove_file(bin.join("callgate-hook")).unwrap();
    symlink(&small, bin.join("callgate-hook")).unwrap();
    installs(bin.join("callgate-hook").to_str().unwrap());
    fs::remove_dir_all(&bin).unwrap();
    // The large program by another name is no hook by itself.
    fs::remove_file(&small).unwrap();
    symlink(&large, &small).unwrap();
    let said = installs(&with_large);
    assert!(said.contains("updated") && !said.contains("added"), "{said}");
    fs::remove_file(&small).unwrap();
    fs::create_dir(&small).unwrap();
    installs(&with_large);
    home.does(&["uninstall"]);
    assert_eq!(read(&home.settings()), MINE);
}

/// An event that a Claude Code does not know could cost it the whole file.
#[test]
fn an_old_claude_gets_only_events_that_it_knows() {
    let home = Home::new();
    let knows = |event: &str| events(&home.settings()).iter().any(|other| other == event);
    home.program("claude", "#!/bin/sh\necho '2.1.267 (Claude Code)'\n");
    home.does(&["install"]);
    assert!(knows("PreToolUse") && knows("PermissionRequest") && !knows("PermissionDenied"));
    assert!(!read(&home.settings()).contains("\"args\""), "it may not know of arguments");
    home.program("claude", "#!/bin/sh\necho '2.1.268 (Claude Code)'\n");
    assert!(home.does(&["install"]).contains("added    PermissionDenied, ConfigChange"));
    assert!(knows("PermissionDenied") && read(&home.settings()).contains("\"args\""));
    home.program("claude", "#!/bin/sh\necho '2.1.267 (Claude Code)'\n");
    assert!(home.does(&["install"]).contains("removed  ConfigChange, PermissionDenied"));
    home.program("claude", "#!/bin/sh\nexit 1\n");
    home.does(&["install"]);
    assert!(knows("PermissionDenied"));
}

#[test]
fn the_project_and_other_folders_have_settings_of_their_own() {
    let home = Home::new();
    let said = home.does(&["install", "--project"]);
    let project = home.path("work/.claude/settings.local.json");
    assert!(said.contains(project.to_str().unwrap()), "{said}");
    assert!(!home.path("work/.claude/settings.json").exists(), "others get this one");
    assert!(!home.settings().exists());
    home.does(&["uninstall"]);
    assert!(project.exists(), "the user's settings are others");
    home.does(&["uninstall", "--project"]);
    assert!(!project.exists());
    let elsewhere = home.path("elsewhere");
    let home = home.env("CLAUDE_CONFIG_DIR", &elsewhere);
    home.does(&["install"]);
    assert!(elsewhere.join("settings.json").exists() && !home.settings().exists());
}

/// The command that was printed after `To take the hooks out again`, as a shell runs it.
fn undo(home: &Home, said: &str) {
    let (_, rest) = said.split_once("To remove the hooks: `").unwrap();
    let advice = rest.split_once('`').unwrap().0;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", advice]).current_dir(home.path("work")).env_clear();
    shell.env("HOME", home.base.folder()).env("PATH", home.path("bin"));
    assert!(run(shell, DEADLINE).status.success(), "{advice}");
}

#[test]
fn the_advice_undoes_what_was_done_and_nothing_else() {
    let home = Home::with(MINE);
    home.does(&["install"]);
    fs::create_dir(home.path("work/.claude")).unwrap();
    let (shared, local) =
        (home.path("work/.claude/settings.json"), home.path("work/.claude/settings.local.json"));
    for text in [None, Some(MINE)] {
        if let Some(text) = text {
            fs::write(&local, text).unwrap();
        }
        fs::write(&shared, MINE).unwrap();
        let before = home.files();
        let said = home.does(&["install", "--project"]);
        assert_ne!(home.files(), before);
        undo(&home, &said);
        assert_eq!(home.files(), before, "{said}");
    }
    // What an earlier version has put into the shared file goes, too.
    fs::copy(home.settings(), &shared).unwrap();
    let said = home.does(&["install", "--project"]);
    assert!(said.contains("settings.json also has callgate's hooks"), "{said}");
    undo(&home, &said);
    assert_eq!((read(&shared), read(&local)), (MINE.to_owned(), MINE.to_owned()));
    let said = home.does(&["uninstall", "--agent", "claude"]);
    assert!(said.contains("as it was before callgate"), "{said}");
}

#[test]
fn a_hook_in_a_build_folder_is_told_of_with_what_is_better() {
    let mut home = Home::new();
    let built = home.path("it's/target/debug/callgate");
    fs::create_dir_all(built.parent().unwrap()).unwrap();
    copy_program(CALLGATE.as_ref(), &built);
    home.program.clone_from(&built);
    let said = home.does(&["install"]);
    let note = "the hook is in a build folder and vanishes with it";
    assert!(said.contains(note) && said.contains("copy callgate and callgate-hook into"), "{said}");
    fs::write(home.path("it's/Cargo.toml"), "").unwrap();
    let said = home.does(&["install"]);
    let source = home.path("it's").display().to_string().replace('\'', r"'\''");
    let better = format!(
        "run `cargo install --path '{source}' --profile dist`, then `callgate install` again"
    );
    assert!(said.contains(&better), "{said}");
    let moved = home.path("opt/callgate");
    fs::create_dir(moved.parent().unwrap()).unwrap();
    fs::rename(&built, &moved).unwrap();
    home.program = moved;
    assert!(!home.does(&["install"]).contains("build folder"));
}

/// What one agent refuses does not keep the other from its hooks.
#[test]
fn one_broken_file_does_not_stop_the_other() {
    let home = Home::with("broken");
    fs::create_dir(home.path(".codex")).unwrap();
    let finished = home.run(&["install", "--agent", "all"]);
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stderr.contains("settings.json was left as it is"), "{}", finished.stderr);
    assert!(home.path(".codex/hooks.json").exists());
    assert_eq!(read(&home.settings()), "broken");
}
