//! The rules as viewers of the desk see, try and save them.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use callgate_store::EntryDraft;
use callgate_team::{RuleBundle, TeamRules, TeamSigner};
use callgate_wire::desk::{RiskKind, RuleDecision};
use tempfile::TempDir;

use super::*;
use crate::guarded::build_guarded;
use crate::tests::{rules_around, test_config, test_surroundings};

const RULES: &str = "[[rule]]\nname = \"builds\"\ndecide = \"allow\"\ncommand = \"make build\"\n\
                     until = 2030-12-31\nreason = \"quick\"\n\n[[rule]]\nname = \"never\"\n\
                     decide = \"deny\"\ncommand = \"rm\"\n";

/// A file of rules that nobody else writes.
struct PlainFile(PathBuf);

impl UserRulesFile for PlainFile {
    fn read_text(&self) -> Result<Option<String>, String> {
        Ok(fs::read_to_string(&self.0).ok())
    }

    fn replace_text(&self, is_as_seen: &dyn Fn(&str) -> bool, text: &str) -> Result<bool, String> {
        let is_seen = is_as_seen(&self.read_text()?.unwrap_or_default());
        Ok(is_seen && fs::write(&self.0, text).is_ok())
    }
}

struct Bench {
    folder: TempDir,
    served: ServedRules,
}

impl Bench {
    fn new(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("user.toml").display().to_string();
        let around = test_surroundings(folder.path(), &[("CALLGATE_RULES", &path)]);
        let config = test_config(&around);
        if !rules.is_empty() {
            fs::write(&path, rules).unwrap();
        }
        fs::create_dir_all(config.database.parent().unwrap()).unwrap();
        drop(Store::open(&config.database).unwrap());
        let guarded = build_guarded(&config, &around, None);
        let live = LiveRules::new(&config, guarded, rules_around(&around), Arc::new(|_| ()));
        let file = Box::new(PlainFile(config.rules.clone()));
        Self { served: ServedRules::new(&config, file, Arc::new(live)), folder }
    }

    /// Records questions about commands and what was decided.
    fn past(&self, questions: &[(&str, &str)]) {
        let mut store = Store::open(&self.served.database).unwrap();
        for (number, (command, decision)) in questions.iter().enumerate() {
            let question = Some(format!("00000000-0000-4000-8000-{number:012}"));
            let draft = |kind: &str, body: serde_json::Value| EntryDraft {
                at_ms: 7,
                kind: kind.to_owned(),
                question: question.clone(),
                body: body.to_string(),
            };
            let request = json!({
                "tool_name": "Bash",
                "tool_input": { "command": command },
                "cwd": "/home/ada/engine",
            });
            let asked = json!({ "summary": command, "ruling": "ask", "request": request });
            let decided = json!({ "decision": decision });
            store.append_entries(&[draft("asked", asked), draft("decided", decided)]).unwrap();
        }
    }

    fn rules_path(&self) -> PathBuf {
        self.folder.path().join("user.toml")
    }
}

