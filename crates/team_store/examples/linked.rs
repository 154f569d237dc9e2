//! A program whose size shows what the stores add: it has an HTTP client with TLS and `SQLite`, as
//! callgate has, and with the feature `postgres` also the other store.
//!
//! `linked FILE ADDRESS`, with the database's address in the environment.

use std::process::ExitCode;

use callgate_team_store::{SqliteTeamStore, TeamStore};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(address)) = (arguments.next(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let fetched = runtime.block_on(async {
        let mut response = callgate_http::client_builder().build()?.get(address).send().await?;
        callgate_http::read_body(&mut response, &mut Vec::new(), 1024).await
    });
    let mut stores: Vec<Box<dyn TeamStore>> = Vec::new();
    if let Ok(store) = SqliteTeamStore::open(file.as_ref(), "desk", 30) {
        stores.push(Box::new(store));
    }
    #[cfg(feature = "postgres")]
    if let Ok(url) = std::env::var("DATABASE_URL") {
        let settings = callgate_team_store::PostgresSettings {
            url: callgate_wire::HiddenText::new(url),
            desk: "desk".into(),
            patience: std::time::Duration::from_secs(5),
        };
        if let Ok(store) = callgate_team_store::PostgresTeamStore::open(&settings) {
            stores.push(Box::new(store));
        }
    }
    let is_well = stores.iter_mut().all(|store| store.open_questions().is_ok());
    if is_well && fetched.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
