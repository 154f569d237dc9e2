//! If no desk listens, the hook reads the rules itself: deny rules hold all the same.

use std::fs;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::fixture::{Ended, Stage, call};

const RULES: &str = r#"
[[rule]]
name = "no-network"
decide = "deny"
command = "curl *"
reason = "nothing leaves this machine"

[[rule]]
name = "pushes"
decide = "ask"
command = "git push *"

[[rule]]
name = "builds"
decide = "allow"
command = "make *"
"#;

/// A stage at which no desk listens, with a user's rules and a project.
struct Alone {
    stage: Stage,
    project: PathBuf,
    settings: &'static str,
    attended: &'static str,
}

impl Alone {
    fn new(rules: &str) -> Self {
        let stage = Stage::new();
        let project = stage.folder.path().join("project/deep");
        fs::create_dir_all(&project).unwrap();
        let alone = Self { stage, project, settings: "", attended: "0" };
        alone.write(".config/callgate/rules.toml", rules);
        alone
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.stage.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn call(&self, tool: &str, input: &Value, mode: &str) -> String {
        let mut call = call();
        (call["tool_name"], call["tool_input"]) = (json!(tool), input.clone());
        call["cwd"] = json!(self.project);
        call["permission_mode"] = json!(mode);
        call.to_string()
    }

    /// What comes of a command that an agent is about to run.
    fn run(&self, agent: &str, mode: &str, command: &str) -> Ended {
        self.write(".config/callgate/config.toml", self.settings);
        let input = self.call("Bash", &json!({ "command": command }), mode);
        let mut hook = self.stage.command(&["hook", "--agent", agent]);
        hook.env("CLAUDE_CODE_SESSION_ATTENDED", self.attended);
        self.stage.start(hook, input).end()
    }
}

/// The modes in which an agent may be.
const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];

#[test]
fn a_rule_that_denies_holds_in_every_mode() {
    let alone = Alone::new(RULES);
    for agent in ["claude", "codex"] {
        for mode in MODES {
            alone.run(agent, mode, "curl https://example.org").denied("nothing leaves");
            alone.run(agent, mode, "cd /; curl x").denied("nothing leaves");
        }
    }
}

#[test]
fn a_rule_that_allows_allows_and_what_no_rule_names_is_left_to_the_agent() {
    let alone = Alone::new(RULES);
    let allowed =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    alone.run("claude", "auto", "make test").printed(&format!("{allowed}\n"));
    alone.run("codex", "bypassPermissions", "make test").printed("");
    for agent in ["claude", "codex"] {
        for mode in MODES {
            alone.run(agent, mode, "ls").printed("");
        }
    }
}

