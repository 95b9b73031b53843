//! The notification endpoint (OpenID4VCI 1.0 §11): wallets say what became of credentials.
//!
//! The name of a response is a keyed hash of its grant and its request. So a repeated answer has the name that the first
//! had, and no name fits another access token.

use selfsame_approvals::possession::OwnToken;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_openid4vc::wire::credential::CredentialRequest;
use selfsame_openid4vc::wire::notification::{NotificationEvent, NotificationRequest};

use super::Issuer;
use super::protocol::{GRANT, GrantRecord, check_held, invalid_token};
use crate::refusal::refusal;
use crate::view::by_sign_in::{HeldGrant, TokenBySignIn};

impl Issuer {
    /// The notification endpoint, for an access token of this issuer.
    ///
    /// # Errors
    /// `invalid_notification_id` or `invalid_notification_request` (§11.3), `invalid_token` (RFC 6750 §3.1).
    pub async fn notified(&self, token: impl Into<OwnToken<'_>>, body: &[u8]) -> Result<()> {
        let token = token.into();
        let request = NotificationRequest::parse(body).map_err(refusal)?;
        self.notified_of(&token.grant_id(), token.key(), &request)
            .await
    }

    /// The notification endpoint, for the access token of somebody who signed in.
    ///
    /// # Errors
    /// As [`Issuer::notified`].
    pub async fn notified_by_sign_in(&self, by: &TokenBySignIn, body: &[u8]) -> Result<()> {
        let request = NotificationRequest::parse(body).map_err(refusal)?;
        let store = &self.shared.store;
        for HeldGrant { id, key, .. } in self.grants_of(by).await? {
            let named = self.response_name(&id, None);
            let is_its = request.notification_id.starts_with(&named);
            if is_its && store.version(self.tenant(), GRANT, &id).await?.is_some() {
                return self.notified_of(&id, key, &request).await;
            }
        }
        Err(unknown())
    }

    async fn notified_of(
        &self,
        id: &str,
        key: Option<&str>,
        request: &NotificationRequest,
    ) -> Result<()> {
        let at = At {
            tenant: self.tenant(),
            id,
        };
        let notified = Notified {
            issuer: self,
            key,
            request,
        };
        self.shared.drive(&notified, at, ()).await?;
        Ok(())
    }

    /// The name of the response to a request with a grant; without a request, how the names of the grant begin.
    fn response_name(&self, grant: &str, request: Option<&CredentialRequest>) -> String {
        let key = self.key.derive(b"notifications");
        let of_grant = base64url_encode(key.mac(grant.as_bytes()).get(..NAME).unwrap_or_default());
        match request {
            None => of_grant,
            Some(request) => {
                let key = key.derive(grant.as_bytes());
                let own = key.mac(request.to_json().as_bytes());
                format!(
                    "{of_grant}{}",
                    base64url_encode(own.get(..NAME).unwrap_or_default())
                )
            }
        }
    }

    /// What a response is called, if wallets are to tell of it.
    pub(super) fn name_for(&self, grant: &str, request: &CredentialRequest) -> Option<String> {
        let is_wanted = self.context.config.issuer.notifications;
        is_wanted.then(|| self.response_name(grant, Some(request)))
    }
}

/// Bytes of each half of a name.
const NAME: usize = 16;

/// The machine that takes a notification.
struct Notified<'a> {
    issuer: &'a Issuer,
    /// The thumbprint of the key that was proven with the token.
    key: Option<&'a str>,
    request: &'a NotificationRequest,
}

impl Machine for Notified<'_> {
    const KIND: &'static str = GRANT;
    type Record = GrantRecord;
    type Input = ();
    type Reply = ();

    fn records(&self) -> &RecordCache<GrantRecord> {
        &self.issuer.memory.grants
    }

    fn step(&self, grant: &mut GrantRecord, (): &(), round: &Round<'_>) -> Result<Step<Next<()>>> {
        check_held(grant, self.key, round.ctx.now())?;
        let wanted = &self.request.notification_id;
        let mut awaited = grant.awaited.iter_mut();
        let awaited = awaited.find(|one| one.id == *wanted).ok_or_else(unknown)?;
        let event = self.request.event;
        // §11: the notification is idempotent.
        if awaited.event == Some(event) {
            return Ok(Step::Done(Next::unchanged(round, ())));
        }
        awaited.event = Some(event);
        let kind = match event {
            NotificationEvent::Accepted => EventKind::WalletAccepted,
            NotificationEvent::Deleted => EventKind::WalletDeleted,
            NotificationEvent::Failure => EventKind::WalletFailed,
        };
        let credentials = awaited.credentials.clone();
        let next = Next::written(round, ());
        let told = |next: Next<()>, id| next.tell(kind, id);
        Ok(Step::Done(credentials.into_iter().fold(next, told)))
    }

    fn absent(&self, (): &()) -> Result<()> {
        Err(invalid_token())
    }
}

fn unknown() -> Error {
    let code = CredentialCode::InvalidNotificationId.as_str();
    Error::bad_request("notification-unknown").with_code(code)
}
