//! What the handlers of requests share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::extract::FromRef;
use callgate_client::ChatRuntimes;
use callgate_link::sync::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::page_limits::PageLimits;
use crate::sessions::PageSessions;

/// How many event streams one person of a team may have open. Without this limit one person could
/// take the places of all others.
const MOST_OF_ONE: usize = 10;

/// What the handlers of requests share.
#[derive(Debug, Clone)]
pub(crate) struct PageState {
    pub(crate) limits: PageLimits,
    pub(crate) sessions: Arc<PageSessions>,
    /// The runtime of the chat; `None` if this host starts none.
    pub(crate) chats: Option<Arc<ChatRuntimes>>,
    /// The folder of a runtime for which a page names none.
    pub(crate) home: Option<PathBuf>,
    pub(crate) streams: Arc<StreamPlaces>,
}

impl FromRef<PageState> for Arc<PageSessions> {
    fn from_ref(state: &PageState) -> Self {
        Self::clone(&state.sessions)
    }
}

/// The places for event streams: of all pages together, and of each person of a team.
#[derive(Debug)]
pub(crate) struct StreamPlaces {
    all: Arc<Semaphore>,
    of_people: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The place of one event stream.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    _of_all: OwnedSemaphorePermit,
    _of_person: Option<OwnedSemaphorePermit>,
}

impl StreamPlaces {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { all: Arc::new(Semaphore::new(most)), of_people: Mutex::default() })
    }

    /// Takes a place, for a person or for the owner of the desk. Returns `None` if there is none.
    pub(crate) fn take(&self, person: Option<&str>) -> Option<StreamPlace> {
        // The person's own place first: whoever has too many must not take one of all even for a
        // moment.
        let of_person = match person {
            None => None,
            Some(name) => Some(self.places_of(name).try_acquire_owned().ok()?),
        };
        let of_all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(StreamPlace { _of_all: of_all, _of_person: of_person })
    }

    fn places_of(&self, name: &str) -> Arc<Semaphore> {
        let mut people = lock(&self.of_people);
        // A stream holds the places of its person.
        people.retain(|_, places| Arc::strong_count(places) > 1);
        let places = people.entry(name.to_owned());
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(MOST_OF_ONE))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_does_not_take_the_places_of_others() {
        let places = StreamPlaces::new(2 * MOST_OF_ONE);
        let ada: Vec<_> = (0..MOST_OF_ONE).map(|_| places.take(Some("ada")).unwrap()).collect();
        assert!(places.take(Some("ada")).is_none());
        let ben: Vec<_> = (1..MOST_OF_ONE).map(|_| places.take(Some("ben")).unwrap()).collect();
        let last = places.take(None).unwrap();
        assert!(
            places.take(Some("cleo")).is_none() && places.take(None).is_none(),
            "all are taken"
        );
        drop((ada, last));
        assert!(places.take(Some("ada")).is_some());
        drop(ben);
        places.take(Some("cleo"));
        assert_eq!(lock(&places.of_people).len(), 1, "who has no stream is forgotten");
    }
}
