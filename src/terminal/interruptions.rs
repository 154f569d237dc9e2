//! The signals that end a command which has something to put in order first.

use std::{fs, io};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a command.
pub(crate) struct Interruptions {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

impl Interruptions {
    /// Starts to listen, in a running tokio runtime. From now on none of the signals ends the
    /// process by itself, and one that comes before [`next`](Self::next) is not lost.
    pub(crate) fn listen() -> io::Result<Self> {
        // With a handler, the hangup of its terminal would end what `nohup` has started.
        let hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hangup })
    }

    /// Waits for one of the signals.
    pub(crate) async fn next(&mut self) {
        let hung_up = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hung_up => {}
        }
    }
}

/// Returns true if the process was started to outlive its terminal, as `nohup` does.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first bit is the first signal, SIGHUP.
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits & 1 == 1)
}
