//! Instance configuration. Parsed by the binary, validated here.

mod wallet;

use std::collections::BTreeMap;

use selfsame_credential::Format;
use selfsame_crypto::SecretString;
use selfsame_did::method::{METHODS, Method};
use selfsame_did::{Did, cheqd, jwk, selfsame};
use selfsame_driver::{Error, Result};
use selfsame_ledger::config::RegistryConfig;
use selfsame_openid4vc::wire::request::ClientId;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

pub use selfsame_accounts::Registration;
pub use wallet::{Bound, WalletConfig};

/// The configuration of one instance.
#[derive(Clone, Debug)]
pub struct Config {
    /// The public base of all its URLs, such as `http://127.0.0.1:7380/`.
    pub origin: Url,
    /// The roles that it has.
    pub roles: Roles,
    /// The issuer's settings.
    pub issuer: IssuerConfig,
    /// The verifier's settings.
    pub verifier: VerifierConfig,
    /// The wallet's settings.
    pub wallet: WalletConfig,
    /// The parties that it trusts.
    pub trust: TrustConfig,
    /// Where its registry is.
    pub registry: RegistryConfig,
    /// The resolvers of DIDs that it can't resolve itself.
    pub resolver: ResolverConfig,
}

/// The roles of an instance.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Roles {
    /// Issues credentials.
    pub issuer: bool,
    /// Keeps people's credentials.
    pub wallet: bool,
    /// Requests presentations.
    pub verifier: bool,
    /// Runs the registry.
    pub registry: bool,
}

impl Roles {
    /// All roles in one process.
    pub const ALL: Self = Self {
        issuer: true,
        wallet: true,
        verifier: true,
        registry: true,
    };
}

/// The issuer's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct IssuerConfig {
    /// Its name for people.
    pub name: String,
    /// The method of its new DID. Default: `selfsame` with a registry, else `jwk`.
    pub did_method: Option<DidMethod>,
    /// An existing DID, of any method, whose document contains this issuer's key. If it is set, no DID is created.
    pub did: Option<String>,
    /// The DID that its credentials name. It is decided once, with new data.
    pub issuer_did: NamedDid,
    /// The start of the types of its SD-JWT VCs. The template's type follows.
    pub vct_base: String,
    /// How an SD-JWT VC identifies its key.
    pub identify_by: IdentifyBy,
    /// The certificate chain for `identify_by = "x5c"`, PEM, the leaf first; in a settings file, the path to it.
    pub certificate: Option<String>,
    /// The key of the certificate, PKCS#8 in PEM; in a settings file, the path to it.
    #[serde(skip_serializing)]
    pub certificate_key: Option<SecretString>,
    /// The formats that it issues. The first one is used unless an offer names another.
    pub formats: Vec<Format>,
    /// Maximum copies, each with its own key, that a wallet may request with one access token, at once or one by one.
    pub batch_size: usize,
    /// Times in credentials are rounded down to a multiple of this, in seconds, so that they do not identify people.
    pub round_times_to: u64,
    /// How long a verifier may use a status list without asking again, in seconds.
    pub status_ttl: u64,
}

