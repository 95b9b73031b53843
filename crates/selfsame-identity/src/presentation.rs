//! A credential from a wallet as an identity system (OpenID4VP 1.0): whom it names is who signs in.
//!
//! A sign-in asks for the same credential twice, by a request for a wallet on the browser's device and by one for a
//! wallet elsewhere. An answer counts once, for the sign-in that asked, in the browser that began it: the wallet's answer
//! is held by the verifier until that browser comes for it.

mod desk;
mod records;
mod rules;

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_crypto::{SecretString, json};
use selfsame_driver::clock::Clock;
use selfsame_driver::record::{RecordCache, decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskedElsewhere, AskedPresentation, AskingClient, ClaimsOrder, ElsewhereOrder, IdentityFault,
    IdentityFaultKind, IdentitySystem, OtpOrder, OtpSent, PersonClaims, PresentedChallenge,
    ProvenPerson, SignInAttempt, WaySettings,
};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde_json::{Map, Value};

pub use desk::{
    AnswerPlace, OpenedPresentation, PresentationAnswer, PresentationDesk, ReturnedBrowser,
    ShownCredential, WantedCredential, WantedPresentation,
};
pub use rules::{AcceptedCredential, PresentationRules, PresentedPerson};

use records::{ASKED, AskedRecord, ONLY, OpenQuestion, RULES, asked_id};

/// How often one sign-in asks for a credential.
const ASKED_MAX: u32 = 10;
/// Seconds to wait after that.
const LATER: u64 = 300;
/// Seconds for which a sign-in's question is kept: longer than the sign-in lasts.
const SECONDS: u64 = 1_200;

/// Sign-in with credentials, for every organisation that has rules for it.
pub struct Presentations {
    desk: Arc<dyn PresentationDesk>,
    store: Store,
    clock: Clock,
    rules: RecordCache<PresentationRules>,
}

/// The record of a sign-in, with its version.
struct KeptQuestion {
    record: AskedRecord,
    expect: Expect,
}

type PresentationResult<T> = std::result::Result<T, IdentityFault>;

impl Presentations {
    /// Sign-in with credentials that this verifier checks.
    #[must_use]
    pub fn new(desk: Arc<dyn PresentationDesk>, store: Store, clock: Clock) -> Self {
        Self {
            desk,
            store,
            clock,
            rules: RecordCache::default(),
        }
    }

    /// The rules of the organisation with this tenant.
    async fn rules(&self, tenant: &TenantId) -> Result<Option<PresentationRules>> {
        let found = self.rules.find(&self.store, tenant, RULES, ONLY).await?;
        Ok(found.map(|(rules, version)| {
            self.rules.keep(version, rules.clone());
            rules
        }))
    }

    async fn set_rules(&self, tenant: &TenantId, rules: &PresentationRules) -> Result<()> {
        rules.check()?;
        self.desk.check(tenant, &rules.wanted()).await?;
        let put = Put::new(RULES, ONLY, encode(rules)?);
        self.store
            .commit(Batch::new(tenant.clone()).put(put))
            .await?;
        tracing::info!(%tenant, "people sign in with credentials");
        Ok(())
    }

    async fn kept(&self, asking: &AskingClient) -> Result<KeptQuestion> {
        let id = asked_id(&asking.transaction);
        let read = self.store.read(&asking.tenant, ASKED, &id).await?;
        Ok(match read {
            None => KeptQuestion {
                record: AskedRecord::default(),
                expect: Expect::Absent,
            },
            Some(read) => KeptQuestion {
                record: decode(&read.value)?,
                expect: Expect::Version(read.version),
            },
        })
    }

