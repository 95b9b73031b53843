//! Settings of the issuer and the verifier. Parsed by the binary, validated here.

use std::collections::BTreeMap;

use selfsame_attester::AttestationConfig;
use selfsame_core::certificate::anchors;
use selfsame_core::config::{DidMethod, NamedDid, TrustConfig};
use selfsame_credential::Format;
use selfsame_crypto::SecretString;
use selfsame_did::Did;
use selfsame_driver::{Error, Result};
use selfsame_haip::WantedProfile;
use selfsame_openid4vc::wire::credential::WantedEncryption;
use selfsame_openid4vc::wire::request::ClientId;
use selfsame_openid4vc::wire::transaction::TransactionType;
use serde::{Deserialize, Serialize};
use url::Url;

pub use crate::view::words::{ClientIdPrefix, ResponseMode};

/// The settings of the issuer and the verifier.
#[derive(Clone, Debug, Default)]
pub struct RolesConfig {
    /// The issuer's settings.
    pub issuer: IssuerConfig,
    /// The verifier's settings.
    pub verifier: VerifierConfig,
}

/// Which of these roles an instance has.
#[derive(Clone, Copy, Debug)]
pub struct RoleSet {
    /// Issues credentials.
    pub issuer: bool,
    /// Requests presentations.
    pub verifier: bool,
}

/// The issuer's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IssuerConfig {
    /// Its name for people.
    pub name: String,
    /// The profile that it keeps, whose rules are demanded of it at the start and of wallets at each call.
    pub profile: Option<WantedProfile>,
    /// The method of its new DID. Default: `selfsame` with a registry, else `jwk`.
    pub did_method: Option<DidMethod>,
    /// An existing DID, of any method, whose document contains this issuer's key. If it is set, no DID is created.
    pub did: Option<String>,
    /// The DID that its credentials name. It is decided once, with new data.
    pub issuer_did: NamedDid,
    /// Whether the sample types can be issued and requested.
    pub samples: bool,
    /// The start of the SD-JWT VC types of the samples. The id of the type follows.
    pub vct_base: String,
    /// The label of its key in the hardware security module of `[pkcs11]`. It is decided once, with new data.
    pub pkcs11_key: Option<String>,
    /// How an SD-JWT VC identifies its key.
    pub identify_by: IdentifyBy,
    /// The certificate chain for `identify_by = "x5c"`, PEM, the leaf first; in a settings file, the path to it.
    pub certificate: Option<String>,
    /// The key of the certificate, PKCS#8 in PEM; in a settings file, the path to it.
    #[serde(skip_serializing)]
    pub certificate_key: Option<SecretString>,
    /// The country that the certificates of its mobile documents name (ISO 3166-1 alpha-2).
    pub country: String,
    /// The formats that it issues. The first one is used unless an offer names another.
    pub formats: Vec<Format>,
    /// Maximum copies, each with its own key, that a wallet may request with one access token, at once or one by one.
    pub batch_size: usize,
    /// Times in credentials are rounded down to a multiple of this, in seconds, so that they do not identify people.
    pub round_times_to: u64,
    /// How long a verifier may use a status list without asking again, in seconds.
    pub status_ttl: u64,
    /// Whether wallets may or must encrypt credential requests, and have the responses encrypted.
    pub encryption: WantedEncryption,
    /// Whether wallets are to say what became of credentials.
    pub notifications: bool,
    /// Whether credentials wait until somebody approves their requests.
    pub approval: WantedApproval,
    /// How long a wallet waits between two looks for a credential that is not approved yet, in seconds.
    pub approval_interval: u32,
    /// The types that people get by signing in at the provider here: for each claim of the credential, the name of the
    /// person's claim that it is made from.
    pub by_sign_in: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether wallets and keys must be attested, and by whom.
    pub attestation: AttestationConfig,
}

impl Default for IssuerConfig {
    fn default() -> Self {
        Self {
            name: "Selfsame Clinic".to_owned(),
            profile: None,
            did_method: None,
            did: None,
            issuer_did: NamedDid::Portable,
            samples: true,
            vct_base: "urn:selfsame:credential:".to_owned(),
            pkcs11_key: None,
            identify_by: IdentifyBy::Did,
            certificate: None,
            certificate_key: None,
            // Utopia, whose documents are examples (ISO/IEC 18013-5 Annex D).
            country: "UT".to_owned(),
            formats: Format::ALL.to_vec(),
            batch_size: 10,
            round_times_to: 3600,
            status_ttl: 60,
            encryption: WantedEncryption::Off,
            notifications: false,
            approval: WantedApproval::Off,
            approval_interval: 60,
            by_sign_in: BTreeMap::new(),
            attestation: AttestationConfig::default(),
        }
    }
}

