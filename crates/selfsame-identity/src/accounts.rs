//! Selfsame's own accounts as an identity system: password, a code by e-mail, and an authenticator app.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_accounts::{Accounts, Whence, account_id};
use selfsame_crypto::SecretString;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, ErrorKind};
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskedElsewhere, AskingClient, ClaimsOrder, ElsewhereOrder, IdentityFault, IdentityFaultKind,
    IdentitySystem, OtpChannel, OtpOrder, OtpSent, PersonClaims, ProvenPerson, SignInAttempt,
};
use serde_json::{Map, Value};

use crate::mask;
use crate::otp::{OtpAddress, OtpDesk, OtpFor};
use crate::totp::Authenticators;

/// Between the two parts of a token: how the address was proven, and the address. The token stays in sealed records.
const SEPARATOR: char = '\n';
/// A code that was sent to the address was among the challenges.
const VERIFIED: &str = "verified";

/// Whatever has the accounts of people.
pub trait HasAccounts: Send + Sync {
    /// The accounts.
    fn accounts(&self) -> &Accounts;
}

impl HasAccounts for Accounts {
    fn accounts(&self) -> &Accounts {
        self
    }
}

/// The accounts of an instance behind the seam.
pub struct OwnAccounts {
    /// The accounts.
    pub people: Arc<dyn HasAccounts>,
    /// The codes that are sent.
    pub desk: OtpDesk,
    /// The authenticator apps.
    pub authenticators: Authenticators,
}

#[async_trait]
impl IdentitySystem for OwnAccounts {
    fn name(&self) -> &str {
        "accounts"
    }

    fn factors(&self) -> Vec<FactorKind> {
        let mut factors = vec![FactorKind::Password, FactorKind::Totp];
        if self.desk.carries(OtpChannel::Email) {
            factors.push(FactorKind::Otp);
        }
        if self.people.accounts().has_passkeys() {
            factors.push(FactorKind::Passkey);
        }
        factors
    }

    /// The claims are in the token itself, which is good for a whole session.
    fn keeps_sessions(&self, _: &SecretString) -> bool {
        true
    }

    fn account(&self, token: &SecretString) -> Option<String> {
        let (_, email) = token.expose().split_once(SEPARATOR)?;
        Some(email.to_owned())
    }

    /// A passkey answers to the sign-in alone that asked for it.
    async fn ask(
        &self,
        asking: &AskingClient,
        order: &ElsewhereOrder,
    ) -> Result<AskedElsewhere, IdentityFault> {
        if order.factor != FactorKind::Passkey {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        }
        let accounts = self.people.accounts();
        let options = accounts.ask_passkey(&asking.transaction).await;
        let options = serde_json::to_string(&options.map_err(fault)?);
        let options = options.map_err(|error| fault(Error::internal(error)))?;
        Ok(AskedElsewhere::Passkey(options))
    }

    async fn send_otp(
        &self,
        asking: &AskingClient,
        order: &OtpOrder,
    ) -> Result<OtpSent, IdentityFault> {
        if !order.channels.contains(&OtpChannel::Email) {
            return Err(IdentityFault::new(IdentityFaultKind::NoAddress));
        }
        let email = address(&order.identifier);
        let known = self
            .people
            .accounts()
            .tenant_of(&email)
            .await
            .map_err(fault)?;
        let account = account_id(&email);
        let to = OtpAddress {
            channel: OtpChannel::Email,
            address: &email,
            locales: &order.locales,
        };
        // The answer does not reveal which addresses have accounts.
        let sent = match known {
            Some(_) => self.desk.send(otp_for(asking, &account), to).await,
            None => self.desk.pretend(otp_for(asking, &account), to).await,
        };
        sent.map_err(fault)?;
        Ok(OtpSent {
            masked_email: Some(mask::email(&email)),
            masked_phone: None,
        })
    }

