//! What every format gives to other code: its properties, and its credentials as a holder and a verifier see them.

use std::{fmt, sync::Arc};

use selfsame_crypto::{Jwk, jws};
use serde_json::{Map, Value};

use crate::{
    evidence::Need,
    path::ClaimPath,
    rules::{Binding, Court},
    sd_jwt::{ProcessError, SdJwt, SdJwtError, Withheld},
    status::{Reference, StatusError},
    validity::Validity,
    verdict::Verdict,
    w3c::VcJwtError,
};

/// The properties of a format that protocols and use cases depend on.
#[derive(Debug)]
pub struct Description {
    /// Its identifier on the wire (OpenID4VCI 1.0 Appendix A).
    pub name: &'static str,
    /// Its name, of letters, digits and `_`.
    pub label: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is, for people who choose a format.
    pub summary: &'static str,
    /// Its profile in OpenID4VCI and OpenID4VP.
    pub profile: Profile,
    /// The claims that contain the types.
    pub type_claims: &'static [&'static str],
    /// The claim that contains the claims about the subject; `None` if they are at the top level.
    pub subject_claim: Option<&'static str>,
    /// Whether a holder can withhold claims.
    pub discloses_selectively: bool,
    /// Whether a credential is bound to its holder by a DID that it names. Otherwise a key in it binds it.
    pub binds_to_did: bool,
    /// Where a credential issued here states its status.
    pub status: StatusForm,
    /// Whether issuers here identify themselves only by a DID, not by a certificate or metadata.
    pub issuer_needs_did: bool,
    /// The context for claims whose terms no other context defines, if the format has one.
    pub undefined_terms: Option<&'static str>,
    /// Whether a credential names the JSON Schema of its type: the context of its data model defines `JsonSchema`.
    pub names_schema: bool,
    /// Whether it is for machines alone: only types that name it are issued in it, and no wallet of a person holds it.
    pub is_for_machines: bool,
}

/// The profile of OpenID4VCI 1.0 Appendix A and OpenID4VP 1.0 Appendix B that a format follows: how metadata, requests
/// and queries name types and algorithms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Profile {
    /// IETF SD-JWT VC (§A.3, §B.3).
    SdJwtVc,
    /// W3C Verifiable Credentials (§A.1, §B.1).
    W3c,
    /// ISO mdoc (§A.2, §B.2): a document type, elements by namespace, algorithms as COSE numbers.
    Mdoc,
    /// W3C Verifiable Credentials with Data Integrity proofs (§A.1.2, §B.1.3.2): types expanded by contexts, algorithms as
    /// cryptosuites.
    DataIntegrity,
    /// Compact credentials, our own: types as W3C's, algorithms as COSE numbers. OpenID4VP has no query for them.
    Compact,
}

/// Where a credential states its status.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StatusForm {
    /// In the claim `status`, for revocation and suspension (Token Status List §6.1).
    Claim,
    /// In the claim `status`, and for revocation in one object `credentialStatus`.
    ClaimAndMember,
    /// In the claim `status`, and the list is signed by the issuer's DID.
    ClaimByDid,
    /// In the security object of an mdoc, and the list is signed by the document signer (Token Status List §6.3).
    SecurityObject,
    /// In `credentialStatus`, an object for each purpose (Bitstring Status List §2.1).
    Member,
}

/// A credential that was read for its holder.
pub(crate) struct ReadCredential {
    pub credential: Arc<dyn CredentialView>,
    pub validity: Validity,
    /// Its references to status lists.
    pub statuses: Result<Vec<Reference>, StatusError>,
}

/// A credential of one format, as its holder sees it.
pub(crate) trait CredentialView: fmt::Debug + Send + Sync {
    /// The memory that it takes besides its text, in bytes.
    fn weight(&self) -> usize;
    /// All claims, with every disclosure applied.
    fn claims(&self) -> &Value;
    /// Claims of the JWT, or proofs of the document, that are outside of [`CredentialView::claims`].
    fn beside(&self) -> Option<&Map<String, Value>> {
        None
    }
    /// The SD-JWT, if it is one.
    fn sd_jwt(&self) -> Option<&SdJwt> {
        None
    }
    /// The credential with these claims alone and what is always disclosed; `None` if claims can't be withheld.
    fn disclosing(&self, _: &[ClaimPath]) -> Option<String> {
        None
    }
    /// The header of the issuer's JWT.
    fn header(&self) -> &jws::Header;
    /// The issuer's identifier.
    fn issuer(&self) -> Option<&str>;
    fn types(&self) -> Vec<&str>;
    /// The key in `cnf.jwk`, if it can be read.
    fn confirmed_key(&self) -> Option<Jwk>;
    /// The identifier of the subject.
    fn subject_id(&self) -> Option<&str>;
    /// The reading of the credential, for verification.
    fn subject(&self) -> Arc<dyn Subject>;
}

/// A received text, read once for all rounds of gathering and for verification.
pub(crate) trait Subject: fmt::Debug + Send + Sync {
    /// The evidence that is still needed.
    fn needs(&self, court: &Court<'_>) -> Vec<Need>;
    /// The verdict, and the claims if they are genuine.
    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>);
    /// The array elements that were withheld.
    fn withheld(&self) -> Option<&Withheld> {
        None
    }
}

/// Why a text can't be held as a credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HeldError {
    /// It is not an SD-JWT.
    #[error(transparent)]
    SdJwt(#[from] SdJwtError),
    /// It is not a W3C credential as a JWT.
    #[error(transparent)]
    VcJwt(#[from] VcJwtError),
    /// Its disclosures do not match its payload.
    #[error(transparent)]
    Disclosures(#[from] ProcessError),
    /// It is already bound to a key, as only presentations are (RFC 9901 §7.2).
    #[error("the issuer sent a presentation instead of a credential")]
    KeyBinding,
    /// It is not a W3C credential with a Data Integrity proof of its issuer.
    #[error("the text is not a W3C credential with a Data Integrity proof of its issuer")]
    DataIntegrity,
    /// It is not a compact credential.
    #[error("the text is not a compact credential in base64url")]
    Compact,
    /// It is not a mobile document.
    #[error("the text is not an ISO mdoc (IssuerSigned) in base64url")]
    Mdoc,
    /// A time in it is not written as specified.
    #[error("a time in the credential is not written as specified")]
    Time,
    /// Its status entry is not as specified.
    #[error("the status entry of the credential is not as specified")]
    Status,
}
