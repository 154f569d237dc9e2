//! Finds a model server on this machine whose address is not configured.
//!
//! A conversation may hold anything, so it is not sent to whatever listens somewhere. The server
//! has to listen on this machine, as this user or as a service of the system, and has to list its
//! models. The kernel's table of sockets tells the first two, and only servers in it are contacted.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use rustix::process::getuid;

use super::WORDS;
use crate::engine::model_api::{ApiLink, ListedModel, base_address, list_models};

/// The ports at which model servers listen unless told otherwise.
pub const USUAL_PORTS: [u16; 4] = [11434, 1234, 8080, 8000];
/// How long a server may take to list its models. Nothing is loaded for that.
const PATIENCE: Duration = Duration::from_millis(300);
/// The tables of sockets, for the two kinds of addresses.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The state of a socket that listens, in the tables.
const LISTENING: &str = "0A";
/// The first number of a person's account; services of the system have lower ones.
const FIRST_PERSON: u32 = 1000;

#[derive(Debug)]
pub(super) struct LocalServer {
    /// What is known to listen there, such as `Ollama`.
    pub(super) name: &'static str,
    pub(super) address: String,
    /// Its models; at least one.
    pub(super) models: Vec<ListedModel>,
}

pub(super) async fn find_with_model(ports: &[u16]) -> Option<LocalServer> {
    // A table that cannot be read lists nothing.
    let tables = TABLES.map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let own = getuid().as_raw();
    let listeners: Vec<Listener> = tables
        .iter()
        .flat_map(|table| parse_listeners(table))
        .filter(|it| it.is_trusted(own))
        .collect();
    for port in ports {
        let Some(listener) = listeners.iter().find(|listener| listener.port == *port) else {
            continue;
        };
        let address = format!("http://{}:{port}", listener.host);
        if let Some(models) = ask_for_models(&address).await {
            return Some(LocalServer { name: usual_server_name(*port), address, models });
        }
    }
    None
}

/// Returns the models of a compatible server; `None` if the server is not compatible or has no
/// model.
async fn ask_for_models(address: &str) -> Option<Vec<ListedModel>> {
    let address = base_address(&format!("{address}/v1/models"), &WORDS).ok()?;
    let link = Arc::new(ApiLink::new(&address, None, None, &WORDS, PATIENCE).ok()?);
    let models = list_models(&link, address, HeaderMap::new(), PATIENCE).await.ok()?;
    (!models.is_empty()).then_some(models)
}

fn usual_server_name(port: u16) -> &'static str {
    match port {
        11434 => "Ollama",
        1234 => "LM Studio",
        8080 => "llama.cpp",
        8000 => "vLLM",
        _ => "a model server",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Listener {
    host: &'static str,
    port: u16,
    /// The account that opened it.
    owner: u32,
}

impl Listener {
    /// Returns true if it belongs to this user or to the system. Another person could read along.
    fn is_trusted(&self, own: u32) -> bool {
        self.owner == own || self.owner < FIRST_PERSON
    }
}

/// Returns the sockets in a table that listen on a loopback address or on all addresses.
fn parse_listeners(table: &str) -> impl Iterator<Item = Listener> {
    table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, local, _, LISTENING, _, _, _, owner, ..] = fields.as_slice() else { return None };
        let (address, port) = local.split_once(':')?;
        let host = match address {
            // The bytes are in the machine's own byte order.
            "0100007F" | "7F000001" | "00000000" => "127.0.0.1",
            // A socket for IPv6 need not take IPv4 as well, and then another account may listen at
            // the same port there.
            "00000000000000000000000001000000"
            | "00000000000000000000000000000001"
            | "00000000000000000000000000000000" => "[::1]",
            _ => return None,
        };
        Some(Listener {
            host,
            port: u16::from_str_radix(port, 16).ok()?,
            owner: owner.parse().ok()?,
        })
    })
}

#[cfg(test)]
mod tests;
