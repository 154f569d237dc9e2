//! What `callgate install` says about the hooks of an agent.

use std::path::Path;

use callgate_hooks::hook_command::shell_quoted;
use callgate_wire::hook::agents::LimitUnit;

use crate::agents::CodingAgent;
use crate::agents::failure_words::hook_failure_words;
use crate::config::{Config, WhenAbsent};
use crate::invocation;

/// Returns the time limit of a hook in words, if there is one.
pub(super) fn limit_words(agent: CodingAgent, timeout: u64) -> String {
    match agent.settings.unit {
        LimitUnit::Seconds => format!(" (up to {timeout} s)"),
        LimitUnit::Milliseconds => format!(" (up to {} s)", timeout / 1000),
        LimitUnit::None => String::new(),
    }
}

/// Says what happens to a call that no rule covers while nobody can be asked.
pub(super) fn absent_words(agent: CodingAgent, config: &Config) -> String {
    let (holds, so) = match config.gate.when_absent_of(Some(agent.word)) {
        WhenAbsent::Deny => ("deny", "is denied"),
        WhenAbsent::Agent => ("agent", "is left to the agent"),
    };
    let fails = hook_failure_words(agent.failures);
    format!(
        "when_absent = {holds}: without `callgate up`, what no rule covers {so}; with it, no answer \
         is a no; {fails}"
    )
}

/// Returns a note if the hook is in a build folder, with a better place.
pub(super) fn build_folder_note(program: &Path, config: &Config) -> Option<String> {
    let folder = invocation::build_folder(program)?;
    let source = folder.parent().filter(|folder| folder.join("Cargo.toml").exists());
    let better = match source {
        Some(source) => {
            let source = shell_quoted(&source.to_string_lossy());
            format!("run `cargo install --path {source} --profile dist`")
        }
        None => "copy callgate and callgate-hook into a folder on your PATH".to_owned(),
    };
    Some(format!(
        "the hook is in a build folder and vanishes with it, and then nobody is asked: better \
         {better}, then `callgate{} install` again ({})",
        invocation::config_option(config),
        folder.display()
    ))
}
