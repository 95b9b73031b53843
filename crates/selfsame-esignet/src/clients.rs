//! The management of clients: registered and changed by the operator's programs.

use std::collections::BTreeMap;
use std::future::Future;

use axum::response::Response;
use http::StatusCode;
use selfsame_audit::AuditResult;
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::extract::{Path, Raw};
use selfsame_oidc::ClientRegistration;
use selfsame_oidc::redirect::ApplicationType;
use selfsame_sign_in::clients::{ChangedClient, WantedClient};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::codes::Coded;
use crate::door::{ClientManager, EsignetDoor, EsignetHere};
use crate::{details_hash, envelope};

/// The code for a sender who may not manage clients.
const UNAUTHORIZED: &str = "UNAUTHORIZED";
/// The code for a failure of our own.
const UNKNOWN: &str = "unknown_error";
const ACTIVE: &str = "ACTIVE";
const INACTIVE: &str = "INACTIVE";
/// The claims that a client may know.
const CLAIMS: [&str; 18] = [
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "gender",
    "birthdate",
    "email",
    "email_verified",
    "phone_number",
    "phone_number_verified",
    "picture",
    "address",
    "locale",
    "zoneinfo",
    "individual_id",
    "verified_claims",
];

/// A client as it is registered or changed. What is absent stays as it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientRequest {
    client_id: Option<String>,
    client_name: Option<String>,
    client_name_lang_map: Option<BTreeMap<String, String>>,
    public_key: Option<Value>,
    relying_party_id: Option<String>,
    user_claims: Option<Vec<String>>,
    auth_context_refs: Option<Vec<String>>,
    logo_uri: Option<String>,
    redirect_uris: Option<Vec<String>>,
    grant_types: Option<Vec<String>>,
    client_auth_methods: Option<Vec<String>>,
    status: Option<String>,
    additional_config: Option<Map<String, Value>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientResponse {
    client_id: String,
    status: String,
}

/// Registers a client.
pub async fn create(mut here: EsignetHere, Raw(body): Raw) -> Response {
    let request = here.managed(&body);
    let named = request.as_ref().ok().and_then(|one| one.client_id.clone());
    here.names(named);
    let (door, is_known) = (here.door.clone(), here.is_known());
    here.audited(async move { door.create(request?, is_known).await })
        .await
}

/// Replaces what a client may do.
pub async fn update(mut here: EsignetHere, Path(id): Path<String>, Raw(body): Raw) -> Response {
    let request = here.managed(&body);
    let request = request.and_then(|request| match request.status {
        Some(_) => Ok(request),
        None => Err("invalid_status"),
    });
    here.names(Some(id.clone()));
    let (door, is_known) = (here.door.clone(), here.is_known());
    here.audited(async move { door.change(&id, request?, is_known).await })
        .await
}

/// Changes some of what a client may do.
pub async fn patch(mut here: EsignetHere, Path(id): Path<String>, Raw(body): Raw) -> Response {
    let request = here.managed(&body);
    here.names(Some(id.clone()));
    let (door, is_known) = (here.door.clone(), here.is_known());
    here.audited(async move { door.change(&id, request?, is_known).await })
        .await
}

impl EsignetHere {
    /// The request of somebody who may manage clients.
    fn managed(&self, body: &[u8]) -> Coded<ClientRequest> {
        let may = self.manager.as_ref().is_some_and(|manager| manager.may);
        check(may, UNAUTHORIZED)?;
        envelope::request(body, self.door.clock.now())
    }

    /// Whether the sender is known here.
    fn is_known(&self) -> bool {
        self.manager
            .as_ref()
            .is_some_and(|manager| manager.is_known)
    }

    /// Names the client that the call is about, for the audit trail.
    fn names(&mut self, id: Option<String>) {
        if let Some(manager) = &mut self.manager {
            manager.act.object = id.filter(|id| is_id(id));
        }
    }

    /// Carries out a call and answers it. Its first commit writes the entry of the audit trail too.
    async fn audited(self, work: impl Future<Output = Coded<ClientResponse>>) -> Response {
        let now = self.door.clock.now();
        let answer = match self.manager {
            Some(manager) => manager.carry_out(work).await,
            None => Err(UNAUTHORIZED),
        };
        let is_refused = matches!(answer, Err(UNAUTHORIZED));
        let mut response = envelope::answer(answer, now);
        if is_refused {
            *response.status_mut() = StatusCode::UNAUTHORIZED;
        }
        response
    }
}

impl ClientManager {
    async fn carry_out(
        self,
        work: impl Future<Output = Coded<ClientResponse>>,
    ) -> Coded<ClientResponse> {
        let unwritten = |error: Error| {
            tracing::error!(%error, "a call can't be written into the audit trail");
            UNKNOWN
        };
        let carried_out = self.trail.during(self.act.clone(), work).await;
        let (answer, is_written) = carried_out.map_err(unwritten)?;
        let result = match &answer {
            Ok(_) => AuditResult::Done,
            Err(code) => AuditResult::Refused((*code).to_owned()),
        };
        if (answer.is_ok() && !is_written) || (answer.is_err() && self.is_known) {
            let written = self.trail.write(self.act, result).await;
            written.map_err(unwritten)?;
        }
        answer
    }
}

