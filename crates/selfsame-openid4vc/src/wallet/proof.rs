//! Proves possession of the keys that credentials will be bound to (OpenID4VCI 1.0 Appendix F.1).

use selfsame_attestation::key::{self, KeyRequirements};
use selfsame_credential::{
    Format,
    evidence::{Evidence, Need, SignatureRequest, Step},
};
use selfsame_crypto::{Algorithm, KeyType, PublicKey, ctx::Ctx, jws::Unsigned};
use selfsame_did::{DidUrl, jwk, key as did_key, method::Method};
use serde_json::{Map, Value, json};

use super::{
    Binding, CredentialPlan, ReceivingState, Requesting, RequestsProgress, WalletCall, WalletNext,
};
use crate::{
    error::{Error, Lacking},
    wire::{
        credential::{CredentialRequest, PROOF_TYP},
        metadata::{COSE_KEY, Configuration, JWK, ProofType},
    },
};

const OTHER_KEY: &str = "Choose another key or DID for this credential.";

/// The algorithms of keys that a wallet creates for credentials, preferred first.
const KINDS: [Algorithm; 2] = [Algorithm::Es256, Algorithm::EdDsa];

/// The methods by which a bare key gets a DID, preferred first.
const OF_A_KEY: [Method; 2] = [jwk::METHOD, did_key::METHOD];
/// The binding methods of a bare key (OpenID4VCI 1.0 §12.2.4).
const BARE_KEY: [&str; 2] = [JWK, COSE_KEY];

/// The type of key to create for this configuration; `None` if it accepts no proofs, or only of unsupported algorithms.
pub(super) fn kind_of_key(configuration: &Configuration) -> Option<KeyType> {
    let listed = listed(configuration.jwt_proof()?);
    let mut kinds = KINDS.into_iter();
    kinds
        .find(|algorithm| listed.contains(algorithm))
        .map(Algorithm::key_type)
}

fn listed(proof: &ProofType) -> Vec<Algorithm> {
    proof
        .proof_signing_alg_values_supported
        .iter()
        .filter_map(Value::as_str)
        .filter_map(|name| name.parse().ok())
        .collect()
}

/// The keys that the configuration accepts, each named by a binding method that it lists.
pub(super) fn bindings(
    configuration: &Configuration,
    format: Format,
    keys: &[Binding],
) -> Result<Vec<Binding>, Error> {
    let bad = |reason| Error::Unsupported {
        lacking: Lacking::Key,
        reason,
        advice: OTHER_KEY,
    };
    let proof = configuration
        .jwt_proof()
        .ok_or_else(|| bad("the issuer accepts no proofs of the type jwt"))?;
    // Keys that a program keeps have none of the protections that a list can name.
    let required = proof.key_attestations_required.as_ref();
    if required
        .is_some_and(|one| !KeyRequirements::read(one).is_some_and(|one| one.are_met_by_any()))
    {
        return Err(bad(
            "the issuer requires a protection of keys that this wallet does not have",
        ));
    }
    let listed = listed(proof);
    let mut fitting: Vec<Binding> = Vec::new();
    for key in keys.iter().filter(|key| listed.contains(&key.algorithm)) {
        // §8.3: each key is bound to at most one credential.
        if fitting.iter().any(|other| other.key == key.key) {
            continue;
        }
        fitting.extend(named(configuration, format, key));
    }
    let Some(kind) = fitting.first().map(|key| key.algorithm) else {
        return Err(bad("none of the keys is of a kind that the issuer accepts"));
    };
    // Keys of another algorithm are for the other offered credentials; here they would request extra copies.
    fitting.retain(|key| key.algorithm == kind);
    Ok(fitting)
}

// A W3C credential names its subject by a DID, so a DID is preferred to a bare key. An SD-JWT VC confirms a key, so a
// bare key is preferred, which also keeps the DID out of the credential.
fn named(configuration: &Configuration, format: Format, key: &Binding) -> Option<Binding> {
    let methods = configuration
        .cryptographic_binding_methods_supported
        .as_deref()?;
    let bare = methods
        .iter()
        .any(|method| BARE_KEY.contains(&method.as_str()));
    let by_did = key.kid.as_ref().is_some_and(|kid| {
        DidUrl::parse(kid).is_ok_and(|url| methods.contains(&format!("did:{}", url.did.method())))
    });
    let use_did = by_did && (!bare || format.describe().binds_to_did);
    match (use_did, bare) {
        (true, _) => Some(key.clone()),
        (false, true) => Some(Binding {
            kid: None,
            ..key.clone()
        }),
        (false, false) => with_own_did(methods, key),
    }
}

