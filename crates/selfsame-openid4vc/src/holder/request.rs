//! Opens a request: reads the link, says how to fetch the request object, and authenticates it (OpenID4VP 1.0 §5).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::{
    Algorithm, ctx::Ctx, encoding::base64url_encode, json, jws::Compact, time::UnixTime,
};
use selfsame_oauth::Form;
use serde_json::{Map, Value, json};
use url::Url;

pub use super::client::WalletTrust;
use super::{Audience, AwaitingConsent, Verifier, client};
use crate::{
    error::Error,
    formats::formats,
    transport::Transport,
    wire::{
        encryption::{ALG, enc_values},
        request::{
            ClientId, DIRECT_POST, DIRECT_POST_JWT, HAIP_SCHEME, MEDIA_TYPE, Parameters,
            RefusedRequest, Request, RequestUriMethod, SCHEME, STATIC_AUDIENCE, TYP,
        },
    },
};
pub use selfsame_openid4vc_messages::request_object::{Fetch, read};

/// Maximum length of a link, in bytes.
const MAX_LINK: usize = 256 * 1024;
/// Maximum length of a request object, in bytes.
const MAX_OBJECT: usize = 256 * 1024;
/// The signature algorithms of request objects.
pub const SIGNING: [Algorithm; 4] = [
    Algorithm::Es256,
    Algorithm::EdDsa,
    Algorithm::Es256k,
    Algorithm::Es384,
];

/// The content of a link.
#[derive(Clone, Debug)]
pub enum Invocation {
    /// The whole request, from a verifier that does not authenticate itself.
    Plain(Box<AwaitingConsent>),
    /// A signed request object.
    Object {
        /// The client identifier.
        client_id: String,
        /// The request object.
        object: String,
    },
    /// The URL of a signed request object.
    Reference {
        /// The client identifier.
        client_id: String,
        /// The URL to fetch the request object from.
        request_uri: Url,
        /// The HTTP method to fetch it with.
        method: RequestUriMethod,
    },
}

/// A request object, and the values it must agree with.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedObject<'a> {
    /// The client identifier of the link.
    pub client_id: &'a str,
    /// The request object.
    pub object: &'a str,
    /// The URL it was fetched from; `None` if the link contained it.
    pub request_uri: Option<&'a Url>,
    /// The nonce that the wallet posted to fetch it.
    pub wallet_nonce: Option<&'a str>,
}

/// Reads the link that a person scanned or followed.
pub fn open(link: &str, trust: &WalletTrust<'_>) -> Result<Invocation, Box<RefusedRequest>> {
    let transport = trust.transport;
    let (client_id, mut form) = parameters(link, transport).map_err(unanswered)?;
    // RFC 9101 §5: a link has either `request` or `request_uri`; then only the request object's parameters count.
    match (form.take("request"), form.take("request_uri")) {
        (Some(_), Some(_)) => Err(unanswered(Error::invalid_request(
            "request and request_uri are both present",
        ))),
        (Some(object), None) => {
            signed(&client_id, &form).map_err(unanswered)?;
            Ok(Invocation::Object { client_id, object })
        }
        (None, Some(text)) => reference(client_id, &text, &form, transport).map_err(unanswered),
        (None, None) => plain(&client_id, form, trust),
    }
}

fn parameters(link: &str, transport: &Transport) -> Result<(String, Form), Error> {
    let refuse = |reason: &str| Error::invalid_request(reason);
    let url = Some(link.trim())
        .filter(|link| link.len() <= MAX_LINK)
        .and_then(|link| Url::parse(link).ok())
        .ok_or_else(|| refuse("this is not a link"))?;
    if ![SCHEME, HAIP_SCHEME].contains(&url.scheme()) && !transport.allows(&url) {
        return Err(refuse("this is not a link to a presentation request"));
    }
    let form = Form::of_query(url.query().unwrap_or_default())
        .map_err(|error| refuse(&format!("the link is malformed: {error}")))?;
    let client_id = form
        .get("client_id")
        .ok_or_else(|| refuse("client_id is missing"))?;
    Ok((client_id.to_owned(), form))
}

// §5.9.3: requests with the prefix `redirect_uri` cannot be signed, so their parameters are in the link.
fn signed(client_id: &str, form: &Form) -> Result<(), Error> {
    if form.has("request_uri_method") {
        return Err(Error::invalid_request(
            "request_uri_method is present without request_uri",
        ));
    }
    require_signable(client_id)
}

fn require_signable(client_id: &str) -> Result<(), Error> {
    if ClientId::parse(client_id)?.is_signed() {
        return Ok(());
    }
    Err(Error::invalid_request(
        "unsigned request objects are not supported: a request of this client identifier prefix has its parameters in the link",
    ))
}

