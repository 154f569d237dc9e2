//! Every agent gets its hooks and gives them back, whatever its settings look like.

use std::fs;

use callgate_testkit::terminal::Terminal;
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::{AGENTS, CallFate, InputForm, RECORDED_FOLDER, SettingsFormat};

use crate::{HOOK, Home, mode, read};

/// Settings that each agent may have, in the format of its file. The home has folders of theirs.
fn settings_of(agent: &AgentProfile) -> Vec<Option<&'static str>> {
    const JSON: [&str; 5] = [
        "{}",
        "{\"model\":\"x\",\"hooks\":{\"Other\":[1]}}",
        "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": []\r\n\t},\r\n\t\"z\": 1,\r\n\t\"a\": [ ]\r\n}\r\n",
        "{\n   \"a\" : {\"b\": 2} , \"hooks\" : { }\n}",
        "",
    ];
    const COMMENTS: [&str; 2] = [
        "// mine\n{\n  \"a\": \"//no\", // one\n  /* two */ \"b\": 2 // three\n}",
        "{ // nothing yet, \"hooks\"\n}\n",
    ];
    const TOML: [&str; 4] = [
        "# mine\nmodel = 'x' # yes\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"beep\"\n# end",
        "a = 1\r\n[b]\r\nc = \"[[hooks]]\"\r\n",
        "",
        "\n\n\n",
    ];
    const RULES: [&str; 3] = [
        "{\"amp.permissions\": [{\"tool\": \"*\", \"action\": \"ask\"}]}",
        "{\n  // mine\n  \"amp.permissions\": [\n    // first\n    {\"tool\": \"Bash\", \"action\": \"ask\"}\n  ]\n}\n",
        "{\"amp.permissions\": [ ]}",
    ];
    let files: Vec<&str> = match agent.settings.format {
        SettingsFormat::Json(form) if form.has_comments => [&JSON[..], &COMMENTS].concat(),
        SettingsFormat::Json(_) => JSON.to_vec(),
        SettingsFormat::TomlHooks => TOML.to_vec(),
        SettingsFormat::DelegateRule => [&JSON[..], &COMMENTS, &RULES].concat(),
        SettingsFormat::Executable | SettingsFormat::Plugin(_) => Vec::new(),
    };
    [None].into_iter().chain(files.into_iter().map(Some)).collect()
}

