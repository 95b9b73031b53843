//! Creates a request, and its request object when a wallet fetches it (OpenID4VP 1.0 §5).

use selfsame_credential::{
    evidence::{Evidence, Need, SignatureRequest, Step},
    signer::Signer,
};
use selfsame_crypto::{ctx::Ctx, encoding::base64_encode, jws::Unsigned};
use selfsame_oauth::form;
pub use selfsame_openid4vc_messages::request_parameters::wallet_nonce;
use serde_json::{Map, Value, json};
use url::Url;

use super::{Asked, Created, Fetched, Reply, VerificationState, VerifierNext};
use crate::{
    dcql::DcqlQuery,
    error::Error,
    wire::{
        client_metadata::ClientMetadata,
        encryption::{EncryptionKey, enc_values},
        request::{
            ClientId, DIRECT_POST, DIRECT_POST_JWT, Parameters, Request, RequestUriMethod, SCHEME,
            STATIC_AUDIENCE, TYP,
        },
        transaction::{self, AskedTransaction, TransactionType},
    },
};

/// The parameters of a new request.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// The client identifier. With `redirect_uri` it must be the response URI.
    pub client: ClientId,
    /// The URL that the wallet posts its answer to; unique to the request.
    pub response_uri: Url,
    /// The URL of the request object; `None` with `redirect_uri`, since such requests cannot be signed.
    pub request_uri: Option<Url>,
    /// The HTTP method that the wallet fetches it with.
    pub request_uri_method: RequestUriMethod,
    /// The URL that the person's browser opens after the answer, in the same-device flow.
    pub redirect_uri: Option<Url>,
    /// The DCQL query.
    pub query: DcqlQuery,
    /// The formats and algorithms that this verifier can check.
    pub metadata: ClientMetadata,
    /// Why it asks, for the person.
    pub purpose: Option<String>,
    /// What the person is to agree to.
    pub transaction_data: Vec<AskedTransaction>,
    /// Whether the answer must be encrypted (`direct_post.jwt`).
    pub encrypted: bool,
    /// How long an answer is accepted, in seconds.
    pub lifetime: u64,
}

/// Creates a request with a fresh nonce and state.
pub fn create(new: NewRequest, ctx: &Ctx) -> Result<Created, Error> {
    let setup = |reason: &str| Error::Setup(reason.to_owned());
    if new.client.is_signed() != new.request_uri.is_some() {
        return Err(setup(
            "a request has a request_uri if, and only if, it can be signed",
        ));
    }
    let mut metadata = new.metadata;
    let encryption = match new.encrypted {
        true => Some(EncryptionKey::new(ctx, "verifier/encryption")?),
        false => None,
    };
    if let Some(key) = &encryption {
        metadata.jwks = Some(Box::new(json!({"keys": [key.jwk()?]})));
        metadata.encrypted_response_enc_values_supported = Some(enc_values().into());
    }
    let asked = Asked {
        client_id: new.client.to_string(),
        response_uri: new.response_uri,
        request_uri: new.request_uri,
        request_uri_method: new.request_uri_method,
        redirect_uri: new.redirect_uri,
        nonce: ctx.token("verifier/nonce"),
        state: ctx.token("verifier/state"),
        query: new.query,
        metadata,
        purpose: new.purpose,
        transaction_data: new.transaction_data,
        encryption: encryption.map(Box::new),
        expires: ctx.now().plus(new.lifetime),
    };
    // Checks the request by the rules a wallet applies, so that an invalid one is never sent.
    Request::check(parameters(&asked)?, &new.client)
        .map_err(|refused| Error::Setup(refused.error.to_string()))?;
    Ok(Created { asked })
}

/// The transactions of a request that say this; without `credential_ids` each credential query can authorise it.
///
/// # Errors
/// `invalid_transaction_data` for what a wallet with the ready types and these could not show.
pub fn transactions(
    said: &[Value],
    query: &DcqlQuery,
    further: &[TransactionType],
) -> Result<Vec<AskedTransaction>, Error> {
    let ids = query.credentials().iter();
    let ids: Vec<&str> = ids.map(|one| one.id.as_str()).collect();
    transaction::asked(said, &ids, further)
}

