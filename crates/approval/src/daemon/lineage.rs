//! Which process is at the other end of a socket, and which it descends from, as the kernel tells.

use std::fs;

use tokio::net::UnixStream;

/// How far back a descent is followed.
const MOST_GENERATIONS: usize = 64;

/// The process at the other end; none where it lives in another world of process ids.
pub(super) fn process_of(stream: &UnixStream) -> Option<u32> {
    let process = stream.peer_cred().ok()?.pid()?;
    u32::try_from(process).ok().filter(|process| *process != 0)
}

/// The process, its parent, and so on.
pub(super) fn lineage(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    while let Some(parent) = all.last().and_then(|process| parent_of(*process)) {
        // A process id that is used anew meanwhile must not lead in circles.
        if all.len() == MOST_GENERATIONS || all.contains(&parent) {
            break;
        }
        all.push(parent);
    }
    all
}

fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name stands in parentheses and may hold any others.
    let (_, rest) = status.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_descends_from_its_parents() {
        let own = std::process::id();
        let all = lineage(own);
        let parent = std::os::unix::process::parent_id();
        assert_eq!(all[..2], [own, parent]);
        assert!(all.len() <= MOST_GENERATIONS);
        assert_eq!(lineage(u32::MAX), [u32::MAX], "one that is not there has no parents");
    }

    #[tokio::test]
    async fn the_process_at_the_other_end_is_known() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(process_of(&one), Some(std::process::id()));
    }
}
