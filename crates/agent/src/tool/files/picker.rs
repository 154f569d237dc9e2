//! Files for a front end's own pickers: found by their names, and read, beneath the allowed
//! folders.
//!
//! The front end acts for its user, so nobody is asked. What rules keep from the model stays hidden
//! here as well.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

use callgate_wire::session::{FileMatch, FileMatches, FileText, WantedFile};
use serde_json::json;

use super::error_text::{FileKind, cannot_text};
use super::input::FileToolInput;
use super::read_file::read_file;
use super::roots::FileLocation;
use super::search::glob::fold_case;
use super::search::hidden::HiddenFilter;
use super::search::walk::{FolderStep, FolderWalk};
use super::{AllowedFolders, CancelFlag, FileContext, FileLimits, HiddenFiles, run_cancellable};

/// The default and the maximum number of files that are returned.
const USUAL_MATCHES: usize = 50;
const MOST_MATCHES: usize = 1_000;
/// How many matches are compared with each other.
const MOST_COMPARED: usize = 20_000;

#[derive(Clone)]
pub struct FilePicker {
    context: Arc<FileContext>,
}

/// A file that matches, and how well: a lower rank is better.
struct RankedMatch {
    rank: (Reverse<u8>, usize),
    found: FileMatch,
}

impl FilePicker {
    /// Creates a picker for these folders, which skips what is `hidden`.
    pub fn new(roots: AllowedFolders, limits: FileLimits, hidden: HiddenFiles) -> Self {
        Self { context: FileContext::new(roots, limits, hidden) }
    }

    /// Finds files and folders whose path from an allowed folder contains all words of the query,
    /// in any case. Dropping the future ends the search.
    pub async fn find_files(&self, query: &str, limit: Option<u32>) -> Result<FileMatches, String> {
        let words: Vec<String> = query.split_whitespace().map(folded_text).collect();
        let limit =
            limit.map_or(USUAL_MATCHES, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let limit = limit.clamp(1, MOST_MATCHES);
        let context = Arc::clone(&self.context);
        let found = run_cancellable(move |stop| find_matches(&context, &words, limit, stop)).await;
        found.unwrap_or_else(|| Err("the search broke off: try again".to_owned()))
    }

    pub async fn read_file(&self, wanted: WantedFile) -> Result<FileText, String> {
        let context = Arc::clone(&self.context);
        let text = run_cancellable(move |stop| read_wanted(&context, &wanted, stop)).await;
        text.unwrap_or_else(|| Err("the file could not be read: try again".to_owned()))
    }
}

fn find_matches(
    context: &FileContext,
    words: &[String],
    limit: usize,
    stop: &CancelFlag,
) -> Result<FileMatches, String> {
    let (mut matches, mut truncated) = (Vec::new(), false);
    for (start, root) in &context.roots.outermost() {
        let mut filter = HiddenFilter::new(&context.hidden, "search_files", start.clone());
        let gaps = FolderWalk::new(root, false, stop)?.visit_all(&mut |entry| {
            let is_folder = entry.kind == FileKind::Folder;
            let is_shown = is_folder || entry.kind == FileKind::File;
            // A name that is not UTF-8 cannot be sent back.
            if let (true, Ok(rest)) = (is_shown, str::from_utf8(entry.bytes)) {
                if filter.hides(entry) {
                    return FolderStep::Past;
                }
                if let Some(rank) = rank_path(words, rest) {
                    let found = context.file_match(&start.join(rest), is_folder);
                    matches.push(RankedMatch { rank, found });
                }
            }
            if matches.len() < MOST_COMPARED { FolderStep::On } else { FolderStep::Enough }
        })?;
        truncated |= gaps.is_unfinished() || matches.len() >= MOST_COMPARED;
    }
    // Equals are in the order of their paths: that of a folder may be another each time.
    matches.sort_by(|one, other| (one.rank, &one.found.path).cmp(&(other.rank, &other.found.path)));
    truncated |= matches.len() > limit;
    let files = matches.into_iter().take(limit).map(|ranked| ranked.found).collect();
    Ok(FileMatches { files, truncated })
}

/// Returns how well a path fits, or `None` if a word does not occur in it. Words in the name count
/// more than those in folders, and a short path comes before a long one.
fn rank_path(words: &[String], path: &str) -> Option<(Reverse<u8>, usize)> {
    let path = folded_text(path);
    let name = path.rsplit('/').next().unwrap_or(&path);
    words.iter().all(|word| path.contains(word.as_str())).then_some(())?;
    let points = words.iter().map(|word| match name {
        name if name.starts_with(word.as_str()) => 2,
        name if name.contains(word.as_str()) => 1,
        _ => 0,
    });
    Some((Reverse(points.fold(0_u8, u8::saturating_add)), path.len()))
}

fn folded_text(text: &str) -> String {
    text.chars().map(fold_case).collect()
}

fn read_wanted(
    context: &FileContext,
    wanted: &WantedFile,
    stop: &CancelFlag,
) -> Result<FileText, String> {
    let WantedFile { path, offset, limit } = wanted;
    let failed = |reason: String| cannot_text("read", path, reason);
    let place = context.roots.locate(path).map_err(failed)?;
    if context.is_hidden(&place, path) {
        return Err(failed("a rule keeps it from agents".to_owned()));
    }
    let input = json!({ "path": path, "offset": offset, "limit": limit });
    let outcome = read_file(context, &FileToolInput::from_json(&input.to_string(), "")?, stop)?;
    serde_json::from_str(outcome.result.get()).map_err(|error| failed(error.to_string()))
}

impl FileContext {
    fn file_match(&self, path: &Path, is_folder: bool) -> FileMatch {
        let absolute = path.to_string_lossy().into_owned();
        let name = self.roots.in_working_folder(path).unwrap_or_else(|| absolute.clone());
        let kind = if is_folder { "folder" } else { "file" };
        FileMatch { path: absolute, name, kind: kind.to_owned() }
    }