impl Default for IssuerConfig {
    fn default() -> Self {
        Self {
            name: "Selfsame Clinic".to_owned(),
            did_method: None,
            did: None,
            issuer_did: NamedDid::Portable,
            vct_base: "urn:selfsame:credential:".to_owned(),
            identify_by: IdentifyBy::Did,
            certificate: None,
            certificate_key: None,
            formats: Format::ALL.to_vec(),
            batch_size: 10,
            round_times_to: 3600,
            status_ttl: 60,
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

    /// Validates what the types of the settings can't express.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self) -> Result<()> {
        // SD-JWT VC §2.2.2.1: `vct` is a StringOrURI, which names its type globally.
        if Url::parse(&self.vct_base).is_err() {
            let what = format!("[issuer] vct_base: `{}` is not a URI", self.vct_base);
            return Err(Error::bad_request(what)
                .with_hint("such as urn:selfsame:credential: or https://issuer.example/types/"));
        }
        if let Some(wrong) = self.did.as_deref().filter(|did| Did::parse(did).is_err()) {
            let what = format!("[issuer] did: `{wrong}` is not a DID");
            return Err(Error::bad_request(what).with_hint(
                "give the whole DID, such as did:web:issuer.example, or leave the setting out to have a DID made",
            ));
        }
        if self.formats.is_empty() {
            let what = "[issuer] formats: the list is empty";
            return Err(Error::bad_request(what).with_hint("leave it out, or name at least one"));
        }
        if !(1..=Self::BATCH_MAX).contains(&self.batch_size) {
            let what = format!("[issuer] batch_size: {} is out of range", self.batch_size);
            let hint = format!("from 1 to {}", Self::BATCH_MAX);
            return Err(Error::bad_request(what).with_hint(hint));
        }
        if self.status_ttl > Self::STATUS_TTL_MAX {
            let what = format!("[issuer] status_ttl: {} seconds", self.status_ttl);
            let hint = format!("at most {} (31 days)", Self::STATUS_TTL_MAX);
            return Err(Error::bad_request(what).with_hint(hint));
        }
        if self.round_times_to > Self::ROUND_MAX {
            let what = format!("[issuer] round_times_to: {} seconds", self.round_times_to);
            let hint = format!("at most {} (one day)", Self::ROUND_MAX);
            return Err(Error::bad_request(what).with_hint(hint));
        }
        Ok(())
    }
}

/// The DID method of an issuer or a verifier. It is resolved here, and its DIDs need no registrar.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct DidMethod(&'static str);

impl DidMethod {
    /// This method.
    #[must_use]
    pub const fn of(method: &Method) -> Self {
        Self(method.name)
    }

    /// Its name, as in DIDs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The default method of new DIDs. Without a registry there is no `did:selfsame`.
    #[must_use]
    pub fn unless_named(registry: &RegistryConfig) -> Self {
        match registry {
            RegistryConfig::None => Self(jwk::METHOD.name),
            RegistryConfig::Embedded { .. } | RegistryConfig::Remote { .. } => {
                Self(selfsame::METHOD.name)
            }
        }
    }
}

impl<'de> Deserialize<'de> for DidMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        METHODS.resolved_here(&name).map(Self::of).ok_or_else(|| {
            let names = METHODS.names(|method| method.origin.is_resolved_here());
            D::Error::custom(format!(
                "unknown DID method `{name}`, expected one of {names}"
            ))
        })
    }
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
    /// The method of its new DID, with the same default as the issuer's.
    pub did_method: Option<DidMethod>,
    /// How it identifies itself by default. A request may name another way.
    pub client_id_prefix: ClientIdPrefix,
    /// The DID that its requests name with `decentralized_identifier`.
    pub client_did: NamedDid,
    /// The certificate chain for `x509_san_dns`, PEM, the leaf first; in a settings file, the path to it. The leaf must
    /// be for the origin's host.
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
}

impl Default for VerifierConfig {
    fn default() -> Self {
        Self {
            name: "Selfsame Border Control".to_owned(),
            did_method: None,
            client_id_prefix: ClientIdPrefix::DecentralizedIdentifier,
            client_did: NamedDid::Portable,
            certificate: None,
            certificate_key: None,
            max_status_age: 5,
            max_status_signed_age: None,
            max_keys_age: None,
            request_lifetime: 600,
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
        if self.request_lifetime == 0 {
            let what = "[verifier] request_lifetime: a request would expire at once";
            return Err(Error::bad_request(what).with_hint("set how many seconds a person has"));
        }
        if self.request_lifetime > Self::LIFETIME_MAX {
            let what = format!(
                "[verifier] request_lifetime: {} seconds is too long",
                self.request_lifetime
            );
            let hint = format!("at most {} (31 days)", Self::LIFETIME_MAX);
            return Err(Error::bad_request(what).with_hint(hint));
        }
        Ok(())
    }
}

/// The DID of an issuer or a verifier that others see.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedDid {
    /// Its own if any party can resolve its method, else the `did:jwk` of the same key.
    Portable,
    /// Its own, whatever its method.
    Own,
}

