//! Access tokens as they are used: at userinfo, in questions about them, and when they are taken back.

use std::sync::Arc;

use selfsame_core::machine::{Next, Round};
use selfsame_driver::{Error, Result};
use selfsame_oauth::Code;
use selfsame_oauth::client::ClientCredentials;
use selfsame_oauth::dpop::{self, DpopRequest};
use selfsame_oauth::introspection::{Introspection, TokenQuery};
use selfsame_oidc::relying_party::PartyKeys;
use selfsame_oidc::token::{AcceptedToken, TokenFacts};
use serde_json::{Map, Value, json};
use url::Url;

use crate::clients::FoundClient;
use crate::dpop_check::CalledEndpoint;
use crate::key_set::TokenDraft;
use crate::record::{GrantedSignIn, HandedCode, KeptClaims, SIGN_IN, SignInRecord, SignInState};
use crate::refusal::{refusal, refuse};
use crate::service::SignIns;
use crate::spent::{SpentIds, spend_now};

/// The number of access tokens of one sign-in that can be taken back one by one; with the next, all end.
const REVOKED_MAX: usize = 32;

/// A call of a resource with an access token.
#[derive(Clone, Copy)]
pub struct PresentedToken<'a> {
    /// The resource's address, as it is published.
    pub url: &'a Url,
    /// The method.
    pub method: &'a str,
    /// Whether the token came with the scheme `DPoP`.
    pub is_dpop: bool,
    /// The token.
    pub token: &'a str,
    /// The header `DPoP`.
    pub proof: Option<&'a str>,
}

/// An access token that is valid, and the sign-in that it belongs to.
pub(crate) struct ValidToken {
    pub token: AcceptedToken,
    pub record: SignInRecord,
}

/// The answer of the userinfo endpoint.
#[derive(Clone)]
pub enum Userinfo {
    /// JSON.
    Json(Map<String, Value>),
    /// A signed or encrypted JWT.
    Jwt(String),
}

impl ValidToken {
    pub(crate) fn granted(&self) -> Result<&GrantedSignIn> {
        match &self.record.state {
            SignInState::Granted(granted) => Ok(granted),
            _ => Err(invalid()),
        }
    }
}

impl SignIns {
    /// The userinfo endpoint (OpenID Connect Core §5.3): JSON, or a JWT by the provider if the client registered that.
    ///
    /// # Errors
    /// `invalid_token` or `insufficient_scope` (RFC 6750 §3.1), `invalid_dpop_proof` (RFC 9449 §7.1).
    pub async fn userinfo(&self, presented: &PresentedToken<'_>) -> Result<Userinfo> {
        let valid = self.informed(presented).await?;
        self.told_of(&valid).await
    }

    /// Userinfo as eSignet gives it: what the identity system signed reaches the client as it is.
    ///
    /// # Errors
    /// As [`Self::userinfo`].
    pub async fn userinfo_as_signed(&self, presented: &PresentedToken<'_>) -> Result<Userinfo> {
        let valid = self.informed(presented).await?;
        match &valid.granted()?.claims {
            KeptClaims::Signed(jws) => {
                let client = self.client_of(&valid.token).await?;
                self.sealed(&client, jws.clone(), true).await
            }
            KeptClaims::Plain(_) => self.told_of(&valid).await,
        }
    }

    async fn told_of(&self, valid: &ValidToken) -> Result<Userinfo> {
        let client = self.client_of(&valid.token).await?;
        let granted = valid.granted()?;
        let mut claims = granted.claims.plain()?;
        claims.insert("sub".to_owned(), granted.subject.as_str().into());
        self.formed(&client, &valid.token, claims).await
    }

    /// A token that userinfo may be told for.
    async fn informed(&self, presented: &PresentedToken<'_>) -> Result<ValidToken> {
        let valid = self.presented(presented).await?;
        if !valid.token.access.scope.has("openid") {
            let reason = "userinfo needs the scope openid";
            return Err(refuse(Code::InsufficientScope, reason));
        }
        Ok(valid)
    }

    async fn formed(
        &self,
        client: &FoundClient,
        token: &AcceptedToken,
        claims: Map<String, Value>,
    ) -> Result<Userinfo> {
        let form = client.party.userinfo;
        let Some(alg) = form.signed else {
            return match form.encrypted {
                None => Ok(Userinfo::Json(claims)),
                Some(_) => {
                    let text = Value::Object(claims).to_string();
                    self.sealed(client, text, false).await
                }
            };
        };
        let keys = &self.service.key_sets;
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let key = keys.of(shared, tenant).await?.key(alg)?;
        let facts = TokenFacts {
            issuer: self.place.issuer().to_owned(),
            client_id: client.party.id.clone(),
            subject: token.subject.clone(),
            now: shared.clock.now(),
            expires: token.expires,
        };
        let draft = key.userinfo(&facts, claims);
        let jwt = keys.sign(shared, tenant, TokenDraft { alg, draft }).await?;
        self.sealed(client, jwt, true).await
    }

