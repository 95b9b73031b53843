//! Who calls: the API key of the agent, or the token of a sub-wallet.

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderName, StatusCode};
use selfsame_agent::AgentTerms;
use selfsame_crypto::hash::ct_eq;
use selfsame_http::error::Problem;
use selfsame_http::extract::bearer;
use selfsame_http::peer::Peer;
use selfsame_store::TenantId;

use crate::admin::Admin;
use crate::answer::{OperationError, OperationResult};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// What browsers send with each request of a page.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whose wallet a request is about.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The tenant of the agent.
    pub tenant: TenantId,
    /// The identifier of the sub-wallet, if it is one.
    pub wallet: Option<String>,
}

impl Caller {
    /// The caller of a request.
    ///
    /// # Errors
    /// 401 without the right key or token.
    pub async fn of(admin: &Admin, parts: &Parts) -> OperationResult<Self> {
        let token = parts.headers.get(AUTHORIZATION).and_then(bearer);
        match token.filter(|_| admin.settings().multitenant) {
            Some(token) => Self::of_sub_wallet(admin, token).await,
            None => {
                admits(admin, parts)?;
                Ok(Self {
                    tenant: admin.app().agent_of(&admin.settings().organisation)?,
                    wallet: None,
                })
            }
        }
    }

    async fn of_sub_wallet(admin: &Admin, token: &str) -> OperationResult<Self> {
        let agent = &admin.settings().organisation;
        let found = admin.app().wallet_of_token(agent, token).await?;
        let tenant = found.tenant()?;
        // Another process may have created or changed it.
        let terms = AgentTerms {
            label: found.wallet.label,
            ..admin.settings().terms.clone()
        };
        admin.agents().set_terms(&tenant, terms);
        let endorsement = admin.settings().endorsement.clone();
        admin.app().endorsements().set_terms(&tenant, endorsement);
        Ok(Self {
            tenant,
            wallet: Some(found.id),
        })
    }
}

/// Checks the API key.
fn admits(admin: &Admin, parts: &Parts) -> OperationResult<()> {
    match is_admitted(admin, parts) {
        true => Ok(()),
        false => Err(unauthorized()),
    }
}

/// Whether this is the API key of an agent that has one.
pub fn is_key(admin: &Admin, sent: &[u8]) -> bool {
    let key = admin.settings().api_key.as_ref();
    key.is_some_and(|key| ct_eq(sent, key.expose().as_bytes()))
}

/// Whether a request has the API key. Without one, a page of a browser must not call: it could be anybody's.
pub fn is_admitted(admin: &Admin, parts: &Parts) -> bool {
    let headers = &parts.headers;
    match &admin.settings().api_key {
        Some(_) => {
            let sent = headers.get(X_API_KEY);
            is_key(admin, sent.map_or(&b""[..], |key| key.as_bytes()))
        }
        None => {
            let is_page = headers.contains_key(ORIGIN) || headers.contains_key(SEC_FETCH_SITE);
            let peer = parts.extensions.get::<Peer>().copied();
            // A listener without a key is on loopback; this is for one that a proxy makes public.
            let is_here = peer.is_none_or(Peer::is_here);
            is_here && !is_page && is_own_host(admin, parts)
        }
    }
}

/// Whether the request is to an address, to `localhost`, or to a host that the settings name. A page that was loaded
/// under another name may be anybody's, whatever address the name leads to.
fn is_own_host(admin: &Admin, parts: &Parts) -> bool {
    let Some(host) = parts.headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    let Ok(url) = url::Url::parse(&format!("http://{host}/")) else {
        return false;
    };
    match url.host() {
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => true,
        Some(url::Host::Domain(name)) => {
            let is_listed = |listed: &String| listed.eq_ignore_ascii_case(name);
            name == "localhost" || admin.settings().hosts.iter().any(is_listed)
        }
        None => false,
    }
}

/// The key of a sub-wallet is wrong.
pub fn refused_key() -> OperationError {
    Problem::new(StatusCode::UNAUTHORIZED, "agent-wallet-key").into()
}

/// No right key, and no right token.
pub fn unauthorized() -> OperationError {
    Problem::new(StatusCode::UNAUTHORIZED, "agent-key-needed").into()
}
