//! Changes of several files: patches in the format of Codex, and lists of files.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::desk::{ChangedLine, ContentChange, FileOperation, LineOperation, PatchedFile};

/// The beginnings of lines that name a file.
const HEADINGS: [(&str, FileOperation); 3] = [
    ("*** Add File: ", FileOperation::Add),
    ("*** Update File: ", FileOperation::Update),
    ("*** Delete File: ", FileOperation::Delete),
];
const MOVE: &str = "*** Move to: ";
/// The other lines that begin with stars.
const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchAct<'a> {
    /// The patch; more than one if the input gives several.
    pub texts: Vec<&'a str>,
    /// All files that a program could find in it.
    pub paths: Vec<&'a str>,
    /// Whether it has a line that is nearly one that names a file, or is a list that cannot be
    /// read.
    pub is_odd: bool,
    /// The changes, if the input lists them instead of giving a patch.
    pub listed: Option<Vec<PatchedFile>>,
}

impl<'a> PatchAct<'a> {
    /// Reads a patch. What is in doubt counts as the name of a file.
    pub fn from_texts(texts: Vec<&'a str>) -> Self {
        let mut patch = Self { texts, ..Self::default() };
        // Programs differ in what ends a line, and in whether blanks may precede a heading.
        let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        let lines = patch.texts.iter().flat_map(|text| text.split(ends)).map(str::trim_start);
        for line in lines {
            let headed = parse_header(line).map(|(_, path)| path);
            if let Some(path) = headed.or_else(|| line.strip_prefix(MOVE)) {
                patch.paths.push(path.trim());
            } else {
                let is_frame = [BEGIN, END, END_OF_FILE].contains(&line.trim_end());
                patch.is_odd |= line.starts_with("***") && !is_frame;
            }
        }
        patch
    }

    /// Reads a list of changes. A list with anything that is not known here is odd.
    pub fn of_list(input: &'a Map<String, Value>) -> Self {
        let given = input.get("files").and_then(Value::as_array);
        let named = |file: &'a Value| ["path", "moved_to"].map(|name| file.get(name)?.as_str());
        let paths = given.into_iter().flatten().flat_map(named).flatten().collect();
        let read = |file: &Value| PatchedFile::deserialize(file).ok();
        let listed = given.and_then(|files| files.iter().map(read).collect());
        let is_known = input.keys().all(|name| matches!(name.as_str(), "turn" | "files"));
        Self { texts: Vec::new(), paths, is_odd: listed.is_none() || !is_known, listed }
    }

    /// Returns the change of each file, line by line, or `None` if a program could read the patch
    /// differently.
    pub fn files(&self) -> Option<Vec<PatchedFile>> {
        if let Some(listed) = &self.listed {
            return (!self.is_odd && !listed.is_empty()).then(|| listed.clone());
        }
        // Which of several patches the tool applies is not known.
        let [text] = self.texts[..] else { return None };
        let mut lines = text.trim().lines();
        let is_whole = lines.next()? == BEGIN && lines.next_back()? == END;
        let mut files: Vec<PatchedFile> = Vec::new();
        for line in lines {
            match parse_header(line) {
                Some((operation, path)) => {
                    let path = path.trim().to_owned();
                    files.push(PatchedFile {
                        operation,
                        path,
                        moved_to: None,
                        note: None,
                        changes: Vec::new(),
                    });
                }
                None => add_changed_line(files.last_mut()?, line)?,
            }
        }
        let named = files.iter().map(|file| 1 + usize::from(file.moved_to.is_some()));
        // With fewer files than `from_texts` has found, another program could read more changes.
        let is_exact = is_whole && !self.is_odd && named.sum::<usize>() == self.paths.len();
        (is_exact && !files.is_empty()).then_some(files)
    }
}

/// Returns what happens to which file, if a line says it.
fn parse_header(line: &str) -> Option<(FileOperation, &str)> {
    HEADINGS.iter().find_map(|(heading, operation)| Some((*operation, line.strip_prefix(heading)?)))
}

/// Adds a line to the change of a file. Returns `None` if it does not belong there.
fn add_changed_line(file: &mut PatchedFile, line: &str) -> Option<()> {
    let is_update = file.operation == FileOperation::Update;
    match (file.operation, line.chars().next()) {
        (FileOperation::Update, Some('*')) if line == END_OF_FILE => {}
        (FileOperation::Update, Some('*')) if file.changes.is_empty() => {
            let path = line.strip_prefix(MOVE).filter(|_| file.moved_to.is_none())?;
            file.moved_to = Some(path.trim().to_owned());
        }
        (FileOperation::Update, Some('@')) => {
            let place = line.strip_prefix("@@")?.trim().to_owned();
            let place = Some(place).filter(|place| !place.is_empty());
            file.changes.push(ContentChange { place, ..ContentChange::default() });
        }
        (FileOperation::Add | FileOperation::Update, first) => {
            let op = match first {
                Some('+') => LineOperation::Added,
                Some('-') if is_update => LineOperation::Removed,
                Some(' ') | None if is_update => LineOperation::Same,
                _ => return None,
            };
            if file.changes.is_empty() {
                file.changes.push(ContentChange::default());
            }
            let text = line.get(1..).unwrap_or_default().to_owned();
            let change = file.changes.last_mut()?;
            change.lines.push(ChangedLine { op, old: None, new: None, text });
        }
        (FileOperation::Delete, _) => return None,
    }
    Some(())
}
