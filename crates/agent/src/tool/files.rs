//! The file tools: list, read, write, edit and search, inside the allowed folders and nowhere else.
//!
//! Each allowed folder is opened once ([`AllowedFolders`]). Every path is then resolved by the
//! kernel beneath that handle, so that neither `..` nor a link, a race or a pattern leads out of
//! it. See `docs/decisions/0016-file-tools-beneath-a-handle.md`.
//!
//! When the future of a running tool is dropped, the tool stops: a search at its next entry, and a
//! write before it takes effect.

mod analyze_image;
mod attributes;
mod beneath;
mod draft;
mod edit_file;
mod error_text;
mod hunks;
mod input;
mod instructions;
mod list_files;
mod name;
mod picker;
mod preview;
mod read_file;
mod roots;
mod search;
mod seen_files;
mod specs;
mod target;
mod turn_tracker;
mod write_file;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use callgate_wire::raw::Json;
use callgate_wire::session::ToolLocation;
use callgate_wire::tool_act::ToolKind;
use serde_json::value::RawValue;

pub use instructions::{ProjectInstructions, ReadInstructions};
pub use picker::FilePicker;
pub use roots::{AllowedFolders, AllowedFoldersError};
pub use search::hidden::{HiddenFiles, HiddenTest};
pub(crate) use turn_tracker::{PathChange, RecordedTurn, TurnMark};
pub use turn_tracker::{SnapshotLimits, TrackerSettings, TurnTracker};

use self::error_text::cannot_text;
use self::input::FileToolInput;
use crate::BoxFuture;
use crate::gate::ChangePreview;
use crate::tool::{AgentTool, CallOutcome, FaultContext, ToolInvocation, ToolSpec, schema_fault};
use preview::PreviewedChange;
use roots::FileLocation;
use seen_files::SeenFiles;

#[cfg(test)]
mod tests;

/// The default size limit, in bytes, of a file that is read, written, edited or searched as a
/// whole.
pub const MAX_FILE: u64 = 10 * 1024 * 1024;
/// The default limit, in bytes, of a result's text for the model.
pub const MAX_RESULT: usize = 200 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// The size limit, in bytes, of a file that is read, written, edited or searched as a whole. A
    /// range of lines can be read from a larger file.
    pub max_file: u64,
    /// The approximate limit, in bytes, of a result's text for the model.
    pub max_result: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { max_file: MAX_FILE, max_result: MAX_RESULT }
    }
}

/// Returns the file tools: `list_files`, `read_file`, `write_file`, `edit_file`, `search_files`,
/// `search_text` and `analyze_image`. The two searches skip what is `hidden`.
pub fn build_file_tools(
    roots: AllowedFolders,
    limits: FileLimits,
    hidden: HiddenFiles,
) -> Vec<Arc<dyn AgentTool>> {
    let context = FileContext::new(roots, limits, hidden);
    let all: [(ToolSpec, ToolFunction, Option<CheckFunction>); 7] = [
        (specs::list_files(), list_files::list_files, None),
        (specs::read_file(), read_file::read_file, None),
        (specs::write_file(), write_file::write_file, Some(write_file::check_write)),
        (specs::edit_file(), edit_file::edit_file, Some(edit_file::check_edit)),
        (specs::search_files(), search::search_files::search_files, None),
        (specs::search_text(), search::search_text::search_text, None),
        (specs::analyze_image(), analyze_image::analyze_image, None),
    ];
    let tool = |(spec, work, check)| {
        Arc::new(FileTool { spec, work, check, context: context.clone() }) as Arc<dyn AgentTool>
    };
    all.into_iter().map(tool).collect()
}

/// The function of one tool. Its error is the text for the model.
type ToolFunction = fn(&FileContext, &FileToolInput, &CancelFlag) -> Result<CallOutcome, String>;

/// Finds what would let a call of one tool fail, without changing anything.
type CheckFunction = fn(&FileContext, &FileToolInput) -> Result<(), String>;

struct FileContext {
    roots: AllowedFolders,
    limits: FileLimits,
    hidden: HiddenFiles,
    /// Locked while a file is changed, so that two of our own edits cannot undo each other.
    writing: Mutex<()>,
    seen: SeenFiles,
}

impl FileContext {
    fn new(roots: AllowedFolders, limits: FileLimits, hidden: HiddenFiles) -> Arc<Self> {
        let (writing, seen) = (Mutex::default(), SeenFiles::default());
        Arc::new(Self { roots, limits, hidden, writing, seen })
    }

    /// Returns the place of a path that names a file: it is not empty, and does not end in `/`.
    fn locate_file(&self, path: &str) -> Result<FileLocation<'_>, String> {
        let place = self.roots.locate(path)?;
        if path.is_empty() || path.ends_with('/') {
            return Err("it is not the name of a file: give the path of a file".to_owned());
        }
        Ok(place)
    }
}