/// How a verifier identifies itself (OpenID4VP 1.0 §5.9.3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientIdPrefix {
    /// By the address that the answer is sent to.
    RedirectUri,
    /// By its DID.
    DecentralizedIdentifier,
    /// By the host of its certificate.
    X509SanDns,
}

impl ClientIdPrefix {
    /// The prefix with this name, if it is supported.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "redirect_uri" => Some(Self::RedirectUri),
            "decentralized_identifier" => Some(Self::DecentralizedIdentifier),
            "x509_san_dns" => Some(Self::X509SanDns),
            _ => None,
        }
    }
}

/// The parties that an instance trusts. With empty lists it trusts only itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrustConfig {
    /// Issuers whose credentials are accepted: DIDs, issuer URLs, or names of certificates.
    pub issuers: Vec<String>,
    /// The types of credentials (`vct`, or W3C types) that a trusted issuer may issue, by its name. An issuer that is
    /// not listed may issue any.
    pub types: BTreeMap<String, Vec<String>>,
    /// Verifiers that the wallet shows as trusted: client identifiers.
    pub verifiers: Vec<String>,
    /// Certificates that anchor `x5c` chains and `x509_san_dns`, PEM; in a settings file, paths to them.
    pub certificates: Vec<String>,
    /// Origins that may be private or plain http, each exact: this instance's sister processes.
    pub origins: Vec<Url>,
}

impl TrustConfig {
    /// Validates what the types of the settings can't express: an invalid name would match no party, without a message.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self) -> Result<()> {
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
        let is_issuer = |text: &&String| match text.split_once(':') {
            Some(("did", _)) => Did::parse(text).is_ok(),
            Some(("x509_san_dns" | "x509_hash", name)) => !name.is_empty(),
            _ => Url::parse(text).is_ok(),
        };
        if let Some(wrong) = self.issuers.iter().find(|text| !is_issuer(text)) {
            let what =
                format!("[trust] issuers: `{wrong}` is not a DID, a URL or a certificate's name");
            return Err(Error::bad_request(what)
                .with_hint("give the whole name, such as did:web:issuer.example"));
        }
        let is_listed = |issuer: &&String| self.issuers.contains(issuer);
        if let Some(wrong) = self.types.keys().find(|issuer| !is_listed(issuer)) {
            let what = format!("[trust.types]: `{wrong}` is not among [trust] issuers");
            return Err(Error::bad_request(what)
                .with_hint("list the issuer there too, spelled exactly as here"));
        }
        // A verifier that need not sign could be any party.
        let is_verifier =
            |text: &&String| ClientId::parse(text).is_ok_and(|client| client.is_signed());
        if let Some(wrong) = self.verifiers.iter().find(|text| !is_verifier(text)) {
            let what = format!("[trust] verifiers: `{wrong}` is not a client ID that signs");
            return Err(Error::bad_request(what).with_hint(
                "give it with its prefix, such as decentralized_identifier:did:web:shop.example or x509_san_dns:shop.example",
            ));
        }
        let is_origin = |url: &&Url| {
            is_web(url) && url.as_str() == format!("{}/", url.origin().ascii_serialization())
        };
        if let Some(wrong) = self.origins.iter().find(|url| !is_origin(url)) {
            let what = format!(
                "[trust] origins: `{}{}` is more than an origin",
                wrong.origin().ascii_serialization(),
                wrong.path()
            );
            return Err(Error::bad_request(what)
                .with_hint("give scheme, host and port alone, such as http://localhost:7381/"));
        }
        Ok(())
    }

    /// Whether an address of the settings may be called: over TLS, or plainly on this machine and at a listed origin.
    #[must_use]
    pub fn may_call(&self, url: &Url) -> bool {
        let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let is_listed = || {
            let mut listed = self.origins.iter();
            listed.any(|origin| origin.origin() == url.origin())
        };
        let is_reached = match url.scheme() {
            "https" => true,
            "http" => is_local || is_listed(),
            _ => false,
        };
        let is_bare = url.username().is_empty() && url.password().is_none();
        is_reached && is_bare && url.query().is_none() && url.fragment().is_none()
    }
}

