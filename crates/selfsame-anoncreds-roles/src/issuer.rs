//! The issuer: definitions, revocation registries, credentials, status lists.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::revocation;
use selfsame_anoncreds::format::{
    Credential, CredentialValues, RevocationRegistryDefinition, RevocationRegistryId,
    RevocationRegistryPrivate, RevocationStatusList,
};
use selfsame_anoncreds::issuer::{
    Defined, Issuance, Issuer, ListUpdate, NewDefinition, NewRegistry, Registry,
    create_credential_definition, find_safe_primes,
};
use selfsame_crypto::ctx::Ctx;

use crate::RoleError;

/// Makes a credential definition with new keys.
///
/// # Errors
/// Those of [`create_credential_definition`].
pub fn define(new: &NewDefinition<'_>, ctx: &Ctx) -> Result<Defined, Error> {
    create_credential_definition(new, &find_safe_primes(ctx), ctx)
}

/// The values of a credential, one for each attribute.
///
/// # Errors
/// [`RoleError::TwoValues`] if an attribute is named twice.
pub fn values_of(
    named: impl IntoIterator<Item = (String, String)>,
) -> Result<CredentialValues, RoleError> {
    let mut values = BTreeMap::new();
    for (name, value) in named {
        if values.contains_key(&name) {
            return Err(RoleError::TwoValues(name));
        }
        values.insert(name, value);
    }
    Ok(CredentialValues::of(values))
}

/// A new credential.
pub struct NewCredential {
    /// The credential, to send to its holder.
    pub credential: Credential,
    /// Whether the status list marks its place as revoked: until a later list does not, it can't prove that it is not.
    pub is_revoked: bool,
}

/// Checks a request and issues the credential.
///
/// # Errors
/// Those of [`Issuer::create_credential`].
pub fn issue(issuer: &Issuer, issuance: &Issuance<'_>, ctx: &Ctx) -> Result<NewCredential, Error> {
    let credential = issuer.create_credential(issuance, ctx)?;
    let is_revoked = issuance
        .place
        .is_some_and(|place| place.list.revocation_list.is_revoked(place.index) == Ok(true));
    Ok(NewCredential {
        credential,
        is_revoked,
    })
}

/// A new revocation registry.
pub struct OpenedRegistry {
    /// The public part, to publish.
    pub definition: RevocationRegistryDefinition,
    /// The private part, for the issuer only. Secret.
    pub private: RevocationRegistryPrivate,
    /// The tails file, to publish: every holder needs it.
    pub tails: Vec<u8>,
}

/// Makes a revocation registry.
///
/// # Errors
/// Those of [`Issuer::create_registry`].
pub fn open_registry(
    issuer: &Issuer,
    new: &NewRegistry<'_>,
    ctx: &Ctx,
) -> Result<OpenedRegistry, Error> {
    let mut tails = Vec::new();
    let (definition, private) = issuer.create_registry(new, ctx, |bytes| {
        tails.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(OpenedRegistry {
        definition,
        private,
        tails,
    })
}

/// An issuer with one of its revocation registries.
pub struct RegistryKeeper {
    /// The issuer.
    pub issuer: Issuer,
    /// The registry's public part.
    pub definition: RevocationRegistryDefinition,
    /// Its private part.
    pub private: RevocationRegistryPrivate,
}

/// The next status list.
pub struct NextList {
    /// The list.
    pub list: RevocationStatusList,
    /// Whether any index has another status than in the previous list.
    pub is_changed: bool,
}

impl RegistryKeeper {
    /// The first status list of the registry, which is published under this identifier.
    ///
    /// # Errors
    /// Those of [`Issuer::create_status_list`].
    pub fn first_list(
        &self,
        id: &RevocationRegistryId,
        issuance: revocation::IssuedAtStart,
        timestamp: u64,
    ) -> Result<RevocationStatusList, Error> {
        self.issuer
            .create_status_list(id, &self.registry(), issuance, Some(timestamp))
    }

    /// The list that follows this one: these indices are revoked or issued at this time.
    ///
    /// # Errors
    /// [`RoleError::OlderList`], or those of [`Issuer::update_status_list`].
    pub fn next_list(
        &self,
        list: &RevocationStatusList,
        change: IndexChange,
    ) -> Result<NextList, RoleError> {
        if list
            .timestamp
            .is_some_and(|before| before > change.timestamp)
        {
            return Err(RoleError::OlderList);
        }
        let update = ListUpdate {
            issued: change.issued,
            revoked: change.revoked,
            timestamp: Some(change.timestamp),
        };
        let next = self
            .issuer
            .update_status_list(&self.registry(), list, &update)?;
        Ok(NextList {
            is_changed: next.revocation_list != list.revocation_list,
            list: next,
        })
    }

    fn registry(&self) -> Registry<'_> {
        Registry {
            definition: &self.definition,
            private: &self.private,
        }
    }
}

/// Indices of a registry whose status changes, and when.
#[derive(Clone, Debug)]
pub struct IndexChange {
    /// Those that are revoked from then on.
    pub revoked: BTreeSet<u32>,
    /// Those that are not revoked from then on.
    pub issued: BTreeSet<u32>,
    /// The time, in seconds since 1970.
    pub timestamp: u64,
}
