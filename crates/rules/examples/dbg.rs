//! Debug.
use callgate_rules::*;
fn main() {
    let rules = std::env::var("RULES").unwrap_or_default();
    let file = RuleFile::read("rules.toml", &rules, Trust::User);
    let policy = Policy::new(Guarded::new("/home/ada")).with(&file, None);
    for line in std::env::args().skip(1) {
        let input = serde_json::json!({ "command": line }).to_string();
        let act = Act::of("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
        let v = judge(&policy, &act, &NoLinks, &Moment::at(0, 0));
        println!("{line:?}\n  {:?} person={} unclear={} {}", v.decision, v.wants_person, v.is_unclear, v.because);
        if std::env::var("ACT").is_ok() { println!("{act:#?}"); }
    }
}