/// The resolvers of DIDs that the instance can't resolve itself. Their answers are trusted without proof, and each
/// result names the resolver that gave it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResolverConfig {
    /// A Universal Resolver's base URL, to which `1.0/identifiers/` is appended.
    pub universal: Option<Url>,
    /// The methods it is asked for, such as `["ebsi", "ion"]`; `"*"` means every method that is not resolved here.
    pub universal_methods: Vec<String>,
    /// The base URL of a resolver of the cheqd network. If it is set, only it is asked for `did:cheqd`.
    pub cheqd: Option<Url>,
    /// The base URL of a registrar that writes to the cheqd network, to which `1.0/create` is appended.
    pub cheqd_registrar: Option<Url>,
    /// The cheqd network of new DIDs: `testnet` or `mainnet`.
    pub cheqd_network: cheqd::Network,
    /// How long a document is used without asking again, in seconds, including that of a `did:web`.
    pub ttl: u64,
    /// How long a missing document is remembered, in seconds: shorter, since the document may be added.
    pub negative_ttl: u64,
    /// Time limit for an answer, in seconds.
    pub timeout: u64,
}

impl Default for ResolverConfig {
    fn default() -> Self {
        Self {
            universal: None,
            universal_methods: Vec::new(),
            cheqd: None,
            cheqd_registrar: None,
            cheqd_network: cheqd::Network::default(),
            ttl: 60,
            negative_ttl: 5,
            timeout: 10,
        }
    }
}

impl ResolverConfig {
    /// The wildcard for every foreign method.
    pub const EVERY_METHOD: &str = "*";
    /// The maximum time that may be set, in seconds: a day.
    const LONGEST: u64 = 86_400;

    /// The addresses of the resolvers and the registrar.
    pub fn addresses(&self) -> impl Iterator<Item = &Url> {
        let all = [&self.universal, &self.cheqd, &self.cheqd_registrar];
        all.into_iter().flatten()
    }

    /// Whether the Universal Resolver is asked for DIDs of this method.
    #[must_use]
    pub fn asks_universal(&self, method: &str) -> bool {
        let mut listed = self.universal_methods.iter();
        METHODS.resolved_here(method).is_none()
            && listed.any(|listed| listed == method || listed == Self::EVERY_METHOD)
    }

    /// Validates the settings: a resolver whose answers are trusted must be called over TLS, on this machine, or at an
    /// origin that [`TrustConfig::origins`] lists.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self, trust: &TrustConfig) -> Result<()> {
        for url in self.addresses() {
            if !trust.may_call(url) {
                // Shown without the user and the query, which may hold a secret.
                let shown = format!("{}{}", url.origin().ascii_serialization(), url.path());
                return Err(refused(format!(
                    "{shown} is not an https URL without user and query"
                ))
                .with_hint("use https; plain http is allowed only for this machine and for [trust] origins"));
            }
        }
        let own = self
            .universal_methods
            .iter()
            .find(|method| METHODS.resolved_here(method).is_some());
        if let Some(own) = own {
            return Err(refused(format!(
                "did:{own} is always resolved by the instance itself"
            )));
        }
        if self.universal.is_some() && self.universal_methods.is_empty() {
            return Err(
                refused("a Universal Resolver without methods is never used".to_owned())
                    .with_hint("list the methods in universal_methods; \"*\" means all"),
            );
        }
        let is_resolved = self.cheqd.is_some() || self.asks_universal(cheqd::METHOD.name);
        if self.cheqd_registrar.is_some() && !is_resolved {
            // If the answer to a change is lost, only a resolver can tell whether the change was made.
            return Err(refused("cheqd_registrar also needs cheqd".to_owned()));
        }
        let times = [self.ttl, self.negative_ttl, self.timeout];
        if times.iter().any(|time| *time > Self::LONGEST) || self.timeout == 0 {
            return Err(refused("a time is 0 or longer than a day".to_owned()));
        }
        Ok(())
    }
}

