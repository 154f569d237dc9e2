//! `callgate man`: writes a manual page for each command, from its help.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_mangen::Man;

use crate::failure::Failure;

/// Write the manual pages into a folder
///
/// Writes one page for each command, such as callgate-log.1, and one for callgate-hook. The folder
/// is created if it does not exist. To find them with `man`, choose a folder man1 in one of the
/// folders that `manpath` prints, such as ~/.local/share/man/man1.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl ManArgs {
    /// Writes the pages.
    pub(crate) fn run(self, commands: clap::Command) -> Result<ExitCode, Failure> {
        let folder = &self.folder;
        let failed = |path: &Path, error: &io::Error| {
            Failure::Failed(format!("cannot write {}: {error}", path.display()))
        };
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let pages = man_pages(commands);
        for page in &pages {
            let path = folder.join(page.get_filename());
            page.generate_to(folder).map_err(|error| failed(&path, &error))?;
        }
        let (count, first) = (pages.len(), folder.join("callgate.1"));
        writeln!(
            io::stdout(),
            "{count} pages are written: read one with man -l {}",
            first.display()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

fn man_pages(commands: clap::Command) -> Vec<Man> {
    // The command `help` would get a page, and one for each command below it.
    let mut program = commands.disable_help_subcommand(true);
    program.build();
    let mut commands = vec![program, hook_program()];
    let mut at = 0;
    while let Some(command) = commands.get(at) {
        let subcommands: Vec<_> = command.get_subcommands().cloned().collect();
        commands.extend(subcommands);
        at += 1;
    }
    commands.into_iter().map(man_page).collect()
}

fn man_page(command: clap::Command) -> Man {
    let source = concat!("callgate ", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source).manual("callgate")
}

/// Describes the small program for clap. The program itself parses its command line without clap,
/// to start sooner.
fn hook_program() -> clap::Command {
    let options = callgate_hooks::OPTIONS.map(|(flag, value, about)| {
        let name = flag.trim_start_matches('-');
        clap::Arg::new(name).long(name).value_name(value).help(about)
    });
    clap::Command::new("callgate-hook")
        .version(env!("CARGO_PKG_VERSION"))
        .about(callgate_hooks::ABOUT)
        .long_about(callgate_hooks::LONG_ABOUT)
        .args(options)
}
