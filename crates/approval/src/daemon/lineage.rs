//! The process at the other end of a socket and its ancestors, according to the kernel.

use std::iter;

use callgate_link::process::ProcessStat;
use tokio::net::UnixStream;

/// Returns the process at the other end, or `None` if it is in another PID namespace, for which the
/// kernel reports 0.
pub(super) fn process_of(stream: &UnixStream) -> Option<u32> {
    let process = stream.peer_cred().ok()?.pid()?;
    u32::try_from(process).ok().filter(|process| *process != 0)
}

pub(super) fn process_lineage(process: u32) -> Vec<u32> {
    let ancestors = ProcessStat::read(process).into_iter().flat_map(ProcessStat::ancestors);
    iter::once(process).chain(ancestors.map(|ancestor| ancestor.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_descends_from_its_parents() {
        let own = std::process::id();
        let all = process_lineage(own);
        let parent = std::os::unix::process::parent_id();
        assert_eq!(all[..2], [own, parent]);
        assert_eq!(process_lineage(u32::MAX), [u32::MAX], "one that is not there has no parents");
    }

    #[tokio::test]
    async fn the_process_at_the_other_end_is_known() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(process_of(&one), Some(std::process::id()));
    }
}
