//! Settings of what the roles share. Parsed by the binary, validated here.

use std::collections::BTreeMap;

use selfsame_credential::verdict::can_name_issuer;
use selfsame_crypto::KeyType;
use selfsame_did::method::cheqd;
use selfsame_did::method::{METHODS, Method};
use selfsame_did::{jwk, selfsame};
use selfsame_driver::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

use crate::contexts::{PinnedContext, known_contexts};

/// A day, in seconds.
const DAY: u64 = 86_400;

/// The settings that the roles of one instance share.
#[derive(Clone, Debug)]
pub struct SharedConfig {
    /// The public base of all its URLs, such as `http://127.0.0.1:7380/`.
    pub origin: Url,
    /// The parties that it trusts.
    pub trust: TrustConfig,
    /// The resolvers of DIDs that it can't resolve itself.
    pub resolver: ResolverConfig,
    /// The organisations that it hosts.
    pub organisations: OrganisationsConfig,
}

/// The organisations that an instance hosts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct OrganisationsConfig {
    /// For how long what others need to verify is kept after an erasure, in seconds; 90 days by default.
    pub kept_after_erasure: u64,
    /// The type of the signing keys that are made in the hardware security module, for organisations created from now
    /// on. Without it, their keys are sealed in the store.
    pub pkcs11_keys: Option<HsmKeyType>,
}

/// A type of keys for a hardware security module.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
pub enum HsmKeyType {
    /// P-256, for ES256.
    #[serde(rename = "P-256")]
    P256,
    /// Ed25519, for EdDSA.
    Ed25519,
}

impl From<HsmKeyType> for KeyType {
    fn from(kind: HsmKeyType) -> Self {
        match kind {
            HsmKeyType::P256 => Self::P256,
            HsmKeyType::Ed25519 => Self::Ed25519,
        }
    }
}

impl Default for OrganisationsConfig {
    fn default() -> Self {
        Self {
            kept_after_erasure: 90 * DAY,
            pkcs11_keys: None,
        }
    }
}

impl OrganisationsConfig {
    /// The maximum time that may be set, in seconds: a hundred years.
    const LONGEST: u64 = 36_525 * DAY;

    /// Validates the settings.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and a value that works.
    pub fn check(&self) -> Result<()> {
        match self.kept_after_erasure <= Self::LONGEST {
            true => Ok(()),
            false => {
                Err(Error::bad_request("kept-after-erasure-limits").with("maximum", &Self::LONGEST))
            }
        }
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

    /// The method of this name.
    ///
    /// # Errors
    /// `BadRequest` for a method that the instance can't make DIDs of by itself.
    pub fn named(name: &str) -> Result<Self> {
        Self::found(name)
            .map_err(|known| Error::bad_request("did-method-unsupported").with("known", &known))
    }

    /// The method of this name, or else the names that there are.
    fn found(name: &str) -> std::result::Result<Self, String> {
        let found = METHODS.named(name);
        let found = found.filter(|method| method.origin.is_of_one_key());
        let found = found.map(Self::of);
        found.ok_or_else(|| METHODS.names(|method| method.origin.is_of_one_key()))
    }

    /// Its name, as in DIDs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The methods of new DIDs, by their names. Those of the registry need one.
    pub fn all(has_registry: bool) -> impl Iterator<Item = &'static str> {
        let is_possible = move |method: &&Method| {
            let origin = method.origin;
            origin.is_of_one_key() && (has_registry || !origin.is_registry())
        };
        METHODS.iter().filter(is_possible).map(|method| method.name)
    }

    /// The default method of new DIDs. Without a registry there is no `did:selfsame`.
    #[must_use]
    pub const fn unless_named(has_registry: bool) -> Self {
        match has_registry {
            true => Self(selfsame::METHOD.name),
            false => Self(jwk::METHOD.name),
        }
    }
}

impl<'de> Deserialize<'de> for DidMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::found(&name).map_err(|known| {
            D::Error::custom(format!(
                "unknown DID method `{name}`, expected one of {known}"
            ))
        })
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
    /// Certificates of authorities (IACA) whose document signers are trusted for ISO mdoc, PEM; in a settings file, paths
    /// to them.
    pub authorities: Vec<String>,
    /// Origins that may be private or plain http, each exact: this instance's sister processes.
    pub origins: Vec<Url>,
    /// JSON-LD contexts that are known beside the bundled ones.
    pub contexts: Vec<PinnedContext>,
}

impl TrustConfig {
    /// Validates what the types of the settings can't express: an invalid name would match no party, without a message.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self) -> Result<()> {
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
        if let Some(wrong) = self.issuers.iter().find(|text| !can_name_issuer(text)) {
            return Err(Error::bad_request("trusted-issuer-malformed").with("issuer", wrong));
        }
        let is_listed = |issuer: &&String| self.issuers.contains(issuer);
        if let Some(wrong) = self.types.keys().find(|issuer| !is_listed(issuer)) {
            return Err(Error::bad_request("trusted-types-issuer").with("issuer", wrong));
        }
        let is_origin = |url: &&Url| {
            is_web(url) && url.as_str() == format!("{}/", url.origin().ascii_serialization())
        };
        if let Some(wrong) = self.origins.iter().find(|url| !is_origin(url)) {
            return Err(Error::bad_request("trusted-origin-malformed")
                .with("origin", &wrong.origin().ascii_serialization())
                .with("path", wrong.path()));
        }
        known_contexts(&self.contexts).map(drop)
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
    pub cheqd_network: cheqd::CheqdNetwork,
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
            cheqd_network: cheqd::CheqdNetwork::default(),
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
                return Err(Error::bad_request("resolver-url").with("url", &shown));
            }
        }
        let own = self
            .universal_methods
            .iter()
            .find(|method| METHODS.resolved_here(method).is_some());
        if let Some(own) = own {
            return Err(Error::bad_request("resolver-own-method").with("method", own));
        }
        if self.universal.is_some() && self.universal_methods.is_empty() {
            return Err(Error::bad_request("resolver-without-methods"));
        }
        let is_resolved = self.cheqd.is_some() || self.asks_universal(cheqd::METHOD.name);
        if self.cheqd_registrar.is_some() && !is_resolved {
            // If the answer to a change is lost, only a resolver can tell whether the change was made.
            return Err(Error::bad_request("registrar-without-resolver"));
        }
        let times = [self.ttl, self.negative_ttl, self.timeout];
        if times.iter().any(|time| *time > Self::LONGEST) || self.timeout == 0 {
            return Err(Error::bad_request("resolver-time"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(universal: &str, methods: &[&str]) -> ResolverConfig {
        ResolverConfig {
            universal: Some(universal.parse().unwrap()),
            universal_methods: methods.iter().map(|method| (*method).to_owned()).collect(),
            ..ResolverConfig::default()
        }
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
            assert_eq!(refused.reason.id(), "trusted-issuer-malformed");
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
            assert_eq!(refused.reason.id(), "trusted-origin-malformed");
            assert!(!refused.to_string().contains("secret"));
        }
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
    fn a_resolver_that_is_believed_is_reached_by_tls_or_by_name() {
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
            assert!(!refused.to_string().contains("secret"), "{refused:?}");
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
}
