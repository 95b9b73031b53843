//! Who is let in: trusted issuers, trusted DIDs, and whom we expect. There is no "anybody".

use std::collections::BTreeSet;

use selfsame_crypto::PublicKey;
use selfsame_did::Did;

use super::certificate::CertificatePolicy;
use crate::codec::Mode;
use crate::error::ConfigError;
use crate::profile::Profile;
use crate::resumption::Digest;

/// What peers may prove who they are with. At least one of both must be there; without certificates an identity is
/// required.
#[derive(Clone, Debug, Default)]
pub struct PeerPolicy {
    /// Which certificates are accepted.
    pub certificates: Option<CertificatePolicy>,
    /// Which DIDs or credentials are accepted.
    pub identities: Option<IdentityPolicy>,
}

/// Which DIDs or credentials are accepted.
#[derive(Clone, Debug)]
pub struct IdentityPolicy {
    /// By DID or by credential; the paper's syntax can ask for one of them.
    pub mode: Mode,
    /// The DID methods that can be resolved.
    pub methods: Vec<String>,
    /// Whose credentials count.
    pub issuers: Vec<TrustedIssuer>,
    /// Who is expected.
    pub expected: Expected,
    /// Seconds by which clocks may differ.
    pub skew: u64,
    /// Bytes of a credential.
    pub max_vc: usize,
    /// Seconds since a DID was resolved.
    pub max_age: u64,
}

/// An issuer and the keys it signs credentials with, each by the DID URL that names it.
#[derive(Clone, Debug)]
pub struct TrustedIssuer {
    /// The issuer.
    pub did: Did,
    /// Its keys.
    pub keys: Vec<(String, PublicKey)>,
}

impl TrustedIssuer {
    fn digest(&self, into: &mut Digest) {
        let Self { did, keys } = self;
        into.part(did.as_str().as_bytes());
        into.list(keys.iter(), |into, (method, key)| {
            into.part(method.as_bytes());
            // A key without this form verifies nothing here.
            into.part(&key.to_spki().unwrap_or_default());
        });
    }
}

/// Who is expected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Expected {
    /// These DIDs, and nobody else.
    Dids(BTreeSet<Did>),
    /// Every subject a trusted issuer vouches for. For servers that authenticate clients: a client with this would take
    /// every holder for the server it wants.
    Vouched,
}

impl IdentityPolicy {
    /// Trust in these DIDs, proved by their own keys alone.
    pub fn of_dids(methods: &[&str], dids: impl IntoIterator<Item = Did>) -> Self {
        Self::new(
            Mode::Did,
            methods,
            Expected::Dids(dids.into_iter().collect()),
        )
    }

    /// Trust in credentials of these issuers about `expected`.
    pub fn of_credentials(
        methods: &[&str],
        issuers: Vec<TrustedIssuer>,
        expected: Expected,
    ) -> Self {
        let policy = Self::new(Mode::Vc, methods, expected);
        Self { issuers, ..policy }
    }

    fn new(mode: Mode, methods: &[&str], expected: Expected) -> Self {
        Self {
            mode,
            methods: methods.iter().map(|method| (*method).to_owned()).collect(),
            issuers: Vec::new(),
            expected,
            skew: 60,
            max_vc: 16 * 1024,
            max_age: 300,
        }
    }

    /// The codes of the methods.
    pub(crate) fn codes(&self, profile: &Profile) -> Result<Vec<u8>, ConfigError> {
        let code = |method: &String| profile.method_code(method).ok_or(ConfigError::Method);
        self.methods.iter().map(code).collect()
    }

    /// Whether this DID is one that is expected.
    pub(crate) fn expects(&self, did: &Did) -> bool {
        match &self.expected {
            Expected::Dids(dids) => dids.contains(did),
            Expected::Vouched => self.mode == Mode::Vc,
        }
    }

    /// Every field, so that who changes one changes the digest.
    fn digest(&self, into: &mut Digest) {
        let Self {
            mode,
            methods,
            issuers,
            expected,
            skew,
            max_vc,
            max_age,
        } = self;
        into.number(*mode as u8);
        into.list(methods.iter(), |into, method| into.part(method.as_bytes()));
        into.list(issuers.iter(), |into, issuer| issuer.digest(into));
        match expected {
            Expected::Vouched => into.number(0_u8),
            Expected::Dids(dids) => {
                into.number(1_u8);
                into.list(dids.iter(), |into, did| into.part(did.as_str().as_bytes()));
            }
        }
        into.number(*skew);
        into.number(*max_vc);
        into.number(*max_age);
    }

    fn check(&self, profile: &Profile, is_of_client: bool) -> Result<(), ConfigError> {
        let names_somebody = match (&self.expected, self.mode) {
            (Expected::Dids(dids), _) => !dids.is_empty(),
            (Expected::Vouched, mode) => mode == Mode::Vc && !is_of_client,
        };
        let has_issuer = self.issuers.iter().any(|issuer| !issuer.keys.is_empty());
        let trusts = match self.mode {
            Mode::Certificate => false,
            Mode::Did => true,
            Mode::Vc => has_issuer,
        };
        if !names_somebody || !trusts || self.methods.is_empty() {
            return Err(ConfigError::Policy);
        }
        self.codes(profile).map(|_| ())
    }
}

impl PeerPolicy {
    pub(crate) fn digest(&self, into: &mut Digest) {
        let Self {
            certificates,
            identities,
        } = self;
        into.option(certificates.as_ref(), |into, policy| policy.digest(into));
        into.option(identities.as_ref(), |into, policy| policy.digest(into));
    }

    /// Whether it names somebody; a client's must say which server.
    pub(crate) fn check(&self, profile: &Profile, is_of_client: bool) -> Result<(), ConfigError> {
        if self.certificates.is_none() && self.identities.is_none() {
            return Err(ConfigError::Policy);
        }
        let named = |policy: &CertificatePolicy| policy.has_name() == is_of_client;
        if !self.certificates.as_ref().is_none_or(named) {
            return Err(ConfigError::Policy);
        }
        match &self.identities {
            Some(identities) => identities.check(profile, is_of_client),
            None => Ok(()),
        }
    }
}
