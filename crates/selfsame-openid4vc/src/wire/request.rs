//! Authorization requests for presentations (OpenID4VP 1.0 §5).

use selfsame_credential::format::Profile;
use selfsame_credential::mdoc::transcript::{DcApiHandover, RedirectHandover, SessionTranscript};
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_did::Did;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::client_metadata::{ClientMetadata, PURPOSE_MAX, said};
use super::response::encryption_to;
use super::transaction::{self, AskedTransaction};
use crate::{
    dcql::DcqlQuery,
    error::{Error, PresentationCode},
};

pub use selfsame_openid4vc_messages::request_parameters::{
    BrowserPage, DC_API, DC_API_JWT, DIRECT_POST, DIRECT_POST_JWT, MEDIA_TYPE, ORIGIN, Parameters,
    RefusedRequest, RequestUriMethod, SCHEME, STATIC_AUDIENCE, TYP,
};
use selfsame_openid4vc_messages::request_parameters::{MAX_VALUE, is_dns_name, is_short};

/// The scheme that HAIP 1.0 §5.1 names for the same.
pub const HAIP_SCHEME: &str = "haip-vp";

/// A client identifier with its prefix (OpenID4VP 1.0 §5.9).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ClientId {
    /// An unauthenticated verifier; the identifier is the URL that receives the answer.
    RedirectUri(Url),
    /// A verifier that controls a DID.
    DecentralizedIdentifier(Did),
    /// A verifier with a certificate for a DNS name.
    X509SanDns(String),
    /// A verifier with the certificate of this SHA-256 hash.
    X509Hash([u8; 32]),
    /// A verifier whose key somebody attests; the identifier is the `sub` of the attestation.
    VerifierAttestation(String),
}

impl ClientId {
    /// The prefixes of the identifiers that this crate knows.
    pub const PREFIXES: [&str; 5] = [
        "redirect_uri",
        "decentralized_identifier",
        "x509_san_dns",
        "x509_hash",
        "verifier_attestation",
    ];

    /// Parses a client identifier; an unknown or missing prefix is refused (OpenID4VP 1.0 §5.9.2, §8.5).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = Error::invalid_request;
        let Some((prefix, original)) = text.split_once(':') else {
            return Err(refuse("the client is not registered with this wallet"));
        };
        match prefix {
            "redirect_uri" => Url::parse(original)
                .map(Self::RedirectUri)
                .map_err(|_| refuse("the client identifier is not a redirect URI")),
            "decentralized_identifier" => Did::parse(original)
                .map(Self::DecentralizedIdentifier)
                .map_err(|_| refuse("the client identifier is not a DID")),
            "x509_san_dns" if is_dns_name(original) => Ok(Self::X509SanDns(original.to_owned())),
            "x509_san_dns" => Err(refuse("the client identifier is not a DNS name")),
            "x509_hash" => base64url_decode(original)
                .ok()
                .and_then(|hash| hash.try_into().ok())
                .map(Self::X509Hash)
                .ok_or_else(|| refuse("the client identifier is not a SHA-256 hash in base64url")),
            "verifier_attestation" if is_short(original) => {
                Ok(Self::VerifierAttestation(original.to_owned()))
            }
            "openid_federation" => Err(refuse(
                "verifiers that identify themselves by OpenID Federation (openid_federation) are not supported",
            )),
            // §5.9.3: only a platform may put this prefix in front.
            "origin" => Err(refuse("the client identifier prefix origin is reserved")),
            _ => Err(refuse("the client identifier prefix is not supported")),
        }
    }

    /// The client identifier prefix.
    pub const fn prefix(&self) -> &'static str {
        match self {
            Self::RedirectUri(_) => "redirect_uri",
            Self::DecentralizedIdentifier(_) => "decentralized_identifier",
            Self::X509SanDns(_) => "x509_san_dns",
            Self::X509Hash(_) => "x509_hash",
            Self::VerifierAttestation(_) => "verifier_attestation",
        }
    }

    /// Whether requests must be signed; if not, they cannot be signed.
    pub const fn is_signed(&self) -> bool {
        !matches!(self, Self::RedirectUri(_))
    }
}

impl std::fmt::Display for ClientId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hash;
        let original = match self {
            Self::RedirectUri(url) => url.as_str(),
            Self::DecentralizedIdentifier(did) => did.as_str(),
            Self::X509SanDns(name) | Self::VerifierAttestation(name) => name,
            Self::X509Hash(bytes) => {
                hash = base64url_encode(bytes);
                &hash
            }
        };
        write!(f, "{}:{original}", self.prefix())
    }
}

