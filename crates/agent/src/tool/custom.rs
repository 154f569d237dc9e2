//! Tools of the user's own: a program, and a JSON file that describes it, in a folder of callgate.
//!
//! `NAME.json` describes the tool `custom__NAME`; the program is the file `NAME` beside it. It runs
//! as `run_shell_command` runs a program, with the arguments as JSON on its standard input. What it
//! prints is the result, and an exit code other than 0 is a failure.
//!
//! Whoever can write there determines what is run, so the folder and the files must belong to the
//! user, and nobody else may be able to change them. The folder is guarded like all of callgate's.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use callgate_link::sync::lock;
use callgate_link::text_file::read_limited_text;
use callgate_wire::session::tool_kind;
use rustix::fs::{MemfdFlags, OFlags, memfd_create};
use rustix::process::geteuid;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::BoxFuture;
use crate::tool::run::{FixedProgram, RunSettings, run_program};
use crate::tool::{
    AgentTool, ToolInvocation, ToolSource, ToolSpec, TurnContext, function_tool, input_schema,
    is_name_character, raw_json,
};

/// The prefix of the tools' names. No tool that rules know begins with it, so that nothing is
/// allowed because of its name.
const PREFIX: &str = "custom__";
/// The longest name of a tool, without the prefix.
const LONGEST_NAME: usize = 48;
/// The largest description that is read, in bytes.
const LARGEST: u64 = 64 * 1024;
const MOST_TOOLS: usize = 64;
/// The bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// The tools in a folder, which is read before each turn.
pub struct CustomTools(Arc<CustomFolder>);

struct CustomFolder {
    folder: PathBuf,
    commands: RunSettings,
    /// The settings without secrets in the environment, once they were needed.
    scrubbed: OnceLock<Arc<RunSettings>>,
    warn: crate::mcp::Warning,
    revision: AtomicU64,
    known: Mutex<KnownTools>,
}

#[derive(Default)]
struct KnownTools {
    /// The files, with the metadata by which changes are noticed.
    stamps: Vec<FileMark>,
    tools: Vec<Arc<dyn AgentTool>>,
}

/// The name of a description, and the metadata by which changes of it and of its program are
/// noticed.
type FileMark = (String, [[i64; 3]; 2]);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CustomForm {
    description: String,
    #[serde(default = "any_object")]
    input_schema: Box<RawValue>,
    timeout_seconds: Option<u32>,
}

fn any_object() -> Box<RawValue> {
    raw_json(&serde_json::json!({ "type": "object" }))
}

impl CustomTools {
    /// Creates the source. The folder is read before each turn and may be absent.
    pub fn new(folder: PathBuf, commands: RunSettings, warn: crate::mcp::Warning) -> Self {
        Self(Arc::new(CustomFolder {
            folder,
            commands,
            scrubbed: OnceLock::new(),
            warn,
            revision: AtomicU64::new(0),
            known: Mutex::default(),
        }))
    }
}