fn reference(
    client_id: String,
    text: &str,
    form: &Form,
    transport: &Transport,
) -> Result<Invocation, Error> {
    let method = RequestUriMethod::parse(form.get("request_uri_method"))?;
    require_signable(&client_id)?;
    let request_uri = transport.parse(text).ok_or_else(|| {
        Error::invalid_request(
            "request_uri is neither an https address nor at an origin trusted without TLS",
        )
    })?;
    Ok(Invocation::Reference {
        client_id,
        request_uri,
        method,
    })
}

fn plain(
    client_id: &str,
    mut form: Form,
    trust: &WalletTrust<'_>,
) -> Result<Invocation, Box<RefusedRequest>> {
    if form.has("request_uri_method") {
        let reason = "request_uri_method is present without request_uri";
        return Err(unanswered(Error::invalid_request(reason)));
    }
    let client = ClientId::parse(client_id).map_err(unanswered)?;
    if client.is_signed() {
        let reason = "a request of this client identifier prefix must be signed";
        return Err(unanswered(Error::invalid_request(reason)));
    }
    let parameters = Parameters::of_form(&mut form).map_err(unanswered)?;
    let request = check(parameters, &client, trust)?;
    Ok(Invocation::Plain(Box::new(asked(request, &client, None))))
}

impl Invocation {
    /// How to fetch the request object; `None` if the link contains the request.
    pub fn fetch(&self, ctx: &Ctx) -> Option<Fetch> {
        let Self::Reference {
            request_uri,
            method,
            ..
        } = self
        else {
            return None;
        };
        let wallet_nonce =
            (*method == RequestUriMethod::Post).then(|| ctx.token("holder/wallet_nonce"));
        let form = wallet_nonce.as_ref().map(|nonce| {
            vec![
                ("wallet_nonce".to_owned(), nonce.clone()),
                ("wallet_metadata".to_owned(), wallet_metadata().to_string()),
            ]
        });
        Some(Fetch {
            url: request_uri.clone(),
            form,
            accept: MEDIA_TYPE,
            wallet_nonce,
        })
    }
}

/// What this wallet supports (§5.10, §10.1). It has no `jwks`, which would ask for an encrypted request, and no `issuer`,
/// so that the audience of the request object stays the constant of static discovery.
pub fn wallet_metadata() -> Value {
    let algorithms: Vec<&str> = SIGNING.into_iter().flat_map(Algorithm::names).collect();
    json!({
        "vp_formats_supported": formats().vp_formats_supported,
        "client_id_prefixes_supported": ClientId::PREFIXES,
        "request_object_signing_alg_values_supported": algorithms,
        "response_types_supported": ["vp_token"],
        "response_modes_supported": [DIRECT_POST, DIRECT_POST_JWT],
        "authorization_encryption_alg_values_supported": [ALG],
        "authorization_encryption_enc_values_supported": enc_values(),
    })
}

/// Authenticates a request object and checks its parameters. Of the link, only the client identifier counts.
pub fn authenticate(
    received: &ReceivedObject<'_>,
    trust: &WalletTrust<'_>,
    evidence: &Evidence,
    now: UnixTime,
) -> Result<Step<AwaitingConsent>, Box<RefusedRequest>> {
    let client = ClientId::parse(received.client_id).map_err(unanswered)?;
    let object = Compact::parse_within(received.object, MAX_OBJECT).map_err(|error| {
        unanswered(Error::invalid_request(format!(
            "the request object can't be read: {error}"
        )))
    })?;
    if !object.header.is_of_type(TYP) {
        let reason = "the request object's typ is not oauth-authz-req+jwt";
        return Err(unanswered(Error::invalid_request(reason)));
    }
    match client::authenticate(&client, &object, trust, evidence, now).map_err(unanswered)? {
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
        Step::Done(()) => {}
    }
    let (parameters, audience) = claims(&object, received, now).map_err(unanswered)?;
    let request = check(parameters, &client, trust)?;
    Ok(Step::Done(asked_by(&client, &object, request, audience)))
}

/// The parameters of a request object, and its audience if that is not the specification's value.
type Claims = (Parameters, Option<Audience>);

fn claims(object: &Compact, received: &ReceivedObject<'_>, now: UnixTime) -> Result<Claims, Error> {
    let refuse = Error::invalid_request;
    let Ok(Value::Object(claims)) = object.claims() else {
        return Err(refuse("the request object's payload is not a JSON object"));
    };
    // RFC 9101 §4: a request object must not contain another one.
    if claims.contains_key("request") || claims.contains_key("request_uri") {
        return Err(refuse("the request object refers to another one"));
    }
    if claims.get("client_id").and_then(Value::as_str) != Some(received.client_id) {
        return Err(refuse(
            "client_id of the link and of the request object differ",
        ));
    }
    let audience = audience(&claims, received)?;
    check_time(&claims, now)?;
    let parameters: Parameters = json::value_as(Value::Object(claims))
        .map_err(|_| refuse("a parameter of the request object is of the wrong type"))?;
    if received.wallet_nonce.is_some()
        && parameters.wallet_nonce.as_deref() != received.wallet_nonce
    {
        return Err(refuse(
            "the request object does not repeat the wallet's nonce",
        ));
    }
    Ok((parameters, audience))
}

