//! Who hears of the records of agents: the tenants that have endpoints of controllers, and those that are followed by a
//! connection, of this process or of another one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_store::TenantId;

/// The tenants of whose agents somebody hears. Clones are the same.
#[derive(Clone, Default)]
pub struct Hearers(Arc<Mutex<HeardOwners>>);

#[derive(Default)]
struct HeardOwners {
    /// Those with endpoints of controllers.
    endpoints: HashSet<TenantId>,
    /// How many connections follow each.
    followed: HashMap<TenantId, usize>,
    /// How many follow all.
    follow_all: usize,
    /// What connections of any process follow, as their notes say.
    noted: FollowedOwners,
}

/// The tenants that connections follow.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct FollowedOwners {
    pub owners: HashSet<TenantId>,
    /// Whether a connection follows all.
    pub all: bool,
}

/// A connection follows a tenant, or all, until this is dropped.
pub struct Following {
    hearers: Hearers,
    owner: Option<TenantId>,
}

impl Hearers {
    /// Whether somebody hears of the agents of this owner.
    #[must_use]
    pub fn hears(&self, owner: &TenantId) -> bool {
        let heard = self.heard();
        heard.follow_all > 0
            || heard.noted.all
            || heard.noted.owners.contains(owner)
            || heard.endpoints.contains(owner)
            || heard.followed.contains_key(owner)
    }

    /// Follows an owner's agents.
    #[must_use]
    pub fn follow(&self, owner: TenantId) -> Following {
        let mut heard = self.heard();
        let count = heard.followed.entry(owner.clone()).or_default();
        *count = count.saturating_add(1);
        drop(heard);
        Following {
            hearers: self.clone(),
            owner: Some(owner),
        }
    }

    /// Follows the agents of all owners.
    #[must_use]
    pub fn follow_all(&self) -> Following {
        let mut heard = self.heard();
        heard.follow_all = heard.follow_all.saturating_add(1);
        drop(heard);
        Following {
            hearers: self.clone(),
            owner: None,
        }
    }

    pub(crate) fn note(&self, owner: &TenantId) {
        self.heard().endpoints.insert(owner.clone());
    }

    pub(crate) fn replace(&self, owners: HashSet<TenantId>) {
        self.heard().endpoints = owners;
    }

    pub(crate) fn replace_noted(&self, noted: FollowedOwners) {
        self.heard().noted = noted;
    }

    fn heard(&self) -> MutexGuard<'_, HeardOwners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut heard = self.hearers.heard();
        let Some(owner) = &self.owner else {
            heard.follow_all = heard.follow_all.saturating_sub(1);
            return;
        };
        if let Some(count) = heard.followed.get_mut(owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                heard.followed.remove(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_heard_as_long_as_a_connection_follows_it_or_it_has_an_endpoint() {
        let owner = TenantId::parse("clinic").unwrap();
        let hearers = Hearers::default();
        assert!(!hearers.hears(&owner));
        let first = hearers.follow(owner.clone());
        let second = hearers.follow(owner.clone());
        drop(first);
        assert!(hearers.hears(&owner));
        drop(second);
        assert!(!hearers.hears(&owner));
        hearers.note(&owner);
        assert!(hearers.hears(&owner));
        hearers.replace(HashSet::new());
        assert!(!hearers.hears(&owner));
        let all = hearers.follow_all();
        assert!(hearers.hears(&owner));
        drop(all);
        assert!(!hearers.hears(&owner));
    }
}
