//! The rules of a verdict on a document.

use selfsame_verdict::{BrokenRule, Law};

pub const READABLE: Law = Law::new(
    "readable",
    "ISO/IEC 18013-5 §8.3.2.1.2.2, RFC 8949 §5.3.1",
    BrokenRule::Invalid,
);
pub const SIGNER: Law = Law::new(
    "signer_certificate",
    "ISO/IEC 18013-5 §9.3.3, §B.1",
    BrokenRule::Untrusted,
);
pub const ALGORITHM: Law = Law::new(
    "algorithm_accepted",
    "ISO/IEC 18013-5 §9.1.2.4, RFC 9053 §2",
    BrokenRule::Invalid,
);
pub const ISSUER_SIGNATURE: Law = Law::new(
    "issuer_signature",
    "ISO/IEC 18013-5 §9.1.2.4, RFC 9052 §4.4",
    BrokenRule::Invalid,
);
pub const SECURITY_OBJECT: Law = Law::new(
    "security_object",
    "ISO/IEC 18013-5 §9.1.2.4",
    BrokenRule::Invalid,
);
pub const SIGNED_TIME: Law = Law::new(
    "signed_while_certificate_valid",
    "ISO/IEC 18013-5 §9.3.1",
    BrokenRule::Invalid,
);
pub const TIMES: Law = Law::new(
    "times_well_formed",
    "ISO/IEC 18013-5 §9.1.2.4",
    BrokenRule::Invalid,
);
pub const NOT_BEFORE: Law = Law::new(
    "not_before",
    "ISO/IEC 18013-5 §9.3.1",
    BrokenRule::NotYetValid,
);
pub const EXPIRY: Law = Law::new("expiry", "ISO/IEC 18013-5 §9.3.1", BrokenRule::Expired);
pub const DIGESTS: Law = Law::new(
    "digests",
    "ISO/IEC 18013-5 §9.1.2.5, §9.3.1",
    BrokenRule::Invalid,
);
pub const COUNTRY: Law = Law::new(
    "issuing_country",
    "ISO/IEC 18013-5 §7.2.1, §9.3.1",
    BrokenRule::Invalid,
);
pub const STATUS: Law = Law::new("status", "Token Status List §6.3, §7", BrokenRule::Revoked);
pub const DOC_TYPE: Law = Law::new("doc_type", "ISO/IEC 18013-5 §9.3.1", BrokenRule::Invalid);
pub const ELEMENTS: Law = Law::new(
    "elements_presented",
    "OpenID4VP 1.0 §6.4, §B.2.4",
    BrokenRule::Invalid,
);
pub const DEVICE_ALGORITHM: Law = Law::new(
    "device_algorithm_accepted",
    "ISO/IEC 18013-5 §9.1.3.5, §9.1.3.6",
    BrokenRule::Invalid,
);
pub const DEVICE_PROOF: Law = Law::new(
    "device_proof",
    "ISO/IEC 18013-5 §9.1.3.4, OpenID4VP 1.0 §B.2.6",
    BrokenRule::Invalid,
);
pub const AUTHORIZATIONS: Law = Law::new(
    "device_authorized",
    "ISO/IEC 18013-5 §9.1.2.4",
    BrokenRule::Invalid,
);

const OF_ISSUERS: &[&Law] = &[
    &READABLE,
    &SIGNER,
    &ALGORITHM,
    &ISSUER_SIGNATURE,
    &SECURITY_OBJECT,
    &SIGNED_TIME,
    &TIMES,
    &NOT_BEFORE,
    &EXPIRY,
    &DIGESTS,
    &COUNTRY,
    &STATUS,
];

/// The rules for a document that an issuer sent.
pub const OF_DOCUMENTS: &[&[&Law]] = &[OF_ISSUERS];
/// The rules for a response.
pub const OF_RESPONSES: &[&[&Law]] = &[
    OF_ISSUERS,
    &[
        &DOC_TYPE,
        &ELEMENTS,
        &DEVICE_ALGORITHM,
        &DEVICE_PROOF,
        &AUTHORIZATIONS,
    ],
];
