//! DID documents (DID Core §5): typed, checked when they are read. Access to their keys.

mod members;
mod method;
mod read;
mod service;
mod write;

use selfsame_crypto::agreement::AgreementKey;
use selfsame_crypto::json::JsonError;
use selfsame_crypto::{KeyError, PublicKey};
use serde_json::{Map, Value};

use crate::did::{Did, DidUrl, SyntaxError};

pub use method::{Material, VerificationMethod};
pub use service::Service;
pub use write::Representation;

/// A DID document: the keys and services of a DID's subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The DID that the document describes.
    pub id: Did,
    /// Other identifiers that the subject claims for itself.
    pub also_known_as: Vec<String>,
    /// The DIDs that may change the document.
    pub controller: Vec<Did>,
    /// The verification methods that relationships refer to.
    pub verification_method: Vec<VerificationMethod>,
    /// Keys that authenticate the subject.
    pub authentication: Vec<KeyReference>,
    /// Keys that sign the subject's claims, credentials among them.
    pub assertion_method: Vec<KeyReference>,
    /// Keys that messages to the subject are encrypted to.
    pub key_agreement: Vec<KeyReference>,
    /// Keys that invoke the subject's capabilities.
    pub capability_invocation: Vec<KeyReference>,
    /// Keys that delegate the subject's capabilities.
    pub capability_delegation: Vec<KeyReference>,
    /// Where the subject can be reached.
    pub service: Vec<Service>,
    /// The JSON-LD contexts as read; empty if the document was plain JSON or was made here.
    pub context: Vec<Value>,
    /// Members that DID Core does not define.
    pub other: Map<String, Value>,
}

/// An entry of a relationship: the identifier of a verification method, or an embedded one.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyReference {
    /// The identifier of a verification method.
    Id(DidUrl),
    /// A verification method for this relationship only.
    Embedded(Box<VerificationMethod>),
}

/// The purpose of a key (DID Core §5.3).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Relationship {
    /// Authenticating the subject.
    Authentication,
    /// Signing claims.
    AssertionMethod,
    /// Agreeing on keys for encryption.
    KeyAgreement,
    /// Invoking capabilities.
    CapabilityInvocation,
    /// Delegating capabilities.
    CapabilityDelegation,
}

/// Why a document or a key in it is refused. The publisher of the document must act.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON within the limits.
    #[error("the DID document cannot be read: {0}")]
    Json(JsonError),
    /// A member is missing or of the wrong type.
    #[error("the DID document has a malformed {0}")]
    Malformed(&'static str),
    /// The document describes another DID.
    #[error("the DID document describes another DID")]
    OtherDid,
    /// Two verification methods have the same identifier.
    #[error("the DID document uses an identifier twice")]
    Duplicate,
    /// The document contains a private key.
    #[error("the DID document shows a private key")]
    PrivateKey,
    /// The document has no verification method with this identifier.
    #[error("the DID document has no such verification method")]
    NoSuchKey,
    /// The key exists, but is not listed for this purpose.
    #[error("the key is not listed for {}", .0.as_str())]
    NotForPurpose(Relationship),
    /// The verification method has another controller.
    #[error("the verification method is controlled by another DID")]
    OtherController,
    /// The key's material cannot be used.
    #[error("the key cannot be used: {0}")]
    Key(KeyError),
}

impl Relationship {
    /// All relationships, in the order of the specification.
    pub const ALL: [Self; 5] = [
        Self::Authentication,
        Self::AssertionMethod,
        Self::KeyAgreement,
        Self::CapabilityInvocation,
        Self::CapabilityDelegation,
    ];
    /// The relationships of signature keys.
    pub const SIGNING: [Self; 4] = [
        Self::Authentication,
        Self::AssertionMethod,
        Self::CapabilityInvocation,
        Self::CapabilityDelegation,
    ];

    /// The member name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::AssertionMethod => "assertionMethod",
            Self::KeyAgreement => "keyAgreement",
            Self::CapabilityInvocation => "capabilityInvocation",
            Self::CapabilityDelegation => "capabilityDelegation",
        }
    }
}

impl Document {
    /// An empty document of `id`.
    pub fn new(id: Did) -> Self {
        Self {
            id,
            also_known_as: Vec::new(),
            controller: Vec::new(),
            verification_method: Vec::new(),
            authentication: Vec::new(),
            assertion_method: Vec::new(),
            key_agreement: Vec::new(),
            capability_invocation: Vec::new(),
            capability_delegation: Vec::new(),
            service: Vec::new(),
            context: Vec::new(),
            other: Map::new(),
        }
    }

