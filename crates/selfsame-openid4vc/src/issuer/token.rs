//! Redeems a pre-authorized code for an access token (OpenID4VCI 1.0 §6).

use std::collections::BTreeMap;

use selfsame_crypto::{
    SecretString,
    ctx::Ctx,
    hash::{ct_eq, sha256},
};
use selfsame_oauth::{AuthorizationDetail, Code, Error as OAuthError, TokenRequest, TokenResponse};

use super::{
    Closed, Closure, ExpectedTxCode, Granted, IssuanceState, IssuerSettings, Offered, Redeemed,
    Redemption, offer,
};
use crate::error::Error;

/// The hash by which the record of an access token is found.
pub fn token_hash(token: &SecretString) -> [u8; 32] {
    sha256(token.expose().as_bytes())
}

pub(super) fn refuse_closed(closed: &Closed) -> Error {
    let reason = match closed.because {
        Closure::Redeemed => "the code has been redeemed",
        Closure::TooManyAttempts => "the transaction code was wrong too often; the code is void",
    };
    OAuthError::new(Code::InvalidGrant, reason).into()
}

pub(super) fn redeem(
    offered: &Offered,
    request: &TokenRequest,
    settings: &IssuerSettings,
    ctx: &Ctx,
) -> Result<Redemption, Error> {
    let refuse = |code, reason| Err(OAuthError::new(code, reason).into());
    let invalid = |reason| refuse(Code::InvalidRequest, reason);
    let code_hash = offer::code_hash(request.pre_authorized_code.expose());
    if !ct_eq(&code_hash, &offered.code_hash) {
        return refuse(Code::InvalidGrant, "the code is unknown");
    }
    if ctx.now() >= offered.expires {
        return refuse(Code::InvalidGrant, "the code has expired");
    }
    match (&offered.tx_code, &request.tx_code) {
        (None, None) => {}
        (None, Some(_)) => return invalid("the offer requires no transaction code"),
        (Some(_), None) => return invalid("the offer requires a transaction code"),
        (Some(expected), Some(given)) => {
            let mac = offer::tx_code_mac(settings, &offered.offer_id, given);
            if !ct_eq(&mac, &expected.mac) {
                return Ok(wrong_tx_code(offered, expected));
            }
        }
    }
    let credentials = credentials(offered, request.authorization_details.as_deref(), ctx)?;
    let token = SecretString::from(ctx.token("issuer/token"));
    let response = TokenResponse {
        access_token: token.clone(),
        token_type: "Bearer".to_owned(),
        expires_in: Some(settings.token_lifetime),
        authorization_details: details(&credentials),
    };
    let granted = Granted {
        offer_id: offered.offer_id.clone(),
        token_hash: token_hash(&token),
        expires: ctx.now().plus(settings.token_lifetime),
        client_id: request.client_id.clone(),
        credentials,
        issued: BTreeMap::new(),
        deferred: BTreeMap::new(),
    };
    Ok(Redemption {
        state: after_use(offered),
        outcome: Ok(Redeemed {
            granted: Box::new(granted),
            response: Box::new(response),
        }),
    })
}

/// An offer's state after one more use.
pub fn after_use(offered: &Offered) -> IssuanceState {
    match offered.uses_left.saturating_sub(1) {
        0 => IssuanceState::Closed(Closed {
            offer_id: offered.offer_id.clone(),
            because: Closure::Redeemed,
        }),
        uses_left => IssuanceState::Offered(Offered {
            uses_left,
            ..offered.clone()
        }),
    }
}

// OpenID4VCI 1.0 §13.6.3: failed attempts are limited; after the last one the code is void.
fn wrong_tx_code(offered: &Offered, expected: &ExpectedTxCode) -> Redemption {
    let attempts_left = expected.attempts_left.saturating_sub(1);
    let reason = match attempts_left {
        0 => "the transaction code is wrong, and no more tries are left",
        1 => "the transaction code is wrong; 1 more try is left",
        2 => "the transaction code is wrong; 2 more tries are left",
        3 => "the transaction code is wrong; 3 more tries are left",
        4 => "the transaction code is wrong; 4 more tries are left",
        _ => "the transaction code is wrong",
    };
    let state = match attempts_left {
        0 => IssuanceState::Closed(Closed {
            offer_id: offered.offer_id.clone(),
            because: Closure::TooManyAttempts,
        }),
        attempts_left => IssuanceState::Offered(Offered {
            tx_code: Some(ExpectedTxCode {
                mac: expected.mac,
                attempts_left,
            }),
            ..offered.clone()
        }),
    };
    let outcome = Err(OAuthError::new(Code::InvalidGrant, reason).into());
    Redemption { state, outcome }
}

// OpenID4VCI 1.0 §6.2: identifiers are returned if the client sent authorization details.
fn credentials(
    offered: &Offered,
    details: Option<&[AuthorizationDetail]>,
    ctx: &Ctx,
) -> Result<BTreeMap<String, Option<String>>, Error> {
    let Some(details) = details else {
        let ids = offered.configuration_ids.iter();
        return Ok(ids.map(|id| (id.clone(), None)).collect());
    };
    let mut credentials = BTreeMap::new();
    for detail in details {
        let id = &detail.credential_configuration_id;
        if !offered.configuration_ids.contains(id) {
            return Err(OAuthError::new(
                Code::InvalidAuthorizationDetails,
                "a credential is requested that was not offered",
            )
            .into());
        }
        let identifier = ctx.token(&format!("issuer/identifier/{id}"));
        credentials.insert(id.clone(), Some(identifier));
    }
    Ok(credentials)
}

fn details(credentials: &BTreeMap<String, Option<String>>) -> Option<Vec<AuthorizationDetail>> {
    let detail = |(id, identifier): (&String, &Option<String>)| {
        let identifier = identifier.clone()?;
        Some(AuthorizationDetail {
            credential_identifiers: Some(vec![identifier]),
            ..AuthorizationDetail::requesting(id)
        })
    };
    let details: Vec<_> = credentials.iter().filter_map(detail).collect();
    (!details.is_empty()).then_some(details)
}
