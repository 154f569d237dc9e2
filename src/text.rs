//! Helpers for text: reading it from files, line numbers, and the byte order mark.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// The mark that some editors put before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text of a file without a byte order mark.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Reads the text of a regular file of at most `most` bytes. The errors complete "cannot read it: ".
///
/// Anything else at the path is refused at once: opening a pipe would wait for its other end, and a
/// device may never end.
pub(crate) fn read_file(path: &Path, most: u64) -> io::Result<String> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    // A socket cannot even be opened.
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let is_socket = |error: &io::Error| error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
    let file = match opened {
        Err(error) if is_socket(&error) => return Err(not_a_file()),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_a_file());
    }
    read_expected(file, most, metadata.len())
}

fn not_a_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

/// Reads text of at most `most` bytes. The errors complete "cannot read it: ".
pub(crate) fn read_limited(input: impl Read, most: u64) -> io::Result<String> {
    read_expected(input, most, 0)
}

/// The same, if about `expected` bytes are there to be read.
fn read_expected(input: impl Read, most: u64, expected: u64) -> io::Result<String> {
    // With a limit, the standard library begins with 32 bytes and doubles them.
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(most)).unwrap_or_default() + 1);
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let text = format!("it is larger than {most} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, text));
    }
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(not_text)
}

/// Returns the line and the column of the byte `at`, both from 1.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), fifo, mode, 0).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_file(&path(name), 4).unwrap(), "text");
        }
        assert_eq!(read_file(&path("file"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        for other in [path("pipe"), path("socket"), folder.path().to_owned(), "/dev/zero".into()] {
            let error = read_file(&other, 4).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{}", other.display());
        }
        assert_eq!(read_file(&path("none"), 4).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn lines_and_characters_count_from_one() {
        let check = |text: &str, at: usize, expected: (usize, usize)| {
            assert_eq!(line_and_column(text, at), expected, "{at}");
        };
        check("", 0, (1, 1));
        check("ab", 1, (1, 2));
        check("a\nüb\n", 2, (2, 1));
        check("a\nüb\n", 4, (2, 2));
        check("a\r\nb", 3, (2, 1));
        check("a\n", 99, (2, 1));
    }
}
