//! Recognises the values in a credential that reveal nothing about a person: the members that every credential has,
//! with the values they should have. A wallet shows everything else before it presents the credential.

use selfsame_credential::format::{Profile, ldp_vc};
use selfsame_credential::path::Segment;
use selfsame_credential::{Held, single_use};
use selfsame_crypto::encoding::{base64_decode, base64url_decode};
use selfsame_crypto::{KeyHandle, time::UnixTime};
use serde_json::Value;

/// The latest time accepted in a credential: the end of the year 9999.
const LATEST: u64 = 253_402_300_799;
/// Maximum length of a signature of 96 bytes in base58.
const SIGNATURE_MAX: usize = 134;
/// Contexts that say only that the document is a credential.
const CONTEXTS: [&str; 3] = [
    "https://www.w3.org/2018/credentials/v1",
    "https://www.w3.org/ns/credentials/v2",
    "https://www.w3.org/ns/credentials/undefined-terms/v2",
];
/// Known values of `type` and `statusPurpose` in status entries and schemas (VCDM 1.1 §4.9, VCDM 2.0 §4.11, Bitstring
/// Status List §2.1).
const WORDS: [&str; 6] = [
    "BitstringStatusListEntry",
    "StatusList2021Entry",
    "revocation",
    "suspension",
    "JsonSchema",
    "JsonSchemaCredential",
];

/// Members of a JWT, an SD-JWT and an SD-JWT VC that say nothing about their subject (RFC 7519 §4.1, RFC 7800 §3.1, RFC
/// 9901 §4, draft-ietf-oauth-sd-jwt-vc §2.2.2). `sub` says who that is.
const JWT: [&str; 14] = [
    "iss",
    "aud",
    "iat",
    "nbf",
    "exp",
    "jti",
    "cnf",
    "status",
    "vct",
    "vct#integrity",
    "aka_vcts",
    "_sd",
    "_sd_alg",
    single_use::CLAIM,
];
/// The type of an mdoc, beside the namespaces of its elements.
const DOC_TYPE: &str = "docType";
/// Members of a credential of the W3C that say nothing about its subject (VCDM 2.0 §4).
const W3C: [&str; 11] = [
    "@context",
    "id",
    "type",
    "issuer",
    "issuanceDate",
    "expirationDate",
    "validFrom",
    "validUntil",
    "credentialStatus",
    "credentialSchema",
    "proof",
];

/// The part of a credential that contains a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CredentialPart {
    /// Part of [`Held::claims`].
    Claims,
    /// Part of [`Held::beside`].
    Beside,
    /// The header of the issuer's JWT; the trail begins with `header`.
    Header,
}

/// Facts about a held credential that the wallet knows, and shows to the person.
#[derive(Clone, Copy, Debug)]
pub struct KnownFacts<'a> {
    /// The issuer.
    pub issuer: &'a str,
    /// The key that the credential is bound to, if the wallet has that key.
    pub key: Option<&'a KeyHandle>,
    /// The key's other name.
    pub kid: Option<&'a str>,
    /// Whether this is a W3C type that need not be shown.
    pub is_type: fn(&str) -> bool,
}

/// Recognises the technical values of one credential.
pub struct Technical<'a> {
    held: &'a Held,
    known: KnownFacts<'a>,
    /// The key that the credential is bound to, as a JWK, if the wallet has that key.
    key: Option<Value>,
}

impl<'a> Technical<'a> {
    /// Prepares for one credential, with what is known about it.
    pub fn of(held: &'a Held, known: KnownFacts<'a>) -> Self {
        let key = held.holder_key();
        let own = key.filter(|key| known.key == Some(&KeyHandle::of(key)));
        let key = own.and_then(|key| serde_json::to_value(key.to_jwk()).ok());
        Self { held, known, key }
    }

    /// Whether every credential has this value here. Each member is checked on its own and only with the value that it
    /// should have: anything else that an issuer puts in it or next to it must be shown.
    pub fn is(&self, part: CredentialPart, trail: &[Segment], value: &Value) -> bool {
        let names: Vec<&str> = trail.iter().filter_map(name).collect();
        let is_single = names.len() == trail.len();
        let text = value.as_str();
        match (part, names.as_slice()) {
            (_, _) if value.is_object() || value.is_array() => false,
            (CredentialPart::Header, ["header", "cty"]) => matches!(text, Some("vc" | "JWT")),
            (CredentialPart::Header, ["header", "cryptosuite"]) => text.is_some_and(is_suite),
            (CredentialPart::Header, _) => false,
            (_, ["cnf", "jwk", member]) => self.is_of_key(member, value),
            (_, ["status", "status_list", "idx"]) => self.is_index(value.as_u64()),
            (_, ["status", "status_list", "uri"]) => self.is_list(text),
            (CredentialPart::Beside, ["proof", member]) => self.is_of_proof(member, text),
            (CredentialPart::Beside, ["sub"]) => text.is_some() && text == self.held.holder_did(),
            (CredentialPart::Beside, ["jti"]) => self.held.claims().get("id") == Some(value),
            (CredentialPart::Beside, [name]) => is_single && self.is_registered(name, value),
            (CredentialPart::Beside, _) => false,
            // The verifier has named the type; all else is an element in a namespace.
            (CredentialPart::Claims, names) if self.is_mdoc() => names == [DOC_TYPE] && is_single,
            (CredentialPart::Claims, names) if self.is_at_the_top() => match names {
                [single_use::CLAIM, "digest"] => is_single && text.is_some_and(is_digest),
                ["vct#integrity"] => is_single && text.is_some_and(is_integrity),
                // The verifier has named the type, unless it requested the credential by another of its types.
                ["vct"] => is_single && self.held.claims().get("aka_vcts").is_none(),
                [name] => is_single && self.is_registered(name, value),
                _ => false,
            },
            (CredentialPart::Claims, names) => self.is_of_w3c(names, text),
        }
    }

