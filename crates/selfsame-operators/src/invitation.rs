//! Invitations to work for an organisation: each works once, within a week.

use selfsame_accounts::{Created, NewSession, Whence, account_id};
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::{SecretString, encoding, hash};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, Record};

use crate::authority::Authority;
use crate::operators::{Operators, home, of_organisation};
use crate::people::{OperatorMember, given};
use crate::role::OperatorRole;
use crate::view::{Invited, OperatorInvitation};

pub(crate) const INVITATION: &str = "operator_invitation";
const SECONDS: u64 = 7 * 86_400;

/// The form in which a person accepts an invitation. A person with an account gives its password; another one chooses
/// one.
pub struct Acceptance<'a> {
    /// The invitation's token.
    pub token: &'a str,
    /// The e-mail address.
    pub email: &'a str,
    /// The password.
    pub password: SecretString,
}

impl Operators {
    /// Invites a person to have these roles in an organisation.
    ///
    /// # Errors
    /// `BadRequest` for roles that do not fit, `Forbidden` for a role with rights that `by` lacks.
    pub async fn invite(
        &self,
        by: &Authority,
        organisation: &OrganisationName,
        roles: &[OperatorRole],
    ) -> Result<OperatorInvitation> {
        let roles = given(by, organisation, roles)?;
        let ctx = self.clock.ctx();
        let token = ctx.token("operator/invitation");
        let invited = Invited {
            organisation: organisation.clone(),
            roles,
        };
        let put = Put::new(INVITATION, invitation_id(&token), encode(&invited)?)
            .tag(of_organisation(organisation))
            .expires(ctx.now().plus(SECONDS));
        self.store.commit(Batch::new(home()).put(put)).await?;
        let link = self.origin.join("operator/invited");
        let mut link = link.map_err(Error::internal)?;
        link.query_pairs_mut().append_pair("token", &token);
        Ok(OperatorInvitation {
            link: link.into(),
            expires_in: SECONDS,
        })
    }

    /// What an invitation is for.
    ///
    /// # Errors
    /// `Gone` if it was used, has expired, or never existed.
    pub async fn invited(&self, token: &str) -> Result<Invited> {
        decode(&self.invitation(token).await?.value)
    }

    /// Accepts an invitation, and signs the person in.
    ///
    /// # Errors
    /// `Gone` for an invitation that is over; `BadRequest` for an unusable address or password; for an address that has
    /// an account, those of [`selfsame_accounts::Accounts::sign_in`].
    pub async fn accept(&self, form: Acceptance<'_>, whence: &Whence) -> Result<NewSession> {
        let stored = self.invitation(form.token).await?;
        let invited: Invited = decode(&stored.value)?;
        let email = form.email.trim().to_lowercase();
        let joining = OperatorMember {
            organisation: invited.organisation,
            person: account_id(&email),
            email,
            roles: invited.roles,
            since: self.clock.now(),
        };
        let spending = Batch::new(home())
            .expect(INVITATION, &stored.id, Expect::Version(stored.version))
            .delete(INVITATION, &stored.id);
        if self.accounts.has(&joining.email).await? {
            let session = self
                .accounts
                .sign_in(&joining.email, form.password, whence)
                .await?;
            self.join(joining, spending)
                .await
                .map_err(over_if_conflict)?;
            return Ok(session);
        }
        let batch = spending.put(joining.put()?);
        match self
            .accounts
            .create(&joining.email, form.password, batch)
            .await?
        {
            Created::Account(session) => {
                tracing::info!(organisation = %joining.organisation, person = joining.person, "person joined");
                Ok(session)
            }
            Created::Conflict(_) => Err(over()),
        }
    }

    async fn invitation(&self, token: &str) -> Result<Record> {
        let found = self
            .store
            .read(&home(), INVITATION, &invitation_id(token))
            .await?;
        found.ok_or_else(over)
    }
}

fn over_if_conflict(error: Error) -> Error {
    match error.kind {
        ErrorKind::Conflict => over(),
        _ => error,
    }
}

fn over() -> Error {
    Error::new(ErrorKind::Gone, "operator-invitation-over")
}

/// A hash of the token, so that reading the store is not enough to accept.
fn invitation_id(token: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[
        b"operator invitation\0",
        token.as_bytes(),
    ]))
}
