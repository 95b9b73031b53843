//! What the table has for each format: its facts, and how credentials of it are read.

use std::{fmt, sync::Arc};

use selfsame_crypto::{Jwk, jws};
use serde_json::{Map, Value};

use super::w3c::Variant;
use crate::{
    budget::Budget,
    evidence::Need,
    rules::{Binding, Court, Malformed},
    sd_jwt::{ProcessError, SdJwt, SdJwtError, Withheld},
    status::{Reference, StatusError},
    validity::Validity,
    verdict::Verdict,
    w3c::VcJwtError,
};

/// A format in the table.
pub(crate) struct Entry {
    /// Its facts.
    pub description: Description,
    /// Reads a credential for its holder.
    pub hold: fn(&str) -> Result<Kept, HeldError>,
    /// Reads a bare credential for a judgement.
    pub read_credential: Read,
    /// Reads a presentation for a judgement.
    pub read_presentation: Read,
    /// Whether a text looks like a credential of this format; formats are asked in the order of the table.
    pub is_like: fn(&str) -> bool,
    /// The credential in a presentation, without the holder's proof; none if there is no presentation to read.
    pub bare: fn(&str) -> Option<String>,
    /// Says that a text takes more memory than is left.
    pub too_much: fn() -> Malformed,
    /// How it writes W3C's data model, if it is one of W3C's.
    pub w3c: Option<Variant>,
}

/// Reads a text within a budget. The result depends on these two alone.
pub(crate) type Read = fn(&str, &mut Budget) -> Result<Arc<dyn Subject>, Malformed>;

/// The facts on a format that protocols and use cases ask for.
#[derive(Debug)]
pub struct Description {
    /// Its identifier on the wire (OpenID4VCI 1.0 Appendix A).
    pub name: &'static str,
    /// Its name in letters, digits and `_`.
    pub label: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What OpenID4VCI and OpenID4VP say of it.
    pub profile: Profile,
    /// The claims that hold the types.
    pub type_claims: &'static [&'static str],
    /// The claim in which the claims about the subject stand; none where they stand at the top.
    pub subject_claim: Option<&'static str>,
    /// Whether a holder can keep claims back.
    pub discloses_selectively: bool,
    /// Whether a credential names its holder by a DID, which binds it. Else a key in it binds it.
    pub binds_to_did: bool,
    /// Where a credential of ours states its status.
    pub status: StatusForm,
    /// Whether our issuers name themselves by a DID alone, not by a certificate or metadata.
    pub issuer_needs_did: bool,
    /// The context for claims whose terms no other context defines, where there is one.
    pub undefined_terms: Option<&'static str>,
}

/// The profile of OpenID4VCI 1.0 Appendix A and OpenID4VP 1.0 Appendix B that a format follows. It says how metadata,
/// requests and queries name types and algorithms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Profile {
    /// IETF SD-JWT VC (§A.3, §B.3).
    SdJwtVc,
    /// W3C Verifiable Credentials (§A.1, §B.1).
    W3c,
}

/// Where a credential states its status.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StatusForm {
    /// In the claim `status`, for revocation and suspension (Token Status List §6.1).
    Claim,
    /// In the claim `status`, and for revocation in one object `credentialStatus`.
    ClaimAndMember,
    /// In `credentialStatus`, an object for each purpose (Bitstring Status List §2.1).
    Member,
}

/// A credential that was read for its holder.
pub(crate) struct Kept {
    pub credential: Arc<dyn Credential>,
    pub validity: Validity,
    /// Where its status is to be read.
    pub statuses: Result<Vec<Reference>, StatusError>,
}

/// A credential of a format, as its holder looks at it.
pub(crate) trait Credential: fmt::Debug + Send + Sync {
    /// The memory it takes beside its text, in bytes.
    fn weight(&self) -> usize;
    /// All claims, disclosed.
    fn claims(&self) -> &Value;
    /// Claims of the JWT that stand outside of [`Credential::claims`].
    fn beside(&self) -> Option<&Map<String, Value>> {
        None
    }
    /// The SD-JWT, if it is one.
    fn sd_jwt(&self) -> Option<&SdJwt> {
        None
    }
    /// The header of the issuer's JWT.
    fn header(&self) -> &jws::Header;
    /// The issuer's identifier.
    fn issuer(&self) -> Option<&str>;
    fn types(&self) -> Vec<&str>;
    /// The key in `cnf.jwk`, if it can be read.
    fn confirmed_key(&self) -> Option<Jwk>;
    /// The identifier of whom it speaks of.
    fn subject_id(&self) -> Option<&str>;
    /// What was read, for a judgement.
    fn subject(&self) -> Arc<dyn Subject>;
}

/// What a received text says, for all rounds of gathering and the judgement.
pub(crate) trait Subject: fmt::Debug + Send + Sync {
    /// What is missing to judge.
    fn needs(&self, court: &Court<'_>) -> Vec<Need>;
    /// The verdict, and the claims if they are genuine.
    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>);
    /// Which elements of arrays were kept back.
    fn withheld(&self) -> Option<&Withheld> {
        None
    }
}

/// Why a text cannot be held as a credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HeldError {
    /// It is no SD-JWT.
    #[error(transparent)]
    SdJwt(#[from] SdJwtError),
    /// It is no W3C credential as a JWT.
    #[error(transparent)]
    VcJwt(#[from] VcJwtError),
    /// Its disclosures do not fit its payload.
    #[error(transparent)]
    Disclosures(#[from] ProcessError),
    /// It is bound to a key already, as only presentations are (RFC 9901 §7.2).
    #[error("an issuer gave a presentation in place of a credential")]
    KeyBinding,
    /// A time in it is not written as specified.
    #[error("a time in the credential is not written as specified")]
    Time,
    /// Its status entry is not as specified.
    #[error("the status entry of the credential is not as specified")]
    Status,
}
