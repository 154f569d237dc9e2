//! The model's key in a real keyring: gnome-keyring and secret-tool on a private D-Bus.

use std::fs;
use std::process::Command;
use std::time::Duration;

use callgate_testkit::postgres_server::{PASSWORD, shared_server};
use callgate_testkit::process::{Finished, Piped, run};
use callgate_testkit::tools;

use crate::command::Home;

const CALLGATE: &str = env!("CARGO_BIN_EXE_callgate");
/// A keyring starts two programs, and may wait for a dialog that nobody can see.
const LIMIT: Duration = Duration::from_mins(1);
const PATH: &str = "/usr/bin:/bin";
const KEY: &str = "agent.api_key_keyring";
/// Unlocks a new keyring, and waits until its daemon has its name on the bus: whoever asks for the
/// name before that starts another one.
const UNLOCK: &str = "\
    printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
    until dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
        org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true
    do sleep 0.02
    done
";

/// Runs a script in a session with a D-Bus of its own. Returns `None` where the programs are not
/// installed.
fn session(home: &Home, script: &str) -> Option<Finished> {
    let [session, ..] = tools::keyring()?;
    // The bus and the keyring say much that is not ours.
    let script = format!("exec 2>&1\nset -u\n{script}");
    let mut command = Command::new(session);
    command.args(["--", "/bin/sh", "-c", &script]).current_dir(home.home.folder());
    command.env_clear().env("HOME", home.home.folder()).env("PATH", PATH);
    command.env("CALLGATE", CALLGATE);
    Some(run(command, LIMIT))
}

#[test]
fn the_key_is_stored_in_the_keyring_and_read_from_there() {
    let home = Home::new();
    let script = format!(
        "{UNLOCK}
        $CALLGATE config get {KEY}
        printf 'sk-SECRET\\n' | $CALLGATE config set {KEY} --stdin --json; echo \"set $?\"
        secret-tool lookup service callgate key agent-api-key | sed 's/^/looked up /'; echo
        $CALLGATE doctor | grep keyring
        printf 'sk-OTHER' | $CALLGATE config set {KEY} --stdin; echo \"again $?\"
        printf '{{\"id\":\"1\",\"kind\":\"get_status\"}}\\n' | $CALLGATE agent --engine anthropic | head -2
        secret-tool lookup service callgate key agent-api-key | sed 's/^/looked up /'"
    );
    let Some(done) = session(&home, &script) else { return };
    let said = done.stdout;
    assert!(said.starts_with("false\n") || said.contains("\nfalse\n"), "{said}");
    assert!(said.contains("set 0\nlooked up sk-SECRET\n"), "{said}");
    assert!(said.contains("it has the API key of `agent.api_key_keyring`"), "{said}");
    assert!(said.contains("again 0\n") && said.contains("looked up sk-OTHER"), "{said}");
    assert!(said.contains("\"engine\":\"anthropic\""), "{said}");
    assert_eq!(said.matches("SECRET").count(), 1, "{said}");
    assert_eq!(home.text(), "[agent]\napi_key_keyring = true\n");
}

/// The address of a team's database, with its password, is used from there.
#[test]
fn the_database_of_a_team_is_reached_by_the_keyring() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let home = Home::new();
    let certificate = "[team]\ncertificate = \"/desk.crt\"\ncertificate_key = \"/desk.key\"\n";
    home.home.write_settings(certificate);
    let key = "team.database_url_keyring";
    let url = server.url(&server.make_database());
    let script = format!(
        "{UNLOCK}
        printf '{url}\\n' | $CALLGATE config set {key} --stdin; echo \"set $?\"
        $CALLGATE team status; echo \"status $?\"
        $CALLGATE config show"
    );
    let Some(done) = session(&home, &script) else { return };
    let said = done.stdout;
    assert!(said.contains("set 0\n") && said.contains("status 0\n"), "{said}");
    assert!(said.contains("database  answers\n"), "{said}");
    assert!(!said.contains(PASSWORD), "{said}");
    assert_eq!(home.text(), format!("{certificate}database_url_keyring = true\n"));
}