impl IssuerConfig {
    /// Maximum number of copies in one answer.
    const BATCH_MAX: usize = 100;
    /// Maximum rounding: one day. More would begin credentials long before they are issued, or end them at once.
    const ROUND_MAX: u64 = 86_400;
    /// Maximum time of use of a status list: 31 days. A list that is used for longer revokes nothing.
    const STATUS_TTL_MAX: u64 = 31 * 86_400;
    /// Maximum time between two looks for a credential: one day.
    const INTERVAL_MAX: u32 = 86_400;

    /// Validates what the types of the settings can't express.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self) -> Result<()> {
        self.check_profile()?;
        self.attestation.check()?;
        anchors(&self.attestation.certificates())?;
        // SD-JWT VC §2.2.2.1: `vct` is a StringOrURI, which names its type globally.
        if Url::parse(&self.vct_base).is_err() {
            return Err(Error::bad_request("vct-base-malformed").with("vct_base", &self.vct_base));
        }
        if let Some(wrong) = self.did.as_deref().filter(|did| Did::parse(did).is_err()) {
            return Err(Error::bad_request("issuer-did-no-did").with("did", wrong));
        }
        let is_country = |code: &str| code.bytes().all(|byte| byte.is_ascii_uppercase());
        if self.country.len() != 2 || !is_country(&self.country) {
            return Err(Error::bad_request("issuer-country").with("country", &self.country));
        }
        if self.formats.is_empty() {
            return Err(Error::bad_request("formats-empty"));
        }
        if !(1..=Self::BATCH_MAX).contains(&self.batch_size) {
            return Err(Error::bad_request("batch-size-range")
                .with("number", &self.batch_size)
                .with("maximum", &Self::BATCH_MAX));
        }
        if self.status_ttl > Self::STATUS_TTL_MAX {
            return Err(Error::bad_request("status-ttl-long")
                .with("seconds", &self.status_ttl)
                .with("maximum", &Self::STATUS_TTL_MAX));
        }
        if !(1..=Self::INTERVAL_MAX).contains(&self.approval_interval) {
            return Err(Error::bad_request("approval-interval-range")
                .with("seconds", &self.approval_interval)
                .with("maximum", &Self::INTERVAL_MAX));
        }
        if self.round_times_to > Self::ROUND_MAX {
            return Err(Error::bad_request("round-times-long")
                .with("seconds", &self.round_times_to)
                .with("maximum", &Self::ROUND_MAX));
        }
        Ok(())
    }
}

/// Whether credentials wait until somebody approves their requests (OpenID4VCI 1.0 §9).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedApproval {
    /// They are issued at once.
    Off,
    /// Those of offers that ask for it wait.
    ByOffer,
    /// All wait, except those of offers that say otherwise.
    ByDefault,
}

/// How an SD-JWT VC identifies its issuer's key.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentifyBy {
    /// By its DID: this project's documented profile.
    Did,
    /// By `/.well-known/jwt-vc-issuer` (SD-JWT VC §4).
    Metadata,
    /// By the chain of [`IssuerConfig::certificate`] in the header (SD-JWT VC §2.5). The leaf must name the issuer as
    /// a subject alternative name: its identifier as URI, or the host of its https origin as DNS name.
    X5c,
}

