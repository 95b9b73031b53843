//! DIDs: their creation, by their owner or by a member, their changes and their end.

use selfsame_crypto::{KeyType, PublicKey};

use crate::authority::{Act, Whose};
use crate::content::{Content, is_point};
use crate::did::DidVersion;
use crate::history::PresentVersion;
use crate::identifier::Identifier;
use crate::refusal::{AuthorFault, CheckError, Refusal, SignatureFault};
use crate::state::StateKey;

use super::{JudgedStep, Quota};

/// The name of the only key of a DID that a member registered.
const FIRST_KEY: &str = "key-1";

impl JudgedStep<'_> {
    /// Creates the author's DID. The signatures were checked against this content already.
    pub(super) fn create_did(&mut self, place: usize, content: &Content) -> Result<(), CheckError> {
        if place > 0 {
            return Err(Refusal::Author(AuthorFault::Exists).into());
        }
        self.authorise(Act::CreateDid, Whose::Own)?;
        match content.keys.first() {
            Some(key) if self.author.belongs_to(&key.public) => {}
            _ => return Err(Refusal::Identifier.into()),
        }
        content.check(&self.at.rules).map_err(Refusal::Content)?;
        self.count_creation()?;
        self.put_did(self.author, 1, Some(content.clone()));
        Ok(())
    }

    /// A member registers a key for its owner. The DID holds only that key, so that only its owner controls it. The
    /// owner need not sign if the identifier is a digest of the whole key. An identifier of Indy's form holds half of
    /// the key, so without the owner's signature anyone could take it, with another key that has the same half.
    pub(super) fn register_did(
        &mut self,
        subject: Identifier,
        key: &PublicKey,
        consent: Option<&[u8; 64]>,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::CreateDid, Whose::Other)?;
        if self.to.has(&StateKey::Did(subject))? {
            return Err(Refusal::Author(AuthorFault::Exists).into());
        }
        let signs = matches!(key.key_type(), KeyType::Ed25519 | KeyType::P256);
        if !signs || !subject.belongs_to(key) {
            return Err(Refusal::Identifier.into());
        }
        is_point(key).map_err(Refusal::Content)?;
        self.owner_consents(subject, key, consent)?;
        self.count_creation()?;
        let content = Content::of_key(FIRST_KEY, key.clone());
        self.put_did(subject, 1, Some(content));
        Ok(())
    }

    /// A signature is verified even if it is not required: every signature in the log is valid.
    fn owner_consents(
        &self,
        subject: Identifier,
        key: &PublicKey,
        consent: Option<&[u8; 64]>,
    ) -> Result<(), Refusal> {
        let Some(signature) = consent else {
            return match Identifier::of_key(key) == Some(subject) {
                true => Ok(()),
                false => Err(Refusal::Signature(SignatureFault::OwnerMissing)),
            };
        };
        let signed = subject.consent_bytes(self.at.network);
        key.verify(key.key_type().default_algorithm(), &signed, signature)
            .map_err(|_| Refusal::Signature(SignatureFault::Bad))
    }

    pub(super) fn update_did(&mut self, version: u64, content: &Content) -> Result<(), CheckError> {
        self.follows(version)?;
        self.authorise(Act::ChangeDid, Whose::Own)?;
        content.check(&self.at.rules).map_err(Refusal::Content)?;
        self.put_did(self.author, version, Some(content.clone()));
        Ok(())
    }

    pub(super) fn deactivate_did(&mut self, version: u64) -> Result<(), CheckError> {
        self.follows(version)?;
        self.authorise(Act::ChangeDid, Whose::Own)?;
        self.put_did(self.author, version, None);
        Ok(())
    }

    fn count_creation(&mut self) -> Result<(), CheckError> {
        let quota = Quota {
            key: StateKey::CreationQuota,
            limit: self.at.rules.creation_quota,
        };
        let used = self.at.uses(&self.to, quota, 1)?;
        self.to.put(&StateKey::CreationQuota, &used);
        Ok(())
    }

    fn follows(&self, version: u64) -> Result<(), CheckError> {
        let present = self.active_author()?;
        match present.checked_add(1) == Some(version) {
            true => Ok(()),
            false => Err(Refusal::Version { present }.into()),
        }
    }

    fn put_did(&mut self, id: Identifier, version: u64, content: Option<Content>) {
        let present = PresentVersion {
            version,
            deactivated: content.is_none(),
        };
        let record = DidVersion {
            content,
            receipt: self.receipt,
        };
        self.to.put_version(&StateKey::Did(id), present, &record);
    }
}
