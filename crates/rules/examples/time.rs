//! Times.
use callgate_rules::*;
fn main() {
    let rules = include_str!("../../../src/rules/starter.toml");
    let file = RuleFile::read("rules.toml", rules, Trust::User);
    let policy = Policy::new(Guarded::new("/home/ada")).with(&file, None);
    let lines: Vec<&str> = include_str!("/work/w/ordinary-commands.txt").lines().collect();
    let start = std::time::Instant::now();
    let mut read = std::time::Duration::ZERO;
    let mut slow: Vec<(std::time::Duration, &str)> = Vec::new();
    for line in &lines {
        let input = serde_json::json!({ "command": line }).to_string();
        let s = std::time::Instant::now();
        let act = Act::of("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
        read += s.elapsed();
        let _ = judge(&policy, &act, &NoLinks, &Moment::at(0, 0));
        slow.push((s.elapsed(), line));
    }
    slow.sort();
    println!("{:?} read {:?}", start.elapsed(), read);
    for (t, l) in slow.iter().rev().take(8) { println!("{t:?} {l}"); }
    println!("median {:?}", slow[500].0);
}
