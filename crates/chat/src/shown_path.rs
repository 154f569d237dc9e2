//! Paths as a person reads them in a row: from the working folder on, and without the folders for
//! which there is no room. Pure.

use std::borrow::Cow;

use crate::styled_text::column_width;

/// Returns a path relative to a folder, if it lies beneath it.
pub(crate) fn relative_path<'a>(path: &'a str, folder: &str) -> &'a str {
    let folder = folder.trim_end_matches('/');
    let Some(rest) = path.strip_prefix(folder).filter(|_| !folder.is_empty()) else { return path };
    match rest.strip_prefix('/') {
        _ if matches!(rest, "" | "/") => ".",
        // With `..` in it, a path may lead out of the folder.
        Some(name) if !name.split('/').any(|part| part == "..") => name,
        _ => path,
    }
}

/// Shortens a path to this many columns. The folders farthest from the file are left out first; the
/// file's name stays as long as there is room for it.
pub(crate) fn shortened_path(path: &str, columns: usize) -> Cow<'_, str> {
    if column_width(path) <= columns {
        return path.into();
    }
    // A slash at the end belongs to the last name.
    let slashes = path.match_indices('/').filter(|(at, _)| at + 1 < path.len());
    let ends: Vec<&str> = slashes.map(|(at, _)| &path[at..]).collect();
    let Some(last) = ends.last() else { return path.into() };
    let name = &last[1..];
    match ends.iter().find(|end| column_width(end) < columns) {
        Some(end) => format!("…{end}").into(),
        None if column_width(name) <= columns => name.into(),
        None => format!("…{last}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_working_folder_is_named_from_there() {
        for (path, shown) in [
            ("/w/engine/src/lib.rs", "src/lib.rs"),
            ("/w/engine", "."),
            ("/w/engine/", "."),
            ("/w/engine-2/lib.rs", "/w/engine-2/lib.rs"),
            ("/w/engine/../lib.rs", "/w/engine/../lib.rs"),
            ("src/lib.rs", "src/lib.rs"),
        ] {
            assert_eq!(relative_path(path, "/w/engine"), shown);
            assert_eq!(relative_path(path, "/w/engine/"), shown);
        }
        assert_eq!(relative_path("/etc/hosts", "/"), "/etc/hosts");
        assert_eq!(relative_path("/etc/hosts", ""), "/etc/hosts");
    }

    #[test]
    fn the_name_of_a_file_is_left_whole() {
        let path = "crates/chat/src/lib.rs";
        for (columns, shown) in [
            (22, "crates/chat/src/lib.rs"),
            (21, "…/chat/src/lib.rs"),
            (17, "…/chat/src/lib.rs"),
            (16, "…/src/lib.rs"),
            (8, "…/lib.rs"),
            (7, "lib.rs"),
            (6, "lib.rs"),
            (5, "…/lib.rs"),
        ] {
            assert_eq!(shortened_path(path, columns), shown, "{columns}");
        }
        assert_eq!(shortened_path("/home/ada/src/", 6), "…/src/");
        assert_eq!(shortened_path("漢字/漢字.rs", 9), "…/漢字.rs");
        assert_eq!(shortened_path("a-long-name.rs", 6), "a-long-name.rs");
    }
}
