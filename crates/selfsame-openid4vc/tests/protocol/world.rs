//! Shared fixtures of the tests: parties with keys, an issuer, a verifier, and a driver that gathers evidence.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_credential::{
    ClaimPath, Evidence, Fetched, Format, Need, Signer, Step, Unavailable,
    verdict::{Policy, Trust},
};
use selfsame_crypto::{
    Algorithm, KeyHandle, KeyType, PrivateKey, SecretString, ctx::Ctx, jws, seal::SealingKey,
    time::UnixTime,
};
use selfsame_did::{Did, Options, Resolution, ResolutionPlan};
use selfsame_oauth::{ServerMetadata, TokenRequest};
use selfsame_openid4vc::{
    Error, Transport,
    issuer::{
        self, EnforcedMetadata, Granted, Issuance, IssuanceState, IssuerSettings, Redeemed,
        credential::{CredentialAsked, CredentialContent},
        metadata::{IssuerDescription, Offering},
        offer::{MadeOffer, NewOffer},
    },
    wallet::Binding,
    wire::{
        credential::{
            CredentialRequest, CredentialResponse, EndpointEncryption, WantedCredential,
            WantedEncryption,
        },
        metadata::{ClaimDescription, CredentialMetadata, Display, IssuerMetadata},
        offer::CredentialOffer,
    },
};
use serde_json::{Map, Value, json};
use url::Url;

/// The time at which the tests take place.
pub const NOW: UnixTime = UnixTime(1_800_000_123);
pub const ISSUER: &str = "https://issuer.example/tenant";
pub const SD_JWT: &str = "vaccination_sd_jwt";
pub const W3C: &str = "vaccination_jwt_vc";
/// The DID that the metadata names as the signer of compact credentials.
pub const SIGNER: &str = "did:web:issuer.example";
pub const COMPACT: &str = "vaccination_cwt";
pub const W3C_2: &str = "vaccination_vc_jwt";
/// A configuration that only the issuers of [`crate::linked`] have.
pub const LINKED: &str = "vaccination_ldp_vc";
pub const TICKET: &str = "ticket";
pub const VCT: &str = "https://issuer.example/vct/vaccination";

/// A party with a key and the DID derived from it.
pub struct Party {
    pub key: PrivateKey,
    pub did: String,
    pub kid: String,
}

impl Party {
    pub fn new(key_type: KeyType) -> Self {
        Self::of(PrivateKey::generate(key_type).unwrap())
    }

    pub fn of(key: PrivateKey) -> Self {
        let did = selfsame_did::key::create(key.public()).as_str().to_owned();
        let kid = format!("{did}#{}", did.strip_prefix("did:key:").unwrap());
        Self { key, did, kid }
    }

    pub fn handle(&self) -> KeyHandle {
        KeyHandle::of(self.key.public())
    }

    pub fn signer(&self) -> Signer {
        Signer::with_kid(self.handle(), self.key.algorithm(), self.kid.clone())
    }

    /// The key as a wallet offers it for binding.
    pub fn binding(&self) -> Binding {
        Binding {
            key: self.handle(),
            algorithm: self.key.algorithm(),
            jwk: self.key.public().to_jwk(),
            kid: Some(self.kid.clone()),
        }
    }

    /// A token with this header and payload, valid or not.
    pub fn token(&self, header: &Value, payload: &Value) -> String {
        let token = jws::Unsigned::new(header, payload);
        let signature = self.key.sign(token.signing_input()).unwrap();
        token.finish(&signature)
    }
}

pub fn ctx(seed: u8) -> Ctx {
    Ctx::new(NOW, [seed; 32])
}

pub fn at(seconds_later: u64, seed: u8) -> Ctx {
    Ctx::new(NOW.plus(seconds_later), [seed; 32])
}

pub fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

/// Gathers the evidence for a step: resolves DIDs that contain their key, and signs with the parties' keys.
pub struct Driver<'a> {
    pub parties: Vec<&'a Party>,
    pub evidence: Evidence,
    pub asked: Vec<Need>,
}