    /// Returns true if rules keep a file from searches, by its name or where its links lead.
    fn is_hidden(&self, place: &FileLocation<'_>, path: &str) -> bool {
        // Both names, because rules may name the link or the file.
        let paths = [Some(self.roots.absolute(path)), place.real_path().ok()];
        self.roots.each().any(|root| {
            let Ok(start) = root.real_path() else { return false };
            let Some(hides) = (self.hidden)("read_file", &start) else { return false };
            paths.iter().flatten().any(|path| path.starts_with(&start) && hides(path))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tool::files::HiddenTest;

    /// A folder with some files, of which `secret` is hidden.
    struct Shelf {
        folder: tempfile::TempDir,
        picker: FilePicker,
    }

    impl Shelf {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("root");
            for file in ["src/ledger.rs", "src/main.rs", "docs/Ledger.md", "secret/ledger.key"] {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "one\ntwo\n").unwrap();
            }
            fs::write(root.join(".gitignore"), "target\n").unwrap();
            fs::create_dir(root.join("target")).unwrap();
            fs::write(root.join("target/ledger.o"), "").unwrap();
            fs::write(folder.path().join("outside-ledger"), "canary").unwrap();
            symlink("../outside-ledger", root.join("link-ledger")).unwrap();
            symlink("secret/ledger.key", root.join("alias")).unwrap();
            let hidden: HiddenFiles = Arc::new(|_, _| {
                let hides = |path: &Path| path.iter().any(|name| name == "secret");
                Some(Box::new(hides) as HiddenTest)
            });
            let roots = AllowedFolders::open(&root, &[root.clone(), root.join("src")]).unwrap();
            Self { folder, picker: FilePicker::new(roots, FileLimits::default(), hidden) }
        }

        async fn names(&self, query: &str, limit: Option<u32>) -> (Vec<String>, bool) {
            let found = self.picker.find_files(query, limit).await.unwrap();
            (found.files.into_iter().map(|found| found.name).collect(), found.truncated)
        }

        async fn read(&self, path: &str, limit: Option<u64>) -> Result<FileText, String> {
            let wanted = WantedFile { path: path.to_owned(), offset: None, limit };
            self.picker.read_file(wanted).await
        }
    }

    #[tokio::test]
    async fn files_are_found_by_the_words_of_their_paths() {
        let shelf = Shelf::new();
        assert_eq!(
            shelf.names("LEDGER", None).await,
            (vec!["src/ledger.rs".to_owned(), "docs/Ledger.md".to_owned()], false)
        );
        assert_eq!(shelf.names("src led", None).await.0, ["src/ledger.rs"]);
        assert_eq!(shelf.names("ledger", Some(1)).await, (vec!["src/ledger.rs".to_owned()], true));
        assert_eq!(shelf.names("nothing", None).await, (Vec::new(), false));
        let all = shelf.names("", None).await.0;
        let expected =
            ["src", "docs", ".gitignore", "src/main.rs", "src/ledger.rs", "docs/Ledger.md"];
        assert_eq!(all, expected);
        let found = shelf.picker.find_files("docs", None).await.unwrap().files;
        assert_eq!((&*found[0].kind, &*found[1].kind), ("folder", "file"));
        assert!(found[0].path.starts_with(shelf.folder.path().to_str().unwrap()), "{found:?}");
    }

    #[tokio::test]
    async fn files_are_read_as_the_tools_read_them() {
        let shelf = Shelf::new();
        let text = shelf.read("src/main.rs", Some(1)).await.unwrap();
        assert_eq!((&*text.content, text.last_line, text.more), ("one\n", 1, true));
        let refused = async |path: &str| shelf.read(path, None).await.unwrap_err();
        assert!(refused("../outside-ledger").await.contains("outside the allowed folders"));
        assert!(refused("link-ledger").await.contains("leads out"));
        assert!(refused("missing").await.contains("does not exist"));
        assert!(refused("src").await.contains("it is a folder"));
        for hidden in ["secret/ledger.key", "alias", "src/../secret/ledger.key"] {
            assert!(refused(hidden).await.contains("a rule keeps it from agents"), "{hidden}");
        }
    }
}
