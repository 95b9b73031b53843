//! Redeems the offer's code for an access token (OpenID4VCI 1.0 §6).

use selfsame_credential::{
    Format,
    evidence::{Evidence, Step},
    format::Profile,
};
use selfsame_crypto::{KeyType, SecretString, ctx::Ctx, json};
use selfsame_oauth::{
    ErrorBody, ServerMetadata, TokenRequest, TokenResponse, details::OPENID_CREDENTIAL,
};

use super::{
    Ask, Binding, CredentialPlan, HttpAnswer, ReceivingState, Redeeming, RequestsProgress,
    WalletCall, WalletNext, ask, failed, nonce, proof,
};
use crate::{
    error::{Error, Lacking},
    wire::{
        credential::WantedCredential,
        limits,
        metadata::{Configuration, IssuerMetadata},
        offer::{CredentialOffer, InputMode, TxCode},
    },
};

const ASK_AGAIN: &str = "Ask the issuer for a new offer.";

/// The offer that the person agreed to, and the choices they made.
#[derive(Clone, Copy, Debug)]
pub struct Accept<'a> {
    /// The offer.
    pub offer: &'a CredentialOffer,
    /// The issuer's metadata, from [`super::metadata::read_issuer`].
    pub issuer: &'a IssuerMetadata,
    /// The server's metadata, from [`super::metadata::read_server`].
    pub server: &'a ServerMetadata,
    /// The transaction code that the person entered.
    pub tx_code: Option<&'a SecretString>,
    /// The keys to bind to, preferred first; no more of them are used than the issuer accepts.
    pub bindings: &'a [Binding],
    /// Whether the code is redeemed with a proof of possession of a key (RFC 9449 §5).
    pub with_proof: bool,
    /// The form that redeems the code of a sign-in; `None` for the code of the offer.
    pub redemption: Option<&'a SecretString>,
}

/// The types of fresh keys that the offered credentials can be bound to.
pub fn kinds_of_keys(offer: &CredentialOffer, issuer: &IssuerMetadata) -> Vec<KeyType> {
    let mut kinds = Vec::new();
    let offered = offer.credential_configuration_ids.iter();
    for configuration in offered.filter_map(|id| issuer.configuration(id)) {
        let kind = proof::kind_of_key(configuration);
        kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
    }
    if kinds.is_empty() {
        kinds.push(KeyType::P256);
    }
    kinds
}

/// Starts receiving the credentials of an offer.
pub fn begin(accept: &Accept<'_>) -> Result<WalletNext, Error> {
    let bad = |reason: &str| Error::counterpart(reason, ASK_AGAIN);
    let form = match accept.redemption {
        Some(form) => form.clone(),
        None => pre_authorized(accept)?,
    };
    let url = accept.server.token_endpoint.clone();
    let url = url.ok_or_else(|| bad("the authorization server has no token endpoint"))?;
    let offered = accept.offer.credential_configuration_ids.iter();
    let asks = offered.map(|id| wanted(accept, id));
    let plan = CredentialPlan {
        issuer: accept.issuer.credential_issuer.clone(),
        credential_endpoint: accept.issuer.credential_endpoint.clone(),
        nonce_endpoint: accept.issuer.nonce_endpoint.clone(),
        deferred_endpoint: accept.issuer.deferred_credential_endpoint.clone(),
        notification_endpoint: accept.issuer.notification_endpoint.clone(),
        encryption: accept.issuer.encryption().map_err(bad)?.map(Box::new),
        asks: asks.collect::<Result<_, _>>()?,
    };
    let redeeming = Redeeming {
        plan,
        with_tx_code: accept.tx_code.is_some(),
        with_proof: accept.with_proof,
        nonce: None,
    };
    let state = ReceivingState::Redeeming(redeeming);
    let call = WalletCall::RedeemToken { url, form };
    Ok(WalletNext::calling(state, call))
}

/// The form that redeems the code of the offer.
fn pre_authorized(accept: &Accept<'_>) -> Result<SecretString, Error> {
    let grant = accept.offer.pre_authorized_code();
    let grant = grant.ok_or(Error::Unsupported {
        lacking: Lacking::Grant,
        reason: "the offer has no pre-authorized code, and no person has signed in for it",
        advice: ASK_AGAIN,
    })?;
    check_tx_code(grant.tx_code.as_ref(), accept.tx_code)?;
    let server = accept.server;
    if !server.grant_types_supported.is_empty() && !server.supports_pre_authorized_code() {
        let reason = "the authorization server does not support pre-authorized codes";
        return Err(Error::counterpart(reason, ASK_AGAIN));
    }
    let request = TokenRequest {
        pre_authorized_code: grant.code.clone(),
        tx_code: accept.tx_code.cloned(),
        client_id: None,
        authorization_details: None,
    };
    Ok(request.to_form())
}

// §4.1.1, §6.1: a transaction code is sent if and only if the offer requires one.
fn check_tx_code(asked: Option<&TxCode>, given: Option<&SecretString>) -> Result<(), Error> {
    match (asked, given) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(Error::Choice("the offer requires no transaction code")),
        (Some(_), None) => Err(Error::Choice("the offer requires a transaction code")),
        (Some(asked), Some(given)) => {
            let given = given.expose();
            let length = u32::try_from(given.chars().count()).unwrap_or(u32::MAX);
            if given.is_empty() || asked.length.is_some_and(|wanted| wanted != length) {
                return Err(Error::Choice("the transaction code has the wrong length"));
            }
            let digits = given.bytes().all(|b| b.is_ascii_digit());
            if asked.input_mode == InputMode::Numeric && !digits {
                return Err(Error::Choice(
                    "the transaction code must contain only digits",
                ));
            }
            Ok(())
        }
    }
}