/// The link that opens a wallet; `wallet` is the wallet's URL, or `None` for the scheme `openid4vp`.
pub fn link(asked: &Asked, wallet: Option<&Url>) -> Result<String, Error> {
    let pairs = match &asked.request_uri {
        Some(request_uri) => {
            let mut pairs = vec![
                ("client_id".to_owned(), asked.client_id.clone()),
                ("request_uri".to_owned(), request_uri.to_string()),
            ];
            if asked.request_uri_method == RequestUriMethod::Post {
                pairs.push(("request_uri_method".to_owned(), "post".to_owned()));
            }
            pairs
        }
        None => parameters(asked)?.to_pairs(),
    };
    let query = form::encode(&pairs).replace('+', "%20");
    Ok(match wallet {
        Some(wallet) => {
            let mut url = wallet.clone();
            url.set_query(Some(&query));
            url.into()
        }
        None => format!("{SCHEME}://?{query}"),
    })
}

pub(super) fn object(
    open: &Fetched,
    signer: &Signer,
    wallet_nonce: Option<&str>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<VerifierNext>, Error> {
    let asked = &open.asked;
    if ctx.now() >= asked.expires {
        return Err(Error::Expired("the request has expired"));
    }
    if asked.request_uri.is_none() {
        return Err(Error::State(
            "this request is contained in its link and can't be signed",
        ));
    }
    let unsigned = Unsigned::new(&header(signer), &claims(asked, wallet_nonce, ctx)?);
    let request = SignatureRequest {
        key: signer.key.clone(),
        bytes: unsigned.signing_input().to_vec(),
    };
    let Some(signature) = evidence.signature(&request) else {
        return Ok(Step::Needs(vec![Need::Signature(request)]));
    };
    let reply = Reply::RequestObject(unsigned.finish(signature));
    let state = VerificationState::Fetched(open.clone());
    Ok(Step::Done(VerifierNext::replying(state, reply)))
}

/// The header of a request object by this signer.
pub fn header(signer: &Signer) -> Value {
    let mut header = Map::new();
    header.insert("alg".to_owned(), Value::from(signer.algorithm.as_str()));
    header.insert("typ".to_owned(), Value::from(TYP));
    if let Some(kid) = &signer.kid {
        header.insert("kid".to_owned(), Value::from(kid.as_str()));
    }
    if !signer.x5c.is_empty() {
        let chain = signer.x5c.iter().map(|der| Value::from(base64_encode(der)));
        header.insert("x5c".to_owned(), chain.collect());
    }
    Value::Object(header)
}

fn claims(asked: &Asked, wallet_nonce: Option<&str>, ctx: &Ctx) -> Result<Value, Error> {
    let mut parameters = parameters(asked)?;
    parameters.wallet_nonce = wallet_nonce.map(str::to_owned);
    let mut claims = serde_json::to_value(parameters).map_err(unserialisable)?;
    if let Some(members) = claims.as_object_mut() {
        members.insert("aud".to_owned(), Value::from(STATIC_AUDIENCE));
        members.insert("iat".to_owned(), json!(ctx.now().0));
        members.insert("exp".to_owned(), json!(asked.expires.0));
    }
    Ok(claims)
}

/// The parameters of a request.
///
/// # Errors
/// `Setup` if they can't be written.
pub fn parameters(asked: &Asked) -> Result<Parameters, Error> {
    Ok(Parameters {
        client_id: Some(asked.client_id.clone()),
        response_type: Some("vp_token".to_owned()),
        // A request that was answered has lost its key, but not the key's public half.
        response_mode: Some(match asked.metadata.jwks.is_some() {
            true => DIRECT_POST_JWT.to_owned(),
            false => DIRECT_POST.to_owned(),
        }),
        response_uri: Some(asked.response_uri.to_string()),
        nonce: Some(asked.nonce.clone()),
        state: Some(asked.state.clone()),
        dcql_query: Some(serde_json::to_value(&asked.query).map_err(unserialisable)?),
        client_metadata: Some(serde_json::to_value(&asked.metadata).map_err(unserialisable)?),
        purpose: asked.purpose.clone().map(Value::String),
        transaction_data: match asked.transaction_data.as_slice() {
            [] => None,
            all => Some(all.iter().map(|one| Value::from(&*one.raw)).collect()),
        },
        ..Parameters::default()
    })
}

fn unserialisable(error: serde_json::Error) -> Error {
    Error::Setup(format!("the request can't be written: {error}"))
}