impl EsignetDoor {
    async fn create(&self, request: ClientRequest, fetches_logo: bool) -> Coded<ClientResponse> {
        let id = request.client_id.clone().unwrap_or_default();
        if !is_id(&id) {
            return Err("invalid_client_id");
        }
        request.check_complete()?;
        let mut registration = ClientRegistration::default();
        request.apply(&mut registration)?;
        let wanted = WantedClient {
            client_id: Some(id.clone()),
            registration,
            preset: self.settings.preset,
            reads_tokens: false,
            fetches_logo,
        };
        let registered = self.sign_ins.register(wanted).await;
        registered.map_err(|error| code_of(&error))?;
        let status = ACTIVE.to_owned();
        Ok(ClientResponse {
            client_id: id,
            status,
        })
    }

    async fn change(
        &self,
        id: &str,
        request: ClientRequest,
        fetches_logo: bool,
    ) -> Coded<ClientResponse> {
        let known = self.sign_ins.client(id).await;
        let mut registration = known.map_err(|_| "invalid_client_id")?.registration;
        request.apply(&mut registration)?;
        let status = registration.other.get("status").and_then(Value::as_str);
        let status = status.unwrap_or(ACTIVE).to_owned();
        let changed = ChangedClient {
            registration,
            fetches_logo,
        };
        let changed = self.sign_ins.change_client(id, changed).await;
        changed.map_err(|error| code_of(&error))?;
        Ok(ClientResponse {
            client_id: id.to_owned(),
            status,
        })
    }
}

impl ClientRequest {
    /// The code of the first member that a new client lacks.
    fn check_complete(&self) -> Coded<()> {
        let parts = [
            (self.client_name.is_some(), "invalid_client_name"),
            (self.public_key.is_some(), "invalid_public_key"),
            (
                self.relying_party_id.as_deref().is_some_and(is_id),
                "invalid_rp_id",
            ),
            (self.user_claims.is_some(), "invalid_claim"),
            (self.auth_context_refs.is_some(), "invalid_acr"),
            (self.logo_uri.is_some(), "invalid_uri"),
            (self.redirect_uris.is_some(), "invalid_redirect_uri"),
            (self.grant_types.is_some(), "invalid_grant_type"),
            (self.client_auth_methods.is_some(), "invalid_client_auth"),
        ];
        let missing = parts.into_iter().find(|(is_there, _)| !is_there);
        missing.map_or(Ok(()), |(_, code)| Err(code))
    }

    /// Writes the members that are given into a registration.
    ///
    /// # Errors
    /// eSignet's code of the first member that can't be right.
    pub fn apply(self, to: &mut ClientRegistration) -> Coded<()> {
        self.apply_names(to)?;
        if let Some(key) = self.public_key {
            let is_key = key.get("kty").is_some() && selfsame_crypto::Jwk::from_value(&key).is_ok();
            check(is_key, "invalid_public_key")?;
            to.jwks = Some(json!({"keys": [key]}));
        }
        if let Some(claims) = self.user_claims {
            let known = claims.iter().all(|claim| CLAIMS.contains(&claim.as_str()));
            check(known && claims.len() <= 30, "invalid_claim")?;
            to.claims = Some(claims);
        }
        if let Some(classes) = self.auth_context_refs {
            let known = classes.iter().all(|acr| acr.starts_with("mosip:idp:acr:"));
            check(known && (1..=30).contains(&classes.len()), "invalid_acr")?;
            to.default_acr_values = classes;
        }
        if let Some(logo) = self.logo_uri {
            let logo = logo.parse::<Url>().ok();
            let logo = logo.filter(|logo| matches!(logo.scheme(), "https" | "http"));
            to.logo_uri = Some(logo.ok_or("invalid_uri")?);
        }
        if let Some(uris) = self.redirect_uris {
            check((1..=5).contains(&uris.len()), "invalid_redirect_uri")?;
            let own_scheme = |uri: &String| !uri.starts_with("https:") && !uri.starts_with("http:");
            let native = uris
                .iter()
                .any(own_scheme)
                .then_some(ApplicationType::Native);
            to.application_type = native;
            to.redirect_uris = uris;
        }
        if let Some(grants) = self.grant_types {
            check(grants == ["authorization_code"], "invalid_grant_type")?;
            to.grant_types = grants;
        }
        if let Some(methods) = self.client_auth_methods {
            check(methods == ["private_key_jwt"], "invalid_client_auth")?;
            to.token_endpoint_auth_method = methods.into_iter().next();
        }
        if let Some(status) = self.status {
            check(
                [ACTIVE, INACTIVE].contains(&status.as_str()),
                "invalid_status",
            )?;
            to.other.insert("status".to_owned(), status.into());
        }
        if let Some(party) = self.relying_party_id {
            check(is_id(&party), "invalid_rp_id")?;
            to.relying_party_id = Some(party);
        }
        apply_config(self.additional_config, to)
    }

