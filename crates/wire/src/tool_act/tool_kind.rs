//! Which tool does what: one table with a line for each tool name of each agent.

use ToolKind::{
    Agent, AskUser, Code, Edit, Elicit, Fetch, Find, List, Note, Notebook, Own, Patch, Plan, Read,
    Run, Script, Search, Todo, Undo, WebSearch, Write,
};
use ToolShell::{Bare, Folder, Foreign, Program, Typed, Usual};

/// The name of callgate's own runtime as an agent.
pub const OWN_AGENT: &str = "callgate";
const CLAUDE: &str = "claude-code";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ToolKind {
    Run(ToolShell),
    /// Runs code that can call all other tools of its agent.
    Code,
    Read,
    /// Lists the names in a folder, and reads no file there.
    List,
    /// Finds files in a folder by a pattern for their paths.
    Find,
    /// Searches everything in a folder.
    Search,
    /// Writes a whole file.
    Write,
    /// Replaces texts in a file.
    Edit,
    /// Changes a cell of a notebook.
    Notebook,
    /// Applies a patch in the format of Codex.
    Patch,
    /// Puts back the files that a turn has changed.
    Undo,
    Fetch,
    WebSearch,
    Plan,
    /// Keeps the agent's list of things to do.
    Todo,
    /// Describes the machine, keeps a list or looks after a command for our own runtime, and
    /// touches nothing else.
    Note,
    /// Does something else for our own runtime, such as showing the model a picture. Rules know no
    /// more about it than about [`Self::Other`].
    Own,
    AskUser,
    /// Asks for a script.
    Script,
    /// Asks for a tool server.
    Elicit,
    Agent,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Does something that is not known here.
    #[default]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolShell {
    /// With the usual shell, in the folder in which the agent works.
    Usual,
    /// With the usual shell, in a folder that the input may name.
    Folder,
    /// With another shell, whose language is not read here.
    Foreign,
    /// Without a shell: a program and its arguments.
    Program,
    /// Typed into a program that runs already. It may be a shell, in any folder and any state.
    Typed,
    /// With the usual shell; any member but the command and its description may change how.
    Bare,
}

/// The tools of Claude Code and Codex, whose names other agents use, too.
const COMMON: &[(&str, &str, ToolKind)] = &[
    (CLAUDE, "Bash", Run(Usual)),
    (CLAUDE, "Monitor", Run(Usual)),
    (CLAUDE, "PowerShell", Run(Foreign)),
    (CLAUDE, "REPL", Code),
    (CLAUDE, "Read", Read),
    (CLAUDE, "NotebookRead", Read),
    (CLAUDE, "Glob", Find),
    (CLAUDE, "Grep", Search),
    (CLAUDE, "LS", Search),
    (CLAUDE, "Write", Write),
    (CLAUDE, "Edit", Edit),
    (CLAUDE, "MultiEdit", Edit),
    (CLAUDE, "NotebookEdit", Notebook),
    (CLAUDE, "WebFetch", Fetch),
    (CLAUDE, "WebSearch", WebSearch),
    (CLAUDE, "ExitPlanMode", Plan),
    (CLAUDE, "TodoWrite", Todo),
    (CLAUDE, "AskUserQuestion", AskUser),
    (CLAUDE, "Elicitation", Elicit),
    (CLAUDE, "Task", Agent),
    (CLAUDE, "Agent", Agent),
    ("codex", "shell", Run(Folder)),
    ("codex", "local_shell", Run(Folder)),
    ("codex", "shell_command", Run(Folder)),
    ("codex", "exec_command", Run(Folder)),
    ("codex", "apply_patch", Patch),
    ("script", "Ask", Script),
];

