//! Revocation registries: an issuer creates them, starts their status lists and updates the lists.

use std::collections::BTreeSet;

use selfsame_crypto::ctx::Ctx;

use super::{Issuer, mismatch};
use crate::Error;
use crate::cl::revocation::{
    Changes, IssuedAtStart, RegistryIssuer, RevocationList, TAILS_VERSION, TailsHash,
    generate_registry_key,
};
use crate::format::{
    CredentialDefinitionId, Message, RegistryKeys, RegistryType, RegistryValue,
    RevocationRegistryDefinition, RevocationRegistryId, RevocationRegistryPrivate,
    RevocationStatusList,
};
use crate::seed;

/// A registry with its secret, as the issuer keeps them.
#[derive(Clone, Copy, Debug)]
pub struct Registry<'a> {
    /// The public definition.
    pub definition: &'a RevocationRegistryDefinition,
    /// The private part.
    pub private: &'a RevocationRegistryPrivate,
}

impl Registry<'_> {
    /// Refuses a list of another registry.
    pub(super) fn check_list(&self, list: &RevocationStatusList) -> Result<(), Error> {
        let capacity = self.definition.value.max_cred_num;
        if list.revocation_list.capacity() != capacity
            || list.issuer_id != self.definition.issuer_id
        {
            return Err(mismatch("the status list", "it is of another registry"));
        }
        Ok(())
    }
}

/// The parameters of a new registry.
#[derive(Clone, Copy, Debug)]
pub struct NewRegistry<'a> {
    /// The credential definition's identifier.
    pub cred_def_id: &'a CredentialDefinitionId,
    /// Distinguishes a definition's registries.
    pub tag: &'a str,
    /// The number of places. One credential fewer can be revoked, because the first place cannot be used.
    pub size: u32,
    /// Where the tails file will be published. The caller may set it later, when the hash is known.
    pub tails_location: &'a str,
}

/// The changes to a status list. Places that already have the new state are skipped.
#[derive(Clone, Debug, Default)]
pub struct ListUpdate {
    /// Places that are not revoked from now on.
    pub issued: BTreeSet<u32>,
    /// Places that are revoked from now on.
    pub revoked: BTreeSet<u32>,
    /// The time of the change, in seconds since 1970; `None` to keep the old one.
    pub timestamp: Option<u64>,
}

impl Issuer {
    /// Creates a registry, and passes its tails file to `tails` piece by piece: 256 bytes for each place.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the definition does not allow revocation, [`Error::TooLarge`], and errors of `tails`.
    pub fn create_registry(
        &self,
        new: &NewRegistry<'_>,
        ctx: &Ctx,
        mut tails: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(RevocationRegistryDefinition, RevocationRegistryPrivate), Error> {
        let key = self.prepared.revocation().ok_or(NOT_REVOCABLE)?;
        let inputs: [&[u8]; 4] = [
            new.cred_def_id.as_str().as_bytes(),
            new.tag.as_bytes(),
            &new.size.to_be_bytes(),
            self.prepared.key().digest(),
        ];
        let mut random = seed::random(ctx, "registry", &inputs);
        let (accum_key, value) = generate_registry_key(key.public(), new.size, &mut random)?;
        let private = RevocationRegistryPrivate { value };
        let mut definition = RevocationRegistryDefinition {
            issuer_id: self.prepared.definition().issuer_id.clone(),
            revoc_def_type: RegistryType::default(),
            tag: new.tag.to_owned(),
            cred_def_id: new.cred_def_id.clone(),
            value: RegistryValue {
                max_cred_num: new.size,
                public_keys: RegistryKeys { accum_key },
                tails_hash: String::new(),
                tails_location: new.tails_location.to_owned(),
            },
        };
        definition.validate()?;
        let registry = Registry {
            definition: &definition,
            private: &private,
        };
        let mut hash = TailsHash::new();
        let mut write = |bytes: &[u8]| {
            hash.update(bytes);
            tails(bytes)
        };
        write(&TAILS_VERSION)?;
        for point in self.at(&registry)?.tails()? {
            write(&point)?;
        }
        definition.value.tails_hash = hash.finish();
        Ok((definition, private))
    }

    /// The first status list of a registry.
    pub fn create_status_list(
        &self,
        registry_id: &RevocationRegistryId,
        registry: &Registry<'_>,
        issuance: IssuedAtStart,
        timestamp: Option<u64>,
    ) -> Result<RevocationStatusList, Error> {
        let definition = registry.definition;
        let accumulator = self.at(registry)?.initial(issuance)?;
        Ok(RevocationStatusList {
            rev_reg_def_id: Some(registry_id.clone()),
            issuer_id: definition.issuer_id.clone(),
            revocation_list: RevocationList::new(definition.value.max_cred_num, issuance)?,
            current_accumulator: Some(accumulator),
            timestamp,
        })
    }

    /// The status list after an update.
    ///
    /// # Errors
    /// [`Error::Registry`] for a place outside the list, or one that is to be both issued and revoked.
    pub fn update_status_list(
        &self,
        registry: &Registry<'_>,
        list: &RevocationStatusList,
        update: &ListUpdate,
    ) -> Result<RevocationStatusList, Error> {
        registry.check_list(list)?;
        let bits = &list.revocation_list;
        let changing = |places: &BTreeSet<u32>, revoked: bool| {
            let mut changing = BTreeSet::new();
            for place in places {
                if bits.is_revoked(*place)? != revoked {
                    changing.insert(*place);
                }
            }
            Ok::<_, Error>(changing)
        };
        if update.issued.intersection(&update.revoked).next().is_some() {
            return Err(Error::Registry("a place is to be both issued and revoked"));
        }
        let changes = Changes::new(
            changing(&update.issued, false)?,
            changing(&update.revoked, true)?,
        )?;
        let accumulator = self.at(registry)?.update(list.accumulator()?, &changes)?;
        Ok(RevocationStatusList {
            revocation_list: bits.changed(&changes)?,
            current_accumulator: Some(accumulator),
            timestamp: update.timestamp.or(list.timestamp),
            ..list.clone()
        })
    }

    /// This issuer together with one of its registries.
    pub(super) fn at<'a>(&'a self, registry: &Registry<'a>) -> Result<RegistryIssuer<'a>, Error> {
        Ok(RegistryIssuer {
            key: self.prepared.revocation().ok_or(NOT_REVOCABLE)?,
            private: self.revocation.as_ref().ok_or(NOT_REVOCABLE)?,
            registry: &registry.private.value,
            capacity: registry.definition.value.max_cred_num,
        })
    }
}

const NOT_REVOCABLE: Error = Error::Mismatch {
    what: "the credential definition",
    why: "its credentials cannot be revoked",
};
