//! One question in full.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CommandSegment, InboxRow, TodoItem};

/// A question in full. Every text in it is masked and safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact that is shown")]
pub struct QuestionCard {
    #[serde(flatten)]
    pub row: InboxRow,
    pub body: CardContent,
    /// The whole input as JSON: what a person may edit.
    pub input: String,
    pub last_words: Option<String>,
    /// What can be allowed from now on.
    pub offers: Vec<CardOffer>,
    /// The agent's own questions, with the answers to choose from.
    pub pickers: Vec<CardPicker>,
    /// Whether words are the answer, and not a refusal.
    pub takes_words: bool,
    /// Whether the agent honours a changed input.
    pub can_edit: bool,
    /// Whether a deny may also end the agent's turn.
    pub can_stop: bool,
    /// Whether the call is denied if nobody answers.
    pub no_answer_denies: bool,
    /// What the agent does if callgate gives no answer at all, in words, if it runs the call then.
    #[serde(default)]
    pub fails_open: Option<String>,
    /// Whether something hidden could be executed: it would be allowed unseen.
    pub hides_what_runs: bool,
    /// What blocked the call, in words, if the question is whether it may try again.
    pub blocked: Option<String>,
    /// Which word has to be typed, in words, if the question needs that.
    pub confirm_word_of: Option<String>,
    pub grants: CardGrants,
    /// Whether only the beginning and the end of the input are shown. It cannot be allowed then.
    /// Nobody may allow what they have not seen whole.
    pub is_cut: bool,
}

/// What a tool would do, by its `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CardContent {
    Command {
        /// The command line in pieces.
        segments: Vec<CommandSegment>,
        /// What the agent says it is for.
        description: Option<String>,
    },
    /// Read a file, or look through a folder.
    Read {
        /// The file or folder.
        path: String,
        /// What of it: the other arguments, by their names.
        what: Option<String>,
    },
    /// Write a whole file.
    Write { path: String, content: String, lines: u64 },
    Edit {
        path: String,
        /// The changes, in order.
        changes: Vec<ContentChange>,
    },
    Notebook {
        path: String,
        /// What happens to which cell.
        what: String,
        /// The cell's new content.
        content: String,
    },
    /// Change files by a patch.
    Patch { files: Vec<PatchedFile> },
    Fetch {
        url: String,
        /// What the agent wants to know about it.
        what: Option<String>,
    },
    /// Begin to carry out a plan.
    Plan { markdown: String },
    /// Keep the agent's own plan.
    Todo { items: Vec<TodoItem> },
    /// A question of an agent, a script or a tool server.
    Ask { question: String, detail: Option<String> },
    /// Call a tool of an MCP server.
    Mcp {
        server: String,
        tool: String,
        /// The input, as JSON.
        input: String,
    },
    Other {
        /// The input, as JSON.
        input: String,
    },
}

impl QuestionCard {
    /// Returns what the agent does, after its name, such as "wants to run a command".
    pub fn intent_text(&self) -> String {
        let mut deed = self.row.deed.chars();
        match &self.body {
            CardContent::Plan { .. } => "has a plan".to_owned(),
            CardContent::Ask { .. } => "asks".to_owned(),
            CardContent::Mcp { server, tool, .. } => format!("wants to use {tool} of {server}"),
            _ => {
                let first = deed.next().map(|first| first.to_ascii_lowercase());
                format!("wants to {}", first.into_iter().chain(deed).collect::<String>())
            }
        }
    }
}