#[test]
fn a_rule_that_asks_asks_whoever_is_there_and_is_a_deny_where_nobody_is() {
    let mut alone = Alone::new(RULES);
    alone.run("claude", "default", "git push origin").denied("callgate up");
    alone.run("codex", "default", "git push origin").denied("callgate up");
    alone.attended = "1";
    let ended = alone.run("claude", "auto", "git push origin");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains(r#""permissionDecision":"ask""#), "{}", ended.stdout);
    alone.run("claude", "bypassPermissions", "git push origin").denied("callgate up");
    alone.run("codex", "default", "git push origin").denied("callgate up");
}

#[test]
fn a_command_that_is_not_understood_needs_a_person_unless_it_is_left_to_the_mode() {
    let key = "[[rule]]\nname = \"key\"\ndecide = \"deny\"\npath = \"keys/master\"\n";
    let mut alone = Alone::new(key);
    let (by_rule, by_guard) = ("cat $(find keys -type f)", "cat \"$X\"");
    for mode in MODES {
        alone.run("claude", mode, by_rule).denied("not fully understood");
        alone.run("codex", mode, by_guard).denied("not fully understood");
    }
    alone.settings = "gate.unclear = \"mode\"";
    for mode in MODES {
        alone.run("claude", mode, by_rule).printed("");
        alone.run("codex", mode, by_guard).denied("not fully understood");
    }
    alone.settings = "gate.unclear = \"perhaps\"";
    alone.run("claude", "auto", by_rule).denied("must be ask or mode");
}

#[test]
fn what_is_written_in_pieces_does_not_run() {
    let alone = Alone::new(
        "[[rule]]\nname = \"keys\"\ndecide = \"deny\"\npath = \"~/.aws\"\n\n\
         [[rule]]\nname = \"all\"\ndecide = \"allow\"\ncommand = \"*\"\n",
    );
    for command in [
        "cat ~/.config/callg?te/config.toml > out",
        "cp new.toml ~/.config/callg?te/rules.toml 2>err",
        "call$@gate uninstall",
        "mkdir -p .claud$@e; echo '{\"disableAllHooks\":true}' > .claud$@e/settings.local.json",
        "cat ~/.{aws,x}/credentials",
        "cat ~/.[a]ws/credentials",
        "cat ~/.a$@ws/credentials",
        "k$@ill 5",
        "tm$@ux send-keys y",
        "git con$@fig core.hooksPath x",
        "sh -c 'call$@gate uninstall'",
    ] {
        alone.run("claude", "bypassPermissions", command).denied("");
    }
}

#[test]
fn what_is_guarded_needs_a_person() {
    let alone = Alone::new("[[rule]]\nname = \"w\"\ndecide = \"allow\"\nclass = \"write\"\n");
    let path = alone.stage.folder.path().join(".config/callgate/rules.toml");
    let write = json!({ "file_path": path, "content": "" });
    let input = alone.call("Write", &write, "acceptEdits");
    alone.stage.hook(input).end().denied("callgate up");
}

#[test]
fn without_rules_nothing_is_said() {
    let alone = Alone::new("");
    fs::remove_file(alone.stage.folder.path().join(".config/callgate/rules.toml")).unwrap();
    for mode in MODES {
        alone.run("claude", mode, "ls").printed("");
    }
}

#[test]
fn rules_of_a_project_hold_too() {
    let alone = Alone::new(RULES);
    alone.write(
        "project/.callgate/rules.toml",
        "[[rule]]\nname = \"keep\"\ndecide = \"deny\"\ncommand = \"rm *\"\n",
    );
    alone.run("claude", "auto", "rm -r x").denied("rule `keep`");
    alone.run("claude", "auto", "curl x").denied("nothing leaves");
}

#[test]
fn rules_that_cannot_be_read_allow_nothing_and_need_a_person() {
    for broken in ["[[rule", "\u{0}", "[[rule]]\nname = \"x\"\ndecide = \"perhaps\"\n"] {
        let alone = Alone::new(broken);
        alone.run("claude", "auto", "make test").denied("callgate up");
        let alone = Alone::new(RULES);
        alone.write("project/.callgate/rules.toml", broken);
        alone.run("claude", "auto", "make test").denied("callgate up");
    }
}

#[test]
fn everything_but_what_a_rule_allows_can_be_denied() {
    for settings in ["gate.when_absent = \"deny\"", "gate.unattended = \"ask\""] {
        let mut alone = Alone::new(RULES);
        alone.settings = settings;
        alone.attended = "1";
        for mode in MODES {
            alone.run("claude", mode, "ls").denied("callgate up");
            alone.run("claude", mode, "git push origin").denied("callgate up");
            alone.run("codex", mode, "ls").denied("callgate up");
            let ended = alone.run("claude", mode, "make test");
            assert!(ended.stdout.contains(r#""permissionDecision":"allow""#), "{}", ended.stdout);
        }
    }
    let mut alone = Alone::new(RULES);
    alone.settings = "[gate]\nunattended = \"ask\"\nwhen_absent = \"agent\"";
    alone.run("claude", "auto", "ls").printed("");
    // The agent may still ask its user something.
    alone.write(".config/callgate/config.toml", "gate.when_absent = \"deny\"");
    let input = alone.call("AskUserQuestion", &json!({"questions": []}), "auto");
    alone.stage.hook(input).end().printed("");
    alone.settings = "gate.when_absent = \"perhaps\"";
    alone.run("claude", "auto", "ls").denied("must be agent or deny");
}

/// What an agent that would ask does is as it was: it asks its user.
#[test]
fn a_question_still_falls_back() {
    let alone = Alone::new(RULES);
    alone.stage.hook(crate::fixture::bash()).end().fell_back("no desk listens at");
}

#[test]
fn the_environment_of_a_project_does_not_lead_to_other_rules() {
    let alone = Alone::new("");
    alone.write("mine/config.toml", "rules = \"~/mine/rules.toml\"\n");
    alone.write("mine/rules.toml", RULES);
    alone.write("theirs.toml", "");
    let folder = alone.stage.folder.path();
    let [config, rules, theirs] = ["mine/config.toml", "mine/rules.toml", "theirs.toml"]
        .map(|name| folder.join(name).display().to_string());
    let absent = folder.join("absent.toml").display().to_string();
    let socket = alone.stage.socket.to_str().unwrap();
    let input = alone.call("Bash", &json!({"command": "curl x"}), "auto");
    for arguments in [
        &["hook", "--config", &config, "--socket", socket][..],
        &["hook", "--config", &absent, "--socket", socket, "--rules", &rules][..],
    ] {
        let mut command = alone.stage.command(arguments);
        command.env("CALLGATE_RULES", &theirs).env("CALLGATE_CONFIG", &theirs);
        command.env("CALLGATE_GATE_WHEN_ABSENT", "agent");
        alone.stage.start(command, &input).end().denied("nothing leaves");
    }
}

/// Makes a pipe at a path below the stage's folder. Whoever opened it would wait for its other end.
fn make_pipe(alone: &Alone, path: &str) {
    let path = alone.stage.folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::remove_file(&path).ok();
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn a_pipe_in_place_of_rules_or_settings_is_a_file_with_errors() {
    let alone = Alone::new(RULES);
    make_pipe(&alone, "project/.callgate/rules.toml");
    alone.run("claude", "bypassPermissions", "curl x").denied("nothing leaves");
    alone.run("claude", "bypassPermissions", "make test").denied("has errors");
    let alone = Alone::new(RULES);
    make_pipe(&alone, ".config/callgate/rules.toml");
    alone.run("claude", "bypassPermissions", "make test").denied("has errors");
    let alone = Alone::new(RULES);
    make_pipe(&alone, ".config/callgate/config.toml");
    let input = alone.call("Bash", &json!({ "command": "make test" }), "bypassPermissions");
    alone.stage.hook(input).end().denied("it is not a regular file");
}
