//! Signing out: at the provider, begun by a client (OpenID Connect RP-Initiated Logout 1.0), and told to the others
//! (OpenID Connect Back-Channel Logout 1.0).

use std::sync::Arc;

use selfsame_core::machine::{Call, HttpBody, HttpCall, Next, Round};
use selfsame_crypto::SecretString;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_oauth::jwt::Jwt;
use selfsame_oauth::{Code, Form, form};
use selfsame_oidc::token::TokenFacts;
use selfsame_store::{Batch, MAX_PAGE, Page, Put, Record, Tag};
use url::Url;

use crate::key_set::TokenDraft;
use crate::logout_notice::{LogoutNotice, NOTICE};
use crate::record::{SESSION_TAG, SIGN_IN, SignInRecord, SignInState};
use crate::refusal::refuse;
use crate::service::SignIns;
use crate::session::{ProviderSession, SIGN_IN_SESSION, session_id};

/// The lifetime of a logout token, in seconds (OpenID Connect Back-Channel Logout §2.4).
const NOTICE_LIFETIME: u64 = 120;

/// A person who is to be signed out.
#[derive(Clone, Debug)]
pub struct SignOut {
    /// The parameters of the client's request; empty if the person asked for it here.
    pub form: Form,
    /// The token of the browser's session.
    pub session: Option<SecretString>,
    /// Whether the person said that they want it.
    pub is_confirmed: bool,
}

/// What came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SignedOut {
    /// The person must be asked first: the request proves nothing about this browser.
    AskFirst,
    /// The session is over. The browser goes there, or stays.
    Done {
        /// Where the browser goes.
        redirect: Option<String>,
    },
}

impl SignIns {
    /// Signs a person out.
    ///
    /// # Errors
    /// `invalid_request` for a hint that is no token by this provider, or an address that the client did not register; the
    /// store's.
    pub async fn sign_out(&self, asked: SignOut) -> Result<SignedOut> {
        let mut form = asked.form;
        let hint = match form.take("id_token_hint") {
            Some(hint) => Some(self.hint(&hint).await?),
            None => None,
        };
        let redirect = self.return_address(form, hint.as_ref()).await?;
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let session = match &asked.session {
            Some(token) => ProviderSession::find(shared, tenant, token).await?,
            None => None,
        };
        if let (Some(session), Some(token)) = (session, &asked.session) {
            let is_its = hint
                .as_ref()
                .is_some_and(|hint| hint.text("sid") == Some(&session.sid));
            if !is_its && !asked.is_confirmed {
                return Ok(SignedOut::AskFirst);
            }
            self.end_session(&session_id(token), &session).await?;
        }
        Ok(SignedOut::Done { redirect })
    }

    /// An ID token by this provider, which may have expired.
    async fn hint(&self, text: &str) -> Result<Jwt> {
        self.hinted(text).await?;
        let malformed = |_| refuse(Code::InvalidRequest, "id_token_hint is malformed");
        Jwt::parse(text).map_err(malformed)
    }

    /// Where the browser goes afterwards: only where a known client registered it (§3).
    async fn return_address(&self, mut form: Form, hint: Option<&Jwt>) -> Result<Option<String>> {
        let named = form.take("client_id");
        let hinted = hint.and_then(|hint| hint.text("aud"));
        if named.is_some() && hinted.is_some() && named.as_deref() != hinted {
            let reason = "client_id is not that of id_token_hint";
            return Err(refuse(Code::InvalidRequest, reason));
        }
        let Some(address) = form.take("post_logout_redirect_uri") else {
            return Ok(None);
        };
        let unregistered = || {
            let reason = "post_logout_redirect_uri is not registered for this client";
            refuse(Code::InvalidRequest, reason)
        };
        let id = named.as_deref().or(hinted).ok_or_else(unregistered)?;
        let client = self.clients().find(id).await?;
        let client = client.ok_or_else(unregistered)?;
        if !client.party.may_return_to(&address) {
            return Err(unregistered());
        }
        let Some(state) = form.take("state") else {
            return Ok(Some(address));
        };
        let joint = if address.contains('?') { '&' } else { '?' };
        let state = form::encode(&[("state", state)]);
        Ok(Some(format!("{address}{joint}{state}")))
    }