impl CardContent {
    /// Returns the file, if it is about one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::Edit { path, .. }
            | Self::Notebook { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the command, if it runs one.
    pub fn command(&self) -> String {
        match self {
            Self::Command { segments, .. } => {
                segments.iter().map(|segment| segment.text.as_str()).collect()
            }
            _ => String::new(),
        }
    }

    /// Returns what the tool would do as plain text: changes as diffs, everything else as it is.
    /// The path of a single file is not in it.
    pub fn text(&self) -> String {
        let with = |text: &str, note: &Option<String>| match note {
            Some(note) => format!("{text}\n# {}", note.lines().collect::<Vec<_>>().join(" ")),
            None => text.to_owned(),
        };
        match self {
            Self::Command { description, .. } => with(&self.command(), description),
            Self::Read { what, .. } => what.clone().unwrap_or_default(),
            Self::Write { content, .. } => content.clone(),
            Self::Edit { changes, .. } => changes.iter().map(ToString::to_string).collect(),
            Self::Notebook { what, content, .. } => format!("{what}\n{content}"),
            Self::Patch { files } => files.iter().map(PatchedFile::text).collect(),
            Self::Fetch { url, what } => with(url, what),
            Self::Plan { markdown } => markdown.clone(),
            Self::Todo { items } => {
                items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Self::Ask { question, detail: Some(detail) } => format!("{question}\n{detail}"),
            Self::Ask { question, detail: None } => question.clone(),
            Self::Mcp { input, .. } | Self::Other { input } => input.clone(),
        }
    }
}

impl PatchedFile {
    /// Returns what happens to which file.
    pub fn heading(&self) -> String {
        let Self { operation, path, moved_to, .. } = self;
        let does = match operation {
            FileOperation::Add => "Add",
            FileOperation::Update => "Update",
            FileOperation::Delete => "Delete",
        };
        let note = self.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        match moved_to {
            Some(target) => format!("{does} {path} and move it to {target}{note}"),
            None => format!("{does} {path}{note}"),
        }
    }

    fn text(&self) -> String {
        let changes = self.changes.iter().map(ToString::to_string);
        format!("{}\n{}", self.heading(), changes.collect::<String>())
    }
}

/// Writes a diff: the lines with their signs, and how many unchanged ones are left out.
impl fmt::Display for ContentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.everywhere {
            f.write_str("Every occurrence:\n")?;
        }
        if let Some(place) = &self.place {
            writeln!(f, "@@ {place}")?;
        }
        let (mut old, mut new) = (0, 0);
        for line in &self.lines {
            let by_old = line.old.map(|at| at.saturating_sub(old));
            let skipped = by_old.or_else(|| line.new.map(|at| at.saturating_sub(new)));
            // Adjacent lines differ by one; lines without numbers count as adjacent.
            match skipped.unwrap_or_default() {
                0 | 1 => {}
                2 => f.write_str("… 1 unchanged line\n")?,
                count => writeln!(f, "… {} unchanged lines", count - 1)?,
            }
            (old, new) = (line.old.unwrap_or(old), line.new.unwrap_or(new));
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// Writes a line after its sign.
impl fmt::Display for ChangedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.op {
            LineOperation::Same => ' ',
            LineOperation::Added => '+',
            LineOperation::Removed => '-',
        };
        write!(f, "{sign}{}", self.text)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentChange {
    pub everywhere: bool,
    /// After which line of the file a patch makes it, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The lines of the old and of the new text.
    pub lines: Vec<ChangedLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchedFile {
    pub operation: FileOperation,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// What else happens to it, or why its lines are not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The changes, in order. The lines of a patch have no numbers.
    pub changes: Vec<ContentChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOperation {
    Add,
    Update,
    Delete,
}

/// A line of a change. Its numbers are those of the file from 1, or unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedLine {
    pub op: LineOperation,
    /// Its number before the change.
    pub old: Option<u64>,
    /// Its number after the change.
    pub new: Option<u64>,
    /// The line without its end.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineOperation {
    /// It stays.
    #[serde(rename = " ")]
    Same,
    #[serde(rename = "+")]
    Added,
    #[serde(rename = "-")]
    Removed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardOffer {
    /// The action of its button.
    pub action: String,
    pub meaning: String,
    pub lasts: String,
    pub changes_mode: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardPicker {
    pub question: String,
    /// Whether more than one answer may be chosen.
    pub many: bool,
    pub choices: Vec<CardChoice>,
}

/// An answer to one of the agent's own questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardChoice {
    pub label: String,
    pub description: Option<String>,
    /// The action of its button.
    pub action: String,
}

/// What the two main answers grant, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardGrants {
    pub allow: String,
    pub deny: String,
}
