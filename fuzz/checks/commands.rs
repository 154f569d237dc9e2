//! Command lines, and how rules interpret them.

use callgate_rules::shell::{ShellScript, WordPiece, split_into_segments};
use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, Trust, judge_act,
};

const HOME: &str = "/home/ada";
const CWD: &str = "/home/ada/engine";
const RULES: &str = r#"
[[rule]]
name = "all"
decide = "allow"
command = "*"

[[rule]]
name = "some"
decide = "deny"
command = ["rm", "git push"]
path = "~/.ssh"
"#;

/// Checks that a line that is understood has only known words and stays understood between quotes
/// and beside another, that nothing else is allowed, and that no piece of it is lost.
pub fn shell_command(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let pieces = split_into_segments(text);
    assert_eq!(pieces.iter().map(|piece| piece.text.as_str()).collect::<String>(), text);
    let script = ShellScript::from_line(text, CWD, HOME);
    for command in &script.commands {
        assert!(!command.folders.is_empty(), "a command runs somewhere");
        let words = || command.assigns.iter().chain(&command.words);
        let is_unknown = |piece: &WordPiece| matches!(piece, WordPiece::Unknown);
        let has_unknown = words().any(|word| word.pieces().iter().any(is_unknown));
        assert!(!(script.is_clear() && has_unknown), "an unknown word in a clear line");
        assert!(!script.is_clear() || command.program().is_some_and(|name| !name.is_empty()));
    }
    let input = format!(r#"{{"command": {}}}"#, callgate_wire::raw::json_string(text));
    let act = Act::from_call("Bash", &input, CWD, "claude", HOME);
    assert_eq!(act.commands().is_some(), script.is_clear(), "the act and the line agree");
    let file = RuleFile::from_toml("rules.toml", RULES, Trust::User);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
    let verdict = judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0));
    assert!(script.is_clear() || verdict.decision != RuleDecision::Allow, "{}", verdict.because);
    if script.is_clear() && !script.commands.is_empty() {
        let lines = format!("true\n{text}");
        assert_eq!(
            ShellScript::from_line(&lines, CWD, HOME).commands.len(),
            script.commands.len() + 1
        );
    }
}
