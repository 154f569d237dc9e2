//! Wrappers that are seen through: commands that run another one unchanged.

use super::{ShellCommand, ShellScript, ShellWord};
use crate::place::{BaseFolders, last_name};

/// The folders in which a shell with a path is the shell of its name.
const SHELL_FOLDERS: [&str; 3] = ["", "/bin/", "/usr/bin/"];

impl ShellCommand {
    /// Returns the commands that this one runs, if it is a wrapper and every word of it is
    /// understood.
    pub(crate) fn wrapped_script(&self, home: &str, depth: usize) -> Option<ShellScript> {
        // A variable may change what the wrapper or the program does.
        if !self.assigns.is_empty() || depth >= super::DEEPEST {
            return None;
        }
        let texts: Vec<&str> = self.words.iter().map_while(ShellWord::text).collect();
        let (program, rest) = texts.split_first()?;
        if is_shell(program) {
            return self.inner_shell_script(rest, home, depth);
        }
        let taken = 1 + match *program {
            "time" => usize::from(rest.first() == Some(&"-p")),
            "command" => 0,
            "nice" => nice_word_count(rest)?,
            "timeout" => timeout_word_count(rest)?,
            _ => return None,
        };
        let inner = self.words.get(taken)?;
        // An unknown option, or a name that only the shell knows.
        if inner.text()?.starts_with('-') || inner.text()?.is_empty() {
            return None;
        }
        let words = self.words[taken..].to_vec();
        let command =
            ShellCommand { words, folders: self.folders.clone(), ..ShellCommand::default() };
        let mut script = ShellScript { commands: vec![command], ..ShellScript::default() };
        let folder = self.folders.first()?;
        super::after::find_folders(&mut script, BaseFolders { cwd: folder, home });
        // The folders were found from the first one, and it may run in all of them.
        script.commands[0].folders.clone_from(&self.folders);
        Some(script)
    }

    /// Returns the commands of `sh -c '…'`, in each of the folders.
    fn inner_shell_script(&self, rest: &[&str], home: &str, depth: usize) -> Option<ShellScript> {
        let ["-c" | "-lc", text] = rest else { return None };
        // `rest` ends before the first word that is not known.
        if self.words.len() != 3 {
            return None;
        }
        let mut scripts = self
            .folders
            .iter()
            .map(|cwd| ShellScript::from_nested_line(text, BaseFolders { cwd, home }, depth + 1));
        let mut script = scripts.next()?;
        for other in scripts {
            // The same text has the same commands, whatever the folder is.
            for (command, same) in script.commands.iter_mut().zip(other.commands) {
                command.folders.extend(same.folders);
            }
        }
        Some(script)
    }
}

fn is_shell(program: &str) -> bool {
    let name = last_name(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash")
        && SHELL_FOLDERS.iter().any(|folder| program == format!("{folder}{name}"))
}

/// Returns how many words after `nice` are its own.
fn nice_word_count(rest: &[&str]) -> Option<usize> {
    let is_number = |text: &str| text.parse::<i8>().is_ok();
    match rest {
        ["-n", number, ..] => is_number(number).then_some(2),
        // `nice -5 make` is the older way to write `nice -n 5 make`.
        [option, ..] if option.starts_with('-') => is_number(&option[1..]).then_some(1),
        _ => Some(0),
    }
}

/// Returns how many words after `timeout` are its own.
fn timeout_word_count(rest: &[&str]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *rest.get(at)? {
            "--foreground" | "--preserve-status" | "-v" | "--verbose" => at += 1,
            "-k" if is_duration(rest.get(at + 1)?) => at += 2,
            "-s" if is_signal(rest.get(at + 1)?) => at += 2,
            option => {
                let kill = option.strip_prefix("--kill-after=").is_some_and(is_duration);
                let signal = option.strip_prefix("--signal=").is_some_and(is_signal);
                if !kill && !signal {
                    return is_duration(option).then_some(at + 1);
                }
                at += 1;
            }
        }
    }
}

fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn is_signal(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric())
}
