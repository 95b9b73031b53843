//! Which peers are accepted: trusted issuers, trusted DIDs, and the expected peer. No policy accepts every peer.

use std::collections::BTreeSet;

use selfsame_crypto::PublicKey;
use selfsame_did::{Did, Options, ResolutionPlan};
use serde_json::Value;

use super::certificate::CertificatePolicy;
use super::credential::{Credential, UNTRUSTED};
use super::ledger::StaplePolicy;
use super::members::{MEMBERSHIP, Members};
use super::staple;
use crate::alert::{Alert, Refusal};
use crate::codec::{Mode, SsiParameters, Staple};
use crate::digest::Digest;
use crate::error::ConfigError;
use crate::evidence::HandshakeNeed;
use crate::named::VcFormat;
use crate::profile::Profile;

/// How peers may prove their identity. At least one of the two must be set; without certificates, an identity is
/// required.
#[derive(Clone, Debug, Default)]
pub struct PeerPolicy {
    /// Which certificates are accepted.
    pub certificates: Option<CertificatePolicy>,
    /// Which DIDs or credentials are accepted.
    pub identities: Option<IdentityPolicy>,
}

impl PeerPolicy {
    /// Whether revocation lists are checked.
    pub(crate) fn reads_crls(&self) -> bool {
        let certificates = self.certificates.as_ref();
        certificates.is_some_and(CertificatePolicy::reads_crls)
    }

    /// The evidence needed whatever the peer shows: the document of the only DID it can have, if that must be resolved
    /// and is not stapled.
    pub(crate) fn foreseen(&self) -> Option<HandshakeNeed> {
        let (None, Some(policy)) = (&self.certificates, &self.identities) else {
            return None;
        };
        let ExpectedPeer::Dids(dids) = &policy.expected else {
            return None;
        };
        let mut dids = dids.iter();
        let (did, None) = (dids.next()?, dids.next()) else {
            return None;
        };
        let stapled = policy.stapled.as_ref();
        if stapled.is_some_and(|stapled| stapled.ledger.knows(did)) {
            return None;
        }
        match did.plan(&Options::default()) {
            Ok(ResolutionPlan::Done(_)) | Err(_) => None,
            Ok(_) => Some(HandshakeNeed::Did(did.clone())),
        }
    }

    pub(crate) fn digest(&self, into: &mut Digest) {
        let Self {
            certificates,
            identities,
        } = self;
        into.option(certificates.as_ref(), |into, policy| policy.digest(into));
        into.option(identities.as_ref(), |into, policy| policy.digest(into));
    }

    /// Checks that the policy identifies a peer; a client's must say which server.
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

/// Which DIDs or credentials are accepted.
#[derive(Clone, Debug)]
pub struct IdentityPolicy {
    /// By DID or by credential; the paper's syntax can ask for only one of them.
    pub mode: Mode,
    /// The DID methods that can be resolved.
    pub methods: Vec<String>,
    /// The credential formats that are read, the preferred first; only those that the profile carries are asked for.
    pub formats: Vec<VcFormat>,
    /// The kinds of staples that are read, if the profile carries staples.
    pub staples: Vec<u8>,
    /// The issuers whose credentials are accepted.
    pub issuers: Vec<TrustedIssuer>,
    /// The expected peer.
    pub expected: ExpectedPeer,
    /// Seconds that clocks may differ.
    pub skew: u64,
    /// Maximum bytes of a credential.
    pub max_vc: usize,
    /// Maximum age of a resolution, in seconds.
    pub max_age: u64,
    /// Whether a configured resolver's answer is accepted for a DID if nothing proves it.
    pub takes_word: bool,
    /// How registry reads in staples are judged; without it, they are ignored.
    pub stapled: Option<StaplePolicy>,
    /// How the status of credentials is judged.
    pub status: StatusPolicy,
}

/// How the status of credentials is judged. If a credential has a status, it must be checked in every case.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StatusPolicy {
    /// Whether a credential without a status is refused.
    pub required: bool,
    /// Maximum age of a status list in seconds since it was fetched; for a stapled one, since it was issued, or since
    /// the checkpoint that shows it to be its issuer's latest anchor.
    pub max_age: u64,
}

impl Default for StatusPolicy {
    fn default() -> Self {
        Self {
            required: false,
            max_age: 900,
        }
    }
}

/// An issuer, the keys it signs credentials with (each with its DID URL), and what it may vouch for.
#[derive(Clone, Debug)]
pub struct TrustedIssuer {
    /// The issuer.
    pub did: Did,
    /// Its keys; if empty, the `assertionMethod` keys of its resolved DID.
    pub keys: Vec<(String, PublicKey)>,
    /// The types it may issue; a credential must have one of them.
    pub types: Vec<String>,
    /// The claims it may make; others are ignored.
    pub claims: Vec<String>,
    /// Its status list, for credentials that contain only an index.
    pub status_list: Option<String>,
}

