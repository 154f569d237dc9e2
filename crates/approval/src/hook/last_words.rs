//! The agent's last words, read from the end of its transcript.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use callgate_wire::hook::{AgentHookEvent, AgentHookInput, words};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, pread};
use rustix::process::geteuid;

/// How much of a transcript's end is read, in bytes.
const TAIL: usize = 256 * 1024;
/// How long the agent may take to write its last words: it buffers lines for up to a tenth of a
/// second.
const PATIENCE: WordsPatience =
    WordsPatience { usual: Duration::from_millis(200), first: Duration::from_millis(600) };
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long to wait for the last words.
#[derive(Debug, Clone, Copy)]
struct WordsPatience {
    usual: Duration,
    /// At the first question of a session, when the transcript is just being created.
    first: Duration,
}

/// Returns what the agent said before it wanted to use `tool`.
pub(super) fn last_words(input: &AgentHookInput<'_>, tool: &str) -> Option<String> {
    let agent_id = input.agent_id();
    let path = transcript(Path::new(&*input.transcript_path()?), agent_id.as_deref())?;
    let tool = (input.event() != AgentHookEvent::Elicitation).then_some(tool);
    words_in(&path, tool, agent_id.is_some(), PATIENCE)
}

/// Returns the last words in a transcript that may not exist yet.
fn words_in(
    path: &Path,
    tool: Option<&str>,
    is_subagent: bool,
    patience: WordsPatience,
) -> Option<String> {
    let start = Instant::now();
    let file = loop {
        match TranscriptFile::open(path) {
            Ok(file) => break file?,
            Err(Errno::NOENT) if start.elapsed() < patience.first => thread::sleep(LOOK_EVERY),
            Err(_) => return None,
        }
    };
    let mut size = file.size()?;
    loop {
        let found = words(&file.tail(size)?, size <= TAIL as u64, tool, is_subagent);
        if !found.is_behind {
            return found.text;
        }
        let end = start + if found.is_empty { patience.first } else { patience.usual };
        let before = size;
        while size == before {
            if Instant::now() >= end {
                return found.text;
            }
            thread::sleep(LOOK_EVERY);
            size = file.size()?;
        }
    }
}

/// Returns the path of a transcript. A subagent's transcript is beside that of its session.
fn transcript(path: &Path, agent_id: Option<&str>) -> Option<PathBuf> {
    let Some(agent_id) = agent_id else { return Some(path.to_owned()) };
    let is_plain = agent_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let name = format!("agent-{agent_id}.jsonl");
    is_plain.then(|| path.with_extension("").join("subagents").join(name))
}

struct TranscriptFile(OwnedFd);

impl TranscriptFile {
    /// Opens a regular file of our own user. Returns `None` for anything else, and never blocks.
    fn open(path: &Path) -> Result<Option<Self>, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        Ok((is_file && stat.st_uid == geteuid().as_raw()).then_some(Self(file)))
    }

    fn size(&self) -> Option<u64> {
        u64::try_from(fstat(&self.0).ok()?.st_size).ok()
    }

    /// Reads the last bytes of a file of this size.
    fn tail(&self, size: u64) -> Option<Vec<u8>> {
        let start = size.saturating_sub(TAIL as u64);
        let mut tail = vec![0; usize::try_from(size - start).ok()?];
        let mut filled = 0;
        while filled < tail.len() {
            match pread(&self.0, &mut tail[filled..], start + filled as u64).ok()? {
                0 => break,
                count => filled += count,
            }
        }
        tail.truncate(filled);
        Some(tail)
    }
}

#[cfg(test)]
mod tests;
