//! Changes the statuses of many credentials. The audit trail names each of them.

use std::collections::BTreeMap;

use selfsame_audit::Act;
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::{ErrorKind, Result};
use selfsame_openid::issuer::{ChangedStatus, Issuer, StatusChanges};
use selfsame_openid::view::issuer::{IssuedCredential, NewStatuses};
use selfsame_operators::Authority;

use super::{App, audited};

/// The act that each entry states.
const ACT: &str = "POST /api/issuer/credentials/status";
/// Maximum number of credentials that one entry names.
const NAMED_MAX: usize = 100;
/// If other requests change one of the credentials this often meanwhile, the change is refused.
const RACES_MAX: usize = 8;

/// Who changes statuses.
#[derive(Clone, Copy)]
pub struct StatusActor<'a> {
    /// The person or the program.
    pub authority: &'a Authority,
    /// The organisation they act for.
    pub organisation: &'a OrganisationName,
    /// From which network address.
    pub from: &'a str,
}

impl StatusActor<'_> {
    /// The entries for these credentials. An entry names the numbers of those of one type: a commit has no room for an
    /// entry of each.
    fn acts(&self, changed: impl Iterator<Item = ChangedStatus>) -> Vec<Act> {
        let mut by_type: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for one in changed {
            let numbers = by_type.entry(one.type_id).or_default();
            numbers.push(one.number.to_string());
        }
        let of_type = |(type_id, numbers): (String, Vec<String>)| {
            let named = |some: &[String]| format!("{type_id} {}", some.join(" "));
            numbers.chunks(NAMED_MAX).map(named).collect::<Vec<_>>()
        };
        let details = by_type.into_iter().flat_map(of_type);
        details.map(|detail| self.act(detail)).collect()
    }

    fn act(&self, detail: String) -> Act {
        Act {
            organisation: self.organisation.clone(),
            actor: audited(&self.authority.actor),
            act: ACT.to_owned(),
            object: None,
            detail: Some(detail),
            from: Some(self.from.to_owned()),
        }
    }
}

impl App {
    /// Revokes, suspends or reinstates credentials: all of them in one commit, or none. The commit also writes into
    /// the audit trail which credentials have changed.
    ///
    /// # Errors
    /// Those of [`Issuer::status_changes`]; `Conflict` if other requests change the same credentials all the time.
    pub async fn change_statuses(
        &self,
        issuer: &Issuer,
        by: StatusActor<'_>,
        new: &NewStatuses,
    ) -> Result<Vec<IssuedCredential>> {
        let mut races = 0;
        loop {
            let changes = issuer.status_changes(new).await?;
            match self.commit_statuses(issuer, by, changes).await {
                Err(error) if error.kind == ErrorKind::Conflict && races < RACES_MAX => races += 1,
                committed => return committed,
            }
        }
    }

    async fn commit_statuses(
        &self,
        issuer: &Issuer,
        by: StatusActor<'_>,
        changes: StatusChanges,
    ) -> Result<Vec<IssuedCredential>> {
        let acts = by.acts(changes.changed());
        let committing = issuer.commit_statuses(changes);
        let (committed, _) = self.trail.during_all(acts, committing).await?;
        committed
    }
}
