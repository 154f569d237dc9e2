//! What a rule demands of an allow, beyond the yes of one person.

use serde::{Deserialize, Serialize};

words! {
    /// One demand of a rule, as rules, the ledger and the relay protocol spell it.
    #[derive(PartialOrd, Ord)]
    pub enum AllowDemand {
        TwoPeople "two_people",
        /// Nobody may allow what a machine of their own asks.
        NotOwn "not_own",
    }
}

/// What rules demand of an allow, beyond the yes of one person: a list of [`AllowDemand`]s.
///
/// A question with a demand waits at the desk: no prompt of the agent may answer in its place,
/// nothing is allowed from now on, and no answer is a no. A deny meets every demand. A list with an
/// unknown demand is refused as a whole, because that demand could not be met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<AllowDemand>", into = "Vec<AllowDemand>")]
pub struct AllowDemands {
    pub two_people: bool,
    pub not_own: bool,
}

impl AllowDemands {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn non_empty(self) -> Option<Self> {
        Some(self).filter(|demands| !demands.is_empty())
    }

    pub fn union_with(self, other: Self) -> Self {
        Self {
            two_people: self.two_people || other.two_people,
            not_own: self.not_own || other.not_own,
        }
    }

    /// Returns true if whatever the other demands is demanded here, too.
    pub fn covers(self, other: Self) -> bool {
        self.union_with(other) == self
    }

    /// Returns the demands in order.
    pub fn list(self) -> impl Iterator<Item = AllowDemand> {
        AllowDemand::ALL.into_iter().filter(move |demand| match demand {
            AllowDemand::TwoPeople => self.two_people,
            AllowDemand::NotOwn => self.not_own,
        })
    }

    /// Returns what has to happen, in a sentence without its end; nothing without a demand.
    pub fn sentence(self) -> Option<&'static str> {
        match (self.two_people, self.not_own) {
            (true, true) => Some(
                "Two people have to allow this, and nobody may allow what their own machine asks",
            ),
            (true, false) => Some("Two people have to allow this"),
            (false, true) => Some("Nobody may allow what their own machine asks"),
            (false, false) => None,
        }
    }
}

impl From<Vec<AllowDemand>> for AllowDemands {
    fn from(list: Vec<AllowDemand>) -> Self {
        Self {
            two_people: list.contains(&AllowDemand::TwoPeople),
            not_own: list.contains(&AllowDemand::NotOwn),
        }
    }
}

impl From<AllowDemands> for Vec<AllowDemand> {
    fn from(demands: AllowDemands) -> Self {
        demands.list().collect()
    }
}
