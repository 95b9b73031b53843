//! The published types of one organisation, and the samples.

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Result};

use crate::model::{CredentialType, TypeState};
use crate::samples::samples;

/// Seconds for which wallets can still accept offers of a version after a newer one was published: as long as an offer
/// can last.
const ACCEPTED_AFTER: u64 = 90 * 24 * 3600;
/// How many known types an error lists.
const LISTED: usize = 20;

/// What tells one set of types of an organisation from its others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TypesStamp {
    /// The version of the head record; none if the organisation has no types of its own.
    pub version: Option<u64>,
    /// Whether the samples are in it.
    pub samples: bool,
}

/// The types of one organisation as they were at one version of its head record.
#[derive(Clone, Debug, Default)]
pub struct TypeSet {
    /// What tells it from the organisation's other sets.
    pub stamp: TypesStamp,
    /// All published and retired versions, those of one type in order.
    pub(super) members: Vec<SetMember>,
}

/// A version of a type in a set.
#[derive(Clone, Debug)]
pub(super) struct SetMember {
    pub one: Arc<CredentialType>,
    /// When a newer version was published.
    pub superseded: Option<UnixTime>,
}

impl TypeSet {
    /// The samples alone; the `vct` of each begins with `vct_base`.
    #[must_use]
    pub fn of_samples(vct_base: &str) -> Self {
        let member = |one| SetMember {
            one,
            superseded: None,
        };
        Self {
            stamp: TypesStamp {
                version: None,
                samples: true,
            },
            members: samples(vct_base).into_iter().map(member).collect(),
        }
    }

    /// The types that are issued over OpenID4VCI: the newest version of each, unless it is retired.
    pub fn issued(&self) -> impl Iterator<Item = &Arc<CredentialType>> {
        let current = self
            .members
            .iter()
            .filter(|member| member.superseded.is_none());
        current
            .map(|member| &member.one)
            .filter(|one| one.state == TypeState::Published && one.is_offered())
    }

    /// The versions that an issuer's metadata lists: those that are issued, and those whose offers can still be open.
    pub fn listed(&self, now: UnixTime) -> impl Iterator<Item = &Arc<CredentialType>> {
        let is_open = move |member: &&SetMember| {
            let until = member
                .superseded
                .map(|superseded| superseded.plus(ACCEPTED_AFTER));
            until.is_none_or(|until| now < until)
        };
        let members = self.members.iter().filter(is_open);
        members
            .map(|member| &member.one)
            .filter(|one| one.state == TypeState::Published)
    }

    /// The newest version of a type, to issue or request credentials of it.
    ///
    /// # Errors
    /// `NotFound`, with the existing ids; `Gone` for a retired type.
    pub fn find(&self, id: &str) -> Result<&Arc<CredentialType>> {
        let newest = self.newest(id).ok_or_else(|| self.unknown(id))?;
        usable(newest)
    }

    /// One version of a type, to issue what was offered; without a version, the newest one.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn version(&self, id: &str, version: Option<u32>) -> Result<&Arc<CredentialType>> {
        let Some(version) = version else {
            return self.find(id);
        };
        usable(self.at(id, version).ok_or_else(|| self.unknown(id))?)
    }

    /// The newest version of a type, retired or not.
    #[must_use]
    pub fn newest(&self, id: &str) -> Option<&Arc<CredentialType>> {
        let of_id = self
            .members
            .iter()
            .map(|member| &member.one)
            .filter(|one| one.id == id);
        of_id.max_by_key(|one| one.version)
    }

    /// The newest version of each type, retired or not.
    pub fn newest_of_each(&self) -> impl Iterator<Item = &Arc<CredentialType>> {
        let members = self.members.iter().map(|member| &member.one);
        members.filter(|one| {
            self.newest(&one.id)
                .is_some_and(|newest| newest.version == one.version)
        })
    }

    /// One version of a type, retired or not.
    #[must_use]
    pub fn at(&self, id: &str, version: u32) -> Option<&Arc<CredentialType>> {
        let mut all = self.members.iter().map(|member| &member.one);
        all.find(|one| one.id == id && one.version == version)
    }

    /// The newest version with this SD-JWT VC type.
    #[must_use]
    pub fn by_vct(&self, vct: &str) -> Option<&Arc<CredentialType>> {
        let all = self.members.iter().map(|member| &member.one);
        all.filter(|one| one.vct == vct)
            .max_by_key(|one| one.version)
    }

    /// The newest version with this document type of ISO mdoc.
    #[must_use]
    pub fn by_doctype(&self, doctype: &str) -> Option<&Arc<CredentialType>> {
        let all = self.members.iter().map(|member| &member.one);
        all.filter(|one| one.doctype.as_deref() == Some(doctype))
            .max_by_key(|one| one.version)
    }

    /// The SD-JWT VC types of all versions of a type.
    #[must_use]
    pub fn vcts(&self, id: &str) -> Vec<String> {
        let all = self.members.iter().map(|member| &member.one);
        let mut vcts: Vec<String> = all
            .filter(|one| one.id == id)
            .map(|one| one.vct.clone())
            .collect();
        vcts.dedup();
        vcts
    }

    /// The newest version with this SD-JWT VC type, or else the sample that another issuer's type ends with.
    #[must_use]
    pub fn like_vct(&self, vct: &str) -> Option<&Arc<CredentialType>> {
        let last = vct.rsplit(['/', ':']).next();
        let mut samples = self
            .members
            .iter()
            .map(|member| &member.one)
            .filter(|one| one.is_sample);
        self.by_vct(vct)
            .or_else(|| samples.find(|one| last == Some(one.id.as_str())))
    }

    /// The newest version with these W3C types.
    #[must_use]
    pub fn by_w3c_types(&self, types: &[&str]) -> Option<&Arc<CredentialType>> {
        let all = self.members.iter().map(|member| &member.one);
        all.filter(|one| one.w3c_types() == types)
            .max_by_key(|one| one.version)
    }

    /// The title of a type for people; its id if it is not known.
    #[must_use]
    pub fn title<'a>(&'a self, id: &'a str) -> &'a str {
        self.newest(id).map_or(id, |one| one.name())
    }

    /// Whether the chain of types that begins with an extended type leads back to `vct`.
    pub(super) fn leads_back(&self, extends: &str, vct: &str) -> bool {
        let mut at = extends;
        for _ in 0..=self.members.len() {
            if at == vct {
                return true;
            }
            match self.by_vct(at).and_then(|one| one.extends.as_ref()) {
                Some(next) => at = &next.vct,
                None => return false,
            }
        }
        true
    }

    fn unknown(&self, id: &str) -> Error {
        let names: Vec<&str> = self
            .issued()
            .map(|one| one.id.as_str())
            .take(LISTED)
            .collect();
        Error::not_found("type-unknown")
            .with("type", id)
            .with("known", &names.join(", "))
    }
}

fn usable(one: &Arc<CredentialType>) -> Result<&Arc<CredentialType>> {
    match one.state {
        TypeState::Published => Ok(one),
        TypeState::Draft | TypeState::Retired => {
            Err(Error::new(ErrorKind::Gone, "type-retired").with("type", &one.id))
        }
    }
}
