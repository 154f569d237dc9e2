//! A team's rules: signed on one machine, taken on others.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use callgate_testkit::until::until_or;
use serde_json::Value;

use super::{Machine, TextServer, end_desk};

const OWN: &str = r#"
[[rule]]
name = "anything"
decide = "allow"
command = "*"
"#;

const TEAM: &str = r#"
[[rule]]
name = "no force"
decide = "deny"
command = "git push --force"
reason = "others have pulled it"

[[rule]]
name = "deploys"
decide = "ask"
command = "make deploy"
"#;

/// A machine on which a team's rules are signed.
struct Team {
    machine: Machine,
    key: String,
}

impl Team {
    /// Returns a team that has signed its first rules, `1.bundle`.
    fn new() -> Self {
        let machine = Machine::with_rules("");
        machine.home.write("1.toml", TEAM);
        let told = machine.run(&["team", "rules", "sign", "1.toml", "--team", "acme"]).success();
        let key = told.stdout.trim_end().rsplit(' ').next().unwrap().to_owned();
        assert_eq!(
            told.stdout,
            format!(
                "Signed 2 rules: team acme, rules 1, in 1.bundle\nEach member takes them with:\n    \
                 callgate team rules take 1.bundle --key {key}\n"
            )
        );
        Self { machine, key }
    }

    /// Signs further rules as `NAME.bundle`.
    fn sign(&self, name: &str, rules: &str) {
        self.machine.home.write(&format!("{name}.toml"), rules);
        let _ = self.machine.run(&["team", "rules", "sign", &format!("{name}.toml")]).success();
    }

    fn bundle(&self, name: &str) -> String {
        self.machine.home.text(&format!("{name}.bundle"))
    }

    /// Returns a machine with the user's `rules` that has taken the first bundle.
    fn member(&self, rules: &str) -> Machine {
        let member = Machine::with_rules(rules);
        member.home.write("1.bundle", &self.bundle("1"));
        let told = member.run(&["team", "rules", "take", "1.bundle", "--key", &self.key]).success();
        assert!(
            told.stdout.starts_with("Took 2 rules (team acme, rules 1, signed 20"),
            "{}",
            told.stdout
        );
        member
    }
}

#[test]
fn the_strictest_level_decides_and_explain_names_it() {
    let team = Team::new();
    let member = team.member(OWN);
    let told = member.explain("git push --force");
    let first = "deny: denied by rule `no force` (team acme, rules 1:2): it could run `git push \
                 --force` (others have pulled it)\n";
    assert!(told.starts_with(first), "{told}");
    let levels = "  the team's rules: deny\n  your rules: allow\n  the project's rules: nothing\n";
    assert!(told.contains(levels), "{told}");
    let told = member.explain("make deploy");
    assert!(told.starts_with("ask: asked by rule `deploys` (team acme, rules 1:8)"), "{told}");
    let told = member.explain("make test");
    assert!(told.starts_with("allow: allowed by rule `anything` ("), "{told}");
    let levels =
        "  the team's rules: nothing\n  your rules: allow\n  the project's rules: nothing\n";
    assert!(told.contains(levels), "{told}");

    // An allow of the team's counts where the member's own rules say nothing, and not elsewhere.
    team.sign("2", "[[rule]]\nname = \"tests\"\ndecide = \"allow\"\ncommand = \"make *\"\n");
    member.home.write("2.bundle", &team.bundle("2"));
    let _ = member.run(&["team", "rules", "take", "2.bundle"]).success();
    member.home.write(
        ".config/callgate/rules.toml",
        "[[rule]]\nname = \"slow\"\ndecide = \"ask\"\ncommand = \"make all\"\n",
    );
    assert!(
        member
            .explain("make test")
            .starts_with("allow: allowed by rule `tests` (team acme, rules 2:1)")
    );
    assert!(member.explain("make all").starts_with("ask: asked by rule `slow`"));
    let shown = member.run(&["team", "rules", "show"]).success().stdout;
    assert!(shown.starts_with("1 rule (team acme, rules 2, signed "), "{shown}");
    assert!(shown.ends_with(&format!("key {}\n", team.key)), "{shown}");
}

