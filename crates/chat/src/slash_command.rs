//! The commands that begin with a slash.

use callgate_wire::session::capability;

callgate_wire::words! {
    /// A command of the user's for the chat itself, in the order of the help.
    pub(crate) enum SlashCommand {
        Help "help",
        New "new",
        List "list",
        Open "open",
        Rename "rename",
        Delete "delete",
        Clear "clear",
        Regenerate "regenerate",
        Edit "edit",
        Model "model",
        Engine "engine",
        Mode "mode",
        Fork "fork",
        Rewind "rewind",
        Diff "diff",
        Undo "undo",
        Compact "compact",
        Without "without",
        Cost "cost",
        Restart "restart",
        Quit "quit",
    }
}

/// What the help says about a command, and what it needs.
pub(crate) struct SlashEntry {
    arguments: &'static str,
    pub(crate) about: &'static str,
    /// The capability that the runtime needs for it.
    pub(crate) needs: Option<&'static str>,
}

/// What commands about conversations need.
const KEEPS: Option<&str> = Some(capability::CONVERSATIONS);

/// What commands about models need.
const MODELS: Option<&str> = Some(capability::SET_ENGINE);

/// The keys, for the help.
const KEYS: &str = "\
Enter sends, Alt-Enter or Ctrl-J or a backslash before Enter begins a new line.
Up and Down walk through what you typed before, Ctrl-R searches it.
A slash opens the menu of commands. Tab completes @files and commands.
@FILE attaches a file. Ctrl-O shows the results of tools in full.
Esc or Ctrl-C interrupts the answer, Ctrl-C twice quits, Ctrl-Z stops the chat.";

impl SlashCommand {
    pub(crate) fn entry(self) -> SlashEntry {
        let (arguments, about, needs) = match self {
            Self::Help => ("", "shows this list", None),
            Self::New => ("[TITLE]", "begins a new conversation", KEEPS),
            Self::List => ("[WORDS]", "lists conversations, or those with WORDS", KEEPS),
            Self::Open => ("NUMBER", "opens one from the list", KEEPS),
            Self::Rename => ("TITLE", "renames this conversation", KEEPS),
            Self::Delete => ("[NUMBER]", "deletes this one, or one from the list", KEEPS),
            Self::Clear => ("", "empties this conversation", None),
            Self::Regenerate => ("", "asks for another answer", Some(capability::EDIT)),
            Self::Edit => ("", "changes your last message", Some(capability::EDIT)),
            Self::Model => ("[NAME]", "lists models, or chooses one", MODELS),
            Self::Engine => ("[NAME]", "lists engines, or chooses one", MODELS),
            Self::Mode => {
                ("[NAME]", "ask, plan or auto: who decides about tools", Some(capability::MODES))
            }
            Self::Fork => {
                ("[COUNT]", "copies it without the last exchanges", Some(capability::FORK))
            }
            Self::Rewind => ("[COUNT]", "removes the last exchanges", Some(capability::REWIND)),
            Self::Diff => {
                ("", "shows what the last answer changed in files", Some(capability::TURN_DIFF))
            }
            Self::Undo => (
                "[rest]",
                "puts those files back, or those that it can",
                Some(capability::TURN_DIFF),
            ),
            Self::Compact => {
                ("", "replaces it with a summary for the model", Some(capability::COMPACT))
            }
            Self::Without => (
                "",
                "goes on without a message that the provider refuses",
                Some(capability::LEAVE_OUT),
            ),
            Self::Cost => ("", "shows what was used so far", None),
            Self::Restart => ("", "restarts the runtime", None),
            Self::Quit => ("", "ends the chat (also Ctrl-D)", None),
        };
        SlashEntry { arguments, about, needs }
    }

    /// Returns the command with its arguments.
    pub(crate) fn usage(self) -> String {
        format!("/{self} {}", self.entry().arguments).trim_end().to_owned()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TypedLine<'a> {
    /// A message for the model.
    Message(&'a str),
    /// A command, and the rest of the line.
    Command(SlashCommand, &'a str),
    /// A command that does not exist.
    Unknown(&'a str),
}

impl<'a> TypedLine<'a> {
    /// Reads a line. Two slashes begin a message that starts with one.
    pub(crate) fn parse_line(line: &'a str) -> Self {
        let Some(command) = line.strip_prefix('/') else { return Self::Message(line) };
        if command.starts_with('/') {
            return Self::Message(command);
        }
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        // A path is a message.
        if name.contains('/') {
            return Self::Message(line);
        }
        let found = SlashCommand::parse(name);
        found.map_or(Self::Unknown(name), |command| Self::Command(command, rest.trim()))
    }
}

/// Returns the help: a line for each command, and the keys.
pub(crate) fn commands_help() -> String {
    let usages = SlashCommand::ALL.map(SlashCommand::usage);
    let width = usages.iter().map(String::len).max().unwrap_or(0);
    let line = |(usage, command): (&String, SlashCommand)| {
        format!("{usage:<width$}  {}\n", command.entry().about)
    };
    usages.iter().zip(SlashCommand::ALL).map(line).collect::<String>() + KEYS
}

/// Returns the commands whose names begin like this.
pub(crate) fn beginning_with(start: &str) -> Vec<SlashCommand> {
    SlashCommand::ALL.into_iter().filter(|command| command.name().starts_with(start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_unless_it_begins_with_one_slash_and_a_word() {
        let check =
            |line: &str, expected: TypedLine| assert_eq!(TypedLine::parse_line(line), expected);
        check("hello /new", TypedLine::Message("hello /new"));
        check("//etc is a path", TypedLine::Message("/etc is a path"));
        check("/etc/hosts: what is it?", TypedLine::Message("/etc/hosts: what is it?"));
        check("/new", TypedLine::Command(SlashCommand::New, ""));
        check("/rename  The ledger ", TypedLine::Command(SlashCommand::Rename, "The ledger"));
        check("/dance now", TypedLine::Unknown("dance"));
    }

    #[test]
    fn the_help_names_every_command() {
        let help = commands_help();
        for name in SlashCommand::NAMES {
            assert!(help.contains(&format!("/{name} ")), "{help}");
        }
        assert_eq!(
            beginning_with("re").iter().map(|one| one.name()).collect::<Vec<_>>(),
            ["rename", "regenerate", "rewind", "restart"]
        );
        assert_eq!(beginning_with(""), SlashCommand::ALL);
    }
}
