//! The profiles of authorities (IACA), of document signers and of readers (ISO/IEC 18013-5 Annex B.1).

mod der;
pub mod make;

use selfsame_crypto::PublicKey;
use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::{CertificateContents, Chain, X509Error, extension};

/// The purpose of a document signer, 1.0.18013.5.1.2 (ISO/IEC 18013-5 §B.1.4).
pub const DOCUMENT_SIGNER: &[u8] = &[0x28, 0x81, 0x8c, 0x5d, 0x05, 0x01, 0x02];
/// The purpose of a reader that authenticates itself, 1.0.18013.5.1.6 (ISO/IEC 18013-5 §B.1.7).
pub const READER: &[u8] = &[0x28, 0x81, 0x8c, 0x5d, 0x05, 0x01, 0x06];
/// keyCertSign and cRLSign, and nothing else.
const AUTHORITY_USAGE: u16 = 0x0600;
/// digitalSignature, and nothing else.
const SIGNER_USAGE: u16 = 0x8000;
/// A document signer's certificate lives at most this long, in seconds (457 days).
const SIGNER_SECONDS_MAX: u64 = 457 * 86_400;
/// Extensions that neither profile permits.
const FORBIDDEN: [&[u8]; 5] = [
    extension::POLICY_MAPPINGS,
    extension::NAME_CONSTRAINTS,
    extension::POLICY_CONSTRAINTS,
    extension::INHIBIT_ANY_POLICY,
    extension::FRESHEST_CRL,
];

/// Why a document signer is not relied upon.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignerError {
    /// The document has no certificate of its signer.
    #[error("the document has no certificate of its signer")]
    NoCertificate,
    /// A certificate cannot be read.
    #[error("a certificate can't be read")]
    Malformed,
    /// No configured authority has the name of the certificate's issuer.
    #[error("no trusted authority has the name of the certificate's issuer")]
    UnknownAuthority,
    /// The path to the authority does not hold.
    #[error(transparent)]
    Path(#[from] X509Error),
    /// A certificate breaks a rule of its profile.
    #[error("{whose}: {breach}")]
    Profile {
        /// Whose certificate.
        whose: CertificateRole,
        /// The broken rule.
        breach: Breach,
    },
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CertificateRole {
    /// Of an authority.
    #[error("the authority's certificate")]
    Authority,
    /// Of a document signer.
    #[error("the signer's certificate")]
    Signer,
    /// Of a reader.
    #[error("the reader's certificate")]
    Reader,
}

impl CertificateRole {
    /// The role of a certificate, by what it states of itself.
    pub fn of(contents: &CertificateContents<'_>) -> Self {
        match contents.purposes().as_slice() {
            _ if contents.is_authority() => Self::Authority,
            [READER] => Self::Reader,
            _ => Self::Signer,
        }
    }

    /// The purpose in extKeyUsage; an authority has none.
    const fn purpose(self) -> Option<&'static [u8]> {
        match self {
            Self::Authority => None,
            Self::Signer => Some(DOCUMENT_SIGNER),
            Self::Reader => Some(READER),
        }
    }
}

/// A rule of a profile, and whether a certificate keeps it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ProfileRule {
    /// What breaks it.
    pub breach: Breach,
    /// Whether it holds.
    pub holds: bool,
}

/// A rule of a profile that a certificate breaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Breach {
    /// An authority's certificate signs a document.
    #[error("it is that of an authority, which signs certificates only")]
    Authority,
    /// It is no authority's, or has authorities below it.
    #[error("it is not that of an authority with a path length of 0")]
    NoAuthority,
    /// The key usage is missing, not critical or another.
    #[error("the key usage is not the one that the profile asks for")]
    KeyUsage,
    /// The extended key usage is missing, not critical or another.
    #[error("the extended key usage is not the one of the profile alone, or not critical")]
    Purpose,
    /// The country is missing, or not that of the authority.
    #[error("the country is missing or not that of the authority")]
    Country,
    /// The state or province is not that of the authority.
    #[error("the state or province is not that of the authority")]
    State,
    /// A key identifier is missing, or not that of the authority.
    #[error("a key identifier is missing or not that of the authority")]
    KeyIdentifier,
    /// It lives too long.
    #[error("it is valid for more than 457 days")]
    Lifetime,
    /// It is not valid within the validity of the authority's.
    #[error("its validity is not within that of the authority's certificate")]
    Nesting,
    /// It has an extension that the profile forbids.
    #[error("it has an extension that the profile forbids")]
    Forbidden,
}