/// The verifier's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerifierConfig {
    /// Its name for people.
    pub name: String,
    /// The profile that it keeps, whose rules are demanded of it at the start and of its requests.
    pub profile: Option<WantedProfile>,
    /// The method of its new DID, with the same default as the issuer's.
    pub did_method: Option<DidMethod>,
    /// How it identifies itself by default. A request may name another way.
    pub client_id_prefix: ClientIdPrefix,
    /// The DID that its requests name with `decentralized_identifier`.
    pub client_did: NamedDid,
    /// How wallets post their answers by default. A request may name another way.
    pub response_mode: ResponseMode,
    /// The certificate chain for `x509_san_dns` and `x509_hash`, PEM, the leaf first; in a settings file, the path to
    /// it. The leaf must be for the origin's host.
    pub certificate: Option<String>,
    /// The key of the certificate, PKCS#8 in PEM; in a settings file, the path to it.
    #[serde(skip_serializing)]
    pub certificate_key: Option<SecretString>,
    /// Maximum age of a status list, in seconds, from when it was fetched.
    pub max_status_age: u64,
    /// Maximum age of a status list, in seconds, from when it was signed; `None` for what the list itself allows.
    pub max_status_signed_age: Option<u64>,
    /// Maximum age of what is known of an issuer's DID document, in seconds; `None` for any age.
    pub max_keys_age: Option<u64>,
    /// How long a request can be answered, in seconds.
    pub request_lifetime: u64,
    /// The types of transactions that its requests can ask people to agree to, besides the ready ones.
    pub transaction_types: Vec<TransactionType>,
    /// The origins of further pages that hand its requests to browsers, and get the answers back.
    pub origins: Vec<String>,
}

impl Default for VerifierConfig {
    fn default() -> Self {
        Self {
            name: "Selfsame Border Control".to_owned(),
            profile: None,
            did_method: None,
            client_id_prefix: ClientIdPrefix::DecentralizedIdentifier,
            client_did: NamedDid::Portable,
            response_mode: ResponseMode::DirectPost,
            certificate: None,
            certificate_key: None,
            max_status_age: 5,
            max_status_signed_age: None,
            max_keys_age: None,
            request_lifetime: 600,
            transaction_types: Vec::new(),
            origins: Vec::new(),
        }
    }
}

impl VerifierConfig {
    /// Maximum request lifetime: 31 days.
    const LIFETIME_MAX: u64 = 31 * 86_400;

    /// Validates what the types of the settings can't express.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self) -> Result<()> {
        self.check_profile()?;
        if self.request_lifetime == 0 {
            return Err(Error::bad_request("request-lifetime-zero"));
        }
        if self.request_lifetime > Self::LIFETIME_MAX {
            return Err(Error::bad_request("request-lifetime-long")
                .with("seconds", &self.request_lifetime)
                .with("maximum", &Self::LIFETIME_MAX));
        }
        if let Some(wrong) = self.origins.iter().find(|text| !is_origin(text)) {
            return Err(Error::bad_request("verifier-origin-malformed").with("origin", wrong));
        }
        Ok(())
    }
}

/// Whether this is the origin of a page, as browsers write it: https, or on this machine.
fn is_origin(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let is_here = match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    };
    let is_safe = url.scheme() == "https" || url.scheme() == "http" && is_here;
    is_safe && url.origin().ascii_serialization() == text
}