/// A home in which the agent has these settings, and its file.
fn home_with(agent: &AgentProfile, text: Option<&str>) -> (Home, std::path::PathBuf) {
    let home = Home::new();
    let file = home.path(agent.settings.folder).join(agent.settings.files[0]);
    if let Some(text) = text {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    (home, file)
}

#[test]
fn every_agent_gets_its_hooks_and_gives_them_back_to_the_byte() {
    for agent in AGENTS {
        for text in settings_of(agent) {
            let (home, file) = home_with(agent, text);
            let before = home.files();
            let said = home.does(&["install", "--agent", agent.word]);
            let about = format!("{} {text:?}\n{said}", agent.word);
            assert!(said.contains("changed") && said.contains(HOOK), "{about}");
            assert!(said.contains("when_absent = agent: "), "{about}");
            let missing = match agent.failures.missing {
                CallFate::GoesOn => "counts as a yes in modes that ask nobody",
                CallFate::Asked => "has the agent ask",
                CallFate::Denied => "counts as a no",
            };
            let fails = said.lines().find(|line| line.starts_with("  absent ")).unwrap();
            let part = fails.split("; ").find(|part| part.contains("missing")).unwrap();
            assert!(part.ends_with(missing), "{about}");
            assert!(home.files().iter().any(|it| contains(&it.2, HOOK)), "{about}");
            let installed = home.files();
            let again = home.does(&["install", "--agent", agent.word]);
            assert!(again.contains("is up to date") && !again.contains("changed"), "{again}");
            assert_eq!(home.files(), installed, "{about}");
            let doctor = home.run(&["doctor"]).stdout;
            let stands = format!("{}: the hook denies what it has to deny", agent.name);
            assert!(doctor.contains(&stands), "{about}\n{doctor}\n{}", read(&file));
            let mode = |line: &&str| line.contains(" modes ") && line.contains(" start");
            let modes = doctor.lines().filter(mode).any(|line| line.contains(agent.name));
            assert!(modes, "{about}\n{doctor}");
            home.does(&["uninstall", "--agent", agent.word]);
            assert_eq!(home.files(), before, "{about}");
        }
    }
}

fn contains(text: &[u8], part: &str) -> bool {
    String::from_utf8_lossy(text).contains(part)
}

/// What somebody else has added stays, and nothing of ours does.
#[test]
fn what_others_change_in_between_stays() {
    for agent in AGENTS {
        for text in settings_of(agent).into_iter().flatten() {
            let (home, file) = home_with(agent, Some(text));
            home.does(&["install", "--agent", agent.word]);
            let installed = read(&file);
            let (changed, theirs) = match agent.settings.format {
                SettingsFormat::TomlHooks => {
                    (format!("{installed}\n# theirs\n[theirs]\n"), "# theirs\n[theirs]\n")
                }
                _ => (installed.replacen('{', "{\"theirs\": 1,", 1), "{\"theirs\": 1"),
            };
            fs::write(&file, &changed).unwrap();
            home.does(&["uninstall", "--agent", agent.word]);
            let left = read(&file);
            let about = format!("{} {text:?}\n{changed}\n{left}", agent.word);
            assert!(left.contains(theirs) && !left.contains("callgate"), "{about}");
            for comment in ["// mine", "// one", "/* two */", "// three", "# mine", "// first"] {
                assert_eq!(left.contains(comment), text.contains(comment), "{about}");
            }
            // It is as readable as before.
            home.does(&["install", "--agent", agent.word]);
        }
    }
}

#[test]
fn the_doctor_finds_what_is_broken_in_the_settings_of_every_agent() {
    for agent in AGENTS {
        let (home, file) = home_with(agent, None);
        home.does(&["install", "--agent", agent.word]);
        let hook = home.path("bin/callgate-hook");
        let seen = home.path("seen");
        let script = format!("#!/bin/sh\n(/bin/cat; echo; /usr/bin/env) > {}\n", seen.display());
        callgate_testkit::script::write_program(&hook, &script);
        for file in home.files() {
            let text = String::from_utf8_lossy(&file.2).into_owned();
            if text.contains(HOOK) {
                fs::write(&file.0, text.replace(HOOK, hook.to_str().unwrap())).unwrap();
            }
        }
        let finished = home.run(&["doctor"]);
        let said = match agent.input {
            InputForm::Bare { .. } => "the hook does not deny what it has to deny",
            InputForm::Object { .. } => "the hook does not deny what it has to deny; it says \"\"",
        };
        assert!(finished.stdout.contains(said), "{}\n{}", agent.word, finished.stdout);
        // It was a call as the agent gives it, here, in the agent's environment.
        let seen = read(&seen);
        assert!(seen.contains("callgate-self-test"), "{}\n{seen}", agent.word);
        let is_there = |line: &str| {
            line.contains(&format!("\"{RECORDED_FOLDER}\"")) || line.ends_with(RECORDED_FOLDER)
        };
        assert!(!seen.lines().any(is_there), "{}\n{seen}", agent.word);
        for mark in AGENTS.into_iter().filter_map(|other| other.mark) {
            let is_set = seen.lines().any(|line| line.starts_with(&format!("{mark}=")));
            assert_eq!(is_set, agent.mark == Some(mark), "{} {mark}\n{seen}", agent.word);
        }
        assert_eq!(finished.status.code(), Some(1));
        fs::remove_file(&file).unwrap();
        let said = home.run(&["doctor"]).stdout;
        match agent.word {
            "amp" => assert!(said.contains("it has no rule that asks callgate"), "{said}"),
            "cline" => assert!(said.contains("does not run our hook at tool_call"), "{said}"),
            _ => assert!(!said.contains(&format!("{} has our hook in", agent.name)), "{said}"),
        }
    }
}

/// It is found by its program or by its settings, and an unknown name gets the list.
#[test]
fn the_agents_on_the_machine_are_found() {
    let home = Home::new();
    home.program("gemini", "#!/bin/sh\n");
    fs::create_dir_all(home.path(".config/opencode")).unwrap();
    let said = home.does(&["install"]);
    for expected in ["Claude Code: changed", "Gemini CLI: changed", "opencode: changed"] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(!said.contains("Codex") && said.contains("uninstall`"), "{said}");
    let plugin = home.path(".config/opencode/plugin/callgate.js");
    assert!(read(&plugin).contains(&format!("const COMMAND = [\"{HOOK}\",\"--agent\"")));
    home.does(&["uninstall"]);
    assert!(!plugin.exists() && !home.path(".gemini").exists());
    // It was there before.
    fs::remove_dir(home.path(".config/opencode")).unwrap();
    let said = home.run(&["install", "--agent", "emacs"]).stderr;
    for agent in AGENTS {
        assert!(said.contains(agent.word), "{said}");
    }
    fs::remove_dir_all(home.path("bin")).unwrap();
    home.refuses(&["install"], "no agent was found here");
    home.refuses(&["install", "--agent", "kimi", "--project"], "reads no hooks of a project");
}

/// The one file for an event may be somebody's own.
#[test]
fn a_program_or_plugin_of_somebody_else_is_left_as_it_is() {
    for (word, file) in
        [("cline", ".cline/hooks/PreToolUse"), ("pi", ".pi/agent/extensions/callgate.ts")]
    {
        let home = Home::new();
        let file = home.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine\n").unwrap();
        let finished = home.run(&["install", "--agent", word]);
        assert!(finished.stderr.contains("it is not callgate's"), "{}", finished.stderr);
        assert_eq!(read(&file), "mine\n");
        home.does(&["uninstall", "--agent", word]);
        assert_eq!(read(&file), "mine\n");
        fs::remove_file(&file).unwrap();
        home.does(&["install", "--agent", word]);
        if word == "cline" {
            assert_eq!(mode(&file), 0o700);
        }
        fs::write(&file, read(&file) + "\n// more\n").unwrap();
        let finished = home.run(&["uninstall", "--agent", word]);
        if word == "pi" {
            assert!(finished.stderr.contains("somebody has changed it"), "{}", finished.stderr);
        }
        assert!(read(&file).contains("// more"));
    }
}

/// `OpenHands` runs the hooks of a project in place of the user's.
#[test]
fn a_project_that_replaces_the_hooks_is_found() {
    let home = Home::new();
    home.does(&["install", "--agent", "openhands"]);
    fs::create_dir(home.path("work/.openhands")).unwrap();
    fs::write(home.path("work/.openhands/hooks.json"), "{}").unwrap();
    let said = home.run(&["doctor"]).stdout;
    assert!(said.contains("replaces your own hooks of OpenHands in this folder"), "{said}");
    home.does(&["install", "--agent", "openhands", "--project"]);
    assert!(!home.run(&["doctor"]).stdout.contains("replaces your own"));
}

/// A folder that was there stays, also an empty one; one that was made for the hook goes.
#[test]
fn folders_are_as_they_were() {
    for agent in AGENTS {
        let home = Home::new();
        let file = home.path(agent.settings.folder).join(agent.settings.files[0]);
        let above = file.ancestors().skip(1);
        let folders: Vec<_> = above.take_while(|it| *it != home.base.folder()).collect();
        for folder in folders.iter().rev() {
            let before = home.files();
            home.does(&["install", "--agent", agent.word]);
            home.does(&["uninstall", "--agent", agent.word]);
            assert_eq!(home.files(), before, "{} before {}", agent.word, folder.display());
            fs::create_dir_all(folder).unwrap();
        }
        let before = home.files();
        home.does(&["install", "--agent", agent.word]);
        home.does(&["uninstall", "--agent", agent.word]);
        assert_eq!(home.files(), before, "{}", agent.word);
    }
}

/// Without a name, it says what it will do before it does it.
#[test]
fn the_changes_for_several_agents_are_shown_first() {
    let home = Home::new();
    home.program("gemini", "#!/bin/sh\n");
    let said = home.does(&["install"]);
    let (plan, done) = said.split_once("\n\n").expect("a plan comes first");
    assert!(plan.starts_with("This puts callgate's hook into the settings of your agents:"));
    let file = home.path(".gemini/settings.json");
    assert!(plan.contains(&format!("Gemini CLI     {}", file.display())), "{plan}");
    assert!(done.contains(&format!("Gemini CLI: changed {}", file.display())), "{done}");
    // Nothing is left to do, so nothing is announced.
    assert!(!home.does(&["install"]).contains("This puts"));
    home.does(&["uninstall"]);
    assert!(!home.does(&["install", "--agent", "gemini"]).contains("This puts"));
}

#[test]
fn somebody_at_a_terminal_is_asked_once() {
    for (answer, is_done) in [("n\r", false), ("\r", true)] {
        let home = Home::new();
        home.program("gemini", "#!/bin/sh\n");
        let mut terminal = Terminal::spawn(&home.command(&["install"]));
        terminal.wait_for("Go on? [Y/n]");
        assert!(!home.path(".gemini").exists());
        terminal.press(answer);
        terminal.wait_for(if is_done { "To remove the hooks" } else { "Nothing was changed" });
        assert!(terminal.end().success());
        assert_eq!(home.path(".gemini/settings.json").exists(), is_done);
        home.does(&["uninstall"]);
        let terminal = Terminal::spawn(&home.command(&["install", "--yes"]));
        terminal.wait_for("To remove the hooks");
        assert!(!terminal.written().contains("Go on?"));
        assert!(terminal.end().success());
    }
}