#[test]
fn a_deny_of_the_team_holds_without_a_desk_and_at_one() {
    let team = Team::new();
    let member = team.member(OWN);
    let denied = "denied by rule `no force` (team acme, rules 1:2)";
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_callgate"), &["hook"][..]),
        (env!("CARGO_BIN_EXE_callgate-hook"), &[]),
    ] {
        let told = member.hook(program, arguments, "git push --force");
        assert!(told.contains("\"deny\"") && told.contains(denied), "{told}");
        let told = member.hook(program, arguments, "ls");
        assert!(told.contains("\"allow\""), "{told}");
    }
    let up = member.up();
    let hook = env!("CARGO_BIN_EXE_callgate-hook");
    let told = member.hook(hook, &[], "git push --force");
    assert!(told.contains("\"deny\"") && told.contains(denied), "{told}");
    // A running desk applies what is taken meanwhile.
    assert!(member.hook(hook, &[], "make clean").contains("\"allow\""));
    team.sign("2", "[[rule]]\nname = \"no clean\"\ndecide = \"deny\"\ncommand = \"make clean\"\n");
    member.home.write("2.bundle", &team.bundle("2"));
    let _ = member.run(&["team", "rules", "take", "2.bundle"]).success();
    let told = member.hook(hook, &[], "make clean");
    assert!(told.contains("denied by rule `no clean` (team acme, rules 2:1)"), "{told}");
    end_desk(up);
    let log = member.run(&["log", "--json"]).success().stdout;
    assert!(log.contains(denied), "{log}");
    let taken = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let taken: Vec<Value> = taken.filter(|entry| entry["kind"] == "saved").collect();
    assert_eq!(taken.len(), 2, "{log}");
    let summary = taken[1]["body"]["summary"].as_str().unwrap();
    assert!(summary.starts_with("Took 1 rule (team acme, rules 2, signed "), "{summary}");
    assert_eq!(
        (&taken[1]["body"]["tool"], &taken[1]["body"]["count"]),
        (&"team rules".into(), &1.into())
    );
}

#[test]
fn a_desk_takes_newer_rules_from_their_address() {
    let team = Team::new();
    let server = TextServer::start(team.bundle("1"));
    let member = Machine::with_rules(OWN);
    let take = ["team", "rules", "take", &server.address, "--key", &team.key];
    let told = member.run(&take).success().stdout;
    assert!(told.starts_with("Took 2 rules (team acme, rules 1, signed "), "{told}");
    assert!(told.contains("From its next start on, `callgate up` takes newer ones"), "{told}");
    let shown = member.run(&["team", "rules", "show"]).success().stdout;
    assert!(shown.ends_with(&format!("\nfrom {}\n", server.address)), "{shown}");
    team.sign("2", "[[rule]]\nname = \"no clean\"\ndecide = \"deny\"\ncommand = \"make clean\"\n");
    server.replace(team.bundle("2"));
    let up = member.up();
    let hook = env!("CARGO_BIN_EXE_callgate-hook");
    let denied = "denied by rule `no clean` (team acme, rules 2:1)";
    let log = || up.stderr();
    until_or(log, || member.hook(hook, &[], "make clean").contains(denied));
    until_or(log, || up.stderr().contains("Took 1 rule (team acme, rules 2, signed "));
    end_desk(up);
    // A desk that finds an older bundle there says so and keeps the newer one.
    server.replace(team.bundle("1"));
    let up = member.up();
    let why = "the team's rules stay as they are: it is older than the rules that apply";
    until_or(|| up.stderr(), || up.stderr().contains(why));
    assert!(member.hook(hook, &[], "make clean").contains(denied));
    end_desk(up);
    let log = member.run(&["log", "--json"]).success().stdout;
    let taken = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let taken = taken.filter(|entry| entry["kind"] == "saved");
    let by: Vec<Value> = taken.map(|entry| entry["body"]["by"].clone()).collect();
    assert_eq!(by, ["the command line", "callgate up"]);
    // On the way from another machine, everybody could read along.
    let told = member.refused(&["team", "rules", "take", "http://rules.example.org/"]);
    assert!(
        told.contains("the address has to begin with https://, or be on this machine"),
        "{told}"
    );
}

#[test]
fn a_bundle_that_is_not_the_teams_newest_changes_nothing_and_is_told() {
    let team = Team::new();
    let member = team.member(OWN);
    team.sign("2", OWN);
    team.sign("3", TEAM);
    member.home.write("3.bundle", &team.bundle("3"));
    let _ = member.run(&["team", "rules", "take", "3.bundle"]).success();
    let kept = fs::read_to_string(member.data("team.json")).unwrap();
    let newest = team.bundle("3");
    let foreign = Team::new();
    for (bundle, why) in [
        (
            team.bundle("2"),
            "it is older than the rules that apply: it has the number 2, they have 3",
        ),
        (foreign.bundle("1"), "it is signed with another key than the team's"),
        (newest.replace("deny", "allow"), "its signature is wrong"),
        (newest.replace("\"serial\":3", "\"serial\":4"), "its signature is wrong"),
        (newest.replace(&team.key, &foreign.key), "its signature is wrong"),
        (newest[..newest.len() / 2].to_owned(), "it is not a bundle of rules"),
        (String::new(), "it is not a bundle of rules"),
        ("x".repeat(3 << 20), "it is larger than"),
    ] {
        member.home.write("next.bundle", &bundle);
        let told = member.refused(&["team", "rules", "take", "next.bundle"]);
        assert!(told.contains(why), "{why}: {told}");
        assert_eq!(fs::read_to_string(member.data("team.json")).unwrap(), kept, "{why}");
    }
    let told = member.refused(&["team", "rules", "take", "3.bundle", "--key", &foreign.key]);
    assert!(told.contains("this machine trusts another key"), "{told}");
    let told = member.run(&["team", "rules", "take", "3.bundle"]).success().stdout;
    assert!(told.ends_with("They apply already.\n"), "{told}");
    assert!(member.explain("git push --force").starts_with("deny: "));
    // Nobody's key is trusted unasked.
    let stranger = Machine::with_rules("");
    stranger.home.write("1.bundle", &team.bundle("1"));
    let told = stranger.refused(&["team", "rules", "take", "1.bundle"]);
    assert!(told.contains(&format!("It is signed with the key {}", team.key)), "{told}");
    assert!(!stranger.data("team.json").exists());
}

