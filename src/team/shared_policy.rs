//! The rules and the roles of a team in the database that its desks share.

use callgate_approval::asker::fresh_id;
use callgate_policy::{TeamFile, roles_path};
use callgate_team::{RuleBundle, TeamRules};
use callgate_team_store::{
    DocumentEdit, DocumentKind, EditReceipt, ROLES, TeamDocument, TeamStore,
};

use super::roles_file::{read_roles_text, write_roles};
use super::shared_roles::RolesDocument;
use super::source::take_bundle;
use crate::config::Config;
use crate::team_database::TeamDatabase;

/// The name of the document.
const RULES: &str = "rules";
/// How often an edit is tried while others change the same document.
const MOST_TRIES: usize = 50;

/// Puts a bundle into the database, unless it has that one or a newer one. Rules that another key
/// has signed are replaced only with `replaces_key`.
pub(crate) fn put_bundle(
    store: &mut dyn TeamStore,
    bundle: &RuleBundle,
    replaces_key: bool,
    by: &str,
) -> Result<(), String> {
    edit_policy(store, RULES, by, |known| {
        let known = known.map(RuleBundle::from_json).transpose();
        Ok(match known.map_err(|error| error.to_string())? {
            Some(known) if known.key() != bundle.key() && !replaces_key => {
                return Err(format!(
                    "the team's database has rules that are signed with another key, {}; to \
                     replace them, take the new ones with --key {}",
                    known.key(),
                    bundle.key()
                ));
            }
            Some(known) if known.key() == bundle.key() && known.serial() >= bundle.serial() => None,
            _ => Some(bundle.to_json()),
        })
    })
}

/// Makes these the roles of the team; without any every person may answer everything.
pub(crate) fn put_roles(
    store: &mut dyn TeamStore,
    roles: Option<&str>,
    by: &str,
) -> Result<(), String> {
    let document = RolesDocument { roles: roles.map(str::to_owned) };
    let body = serde_json::to_string(&document).map_err(|error| error.to_string())?;
    edit_policy(store, ROLES, by, |known| Ok(Some(body.clone()).filter(|_| known != Some(&body))))
}

/// Changes a document to what `next` returns, which gets what it has.
fn edit_policy(
    store: &mut dyn TeamStore,
    name: &str,
    by: &str,
    next: impl Fn(Option<&str>) -> Result<Option<String>, String>,
) -> Result<(), String> {
    let explain = |error: callgate_team_store::TeamStoreError| error.to_string();
    for _ in 0..MOST_TRIES {
        let known = store.find_document(DocumentKind::Policy, name).map_err(explain)?;
        // What is wanted is decided anew for each version that somebody else has written.
        let body = next(known.as_ref().and_then(|known| known.body.as_deref()))?;
        if body.is_none() {
            return Ok(());
        }
        let replaces = known.map_or(0, |known| known.version);
        let (kind, name, by) = (DocumentKind::Policy, name.to_owned(), by.to_owned());
        let edit = DocumentEdit { kind, name, replaces, id: fresh_id(), by, body };
        match store.edit_document(&edit).map_err(explain)? {
            EditReceipt::Recorded(_) | EditReceipt::Repeated(_) => return Ok(()),
            EditReceipt::Stale(_) => {}
        }
    }
    Err(format!("other desks change the team's {name}: try again"))
}

fn find_policy<'a>(policies: &'a [TeamDocument], name: &str) -> Option<(&'a str, &'a str)> {
    let found = policies.iter().find(|document| document.name == name)?;
    Some((found.body.as_deref()?, &found.by))
}

/// Takes the rules that are in the database, or puts newer ones of this desk there. Returns what is
/// worth telling. A desk that trusts no key yet trusts that of the database.
pub(crate) async fn take_over_rules(
    config: &Config,
    database: &TeamDatabase,
    policies: &[TeamDocument],
) -> Result<Vec<String>, String> {
    let failed = |why: String| format!("the team's rules: {why}");
    let kept = TeamFile::beside(&config.database).read().map_err(failed)?;
    let own = kept.as_ref().and_then(TeamRules::bundle);
    let shared = find_policy(policies, RULES).map(|(body, _)| RuleBundle::from_json(body));
    let shared = shared.transpose().map_err(|error| failed(error.to_string()))?;
    let is_newer = |own: &RuleBundle, shared: &RuleBundle| {
        own.key() == shared.key() && own.serial() > shared.serial()
    };
    match (shared, own) {
        (None, None) => Ok(Vec::new()),
        (Some(shared), Some(own)) if shared == *own => Ok(Vec::new()),
        (Some(shared), own) if !own.is_some_and(|own| is_newer(own, &shared)) => {
            // Only a desk without any key may trust this one: whoever can write to the database
            // could replace the rules otherwise.
            let key = kept.is_none().then(|| shared.key());
            let taken = take_bundle(config, shared.to_json(), key, "the team's database").await;
            taken.map_err(|why| {
                let key = shared.key();
                failed(format!(
                    "{why}. To trust that key: callgate team rules take FILE --key {key}"
                ))
            })
        }
        (_, own) => {
            let (own, by) = (own.cloned(), database.desk_name().to_owned());
            let put = database.run(move |store| {
                Ok(own.map_or(Ok(()), |own| put_bundle(store, &own, false, &by)))
            });
            put.await.map_err(|error| error.to_string())?.map(|()| Vec::new()).map_err(failed)
        }
    }
}

/// Makes the roles of this desk those that are in the database, if there are any. Returns what is
/// worth telling.
pub(crate) fn take_over_roles(
    config: &Config,
    policies: &[TeamDocument],
) -> Result<Vec<String>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("the team's roles: {why}");
    let Some((body, by)) = find_policy(policies, ROLES) else { return Ok(Vec::new()) };
    let shared: RolesDocument = serde_json::from_str(body).map_err(|error| failed(&error))?;
    let own = read_roles_text(&roles_path(config)).map_err(|error| failed(&error))?;
    if own == shared.roles {
        return Ok(Vec::new());
    }
    let told = write_roles(config, shared.roles.as_deref(), by);
    told.map(|told| vec![told]).map_err(|why| failed(&why))
}
