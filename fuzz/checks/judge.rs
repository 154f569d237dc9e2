//! Acts of any kind, and the verdicts on them on a disk full of links.

use callgate_rules::{
    Act, Disk, DiskEntry, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, Trust,
    Verdict, judge_act,
};
use callgate_wire::raw::json_string;

const HOME: &str = "/home/ada";
const CWD: &str = "/home/ada/engine";
/// The length to which an input is repeated, so that a few bytes show what many would cost.
const LONG: usize = 64 * 1024;
/// The longest input whose two verdicts are compared: one that is longer may be too long for one
/// of them only.
const SHORT: usize = 512;
const RULES: &str = r#"
[[rule]]
name = "all"
decide = "allow"
command = "*"

[[rule]]
name = "files"
decide = "allow"
class = ["read", "write"]
path = "src/**"

[[rule]]
name = "some"
decide = "deny"
path = ["~/.ssh", "secret/**"]
"#;

/// A disk on which many names lead elsewhere.
struct Tangle;

impl Disk for Tangle {
    fn entry(&self, path: &str) -> DiskEntry {
        match path
            .bytes()
            .fold(path.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)))
            % 7
        {
            0 => DiskEntry::Link("..".to_owned()),
            1 => DiskEntry::Link("/home/ada/engine/secret".to_owned()),
            2 => DiskEntry::Missing,
            _ => DiskEntry::Present,
        }
    }
}

fn strictness(verdict: &Verdict) -> usize {
    match verdict.decision {
        RuleDecision::Allow => 0,
        RuleDecision::Ask => 1,
        RuleDecision::Confirm => 2,
        RuleDecision::Deny => 3,
    }
}

/// Checks that links only make a verdict stricter, and that no input is too long for one.
pub fn judged(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = RuleFile::from_toml("rules.toml", RULES, Trust::User);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
    let now = Moment::from_unix_ms(0, 0);
    let inputs = |text: &str| {
        let text = json_string(text);
        [
            ("Bash", format!(r#"{{"command": {text}}}"#)),
            ("Write", format!(r#"{{"file_path": {text}, "content": ""}}"#)),
            ("run_shell_command", format!(r#"{{"command": "cat", "args": [{text}]}}"#)),
            ("mcp__a__b", format!(r#"{{"text": {text}}}"#)),
            ("apply_patch", format!(r#"{{"input": {text}}}"#)),
        ]
    };
    for (tool, input) in inputs(text) {
        let act = Act::from_call(tool, &input, CWD, "claude-code", HOME);
        let by_names = judge_act(&policy, &act, &NoLinks, &now);
        let by_both = judge_act(&policy, &act, &Tangle, &now);
        let is_stricter = strictness(&by_both) >= strictness(&by_names);
        assert!(is_stricter || text.len() > SHORT, "{tool}: {by_names:?}, {by_both:?}");
    }
    if !text.is_empty() {
        for (tool, input) in inputs(&text.repeat(1 + LONG / text.len())) {
            let act = Act::from_call(tool, &input, CWD, "claude-code", HOME);
            let verdict = judge_act(&policy, &act, &Tangle, &now);
            assert!(!verdict.because.is_empty(), "{tool}");
        }
    }
}
