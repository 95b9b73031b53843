//! The OpenID providers of an instance's organisations, which know people by their accounts here.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_accounts::Whence;
use selfsame_core::Shared;
use selfsame_core::organisation::Organisation;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_oidc::{AcrTable, FactorKind, Preset};
use selfsame_sign_in::identity::{
    AskingClient, ClaimsOrder, IdentityFault, IdentityFaultKind, IdentitySystem, OtpOrder, OtpSent,
    PersonClaims, ProvenPerson, SignInAttempt,
};
use selfsame_sign_in::{SignInParts, SignInService, SignIns};
use selfsame_wallet::Wallet;
use serde_json::{Map, Value};

use super::App;

impl App {
    /// The OpenID provider of an organisation.
    ///
    /// # Errors
    /// `NotFound` if this instance knows no people.
    pub fn sign_ins(&self, organisation: &Organisation) -> Result<SignIns> {
        let absent = || Error::of(ErrorKind::NotFound, Reason::new("wallets-absent"));
        let service = self.sign_in.as_ref().ok_or_else(absent)?;
        service.of(organisation)
    }
}

/// The providers, if the instance knows people.
pub(super) fn service(
    shared: &Arc<Shared>,
    wallet: Option<&Arc<Wallet>>,
) -> Option<Arc<SignInService>> {
    let wallet = wallet?.clone();
    Some(Arc::new(SignInService::new(SignInParts {
        shared: shared.clone(),
        system: Arc::new(PasswordAccounts(wallet)),
        preset: Preset::Strict,
        acr: AcrTable::default(),
        locales: vec!["en"],
    })))
}

/// The accounts of people with a wallet, by password.
struct PasswordAccounts(Arc<Wallet>);

#[async_trait]
impl IdentitySystem for PasswordAccounts {
    fn name(&self) -> &str {
        "accounts"
    }

    fn factors(&self) -> Vec<FactorKind> {
        vec![FactorKind::Password]
    }

    /// An account's claims are found by its handle, so its tokens are good for a whole session.
    fn keeps_sessions(&self) -> bool {
        true
    }

    async fn send_otp(
        &self,
        _: &AskingClient,
        _: &OtpOrder,
    ) -> std::result::Result<OtpSent, IdentityFault> {
        Err(IdentityFault::new(IdentityFaultKind::Unsupported))
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> std::result::Result<ProvenPerson, IdentityFault> {
        let [challenge] = &attempt.challenges[..] else {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        };
        let from = asking.from.as_ref();
        let address = from.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |from| from.address);
        let whence = Whence::of(address, from.and_then(|from| from.known.as_deref()));
        let (email, password) = (attempt.identifier.expose(), challenge.value.clone());
        let accounts = self.0.accounts();
        let session = accounts.sign_in(email, password, &whence).await;
        let session = session.map_err(|error| fault(&error))?;
        let person = accounts.person(&session.token).await;
        let person = person.map_err(|error| fault(&error))?;
        // The session of the pages is another one: this one proved a password.
        let ended = accounts.sign_out(&session.token).await;
        ended.map_err(|error| fault(&error))?;
        Ok(ProvenPerson {
            handle: person.tenant.to_string(),
            subject: None,
            token: person.email.into(),
            factors: vec![FactorKind::Password],
        })
    }

    async fn exchange(
        &self,
        _: &AskingClient,
        order: &ClaimsOrder,
    ) -> std::result::Result<PersonClaims, IdentityFault> {
        let known = [
            ("email", Value::from(order.token.expose())),
            // Addresses of accounts are not verified.
            ("email_verified", Value::Bool(false)),
        ];
        let given = known
            .into_iter()
            .filter(|(name, _)| order.claims.iter().any(|one| one == name));
        let given = given.map(|(name, value)| (name.to_owned(), value));
        Ok(PersonClaims::Plain(given.collect::<Map<_, _>>()))
    }
}

fn fault(error: &Error) -> IdentityFault {
    IdentityFault::new(match error.kind {
        ErrorKind::Unauthenticated | ErrorKind::BadRequest => IdentityFaultKind::WrongChallenge,
        ErrorKind::TooMany { retry_after } => IdentityFaultKind::Blocked { retry_after },
        _ => IdentityFaultKind::Unavailable,
    })
}
