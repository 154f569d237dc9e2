//! `callgate completions`: prints what a shell needs to complete the command line.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap_complete::Shell;

use callgate_settings::keys::iter_keys;

use crate::config::SettingKey;
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
    pub(crate) fn run(self, commands: clap::Command) -> Result<ExitCode, Failure> {
        let mut commands = with_config_keys(commands);
        // Generated into memory, because clap panics if nobody reads its output.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut commands, "callgate", &mut script);
        if self.shell == Shell::Fish {
            script.extend(fish_config_keys().into_bytes());
        }
        io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The commands that take keys of the settings, and their arguments for them.
const TAKE_KEYS: [(&str, &str); 3] = [("get", "key"), ("set", "words"), ("unset", "keys")];

/// Returns what completes the keys of the settings in fish, for which clap completes options only.
fn fish_config_keys() -> String {
    let commands = TAKE_KEYS.map(|(command, _)| command).join(" ");
    let line = |key: &SettingKey| {
        let help = key.help().replace('\\', r"\\").replace('\'', r"\'");
        format!(
            "complete -c callgate -n \"__fish_callgate_using_subcommand config; and \
             __fish_seen_subcommand_from {commands}\" -f -a \"{}\" -d '{help}'\n",
            key.name
        )
    };
    iter_keys().map(line).collect()
}

/// Adds the keys of the settings to the commands that take them. The commands themselves accept
/// every word, because their own error names the nearest key.
fn with_config_keys(commands: clap::Command) -> clap::Command {
    let keys = || {
        let keys = iter_keys().map(|key| PossibleValue::new(key.name).help(key.help()));
        PossibleValuesParser::new(keys.collect::<Vec<_>>())
    };
    let with_keys = |config: clap::Command, command: &str, argument: &str| {
        config.mut_subcommand(command, |command| {
            command.mut_arg(argument, |argument| argument.value_parser(keys()))
        })
    };
    commands.mut_subcommand("config", |config| {
        let arguments = [("get", "key"), ("set", "words"), ("unset", "keys")];
        arguments
            .into_iter()
            .fold(config, |config, (command, argument)| with_keys(config, command, argument))
    })
}