    fn apply_names(&self, to: &mut ClientRegistration) -> Coded<()> {
        let is_name = |name: &str| (1..=256).contains(&name.trim().len());
        if let Some(name) = &self.client_name {
            check(is_name(name), "invalid_client_name")?;
            to.client_name = Some(name.clone());
        }
        for (language, name) in self.client_name_lang_map.iter().flatten() {
            let is_language =
                language.len() == 3 && language.bytes().all(|byte| byte.is_ascii_lowercase());
            check(
                is_language && details_hash::is_stable(language),
                "invalid_language_code",
            )?;
            check(is_name(name), "invalid_client_name_value")?;
            to.other
                .insert(format!("client_name#{language}"), name.as_str().into());
        }
        Ok(())
    }
}

/// The code of a registration that is refused.
fn code_of(error: &Error) -> &'static str {
    match (error.kind, error.code) {
        (ErrorKind::Conflict, _) => "duplicate_client_id",
        (_, Some("invalid_redirect_uri")) => "invalid_redirect_uri",
        (ErrorKind::BadRequest, _) => "invalid_input",
        _ => UNKNOWN,
    }
}

/// What newer versions set for a client.
fn apply_config(config: Option<Map<String, Value>>, to: &mut ClientRegistration) -> Coded<()> {
    let Some(config) = config else {
        return Ok(());
    };
    let flag = |name: &str| config.get(name).and_then(Value::as_bool);
    match config.get("userinfo_response_type").and_then(Value::as_str) {
        None | Some("JWS") => {}
        Some("JWE") => {
            to.userinfo_encrypted_response_alg = Some("RSA-OAEP-256".to_owned());
            to.userinfo_encrypted_response_enc = Some("A256GCM".to_owned());
        }
        Some(_) => return Err("invalid_additional_config"),
    }
    if let Some(pushed) = flag("require_pushed_authorization_requests") {
        to.require_pushed_authorization_requests = pushed;
    }
    if let Some(bound) = flag("dpop_bound_access_tokens") {
        to.dpop_bound_access_tokens = bound;
    }
    Ok(())
}

fn check(holds: bool, code: &'static str) -> Coded<()> {
    if holds { Ok(()) } else { Err(code) }
}

/// An identifier: no spaces, at most 100 characters.
fn is_id(id: &str) -> bool {
    (1..=100).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(request: Value) -> Coded<ClientRegistration> {
        let request: ClientRequest = serde_json::from_value(request).unwrap();
        let mut to = ClientRegistration::default();
        request.apply(&mut to).map(|()| to)
    }

    #[test]
    fn each_member_that_cannot_be_right_has_a_code_of_its_own() {
        for (request, code) in [
            (json!({"clientName": " "}), "invalid_client_name"),
            (
                json!({"clientNameLangMap": {"en": "Bank"}}),
                "invalid_language_code",
            ),
            (
                json!({"clientNameLangMap": {"eng": ""}}),
                "invalid_client_name_value",
            ),
            (json!({"publicKey": {"kty": "RSA"}}), "invalid_public_key"),
            (json!({"userClaims": ["salary"]}), "invalid_claim"),
            (json!({"authContextRefs": []}), "invalid_acr"),
            (json!({"authContextRefs": ["other"]}), "invalid_acr"),
            (json!({"logoUri": "javascript:x"}), "invalid_uri"),
            (json!({"redirectUris": []}), "invalid_redirect_uri"),
            (json!({"grantTypes": ["implicit"]}), "invalid_grant_type"),
            (
                json!({"clientAuthMethods": ["none"]}),
                "invalid_client_auth",
            ),
            (json!({"status": "GONE"}), "invalid_status"),
            (json!({"relyingPartyId": "a b"}), "invalid_rp_id"),
            (
                json!({"additionalConfig": {"userinfo_response_type": "XML"}}),
                "invalid_additional_config",
            ),
        ] {
            assert_eq!(apply(request.clone()).unwrap_err(), code, "{request}");
        }
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name() {
        let registration =
            apply(json!({"clientName": "Bank", "clientNameLangMap": {"fra": "Banque"}}));
        let mut registration = registration.unwrap();
        assert_eq!(registration.other["client_name#fra"], "Banque");
        let request: ClientRequest =
            serde_json::from_value(json!({"userClaims": ["name"]})).unwrap();
        request.apply(&mut registration).unwrap();
        assert_eq!(registration.client_name.as_deref(), Some("Bank"));
        assert_eq!(registration.claims, Some(vec!["name".to_owned()]));
    }
}