fn wanted(accept: &Accept<'_>, id: &str) -> Result<Ask, Error> {
    let bad = |reason: &str| Error::counterpart(reason, ASK_AGAIN);
    let configuration = accept.issuer.configuration(id);
    let unknown = || bad("the offer names a credential that the issuer does not describe");
    let configuration = configuration.ok_or_else(unknown)?;
    let format = configuration.known_format().ok_or(Error::Unsupported {
        lacking: Lacking::Format,
        reason: "the credential has a format that this wallet does not support",
        advice: "Ask the issuer for another format: dc+sd-jwt, jwt_vc_json or vc+jwt.",
    })?;
    let bindings = match &configuration.proof_types_supported {
        None => Vec::new(),
        Some(_) => proof::bindings(configuration, format, accept.bindings)?
            .into_iter()
            .take(accept.issuer.batch_size())
            .collect(),
    };
    Ok(Ask {
        configuration_id: id.to_owned(),
        format,
        types: types(configuration, format),
        issuer: configuration
            .issuer
            .clone()
            .filter(|_| format.describe().is_for_machines),
        bindings,
        key_attestation: None,
    })
}

fn types(configuration: &Configuration, format: Format) -> Vec<String> {
    match format.describe().profile {
        Profile::SdJwtVc => configuration.vct.iter().cloned().collect(),
        Profile::Mdoc => configuration.doctype.iter().cloned().collect(),
        Profile::W3c | Profile::DataIntegrity | Profile::Compact => configuration
            .credential_definition
            .as_ref()
            .map(|definition| definition.types.clone())
            .unwrap_or_default(),
    }
}

pub(super) fn redeemed(
    redeeming: &Redeeming,
    answer: HttpAnswer<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    if answer.status != 200 {
        return Ok(Step::Done(refused(redeeming, answer)));
    }
    let response = TokenResponse::parse(answer.body)
        .map_err(|error| Error::counterpart(error.to_string(), ASK_AGAIN))?;
    if response.is_bound() && !redeeming.with_proof {
        let reason = "the access token is bound to a key that was not proven";
        return Err(Error::counterpart(reason, ASK_AGAIN));
    }
    let wanted = redeeming.plan.asks.iter().map(|ask| name(ask, &response));
    let progress = RequestsProgress {
        plan: redeeming.plan.clone(),
        wanted: wanted.collect::<Result<_, _>>()?,
        is_bound: response.is_bound(),
        token: response.access_token,
        nonces: 0,
        response_key: None,
        credentials: Vec::new(),
        named: Vec::new(),
    };
    match &redeeming.nonce {
        Some(nonce) => nonce::proven(progress, nonce, evidence, ctx),
        None => ask(progress, evidence, ctx),
    }
}

// §6.2, §8.2: if the token response names credential identifiers, they must be used.
fn name(ask: &Ask, response: &TokenResponse) -> Result<WantedCredential, Error> {
    let Some(details) = &response.authorization_details else {
        return Ok(WantedCredential::CredentialConfigurationId(
            ask.configuration_id.clone(),
        ));
    };
    let identifier = details
        .iter()
        .filter(|detail| detail.kind == OPENID_CREDENTIAL)
        .find(|detail| detail.credential_configuration_id == ask.configuration_id)
        .and_then(|detail| detail.credential_identifiers.as_ref()?.first());
    identifier
        .cloned()
        .map(WantedCredential::CredentialIdentifier)
        .ok_or_else(|| {
            let reason = "the access token does not cover all offered credentials";
            Error::counterpart(reason, ASK_AGAIN)
        })
}

/// Maximum number of bytes of an issuer's explanation that is shown.
const SAID_MAX: usize = 200;

fn refused(redeeming: &Redeeming, answer: HttpAnswer<'_>) -> WalletNext {
    let body: Option<ErrorBody> = json::parse_as(answer.body, &limits()).ok();
    let said = body.as_ref().and_then(said);
    let code = body.map(|body| body.error);
    let (reason, advice) = match code.as_deref() {
        Some("invalid_grant") if redeeming.with_tx_code => (
            said.as_deref().unwrap_or(
                "The transaction code is wrong, or the offer has been used or has expired.",
            ),
            "Check the transaction code and try again; if it is right, ask the issuer for a new offer.",
        ),
        Some("invalid_grant") => ("The offer has been used or has expired.", ASK_AGAIN),
        Some("invalid_client" | "invalid_client_attestation") => (
            "The issuer accepts only registered wallets.",
            "Ask the issuer which wallets it accepts.",
        ),
        Some(_) => ("The issuer refused to redeem the offer.", ASK_AGAIN),
        None => (
            "The issuer's token endpoint failed.",
            "Try again later; if the offer works only once, ask the issuer for a new one.",
        ),
    };
    let state = ReceivingState::Redeeming(redeeming.clone());
    failed(&state, code, reason.to_owned(), advice)
}

/// The issuer's own explanation. RFC 6749 §5.2 allows only printable ASCII in it; anything else, or a long one, is not
/// shown.
fn said(body: &ErrorBody) -> Option<String> {
    let said = body.error_description.as_deref()?;
    let is_shown = !said.is_empty()
        && said.len() <= SAID_MAX
        && said
            .bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_graphic());
    is_shown.then(|| format!("The issuer says: {said}"))
}