    async fn code_on_screen(
        &self,
        asking: &AskingClient,
    ) -> Result<Option<SecretString>, IdentityFault> {
        let shown = self.desk.on_screen(&asking.transaction).await;
        shown.map_err(fault)
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> Result<ProvenPerson, IdentityFault> {
        if let [challenge] = &attempt.challenges[..]
            && challenge.factor == FactorKind::Passkey
        {
            return self.proven_by_passkey(asking, &challenge.value).await;
        }
        let email = address(&attempt.identifier);
        // A second factor alone does not identify a person.
        let is_first = |factor| matches!(factor, FactorKind::Password | FactorKind::Otp);
        if !attempt.challenges.iter().any(|one| is_first(one.factor)) {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        }
        let account = account_id(&email);
        // The password first: a wrong one uses up no code.
        let mut challenges: Vec<_> = attempt.challenges.iter().collect();
        challenges.sort_by_key(|one| one.factor != FactorKind::Password);
        for challenge in challenges {
            let value = &challenge.value;
            let what = otp_for(asking, &account);
            let checked = match challenge.factor {
                FactorKind::Password => {
                    let whence = whence(asking);
                    let proven = self.people.accounts().prove(&email, value.clone(), &whence);
                    proven.await.map(drop)
                }
                FactorKind::Otp => self.desk.enter(what, value).await,
                FactorKind::Totp => self.authenticators.enter(&account, value, what.from).await,
                _ => return Err(IdentityFault::new(IdentityFaultKind::Unsupported)),
            };
            checked.map_err(fault)?;
        }
        let given = attempt.challenges.iter();
        let has_second = given.clone().any(|one| one.factor == FactorKind::Totp);
        // Told only after the first factor was proven.
        if !has_second && self.authenticators.has(&account).await.map_err(fault)? {
            let wrong = IdentityFault::new(IdentityFaultKind::WrongChallenge);
            return Err(wrong.with_code("totp-needed"));
        }
        let proof = attempt.challenges.iter().map(|one| one.factor);
        self.proven(&email, proof.collect()).await
    }

    async fn exchange(
        &self,
        _asking: &AskingClient,
        order: &ClaimsOrder,
    ) -> Result<PersonClaims, IdentityFault> {
        let wrong = || IdentityFault::new(IdentityFaultKind::WrongChallenge);
        let (proof, email) = order
            .token
            .expose()
            .split_once(SEPARATOR)
            .ok_or_else(wrong)?;
        let is_verified = proof == VERIFIED;
        Ok(PersonClaims::Plain(claims(
            email,
            is_verified,
            &order.claims,
        )))
    }
}

impl OwnAccounts {
    /// A passkey names its account, and stands for two factors: it verifies its owner.
    async fn proven_by_passkey(
        &self,
        asking: &AskingClient,
        answer: &SecretString,
    ) -> Result<ProvenPerson, IdentityFault> {
        let answer = json::parse_as(answer.expose().as_bytes(), &Limits::default());
        let answer = answer.map_err(|_| IdentityFault::new(IdentityFaultKind::Malformed))?;
        let (accounts, whence) = (self.people.accounts(), whence(asking));
        let owner = accounts.prove_by_passkey(&asking.transaction, &answer, &whence);
        let owner = owner.await.map_err(fault)?;
        Ok(ProvenPerson {
            handle: owner.tenant.as_str().to_owned(),
            subject: None,
            token: SecretString::new(format!("{SEPARATOR}{}", owner.email)),
            factors: vec![FactorKind::Passkey],
        })
    }

    async fn proven(
        &self,
        email: &str,
        factors: Vec<FactorKind>,
    ) -> Result<ProvenPerson, IdentityFault> {
        let known = self
            .people
            .accounts()
            .tenant_of(email)
            .await
            .map_err(fault)?;
        // The code of an unknown person was never sent.
        let wrong = || IdentityFault::new(IdentityFaultKind::WrongChallenge);
        let tenant = known.ok_or_else(wrong)?;
        let proof = match factors.contains(&FactorKind::Otp) {
            true => VERIFIED,
            false => "",
        };
        Ok(ProvenPerson {
            handle: tenant.as_str().to_owned(),
            subject: None,
            token: SecretString::new(format!("{proof}{SEPARATOR}{email}")),
            factors,
        })
    }
}

/// The claims that are asked for, of those that an account has (OpenID Connect Core §5.1).
fn claims(email: &str, is_verified: bool, wanted: &[String]) -> Map<String, Value> {
    let all = [
        ("email", Value::from(email)),
        ("email_verified", Value::from(is_verified)),
        ("preferred_username", Value::from(email)),
    ];
    let asked = |(name, _): &(&str, Value)| wanted.iter().any(|wanted| wanted == name);
    let all = all.into_iter().filter(asked);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn address(identifier: &SecretString) -> String {
    identifier.expose().trim().to_lowercase()
}

fn otp_for<'a>(asking: &'a AskingClient, account: &'a str) -> OtpFor<'a> {
    OtpFor {
        sign_in: &asking.transaction,
        account,
        from: asking.from.as_ref().map(|from| from.address),
    }
}

fn whence(asking: &AskingClient) -> Whence {
    match &asking.from {
        Some(from) => Whence::of(from.address, from.known.as_deref()),
        None => Whence::of(IpAddr::V4(Ipv4Addr::UNSPECIFIED), None),
    }
}

/// The fault of an error of a use case, with the id of its reason as code.
fn fault(error: Error) -> IdentityFault {
    let kind = match error.kind {
        ErrorKind::Unauthenticated => IdentityFaultKind::WrongChallenge,
        ErrorKind::BadRequest => IdentityFaultKind::Malformed,
        ErrorKind::TooMany { retry_after } => IdentityFaultKind::Blocked { retry_after },
        _ => {
            tracing::warn!(reason = %error, "an account can't be asked");
            IdentityFaultKind::Unavailable
        }
    };
    IdentityFault::new(kind).with_code(error.reason.id())
}

#[cfg(test)]
mod tests;