/// A request that passed all checks except authentication of the verifier.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Request {
    /// The full client identifier with its prefix.
    pub client_id: String,
    /// The URL to post the answer to; that of the origin, if the request came by a browser.
    pub response_uri: Url,
    /// The page that asks, if the request came by a browser, which takes the answer back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<BrowserPage>,
    /// The response URI as the verifier wrote it, if that differs: an mdoc is bound to the text (§B.2.6.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_uri_text: Option<String>,
    /// The nonce that binds presentations to the request.
    pub nonce: String,
    /// The value that the answer must repeat.
    pub state: Option<String>,
    /// The DCQL query.
    pub query: DcqlQuery,
    /// The formats and algorithms that the verifier can check.
    pub metadata: Box<ClientMetadata>,
    /// Whether the answer is encrypted (`direct_post.jwt`, `dc_api.jwt`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encrypted: bool,
    /// What the person is to agree to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transaction_data: Vec<AskedTransaction>,
    /// Why the verifier asks, by its own words: one line of bounded length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
}

impl Request {
    /// Checks the parameters (OpenID4VP 1.0 §5, §8.2, §8.5).
    pub fn check(parameters: Parameters, client: &ClientId) -> Result<Self, Box<RefusedRequest>> {
        let response_uri = response_uri(&parameters, client);
        let state = parameters.state.clone();
        let destination = response_uri.as_ref().ok().cloned();
        response_uri
            .and_then(|response_uri| Self::read(parameters, &client.to_string(), response_uri))
            .map_err(|error| {
                Box::new(RefusedRequest {
                    error,
                    response_uri: destination,
                    state,
                })
            })
    }

    /// Checks the parameters of a request of this page, which a browser brings (Appendix A.2). They are those that are
    /// defined for it, and `client_id` is the effective one. Its address is `origin`.
    ///
    /// # Errors
    /// Those of §8.5.
    pub fn of_page(parameters: Parameters, page: BrowserPage, origin: Url) -> Result<Self, Error> {
        if !by_browser(&parameters) {
            return Err(Error::invalid_request(
                "the response mode of a request by a browser is neither dc_api nor dc_api.jwt",
            ));
        }
        let client_id = parameters.client_id.clone().unwrap_or_default();
        let mut request = Self::read(parameters, &client_id, origin)?;
        request.page = Some(page);
        Ok(request)
    }

    /// The audience of presentations (Appendix A.4, B.3.6).
    pub fn audience(&self) -> String {
        match &self.page {
            Some(page) => format!("{ORIGIN}{}", page.origin),
            None => self.client_id.clone(),
        }
    }

    /// What an mdoc is bound to (Appendix B.2.6); `thumbprint` is that of the key to which the answer is encrypted.
    pub fn session(&self, thumbprint: Option<[u8; 32]>) -> SessionTranscript {
        let nonce = &self.nonce;
        match &self.page {
            Some(page) => SessionTranscript::of_dc_api(&DcApiHandover {
                origin: &page.origin,
                nonce,
                thumbprint,
            }),
            None => SessionTranscript::of_redirect(&RedirectHandover {
                client_id: &self.client_id,
                nonce,
                thumbprint,
                response_uri: self
                    .response_uri_text
                    .as_deref()
                    .unwrap_or(self.response_uri.as_str()),
            }),
        }
    }

    fn read(parameters: Parameters, client_id: &str, response_uri: Url) -> Result<Self, Error> {
        let refuse = Error::invalid_request;
        // §8.2: `redirect_uri` is forbidden with `direct_post`; the verifier is informed by `direct_post`.
        if parameters.redirect_uri.is_some() {
            return Err(refuse("redirect_uri must not be present with direct_post"));
        }
        check_response_type(&parameters)?;
        let by_browser = by_browser(&parameters);
        let query = query(&parameters)?;
        let transaction_data = match &parameters.transaction_data {
            Some(value) => transactions(value, &query)?,
            None => Vec::new(),
        };
        let nonce = parameters.nonce.ok_or_else(|| refuse("nonce is missing"))?;
        if nonce.len() > MAX_VALUE || !super::is_url_safe(&nonce) {
            return Err(refuse(
                "nonce has characters that are not ASCII URL-safe, or is too long",
            ));
        }
        let unsafe_state = |state: &String| state.len() > MAX_VALUE || !super::is_url_safe(state);
        if parameters.state.as_ref().is_some_and(unsafe_state) {
            return Err(refuse(
                "state has characters that are not ASCII URL-safe, or is too long",
            ));
        }
        // §5.3: without holder binding, only `state` binds an answer to the request that no browser brings back.
        let unbound = query
            .credentials()
            .iter()
            .any(|credential| !credential.require_cryptographic_holder_binding);
        if unbound && parameters.state.is_none() && !by_browser {
            return Err(refuse(
                "state is required if no holder binding is requested",
            ));
        }
        let mode = parameters.response_mode.as_deref();
        let encrypted = matches!(mode, Some(DIRECT_POST_JWT | DC_API_JWT));
        let metadata = match parameters.client_metadata {
            Some(value) => selfsame_crypto::json::value_as(value)
                .map_err(|_| refuse("client_metadata is malformed"))?,
            None => ClientMetadata::default(),
        };
        if encrypted {
            encryption_to(&metadata)?;
        }
        Ok(Self {
            client_id: parameters.client_id.unwrap_or_else(|| client_id.to_owned()),
            response_uri_text: respelled(parameters.response_uri, &response_uri),
            response_uri,
            page: None,
            nonce,
            state: parameters.state,
            query,
            metadata: Box::new(metadata),
            encrypted,
            transaction_data,
            purpose: parameters
                .purpose
                .and_then(|value| said(&value, PURPOSE_MAX)),
        })
    }
}

