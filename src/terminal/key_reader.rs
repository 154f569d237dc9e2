//! Reads keys from the terminal while this program has it.

use std::io;
use std::thread;
use std::time::Duration;

use callgate_chat::{KeyDecoder, KeyStroke};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::tcgetpgrp;

use crate::terminal::modes::{KeyModes, TerminalHolder, is_in_foreground, is_ready};

/// How long the rest of an arrow key may take after its escape before the escape is the key.
const REST: Duration = Duration::from_millis(50);
/// How often to check the terminal again while a shell has it.
const AWAY: Duration = Duration::from_millis(100);

/// Reads keys until the terminal is gone or belongs to others, and passes on those that have come
/// together.
pub(crate) fn read_keys(modes: &KeyModes, mut pressed: impl FnMut(Vec<KeyStroke>)) {
    let input = io::stdin();
    let mut bytes = [0; 256];
    let mut decoder = KeyDecoder::default();
    loop {
        match modes.holder() {
            // The key belongs to whoever has the terminal when it comes.
            TerminalHolder::Program if is_there(&input) && may_read(modes) => {}
            TerminalHolder::Others => return,
            // A terminal that is gone has no foreground. One whose foreground is outside of
            // our process namespace is not gone.
            _ if tcgetpgrp(&input).is_err_and(|error| error != Errno::OPNOTSUPP) => return,
            // While a shell has the terminal the keys are for the shell.
            _ => {
                thread::sleep(AWAY);
                continue;
            }
        }
        // Not through the standard library, which buffers bytes that a poll does not see.
        let count = match rustix::io::read(&input, &mut bytes) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        pressed(decoder.decode_keys(&bytes[..count]));
        if decoder.is_waiting() && !is_ready(&input, PollFlags::IN, REST) {
            pressed(decoder.handle_silence().into_iter().collect());
        }
    }
}

/// Waits for a key without reading it, because a process that blocks in a read is stopped when a
/// shell takes the terminal back.
fn is_there(input: &io::Stdin) -> bool {
    poll(&mut [PollFd::new(input, PollFlags::IN)], None).is_ok_and(|ready| ready > 0)
}

fn may_read(modes: &KeyModes) -> bool {
    modes.holder() == TerminalHolder::Program && is_in_foreground()
}