    /// Writes the record of a sign-in, unless another call did so since it was read.
    async fn keep(&self, asking: &AskingClient, kept: &KeptQuestion) -> Result<bool> {
        let id = asked_id(&asking.transaction);
        let put = Put::new(ASKED, &id, encode(&kept.record)?);
        let put = put.expires(self.clock.now().plus(SECONDS));
        let batch = Batch::new(asking.tenant.clone()).expect(ASKED, &id, kept.expect);
        match self.store.commit(batch.put(put)).await {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// What became of a presentation. One that is not kept any more is over.
    async fn answer(&self, tenant: &TenantId, id: &str) -> Result<PresentationAnswer> {
        match self.desk.answer(tenant, id).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(PresentationAnswer::Over),
            answer => answer,
        }
    }

    /// The question that a sign-in has open, as long as it can be answered or was.
    async fn still_open(
        &self,
        tenant: &TenantId,
        record: &AskedRecord,
    ) -> Result<Option<AskedPresentation>> {
        let Some(open) = &record.open else {
            return Ok(None);
        };
        let seen = open.elsewhere.as_ref().unwrap_or(&open.here);
        let answer = self.answer(tenant, &seen.id).await?;
        let is_answered = match (answer, &open.elsewhere) {
            (PresentationAnswer::Over, _) | (PresentationAnswer::Refused, None) => return Ok(None),
            (PresentationAnswer::Awaited, _) => false,
            // On one device the browser must come back by the wallet's link.
            (PresentationAnswer::Shown(_) | PresentationAnswer::Refused, shown) => shown.is_some(),
        };
        Ok(Some(open.shown(is_answered)))
    }

    async fn asked(
        &self,
        asking: &AskingClient,
        order: &ElsewhereOrder,
    ) -> Result<AskedPresentation> {
        let tenant = &asking.tenant;
        let rules = self.rules(tenant).await?;
        let rules = rules.ok_or_else(|| Error::bad_request("factor-unsupported"))?;
        let mut kept = self.kept(asking).await?;
        if let Some(open) = self.still_open(tenant, &kept.record).await? {
            return Ok(open);
        }
        if kept.record.times >= ASKED_MAX {
            let kind = ErrorKind::TooMany { retry_after: LATER };
            return Err(Error::new(kind, "sign-in-wallet-exhausted"));
        }
        let open = self.opened(tenant, rules, &order.page).await?;
        let shown = open.shown(false);
        kept.record = AskedRecord {
            times: kept.record.times.saturating_add(1),
            open: Some(open),
        };
        if self.keep(asking, &kept).await? {
            return Ok(shown);
        }
        // Another page of the same sign-in came first.
        let kept = self.kept(asking).await?;
        let open = kept.record.open.map(|open| open.shown(false));
        open.ok_or_else(|| Error::new(ErrorKind::Conflict, "sign-in-elsewhere"))
    }

    async fn opened(
        &self,
        tenant: &TenantId,
        rules: PresentationRules,
        page: &str,
    ) -> Result<OpenQuestion> {
        let wanted = rules.wanted();
        let ctx = self.clock.ctx();
        let place = AnswerPlace {
            is_here: true,
            page: page.to_owned(),
            browser: ctx.token("presentation browser").into(),
        };
        let here = self.desk.open(tenant, &wanted, &place).await?;
        let place = AnswerPlace {
            is_here: false,
            ..place
        };
        let elsewhere = match rules.other_device {
            true => Some(self.desk.open(tenant, &wanted, &place).await?),
            false => None,
        };
        Ok(OpenQuestion {
            rules,
            here,
            elsewhere,
            browser: place.browser,
        })
    }

    /// What became of the presentation that a challenge names, if this sign-in asked for it.
    async fn named(
        &self,
        tenant: &TenantId,
        open: &OpenQuestion,
        challenge: &SecretString,
    ) -> Result<PresentationAnswer> {
        let PresentedChallenge { id, code } = PresentedChallenge::read(challenge);
        let is_elsewhere = open.elsewhere.as_ref().is_some_and(|one| one.id == id);
        match &code {
            None if is_elsewhere => self.answer(tenant, &id).await,
            Some(code) if open.here.id == id => {
                let browser = ReturnedBrowser {
                    id: &id,
                    code,
                    browser: &open.browser,
                };
                match self.desk.returned(tenant, &browser).await {
                    Err(error) if error.kind == ErrorKind::Forbidden => {
                        Ok(PresentationAnswer::Awaited)
                    }
                    answer => answer,
                }
            }
            _ => Ok(PresentationAnswer::Awaited),
        }
    }

    /// The person whom the credential shown names. The answer is used up.
    async fn proven(
        &self,
        asking: &AskingClient,
        challenge: &SecretString,
    ) -> PresentationResult<PresentedPerson> {
        let kept = self.kept(asking).await.map_err(failed)?;
        let Some(open) = &kept.record.open else {
            return Err(refused("this sign-in asks for no credential"));
        };
        let answer = self.named(&asking.tenant, open, challenge).await;
        let person = match answer.map_err(failed)? {
            PresentationAnswer::Awaited => {
                return Err(refused("it is no answer to what this sign-in asks for"));
            }
            PresentationAnswer::Shown(shown) => {
                let person = open.rules.person(&shown);
                person.ok_or("the credential names no subject")
            }
            PresentationAnswer::Refused => Err("what was shown is not accepted"),
            PresentationAnswer::Over => Err("the wallet has not answered in time"),
        };
        let used = KeptQuestion {
            record: AskedRecord {
                times: kept.record.times,
                open: None,
            },
            expect: kept.expect,
        };
        match self.keep(asking, &used).await.map_err(failed)? {
            true => person.map_err(refused),
            false => Err(refused("the answer was used")),
        }
    }
}

#[async_trait]
impl WaySettings for Presentations {
    async fn settings(&self, tenant: &TenantId) -> Result<Option<Value>> {
        let rules = self.rules(tenant).await?;
        let rules = rules.map(serde_json::to_value).transpose();
        rules.map_err(Error::internal)
    }