struct FileTool {
    spec: ToolSpec,
    work: ToolFunction,
    /// The look at the file before somebody is asked. Tools that only read need none: what a person
    /// is asked about must not be looked at before.
    check: Option<CheckFunction>,
    context: Arc<FileContext>,
}

impl AgentTool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Refuses a path outside the allowed folders.
    fn refusal(&self, input: &RawValue) -> Option<String> {
        // `fault` and the tool itself report what is wrong with the rest of the input.
        let input = FileToolInput::from_json(input.get(), "").ok()?;
        let path = input.optional_text("path").ok()??;
        self.context.roots.leads_out(path).map(|reason| cannot_text("use", path, reason))
    }

    fn fault(&self, input: &RawValue, context: FaultContext<'_>) -> Option<String> {
        let known = specs::input_members(&self.spec);
        let read = FileToolInput::from_json(input.get(), context.conversation);
        let read = match read.and_then(|read| read.refuse_unknown(&known)) {
            Ok(read) => read,
            Err(reason) => return Some(reason),
        };
        schema_fault(&self.spec, input).or_else(|| {
            let check = self.check.filter(|_| read.text("path").is_ok_and(context.may_read))?;
            check(&self.context, &read).err()
        })
    }

    fn run_call(&self, invocation: ToolInvocation) -> BoxFuture<'_, CallOutcome> {
        let (context, work) = (self.context.clone(), self.work);
        let members = specs::input_members(&self.spec);
        let task = run_cancellable(move |stop| {
            let ToolInvocation { input, conversation, .. } = &invocation;
            let input = FileToolInput::from_json(input.get(), conversation);
            let input = input.and_then(|input| input.refuse_unknown(&members));
            input.and_then(|input| work(&context, &input, stop)).unwrap_or_else(CallOutcome::failed)
        });
        Box::pin(async {
            task.await.unwrap_or_else(|| CallOutcome::failed("the file tool broke off: try again"))
        })
    }

    fn locations(&self, input: &RawValue) -> Vec<ToolLocation> {
        // The input may contain a whole file and is not copied here.
        let members = Json::from(input).members();
        let path = match members.get_non_null("path").map(Json::string) {
            Some(Some(path)) if path.len() <= roots::LONGEST_PATH => path,
            // Tools that need no path begin in the working folder.
            None if self.spec.is_read_only => ".".into(),
            _ => return Vec::new(),
        };
        let path = self.context.roots.absolute(&path).to_string_lossy().into_owned();
        // Only `read_file` takes an offset.
        let line = members.get_non_null("offset").and_then(|offset| offset.get().parse().ok());
        vec![ToolLocation { path, line }]
    }

    fn first_line(&self, tool: &str, input: &RawValue) -> BoxFuture<'static, Option<u64>> {
        self.preview_with(tool, input, PreviewedChange::first_line)
    }

    fn preview(&self, tool: &str, input: &RawValue) -> BoxFuture<'static, Option<ChangePreview>> {
        self.preview_with(tool, input, PreviewedChange::to_preview)
    }
}

impl FileTool {
    /// Computes what a call with this input would change, and returns what `shown` makes of it.
    fn preview_with<T: Send + 'static>(
        &self,
        tool: &str,
        input: &RawValue,
        shown: fn(&PreviewedChange) -> Option<T>,
    ) -> BoxFuture<'static, Option<T>> {
        if !ToolKind::for_tool("", tool).changes_files() {
            return Box::pin(async { None });
        }
        let (context, tool, input) = (self.context.clone(), tool.to_owned(), input.to_owned());
        let task = run_cancellable(move |stop| {
            let input = FileToolInput::from_json(input.get(), "").ok()?;
            shown(&PreviewedChange::from_call(&context, &tool, &input.members, stop)?)
        });
        Box::pin(async { task.await.flatten() })
    }
}

/// Runs blocking work that stops soon after the future is dropped. Returns `None` if it panicked.
async fn run_cancellable<T: Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
) -> Option<T> {
    let stop = CancelFlag::default();
    // Under a name, because `_` alone would drop it at once.
    let _dropped = CancelOnDrop(stop.clone());
    tokio::task::spawn_blocking(move || work(&stop)).await.ok()
}

/// A flag that is set once nobody waits for the result any more.
#[derive(Debug, Clone, Default)]
struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    fn is_set(&self) -> bool {
        // Relaxed, because the flag publishes nothing but itself.
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if nobody waits for the result any more.
    fn check_unset(&self) -> Result<(), String> {
        if self.is_set() { Err("it was cancelled".to_owned()) } else { Ok(()) }
    }
}

struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
