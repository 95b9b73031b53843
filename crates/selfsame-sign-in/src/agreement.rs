//! What a person agrees to, and the code that the client then gets.

use selfsame_core::machine::{Next, Round};
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256;
use selfsame_driver::{Error, Result};
use selfsame_oauth::ScopeSet;
use selfsame_store::Put;

use crate::consent::{ConsentQuestion, ConsentRecord};
use crate::landing::declined;
use crate::past::{self, SignInOutcome};
use crate::record::{AgreedTo, CodedSignIn, HandedCode, SignInRecord, SignInState, elsewhere};
use crate::service::SignIns;
use crate::sign_in::{OpenSignIn, SignInVisitor, question};
use crate::view::{Landing, PersonsAgreement};

impl SignIns {
    /// Ends a sign-in with a code: the person agrees now, or agreed before, which then counts.
    ///
    /// # Errors
    /// `BadRequest` if an essential claim is missing or something else is agreed to than was asked; `Conflict` before the
    /// person proved who they are, and after the code was given.
    pub async fn agree(
        &self,
        visitor: &SignInVisitor,
        agreement: &PersonsAgreement,
    ) -> Result<Landing> {
        let open = self.open(visitor).await?;
        self.agree_to(open, agreement).await
    }

    pub(crate) async fn agree_to(
        &self,
        open: OpenSignIn,
        agreement: &PersonsAgreement,
    ) -> Result<Landing> {
        let (record, now) = (&open.record, self.shared().clock.now());
        let proven = record.proven()?;
        let lifetimes = open.client.rules.lifetimes;
        let (agreed, remembered) = match &proven.agreed {
            Some(agreed) => (agreed.clone(), None),
            None => {
                let question = question(record, &open.client);
                let agreed = agreed(&question, &record.request.scope, agreement)?;
                let consent = ConsentRecord {
                    client_id: open.client.party.id.clone(),
                    question: question.hash(),
                    agreed: agreed.clone(),
                    at: now,
                };
                let end = now.plus(lifetimes.consent);
                (agreed, Some(consent.put(&proven.person.handle, end)?))
            }
        };
        let (client_id, outcome) = (&open.client.party.id, SignInOutcome::SignedIn);
        let input = AgreedInput {
            agreed,
            remembered,
            past: past::put(self.shared(), client_id, &proven.person, outcome)?,
            lifetime: lifetimes.code,
        };
        let request = record.request.clone();
        let id = open.id.clone();
        let secret = self.drive(&self.step(code_step), open, input).await?;
        tracing::info!(client = request.client_id, "a code was given");
        let code = HandedCode::make(&id, secret.expose());
        Ok(self.with_code(&request, code))
    }

    /// Ends a sign-in because the person declines.
    ///
    /// # Errors
    /// `Conflict` after the code was given.
    pub async fn decline(&self, visitor: &SignInVisitor) -> Result<Landing> {
        let open = self.open(visitor).await?;
        let request = open.record.request.clone();
        let (client_id, outcome) = (&open.client.party.id, SignInOutcome::Declined);
        let past = match &open.record.state {
            SignInState::Proven(proven) => Some(past::put(
                self.shared(),
                client_id,
                &proven.person,
                outcome,
            )?),
            _ => None,
        };
        let ending = self.step(|record, past: &Option<Put>, round| match &record.state {
            SignInState::Asked(_) | SignInState::Proven(_) => {
                let next = Next::deleted(round, ());
                Ok(past.iter().cloned().fold(next, Next::put))
            }
            _ => Err(elsewhere()),
        });
        self.drive(&ending, open, past).await?;
        Ok(self.with_error(&request, declined()))
    }
}

struct AgreedInput {
    agreed: AgreedTo,
    remembered: Option<Put>,
    /// The sign-in, as it is listed.
    past: Put,
    /// The lifetime of the code, in seconds.
    lifetime: u64,
}

/// What counts of an agreement: no more than was asked, and all that is essential.
fn agreed(
    question: &ConsentQuestion,
    scope: &ScopeSet,
    agreement: &PersonsAgreement,
) -> Result<AgreedTo> {
    let claims = &question.claims;
    let is_asked =
        |claim: &String| claims.essential.contains(claim) || claims.voluntary.contains(claim);
    if !agreement.claims.iter().all(is_asked) {
        return Err(Error::bad_request("claims-not-asked"));
    }
    if !claims
        .essential
        .iter()
        .all(|one| agreement.claims.contains(one))
    {
        return Err(Error::bad_request("claims-essential"));
    }
    let permitted: ScopeSet = agreement.scopes.iter().map(String::as_str).collect();
    if !permitted.is_within(&question.scopes) {
        return Err(Error::bad_request("scopes-not-asked"));
    }
    let allows = |one: &str| permitted.has(one) || !question.scopes.has(one);
    Ok(AgreedTo {
        claims: agreement.claims.clone(),
        scope: scope.keep(allows),
    })
}

fn code_step(
    record: &mut SignInRecord,
    input: &AgreedInput,
    round: &Round<'_>,
) -> Result<Next<SecretString>> {
    let person = record.proven()?.person.clone();
    let secret = SecretString::from(round.ctx.token("sign-in/code"));
    record.state = SignInState::Coded(Box::new(CodedSignIn {
        person,
        agreed: input.agreed.clone(),
        code: sha256(secret.expose().as_bytes()),
    }));
    record.expires = round.ctx.now().plus(input.lifetime);
    let next = Next::written(round, secret).put(input.past.clone());
    Ok(match &input.remembered {
        Some(consent) => next.put(consent.clone()),
        None => next,
    })
}

#[cfg(test)]
mod tests {
    use selfsame_oidc::claims::ClaimQuestion;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn agree(claims: &[&str], scopes: &[&str]) -> Result<AgreedTo> {
        let question = ConsentQuestion {
            claims: ClaimQuestion {
                essential: names(&["name"]).into_iter().collect(),
                voluntary: names(&["email", "gender"]).into_iter().collect(),
            },
            scopes: ScopeSet::parse("records").unwrap(),
        };
        let agreement = PersonsAgreement {
            claims: names(claims),
            scopes: names(scopes),
        };
        let scope = ScopeSet::parse("openid profile records").unwrap();
        agreed(&question, &scope, &agreement)
    }

    #[test]
    fn a_person_agrees_to_the_essential_and_to_as_much_else_as_they_like() {
        let agreed = agree(&["name", "gender"], &[]).unwrap();
        assert_eq!(agreed.claims, ["name", "gender"]);
        assert_eq!(agreed.scope.to_string(), "openid profile");
        let agreed = agree(&["name"], &["records"]).unwrap();
        assert!(agreed.scope.has("records"));
    }

    #[test]
    fn an_agreement_to_something_else_than_was_asked_is_refused() {
        for (claims, scopes) in [
            (&["email"][..], &[][..]),
            (&["name", "address"], &[]),
            (&["name"], &["openid"]),
            (&["name"], &["other"]),
        ] {
            assert!(agree(claims, scopes).is_err(), "{claims:?} {scopes:?}");
        }
    }
}