    async fn set(&self, tenant: &TenantId, settings: Value) -> Result<Value> {
        let rules = json::value_as(settings).map_err(|error| {
            Error::bad_request("sign-in-wallet-malformed").with("detail", &error)
        })?;
        self.set_rules(tenant, &rules).await?;
        serde_json::to_value(&rules).map_err(Error::internal)
    }

    async fn remove(&self, tenant: &TenantId) -> Result<()> {
        let batch = Batch::new(tenant.clone()).delete(RULES, ONLY);
        self.store.commit(batch).await?;
        Ok(())
    }
}

impl OpenQuestion {
    fn shown(&self, is_answered: bool) -> AskedPresentation {
        let titles = self.rules.credentials.iter();
        let seen = self.elsewhere.as_ref();
        AskedPresentation {
            credentials: titles.map(|one| one.title.clone()).collect(),
            here: self.here.uri.clone(),
            elsewhere: seen.map(|seen| seen.uri.clone()),
            id: seen.unwrap_or(&self.here).id.clone(),
            is_answered,
        }
    }
}

#[async_trait]
impl IdentitySystem for Presentations {
    fn name(&self) -> &str {
        "presentation"
    }

    fn factors(&self) -> Vec<FactorKind> {
        vec![FactorKind::Presentation]
    }

    async fn factors_at(&self, tenant: &TenantId) -> PresentationResult<Vec<FactorKind>> {
        let rules = self.rules(tenant).await.map_err(failed)?;
        Ok(rules
            .map(|_| FactorKind::Presentation)
            .into_iter()
            .collect())
    }

    /// The claims are in the token itself, which is good for a whole session.
    fn keeps_sessions(&self, _: &SecretString) -> bool {
        true
    }

    async fn ask(
        &self,
        asking: &AskingClient,
        order: &ElsewhereOrder,
    ) -> PresentationResult<AskedElsewhere> {
        let asked = self.asked(asking, order).await.map_err(failed)?;
        Ok(AskedElsewhere::Presentation(asked))
    }

    async fn send_otp(&self, _: &AskingClient, _: &OtpOrder) -> PresentationResult<OtpSent> {
        Err(IdentityFault::new(IdentityFaultKind::Unsupported))
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> PresentationResult<ProvenPerson> {
        let [challenge] = &attempt.challenges[..] else {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        };
        if challenge.factor != FactorKind::Presentation {
            return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
        }
        let person = self.proven(asking, &challenge.value).await?;
        Ok(ProvenPerson {
            handle: person.handle,
            subject: None,
            token: Value::Object(person.claims).to_string().into(),
            factors: vec![FactorKind::Presentation],
        })
    }

    async fn exchange(
        &self,
        _: &AskingClient,
        order: &ClaimsOrder,
    ) -> PresentationResult<PersonClaims> {
        let claims: Map<String, Value> = serde_json::from_str(order.token.expose())
            .map_err(|_| IdentityFault::new(IdentityFaultKind::WrongChallenge))?;
        let asked = |name: &String| order.claims.iter().any(|claim| claim == name);
        let claims = claims.into_iter().filter(|(name, _)| asked(name));
        Ok(PersonClaims::Plain(claims.collect()))
    }
}

fn refused(what: &'static str) -> IdentityFault {
    tracing::info!(what, "a sign-in with a credential was refused");
    IdentityFault::new(IdentityFaultKind::WrongChallenge).with_code("presentation-refused")
}

fn failed(error: Error) -> IdentityFault {
    tracing::warn!(reason = %error, "a sign-in with a credential can't go on");
    IdentityFault::new(match error.kind {
        ErrorKind::TooMany { retry_after } | ErrorKind::Unavailable { retry_after } => {
            IdentityFaultKind::Blocked { retry_after }
        }
        ErrorKind::BadRequest | ErrorKind::NotFound => IdentityFaultKind::Unsupported,
        _ => IdentityFaultKind::Unavailable,
    })
}

#[cfg(test)]
mod tests;
