//! One.
use callgate_rules::*;
fn main() {
    let rules = include_str!("../../../src/rules/starter.toml");
    let file = RuleFile::read("rules.toml", rules, Trust::User);
    let policy = Policy::new(Guarded::new("/home/ada")).with(&file, None);
    let line = std::env::args().nth(1).unwrap();
    let input = serde_json::json!({ "command": line }).to_string();
    for _ in 0..100 {
        let s = std::time::Instant::now();
        let act = Act::of("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
        let r = s.elapsed();
        let v = judge(&policy, &act, &NoLinks, &Moment::at(0, 0));
        if std::env::var("SHOW").is_ok() { println!("{:?} {:?} {:?} {}", r, s.elapsed(), v.decision, v.because); break; }
    }
}