impl<'a> Driver<'a> {
    pub fn new(parties: &[&'a Party]) -> Self {
        Self {
            parties: parties.to_vec(),
            evidence: Evidence::default(),
            asked: Vec::new(),
        }
    }

    /// Runs a step until it needs no more evidence.
    pub fn run<T, E>(
        &mut self,
        mut step: impl FnMut(&Evidence) -> Result<Step<T>, E>,
    ) -> Result<T, E> {
        for _ in 0..8 {
            match step(&self.evidence)? {
                Step::Done(done) => return Ok(done),
                Step::Needs(needs) => {
                    assert!(!needs.is_empty(), "a step that needs nothing must be done");
                    for need in needs {
                        assert!(!self.evidence.answers(&need), "asked twice: {need:?}");
                        self.gather(&need);
                        self.asked.push(need);
                    }
                }
            }
        }
        panic!("the step never ends");
    }

    fn gather(&mut self, need: &Need) {
        match need {
            Need::Did(did) => {
                let value = match did.plan(&Options::default()) {
                    Ok(ResolutionPlan::Done(resolution)) => Ok(*resolution),
                    _ => Err(Unavailable {
                        reason: "no network in tests".to_owned(),
                    }),
                };
                self.resolve(did.clone(), value);
            }
            Need::Signature(request) => {
                let party = self
                    .parties
                    .iter()
                    .find(|party| party.handle() == request.key);
                let signature = party.expect("a key of the tests").key.sign(&request.bytes);
                self.evidence
                    .insert_signature(request.clone(), signature.unwrap());
            }
            Need::IssuerMetadata(_) | Need::JwkSet(_) | Need::StatusList(_) | Need::Use { .. } => {
                panic!("not needed in these tests")
            }
        }
    }

    pub fn resolve(&mut self, did: Did, value: Result<Resolution, Unavailable>) {
        let value = value.map(Arc::new);
        self.evidence.insert_did(did, Fetched { value, at: NOW });
    }
}

pub fn transport() -> Transport {
    Transport::default()
}

/// A policy that trusts any issuer whose signature verifies.
pub fn policy() -> Policy {
    Policy {
        trusted_issuers: Trust::Any,
        accept_did_issuers: true,
        leeway: 60,
        ..Policy::default()
    }
}

fn offering(format: Format) -> Offering {
    let of_w3c = format != Format::SdJwtVc;
    let prefix = format.describe().subject_claim;

    let claim = |name: &str| ClaimDescription {
        path: ClaimPath::of_names(prefix.into_iter().chain([name])).unwrap(),
        mandatory: true,
        display: vec![display(name)],
        values: Vec::new(),
    };
    Offering {
        format,
        scope: None,
        doctype: None,
        vct: (!of_w3c).then(|| VCT.to_owned()),
        types: vec![
            "VerifiableCredential".to_owned(),
            "VaccinationCredential".to_owned(),
        ],
        contexts: Vec::new(),
        issuer: (format == Format::Cwt).then(|| SIGNER.to_owned()),
        signing_algorithms: vec![Algorithm::EdDsa, Algorithm::Es256],
        binding_methods: ["jwk", "did:key", "did:jwk", "did:web"]
            .map(str::to_owned)
            .to_vec(),
        proof_algorithms: vec![Algorithm::EdDsa, Algorithm::Es256],
        key_attestations: None,
        metadata: CredentialMetadata {
            display: vec![display("Vaccination")],
            claims: vec![claim("given_name"), claim("vaccine")],
        },
    }
}

fn display(name: &str) -> Display {
    Display {
        name: Some(name.to_owned()),
        locale: Some("en".to_owned()),
        ..Display::default()
    }
}

pub fn description() -> IssuerDescription {
    let ticket = Offering {
        binding_methods: Vec::new(),
        metadata: CredentialMetadata::default(),
        ..offering(Format::SdJwtVc)
    };
    IssuerDescription {
        identifier: ISSUER.to_owned(),
        sign_in: None,
        token_endpoint: url("https://issuer.example/tenant/token"),
        nonce_endpoint: url("https://issuer.example/tenant/nonce"),
        credential_endpoint: url("https://issuer.example/tenant/credential"),
        deferred_credential_endpoint: None,
        notification_endpoint: None,
        encryption: None,
        batch_size: 3,
        display: vec![display("The issuer")],
        credentials: BTreeMap::from([
            (SD_JWT.to_owned(), offering(Format::SdJwtVc)),
            (W3C.to_owned(), offering(Format::JwtVcJson)),
            (W3C_2.to_owned(), offering(Format::VcJwt)),
            (COMPACT.to_owned(), offering(Format::Cwt)),
            (TICKET.to_owned(), ticket),
        ]),
    }
}

/// An issuer with its settings and the content of its credentials.
pub struct Issuer {
    pub party: Party,
    pub metadata: IssuerMetadata,
    pub settings: IssuerSettings,
    pub content: CredentialContent,
}

impl Issuer {
    pub fn new() -> Self {
        let party = Party::new(KeyType::Ed25519);
        let metadata = issuer::metadata::build(&description()).unwrap();
        let settings = IssuerSettings {
            metadata: EnforcedMetadata::of(&metadata),
            key: SealingKey::from_bytes([9; 32]),
            encryption: None,
            nonce_lifetime: 300,
            token_lifetime: 600,
            proof_age: 300,
            leeway: 30,
            round_times_to: 3600,
        };
        let content = CredentialContent {
            issuer: party.did.clone(),
            signer: party.signer(),
            public: party.key.public().clone(),
            claims: object(json!({"given_name": "Ines", "vaccine": "MMR"})),
            disclosable: ["given_name", "vaccine"]
                .map(|name| ClaimPath::of_names([name]).unwrap())
                .to_vec(),
            decoys: 2,
            namespaces: Vec::new(),
            contexts: Vec::new(),
            schema: None,
            expires: Some(NOW.plus(86_400)),
            further_copies: true,
            statuses: Vec::new(),
        };
        Self {
            party,
            metadata,
            settings,
            content,
        }
    }

