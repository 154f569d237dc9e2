//! Commands that connect to other machines.

use std::sync::LazyLock;

use super::parse_pattern_list;
use crate::act::{Act, ActClass, host_of, split_port};
use crate::certain::{CertainReading, CertainRun};
use crate::rule::command::CommandPattern;

pub(super) const CONNECTING: &str = "\
    curl; wget; aria2c; http; https; xh; nc; ncat; socat; telnet; ftp; ssh; scp; sftp; rsync; \
    rclone; gh; git push; git pull; git fetch; git clone; git ls-remote; git remote update; git \
    submodule update; npm ci; npm install; npm i; npm publish; pnpm install; pnpm add; yarn \
    install; yarn add; pip install; pip3 install; pip download; uv pip install; uv add; uv sync; \
    poetry install; poetry add; cargo install; cargo publish; cargo update; cargo fetch; go get; \
    go install *@*; go mod download; gem install; bundle install; composer install; brew \
    install; apt install; apt update; apt-get install; apt-get update; apt-get upgrade; docker \
    pull; docker push; docker login; helm install; terraform apply; ansible-playbook";
static NETWORK: LazyLock<Vec<CommandPattern>> = LazyLock::new(|| parse_pattern_list(CONNECTING));
/// Those that may stay on this machine: they do if each address among their words does.
const WITH_ADDRESS: [&str; 10] =
    ["curl", "wget", "http", "https", "xh", "nc", "ncat", "socat", "telnet", "ftp"];
/// Those that copy between folders, unless a word names a machine before a colon.
const WITH_COLON: [&str; 4] = ["rsync", "scp", "rclone", "clone"];

/// Returns the host or the command by which a call uses the network.
pub(super) fn find_network_use(act: &Act, reading: &CertainReading<'_>) -> Option<String> {
    if act.class == ActClass::Network {
        let host = act.hosts.first().cloned();
        return Some(host.unwrap_or_else(|| act.tool.clone()));
    }
    reading.runs().find_map(|run| {
        let is_it = |pattern: &CommandPattern| pattern.surely_begins(run.words, &act.home);
        (NETWORK.iter().any(is_it) && !stays_here(&run)).then(|| run.render_line())
    })
}

/// Returns true if a command certainly connects to this machine, or to none.
fn stays_here(run: &CertainRun<'_>) -> bool {
    let texts = || run.texts().skip(1).filter(|text| !text.starts_with('-'));
    if WITH_ADDRESS.iter().any(|name| run.is_named(name)) {
        // One local address is not enough if another word is a URL of another machine.
        let is_elsewhere = |text: &str| text.contains("://") && !is_here(text);
        return texts().any(is_here) && !texts().any(is_elsewhere);
    }
    // `clone` is a subcommand of git and therefore an argument; the others are programs.
    let copies = WITH_COLON.iter().any(|name| run.is_named(name) || texts().next() == Some(name));
    copies && run.is_known() && !texts().any(|text| text.contains(':'))
}

/// Returns true for an address of this machine, with or without a scheme.
fn is_here(text: &str) -> bool {
    // `host_of` requires a scheme; which one does not matter here.
    let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    host_of(&url).is_some_and(|host| {
        let name = split_port(&host).0;
        matches!(name, "localhost" | "0.0.0.0" | "::1" | "[::1]") || name.starts_with("127.")
    })
}