// Many issuers bind only to DIDs. A bare key is then named by a DID derived from it, which is as fresh as the key. A
// key that already has another DID keeps that DID.
fn with_own_did(methods: &[String], key: &Binding) -> Option<Binding> {
    if key.kid.is_some() {
        return None;
    }
    let public = PublicKey::from_jwk(&key.jwk).ok()?;
    let lists = |method: &str| methods.iter().any(|listed| listed == method);
    let method = OF_A_KEY.iter().find(|method| lists(&method.scheme()))?;
    let did = (method.of_key?.create)(&public);
    Some(Binding {
        kid: did.kid(),
        ..key.clone()
    })
}

/// Drafts the proofs for the current ask and, once they are signed, its credential request.
pub(super) fn request(
    mut progress: RequestsProgress,
    nonce: Option<&str>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let (Some(current), Some(wanted)) = (progress.plan.asks.first(), progress.wanted.first())
    else {
        return Err(Error::State("there is no credential left to request"));
    };
    let mut proofs = Vec::with_capacity(current.bindings.len());
    let mut needs = Vec::new();
    for binding in &current.bindings {
        let unsigned = draft(binding, &progress.plan, nonce, ctx);
        let request = SignatureRequest {
            key: binding.key.clone(),
            bytes: unsigned.signing_input().to_vec(),
        };
        match evidence.signature(&request) {
            Some(signature) => proofs.push(unsigned.finish(signature)),
            None => needs.push(Need::Signature(request)),
        }
    }
    if !needs.is_empty() {
        return Ok(Step::Needs(needs));
    }
    let planned = progress.plan.encryption.as_deref();
    let response_key = match planned {
        Some(planned) => planned.response_key(ctx)?,
        None => None,
    };
    let request = CredentialRequest {
        wanted: wanted.clone(),
        proofs: (!proofs.is_empty()).then_some(proofs),
        attestation: None,
        response_encryption: response_key.as_ref().map(|key| key.parameters.clone()),
    };
    let call = WalletCall::RequestCredential {
        url: progress.plan.credential_endpoint.clone(),
        token: progress.token.clone(),
        is_bound: progress.is_bound,
        encrypted: planned.is_some(),
        body: match planned {
            Some(planned) => planned.sealed(&request.to_json(), ctx)?,
            None => request.to_json(),
        },
    };
    progress.response_key = response_key.map(|one| Box::new(one.key));
    let state = ReceivingState::Requesting(Requesting { progress });
    Ok(Step::Done(WalletNext::calling(state, call)))
}

fn draft(binding: &Binding, plan: &CredentialPlan, nonce: Option<&str>, ctx: &Ctx) -> Unsigned {
    let mut header = Map::new();
    header.insert("typ".to_owned(), Value::from(PROOF_TYP));
    header.insert("alg".to_owned(), Value::from(binding.algorithm.as_str()));
    match &binding.kid {
        Some(kid) => header.insert("kid".to_owned(), Value::from(kid.as_str())),
        None => header.insert("jwk".to_owned(), binding.jwk.to_value()),
    };
    let attestation = plan
        .asks
        .first()
        .and_then(|ask| ask.key_attestation.as_ref());
    if let Some(attestation) = attestation {
        header.insert(key::HEADER.to_owned(), Value::from(attestation.as_str()));
    }
    // No `iss`: it may be left out, and must be if the code was redeemed without a client identifier.
    let mut claims = Map::new();
    claims.insert("aud".to_owned(), Value::from(plan.issuer.as_str()));
    claims.insert("iat".to_owned(), json!(ctx.now().0));
    if let Some(nonce) = nonce {
        claims.insert("nonce".to_owned(), Value::from(nonce));
    }
    Unsigned::new(&Value::Object(header), &Value::Object(claims))
}