impl TrustedIssuer {
    /// An issuer that may vouch for DIDs, in credentials of the one type that all W3C credentials have.
    pub fn new(did: Did, keys: Vec<(String, PublicKey)>) -> Self {
        Self {
            did,
            keys,
            types: vec!["VerifiableCredential".to_owned()],
            claims: Vec::new(),
            status_list: None,
        }
    }

    fn digest(&self, into: &mut Digest) {
        let Self {
            did,
            keys,
            types,
            claims,
            status_list,
        } = self;
        into.part(did.as_str().as_bytes());
        into.list(types.iter(), |into, name| into.part(name.as_bytes()));
        into.list(claims.iter(), |into, name| into.part(name.as_bytes()));
        into.option(status_list.as_ref(), |into, uri| into.part(uri.as_bytes()));
        into.list(keys.iter(), |into, (method, key)| {
            into.part(method.as_bytes());
            // A key without this form verifies nothing here.
            into.part(&key.to_spki().unwrap_or_default());
        });
    }
}

/// The expected peer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ExpectedPeer {
    /// One of these DIDs.
    Dids(BTreeSet<Did>),
    /// A DID in a Merkle tree, proved by a staple.
    Members(Members),
    /// Any subject for which a trusted issuer that may make this claim makes it: `dns` for a host, `service` for a
    /// service.
    Claim {
        /// The claim's name.
        name: String,
        /// Its value, or one of its values; ASCII case is ignored in `dns`.
        value: String,
    },
    /// Any subject that a trusted issuer vouches for. For servers that authenticate clients: a client with this policy
    /// would accept every holder as its server.
    Vouched,
}

impl ExpectedPeer {
    /// Why a peer was expected, for the verdict.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Dids(_) => "the policy names the DID",
            Self::Members(_) => "the policy's tree contains the DID",
            Self::Claim { .. } => "the credential has the claim that the policy requires",
            Self::Vouched => "a trusted issuer issued a credential for the DID",
        }
    }

    fn digest(&self, into: &mut Digest) {
        match self {
            Self::Vouched => into.number(0_u8),
            Self::Dids(dids) => {
                into.number(1_u8);
                into.list(dids.iter(), |into, did| into.part(did.as_str().as_bytes()));
            }
            Self::Members(Members { root, size }) => {
                into.number(2_u8);
                into.part(root);
                into.number(*size);
            }
            Self::Claim { name, value } => {
                into.number(3_u8);
                into.part(name.as_bytes());
                into.part(value.as_bytes());
            }
        }
    }
}

impl IdentityPolicy {
    /// Trusts these DIDs, proved by their own keys.
    pub fn of_dids(methods: &[&str], dids: impl IntoIterator<Item = Did>) -> Self {
        Self::new(
            Mode::Did,
            methods,
            ExpectedPeer::Dids(dids.into_iter().collect()),
        )
    }

    /// Trusts the DIDs of a tree, proved by their own keys and their place in the tree.
    pub fn of_members(methods: &[&str], members: Members) -> Self {
        let policy = Self::new(Mode::Did, methods, ExpectedPeer::Members(members));
        let staples = vec![MEMBERSHIP];
        Self { staples, ..policy }
    }

    /// Trusts credentials of these issuers about `expected`.
    pub fn of_credentials(
        methods: &[&str],
        issuers: Vec<TrustedIssuer>,
        expected: ExpectedPeer,
    ) -> Self {
        let policy = Self::new(Mode::Vc, methods, expected);
        Self { issuers, ..policy }
    }

    fn new(mode: Mode, methods: &[&str], expected: ExpectedPeer) -> Self {
        Self {
            mode,
            methods: methods.iter().map(|method| (*method).to_owned()).collect(),
            formats: VcFormat::ALL.to_vec(),
            staples: Vec::new(),
            issuers: Vec::new(),
            expected,
            skew: 60,
            max_vc: 16 * 1024,
            max_age: 300,
            takes_word: true,
            stapled: None,
            status: StatusPolicy::default(),
        }
    }

    /// Accepts staples with registry reads and status lists.
    #[must_use]
    pub fn with_staples(mut self, stapled: StaplePolicy) -> Self {
        for kind in [staple::READS, staple::STATUS_LIST] {
            if !self.staples.contains(&kind) {
                self.staples.push(kind);
            }
        }
        self.stapled = Some(stapled);
        self
    }

