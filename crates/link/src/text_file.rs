//! Reading files and streams, with a limit.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a regular file for reading.
///
/// Anything else at the path is refused at once: opening a pipe would wait for its other end, and a
/// device may never end.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    // A socket cannot even be opened.
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let is_socket = |error: &io::Error| error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
    let file = match opened {
        Err(error) if is_socket(&error) => return Err(not_a_file()),
        opened => opened?,
    };
    // The open file is asked and not the path, which may lead elsewhere by now.
    if !file.metadata()?.is_file() {
        return Err(not_a_file());
    }
    Ok(file)
}

/// Reads a regular file of at most `most` bytes. The errors complete "cannot read it: ".
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_limited(open_regular(path)?, most)
}

/// Reads the text of a regular file of at most `most` bytes. The errors complete "cannot read it:
/// ".
pub fn read_text_file(path: &Path, most: u64) -> io::Result<String> {
    let file = open_regular(path)?;
    let expected = file.metadata()?.len();
    text_of(read_expected(file, most, expected)?)
}

fn not_a_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

/// Reads text of at most `most` bytes. The errors complete "cannot read it: ".
pub fn read_limited_text(input: impl Read, most: u64) -> io::Result<String> {
    text_of(read_limited(input, most)?)
}

/// Reads at most `most` bytes; more are an error, because half of a file is another file.
pub fn read_limited(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    read_expected(input, most, 0)
}

/// The same, if about `expected` bytes are there to be read.
fn read_expected(input: impl Read, most: u64, expected: u64) -> io::Result<Vec<u8>> {
    // With a limit, the standard library begins with 32 bytes and doubles them.
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(most)).unwrap_or_default() + 1);
    // One byte more than allowed is enough to see that there is too much.
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let text = format!("it is larger than {most} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(not_text)
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
            assert_eq!(read_text_file(&path(name), 4).unwrap(), "text");
        }
        assert_eq!(read_text_file(&path("file"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_regular(&path("file"), 4).unwrap(), b"text");
        assert_eq!(read_regular(&path("file"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        for other in [path("pipe"), path("socket"), folder.path().to_owned(), "/dev/zero".into()] {
            let error = read_text_file(&other, 4).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{}", other.display());
        }
        assert_eq!(read_text_file(&path("none"), 4).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