/// The tools of the other agents.
const SPECIAL: &[(&str, &str, ToolKind)] = &[
    ("amp", "Bash", Run(Bare)),
    ("amp", "create_file", Write),
    ("amp", "edit_file", Edit),
    ("amp", "read_web_page", Fetch),
    ("cline", "run_commands", Run(Bare)),
    ("cline", "execute_command", Run(Bare)),
    ("cline", "write_to_file", Write),
    ("cline", "replace_in_file", Edit),
    ("copilot", "bash", Run(Bare)),
    ("copilot", "powershell", Run(Foreign)),
    ("copilot", "write_bash", Run(Typed)),
    ("copilot", "view", Read),
    ("copilot", "create", Write),
    ("copilot", "edit", Edit),
    ("copilot", "str_replace_editor", Edit),
    ("copilot", "glob", Find),
    ("copilot", "grep", Search),
    ("copilot", "web_fetch", Fetch),
    ("droid", "Execute", Run(Bare)),
    ("droid", "Create", Write),
    ("droid", "ApplyPatch", Patch),
    ("droid", "FetchUrl", Fetch),
    ("gemini", "run_shell_command", Run(Bare)),
    ("gemini", "read_file", Read),
    ("gemini", "write_file", Write),
    ("gemini", "replace", Edit),
    ("gemini", "list_directory", Search),
    ("gemini", "glob", Find),
    ("gemini", "search_file_content", Search),
    ("gemini", "grep_search", Search),
    ("gemini", "web_fetch", Fetch),
    ("gemini", "google_web_search", WebSearch),
    ("goose", "shell", Run(Bare)),
    ("goose", "developer__shell", Run(Bare)),
    ("goose", "write", Write),
    ("goose", "edit", Edit),
    ("goose", "developer__text_editor", Edit),
    ("goose", "tree", Search),
    ("grok", "run_terminal_command", Run(Bare)),
    ("grok", "read_file", Read),
    ("grok", "write", Write),
    ("grok", "search_replace", Edit),
    ("grok", "list_dir", Search),
    ("grok", "grep", Search),
    ("kilo", "bash", Run(Bare)),
    ("kilo", "read", Read),
    ("kilo", "write", Write),
    ("kilo", "edit", Edit),
    ("kilo", "multiedit", Edit),
    ("kilo", "apply_patch", Patch),
    ("kilo", "glob", Find),
    ("kilo", "grep", Search),
    ("kilo", "list", Search),
    ("kilo", "webfetch", Fetch),
    ("kimi", "Shell", Run(Bare)),
    ("kimi", "ReadFile", Read),
    ("kimi", "WriteFile", Write),
    ("kimi", "StrReplaceFile", Edit),
    ("kimi", "FetchURL", Fetch),
    ("openhands", "terminal", Run(Bare)),
    ("openhands", "execute_bash", Run(Bare)),
    ("openhands", "file_editor", Edit),
    ("openhands", "str_replace_editor", Edit),
    ("opencode", "bash", Run(Bare)),
    ("opencode", "read", Read),
    ("opencode", "write", Write),
    ("opencode", "edit", Edit),
    ("opencode", "multiedit", Edit),
    ("opencode", "apply_patch", Patch),
    ("opencode", "patch", Patch),
    ("opencode", "glob", Find),
    ("opencode", "grep", Search),
    ("opencode", "list", Search),
    ("opencode", "webfetch", Fetch),
    ("pi", "bash", Run(Bare)),
    ("pi", "read", Read),
    ("pi", "write", Write),
    ("pi", "edit", Edit),
    ("pi", "grep", Search),
    ("pi", "find", Find),
    ("pi", "ls", Search),
    ("qwen", "run_shell_command", Run(Bare)),
    ("qwen", "read_file", Read),
    ("qwen", "write_file", Write),
    ("qwen", "edit", Edit),
    ("qwen", "list_directory", Search),
    ("qwen", "glob", Find),
    ("qwen", "grep_search", Search),
    ("qwen", "web_fetch", Fetch),
];

/// The tools of our own runtime. Its commands run without a shell: where another agent has the same
/// name, that would be the wrong reading.
const OWN: &[(&str, &str, ToolKind)] = &[
    (OWN_AGENT, "run_shell_command", Run(Program)),
    (OWN_AGENT, "start_command", Run(Program)),
    (OWN_AGENT, "write_to_command", Run(Typed)),
    (OWN_AGENT, "read_command", Note),
    (OWN_AGENT, "stop_command", Note),
    (OWN_AGENT, "read_file", Read),
    (OWN_AGENT, "list_files", List),
    (OWN_AGENT, "search_files", Find),
    (OWN_AGENT, "search_text", Search),
    (OWN_AGENT, "write_file", Write),
    (OWN_AGENT, "edit_file", Edit),
    (OWN_AGENT, "undo_turn", Undo),
    (OWN_AGENT, "get_system_info", Note),
    (OWN_AGENT, "todo_write", Note),
    (OWN_AGENT, "ask_user", AskUser),
    (OWN_AGENT, "analyze_image", Own),
    (OWN_AGENT, "open_in_default_app", Own),
    (OWN_AGENT, "read_clipboard", Own),
    (OWN_AGENT, "write_clipboard", Own),
    (OWN_AGENT, "capture_screenshot", Own),
];

/// What tools of our own runtime do and have done, where their kind does not say it.
const OWN_WORDS: &[(&str, &str, &str)] = &[
    ("start_command", "Start a command", "Started a command"),
    ("read_command", "Read a command's output", "Read a command's output"),
    ("stop_command", "Stop a command", "Stopped a command"),
    ("get_system_info", "Describe the machine", "Described the machine"),
    ("todo_write", "Write a plan", "Wrote a plan"),
    ("analyze_image", "Look at a picture", "Looked at a picture"),
    ("open_in_default_app", "Open on the desktop", "Opened on the desktop"),
    ("read_clipboard", "Read the clipboard", "Read the clipboard"),
    ("write_clipboard", "Write to the clipboard", "Wrote to the clipboard"),
    ("capture_screenshot", "Take a screenshot", "Took a screenshot"),
];

