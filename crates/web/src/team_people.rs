//! The people of a team, as their page needs them.

use std::fmt;

use callgate_wire::desk::HiddenText;

use crate::machine_routes::DeskFuture;

/// A page that a person wants to use.
#[derive(Debug, Clone)]
pub struct WantedPage {
    /// The web origin that will hold the key. The key counts only there.
    pub origin: String,
    /// The name of the browser, which people see when they look at the links.
    pub name: String,
}

/// What became of a page that somebody wanted to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageJoined {
    /// It is linked, and this is its key.
    Linked(HiddenText),
    /// There is no such invitation or person.
    Unknown,
    /// The person has as many pages as one may have.
    TooMany,
}

/// The people of the team. What is unknown may take a second: the members are read again then, once
/// for all who wait for it.
pub trait TeamPeople: fmt::Debug + Send + Sync + 'static {
    /// Links the page of the person whose invitation has this secret, which is used up.
    fn join_person<'a>(
        &'a self,
        secret: &'a HiddenText,
        page: WantedPage,
    ) -> DeskFuture<'a, Result<PageJoined, String>>;

    /// Links the page of a person who has signed in with an account.
    fn link_person<'a>(
        &'a self,
        name: &'a str,
        page: WantedPage,
    ) -> DeskFuture<'a, Result<PageJoined, String>>;

    /// Returns true for the link of a person's page.
    fn has_link<'a>(&'a self, link: &'a str) -> DeskFuture<'a, bool>;

    /// Takes note that a page has left the team. It does not wait.
    fn page_left(&self);
}
