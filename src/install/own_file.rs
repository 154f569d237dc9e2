//! Files that are ours as a whole: a program that starts the hook, a plugin, or a fixed text.
//!
//! Pure: text in, text out. A file that somebody else has written or changed is left as it is.

use callgate_hooks::hook_command::{
    CommandOwner, build_command_line, command_owner, split_command,
};
use callgate_wire::hook::agents::PLUGIN_COMMAND;

use super::RemovedHooks;
use super::edit::{InstalledSettings, WantedHook};
use crate::agents::hooks::EditRefusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnText {
    /// A program that starts the hook.
    Program,
    /// A plugin with this text, in which the command has to be filled in.
    Plugin(&'static str),
    Fixed(&'static str),
}

/// The first lines of a program.
const SHELL: &str =
    "#!/bin/sh\n# Written by callgate. `callgate uninstall` removes this file.\nexec ";

impl OwnText {
    pub(crate) fn with_command(self, command: &str) -> String {
        match self {
            Self::Program => format!("{SHELL}{command}\n"),
            Self::Plugin(text) => {
                let (program, arguments) = split_command(command);
                let words: Vec<String> = std::iter::once(program).chain(arguments).collect();
                // JSON is valid JavaScript, so no word can end the list early.
                text.replacen(PLUGIN_COMMAND, &serde_json::Value::from(words).to_string(), 1)
            }
            Self::Fixed(text) => text.to_owned(),
        }
    }

    /// Returns the command in a text that we have written, exactly.
    pub(crate) fn parse_command(self, text: &str) -> Option<String> {
        let command = match self {
            Self::Program => text.strip_prefix(SHELL)?.strip_suffix('\n')?.to_owned(),
            Self::Plugin(plugin) => {
                let (before, after) = plugin.split_once(PLUGIN_COMMAND)?;
                // An older callgate may have written other lines around the command.
                let list = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                let list = list.or_else(|| {
                    let line = text.lines().find_map(|line| line.strip_prefix("const COMMAND = "));
                    line.filter(|_| text.starts_with("// Written by callgate"))?.strip_suffix(';')
                })?;
                let words: Vec<String> = serde_json::from_str(list).ok()?;
                let (program, arguments) = words.split_first()?;
                build_command_line(program, arguments)
            }
            Self::Fixed(_) => return None,
        };
        (command_owner(&command) == CommandOwner::Ours).then_some(command)
    }

    /// Returns the text to write for the wanted hook.
    pub(crate) fn install_into_text(
        self,
        text: &str,
        wanted: &[WantedHook],
    ) -> Result<InstalledSettings, EditRefusal> {
        let command = wanted.first().map_or("", |hook| hook.command.as_str());
        let new = self.with_command(command);
        let mut done = InstalledSettings { text: new, ..InstalledSettings::default() };
        let events = || wanted.iter().map(|hook| hook.event.clone()).collect();
        if text.is_empty() {
            done.added = events();
        } else if text != done.text {
            if self.parse_command(text).is_none() {
                let why = "it is not callgate's: move it away, or start callgate's hook in it";
                return Err(EditRefusal(why.to_owned()));
            }
            done.updated = events();
        }
        Ok(done)
    }

    /// Returns what becomes of the file.
    pub(crate) fn uninstall_from_text(self, text: &str) -> Result<RemovedHooks, EditRefusal> {
        if let Self::Fixed(fixed) = self {
            let is_ours = fixed == text;
            return Ok(if is_ours { RemovedHooks::File } else { RemovedHooks::Nothing });
        }
        match self.parse_command(text) {
            Some(command) if self.with_command(&command) == text => Ok(RemovedHooks::File),
            Some(_) => Err(EditRefusal("somebody has changed it: remove it yourself".to_owned())),
            None => Ok(RemovedHooks::Nothing),
        }
    }
}