    /// Whether the value belongs to the protocol, whatever it is: people need not read it to know what the credential
    /// says about them.
    pub fn is_protocol(&self, part: CredentialPart, trail: &[Segment]) -> bool {
        let Some(first) = trail.first().and_then(name) else {
            return false;
        };
        match part {
            CredentialPart::Header => true,
            CredentialPart::Beside => JWT.contains(&first) || first == "proof",
            CredentialPart::Claims if self.is_mdoc() => first == DOC_TYPE,
            CredentialPart::Claims if self.is_at_the_top() => JWT.contains(&first),
            CredentialPart::Claims => W3C.contains(&first),
        }
    }

    fn is_mdoc(&self) -> bool {
        self.held.format.describe().profile == Profile::Mdoc
    }

    /// Whether the claims about the subject stand beside those of the JWT.
    fn is_at_the_top(&self) -> bool {
        self.held.format.describe().subject_claim.is_none()
    }

    /// The registered claims of a JWT (RFC 7519 §4.1).
    fn is_registered(&self, name: &str, value: &Value) -> bool {
        match name {
            "iss" => value.as_str() == Some(self.known.issuer),
            "nbf" | "exp" | "iat" => value.as_u64().is_some_and(|time| time <= LATEST),
            _ => false,
        }
    }

    /// The members of the issuer's proof (Data Integrity §2.1).
    fn is_of_proof(&self, member: &str, text: Option<&str>) -> bool {
        let Some(text) = text else {
            return false;
        };
        match member {
            "type" => text == ldp_vc::PROOF_TYPE,
            "cryptosuite" => is_suite(text),
            "proofPurpose" => text == "assertionMethod",
            "created" | "expires" => UnixTime::parse_rfc3339(text).is_some(),
            "verificationMethod" => Some(text) == self.held.header().kid.as_deref(),
            "proofValue" => text.len() <= SIGNATURE_MAX,
            _ => false,
        }
    }

    fn is_of_w3c(&self, names: &[&str], text: Option<&str>) -> bool {
        match names {
            ["@context"] => text.is_some_and(|text| CONTEXTS.contains(&text)),
            ["type"] => text.is_some_and(self.known.is_type),
            // The wallet shows it as the card's issuer.
            ["issuer"] | ["issuer", "id"] => text == Some(self.known.issuer),
            ["issuanceDate" | "expirationDate" | "validFrom" | "validUntil"] => {
                text.and_then(UnixTime::parse_rfc3339).is_some()
            }
            ["credentialStatus", "statusListCredential"] => self.is_list(text),
            ["credentialStatus", "statusListIndex"] => {
                self.is_index(text.and_then(|text| text.parse().ok()))
            }
            ["credentialStatus", "id"] => self.held.statuses().iter().any(|entry| {
                let place = text.and_then(|text| text.strip_prefix(entry.uri.as_str()));
                let index = place.and_then(|place| place.strip_prefix('#'));
                index.and_then(|index| index.parse().ok()) == Some(entry.index)
            }),
            ["credentialStatus", "type" | "statusPurpose"] | ["credentialSchema", "type"] => {
                text.is_some_and(|text| WORDS.contains(&text))
            }
            // The key that the card is bound to, under the name that its proof uses.
            ["credentialSubject", "id"] => text.is_some() && text == self.held.holder_did(),
            _ => false,
        }
    }

    /// Whether a member of `cnf.jwk` belongs to the card's own key, which its proof reveals anyway.
    fn is_of_key(&self, member: &str, value: &Value) -> bool {
        let Some(key) = &self.key else {
            return false;
        };
        match (member, value.as_str()) {
            ("kid", text) => {
                let own = [self.known.kid, self.known.key.map(KeyHandle::as_str)];
                text.is_some() && own.contains(&text)
            }
            ("alg", Some("ES256" | "EdDSA")) | ("use", Some("sig")) => true,
            ("key_ops", Some("verify")) => true,
            _ => key.get(member) == Some(value),
        }
    }

    /// Whether this is the URI of one of the credential's status lists. It tells a verifier which list to fetch. It
    /// reveals no more than the index in the list, which is unique to the credential.
    fn is_list(&self, text: Option<&str>) -> bool {
        let lists = self.held.statuses();
        lists.iter().any(|entry| text == Some(&entry.uri))
    }

    fn is_index(&self, index: Option<u64>) -> bool {
        let lists = self.held.statuses();
        lists.iter().any(|entry| index == Some(entry.index))
    }
}

fn is_suite(text: &str) -> bool {
    ldp_vc::suite_names().any(|name| name == text)
}

fn is_digest(text: &str) -> bool {
    base64url_decode(text).is_ok_and(|digest| digest.len() == 32)
}

/// One hash of Subresource Integrity (§3.1), which is as long as its algorithm makes it.
fn is_integrity(text: &str) -> bool {
    let algorithms = [("sha256-", 32), ("sha384-", 48), ("sha512-", 64)];
    algorithms.iter().any(|(name, length)| {
        let hash = text.strip_prefix(name).map(base64_decode);
        hash.is_some_and(|hash| hash.is_ok_and(|hash| hash.len() == *length))
    })
}

fn name(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Name(name) => Some(name),
        Segment::Index(_) | Segment::All => None,
    }
}
