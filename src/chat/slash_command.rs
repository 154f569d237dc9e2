//! The commands that begin with a slash.

use callgate_wire::session::capability;

/// A command of the user's for the chat itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlashCommand {
    Help,
    New,
    List,
    Open,
    Rename,
    Delete,
    Clear,
    Regenerate,
    Edit,
    Model,
    Engine,
    Mode,
    Fork,
    Rewind,
    Diff,
    Undo,
    Compact,
    Without,
    Cost,
    Restart,
    Quit,
}

/// What the help says about a command, and what it needs.
pub(super) struct SlashEntry {
    pub(super) command: SlashCommand,
    pub(super) name: &'static str,
    arguments: &'static str,
    pub(super) about: &'static str,
    /// The capability that the runtime needs for it.
    pub(super) needs: Option<&'static str>,
}

/// All commands, in the order of the help.
static COMMANDS: [SlashEntry; 21] = [
    command_entry(SlashCommand::Help, "help", "", "shows this list", None),
    command_entry(SlashCommand::New, "new", "[TITLE]", "begins a conversation", KEEPS),
    command_entry(
        SlashCommand::List,
        "list",
        "[WORDS]",
        "lists conversations, or finds some",
        KEEPS,
    ),
    command_entry(SlashCommand::Open, "open", "NUMBER", "opens one of the list", KEEPS),
    command_entry(SlashCommand::Rename, "rename", "TITLE", "renames this conversation", KEEPS),
    command_entry(
        SlashCommand::Delete,
        "delete",
        "[NUMBER]",
        "deletes this one, or one of the list",
        KEEPS,
    ),
    command_entry(SlashCommand::Clear, "clear", "", "empties this conversation", None),
    command_entry(
        SlashCommand::Regenerate,
        "regenerate",
        "",
        "asks for another answer",
        Some(capability::EDIT),
    ),
    command_entry(
        SlashCommand::Edit,
        "edit",
        "",
        "changes your last message",
        Some(capability::EDIT),
    ),
    command_entry(SlashCommand::Model, "model", "[NAME]", "lists models, or chooses one", MODELS),
    command_entry(
        SlashCommand::Engine,
        "engine",
        "[NAME]",
        "lists engines, or chooses one",
        MODELS,
    ),
    command_entry(
        SlashCommand::Mode,
        "mode",
        "[NAME]",
        "ask, plan or auto: who decides about tools",
        Some(capability::MODES),
    ),
    command_entry(
        SlashCommand::Fork,
        "fork",
        "[COUNT]",
        "copies it, without the last exchanges",
        Some(capability::FORK),
    ),
    command_entry(
        SlashCommand::Rewind,
        "rewind",
        "[COUNT]",
        "takes the last exchanges away",
        Some(capability::REWIND),
    ),
    command_entry(
        SlashCommand::Diff,
        "diff",
        "",
        "shows what the last answer changed in files",
        Some(capability::TURN_DIFF),
    ),
    command_entry(
        SlashCommand::Undo,
        "undo",
        "[rest]",
        "puts those files back, or those that can be",
        Some(capability::TURN_DIFF),
    ),
    command_entry(
        SlashCommand::Compact,
        "compact",
        "",
        "replaces it by a summary, for the model",
        Some(capability::COMPACT),
    ),
    command_entry(
        SlashCommand::Without,
        "without",
        "",
        "goes on without a message that the provider refuses",
        Some(capability::LEAVE_OUT),
    ),
    command_entry(SlashCommand::Cost, "cost", "", "says what was used so far", None),
    command_entry(SlashCommand::Restart, "restart", "", "starts the runtime again", None),
    command_entry(SlashCommand::Quit, "quit", "", "ends the chat (also Ctrl-D)", None),
];

/// What commands about conversations need.
const KEEPS: Option<&str> = Some(capability::CONVERSATIONS);

/// What commands about models need.
const MODELS: Option<&str> = Some(capability::SET_ENGINE);

/// The keys, for the help.
const KEYS: &str = "\
Enter sends, Alt-Enter or Ctrl-J or a backslash before Enter begins a new line.
Up and Down walk through what you typed before, Ctrl-R searches it.
A slash opens the menu of commands. Tab completes @files and commands.
@FILE attaches a file. Ctrl-O shows results of tools in full.
Esc or Ctrl-C interrupts the answer, Ctrl-C twice quits, Ctrl-Z stops the chat.";

const fn command_entry(
    command: SlashCommand,
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    needs: Option<&'static str>,
) -> SlashEntry {
    SlashEntry { command, name, arguments, about, needs }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedLine<'a> {
    /// A message for the model.
    Message(&'a str),
    /// A command, and the rest of the line.
    Command(SlashCommand, &'a str),
    /// A command that does not exist.
    Unknown(&'a str),
}

impl<'a> TypedLine<'a> {
    /// Reads a line. Two slashes begin a message that starts with one.
    pub(super) fn parse_line(line: &'a str) -> Self {
        let Some(command) = line.strip_prefix('/') else { return Self::Message(line) };
        if command.starts_with('/') {
            return Self::Message(command);
        }
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        // A path is a message.
        if name.contains('/') {
            return Self::Message(line);
        }
        let found = COMMANDS.iter().find(|entry| entry.name == name);
        found.map_or(Self::Unknown(name), |entry| Self::Command(entry.command, rest.trim()))
    }
}

impl SlashCommand {
    pub(super) fn find_entry(self) -> Option<&'static SlashEntry> {
        COMMANDS.iter().find(|entry| entry.command == self)
    }
}

impl SlashEntry {
    /// Returns the command with its arguments.
    pub(super) fn usage(&self) -> String {
        format!("/{} {}", self.name, self.arguments).trim_end().to_owned()
    }
}

/// Returns the help: a line for each command, and the keys.
pub(super) fn commands_help() -> String {
    let width = COMMANDS.iter().map(|entry| entry.usage().len()).max().unwrap_or(0);
    let line = |entry: &SlashEntry| format!("{:<width$}  {}\n", entry.usage(), entry.about);
    COMMANDS.iter().map(line).collect::<String>() + KEYS
}

/// Returns the commands whose names begin like this.
pub(super) fn beginning_with(start: &str) -> Vec<&'static SlashEntry> {
    COMMANDS.iter().filter(|entry| entry.name.starts_with(start)).collect()
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
        for entry in &COMMANDS {
            assert!(help.contains(&format!("/{} ", entry.name)), "{help}");
            assert_eq!(entry.command.find_entry().map(|entry| entry.name), Some(entry.name));
        }
        let names: Vec<&str> = beginning_with("re").iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["rename", "regenerate", "rewind", "restart"]);
        assert_eq!(beginning_with("").len(), COMMANDS.len());
    }
}