impl ToolKind {
    /// Returns what a tool of an agent does. A name that this agent does not have means what it
    /// means for the first agent that has it, because some agents run the hooks of others. To our
    /// own runtime a front end may bring tools of any name, so of others it shares the common ones
    /// only; and nobody else has its tools. Where the agent is not known, all names are.
    pub fn for_tool(agent: &str, tool: &str) -> Self {
        let known: &[&[(&str, &str, Self)]] = match agent {
            OWN_AGENT => &[OWN, COMMON],
            "" => &[COMMON, SPECIAL, OWN],
            _ => &[COMMON, SPECIAL],
        };
        let lines = || known.iter().copied().flatten().filter(|line| line.1 == tool);
        let line = lines().find(|line| line.0 == agent).or_else(|| lines().next());
        let unknown = || if server_and_tool(tool).is_some() { Self::Mcp } else { Self::Other };
        line.map_or_else(unknown, |line| line.2)
    }

    /// Returns all lines of the table: an agent, the name of one of its tools, and what it does.
    pub fn table() -> impl Iterator<Item = (&'static str, &'static str, Self)> {
        COMMON.iter().chain(SPECIAL).chain(OWN).copied()
    }

    /// Returns the names of the tools of Claude Code, Codex and our own runtime.
    pub fn common() -> impl Iterator<Item = (&'static str, Self)> {
        COMMON.iter().chain(OWN).map(|&(_, name, kind)| (name, kind))
    }

    /// Returns true if it asks a person something, which is answered with more than yes or no.
    pub fn asks_a_person(self) -> bool {
        matches!(self, AskUser | Script | Elicit)
    }

    pub fn changes_files(self) -> bool {
        matches!(self, Write | Edit | Notebook | Patch | Undo)
    }

    /// Returns true if it reads or changes files, or looks through folders.
    pub fn is_about_files(self) -> bool {
        self.changes_files() || matches!(self, Read | List | Find | Search)
    }

    /// Returns true if the table has this tool for this agent.
    pub fn is_tool_of(agent: &str, tool: &str) -> bool {
        Self::table().any(|line| (line.0, line.1) == (agent, tool))
    }

    /// Returns what a call of a tool of this name does, in words for a person.
    pub fn deed(self, tool: &str) -> String {
        self.words(tool)
            .map_or_else(|| format!("Use {}", plain_tool_name(tool)), |(deed, _)| deed.to_owned())
    }

    /// Returns what a call of a tool of this name has done when it has succeeded.
    pub fn did(self, tool: &str) -> String {
        self.words(tool)
            .map_or_else(|| format!("Used {}", plain_tool_name(tool)), |(_, did)| did.to_owned())
    }

    fn words(self, tool: &str) -> Option<(&'static str, &'static str)> {
        // Only tools of our own runtime have these kinds: a tool of this name that another agent
        // brings is not described in words that we chose for ours.
        if matches!(self, Run(Program) | Note | Own)
            && let Some((_, deed, did)) = OWN_WORDS.iter().find(|line| line.0 == tool)
        {
            return Some((deed, did));
        }
        Some(match self {
            Run(Typed) => ("Type into a running command", "Typed into a running command"),
            Run(_) => ("Run a command", "Ran a command"),
            Code => ("Run code that uses tools", "Ran code that uses tools"),
            Read => ("Read a file", "Read a file"),
            List => ("List a folder", "Listed a folder"),
            Find => ("Find files", "Found files"),
            Search => ("Search in files", "Searched in files"),
            Write => ("Write a file", "Wrote a file"),
            Edit => ("Change a file", "Changed a file"),
            Notebook => ("Change a notebook", "Changed a notebook"),
            Patch => ("Change files", "Changed files"),
            Undo => ("Undo the changes of a turn", "Undid the changes of a turn"),
            Fetch => ("Fetch a page", "Fetched a page"),
            WebSearch => ("Search the web", "Searched the web"),
            Plan => ("Approve a plan", "Proposed a plan"),
            AskUser | Script => ("Answer a question", "Asked a question"),
            Elicit => ("Answer a tool server's question", "Asked on behalf of a tool server"),
            Agent => ("Start a subagent", "Started a subagent"),
            Self::Mcp => ("Use a tool of a server", "Used a tool of a server"),
            Todo => ("Write a plan", "Wrote a plan"),
            Note | Own | Self::Other => return None,
        })
    }
}

fn plain_tool_name(tool: &str) -> &str {
    if tool.is_empty() { "a tool" } else { tool }
}

/// Returns the MCP server and its tool that a name consists of.
pub fn server_and_tool(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}
