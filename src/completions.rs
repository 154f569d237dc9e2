//! `callgate completions`: prints what a shell needs to complete the command line.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::Shell;

use crate::failure::Failure;

/// Print completions for your shell
///
/// bash: source <(callgate completions bash), in ~/.bashrc.
/// zsh: callgate completions zsh > _callgate, in a folder of $fpath.
/// fish: callgate completions fish > ~/.config/fish/completions/callgate.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = tested_shells())]
    shell: Shell,
}

/// Returns a parser for the shells for which the completions are tested.
fn tested_shells() -> impl TypedValueParser<Value = Shell> {
    let shells = PossibleValuesParser::new(["bash", "zsh", "fish"]);
    shells.try_map(|shell| shell.parse::<Shell>())
}

impl CompletionsArgs {
    /// Prints the completions.
    pub(crate) fn run(self, mut commands: clap::Command) -> Result<ExitCode, Failure> {
        // Generated into memory, because clap panics if nobody reads its output.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut commands, "callgate", &mut script);
        io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
