//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
The desktop shell of callgate: a window that is one keystroke away

Usage: callgate-shell [OPTIONS] [FOLDER]

Arguments:
  [FOLDER]   The folder in which the runtime works; without it, the last one or the home folder

Options:
      --hidden   Start without showing the window: it is in the tray and behind the shortcut
      --toggle   Show the window of the running shell, or hide it; for shortcuts of a desktop
      --debug    Log the kind and the id of every message of the runtime, without its contents
  -h, --help     Print help
  -V, --version  Print version

If the shell runs already, its window is shown, with the runtime in FOLDER. Environment:
  CALLGATE_PROGRAM   The program `callgate`, if it is neither beside this one nor on the PATH
";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellArguments {
    pub(crate) is_hidden: bool,
    /// Show or hide the window of the running shell.
    pub(crate) is_toggle: bool,
    pub(crate) is_debug: bool,
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ShellCommandLine {
    Start(ShellArguments),
    Help,
    Version,
    /// An invalid command line, and what is wrong with it.
    Wrong(String),
}

/// Reads the arguments, without the name of the program.
pub(crate) fn parse_command_line(
    arguments: impl IntoIterator<Item = OsString>,
) -> ShellCommandLine {
    let mut read = ShellArguments::default();
    for argument in arguments {
        match argument.to_str() {
            Some("--hidden") => read.is_hidden = true,
            Some("--toggle") => read.is_toggle = true,
            Some("--debug") => read.is_debug = true,
            Some("-h" | "--help") => return ShellCommandLine::Help,
            Some("-V" | "--version") => return ShellCommandLine::Version,
            Some(option) if option.starts_with('-') => {
                return ShellCommandLine::Wrong(format!("there is no option {option}"));
            }
            _ if read.folder.is_some() => {
                return ShellCommandLine::Wrong("there can be one folder only".to_owned());
            }
            _ => read.folder = Some(PathBuf::from(argument)),
        }
    }
    // The runtime may be started elsewhere than here.
    read.folder = read.folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder));
    ShellCommandLine::Start(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> ShellCommandLine {
        parse_command_line(arguments.iter().map(OsString::from))
    }

    #[test]
    fn options_and_a_folder_are_read() {
        assert_eq!(of(&[]), ShellCommandLine::Start(ShellArguments::default()));
        let all = ShellArguments {
            is_hidden: true,
            is_toggle: true,
            is_debug: true,
            folder: Some(PathBuf::from("/srv")),
        };
        assert_eq!(of(&["--hidden", "--debug", "/srv", "--toggle"]), ShellCommandLine::Start(all));
        assert_eq!(
            (of(&["-h"]), of(&["x", "--version"])),
            (ShellCommandLine::Help, ShellCommandLine::Version)
        );
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        assert_eq!(
            of(&["--hiden"]),
            ShellCommandLine::Wrong("there is no option --hiden".to_owned())
        );
        assert!(matches!(of(&["/a", "/b"]), ShellCommandLine::Wrong(_)));
    }
}
