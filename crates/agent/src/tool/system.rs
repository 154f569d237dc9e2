//! The tool `get_system_info`: describes the machine as far as commands depend on it. It returns no
//! name of the host and nothing of the environment, and runs no program. Of its user it returns no
//! more than is in the paths of the working folder and the roots.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use callgate_link::file::find_program;
use callgate_wire::session::tool_kind;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::tool::run::{RunSettings, path_folders};
use crate::tool::{AgentTool, CallOutcome, ToolSpec, blocking_tool, raw_json};

const PROGRAMS: [&str; 36] = [
    "bash", "bun", "cargo", "clang", "cmake", "composer", "curl", "deno", "docker", "dotnet", "fd",
    "gcc", "gh", "git", "go", "gradle", "java", "jq", "just", "make", "mvn", "node", "npm", "perl",
    "php", "pip", "pnpm", "podman", "python3", "rg", "ruby", "rustc", "sh", "swift", "uv", "yarn",
];
/// The limit of what is read from a system file, in bytes.
const MOST_READ: u64 = 64 * 1024;

/// Returns the tool `get_system_info`, for the folders and the PATH of the commands.
pub fn build_system_tool(settings: &RunSettings) -> Arc<dyn AgentTool> {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let spec = ToolSpec {
        name: "get_system_info".into(),
        description:
            "Reports the operating system, the processors, the memory, the working folder, \
            the time, and which common programs are installed."
                .into(),
        input_schema: raw_json(&schema),
        is_read_only: true,
        kind: tool_kind::OTHER,
    };
    let (cwd, roots, env) = (settings.cwd.clone(), settings.roots.clone(), settings.env.clone());
    let probe = SystemProbe { cwd, roots, env };
    blocking_tool(spec, "the system cannot be examined", move |_| {
        let info = probe.info();
        Ok(CallOutcome::done(&info, info.text()))
    })
}

struct SystemProbe {
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    env: Vec<(OsString, OsString)>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SystemInfo {
    os: String,
    kernel: String,
    architecture: &'static str,
    cpus: Option<usize>,
    memory: SystemMemory,
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    /// The current time in UTC.
    time: String,
    time_zone: Option<String>,
    programs: Vec<&'static str>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct SystemMemory {
    total_bytes: Option<u64>,
    available_bytes: Option<u64>,
}

impl SystemProbe {
    fn info(&self) -> SystemInfo {
        let folders = path_folders(&self.env);
        SystemInfo {
            os: os_name(&read_system_file("/etc/os-release")),
            kernel: format!("{} {}", read_kernel_word("ostype"), read_kernel_word("osrelease"))
                .trim()
                .to_owned(),
            architecture: std::env::consts::ARCH,
            cpus: available_parallelism().ok().map(Into::into),
            memory: parse_memory(&read_system_file("/proc/meminfo")),
            cwd: self.cwd.clone(),
            roots: self.roots.clone(),
            time: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            time_zone: fs::read_link("/etc/localtime").ok().and_then(|link| time_zone_name(&link)),
            programs: PROGRAMS
                .into_iter()
                .filter(|name| find_program(name, &folders).is_some())
                .collect(),
        }
    }
}

impl SystemInfo {
    fn text(&self) -> String {
        let mebibytes = |bytes: Option<u64>| {
            bytes.map_or("unknown".into(), |bytes| format!("{} MiB", bytes / (1024 * 1024)))
        };
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        let cpus = self.cpus.map_or("unknown".into(), |cpus| cpus.to_string());
        let zone = self.time_zone.as_deref().unwrap_or("unknown");
        format!(
            "os: {}\nkernel: {}\narchitecture: {}\ncpus: {cpus}\nmemory: {} ({} available)\n\
             working folder: {}\nallowed folders: {}\ntime: {} (time zone: {zone})\nprograms: {}",
            self.os,
            self.kernel,
            self.architecture,
            mebibytes(self.memory.total_bytes),
            mebibytes(self.memory.available_bytes),
            self.cwd.display(),
            roots.join(", "),
            self.time,
            self.programs.join(", "),
        )
    }
}

/// Returns the contents of a system file; empty if it cannot be read.
fn read_system_file(path: &str) -> String {
    let mut text = Vec::new();
    // Part of a file is better than nothing.
    File::open(path).and_then(|file| file.take(MOST_READ).read_to_end(&mut text)).ok();
    String::from_utf8_lossy(&text).into_owned()
}

fn read_kernel_word(name: &str) -> String {
    read_system_file(&format!("/proc/sys/kernel/{name}")).trim().to_owned()
}

fn os_name(release: &str) -> String {
    let value = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty())
    };
    value("PRETTY_NAME")
        .or_else(|| value("NAME"))
        .unwrap_or_else(|| std::env::consts::OS.to_owned())
}

fn parse_memory(info: &str) -> SystemMemory {
    let bytes = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    SystemMemory { total_bytes: bytes("MemTotal"), available_bytes: bytes("MemAvailable") }
}

/// Returns the name of the time zone to which the link `/etc/localtime` leads.
fn time_zone_name(link: &Path) -> Option<String> {
    let link = link.to_str()?;
    link.split_once("zoneinfo/").map(|(_, zone)| zone.to_owned())
}

#[cfg(test)]
mod tests;