    /// A JWT, encrypted if the client wants that.
    async fn sealed(&self, client: &FoundClient, text: String, is_jwt: bool) -> Result<Userinfo> {
        let Some(encryption) = client.party.userinfo.encrypted else {
            return Ok(Userinfo::Jwt(text));
        };
        let ctx = self.shared().clock.ctx();
        let unusable = selfsame_oauth::Error::new(
            Code::InvalidRequest,
            "the client has no key that userinfo can be encrypted to",
        );
        let encrypt = |keys: &_| {
            let sealed = encryption.encrypt(text.as_bytes(), is_jwt, keys, &ctx);
            sealed.map_err(|_| unusable.clone())
        };
        let sealed = match &client.party.keys {
            PartyKeys::None => return Err(refusal(unusable)),
            keys => self.with_keys(keys, encrypt).await?,
        };
        Ok(Userinfo::Jwt(sealed))
    }

    /// The introspection endpoint (RFC 7662): clients ask about their own tokens, resource servers about all.
    ///
    /// # Errors
    /// `invalid_client` or `invalid_request`.
    pub async fn introspect(&self, called: &CalledEndpoint<'_>) -> Result<Introspection> {
        let mut form = called.form()?;
        let taken = ClientCredentials::take(&mut form, called.basic);
        let credentials = taken.map_err(refusal)?;
        let calling = self.calling_with_secret(credentials, called.url).await?;
        let (store, tenant) = (&self.shared().store, &self.place.tenant);
        spend_now(store, tenant, &calling.spent).await?;
        let query = TokenQuery::take(form).map_err(refusal)?;
        let caller = &calling.client;
        let may = |owner: &str| owner == caller.party.id || caller.reads_tokens;
        if let Ok(valid) = self.valid(query.token.expose()).await {
            // With a client that was removed, its tokens ended.
            let is_valid = self.client_of(&valid.token).await.is_ok();
            return Ok(match may(&valid.token.client_id) && is_valid {
                true => self.told(&valid.token),
                false => Introspection::default(),
            });
        }
        let Ok(handed) = HandedCode::read(&query.token) else {
            return Ok(Introspection::default());
        };
        let record = self.record(&handed.record).await?;
        Ok(record
            .filter(|record| may(&record.request.client_id))
            .map(|record| refreshable(&record, &handed))
            .unwrap_or_default())
    }

    fn told(&self, token: &AcceptedToken) -> Introspection {
        let jkt = token.access.jkt.as_ref();
        let kind = jkt.map_or("Bearer", |_| "DPoP");
        Introspection {
            active: true,
            scope: Some(token.access.scope.to_string()),
            client_id: Some(token.client_id.clone()),
            token_type: Some(kind.to_owned()),
            exp: Some(token.expires.0),
            iat: Some(token.issued.0),
            sub: Some(token.subject.clone()),
            aud: Some(self.place.issuer().to_owned()),
            iss: Some(self.place.issuer().to_owned()),
            jti: Some(format!("{}.{}", token.access.sign_in, token.access.number)),
            cnf: jkt.map(|jkt| Map::from_iter([("jkt".to_owned(), json!(jkt))])),
        }
    }

    /// The revocation endpoint (RFC 7009). A token that is unknown is revoked already.
    ///
    /// # Errors
    /// `invalid_client` or `invalid_request`.
    pub async fn revoke(&self, called: &CalledEndpoint<'_>) -> Result<()> {
        let mut form = called.form()?;
        let taken = ClientCredentials::take(&mut form, called.basic);
        let credentials = taken.map_err(refusal)?;
        let calling = self.calling(credentials, called.url).await?;
        let (store, tenant) = (&self.shared().store, &self.place.tenant);
        spend_now(store, tenant, &calling.spent).await?;
        let query = TokenQuery::take(form).map_err(refusal)?;
        let id = &calling.client.party.id;
        if let Ok(valid) = self.valid(query.token.expose()).await {
            if valid.token.client_id == *id {
                let access = valid.token.access;
                let number = access.number;
                let input = RevokedAccess { number };
                let revoking = self.step(revoke_access);
                let at = self.at(&access.sign_in);
                self.shared().drive(&revoking, at, input).await?;
            }
            return Ok(());
        }
        let Ok(handed) = HandedCode::read(&query.token) else {
            return Ok(());
        };
        if self.record(&handed.record).await?.is_some() {
            let at = self.at(&handed.record);
            let input = RevokedRefresh {
                client_id: id.clone(),
                hash: handed.hash,
            };
            let revoking = self.step(revoke_refresh);
            self.shared().drive(&revoking, at, input).await?;
        }
        Ok(())
    }