/// Whoever changes the file that is kept can make nothing looser by it.
#[test]
fn what_is_kept_is_private_guarded_and_checked_whenever_it_is_read() {
    let team = Team::new();
    let member = team.member(OWN);
    for (machine, name) in [(&member, "team.json"), (&team.machine, "team-signing.json")] {
        let mode = fs::metadata(machine.data(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
        let told = machine.explain(&format!("cp x {}", machine.data(name).display()));
        assert!(told.starts_with("ask: no rule can allow this"), "{told}");
    }
    let kept = fs::read_to_string(member.data("team.json")).unwrap();
    fs::write(member.data("team.json"), kept.replace("deny", "allow")).unwrap();
    for command in ["git push --force", "ls"] {
        let told = member.explain(command);
        assert!(told.starts_with("ask: the team's bundle of rules has errors"), "{told}");
    }
    let told = member.run(&["rules", "check"]);
    assert_eq!(told.status.code(), Some(1));
    assert!(told.stdout.contains("its signature is wrong"), "{}", told.stdout);
    let told = member.run(&["doctor"]).stdout;
    assert!(told.contains("its signature is wrong"), "{told}");
    assert!(member.refused(&["team", "rules", "show"]).contains("its signature is wrong"));
    // What applies can be taken again after leaving, which is recorded.
    let told = member.run(&["team", "leave"]).success().stdout;
    assert_eq!(told, "Left the team: its rules no longer apply.\n");
    assert!(member.explain("git push --force").starts_with("allow: "));
    let _ = member.run(&["team", "rules", "take", "1.bundle", "--key", &team.key]).success();
    assert!(member.explain("git push --force").starts_with("deny: "));
    let told = member.run(&["team", "leave"]).success().stdout;
    assert_eq!(told, "Left acme: its rules no longer apply.\n");
    assert!(member.refused(&["team", "leave"]).contains("this machine belongs to no team"));
    let log = member.run(&["log", "--json"]).success().stdout;
    assert_eq!(log.matches("its rules no longer apply").count(), 2, "{log}");
}

#[test]
fn signing_refuses_rules_with_errors_and_other_teams() {
    let team = Team::new();
    team.machine
        .home
        .write("bad.toml", "[[rule]]\nname = \"x\"\ndecide = \"alow\"\ncommand = \"ls\"\n");
    let told = team.machine.refused(&["team", "rules", "sign", "bad.toml"]);
    assert!(told.contains("bad.toml:3:") && told.contains("nothing was signed"), "{told}");
    let told = team.machine.refused(&["team", "rules", "sign", "1.toml", "--team", "other"]);
    assert!(told.contains("the key on this machine is that of the team `acme`"), "{told}");
    // The number of what was not signed is not used up.
    team.sign("2", TEAM);
    assert!(team.bundle("2").contains("\"serial\":2"));
    let stranger = Machine::with_rules("");
    stranger.home.write("1.toml", TEAM);
    let told = stranger.refused(&["team", "rules", "sign", "1.toml"]);
    assert!(told.contains("--team NAME"), "{told}");
    let told = stranger.refused(&["team", "rules", "sign", "1.toml", "--team", "two words"]);
    assert!(told.contains("a team's name is"), "{told}");
}

#[test]
fn a_user_without_a_team_meets_nothing_of_it() {
    let alone = Machine::with_rules(OWN);
    let up = alone.up();
    alone.hook(env!("CARGO_BIN_EXE_callgate-hook"), &[], "ls");
    end_desk(up);
    assert!(!alone.explain("ls").contains("team"));
    assert!(!alone.run(&["rules", "check"]).success().stdout.contains("team"));
    let found = fs::read_dir(alone.data("")).unwrap().map(|entry| entry.unwrap().file_name());
    let found: Vec<_> = found.filter(|name| name.to_string_lossy().contains("team")).collect();
    assert!(found.is_empty(), "{found:?}");
    let shown = alone.run(&["team", "rules", "show"]).success().stdout;
    assert_eq!(shown, "This machine belongs to no team.\n");
}