/// Whether the answer is to go back by a browser.
fn by_browser(parameters: &Parameters) -> bool {
    let mode = parameters.response_mode.as_deref();
    matches!(mode, Some(DC_API | DC_API_JWT))
}

fn check_response_type(parameters: &Parameters) -> Result<(), Error> {
    let reason = match parameters.response_type.as_deref() {
        Some("vp_token") => return Ok(()),
        None => return Err(Error::invalid_request("response_type is missing")),
        Some(other) if other.split(' ').any(|one| one == "id_token") => {
            "an ID token of the wallet itself (SIOPv2) is not supported"
        }
        Some(_) => "the response type is not vp_token",
    };
    let code = PresentationCode::UnsupportedResponseType;
    Err(Error::presentation(code, reason))
}

/// The address as the request spells it, if that is not how it is written once it is read.
fn respelled(text: Option<String>, read: &Url) -> Option<String> {
    text.filter(|text| text != read.as_str())
}

// §8.4: each transaction names credential queries of the request, which ask for a proof of the holder; B.3.3 says how an
// SD-JWT VC binds it.
fn transactions(value: &Value, query: &DcqlQuery) -> Result<Vec<AskedTransaction>, Error> {
    let refuse = |reason| Error::presentation(PresentationCode::InvalidTransactionData, reason);
    let all = transaction::read(value)?;
    for id in all.iter().flat_map(|one| &one.said.credential_ids) {
        let named = query.credential(id);
        let named = named.ok_or_else(|| refuse("a transaction names a query that is not there"))?;
        if !named.require_cryptographic_holder_binding {
            return Err(refuse(
                "a transaction names a credential query without holder binding",
            ));
        }
        let profile = named.known_format().map(|format| format.describe().profile);
        if profile != Some(Profile::SdJwtVc) {
            return Err(refuse(
                "a transaction can be bound to SD-JWT VCs only, not to an mdoc or a W3C credential",
            ));
        }
    }
    Ok(all)
}

fn query(parameters: &Parameters) -> Result<DcqlQuery, Error> {
    match (&parameters.dcql_query, &parameters.scope) {
        (Some(_), Some(_)) => Err(Error::invalid_request(
            "dcql_query and scope are both present",
        )),
        (None, Some(_)) => Err(Error::presentation(
            PresentationCode::InvalidScope,
            "this wallet supports no scopes",
        )),
        (None, None) => Err(Error::invalid_request("dcql_query is missing")),
        (Some(value), None) => {
            let query = DcqlQuery::parse(value)
                .map_err(|error| Error::invalid_request(error.to_string()))?;
            let known = query
                .credentials()
                .iter()
                .any(|query| query.known_format().is_some());
            if !known {
                return Err(Error::presentation(
                    PresentationCode::VpFormatsNotSupported,
                    "none of the requested formats is supported",
                ));
            }
            Ok(query)
        }
    }
}

// §8.2: `response_uri` is required with `direct_post`. §5.9.3: with the prefix `redirect_uri` the identifier is the
// response URI, and the parameter may be omitted.
fn response_uri(parameters: &Parameters, client: &ClientId) -> Result<Url, Error> {
    let refuse = Error::invalid_request;
    match parameters.response_mode.as_deref() {
        Some(DIRECT_POST | DIRECT_POST_JWT) => {}
        Some("fragment") | None => {
            return Err(refuse(
                "an answer in the fragment of a redirect (response_mode fragment, the default) is not supported",
            ));
        }
        Some(_) => return Err(refuse("the response mode is not supported")),
    }
    let named = match parameters.response_uri.as_deref() {
        Some(text) => Some(Url::parse(text).map_err(|_| refuse("response_uri is not a URL"))?),
        None => None,
    };
    let response_uri = match (named, client) {
        (Some(named), ClientId::RedirectUri(own)) if named == *own => named,
        (Some(_), ClientId::RedirectUri(_)) => {
            return Err(refuse("response_uri differs from the client identifier"));
        }
        (None, ClientId::RedirectUri(own)) => own.clone(),
        (Some(named), ClientId::X509SanDns(name)) => {
            if named
                .host_str()
                .is_none_or(|host| !host.eq_ignore_ascii_case(name))
            {
                return Err(refuse(
                    "the host of response_uri differs from the client identifier",
                ));
            }
            named
        }
        // §12: an attestation can name the addresses; they are compared once it is verified.
        (
            Some(named),
            ClientId::DecentralizedIdentifier(_)
            | ClientId::X509Hash(_)
            | ClientId::VerifierAttestation(_),
        ) => named,
        (None, _) => return Err(refuse("response_uri is missing")),
    };
    if response_uri.fragment().is_some() {
        return Err(refuse("response_uri has a fragment"));
    }
    Ok(response_uri)
}
