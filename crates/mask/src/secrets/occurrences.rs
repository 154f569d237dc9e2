//! Where a fixed text occurs.

use memchr::{memchr_iter, memmem};

/// The longest text in which looking at every first byte costs less than preparing a search.
const SHORT: usize = 512;

/// Returns where `needle` occurs, which is not empty and cannot overlap itself.
pub(super) fn find_each<'a>(bytes: &'a [u8], needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_short = bytes.len() <= SHORT;
    let is_here = move |at: &usize| bytes[*at..].starts_with(needle.as_bytes());
    let short = is_short.then(|| memchr_iter(needle.as_bytes()[0], bytes).filter(is_here));
    let long = (!is_short).then(|| memmem::find_iter(bytes, needle));
    short.into_iter().flatten().chain(long.into_iter().flatten())
}
