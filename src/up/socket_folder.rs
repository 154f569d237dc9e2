//! Whether the folder of the desk's sockets is private.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;

/// Checks that the folder of our sockets is private, or can be created so. Returns what is wrong
/// and what to do. A process with the variables of another user, as `sudo` may leave them, must not
/// create a folder there that shuts that user out.
pub(super) fn check_private(folder: &Path) -> Result<(), String> {
    let cannot = |error: &io::Error| format!("cannot look at {}: {error}", folder.display());
    let us = geteuid().as_raw();
    for place in folder.ancestors() {
        let found = match fs::metadata(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(|error| cannot(&error))?,
        };
        let (shown, owner, mode) = (place.display(), found.uid(), found.mode() & 0o777);
        // The nearest folder that exists decides, because the others are created in it.
        return match place == folder {
            _ if !found.is_dir() => {
                Err(format!("{shown} is not a folder: move it away, or set {OTHERWISE}"))
            }
            _ if owner != us => Err(format!(
                "{shown} belongs to user {owner}, not to user {us}, so it cannot hold your sockets: \
                 run callgate as its owner, or set {OTHERWISE}"
            )),
            true if mode & 0o077 != 0 => {
                Err(format!("others can enter {shown} (mode {mode:o}): chmod 700 {shown}"))
            }
            _ => Ok(()),
        };
    }
    Ok(())
}

/// What to set if the usual folder cannot be used.
const OTHERWISE: &str = "XDG_RUNTIME_DIR, or `socket` and `desk_socket`, to paths of your own";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    #[test]
    fn the_folder_of_sockets_is_its_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("run/callgate");
        let wrong = || check_private(&folder).unwrap_err();
        // One that is not there is made, in a folder that is ours.
        check_private(&folder).unwrap();
        fs::create_dir_all(&folder).unwrap();
        let set_mode = |mode| fs::set_permissions(&folder, PermissionsExt::from_mode(mode));
        set_mode(0o755).unwrap();
        let shown = folder.display();
        assert_eq!(wrong(), format!("others can enter {shown} (mode 755): chmod 700 {shown}"));
        set_mode(0o700).unwrap();
        check_private(&folder).unwrap();
        fs::remove_dir(&folder).unwrap();
        fs::write(&folder, "").unwrap();
        assert!(wrong().contains("callgate is not a folder: move it away"), "{}", wrong());
        fs::remove_file(&folder).unwrap();
        // Only root can give a folder away; others meet those of root everywhere.
        if geteuid().is_root() {
            chown(folder.parent().unwrap(), Some(4321), None).unwrap();
            let text = "run belongs to user 4321, not to user 0, so it cannot hold your sockets";
            assert!(wrong().contains(text), "{}", wrong());
        } else {
            let root = check_private(Path::new("/usr/callgate")).unwrap_err();
            assert!(root.contains("/usr belongs to user 0, not to user"), "{root}");
        }
    }
}
