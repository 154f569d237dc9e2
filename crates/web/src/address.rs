//! The page's address, and the file in which other programs of the user find it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use callgate_link::file::create_private;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAddress {
    port: u16,
}

impl PageAddress {
    pub(crate) fn new(port: u16) -> Self {
        Self { port }
    }

    pub fn port(self) -> u16 {
        self.port
    }

    /// Returns the origins under which a browser may see the page.
    pub fn origins(self) -> [String; 2] {
        // Both are needed, because browsers take the two names for two origins.
        [format!("http://127.0.0.1:{}", self.port), format!("http://localhost:{}", self.port)]
    }

    /// Returns a link that opens the page and pairs it with this code. The code is in the fragment,
    /// which browsers do not send.
    pub fn pairing_link(self, code: &str) -> String {
        format!("{self}#code={code}")
    }

    /// Reads the address of the page of the desk with this socket. Returns `None` if no page is
    /// served.
    pub fn read_for_desk(desk_socket: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read_to_string(address_path(desk_socket)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let port = text.trim_end().strip_prefix("http://127.0.0.1:");
        let port = port.and_then(|rest| rest.strip_suffix('/')?.parse().ok());
        let odd = || io::Error::new(io::ErrorKind::InvalidData, "it does not hold an address");
        port.map(|port| Some(Self { port })).ok_or_else(odd)
    }
}

impl fmt::Display for PageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://127.0.0.1:{}/", self.port)
    }
}

/// Returns the path of the file with the address, which is beside the desk's socket.
pub fn address_path(desk_socket: &Path) -> PathBuf {
    let mut path = desk_socket.as_os_str().to_owned();
    path.push(".page");
    path.into()
}

/// The file with the address, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct AddressFile {
    path: PathBuf,
}

impl AddressFile {
    /// Writes the file with mode 0600, so that readers find all of it or nothing. A file that a
    /// killed process has left is replaced: only one desk at a time has this socket.
    pub(crate) fn write_for_desk(desk_socket: &Path, address: PageAddress) -> io::Result<Self> {
        let path = address_path(desk_socket);
        let unfinished = path.with_extension("page.new");
        // A file that was left half written would keep the new one from being made.
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // `callgate open` may read at any moment, and must not find half an address.
        create_private(&unfinished, format!("{address}\n").as_bytes())?;
        fs::rename(&unfinished, &path)?;
        Ok(Self { path })
    }
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        // An error means that somebody else has removed it.
        fs::remove_file(&self.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_file_holds_the_address_alone_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("desk.sock");
        assert_eq!(PageAddress::read_for_desk(&socket).unwrap(), None);
        fs::write(address_path(&socket), "left by a process that was killed").unwrap();
        let address = PageAddress::new(7420);
        let file = AddressFile::write_for_desk(&socket, address).unwrap();
        let path = address_path(&socket);
        assert_eq!(fs::read_to_string(&path).unwrap(), "http://127.0.0.1:7420/\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(PageAddress::read_for_desk(&socket).unwrap(), Some(address));
        drop(file);
        assert!(!path.exists());
        fs::write(&path, "http://example.com/").unwrap();
        assert!(PageAddress::read_for_desk(&socket).is_err());
    }

    #[test]
    fn whoever_reads_it_finds_all_of_it_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("desk.sock");
        let address = PageAddress::new(7420);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..2_000 {
                    drop(AddressFile::write_for_desk(&socket, address).unwrap());
                }
            });
            while !writer.is_finished() {
                let read = PageAddress::read_for_desk(&socket).unwrap();
                assert!(read.is_none_or(|read| read == address));
            }
        });
    }

    #[test]
    fn a_link_has_its_code_in_the_fragment() {
        let link = PageAddress::new(7421).pairing_link("7KQM2XWA");
        assert_eq!(link, "http://127.0.0.1:7421/#code=7KQM2XWA");
    }
}
