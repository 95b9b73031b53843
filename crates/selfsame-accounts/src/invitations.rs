//! Invitations: each lets one person create a wallet on an instance where not everyone may.

use selfsame_crypto::{encoding, hash};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, TenantId};

use crate::Accounts;
use crate::{Invitation, Registration};

const INVITATION: &str = "invitation";
/// A week, since an invitation may be sent by letter.
const SECONDS: u64 = 7 * 86_400;

impl Accounts {
    /// Creates an invitation, which is valid once and for a week.
    ///
    /// # Errors
    /// `Conflict` if no invitation is needed or none helps, and the store's.
    pub async fn invite(&self) -> Result<Invitation> {
        if !self.is_by_invitation() {
            return Err(Error::new(ErrorKind::Conflict, "invitations-not-used"));
        }
        let ctx = self.parts.clock.ctx();
        let token = ctx.token("invitation");
        let expires = ctx.now().plus(SECONDS);
        let put = Put::new(INVITATION, invitation_id(&token), Vec::new()).expires(expires);
        let batch = Batch::new(TenantId::instance()).put(put);
        self.parts.store.commit(batch).await?;
        Ok(Invitation {
            link: format!("{}wallet/invited?token={token}", self.parts.origin),
            invitation: token,
            expires_in: SECONDS,
        })
    }

    pub(super) fn is_by_invitation(&self) -> bool {
        self.parts.registration == Registration::Invite
    }

    /// The batch that creates an account, if that is allowed: if an invitation is needed, the same commit spends it.
    pub(super) async fn admitted(&self, batch: Batch, invitation: Option<&str>) -> Result<Batch> {
        let kind = ErrorKind::Forbidden;
        match (self.parts.registration, invitation) {
            (Registration::Open, _) => Ok(batch),
            (Registration::Closed, _) => Err(Error::new(kind, "registration-closed")),
            (Registration::Invite, None) => Err(Error::new(kind, "invitation-needed")),
            (Registration::Invite, Some(token)) => {
                let id = invitation_id(token);
                let instance = TenantId::instance();
                let version = self.parts.store.version(&instance, INVITATION, &id).await?;
                match version {
                    Some(version) => Ok(batch
                        .expect(INVITATION, &id, Expect::Version(version))
                        .delete(INVITATION, &id)),
                    None => Err(useless()),
                }
            }
        }
    }
}

/// One error for an invalid invitation and for an address with an account: only a valid invitation could tell which.
pub(super) fn useless() -> Error {
    Error::new(ErrorKind::Forbidden, "invitation-useless")
}

fn invitation_id(token: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"invitation\0", token.as_bytes()]))
}
