//! The people who work for an organisation, and their roles in it.

use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, Tag};
use serde::{Deserialize, Serialize};

use crate::authority::{Authority, lacking};
use crate::operators::{Operators, home, of_organisation};
use crate::role::OperatorRole;
use crate::view::PersonView;

/// The kind of the records: a person in an organisation.
pub(crate) const MEMBER: &str = "operator_member";
/// Maximum number of organisations that one person works for.
const ORGANISATIONS_MAX: usize = 1_000;

/// A person in an organisation, as kept.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct OperatorMember {
    pub organisation: OrganisationName,
    pub person: String,
    pub email: String,
    pub roles: Vec<OperatorRole>,
    pub since: UnixTime,
}

impl OperatorMember {
    /// The record that keeps it.
    pub fn put(&self) -> Result<Put> {
        let id = member_id(&self.organisation, &self.person);
        Ok(Put::new(MEMBER, id, encode(self)?)
            .tag(of_organisation(&self.organisation))
            .tag(of_person(&self.person)))
    }

    fn view(&self) -> PersonView {
        PersonView {
            id: self.person.clone(),
            email: self.email.clone(),
            roles: self.roles.clone(),
            since: self.since.rfc3339(),
        }
    }
}

impl Operators {
    /// The people who work for an organisation, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn people(
        &self,
        organisation: &OrganisationName,
        paging: &Paging,
    ) -> Result<Listing<PersonView>> {
        let (home, tag) = (home(), of_organisation(organisation));
        let found = self.store.find(&home, MEMBER, &tag, &page(paging)).await?;
        listing(&found, paging, |stored| Ok(member(stored)?.view()))
    }

    /// A person who works for an organisation.
    ///
    /// # Errors
    /// `NotFound`; the store's.
    pub async fn person(&self, place: PersonAt<'_>) -> Result<PersonView> {
        let (_, member) = self.member(place).await?;
        Ok(member.view())
    }

    /// Gives a person these roles in place of the present ones.
    ///
    /// # Errors
    /// `BadRequest` for roles that do not fit, `Forbidden` for a role with rights that `by` lacks, `NotFound`.
    pub async fn set_roles(
        &self,
        by: &Authority,
        place: PersonAt<'_>,
        roles: &[OperatorRole],
    ) -> Result<PersonView> {
        let roles = given(by, place.organisation, roles)?;
        let (stored, mut member) = self.member(place).await?;
        // Taking a role away needs the same rights as giving it.
        given(by, place.organisation, &member.roles)?;
        member.roles = roles;
        let value = encode(&member)?;
        let batch = Batch::new(home()).update(MEMBER, &stored, value);
        self.store.commit(batch).await?;
        tracing::info!(organisation = %place.organisation, person = place.person, "roles changed");
        Ok(member.view())
    }

    /// Ends a person's work for an organisation.
    ///
    /// # Errors
    /// `Forbidden` for a person with rights that `by` lacks, `NotFound`.
    pub async fn remove_person(&self, by: &Authority, place: PersonAt<'_>) -> Result<()> {
        let (stored, member) = self.member(place).await?;
        given(by, place.organisation, &member.roles)?;
        let batch = Batch::new(home())
            .expect(MEMBER, &stored.id, Expect::Version(stored.version))
            .delete(MEMBER, &stored.id);
        self.store.commit(batch).await?;
        tracing::info!(organisation = %place.organisation, person = place.person, "person removed");
        Ok(())
    }

    async fn member(&self, place: PersonAt<'_>) -> Result<(Record, OperatorMember)> {
        let id = member_id(place.organisation, place.person);
        let stored = self.store.read(&home(), MEMBER, &id).await?;
        let stored = stored.ok_or_else(|| Error::not_found("person-unknown"))?;
        let member = member(&stored)?;
        Ok((stored, member))
    }

    /// The roles of a person in each organisation.
    pub(crate) async fn roles_of(
        &self,
        person: &str,
    ) -> Result<Vec<(OrganisationName, Vec<OperatorRole>)>> {
        let page = Page::first(ORGANISATIONS_MAX);
        let tag = of_person(person);
        let found = self.store.find(&home(), MEMBER, &tag, &page).await?;
        let of = |stored: &Record| {
            let member = member(stored)?;
            Ok((member.organisation, member.roles))
        };
        found.iter().map(of).collect()
    }

    /// Adds roles to those that a person has in an organisation, in the commit of `batch`.
    pub(crate) async fn join(&self, joining: OperatorMember, batch: Batch) -> Result<()> {
        let id = member_id(&joining.organisation, &joining.person);
        let batch = match self.store.read(&home(), MEMBER, &id).await? {
            None => batch
                .expect(MEMBER, &id, Expect::Absent)
                .put(joining.put()?),
            Some(stored) => {
                let mut member = member(&stored)?;
                member.roles = ordered(member.roles.iter().chain(&joining.roles));
                batch.update(MEMBER, &stored, encode(&member)?)
            }
        };
        match self.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                Err(Error::new(ErrorKind::Conflict, "changed-meanwhile"))
            }
            Err(other) => Err(other.into()),
        }
    }
}

/// A person in an organisation.
#[derive(Clone, Copy, Debug)]
pub struct PersonAt<'a> {
    /// The organisation.
    pub organisation: &'a OrganisationName,
    /// The person's id.
    pub person: &'a str,
}

/// Roles that `by` may give in this organisation, each once.
pub(crate) fn given(
    by: &Authority,
    organisation: &OrganisationName,
    roles: &[OperatorRole],
) -> Result<Vec<OperatorRole>> {
    if roles.is_empty() {
        return Err(Error::bad_request("roles-needed"));
    }
    if let Some(role) = roles.iter().find(|role| !role.fits(organisation)) {
        return Err(Error::bad_request("role-elsewhere").with("role", role.as_str()));
    }
    let rights = by.rights(organisation);
    for role in roles {
        if !role.may_be_given_by(rights, by.is_administrator())
            && let Some(right) = role.rights().beyond(rights)
        {
            return Err(lacking(organisation, right));
        }
    }
    Ok(ordered(roles.iter()))
}

fn ordered<'a>(roles: impl Iterator<Item = &'a OperatorRole>) -> Vec<OperatorRole> {
    let mut roles: Vec<OperatorRole> = roles.copied().collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

pub(crate) fn member(stored: &Record) -> Result<OperatorMember> {
    decode(&stored.value)
}

/// Names of organisations have no dot.
fn member_id(organisation: &OrganisationName, person: &str) -> String {
    format!("{organisation}.{person}")
}

fn of_person(person: &str) -> Tag {
    Tag::hashed("person", person)
}
