//! The agent's last words, read from the end of its transcript.

use std::mem::replace;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use callgate_wire::hook::{AgentHookEvent, AgentHookInput, LastWords, find_last_words};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, pread};
use rustix::process::geteuid;

use crate::asker::WordsLook;

/// How much of a transcript's end is read, in bytes.
const TAIL: u64 = 256 * 1024;
/// How much of it is read before the question is sent: enough for words that are written already,
/// and little enough to delay nobody.
const GLANCE: u64 = 16 * 1024;
/// How long the agent may take to write its last words: it buffers lines for up to a tenth of a
/// second. Nobody waits for that.
const PATIENCE: WordsPatience =
    WordsPatience { usual: Duration::from_secs(1), first: Duration::from_secs(5) };
/// The pause before the next look at first; each further one is a half longer.
const LOOK_AFTER: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy)]
struct WordsPatience {
    usual: Duration,
    /// At the first question of a session, when the transcript is just being created.
    first: Duration,
}

/// The end of a transcript that may not be written yet, in which the agent's last words are looked
/// for. Looking never waits.
pub(super) struct TranscriptWatch {
    path: PathBuf,
    /// The tool that the agent wants to use, if it is a tool.
    tool: Option<String>,
    is_subagent: bool,
    patience: WordsPatience,
    begun: Instant,
    pause: Duration,
    /// How much of the file's end the next look reads.
    reach: u64,
    /// The size that the file had when it was last read as far as it matters, and what was found.
    size: Option<u64>,
    found: LastWords,
}

impl TranscriptWatch {
    /// Returns the watch for what the agent said before it wanted to use `tool`, if it has a
    /// transcript.
    pub(super) fn from_input(input: &AgentHookInput<'_>, tool: &str) -> Option<Self> {
        let agent_id = input.agent_id();
        let path = transcript_path(Path::new(&*input.transcript_path()?), agent_id.as_deref())?;
        let tool = (input.event() != AgentHookEvent::Elicitation).then(|| tool.to_owned());
        Some(Self::new(path, tool, agent_id.is_some(), PATIENCE))
    }

    fn new(
        path: PathBuf,
        tool: Option<String>,
        is_subagent: bool,
        patience: WordsPatience,
    ) -> Self {
        let (begun, pause) = (Instant::now(), LOOK_AFTER);
        let (reach, size, found) = (GLANCE, None, LastWords::default());
        Self { path, tool, is_subagent, patience, begun, pause, reach, size, found }
    }

    /// Looks for the words. After some time, older words do.
    pub(super) fn find_words(&mut self) -> WordsLook {
        let file = match TranscriptFile::open(&self.path) {
            Ok(Some(file)) => file,
            Err(Errno::NOENT) => return self.look_later(self.patience.first),
            Ok(None) | Err(_) => return WordsLook::Never,
        };
        let Some(size) = file.size() else { return WordsLook::Never };
        if self.size != Some(size) {
            let reach = replace(&mut self.reach, TAIL);
            let Some(tail) = file.tail(size, reach) else { return WordsLook::Never };
            let from_start = size <= reach;
            self.found = find_last_words(&tail, from_start, self.tool.as_deref(), self.is_subagent);
            // After a mere glance the file is read again, even if it has not grown.
            self.size = (from_start || reach == TAIL).then_some(size);
        }
        match &self.found {
            LastWords { is_behind: false, text: Some(words), .. } => {
                WordsLook::Found(words.clone())
            }
            LastWords { is_behind: false, .. } if self.size.is_some() => WordsLook::Never,
            LastWords { is_empty: true, .. } => self.look_later(self.patience.first),
            _ => self.look_later(self.patience.usual),
        }
    }

    /// Returns when to look again, or what was found if that has been tried for long enough.
    fn look_later(&mut self, patience: Duration) -> WordsLook {
        if self.begun.elapsed() >= patience {
            return self.found.text.clone().map_or(WordsLook::Never, WordsLook::Found);
        }
        let pause = self.pause;
        self.pause = (pause * 3 / 2).min(LONGEST_PAUSE);
        WordsLook::Later(pause)
    }
}

/// Returns the path of a transcript. A subagent's transcript is beside that of its session.
fn transcript_path(path: &Path, agent_id: Option<&str>) -> Option<PathBuf> {
    let Some(agent_id) = agent_id else { return Some(path.to_owned()) };
    // The id becomes a part of the path.
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

    /// Reads the last bytes of a file of this size, at most `reach` of them.
    fn tail(&self, size: u64, reach: u64) -> Option<Vec<u8>> {
        let start = size.saturating_sub(reach);
        let mut tail = vec![0; usize::try_from(size - start).ok()?];
        let mut filled = 0;
        while filled < tail.len() {
            match pread(&self.0, &mut tail[filled..], start + filled as u64).ok()? {
                // The file has become shorter since the look at its size.
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
