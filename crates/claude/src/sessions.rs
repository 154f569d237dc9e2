//! Lists and reads the conversations that the CLI has saved, without starting it.
//!
//! These functions read files and block; on tokio call them from `spawn_blocking`.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use uuid::Uuid;

use crate::fields::content_text;

/// How many bytes of a conversation are read to list it. Its folder and its first prompt are near
/// the beginning.
const HEAD: u64 = 256 * 1024;
/// The largest conversation that is read, in bytes.
const LARGEST: u64 = 512 * 1024 * 1024;
/// The CLI cuts the name of a project's folder after this many characters, and adds a hash.
const LONGEST_NAME: usize = 200;

/// The folder in which the CLI saves its conversations.
///
/// ```no_run
/// use callgate_claude::sessions::SessionStore;
///
/// # fn main() -> std::io::Result<()> {
/// let store = SessionStore::of_user()?;
/// for session in store.list(std::env::current_dir()?)? {
///     println!("{} {}", session.id, session.first_prompt.unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SessionStore {
    projects: PathBuf,
}

/// A saved conversation of the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The id, for reading or resuming the conversation.
    pub id: String,
    /// The folder that the CLI worked in.
    pub folder: Option<PathBuf>,
    /// The first prompt, if it is near the beginning.
    pub first_prompt: Option<String>,
    /// When it was last changed.
    pub modified: SystemTime,
    /// The size of its file, in bytes.
    pub size: u64,
}

/// A message of a saved conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionMessage {
    /// Whether it is the model's; otherwise it is the user's or a tool's.
    pub is_assistant: bool,
    /// The message's id.
    pub id: String,
    /// Its time, as the CLI wrote it.
    pub timestamp: Option<String>,
    /// A string, or a list of content blocks in the form of the Messages API.
    pub content: Value,
}

impl SessionMessage {
    /// Returns the texts of the message.
    #[must_use]
    pub fn text(&self) -> String {
        content_text(&self.content)
    }
}

impl SessionStore {
    /// Opens the store below the CLI's configuration folder.
    pub fn new(configuration: impl AsRef<Path>) -> Self {
        Self { projects: configuration.as_ref().join("projects") }
    }

    /// Opens the store of this process's user: below `CLAUDE_CONFIG_DIR`, or `~/.claude`.
    pub fn of_user() -> io::Result<Self> {
        if let Some(folder) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|f| !f.is_empty()) {
            return Ok(Self::new(PathBuf::from(folder)));
        }
        let unset = || io::Error::other("HOME is not set: name the folder with SessionStore::new");
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).ok_or_else(unset)?;
        Ok(Self::new(PathBuf::from(home).join(".claude")))
    }

    /// Returns the conversations of `folder`, the latest first.
    pub fn list(&self, folder: impl AsRef<Path>) -> io::Result<Vec<SessionInfo>> {
        // The CLI names a project by its real path.
        let folder = fs::canonicalize(&folder).unwrap_or_else(|_| folder.as_ref().to_owned());
        let name = project_name(&folder);
        let cut = name.get(..LONGEST_NAME);
        let is_project = |found: &str| found == name || cut.is_some_and(|c| found.starts_with(c));
        let mut sessions = self.list_matching(is_project)?;
        // Several folders may have the same name in the store.
        sessions.retain(|session| session.folder.as_ref().is_none_or(|held| *held == folder));
        Ok(sessions)
    }

    /// Returns all conversations, the latest first.
    pub fn list_all(&self) -> io::Result<Vec<SessionInfo>> {
        self.list_matching(|_| true)
    }

    fn list_matching(&self, is_project: impl Fn(&str) -> bool) -> io::Result<Vec<SessionInfo>> {
        let mut sessions = Vec::new();
        for project in folder_entries(&self.projects)? {
            if !project.file_name().and_then(OsStr::to_str).is_some_and(&is_project) {
                continue;
            }
            for file in folder_entries(&project)? {
                sessions.extend(read_session_info(&file)?);
            }
        }
        sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
        Ok(sessions)
    }

    /// Returns the messages of a conversation in their order, without abandoned branches and
    /// without those of subagents.
    pub fn read_messages(&self, session_id: &str) -> io::Result<Vec<SessionMessage>> {
        let text = fs::read_to_string(self.find_transcript(session_id)?)?;
        Ok(branch_messages(&text))
    }

    fn find_transcript(&self, session_id: &str) -> io::Result<PathBuf> {
        let missing = || {
            let words = format!("no conversation {session_id} in {}", self.projects.display());
            io::Error::new(io::ErrorKind::NotFound, words)
        };
        // Nothing but an id becomes part of a path.
        let id = Uuid::parse_str(session_id).map_err(|_| missing())?;
        for project in folder_entries(&self.projects)? {
            let file = project.join(format!("{id}.jsonl"));
            match fs::metadata(&file) {
                Ok(data) if data.len() > LARGEST => {
                    let words = format!("{} has more than {LARGEST} bytes", file.display());
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
                }
                Ok(_) => return Ok(file),
                Err(_) => {}
            }
        }
        Err(missing())
    }
}

