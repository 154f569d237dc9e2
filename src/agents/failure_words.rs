//! What an agent does with a call whose hook fails, in words.

use callgate_mask::text::list_choices;
use callgate_wire::hook::agents::{CallFate, HookFailures};

/// Says what becomes of a call whose hook fails, for each kind of failure.
pub(crate) fn hook_failure_words(failures: HookFailures) -> String {
    let HookFailures { missing, exit, timeout, garbage, .. } = failures;
    let kinds = [(missing, "missing"), (exit, "killed"), (timeout, "late"), (garbage, "garbled")];
    let words = |fate: CallFate| {
        let kinds = kinds.iter().filter(|(its, _)| *its == fate).map(|(_, kind)| *kind);
        let kinds: Vec<&str> = kinds.collect();
        let said = || format!("a hook that is {} {}", list_choices(&kinds), fate_words(fate));
        (!kinds.is_empty()).then(said)
    };
    let fates = [CallFate::GoesOn, CallFate::Asked, CallFate::Denied];
    fates.into_iter().filter_map(words).collect::<Vec<_>>().join("; ")
}

/// Says what an agent takes a failed hook for.
pub(crate) fn fate_words(fate: CallFate) -> &'static str {
    match fate {
        CallFate::GoesOn => "counts as a yes in modes that ask nobody",
        CallFate::Asked => "has the agent ask",
        CallFate::Denied => "counts as a no",
    }
}

#[cfg(test)]
mod tests {
    use callgate_wire::hook::agents::AGENTS;
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_agent_has_the_words_of_its_own_table() {
        let lines = AGENTS.map(|it| format!("{}: {}\n", it.word, hook_failure_words(it.failures)));
        expect![[r"
            claude: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            codex: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            gemini: a hook that is killed, late or garbled counts as a yes in modes that ask nobody; a hook that is missing counts as a no
            qwen: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            copilot: a hook that is late counts as a yes in modes that ask nobody; a hook that is missing, killed or garbled counts as a no
            opencode: a hook that is missing, killed, late or garbled counts as a no
            cline: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            kimi: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            droid: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            goose: a hook that is missing, killed, late or garbled counts as a no
            grok: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            pi: a hook that is missing, killed, late or garbled counts as a no
            kilo: a hook that is missing, killed, late or garbled counts as a no
            openhands: a hook that is missing, killed, late or garbled counts as a yes in modes that ask nobody
            amp: a hook that is garbled counts as a yes in modes that ask nobody; a hook that is killed has the agent ask; a hook that is missing or late counts as a no
        "]].assert_eq(&lines.concat());
    }
}