/// Does some work with a monitor, and returns the last progress that was reported.
fn monitored<T>(work: impl FnOnce(&WorkMonitor<'_>) -> T) -> (T, Option<(u64, u64)>) {
    let (cancelled, last) = (AtomicBool::new(false), Mutex::new(None));
    let note = |done, total| *last.lock().unwrap() = Some((done, total));
    let done = work(&WorkMonitor::new(&cancelled, &note));
    (done, last.into_inner().unwrap())
}

fn command(command: &str) -> RecordedCall {
    RecordedCall {
        tool: "Bash".to_owned(),
        input: json!({ "command": command }).to_string(),
        project: "/home/ada/engine".to_owned(),
        agent: "claude-code".to_owned(),
    }
}

#[test]
fn rules_are_listed_with_their_text() {
    let view = Bench::new(RULES).served.current_rules().unwrap();
    assert_eq!((&*view.text, view.hash.len(), view.problems.len()), (RULES, 64, 0));
    let [builds, never] = &view.rules[..] else { panic!("{:?}", view.rules) };
    assert_eq!((&*builds.name, builds.decide, builds.line), ("builds", RuleDecision::Allow, 1));
    assert_eq!(builds.until.as_deref(), Some("2030-12-31"));
    assert_eq!((builds.reason.as_deref(), builds.is_over), (Some("quick"), false));
    assert_eq!(never.text, "[[rule]]\nname = \"never\"\ndecide = \"deny\"\ncommand = \"rm\"");
    let none = Bench::new("").served.current_rules().unwrap();
    assert_eq!((&*none.text, none.rules.len()), ("", 0));
}

#[test]
fn the_rules_of_a_team_are_listed_beside_the_users() {
    let bench = Bench::new(RULES);
    assert!(bench.served.current_rules().unwrap().team.is_none());
    let signer = TeamSigner::from_seed(&[1; 32]).unwrap();
    let mut rules = TeamRules::trusting(signer.public_key());
    rules.take(RuleBundle::sign(&signer, "acme", 7, 0, RULES).unwrap()).unwrap();
    let file = TeamFile::beside(&bench.served.database);
    file.change(|kept| kept.map_or(Ok(rules), |_| Err("there is one".to_owned()))).unwrap();
    let team = bench.served.current_rules().unwrap().team.unwrap();
    assert_eq!((&*team.path, team.problems.len()), ("team acme, rules 7", 0));
    let [builds, never] = &team.rules[..] else { panic!("{:?}", team.rules) };
    assert_eq!((&*builds.name, builds.until.as_deref()), ("builds", Some("2030-12-31")));
    assert!(never.text.starts_with("[[rule]]\nname = \"never\""), "{}", never.text);
}

#[test]
fn a_mistake_is_shown_at_its_line() {
    let bench = Bench::new("");
    let problems = bench.served.check_rules("[[rule]]\nname = \"a\"\ndecide = \"alow\"\n");
    assert!(problems.iter().any(|one| one.line == 3 && one.level == RuleProblemLevel::Error));
    assert_eq!(bench.served.check_rules(RULES), []);
}

#[test]
fn a_verdict_is_explained() {
    let explain = |text: &str| {
        let query = ExplainQuery {
            tool: None,
            command: Some(text.to_owned()),
            input: None,
            project: "/home/ada/engine".to_owned(),
            agent: None,
        };
        Bench::new(RULES).served.explain_call(&query).unwrap()
    };
    let allowed = explain("make build");
    assert_eq!(allowed.decision, ExplainedDecision::Allow);
    assert_eq!(allowed.considered.iter().filter(|rule| rule.matches).count(), 1);
    let text: String = allowed.segments.unwrap().iter().map(|one| one.text.as_str()).collect();
    assert_eq!(text, "make build");
    assert_eq!(explain("rm x").decision, ExplainedDecision::Deny);
    assert_eq!(explain("ls").decision, ExplainedDecision::Undecided);
}

#[test]
fn a_backtest_shows_past_denials_first() {
    let bench = Bench::new("");
    bench.past(&[
        ("make build", "deny"),
        ("make build", "allow"),
        ("rm x", "allow"),
        ("ls", "deny"),
    ]);
    let (report, progress) =
        monitored(|monitor| bench.served.backtest_rules(RULES, monitor).unwrap());
    assert_eq!((report.judged, report.let_through_count, report.saved), (4, 1, 3));
    let turned = &report.let_through[0];
    assert_eq!(
        (turned.seq, &*turned.summary, &*turned.project),
        (1, "make build", "/home/ada/engine")
    );
    assert_eq!((turned.was, turned.would), (RuleDecision::Deny, RuleDecision::Allow));
    assert_eq!(report.examples[0].summary, "rm x");
    let count = |from, to, count| TurnedCount { from, to, count };
    let turned = [
        count(RuleDecision::Allow, RuleDecision::Deny, 1),
        count(RuleDecision::Deny, RuleDecision::Allow, 1),
        count(RuleDecision::Deny, RuleDecision::Ask, 1),
    ];
    assert_eq!(report.turned, turned);
    assert_eq!(progress, Some((8, 8)));
    let cancelled = AtomicBool::new(true);
    let stopped = bench.served.backtest_rules(RULES, &WorkMonitor::new(&cancelled, &|_, _| ()));
    assert_eq!(stopped, Err(UNWANTED.to_owned()));
}

#[test]
fn rules_are_saved_only_over_what_was_seen() {
    let bench = Bench::new(RULES);
    let path = bench.rules_path();
    let seen = bench.served.current_rules().unwrap().hash;
    let new = "[[rule]]\nname = \"b\"\ndecide = \"ask\"\ncommand = \"make\"\n";
    assert!(bench.served.save_rules("[[rule]]\n", &seen).unwrap_err().starts_with("line 1"));
    assert!(bench.served.save_rules(new, "other").unwrap_err().contains("changed meanwhile"));
    assert_eq!(fs::read_to_string(&path).unwrap(), RULES, "nothing was written");
    let saved = bench.served.save_rules(new, &seen).unwrap();
    assert_eq!((saved.count, saved.hash), (1, bench.served.current_rules().unwrap().hash));
    assert_eq!(fs::read_to_string(&path).unwrap(), new);
    assert!(bench.served.save_rules(RULES, &seen).is_err(), "it is another file now");
    // Where there were none, they are created.
    let fresh = Bench::new("");
    let seen = fresh.served.current_rules().unwrap().hash;
    fresh.served.save_rules(new, &seen).unwrap();
    assert_eq!(fs::read_to_string(fresh.rules_path()).unwrap(), new);
}

#[test]
fn a_rule_is_proposed_for_a_call() {
    let bench = Bench::new("[[rule]]\nname = \"git-push\"\ndecide = \"ask\"\ncommand = \"git\"\n");
    let proposed =
        bench.served.propose_rule(&command("git push"), RuleDecision::Allow, Some(3600)).unwrap();
    assert_eq!(proposed.name, "git-push-2");
    let until = read_rule_end(&proposed.toml).unwrap();
    let end: Timestamp = until.parse().unwrap();
    let left = end.as_second() - now_ms() / 1000;
    assert!((3500..=3660).contains(&left), "{until}");
    assert!(bench.served.propose_rule(&command("echo $(x)"), RuleDecision::Allow, None).is_err());
}

#[test]
fn suggestions_come_from_the_ledger() {
    let bench = Bench::new("");
    bench.past(&[("make a", "allow"), ("make a", "allow"), ("rm b", "allow"), ("rm b", "deny")]);
    let (suggested, _) = monitored(|monitor| bench.served.suggest_rules(monitor).unwrap());
    let [one] = &suggested.rules[..] else { panic!("{suggested:?}") };
    assert_eq!((&*one.name, one.saves, one.beyond_count), ("make-a", 2, 0));
}

#[test]
fn risks_are_those_of_the_rules() {
    let risks = Bench::new("").served.risks_of_call(&command("rm -rf target"));
    assert_eq!(risks.iter().map(|risk| risk.kind).collect::<Vec<_>>(), [RiskKind::Deletes]);
}