    /// The access token of a call, with the proof that its key is there.
    pub(crate) async fn presented(&self, presented: &PresentedToken<'_>) -> Result<ValidToken> {
        let valid = self.valid(presented.token).await?;
        let Some(jkt) = &valid.token.access.jkt else {
            return match presented.is_dpop {
                true => Err(invalid()),
                false => Ok(valid),
            };
        };
        // RFC 9449 §7.1: a token that is bound is no bearer token.
        if !presented.is_dpop {
            return Err(invalid());
        }
        let client = self.client_of(&valid.token).await?;
        let missing = || {
            refuse(
                Code::InvalidDpopProof,
                "the access token needs a DPoP proof",
            )
        };
        let proof = presented.proof.ok_or_else(missing)?;
        let request = DpopRequest {
            method: presented.method,
            url: presented.url,
            access_token: Some(presented.token),
            now: self.shared().clock.now(),
            age: client.rules.lifetimes.proof,
        };
        let nonces = self.nonces(&client.rules).await?;
        let checked = dpop::check(proof, &request, nonces.as_ref());
        let proven = checked.map_err(|error| at_resource(refusal(error)))?;
        if proven.thumbprint != *jkt {
            return Err(invalid());
        }
        let (store, tenant) = (&self.shared().store, &self.place.tenant);
        let proof = SpentIds {
            proofs: vec![proven.spent],
            ..SpentIds::default()
        };
        let spent = spend_now(store, tenant, &proof).await;
        spent.map_err(replayed_at_resource)?;
        Ok(valid)
    }

    async fn valid(&self, token: &str) -> Result<ValidToken> {
        let keys = &self.service.key_sets;
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let set = keys.for_token(shared, tenant, token).await?;
        let now = shared.clock.now();
        let accepted = AcceptedToken::accept(token, self.place.issuer(), &set.published, now);
        let token = accepted.map_err(refusal)?;
        let record = self.record(&token.access.sign_in).await?;
        let record = record.ok_or_else(invalid)?;
        let valid = ValidToken { token, record };
        match valid
            .granted()?
            .revoked
            .contains(&valid.token.access.number)
        {
            true => Err(invalid()),
            false => Ok(valid),
        }
    }

    pub(crate) async fn client_of(&self, token: &AcceptedToken) -> Result<Arc<FoundClient>> {
        let found = self.clients().active(&token.client_id).await?;
        found.ok_or_else(invalid)
    }

    async fn record(&self, id: &str) -> Result<Option<SignInRecord>> {
        let (store, tenant) = (&self.shared().store, &self.place.tenant);
        let record = store.read(tenant, SIGN_IN, id).await?;
        let read = record.map(|record| selfsame_driver::record::decode(&record.value));
        read.transpose()
    }
}

fn refreshable(record: &SignInRecord, handed: &HandedCode) -> Introspection {
    let SignInState::Granted(granted) = &record.state else {
        return Introspection::default();
    };
    let is_current = |refresh: &crate::record::RefreshState| handed.is(&refresh.hash);
    if !granted.refresh.as_ref().is_some_and(is_current) {
        return Introspection::default();
    }
    Introspection {
        active: true,
        scope: Some(granted.scope.to_string()),
        client_id: Some(record.request.client_id.clone()),
        exp: Some(record.expires.0),
        sub: Some(granted.subject.clone()),
        ..Introspection::default()
    }
}

struct RevokedRefresh {
    client_id: String,
    hash: [u8; 32],
}

/// RFC 7009 §2.1: with its refresh token a sign-in ends.
fn revoke_refresh(
    record: &mut SignInRecord,
    input: &RevokedRefresh,
    round: &Round<'_>,
) -> Result<Next<()>> {
    let SignInState::Granted(granted) = &record.state else {
        return Ok(Next::unchanged(round, ()));
    };
    let is_its = granted.refresh.as_ref().is_some_and(|kept| {
        let all = kept.spent.iter().chain([&kept.hash]);
        all.into_iter()
            .any(|hash| selfsame_crypto::hash::ct_eq(hash, &input.hash))
    });
    if record.request.client_id != input.client_id || !is_its {
        return Ok(Next::unchanged(round, ()));
    }
    record.state = SignInState::Ended;
    Ok(Next::written(round, ()))
}

struct RevokedAccess {
    number: String,
}

fn revoke_access(
    record: &mut SignInRecord,
    input: &RevokedAccess,
    round: &Round<'_>,
) -> Result<Next<()>> {
    if let SignInState::Granted(granted) = &mut record.state {
        granted.revoked.push(input.number.clone());
        if granted.revoked.len() > REVOKED_MAX {
            record.state = SignInState::Ended;
        }
    }
    Ok(Next::written(round, ()))
}

/// RFC 9449 §7.1: at a resource a proof that does not hold is a lack of authentication.
fn at_resource(error: Error) -> Error {
    Error {
        kind: selfsame_driver::ErrorKind::Unauthenticated,
        ..error
    }
}

fn replayed_at_resource(error: Error) -> Error {
    match error.code == Some(Code::InvalidDpopProof.as_str()) {
        true => at_resource(error),
        false => error,
    }
}

fn invalid() -> Error {
    refuse(
        Code::InvalidToken,
        "the access token is unknown, expired or revoked",
    )
}