    /// Adds a key with this fragment, as a JSON Web Key. The current key authenticates and signs claims; former keys only
    /// verify claims.
    ///
    /// # Errors
    /// If the fragment is malformed.
    pub fn add_key(
        &mut self,
        fragment: &str,
        key: &PublicKey,
        is_current: bool,
    ) -> Result<(), SyntaxError> {
        let method = VerificationMethod::json_web_key(self.id.with_fragment(fragment)?, key);
        let relationships: &[Relationship] = match is_current {
            true => &[Relationship::Authentication, Relationship::AssertionMethod],
            false => &[Relationship::AssertionMethod],
        };
        self.add(method, relationships);
        Ok(())
    }

    /// Adds a verification method and lists it for these relationships.
    pub fn add(&mut self, method: VerificationMethod, relationships: &[Relationship]) {
        for relationship in relationships {
            self.references_mut(*relationship)
                .push(KeyReference::Id(method.id.clone()));
        }
        self.verification_method.push(method);
    }

    /// The references of a relationship.
    pub fn references(&self, relationship: Relationship) -> &[KeyReference] {
        match relationship {
            Relationship::Authentication => &self.authentication,
            Relationship::AssertionMethod => &self.assertion_method,
            Relationship::KeyAgreement => &self.key_agreement,
            Relationship::CapabilityInvocation => &self.capability_invocation,
            Relationship::CapabilityDelegation => &self.capability_delegation,
        }
    }

    fn references_mut(&mut self, relationship: Relationship) -> &mut Vec<KeyReference> {
        match relationship {
            Relationship::Authentication => &mut self.authentication,
            Relationship::AssertionMethod => &mut self.assertion_method,
            Relationship::KeyAgreement => &mut self.key_agreement,
            Relationship::CapabilityInvocation => &mut self.capability_invocation,
            Relationship::CapabilityDelegation => &mut self.capability_delegation,
        }
    }

    /// The key `id`, if the document lists it for `relationship` and its controller is the document's subject
    /// (Controlled Identifiers §3.3).
    pub fn key(&self, id: &DidUrl, relationship: Relationship) -> Result<PublicKey, DocumentError> {
        self.listed(id, relationship)?.controlled_key(&self.id)
    }

    /// The key `id` for agreement, by the same rules.
    ///
    /// # Errors
    /// If it is not listed for key agreement, another DID controls it, or it is no valid key.
    pub fn agreement_key(&self, id: &DidUrl) -> Result<AgreementKey, DocumentError> {
        let method = self.listed(id, Relationship::KeyAgreement)?;
        method.controlled_agreement_key(&self.id)
    }

    /// The keys for agreement, in the document's order. Keys of unsupported types and keys of other controllers are
    /// skipped.
    pub fn agreement_keys(&self) -> impl Iterator<Item = (DidUrl, AgreementKey)> {
        self.key_agreement.iter().filter_map(|reference| {
            let method = self.referred(reference)?;
            let key = method.controlled_agreement_key(&self.id).ok()?;
            Some((method.id.clone(), key))
        })
    }

    fn listed(
        &self,
        id: &DidUrl,
        relationship: Relationship,
    ) -> Result<&VerificationMethod, DocumentError> {
        let listed = self
            .references(relationship)
            .iter()
            .find_map(|reference| self.method(reference, id));
        match listed {
            Some(method) => Ok(method),
            None if self.methods().any(|method| method.id == *id) => {
                Err(DocumentError::NotForPurpose(relationship))
            }
            None => Err(DocumentError::NoSuchKey),
        }
    }

    fn referred<'a>(&'a self, reference: &'a KeyReference) -> Option<&'a VerificationMethod> {
        match reference {
            KeyReference::Embedded(method) => Some(method),
            KeyReference::Id(id) => {
                let mut methods = self.verification_method.iter();
                methods.find(|method| method.id == *id)
            }
        }
    }

    /// The keys for `relationship`, in the document's order. Keys of unsupported types and keys of other controllers
    /// are skipped.
    pub fn keys(&self, relationship: Relationship) -> impl Iterator<Item = (DidUrl, PublicKey)> {
        self.references(relationship)
            .iter()
            .filter_map(|reference| {
                let method = self.referred(reference)?;
                Some((method.id.clone(), method.controlled_key(&self.id).ok()?))
            })
    }

    /// All verification methods, including embedded ones.
    pub fn methods(&self) -> impl Iterator<Item = &VerificationMethod> {
        let embedded = Relationship::ALL.into_iter().flat_map(|relationship| {
            self.references(relationship)
                .iter()
                .filter_map(|reference| match reference {
                    KeyReference::Embedded(method) => Some(method.as_ref()),
                    KeyReference::Id(_) => None,
                })
        });
        self.verification_method.iter().chain(embedded)
    }

    fn method<'a>(
        &'a self,
        reference: &'a KeyReference,
        id: &DidUrl,
    ) -> Option<&'a VerificationMethod> {
        match reference {
            KeyReference::Embedded(method) => (method.id == *id).then_some(method.as_ref()),
            KeyReference::Id(listed) if listed == id => self
                .verification_method
                .iter()
                .find(|method| method.id == *id),
            KeyReference::Id(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
