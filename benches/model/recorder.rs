//! Replaces the CLI once: records how it was started, and then becomes it.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

/// The recorder's name, a link to the benchmark.
pub(crate) const NAME: &str = "recorder";
/// The real CLI's name, a link beside it.
pub(crate) const CLI: &str = "claude";
/// The file with the recording, beside it.
const RECORD: &str = "started.json";
const CONFIG: &str = "mcp.json";
const CONFIG_OPTION: &str = "--mcp-config";

/// How a contender starts the CLI.
#[derive(Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
}

impl Start {
    pub(crate) fn load(folder: &Path) -> Self {
        let record = fs::read(folder.join(RECORD)).expect("the recorder has run");
        serde_json::from_slice(&record).expect("the recorder writes JSON")
    }

    fn save(&self, folder: &Path) {
        let record = serde_json::to_vec(self).expect("this can be JSON");
        fs::write(folder.join(RECORD), record).expect("the folder can be written");
    }
}

pub(crate) fn run(folder: &Path) -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let kept =
        Start { arguments: keep_config(&arguments, folder), environment: env::vars().collect() };
    kept.save(folder);
    let cli = fs::canonicalize(folder.join(CLI)).expect("the CLI is there");
    let error = Command::new(cli).args(arguments).exec();
    panic!("the CLI cannot be started: {error}");
}

/// Returns the arguments with a copy of the temporary file that lists the MCP servers.
fn keep_config(arguments: &[String], folder: &Path) -> Vec<String> {
    let mut arguments = arguments.to_vec();
    if let Some(config) = config_of(&arguments).filter(|config| !config.starts_with('{')) {
        let copy = folder.join(CONFIG);
        fs::copy(config, &copy).expect("the file can be copied");
        let place = arguments.iter().position(|argument| argument == config);
        arguments[place.expect("it is there")] = copy.display().to_string();
    }
    arguments
}

/// Returns the MCP servers that the CLI gets, or the file that lists them.
pub(crate) fn config_of(arguments: &[String]) -> Option<&str> {
    let place = arguments.iter().position(|argument| argument == CONFIG_OPTION)?;
    arguments.get(place + 1).map(String::as_str)
}