    /// An issuer whose credential endpoint encrypts messages.
    pub fn encrypting(wanted: WantedEncryption) -> Self {
        let mut issuer = Self::new();
        let encryption = EndpointEncryption::new(wanted, &issuer.settings.key).unwrap();
        let description = IssuerDescription {
            encryption: encryption.clone(),
            ..description()
        };
        issuer.publish(issuer::metadata::build(&description).unwrap());
        issuer.settings.encryption = encryption;
        issuer
    }

    /// Publishes other metadata, and enforces it.
    pub fn publish(&mut self, metadata: IssuerMetadata) {
        self.settings.metadata = EnforcedMetadata::of(&metadata);
        self.metadata = metadata;
    }

    pub fn server(&self) -> ServerMetadata {
        issuer::metadata::server(&description())
    }

    pub fn offer_of(&self, new: &NewOffer) -> MadeOffer {
        issuer::offer::create(new, &self.settings, &ctx(1)).unwrap()
    }

    pub fn offer(&self, configuration_id: &str) -> MadeOffer {
        self.offer_of(&new_offer(configuration_id))
    }

    /// Takes one step with a token request.
    pub fn token(
        &self,
        state: &IssuanceState,
        request: &TokenRequest,
        ctx: &Ctx,
    ) -> Result<(IssuanceState, Result<Redeemed, Error>), Error> {
        let redemption = issuer::redeem(state, request, &self.settings, ctx)?;
        Ok((redemption.state, redemption.outcome))
    }

    /// A grant for this configuration.
    pub fn granted(&self, configuration_id: &str) -> Granted {
        let made = self.offer(configuration_id);
        let request = token_request(&made.offer);
        let (_, redeemed) = self
            .token(&IssuanceState::Offered(made.state), &request, &ctx(2))
            .unwrap();
        grant(&redeemed)
    }

