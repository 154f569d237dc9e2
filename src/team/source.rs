//! The address at which a team's newest rules are.

use std::time::Duration;

use callgate_approval::daemon::Warn;
use callgate_http::{ProxyChoice, TextSource};
use callgate_policy::TeamFile;
use callgate_team::{LARGEST_BUNDLE, TeamKey};

use super::intake::BundleIntake;
use crate::config::{Config, process_surroundings};

/// How often the desk looks for newer rules.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// Fetches what is at an address now.
pub(crate) fn fetch_once(config: &Config, address: &str) -> Result<String, String> {
    let source = open_source(config, address)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(source.fetch(LARGEST_BUNDLE)).map_err(|error| error.to_string())
}

/// Takes newer rules from the address of the team's, as long as it is polled. On a machine without
/// one it does nothing.
pub(crate) async fn follow_team_rules(config: &Config, warn: &Warn) {
    // A file that cannot be read is not reported here, because the rules in force report it.
    let kept = TeamFile::beside(&config.database).read().ok().flatten();
    match kept.as_ref().and_then(|rules| rules.source()) {
        Some(address) => follow_address(config, address, LOOK_EVERY, warn).await,
        None => std::future::pending().await,
    }
}

async fn follow_address(config: &Config, address: &str, every: Duration, warn: &Warn) {
    let source = match open_source(config, address) {
        Ok(source) => source,
        Err(why) => {
            warn(&format!("the team's rules cannot be fetched: {why}"));
            // The end of this future would end the desk.
            return std::future::pending().await;
        }
    };
    let (mut last_text, mut last_fault) = (None, None);
    loop {
        let fetched = source.fetch(LARGEST_BUNDLE).await.map_err(|error| error.to_string());
        let fault = match fetched {
            // What was taken a moment ago would be again. What was refused may be taken another
            // time: the disk may have been full.
            Ok(text) if last_text.as_ref() == Some(&text) => None,
            Ok(text) => {
                let taken = take_bundle(config, text.clone(), None, "callgate up").await;
                last_text = taken.is_ok().then_some(text);
                taken.map(|told| told.iter().for_each(|told| warn(told))).err()
            }
            Err(why) => Some(format!("they cannot be fetched: {why}")),
        };
        if let Some(why) = fault.as_ref().filter(|_| fault != last_fault) {
            warn(&format!("the team's rules stay as they are: {why}"));
        }
        last_fault = fault;
        tokio::time::sleep(every).await;
    }
}

/// Takes a bundle that has come over the network, and returns what is worth telling. `key` is
/// trusted from then on, if none was before.
pub(crate) async fn take_bundle(
    config: &Config,
    text: String,
    key: Option<TeamKey>,
    by: &'static str,
) -> Result<Vec<String>, String> {
    let config = config.clone();
    let take = move || {
        let intake = BundleIntake { config: &config, key, replaces_key: false, source: None, by };
        intake.take(&text)
    };
    // The disk and the ledger may take a while, and the desk must not wait for them.
    let receipt = tokio::task::spawn_blocking(take).await.map_err(|error| error.to_string())??;
    let problems = receipt.problems.iter().map(ToString::to_string);
    let told = std::iter::once(receipt.summary).chain(problems);
    Ok(if receipt.is_new { told.collect() } else { Vec::new() })
}

fn open_source(config: &Config, address: &str) -> Result<TextSource, String> {
    TextSource::new(address, &find_proxy(config)).map_err(|error| error.to_string())
}

/// Returns the proxy of the settings, or the one of the login with what it exempts.
pub(crate) fn find_proxy(config: &Config) -> ProxyChoice {
    if let Some(own) = &config.agent.proxy {
        return ProxyChoice { proxy: Some(own.reveal().to_owned()), exempt: None };
    }
    let around = process_surroundings();
    let named = |names: [&str; 2]| {
        let found = names.into_iter().filter_map(|name| around.variable(name));
        found.filter_map(|value| value.into_string().ok()).find(|value| !value.is_empty())
    };
    ProxyChoice {
        proxy: named(["HTTPS_PROXY", "https_proxy"]),
        exempt: named(["NO_PROXY", "no_proxy"]),
    }
}

#[cfg(test)]
mod tests;
