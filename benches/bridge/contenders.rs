//! The contenders: the bridge, the Python peer and the floor, each ready to be started.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::calls::{self, TOOL};
use crate::common::peers::{compile, peer};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

/// The index of each contender in all arrays.
pub(crate) const CALLGATE: usize = 0;
pub(crate) const PYTHON: usize = 1;
pub(crate) const FLOOR: usize = 2;
pub(crate) const ALL: [usize; 3] = [CALLGATE, PYTHON, FLOOR];

/// One figure for each contender.
pub(crate) type Trio = [f64; 3];
/// One trio for each round.
pub(crate) type Series = crate::common::series::Series<3>;

/// A program to be measured.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The first requests, and the texts that their answers must contain.
    pub(crate) greeting: [(String, &'static str); 2],
}

/// The folder with the socket, the schema file and the programs that are compiled for the run.
pub(crate) struct Workshop {
    pub(crate) socket: PathBuf,
    schema: PathBuf,
    python: PathBuf,
    floor: PathBuf,
    pub(crate) cpu_clock: PathBuf,
}

impl Workshop {
    pub(crate) fn new(folder: &Path, python: PathBuf) -> Self {
        let schema = folder.join("schema.json");
        fs::write(&schema, calls::schema()).expect("the schema file can be written");
        let floor = compile(folder, "floor");
        let cpu_clock = compile(folder, "cpu_clock");
        Self { socket: folder.join("host.sock"), schema, python, floor, cpu_clock }
    }

    pub(crate) fn callgate(&self) -> Contender {
        // Started as by `mcp_config`: the host checks arguments, as the Python peer's host would.
        let (socket, schema) = (self.socket.clone().into(), self.schema.clone().into());
        let arguments = vec!["bridge".into(), socket, schema, "--host-checks".into()];
        let program = env!("CARGO_BIN_EXE_callgate").into();
        Contender { name: "callgate", program, arguments, greeting: mcp_greeting() }
    }

    pub(crate) fn python(&self) -> Contender {
        let arguments = vec![
            "-O".into(),
            peer("python_bridge.py").into(),
            self.socket.clone().into(),
            self.schema.clone().into(),
        ];
        let program = self.python.clone();
        Contender { name: "the Python peer", program, arguments, greeting: mcp_greeting() }
    }

    /// Creates the floor, which sends `cut` bytes less than it reads of a request and writes `pad`
    /// bytes more than it reads of an answer.
    pub(crate) fn floor(&self, cut: usize, pad: usize) -> Contender {
        let numbers = [cut, pad].map(|number| number.to_string().into());
        let arguments = std::iter::once(self.socket.clone().into()).chain(numbers).collect();
        let greeting = mcp_greeting().map(|(request, _)| (as_one_comment(&request), "#"));
        Contender { name: "the floor", program: self.floor.clone(), arguments, greeting }
    }
}

/// Returns the requests that an MCP client sends before its first call.
fn mcp_greeting() -> [(String, &'static str); 2] {
    [(format!("{INITIALIZE}\n"), "serverInfo"), (format!("{INITIALIZED}\n{LIST}\n"), TOOL)]
}

/// Returns as many bytes, in one line that the floor sends back.
fn as_one_comment(request: &str) -> String {
    format!("{}\n", "#".repeat(request.len() - 1))
}