/// A document signer whose certificate leads to a trusted authority.
#[derive(Clone, Debug)]
pub struct DocumentSigner {
    /// The certified key.
    pub key: PublicKey,
    /// The country of the certificate.
    pub country: Option<String>,
    /// The state or province of the certificate.
    pub state: Option<String>,
    /// The beginning of the certificate's validity.
    pub not_before: UnixTime,
    /// The end of the certificate's validity.
    pub not_after: UnixTime,
    /// The SHA-256 digest of the certificate.
    pub sha256: [u8; 32],
    /// The place of the authority among those that were given.
    pub authority: usize,
}

impl DocumentSigner {
    /// The signer of this certificate (DER), if one of `authorities` (DER) signed it, both follow their profiles, and
    /// the path is valid at `now`. An authority signs its signers itself, so no other certificate plays a part.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn find(
        certificate: &[u8],
        authorities: &[Vec<u8>],
        now: UnixTime,
    ) -> Result<Self, SignerError> {
        let contents = CertificateContents::parse(certificate).ok_or(SignerError::Malformed)?;
        if contents.is_authority() {
            return Err(breach(CertificateRole::Signer, Breach::Authority));
        }
        let chain = Chain::parse(&[certificate.to_vec()])?;
        let mut refusal = SignerError::UnknownAuthority;
        for (at, authority) in authorities.iter().enumerate() {
            let Some(above) = CertificateContents::parse(authority) else {
                return Err(SignerError::Path(X509Error::Anchor));
            };
            if above.subject != contents.issuer {
                continue;
            }
            // Another authority may have the same name and have signed it.
            if let Err(error) = chain.verify(std::slice::from_ref(authority), now) {
                refusal = SignerError::Path(error);
                continue;
            }
            authority_profile(&above)
                .map_err(|broken| breach(CertificateRole::Authority, broken))?;
            signer_profile(&contents, &above)
                .map_err(|broken| breach(CertificateRole::Signer, broken))?;
            return Ok(Self {
                key: chain.leaf_public_key().clone(),
                country: contents.subject_attribute("C"),
                state: contents.subject_attribute("ST"),
                not_before: contents.not_before,
                not_after: contents.not_after,
                sha256: chain.leaf_sha256(),
                authority: at,
            });
        }
        Err(refusal)
    }
}

const fn breach(whose: CertificateRole, breach: Breach) -> SignerError {
    SignerError::Profile { whose, breach }
}

impl Breach {
    /// The name of the rule that is broken.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Authority => "no_authority",
            Self::NoAuthority => "authority",
            Self::KeyUsage => "key_usage",
            Self::Purpose => "extended_key_usage",
            Self::Country => "country",
            Self::State => "state",
            Self::KeyIdentifier => "key_identifiers",
            Self::Lifetime => "lifetime",
            Self::Nesting => "within_authority",
            Self::Forbidden => "extensions",
        }
    }
}

/// The profile of an authority (§B.1.2): `ca` with a path length of 0, keyCertSign and cRLSign, a country, a key
/// identifier.
///
/// # Errors
/// The first rule that does not hold.
pub fn authority_profile(contents: &CertificateContents<'_>) -> Result<(), Breach> {
    first(&authority_rules(contents))
}

/// The rules of the profile of an authority.
pub fn authority_rules(contents: &CertificateContents<'_>) -> Vec<ProfileRule> {
    let constraints = contents.extension(extension::BASIC_CONSTRAINTS);
    let is_critical = constraints.is_some_and(|found| found.is_critical);
    let is_lowest = contents.is_authority() && contents.path_length() == Some(0);
    let country = contents.subject_attribute("C");
    vec![
        rule(Breach::NoAuthority, is_critical && is_lowest),
        rule(Breach::KeyUsage, has_usage(contents, AUTHORITY_USAGE)),
        rule(
            Breach::Country,
            country.is_some_and(|code| is_country(&code)),
        ),
        rule(Breach::KeyIdentifier, contents.subject_key_id().is_some()),
        rule(Breach::Forbidden, has_nothing_forbidden(contents)),
    ]
}

