//! Copies extended attributes, including the access list, from a file to the file that replaces it.

use std::ffi::{CStr, CString};
use std::fs::File;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use super::error_text::errno_text;

/// The system's limit for the list of names, and for one value, in bytes.
const MOST: usize = 64 * 1024;
/// The access list, which grants permissions beyond the mode.
const ACCESS: &CStr = c"system.posix_acl_access";
/// The file capabilities, which give a program additional rights. Like the setuid bits, they do not
/// survive a write.
const CAPABILITIES: &[u8] = b"security.capability";

/// Removes the access list that a new file has inherited from its folder.
pub(super) fn remove_access_list(file: &File) -> Result<(), String> {
    // Not every file system has access lists, and some report an error when asked to remove one.
    if !matches!(attribute_value(file, ACCESS), Ok(Some(_))) {
        return Ok(());
    }
    fremovexattr(file, ACCESS).map_err(|errno| {
        format!("the access list of its folder would apply to it: {}", errno_text(errno))
    })
}

/// Copies the extended attributes of `old` to `draft`, and returns the names of those that could
/// not be set. Fails if the access list cannot be set, because others could then read what they may
/// not.
pub(super) fn copy_attributes(old: &File, draft: &File) -> Result<Vec<String>, String> {
    let mut lost = Vec::new();
    for name in attribute_names(old)? {
        let kept = match attribute_value(old, &name) {
            Ok(None) => continue,
            // The system may have set it already, and not let us set it again.
            Ok(value) if attribute_value(draft, &name) == Ok(value.clone()) => continue,
            Ok(Some(value)) => fsetxattr(draft, &*name, &value, XattrFlags::empty()),
            Err(errno) => Err(errno),
        };
        match kept {
            Ok(()) => {}
            Err(errno) if *name == *ACCESS => {
                return Err(format!("its access list cannot be kept: {}", errno_text(errno)));
            }
            Err(_) => lost.push(name.to_string_lossy().into_owned()),
        }
    }
    Ok(lost)
}

fn attribute_names(file: &File) -> Result<Vec<CString>, String> {
    let mut buffer = vec![0; MOST];
    let count = match flistxattr(file, &mut buffer[..]) {
        Ok(count) => count,
        // Not every file system has any.
        Err(Errno::NOTSUP) => 0,
        Err(errno) => return Err(format!("its extended attributes: {}", errno_text(errno))),
    };
    let names = buffer[..count].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.filter(|name| *name != CAPABILITIES);
    Ok(names.filter_map(|name| CString::new(name).ok()).collect())
}

/// Returns the value of an attribute, or `None` if it was removed.
fn attribute_value(file: &File, name: &CStr) -> Result<Option<Vec<u8>>, Errno> {
    let mut buffer = vec![0; MOST];
    match fgetxattr(file, name, &mut buffer[..]) {
        Ok(count) => {
            buffer.truncate(count);
            Ok(Some(buffer))
        }
        Err(Errno::NODATA) => Ok(None),
        Err(errno) => Err(errno),
    }
}