/// Validates the verifiers among the trusted parties: an invalid name would match no party, without a message.
///
/// # Errors
/// `BadRequest`, with the setting and what to do.
pub fn check_verifiers(trust: &TrustConfig) -> Result<()> {
    // A verifier that need not sign could be any party.
    let is_verifier = |text: &&String| ClientId::parse(text).is_ok_and(|client| client.is_signed());
    if let Some(wrong) = trust.verifiers.iter().find(|text| !is_verifier(text)) {
        return Err(Error::bad_request("trusted-verifier-malformed").with("verifier", wrong));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuers_did_is_one() {
        let check = |did: &str| {
            let config = IssuerConfig {
                did: Some(did.to_owned()),
                ..IssuerConfig::default()
            };
            config.check()
        };
        assert!(check("did:web:issuer.example").is_ok());
        for wrong in ["nonsense", "", "did:web", "https://issuer.example/"] {
            let refused = check(wrong).unwrap_err();
            assert_eq!(refused.reason.id(), "issuer-did-no-did");
        }
    }

    #[test]
    fn an_issuers_types_begin_with_a_uri_and_its_batches_are_bounded() {
        let check = |vct_base: &str, batch_size| {
            let config = IssuerConfig {
                vct_base: vct_base.to_owned(),
                batch_size,
                ..IssuerConfig::default()
            };
            config.check()
        };
        assert!(IssuerConfig::default().check().is_ok());
        assert!(check("https://issuer.example/types/", 1).is_ok());
        for (vct_base, batch_size) in [("nope", 10), ("", 10), ("urn:x:", 0), ("urn:x:", 101)] {
            let refused = check(vct_base, batch_size).unwrap_err();
            let id = refused.reason.id();
            assert!(
                ["vct-base-malformed", "batch-size-range"].contains(&id),
                "{refused}"
            );
        }
    }

    #[test]
    fn times_in_credentials_are_rounded_to_a_day_at_most_and_a_request_has_some_time() {
        let issuer = |round_times_to| {
            let config = IssuerConfig {
                round_times_to,
                ..IssuerConfig::default()
            };
            config.check()
        };
        assert!(issuer(0).is_ok() && issuer(86_400).is_ok());
        assert!(issuer(86_401).is_err());
        let verifier = |request_lifetime| {
            let config = VerifierConfig {
                request_lifetime,
                ..VerifierConfig::default()
            };
            config.check()
        };
        assert!(verifier(1).is_ok());
        assert!(verifier(0).is_err());
        assert!(verifier(999_999_999).is_err());
        let list = |status_ttl| {
            let config = IssuerConfig {
                status_ttl,
                ..IssuerConfig::default()
            };
            config.check()
        };
        assert!(list(7 * 86_400).is_ok());
        assert!(list(99_999_999_999).is_err());
        let look = |approval_interval| {
            let config = IssuerConfig {
                approval_interval,
                ..IssuerConfig::default()
            };
            config.check()
        };
        assert!(look(1).is_ok() && look(86_400).is_ok());
        assert!(look(0).is_err() && look(86_401).is_err());
    }

    #[test]
    fn origins_of_pages_are_written_as_browsers_write_them() {
        let check = |origin: &str| {
            let config = VerifierConfig {
                origins: vec![origin.to_owned()],
                ..VerifierConfig::default()
            };
            config.check()
        };
        for right in [
            "https://shop.example",
            "https://shop.example:8443",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://shop.localhost:8080",
        ] {
            assert!(check(right).is_ok(), "{right}");
        }
        for wrong in [
            "https://shop.example/",
            "https://Shop.example",
            "http://shop.example",
            "javascript:alert(1)",
            "shop.example",
            "",
        ] {
            let refused = check(wrong).unwrap_err();
            assert_eq!(refused.reason.id(), "verifier-origin-malformed");
        }
    }

    #[test]
    fn each_client_id_prefix_has_one_name() {
        for prefix in [
            ClientIdPrefix::RedirectUri,
            ClientIdPrefix::DecentralizedIdentifier,
            ClientIdPrefix::X509SanDns,
            ClientIdPrefix::X509Hash,
        ] {
            let name = serde_json::to_value(prefix).unwrap();
            assert_eq!(
                serde_json::from_value::<ClientIdPrefix>(name).unwrap(),
                prefix
            );
        }
        assert!(serde_json::from_value::<ClientIdPrefix>("zzz".into()).is_err());
    }

    #[test]
    fn a_trusted_verifier_is_named_in_full() {
        let check = |text: &str| {
            check_verifiers(&TrustConfig {
                verifiers: vec![text.to_owned()],
                ..TrustConfig::default()
            })
        };
        for right in [
            "decentralized_identifier:did:web:shop.example",
            "x509_san_dns:shop.example",
            "x509_hash:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0",
        ] {
            assert!(check(right).is_ok(), "{right}");
        }
        for wrong in [
            "did:web:shop.example",
            "redirect_uri:https://shop.example/",
            "x509_san_dns:",
            "x509_hash:ungWv48Bz",
            "openid_federation:https://shop.example",
            "",
        ] {
            let refused = check(wrong).unwrap_err();
            assert_eq!(refused.reason.id(), "trusted-verifier-malformed");
        }
    }

    #[test]
    fn each_prefix_of_the_description_can_be_asked_for() {
        let schema = <ClientIdPrefix as utoipa::PartialSchema>::schema();
        let schema = serde_json::to_value(schema).unwrap();
        let described: Vec<String> = serde_json::from_value(schema["enum"].clone()).unwrap();
        assert_eq!(described.len(), 4);
        for prefix in described {
            let read = serde_json::from_value::<ClientIdPrefix>(prefix.as_str().into());
            assert!(read.is_ok(), "{prefix}");
        }
    }
}