#[test]
fn a_keyring_without_the_key_says_how_to_store_it() {
    let home = Home::new();
    let script = format!(
        "{UNLOCK}
        $CALLGATE config set {KEY} true
        $CALLGATE doctor | grep keyring
        $CALLGATE agent --engine anthropic </dev/null; echo \"agent $?\""
    );
    let Some(done) = session(&home, &script) else { return };
    let absent = "the keyring has no API key; to store it there: callgate config set \
                  agent.api_key_keyring --stdin";
    assert_eq!(done.stdout.matches(absent).count(), 2, "{}", done.stdout);
}

#[test]
fn a_locked_keyring_is_named_and_nothing_is_changed() {
    let home = Home::new();
    // The second daemon finds the keyring of the first, and nobody can be asked for its password.
    let store = format!("{UNLOCK}printf sk-1 | $CALLGATE config set {KEY} --stdin");
    let Some(_) = session(&home, &store) else { return };
    let text = home.text();
    fs::write(home.file(), "").unwrap();
    let script = format!(
        "printf sk-2 | $CALLGATE config set {KEY} --stdin; echo \"set $?\"
        $CALLGATE config set {KEY} true
        $CALLGATE agent --engine anthropic </dev/null; echo \"agent $?\""
    );
    let said = session(&home, &script).unwrap().stdout;
    assert_eq!(said.matches("the keyring is locked").count(), 2, "{said}");
    assert!(said.contains("set 1\n"), "{said}");
    assert_eq!(home.text(), text);
}

#[test]
fn without_a_keyring_it_is_said_what_is_missing() {
    let home = Home::new();
    let Some(_) = tools::keyring() else { return };
    let check = |path: &str, input: &str, code: i32, expected: &[&str]| {
        let mut command = home.fed_command(&["set", KEY, "--stdin"], input);
        command.env("PATH", path);
        let done = run(command, LIMIT);
        assert_eq!(done.status.code(), Some(code), "{}", done.stderr);
        assert!(expected.iter().all(|text| done.stderr.contains(text)), "{}", done.stderr);
        assert!(!home.file().exists());
    };
    check(PATH, "sk-1", 1, &["no keyring can be reached (`secret-tool` says: "]);
    let missing = ["`secret-tool`, which is not installed", "apt install libsecret-tools"];
    check("/nowhere", "sk-1", 1, &missing);
    check(PATH, "two words", 78, &["the API key has characters that no API key has"]);
}

/// The tokens of an MCP server go to the keyring, and no file has them.
#[test]
fn the_tokens_of_a_sign_in_are_in_the_keyring() {
    let home = Home::new();
    let mut server = Command::new("/usr/bin/python3");
    server.arg(tools::repo_root().join("tests/data/oauth_mcp_server.py"));
    let mut server = Piped::spawn(server);
    let url = server.recv()["url"].as_str().unwrap().to_owned();
    let config = home.home.folder().join(".config/callgate");
    fs::create_dir_all(&config).unwrap();
    let servers = format!("[agent.mcp_servers.far]\nurl = {url:?}\n");
    fs::write(config.join("config.toml"), servers).unwrap();
    let script = format!(
        "{UNLOCK}
        $CALLGATE mcp login far >login &
        until grep -q authorize login; do sleep 0.02; done
        python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1].strip())' \
            \"$(grep authorize login)\"
        wait $!; echo \"login $?\"
        $CALLGATE mcp list
        grep -l at- -r .local; echo \"files $?\"
        name=$(ls .local/share/callgate/sign-ins | sed 's/.json//')
        secret-tool lookup service callgate key mcp-$name | grep -c access_token
        $CALLGATE mcp logout far
        secret-tool lookup service callgate key mcp-$name; echo \"gone $?\""
    );
    let Some(done) = session(&home, &script) else { return };
    let said = done.stdout;
    assert!(said.contains("login 0\n"), "{said}");
    assert!(said.contains(", kept in the keyring\nfiles 1\n1\nYou are signed out"), "{said}");
    assert!(said.contains("gone 1\n"), "{said}");
}
