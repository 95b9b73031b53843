//! Who is let in: trusted issuers, trusted DIDs, and whom we expect. There is no "anybody".

use std::collections::BTreeSet;

use selfsame_crypto::PublicKey;
use selfsame_did::{Did, Options, Plan, plan};
use serde_json::Value;

use super::certificate::CertificatePolicy;
use super::credential::Credential;
use super::ledger::StaplePolicy;
use super::members::{MEMBERSHIP, Members};
use super::staple;
use super::status::StatusPolicy;
use crate::codec::{Mode, SsiParameters, Staple};
use crate::digest::Digest;
use crate::error::ConfigError;
use crate::evidence::Need;
use crate::named::VcFormat;
use crate::profile::Profile;

/// What peers may prove who they are with. At least one of both must be there; without certificates an identity is
/// required.
#[derive(Clone, Debug, Default)]
pub struct PeerPolicy {
    /// Which certificates are accepted.
    pub certificates: Option<CertificatePolicy>,
    /// Which DIDs or credentials are accepted.
    pub identities: Option<IdentityPolicy>,
}

impl PeerPolicy {
    /// Whether revocation lists are looked at.
    pub(crate) fn reads_crls(&self) -> bool {
        let certificates = self.certificates.as_ref();
        certificates.is_some_and(CertificatePolicy::reads_crls)
    }

    /// What is needed of the peer whatever it shows: the document of the one DID it can be, if that has to be asked for
    /// and is not stapled.
    pub(crate) fn foreseen(&self) -> Option<Need> {
        let (None, Some(policy)) = (&self.certificates, &self.identities) else {
            return None;
        };
        let Expected::Dids(dids) = &policy.expected else {
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
        match plan(did, &Options::default()) {
            Ok(Plan::Done(_)) | Err(_) => None,
            Ok(_) => Some(Need::Did(did.clone())),
        }
    }
}

/// Which DIDs or credentials are accepted.
#[derive(Clone, Debug)]
pub struct IdentityPolicy {
    /// By DID or by credential; the paper's syntax can ask for one of them.
    pub mode: Mode,
    /// The DID methods that can be resolved.
    pub methods: Vec<String>,
    /// The formats of credentials that are read, the best first; only those that the profile carries are asked for.
    pub formats: Vec<VcFormat>,
    /// The kinds of staples that are read, where the profile carries them.
    pub staples: Vec<u8>,
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
    /// Whether the word of a configured resolver counts for a DID, where nothing proves what it says.
    pub takes_word: bool,
    /// What is made of what peers staple of a registry; without it that is not looked at.
    pub stapled: Option<StaplePolicy>,
    /// What is asked of the status of credentials.
    pub status: StatusPolicy,
}

/// An issuer, the keys it signs credentials with, each by the DID URL that names it, and what it may vouch for.
#[derive(Clone, Debug)]
pub struct TrustedIssuer {
    /// The issuer.
    pub did: Did,
    /// Its keys; if there are none, those that its DID resolves to for `assertionMethod`.
    pub keys: Vec<(String, PublicKey)>,
    /// The types of credential it may issue: one of these has to be among a credential's.
    pub types: Vec<String>,
    /// The claims it may make; others are not looked at.
    pub claims: Vec<String>,
    /// Where its status list is, for credentials that say their place in it and no more.
    pub status_list: Option<String>,
}

impl TrustedIssuer {
    /// An issuer that may say of somebody that it knows the DID, in credentials of the one type that all W3C credentials
    /// have.
    pub fn new(did: Did, keys: Vec<(String, PublicKey)>) -> Self {
        Self {
            did,
            keys,
            types: vec!["VerifiableCredential".to_owned()],
            claims: Vec::new(),
            status_list: None,
        }
    }
}

impl TrustedIssuer {
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

/// Who is expected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Expected {
    /// These DIDs, and nobody else.
    Dids(BTreeSet<Did>),
    /// The DIDs of a Merkle tree, each with a staple that shows it is one.
    Members(Members),
    /// Whoever a trusted issuer, which may make this claim, says it of: `dns` of a host, `service` of a service.
    Claim {
        /// The claim's name.
        name: String,
        /// Its value, or one of its values; letters of ASCII may be large or small in `dns`.
        value: String,
    },
    /// Every subject a trusted issuer vouches for. For servers that authenticate clients: a client with this would take
    /// every holder for the server it wants.
    Vouched,
}

impl Expected {
    /// As what somebody was expected.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Dids(_) => "the DID is one of the policy's",
            Self::Members(_) => "the DID has its place in the policy's tree",
            Self::Claim { .. } => "the credential claims what the policy asks for",
            Self::Vouched => "a trusted issuer vouches for the DID",
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
    /// Trust in these DIDs, proved by their own keys alone.
    pub fn of_dids(methods: &[&str], dids: impl IntoIterator<Item = Did>) -> Self {
        Self::new(
            Mode::Did,
            methods,
            Expected::Dids(dids.into_iter().collect()),
        )
    }

    /// Trust in the DIDs of a tree, proved by their own keys and their place in it.
    pub fn of_members(methods: &[&str], members: Members) -> Self {
        let policy = Self::new(Mode::Did, methods, Expected::Members(members));
        let staples = vec![MEMBERSHIP];
        Self { staples, ..policy }
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

    /// The same, with what peers staple of a registry and of status lists.
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

    /// What the peer is told of it.
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
        // The draft knows credentials and no bare DIDs.
        if self.mode == Mode::Did && profile.certificate_type().is_some() {
            return Err(ConfigError::Policy);
        }
        let is_read = |format: &VcFormat| parameters.reads(*format, profile);
        match self.mode == Mode::Vc && !self.formats.iter().any(is_read) {
            true => Err(ConfigError::Format),
            false => Ok(parameters),
        }
    }

    /// Whether this is somebody who is expected. `credential` is what vouches for the DID, if anything does.
    pub(crate) fn expects(
        &self,
        did: &Did,
        credential: Option<&Credential>,
        staples: &[Staple],
    ) -> bool {
        match &self.expected {
            Expected::Dids(dids) => dids.contains(did),
            Expected::Members(members) => members.contains(did, staples),
            Expected::Claim { name, value } => {
                credential.is_some_and(|credential| says(credential, name, value))
            }
            Expected::Vouched => credential.is_some(),
        }
    }

    /// Every field, so that who changes one changes the digest.
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
            Expected::Dids(dids) => !dids.is_empty(),
            Expected::Members(members) => {
                members.size > 0 && profile.is_extended() && self.staples.contains(&MEMBERSHIP)
            }
            Expected::Claim { name, value } => {
                self.mode == Mode::Vc && !value.is_empty() && may_claim(name)
            }
            Expected::Vouched => self.mode == Mode::Vc && !is_of_client,
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

/// Whether a credential says this, by one text or one of several.
fn says(credential: &Credential, name: &str, value: &str) -> bool {
    let is_it = |said: &Value| {
        said.as_str().is_some_and(|said| match name {
            // Names of hosts (RFC 4343).
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
