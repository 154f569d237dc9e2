//! Hooks for all users, in an `/etc` of the test's own.

use callgate_testkit::private_etc::PrivateEtc;

use super::*;

const CLAUDE: &str = "claude-code/managed-settings.d/90-callgate.json";
const CODEX: &str = "codex/requirements.toml";

impl Home {
    /// Like [`run`](Self::run), with another `/etc`.
    fn run_in(&self, etc: &PrivateEtc, arguments: &[&str]) -> Finished {
        run(etc.wrapped(&self.command(arguments)), DEADLINE)
    }

    fn does_in(&self, etc: &PrivateEtc, arguments: &[&str]) -> String {
        self.run_in(etc, arguments).success().stdout
    }
}

#[test]
fn hooks_for_all_users_come_and_go() {
    let Some(etc) = PrivateEtc::new() else { return };
    let home = Home::new();
    let said = home.does_in(&etc, &["install", "--managed", "--dry-run"]);
    assert!(said.contains("would change /etc/claude-code/managed-settings.d/"), "{said}");
    assert!(!etc.path(CLAUDE).exists() && !etc.path(CODEX).exists());
    let said = home.does_in(&etc, &["install", "--managed"]);
    assert!(said.contains(&format!("/etc/{CODEX}\n  command  {HOOK} --agent codex")), "{said}");
    assert!(said.contains("Other hooks, of users, projects and plugins, do not run"), "{said}");
    // Everybody can read them, and there is nothing of this user in them.
    for (file, folder) in [(CLAUDE, "claude-code/managed-settings.d"), (CODEX, "codex")] {
        assert_eq!((mode(&etc.path(file)), mode(&etc.path(folder))), (0o644, 0o755));
        assert!(!read(&etc.path(file)).contains(home.base.folder().to_str().unwrap()));
    }
    assert!(home.does_in(&etc, &["install", "--managed"]).contains(" is up to date"));
    let said = home.run_in(&etc, &["doctor"]).stdout;
    assert!(said.contains("Claude Code has our hook for all users in /etc/claude-code/"), "{said}");
    assert!(said.contains("Codex has our hook for all users in /etc/codex/"), "{said}");
    let said = home.does_in(&etc, &["uninstall", "--managed"]);
    assert!(said.contains("removed, it held nothing else"), "{said}");
    assert!(!etc.path(CLAUDE).exists() && !etc.path(CODEX).exists());
}

#[test]
fn what_an_administrator_has_written_stays() {
    let Some(etc) = PrivateEtc::new() else { return };
    let home = Home::new();
    let theirs = [
        (CLAUDE, "{\n\t\"model\": \"opus\",\n\t\"disableAllHooks\": true\n}\n"),
        (CODEX, "# ours\nallowed_approval_policies = [\"never\"]\n"),
        ("claude-code/managed-settings.json", "{\"companyAnnouncements\":[\"Hi\"]}"),
    ];
    for (file, text) in theirs {
        fs::create_dir_all(etc.path(file).parent().unwrap()).unwrap();
        fs::write(etc.path(file), text).unwrap();
    }
    home.does_in(&etc, &["install", "--managed"]);
    let claude = read(&etc.path(CLAUDE));
    assert!(
        claude.starts_with("{\n\t\"model\": \"opus\",\n\t\"disableAllHooks\": false,"),
        "{claude}"
    );
    assert!(
        read(&etc.path(CODEX)).starts_with("# ours\nallowed_approval_policies = [\"never\"]\n")
    );
    home.does_in(&etc, &["uninstall", "--managed"]);
    for (file, text) in theirs {
        assert_eq!(read(&etc.path(file)), text);
        assert!(!etc.path(&format!("{file}.before-callgate")).exists());
    }
    fs::write(etc.path(CODEX), "hooks = 1\n").unwrap();
    let refused = home.run_in(&etc, &["install", "--managed", "--agent", "codex"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stderr.contains("requirements.toml was left as it is"), "{}", refused.stderr);
}

#[test]
fn only_root_may_change_the_settings_of_all_users() {
    let mut home = Home::new();
    if rustix::process::geteuid().is_root() {
        set_mode(home.base.folder(), 0o755);
        home.user = Some(65534);
    }
    for command in ["install", "uninstall"] {
        home.refuses(&[command, "--managed"], "only root can change the settings of all users");
        let both = home.run(&[command, "--managed", "--project"]);
        assert_eq!(both.status.code(), Some(64), "{}", both.stderr);
    }
}
