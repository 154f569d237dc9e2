//! `callgate completions`: prints what a shell needs to complete the command line.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;
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
    #[arg(value_enum)]
    shell: CompletedShell,
}

/// A shell that the completions are tested for.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CompletedShell {
    Bash,
    Zsh,
    Fish,
}

impl CompletionsArgs {
    /// Prints the completions.
    pub(crate) fn run(self, mut commands: clap::Command) -> Result<ExitCode, Failure> {
        let shell = match self.shell {
            CompletedShell::Bash => Shell::Bash,
            CompletedShell::Zsh => Shell::Zsh,
            CompletedShell::Fish => Shell::Fish,
        };
        // Generated into memory, because clap panics if nobody reads its output.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut commands, "callgate", &mut script);
        io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