/// Returns the name that a folder has in the store.
fn project_name(folder: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    // The CLI counts in UTF-16, so that one character outside the first plane becomes two dashes.
    let dashes = |c: char| std::iter::repeat_n(plain(c), c.len_utf16());
    folder.to_string_lossy().chars().flat_map(dashes).collect()
}

/// Returns the entries of a folder; none if it does not exist.
fn folder_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the conversation in a file; `None` if the file holds none.
fn read_session_info(file: &Path) -> io::Result<Option<SessionInfo>> {
    let is_transcript = file.extension() == Some(OsStr::new("jsonl"));
    let id = file.file_stem().and_then(OsStr::to_str).filter(|id| Uuid::parse_str(id).is_ok());
    let (true, Some(id)) = (is_transcript, id) else { return Ok(None) };
    let opened = match File::open(file) {
        // The CLI removes old ones.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let data = opened.metadata()?;
    let mut head = Vec::new();
    opened.take(HEAD).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let lines: Vec<Value> = parse_transcript_lines(&head).collect();
    let first = |line: &Value| message_on_line(line).map(|message| message.text());
    Ok(Some(SessionInfo {
        id: id.to_owned(),
        folder: lines.iter().find_map(|line| line["cwd"].as_str()).map(PathBuf::from),
        first_prompt: lines.iter().filter(|line| line["type"] == "user").find_map(first),
        modified: data.modified()?,
        size: data.len(),
    }))
}

/// Returns the lines of a transcript; a cut or broken line is left out.
fn parse_transcript_lines(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// Returns the message on a line of a transcript; `None` if the line is not a message of the
/// conversation.
fn message_on_line(line: &Value) -> Option<SessionMessage> {
    let is_assistant = match line["type"].as_str()? {
        "assistant" => true,
        "user" => false,
        _ => return None,
    };
    // Those of subagents, and those that the CLI has inserted in the user's name.
    if line["isSidechain"] == true || line["isMeta"] == true {
        return None;
    }
    Some(SessionMessage {
        is_assistant,
        id: line["uuid"].as_str()?.to_owned(),
        timestamp: line["timestamp"].as_str().map(str::to_owned),
        content: line["message"]["content"].clone(),
    })
}

/// Follows the conversation from its last message to its first.
fn branch_messages(text: &str) -> Vec<SessionMessage> {
    let lines: Vec<Value> = parse_transcript_lines(text).collect();
    let by_id: HashMap<&str, &Value> =
        lines.iter().filter_map(|line| Some((line["uuid"].as_str()?, line))).collect();
    let last = lines.iter().rev().find(|line| message_on_line(line).is_some());
    let mut seen = HashSet::new();
    let mut messages = Vec::new();
    let mut next = last.and_then(|line| line["uuid"].as_str());
    // Parents that go in a circle are not followed for ever.
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let Some(line) = by_id.get(id) else { break };
        messages.extend(message_on_line(line));
        // The summarised messages precede the summary.
        let parent = line["parentUuid"].as_str();
        next = parent.or_else(|| line["logicalParentUuid"].as_str());
    }
    messages.reverse();
    messages
}

#[cfg(test)]
mod tests;