    /// Ends a session, and what clients have by it, and tells those that want to know.
    pub(crate) async fn end_session(&self, id: &str, session: &ProviderSession) -> Result<()> {
        let tenant = &self.place.tenant;
        let tag = Tag::hashed(SESSION_TAG, session.sid.as_str());
        let page = Page::first(MAX_PAGE);
        let found = self
            .shared()
            .store
            .find(tenant, SIGN_IN, &tag, &page)
            .await?;
        let mut notices = Vec::new();
        for record in &found {
            self.end_by_session(record).await?;
            notices.extend(self.notice(record, &session.sid).await?);
        }
        let mut batch = Batch::new(tenant.clone()).delete(SIGN_IN_SESSION, id);
        for notice in notices {
            batch = batch.put(notice.put).enqueue(notice.call);
        }
        let committed = self.shared().store.commit(batch).await?;
        tracing::info!(clients = committed.outbox.len(), "a person signed out");
        Ok(())
    }

    /// A refresh token outlives the session; everything else ends with it.
    async fn end_by_session(&self, record: &Record) -> Result<()> {
        let ending =
            self.step(|record: &mut SignInRecord, (): &(), round: &Round<'_>| {
                match &record.state {
                    SignInState::Granted(granted) if granted.refresh.is_some() => {
                        Ok(Next::unchanged(round, ()))
                    }
                    _ => {
                        record.state = SignInState::Ended;
                        Ok(Next::written(round, ()))
                    }
                }
            });
        let at = self.at(&record.id);
        self.shared().drive(&ending, at, ()).await.map(drop)
    }

    /// The notice for the client of a sign-in, if that wants to know.
    async fn notice(&self, record: &Record, sid: &str) -> Result<Option<OutgoingNotice>> {
        let read: SignInRecord = decode(&record.value)?;
        let SignInState::Granted(granted) = &read.state else {
            return Ok(None);
        };
        let client = self.clients().find(&read.request.client_id).await?;
        let address = client
            .as_ref()
            .and_then(|client| client.party.backchannel_logout_uri.clone());
        let (Some(client), Some(address)) = (client, address) else {
            return Ok(None);
        };
        let ctx = self.shared().clock.ctx();
        let facts = TokenFacts {
            issuer: self.place.issuer().to_owned(),
            client_id: client.party.id.clone(),
            subject: granted.subject.clone(),
            now: ctx.now(),
            expires: ctx.now().plus(NOTICE_LIFETIME),
        };
        let keys = &self.service.key_sets;
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let key = keys
            .of(shared, tenant)
            .await?
            .key(client.party.id_token_alg)?;
        let draft = key.logout_token(&facts, Some(sid), &ctx.token("oidc/logout"));
        let alg = key.alg;
        let token = keys.sign(shared, tenant, TokenDraft { alg, draft }).await?;
        outgoing(
            client.party.id.clone(),
            &address,
            SecretString::from(token),
            &facts,
        )
        .map(Some)
    }
}

struct OutgoingNotice {
    put: Put,
    call: selfsame_store::NewOutbox,
}

fn outgoing(
    client_id: String,
    address: &Url,
    token: SecretString,
    facts: &TokenFacts,
) -> Result<OutgoingNotice> {
    let id = selfsame_crypto::encoding::base64url_encode(&selfsame_crypto::hash::sha256(
        token.expose().as_bytes(),
    ));
    let body = SecretString::from(form::encode(&[("logout_token", token.expose())]));
    let mut call = HttpCall::post(address.clone(), HttpBody::EncodedForm(body));
    // The client knows the token again by its `jti`.
    call.is_repeatable = true;
    let until = facts.expires;
    let notice = encode(&LogoutNotice { client_id, until })?;
    Ok(OutgoingNotice {
        put: Put::new(NOTICE, &id, notice).expires(until.plus(NOTICE_LIFETIME)),
        call: Call::Http(Box::new(call)).entry(NOTICE, &id, address.as_str(), facts.now)?,
    })
}

/// The machine that hears what came of notices, for the outbox.
#[must_use]
pub fn notices() -> Arc<crate::logout_notice::LogoutNotices> {
    Arc::default()
}
