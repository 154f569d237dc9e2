//! Real MCP servers as sources of tools: from npm and from Python's index on stdio, a Python one
//! over HTTP, and a host of callgate itself.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::DEADLINE;
use callgate_testkit::tools;
use callgate_tools::{Host, NoArguments, Tool, blocking};
use serde_json::json;

use crate::fixture::Setup;

const ALLOWED: &str = "[[rule]]\nname = \"mcp\"\ndecide = \"allow\"\ntool = \"mcp__*\"\n";

/// Calls one tool of a server, and gives what the model was told.
fn call(setup: Setup, config: &str, fake: &Messages) -> String {
    let mut agent = setup.rules(ALLOWED).config(config).start();
    agent.say("1", "go");
    let all = agent.all("1");
    assert_eq!(all.last().unwrap()["type"], "done", "{all:#?}");
    let told = fake.last().tool_results().remove(0);
    assert!(!told.is_error, "{}\n{}", told.text, agent.piped.stderr());
    told.text
}

#[test]
fn the_filesystem_server_from_npm() {
    let Some((node, script)) = tools::mcp_files() else { return };
    let fake = Messages::start([]);
    let setup = Setup::on(&fake).file("a.txt", "what it holds");
    let path = setup.work().join("a.txt");
    fake.extend([
        Turn::tool_use("mcp__files__read_text_file", json!({"path": path})),
        Turn::text("done"),
    ]);
    let config = format!(
        "[agent.mcp_servers.files]\ncommand = {node:?}\nargs = [{script:?}, {:?}]\n",
        setup.work()
    );
    assert_eq!(call(setup, &config, &fake), "what it holds");
    assert!(fake.last().tool("mcp__files__write_file").is_some());
}

#[test]
fn the_time_server_from_pypi() {
    let Some(server) = tools::mcp_time() else { return };
    let input = json!({"time": "12:00", "source_timezone": "UTC", "target_timezone": "UTC"});
    let fake =
        Messages::start([Turn::tool_use("mcp__time__convert_time", input), Turn::text("done")]);
    let config = format!("[agent.mcp_servers.time]\ncommand = {server:?}\n");
    let text = call(Setup::on(&fake), &config, &fake);
    assert!(text.contains("T12:00:00+00:00"), "{text}");
}

/// A server that is ended when it is dropped.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) port: u16,
}

impl HttpServer {
    /// Starts a server that greets those who send the right header.
    fn start(python: &std::path::Path) -> Self {
        Self::run(
            python,
            "import sys\n\
             from fastmcp import FastMCP\n\
             from fastmcp.server.dependencies import get_http_headers\n\
             server = FastMCP('greeter')\n\
             @server.tool\n\
             def greet(name: str) -> str:\n    \
             return f\"Hello {name}, {get_http_headers().get('x-key')}\"\n\
             server.run(transport='http', host='127.0.0.1', port=int(sys.argv[1]), show_banner=False)\n",
        )
    }

    /// Starts a script that serves at the port in its first argument.
    pub(crate) fn run(python: &std::path::Path, script: &str) -> Self {
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut child = Command::new(python)
            .args(["-c", script, &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let end = Instant::now() + DEADLINE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if child.try_wait().unwrap().is_some() || Instant::now() > end {
                child.kill().ok();
                let mut words = String::new();
                child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
                panic!("the server does not serve: {words}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, port }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_server_over_http() {
    let Some(python) = tools::fastmcp() else { return };
    let server = HttpServer::start(&python);
    let input = json!({"name": "Ada"});
    let fake = Messages::start([Turn::tool_use("mcp__far__greet", input), Turn::text("done")]);
    let config = format!(
        "[agent.mcp_servers.far]\nurl = \"http://127.0.0.1:{}/mcp\"\nheaders = {{ X-Key = \"k1\" }}\n",
        server.port
    );
    assert_eq!(call(Setup::on(&fake), &config, &fake), "Hello Ada, k1");
}

#[test]
fn a_host_of_callgate() {
    let greet = Tool::blocking("greet", "Greets.", |_: NoArguments, _| "hello from the host");
    let fake = Messages::start([Turn::tool_use("mcp__host__greet", json!({})), Turn::text("done")]);
    let setup = Setup::on(&fake);
    let sockets = setup.home().join("host");
    std::fs::create_dir(&sockets).unwrap();
    let host = Host::new(vec![greet]).unwrap().named("host").unwrap().folder(sockets);
    let host = host.bridge(env!("CARGO_BIN_EXE_callgate"));
    let session = blocking::start(&host).unwrap();
    let bridge = session.bridge_command().unwrap();
    let config = format!(
        "[agent.mcp_servers.host]\ncommand = {:?}\nargs = {:?}\n",
        bridge.program, bridge.arguments
    );
    assert_eq!(call(setup, &config, &fake), "hello from the host");
}