impl CustomFolder {
    /// Reads the folder again if something in it has changed.
    fn refresh(&self) {
        let stamps = self.stamps();
        let mut known = lock(&self.known);
        if known.stamps == stamps {
            return;
        }
        let mut tools: Vec<Arc<dyn AgentTool>> = Vec::new();
        for (name, _) in stamps.iter().take(MOST_TOOLS) {
            match self.read_tool(name) {
                Ok(tool) => tools.push(tool),
                Err(why) => {
                    let file = self.folder.join(name);
                    (self.warn)(&format!("the tool {} is not used: {why}", file.display()));
                }
            }
        }
        *known = KnownTools { stamps, tools };
        self.revision.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the descriptions in the folder, in the order of their names.
    fn stamps(&self) -> Vec<FileMark> {
        // Without the folder there are no tools.
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mark = |path: &Path| {
            let meta = fs::symlink_metadata(path).ok();
            // The change time and not that of the content: `chmod` makes a program usable as well.
            meta.map_or([0; 3], |meta| [meta.ctime(), meta.ctime_nsec(), i64::from(meta.mode())])
        };
        let stamp = |entry: io::Result<fs::DirEntry>| {
            let file = entry.ok()?.file_name().into_string().ok()?;
            let name = file.strip_suffix(".json")?.to_owned();
            let marks = [file.as_str(), &name].map(|file| mark(&self.folder.join(file)));
            Some((name, marks))
        };
        let mut stamps: Vec<_> = entries.filter_map(stamp).collect();
        // A folder has no order, and tools in another one would miss the cache of the provider.
        stamps.sort();
        stamps
    }

    fn read_tool(&self, name: &str) -> Result<Arc<dyn AgentTool>, String> {
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_name_character) {
            return Err(format!(
                "its name must be at most {LONGEST_NAME} letters, digits, `-` and `_`"
            ));
        }
        check_chain(&self.folder)?;
        let file = open_private(&self.folder.join(format!("{name}.json")))?;
        let text = read_limited_text(file, LARGEST)
            .map_err(|error| format!("it cannot be read: {error}"))?;
        let form: CustomForm = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if form.description.trim().is_empty() {
            return Err("its `description` is empty".to_owned());
        }
        let schema = serde_json::from_str(form.input_schema.get())
            .map_err(|_| "its `input_schema` is not an object".to_owned())?;
        let schema = input_schema(schema)?;
        let program = self.folder.join(name);
        check_program(&program)?;
        let spec = ToolSpec {
            name: format!("{PREFIX}{name}").into(),
            description: form.description.into(),
            input_schema: raw_json(&schema),
            // What the program does is not known.
            is_read_only: false,
            kind: tool_kind::EXECUTE,
        };
        let commands =
            self.scrubbed.get_or_init(|| Arc::new(self.commands.clone().without_secrets()));
        let commands = Arc::clone(commands);
        let limit = form.timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        Ok(function_tool(spec, move |invocation| {
            let (program, commands) = (program.clone(), Arc::clone(&commands));
            async move {
                let ToolInvocation { input, progress, .. } = invocation;
                let prepare = move || prepare_program(program, limit, &input);
                let program = tokio::task::spawn_blocking(prepare).await;
                let program = program.map_err(|error| error.to_string()).flatten()?;
                Ok(run_program(&commands, program, progress).await)
            }
        }))
    }
}

impl ToolSource for CustomTools {
    fn prepare<'a>(&'a self, _: TurnContext<'a>) -> BoxFuture<'a, ()> {
        let folder = Arc::clone(&self.0);
        Box::pin(async move {
            // The disk may take its time. After a panic the tools stay as they were.
            tokio::task::spawn_blocking(move || folder.refresh()).await.ok();
        })
    }

    fn revision(&self) -> u64 {
        self.0.revision.load(Ordering::Relaxed)
    }

    fn tools(&self) -> Vec<Arc<dyn AgentTool>> {
        lock(&self.0.known).tools.clone()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Prepares a call. The program may have changed since its description was read.
fn prepare_program(
    program: PathBuf,
    limit: Option<Duration>,
    input: &RawValue,
) -> Result<FixedProgram, String> {
    program.parent().map_or(Ok(()), check_chain)?;
    check_program(&program)?;
    let input = input_file(input.get().as_bytes())
        .map_err(|error| format!("the input cannot be given: {error}"))?;
    Ok(FixedProgram { program, input, limit })
}

/// Returns a file in memory from which a program reads its input.
pub(crate) fn input_file(bytes: &[u8]) -> io::Result<File> {
    // Not a pipe: a program that does not read its input would block whoever writes it.
    let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

/// Checks that nobody else can change the folder, or put another one in its place.
fn check_chain(folder: &Path) -> Result<(), String> {
    for folder in [Some(folder), folder.parent()].into_iter().flatten() {
        let meta = fs::symlink_metadata(folder)
            .map_err(|error| format!("{} cannot be examined: {error}", folder.display()))?;
        if !meta.is_dir() {
            return Err(format!("{} is not a folder", folder.display()));
        }
        check_owner(folder, &meta)?;
    }
    Ok(())
}

/// Checks that a program is a file of the user's that can be executed.
fn check_program(program: &Path) -> Result<(), String> {
    let meta = fs::symlink_metadata(program)
        .map_err(|error| format!("its program {} is missing: {error}", program.display()))?;
    if !meta.is_file() {
        return Err(format!("{} is not a regular file", program.display()));
    }
    check_owner(program, &meta)?;
    if meta.mode() & 0o100 == 0 {
        return Err(format!("{} is not executable", program.display()));
    }
    Ok(())
}

fn check_owner(path: &Path, meta: &fs::Metadata) -> Result<(), String> {
    if meta.uid() != geteuid().as_raw() {
        return Err(format!("{} belongs to another user", path.display()));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        return Err(format!("others can write to {}: take that away", path.display()));
    }
    Ok(())
}

/// Opens a regular file that only the user can change.
fn open_private(path: &Path) -> Result<File, String> {
    // No link is followed, and opening a pipe does not block.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| format!("it cannot be opened: {error}"))?;
    let meta = file.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    check_owner(path, &meta)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
