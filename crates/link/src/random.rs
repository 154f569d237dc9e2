//! Random bytes.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns random bytes that nobody can guess.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    // The kernel may return fewer bytes than requested.
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}