    /// Takes one step with a credential request.
    pub fn credential(
        &self,
        state: &IssuanceState,
        request: &CredentialRequest,
        ctx: &Ctx,
    ) -> Result<(IssuanceState, Issuance), Error> {
        let asked = CredentialAsked {
            request,
            content: &self.content,
            settings: &self.settings,
            proven: None,
        };
        let mut driver = Driver::new(&[&self.party]);
        let issuance = driver.run(|evidence| issuer::issue(state, &asked, evidence, ctx))?;
        Ok((issuance.state.clone(), issuance))
    }

    pub fn nonce(&self) -> String {
        issuer::nonce::make(&self.settings, &ctx(3)).c_nonce
    }

    /// A valid proof.
    pub fn proof(&self, holder: &Party) -> String {
        holder.token(&proof_header(holder), &self.proof_claims())
    }

    pub fn proof_claims(&self) -> Value {
        json!({"aud": ISSUER, "iat": NOW.0, "nonce": self.nonce()})
    }

    /// The credentials or the error that a credential request with these proofs results in.
    pub fn ask(&self, configuration_id: &str, proofs: &[String]) -> Result<Vec<String>, Error> {
        let state = IssuanceState::Granted(self.granted(configuration_id));
        let request = request(configuration_id, proofs);
        let (_, issuance) = self.credential(&state, &request, &ctx(4))?;
        Ok(credentials(&issuance)
            .credentials
            .into_iter()
            .map(|issued| issued.credential)
            .collect())
    }

    /// The error code that a credential request with this proof is refused with.
    pub fn refuses(&self, header: &Value, claims: &Value, holder: &Party) -> &'static str {
        let proof = holder.token(header, claims);
        let error = self
            .ask(SD_JWT, &[proof])
            .expect_err("the proof must be refused");
        error.code().expect("a code of the specification")
    }
}

pub fn new_offer(configuration_id: &str) -> NewOffer {
    NewOffer {
        offer_id: "offer-1".to_owned(),
        configuration_ids: vec![configuration_id.to_owned()],
        uses: 1,
        tx_code: None,
        lifetime: 300,
        sign_in: None,
    }
}

pub fn token_request(offer: &CredentialOffer) -> TokenRequest {
    TokenRequest {
        pre_authorized_code: offer.pre_authorized_code().unwrap().code.clone(),
        tx_code: None,
        client_id: None,
        authorization_details: None,
    }
}

pub fn with_tx_code(offer: &CredentialOffer, tx_code: &SecretString) -> TokenRequest {
    TokenRequest {
        tx_code: Some(tx_code.clone()),
        ..token_request(offer)
    }
}

pub fn proof_header(holder: &Party) -> Value {
    json!({
        "typ": "openid4vci-proof+jwt",
        "alg": holder.key.algorithm().as_str(),
        "jwk": holder.key.public().to_jwk(),
    })
}

pub fn request(configuration_id: &str, proofs: &[String]) -> CredentialRequest {
    CredentialRequest {
        wanted: WantedCredential::CredentialConfigurationId(configuration_id.to_owned()),
        proofs: (!proofs.is_empty()).then(|| proofs.to_vec()),
        attestation: None,
        response_encryption: None,
    }
}

pub fn grant(redeemed: &Result<Redeemed, Error>) -> Granted {
    *redeemed.as_ref().expect("a grant").granted.clone()
}

pub fn credentials(issuance: &Issuance) -> CredentialResponse {
    issuance.response.clone()
}

/// The value with some members replaced, or removed where the new value is null.
pub fn with(value: &Value, changes: Value) -> Value {
    let mut members = object(value.clone());
    for (name, change) in object(changes) {
        match change {
            Value::Null => members.remove(&name),
            change => members.insert(name, change),
        };
    }
    Value::Object(members)
}

/// The state after writing it to a record and reading it back.
pub fn stored<T: serde::Serialize + serde::de::DeserializeOwned>(state: &T) -> T {
    serde_json::from_slice(&serde_json::to_vec(state).unwrap()).unwrap()
}
