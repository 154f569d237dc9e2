//! The agent's last words, read from the end of its transcript.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use callgate_wire::hook::{Event, Input, words};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::pread;
use rustix::process::geteuid;

/// How much of a transcript's end is looked at.
const TAIL: usize = 256 * 1024;
/// How long the agent may take to write down what it has said: it collects lines for up to a
/// tenth of a second.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What the agent said before it wanted to use `tool`.
pub(super) fn last_words(input: &Input<'_>, tool: &str) -> Option<String> {
    let agent_id = input.agent_id();
    let path = transcript(Path::new(&*input.transcript_path()?), agent_id.as_deref())?;
    let tool = (input.event() != Event::Elicitation).then_some(tool);
    let file = Transcript::open(&path)?;
    let end = Instant::now() + PATIENCE;
    let mut size = file.size()?;
    loop {
        let found = words(&file.tail(size)?, size <= TAIL as u64, tool, agent_id.is_some());
        if !found.is_behind {
            return found.text;
        }
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

/// A subagent's transcript lies beside that of its session.
fn transcript(path: &Path, agent_id: Option<&str>) -> Option<PathBuf> {
    let Some(agent_id) = agent_id else { return Some(path.to_owned()) };
    let is_plain = agent_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let name = format!("agent-{agent_id}.jsonl");
    is_plain.then(|| path.with_extension("").join("subagents").join(name))
}

struct Transcript(OwnedFd);

impl Transcript {
    /// Opens a regular file of our own user's; never waits, whatever is there.
    fn open(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::empty()).ok()?;
        let stat = fstat(&file).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        (is_file && stat.st_uid == geteuid().as_raw()).then_some(Self(file))
    }

    fn size(&self) -> Option<u64> {
        u64::try_from(fstat(&self.0).ok()?.st_size).ok()
    }

    /// The last bytes of a file of this size.
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
