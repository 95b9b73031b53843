//! The tokens that a grant gives: what they say is decided by the step, and signed before it is committed.

use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_oauth::{AuthorizationDetail, ScopeSet};
use selfsame_oidc::token::{AccessFacts, Authentication, GrantedTokens, TokenFacts, at_hash};
use serde_json::{Map, Value};

use crate::clients::FoundClient;
use crate::key_set::TokenDraft;
use crate::record::{HandedCode, KeptClaims, SignInRecord};
use crate::service::SignIns;

/// The tokens that are to be made.
pub(crate) struct TokenPlan {
    pub subject: String,
    pub authentication: Authentication,
    pub access: AccessFacts,
    /// What the ID token says besides; `None` without one.
    pub id_claims: Option<Map<String, Value>>,
    /// The secret of the refresh token.
    pub refresh: Option<SecretString>,
    /// The credentials that are granted one by one.
    pub details: Vec<AuthorizationDetail>,
    pub now: UnixTime,
}

impl SignIns {
    /// Makes the tokens.
    ///
    /// # Errors
    /// `Unavailable` if a hardware security module can't sign now; the store's.
    pub(crate) async fn make(
        &self,
        client: &FoundClient,
        plan: TokenPlan,
    ) -> Result<GrantedTokens> {
        let lifetimes = client.rules.lifetimes;
        let lifetime = self.access_lifetime(client, &plan.access);
        let facts = |lifetime| TokenFacts {
            issuer: self.place.issuer().to_owned(),
            client_id: client.party.id.clone(),
            subject: plan.subject.clone(),
            now: plan.now,
            expires: plan.now.plus(lifetime),
        };
        let keys = &self.service.key_sets;
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let set = keys.of(shared, tenant).await?;
        // Access tokens are for this provider, whichever algorithm the client knows.
        let key = set.key(client.party.id_token_alg)?;
        let alg = key.alg;
        let draft = key.access_token(&facts(lifetime), &plan.access);
        let access_token = keys.sign(shared, tenant, TokenDraft { alg, draft }).await?;
        let id_token = match plan.id_claims {
            None => None,
            Some(mut further) => {
                further.insert("at_hash".to_owned(), at_hash(&access_token, alg).into());
                let facts = facts(lifetimes.id_token);
                let draft = key.id_token(&facts, &plan.authentication, further);
                Some(keys.sign(shared, tenant, TokenDraft { alg, draft }).await?)
            }
        };
        let handed = |secret: SecretString| HandedCode::make(&plan.access.sign_in, secret.expose());
        Ok(GrantedTokens {
            access_token: access_token.into(),
            token_type: match plan.access.jkt {
                Some(_) => "DPoP",
                None => "Bearer",
            },
            expires_in: lifetime,
            refresh_token: plan.refresh.map(handed),
            scope: plan.access.scope.to_string(),
            authorization_details: plan.details,
            id_token: id_token.map(SecretString::from),
        })
    }
}

/// What an ID token says about the person: the claims that were asked for there, as far as they were agreed to (OpenID
/// Connect Core §5.5).
pub(crate) fn id_claims(
    record: &SignInRecord,
    claims: &KeptClaims,
    scope: &ScopeSet,
) -> Option<Map<String, Value>> {
    if !scope.has("openid") {
        return None;
    }
    let KeptClaims::Plain(claims) = claims else {
        return Some(Map::new());
    };
    let asked = &record.request.claims.id_token;
    let is_asked = |name: &String| {
        let base = name.split_once('#').map_or(name.as_str(), |(base, _)| base);
        asked.contains_key(name) || asked.contains_key(base)
    };
    let given = claims.iter().filter(|(name, _)| is_asked(name));
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    Some(given.collect())
}