fn refused(reason: String) -> Error {
    Error::bad_request(format!("[resolver] {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfsame_crypto::{KeyType, PrivateKey};
    use selfsame_ledger::config::RegistryWitness;
    use selfsame_proof::note::VerifierKey;

    fn with(universal: &str, methods: &[&str]) -> ResolverConfig {
        ResolverConfig {
            universal: Some(universal.parse().unwrap()),
            universal_methods: methods.iter().map(|method| (*method).to_owned()).collect(),
            ..ResolverConfig::default()
        }
    }

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
            assert!(refused.reason.contains("is not a DID"), "{refused:?}");
            assert!(refused.hint.is_some(), "{refused:?}");
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
            assert!(refused.reason.starts_with("[issuer] "), "{refused:?}");
            assert!(refused.hint.is_some(), "{refused:?}");
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
    }

    #[test]
    fn whom_to_trust_is_named_in_full() {
        let issuer = |text: &str| TrustConfig {
            issuers: vec![text.to_owned()],
            ..TrustConfig::default()
        };
        for right in [
            "did:web:issuer.example",
            "https://issuer.example/issuer",
            "x509_san_dns:issuer.example",
            "x509_hash:kVP8Bh6VqLEm4VuCxS9iJjVA5kKvYzNEzTW3ycgXW0s",
        ] {
            assert!(issuer(right).check().is_ok(), "{right}");
        }
        for wrong in ["x", "", "did:selfsame:…", "issuer.example"] {
            let refused = issuer(wrong).check().unwrap_err();
            assert!(refused.reason.starts_with("[trust] issuers"), "{refused:?}");
            assert!(refused.hint.is_some());
        }
        let verifier = |text: &str| TrustConfig {
            verifiers: vec![text.to_owned()],
            ..TrustConfig::default()
        };
        for right in [
            "decentralized_identifier:did:web:shop.example",
            "x509_san_dns:shop.example",
        ] {
            assert!(verifier(right).check().is_ok(), "{right}");
        }
        for wrong in [
            "did:web:shop.example",
            "redirect_uri:https://shop.example/",
            "x509_san_dns:",
            "",
        ] {
            let refused = verifier(wrong).check().unwrap_err();
            assert!(
                refused.reason.starts_with("[trust] verifiers"),
                "{refused:?}"
            );
            assert!(refused.hint.is_some());
        }
        let origin = |text: &str| TrustConfig {
            origins: vec![text.parse().unwrap()],
            ..TrustConfig::default()
        };
        for right in ["http://localhost:7381", "https://issuer.example/"] {
            assert!(origin(right).check().is_ok(), "{right}");
        }
        for wrong in [
            "http://localhost:7381/issuer",
            "https://issuer.example/?x",
            "https://me:secret@issuer.example/",
            "file:///tmp",
        ] {
            let refused = origin(wrong).check().unwrap_err();
            assert!(refused.reason.starts_with("[trust] origins"), "{refused:?}");
            assert!(!refused.reason.contains("secret"));
        }
    }

    #[test]
    fn each_client_id_prefix_has_one_name() {
        for prefix in [
            ClientIdPrefix::RedirectUri,
            ClientIdPrefix::DecentralizedIdentifier,
            ClientIdPrefix::X509SanDns,
        ] {
            let name = serde_json::to_value(prefix).unwrap();
            assert_eq!(ClientIdPrefix::named(name.as_str().unwrap()), Some(prefix));
        }
        assert_eq!(ClientIdPrefix::named("zzz"), None);
    }

    #[test]
    fn only_listed_methods_are_asked_for_elsewhere_and_our_own_never() {
        let some = with("https://resolver.example/", &["ion", "ebsi"]);
        assert!(some.asks_universal("ion") && !some.asks_universal("cheqd"));
        let all = with("https://resolver.example/", &["*"]);
        assert!(all.asks_universal("ion") && all.asks_universal("cheqd"));
        for own in ["key", "jwk", "web", "selfsame"] {
            assert!(!all.asks_universal(own), "{own}");
            assert!(
                with("https://r.example/", &[own])
                    .check(&TrustConfig::default())
                    .is_err()
            );
        }
        assert!(!ResolverConfig::default().asks_universal("ion"));
    }

    #[test]
    fn whoever_is_taken_at_his_word_is_reached_by_tls_or_by_name() {
        let trust = TrustConfig {
            origins: vec!["http://resolver.internal:8080/".parse().unwrap()],
            ..TrustConfig::default()
        };
        for url in [
            "https://resolver.example/",
            "https://resolver.example/some/base",
            "http://localhost:8080/",
            "http://127.0.0.1:8080/",
            "http://[::1]:8080/",
            "http://resolver.internal:8080/base",
        ] {
            assert!(with(url, &["*"]).check(&trust).is_ok(), "{url}");
        }
        for url in [
            "http://resolver.example/",
            "http://resolver.internal:8081/",
            "ftp://localhost/",
            "https://resolver.example/?a=secret",
            "https://user:secret@resolver.example/",
            "https://user:secret@resolver.example/?a=b",
        ] {
            let refused = with(url, &["*"]).check(&trust).unwrap_err();
            assert!(!refused.reason.contains("secret"), "{refused:?}");
        }
    }

    #[test]
    fn a_universal_resolver_that_is_asked_for_nothing_and_times_that_never_end_are_refused() {
        let trust = TrustConfig::default();
        assert!(
            with("https://resolver.example/", &[])
                .check(&trust)
                .is_err()
        );
        for (ttl, timeout) in [(86_401, 10), (60, 0), (60, 86_401)] {
            let config = ResolverConfig {
                ttl,
                timeout,
                ..ResolverConfig::default()
            };
            assert!(config.check(&trust).is_err());
        }
        assert!(ResolverConfig::default().check(&trust).is_ok());
    }

    #[test]
    fn a_registrar_goes_with_a_resolver() {
        let registrar = ResolverConfig {
            cheqd_registrar: Some("https://registrar.example/".parse().unwrap()),
            ..ResolverConfig::default()
        };
        let check = |config: &ResolverConfig| config.check(&TrustConfig::default());
        assert!(check(&registrar).is_err());
        let with_resolver = ResolverConfig {
            cheqd: Some("https://resolver.example/".parse().unwrap()),
            ..registrar
        };
        assert!(check(&with_resolver).is_ok());
    }
    #[test]
    fn checkpoints_are_shown_over_tls_or_to_who_is_listed() {
        let trust = TrustConfig {
            origins: vec!["http://witness.internal:8080/".parse().unwrap()],
            ..TrustConfig::default()
        };
        let public = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let key = VerifierKey::witness("a", public.public()).unwrap();
        let check = |url: &str| {
            let url = url.parse().unwrap();
            let key = key.clone();
            RegistryWitness::check(&[RegistryWitness { key, url }], |url| trust.may_call(url))
        };
        for url in [
            "https://witness.example/some/prefix",
            "http://127.0.0.1:8080/",
            "http://witness.internal:8080/",
        ] {
            assert!(check(url).is_ok(), "{url}");
        }
        for url in ["http://witness.example/", "https://witness.example/?a=b"] {
            assert!(check(url).unwrap_err().hint.is_some(), "{url}");
        }
    }
}