/// The profile of a document signer below its authority (§B.1.4).
///
/// # Errors
/// The first rule that does not hold.
pub fn signer_profile(
    contents: &CertificateContents<'_>,
    authority: &CertificateContents<'_>,
) -> Result<(), Breach> {
    first(&end_rules(
        CertificateRole::Signer,
        contents,
        Some(authority),
    ))
}

/// The rules of the profile of a document signer or a reader; without the certificate of its authority, those that can be
/// judged without it.
pub fn end_rules(
    role: CertificateRole,
    contents: &CertificateContents<'_>,
    authority: Option<&CertificateContents<'_>>,
) -> Vec<ProfileRule> {
    let purpose = contents.extension(extension::EXTENDED_KEY_USAGE);
    let is_critical = purpose.is_some_and(|found| found.is_critical);
    let is_alone = contents.purposes().into_iter().eq(role.purpose());
    let country = contents.subject_attribute("C");
    let id = contents.authority_key_id();
    let lifetime = contents.not_after.seconds_since(contents.not_before);
    let mut rules = vec![
        rule(Breach::Authority, !contents.is_authority()),
        rule(Breach::KeyUsage, has_usage(contents, SIGNER_USAGE)),
        rule(Breach::Purpose, is_critical && is_alone),
    ];
    let has_ids = id.is_some() && contents.subject_key_id().is_some();
    match authority {
        Some(authority) => {
            let state = authority.subject_attribute("ST");
            let is_same_state = state.is_none() || state == contents.subject_attribute("ST");
            let is_same = country.is_some() && country == authority.subject_attribute("C");
            rules.push(rule(Breach::Country, is_same));
            rules.push(rule(Breach::State, is_same_state));
            let is_its = has_ids && id == authority.subject_key_id();
            rules.push(rule(Breach::KeyIdentifier, is_its));
        }
        None => {
            rules.push(rule(Breach::Country, country.is_some()));
            rules.push(rule(Breach::KeyIdentifier, has_ids));
        }
    }
    rules.push(rule(Breach::Lifetime, lifetime <= SIGNER_SECONDS_MAX));
    if let Some(authority) = authority {
        let is_within = contents.not_before >= authority.not_before
            && contents.not_after <= authority.not_after;
        rules.push(rule(Breach::Nesting, is_within));
    }
    rules.push(rule(Breach::Forbidden, has_nothing_forbidden(contents)));
    rules
}

const fn rule(breach: Breach, holds: bool) -> ProfileRule {
    ProfileRule { breach, holds }
}

fn first(rules: &[ProfileRule]) -> Result<(), Breach> {
    let broken = rules.iter().find(|rule| !rule.holds);
    broken.map_or(Ok(()), |rule| Err(rule.breach))
}

fn has_usage(contents: &CertificateContents<'_>, wanted: u16) -> bool {
    let usage = contents.extension(extension::KEY_USAGE);
    let is_critical = usage.is_some_and(|found| found.is_critical);
    is_critical && contents.key_usage() == Some(wanted)
}

fn has_nothing_forbidden(contents: &CertificateContents<'_>) -> bool {
    !FORBIDDEN.iter().any(|id| contents.extension(id).is_some())
}

/// The certificate (DER) as text (RFC 7468).
pub fn to_pem(certificate: &[u8]) -> String {
    let encoded = base64_encode(certificate);
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    for (at, letter) in encoded.chars().enumerate() {
        if at > 0 && at.is_multiple_of(64) {
            text.push('\n');
        }
        text.push(letter);
    }
    text.push_str("\n-----END CERTIFICATE-----\n");
    text
}

/// ISO 3166-1 alpha-2, in upper case.
fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