// §5.8: with static discovery `aud` is a constant, so it does not say which wallet is meant; the nonce and the response
// URI bind the answer. A request whose `aud` is one of the verifier's own identifiers is accepted, and so is one
// without `aud`, as RFC 9101 §4 allows; the person sees a note. Any other audience is refused.
fn audience(
    claims: &Map<String, Value>,
    received: &ReceivedObject<'_>,
) -> Result<Option<Audience>, Error> {
    if !claims.contains_key("aud") {
        return Ok(Some(Audience::Unsaid {}));
    }
    let named: Vec<&str> = match claims.get("aud") {
        Some(Value::String(audience)) => vec![audience],
        Some(Value::Array(audiences)) => audiences.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if named.contains(&STATIC_AUDIENCE) {
        return Ok(None);
    }
    let own = [
        Some(received.client_id),
        received.request_uri.map(Url::as_str),
        claims.get("response_uri").and_then(Value::as_str),
    ];
    let of_verifier = named.into_iter().find(|name| own.contains(&Some(name)));
    of_verifier
        .map(|name| Some(Audience::Verifier(name.to_owned())))
        .ok_or_else(|| Error::invalid_request("the request object is for another audience"))
}

/// Whether a request object with these claims is valid now, by its own words.
///
/// # Errors
/// `invalid_request`.
pub fn check_time(claims: &Map<String, Value>, now: UnixTime) -> Result<(), Error> {
    let validity = selfsame_credential::validity::Validity::of_jwt(claims)
        .map_err(|_| Error::invalid_request("a time of the request object is malformed"))?;
    if !validity.lasts(now, client::LEEWAY) {
        return Err(Error::invalid_request("the request has expired"));
    }
    if !validity.has_begun(now, client::LEEWAY) {
        return Err(Error::invalid_request("the request is not valid yet"));
    }
    Ok(())
}

fn check(
    parameters: Parameters,
    client: &ClientId,
    trust: &WalletTrust<'_>,
) -> Result<Request, Box<RefusedRequest>> {
    let allowed = |url: &Url| trust.transport.allows(url);
    let mut outcome = Request::check(parameters, client);
    // §8.4: what cannot be shown is not agreed to.
    let unknown = outcome.as_ref().ok().and_then(|request| {
        let mut transactions = request.transaction_data.iter();
        let error = transactions.find_map(|one| one.lines(trust.transactions).err())?;
        Some(Box::new(RefusedRequest {
            error,
            response_uri: Some(request.response_uri.clone()),
            state: request.state.clone(),
        }))
    });
    if let Some(refused) = unknown {
        outcome = Err(refused);
    }
    if let Err(refused) = &mut outcome
        && !refused.response_uri.as_ref().is_some_and(allowed)
    {
        refused.response_uri = None;
    }
    let request = outcome?;
    if !allowed(&request.response_uri) {
        return Err(unanswered(Error::invalid_request(
            "response_uri is not an https address",
        )));
    }
    Ok(request)
}

/// The request of a verifier that is authenticated by its request object.
pub fn asked_by(
    client: &ClientId,
    object: &Compact,
    request: Request,
    audience: Option<Audience>,
) -> AwaitingConsent {
    let mut asked = asked(request, client, audience);
    // A hash tells people nothing.
    if let (ClientId::X509Hash(_), Some(name)) = (client, client::certified_name(object)) {
        asked.verifier.name = name;
    }
    asked
}

fn asked(request: Request, client: &ClientId, audience: Option<Audience>) -> AwaitingConsent {
    let name = match client {
        ClientId::RedirectUri(_) => request
            .response_uri
            .host_str()
            .unwrap_or_default()
            .to_owned(),
        ClientId::DecentralizedIdentifier(did) => did.as_str().to_owned(),
        ClientId::X509SanDns(name) | ClientId::VerifierAttestation(name) => name.clone(),
        ClientId::X509Hash(hash) => base64url_encode(hash),
    };
    let verifier = Verifier {
        prefix: client.prefix().to_owned(),
        name,
        authenticated: client.is_signed(),
    };
    AwaitingConsent {
        request,
        verifier,
        audience,
    }
}

/// A refusal that is not sent to the verifier, since the verifier's identity was not established.
fn unanswered(error: Error) -> Box<RefusedRequest> {
    Box::new(RefusedRequest {
        error,
        response_uri: None,
        state: None,
    })
}