    /// The parameters that the peer is sent.
    pub(crate) fn parameters(&self, profile: &Profile) -> Result<SsiParameters, ConfigError> {
        let code = |method: &String| profile.method_code(method).ok_or(ConfigError::Method);
        let methods = self.methods.iter().map(code);
        let mut parameters = SsiParameters {
            mode: self.mode,
            methods: methods.collect::<Result<_, _>>()?,
            ..SsiParameters::default()
        };
        if profile.is_extended() {
            parameters.staples.clone_from(&self.staples);
            if self.mode == Mode::Vc {
                parameters.formats.clone_from(&self.formats);
            }
        }
        // The draft has credentials but no bare DIDs.
        if self.mode == Mode::Did && profile.certificate_type().is_some() {
            return Err(ConfigError::Policy);
        }
        let is_read = |format: &VcFormat| parameters.reads(*format, profile);
        match self.mode == Mode::Vc && !self.formats.iter().any(is_read) {
            true => Err(ConfigError::Format),
            false => Ok(parameters),
        }
    }

    /// Whether this DID is expected. `credential` is what vouches for the DID, if anything does.
    pub(crate) fn expects(
        &self,
        did: &Did,
        credential: Option<&Credential>,
        staples: &[Staple],
    ) -> bool {
        match &self.expected {
            ExpectedPeer::Dids(dids) => dids.contains(did),
            ExpectedPeer::Members(members) => members.contains(did, staples),
            ExpectedPeer::Claim { name, value } => {
                credential.is_some_and(|credential| says(credential, name, value))
            }
            ExpectedPeer::Vouched => credential.is_some(),
        }
    }

    /// Accepts only DIDs of the methods that we offered.
    pub(super) fn check_method(&self, did: &Did) -> Result<(), Refusal> {
        match self.methods.iter().any(|method| method == did.method()) {
            true => Ok(()),
            false => Err(Refusal::new(
                Alert::UnsupportedCertificate,
                "a DID of a method that was not offered",
            )),
        }
    }

    /// The trusted issuer with this DID.
    pub(super) fn issuer(&self, did: &str) -> Result<&TrustedIssuer, Refusal> {
        let mut issuers = self.issuers.iter();
        let issuer = issuers.find(|issuer| issuer.did.as_str() == did);
        issuer.ok_or(UNTRUSTED)
    }

    /// Hashes every field, so that each change changes the digest.
    fn digest(&self, into: &mut Digest) {
        let Self {
            mode,
            methods,
            formats,
            staples,
            issuers,
            expected,
            skew,
            max_vc,
            max_age,
            takes_word,
            stapled,
            status,
        } = self;
        into.number(*mode as u8);
        into.list(methods.iter(), |into, method| into.part(method.as_bytes()));
        into.list(formats.iter(), |into, format| into.number(format.0));
        into.part(staples);
        into.list(issuers.iter(), |into, issuer| issuer.digest(into));
        expected.digest(into);
        into.number(u8::from(*takes_word));
        into.option(stapled.as_ref(), |into, policy| policy.digest(into));
        let StatusPolicy {
            required,
            max_age: max_status_age,
        } = status;
        into.number(u8::from(*required));
        into.number(*max_status_age);
        into.number(*skew);
        into.number(*max_vc);
        into.number(*max_age);
    }

    fn check(&self, profile: &Profile, is_of_client: bool) -> Result<(), ConfigError> {
        let may_claim = |name: &String| {
            let mut issuers = self.issuers.iter();
            issuers.any(|issuer| issuer.claims.contains(name))
        };
        let names_somebody = match &self.expected {
            ExpectedPeer::Dids(dids) => !dids.is_empty(),
            ExpectedPeer::Members(members) => {
                members.size > 0 && profile.is_extended() && self.staples.contains(&MEMBERSHIP)
            }
            ExpectedPeer::Claim { name, value } => {
                self.mode == Mode::Vc && !value.is_empty() && may_claim(name)
            }
            ExpectedPeer::Vouched => self.mode == Mode::Vc && !is_of_client,
        };
        let mut issuers = self.issuers.iter();
        let has_issuer = issuers.any(|issuer| !issuer.types.is_empty());
        let trusts = match self.mode {
            Mode::Certificate => false,
            Mode::Did => true,
            Mode::Vc => has_issuer,
        };
        if !names_somebody || !trusts || self.methods.is_empty() {
            return Err(ConfigError::Policy);
        }
        self.parameters(profile).map(|_| ())
    }
}

/// Whether a credential claims this value, as its one text or as one of several.
fn says(credential: &Credential, name: &str, value: &str) -> bool {
    let is_it = |said: &Value| {
        said.as_str().is_some_and(|said| match name {
            // Host names (RFC 4343).
            "dns" => said.eq_ignore_ascii_case(value),
            _ => said == value,
        })
    };
    match credential.claims.get(name) {
        Some(Value::Array(all)) => all.iter().any(is_it),
        Some(one) => is_it(one),
        None => false,
    }
}

pub(crate) const NOT_EXPECTED: Refusal = Refusal::new(Alert::AccessDenied, "not the expected peer");
