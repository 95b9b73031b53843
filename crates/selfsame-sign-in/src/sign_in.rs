//! A sign-in from the client's request to the code. Pages and programs call the same operations, each of which finds in
//! the record how far the sign-in is.

use std::sync::Arc;

use selfsame_core::machine::{At, Machine, Next, Round};
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_driver::crowd::CrowdPlace;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oidc::FactorKind;
use selfsame_oidc::subject::subject;
use selfsame_oidc::token::Authentication;
use selfsame_store::Put;

use crate::clients::FoundClient;
use crate::consent::{ConsentQuestion, ConsentRecord};
use crate::identity::{
    AskingClient, Challenge, IdentityFault, IdentityFaultKind, OtpChannel, OtpOrder, OtpSent,
    PersonsDevice, ProvenPerson, SignInAttempt,
};
use crate::record::{
    AgreedTo, ProvenSignIn, ProvenSubject, SIGN_IN, SignInRecord, SignInState, record_id,
    transaction,
};
use crate::refusal::fault;
use crate::service::SignIns;
use crate::session::ProviderSession;
use crate::step::{SignInStep, over};
use crate::view::{AskingClientView, SignInStage, SignInView, SignedInView};

/// Seconds to wait for somebody else's attempt at the same sign-in.
const SOON: u64 = 1;

/// A person's browser or device, at one sign-in.
#[derive(Clone, Debug)]
pub struct SignInVisitor {
    /// The sign-in.
    pub sign_in: String,
    /// The secret that the browser has kept since the sign-in began, if it began in a browser.
    pub browser: Option<SecretString>,
    /// Where it calls from.
    pub from: Option<PersonsDevice>,
    /// How often a person may try at the interface that is called.
    pub limits: AttemptLimits,
}

/// How often a person may try in one sign-in.
#[derive(Clone, Copy, Debug)]
pub struct AttemptLimits {
    /// How many one-time passwords are sent.
    pub sent: u32,
    /// How many attempts may be wrong.
    pub wrong: u32,
}

impl Default for AttemptLimits {
    fn default() -> Self {
        Self { sent: 5, wrong: 5 }
    }
}

/// A one-time password that a person asks for.
#[derive(Clone, Debug)]
pub struct WantedOtp {
    /// The identifier that the person typed in.
    pub identifier: SecretString,
    /// The kinds of addresses to send it to; not empty.
    pub channels: Vec<OtpChannel>,
}

/// A sign-in that was read, with its client.
pub(crate) struct OpenSignIn {
    pub id: String,
    pub record: SignInRecord,
    pub version: u64,
    pub client: Arc<FoundClient>,
}

impl SignIns {
    /// A sign-in on its way.
    ///
    /// # Errors
    /// `NotFound` if it is over or was begun in another browser.
    pub async fn view(&self, visitor: &SignInVisitor) -> Result<SignInView> {
        let open = self.open(visitor).await?;
        self.shown(&visitor.sign_in, &open).await
    }

    /// Has a one-time password sent. For an unknown identifier, no password is sent, and the answer is of the same form.
    ///
    /// # Errors
    /// `TooMany` after as many as the visitor's limits allow; `Conflict` once the person has proved who they are; those
    /// of the identity system.
    pub async fn send_otp(&self, visitor: &SignInVisitor, wanted: WantedOtp) -> Result<OtpSent> {
        let _place = self.place_for(&visitor.sign_in)?;
        let mut open = self.open(visitor).await?;
        if open.record.asked()?.sent >= visitor.limits.sent {
            return Err(exhausted());
        }
        self.count_send(&wanted.identifier)?;
        let order = OtpOrder {
            identifier: wanted.identifier,
            channels: wanted.channels,
            locales: open.record.request.ui_locales.clone(),
        };
        let asking = self.asking(&open, visitor);
        let counted = self.step(|record, (), round| {
            let asked = record.asked()?;
            asked.sent = asked.sent.saturating_add(1);
            Ok(Next::written(round, ()))
        });
        self.drive(&counted, open, ()).await?;
        let sent = self.service.parts.system.send_otp(&asking, &order).await;
        if sent.as_ref().is_err_and(IdentityFault::is_away) {
            // Nothing was sent, so nothing counts.
            let uncounted = self.step(|record, (), round| {
                let asked = record.asked()?;
                asked.sent = asked.sent.saturating_sub(1);
                Ok(Next::written(round, ()))
            });
            let open = self.open(visitor).await?;
            self.drive(&uncounted, open, ()).await?;
        }
        match sent {
            // The answer does not reveal whom the identity system knows.
            Err(error) if error.kind == IdentityFaultKind::UnknownPerson => {
                self.as_if_sent(&order).await
            }
            sent => sent.map_err(|error| fault(&error)),
        }
    }

    /// The one-time password that was sent last, where codes are shown on the screen for trying out.
    ///
    /// # Errors
    /// `NotFound` if the sign-in is over or was begun in another browser; those of the identity system.
    pub async fn code_on_screen(&self, visitor: &SignInVisitor) -> Result<Option<SecretString>> {
        let open = self.open(visitor).await?;
        let asking = self.asking(&open, visitor);
        let shown = self.service.parts.system.code_on_screen(&asking).await;
        shown.map_err(|error| fault(&error))
    }

    /// Checks what a person gives to prove who they are.
    ///
    /// # Errors
    /// `Unauthenticated` if it is wrong; `TooMany` after as many wrong attempts as the visitor's limits allow;
    /// `BadRequest` if the factors do not suffice;
    /// those of the identity system.
    pub async fn authenticate(
        &self,
        visitor: &SignInVisitor,
        attempt: SignInAttempt,
    ) -> Result<SignedInView> {
        let _place = self.place_for(&visitor.sign_in)?;
        let mut open = self.open(visitor).await?;
        if open.record.asked()?.wrong >= visitor.limits.wrong {
            return Err(exhausted());
        }
        self.suffices(&open, &attempt.challenges).await?;
        self.admits_attempt(&attempt.identifier, visitor.from.as_ref())?;
        let asking = self.asking(&open, visitor);
        let system = &self.service.parts.system;
        match system.authenticate(&asking, &attempt).await {
            Ok(person) => self.prove(visitor, open, person).await,
            Err(error) if error.is_away() => Err(fault(&error)),
            Err(error) => {
                self.count_wrong(&attempt.identifier, visitor.from.as_ref());
                let counted = self.step(|record, (), round| {
                    let asked = record.asked()?;
                    asked.wrong = asked.wrong.saturating_add(1);
                    Ok(Next::written(round, ()))
                });
                self.drive(&counted, open, ()).await?;
                Err(fault(&error))
            }
        }
    }

    /// The person proved who they are: begins a session, and looks up what they agreed to before.
    async fn prove(
        &self,
        visitor: &SignInVisitor,
        open: OpenSignIn,
        person: ProvenPerson,
    ) -> Result<SignedInView> {
        let ctx = self.shared().clock.ctx();
        let session = ProviderSession {
            handle: person.handle,
            subject: person.subject,
            token: person.token,
            factors: person.factors,
            at: ctx.now(),
            sid: ctx.token("sign-in/sid"),
        };
        let proven = self.proven_by(&open.record, &open.client, &session).await?;
        if !self.is_expected(&open.record, &proven.person.subject) {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "sign-in-of-another-person",
            ));
        }
        let keeps = self.service.parts.system.keeps_sessions(&session.token);
        let is_told = open.client.party.backchannel_logout_uri.is_some();
        let token = SecretString::from(ctx.token("sign-in/session"));
        let end = ctx.now().plus(open.client.rules.lifetimes.session);
        let begun = (keeps || is_told).then(|| session.put(&token, end));
        let input = ProvenInput {
            proven,
            session: begun.transpose()?,
        };
        let has_session = input.session.is_some();
        tracing::info!(
            client = open.client.party.id,
            "a person proved who they are"
        );
        self.drive(&self.step(prove_step), open, input).await?;
        Ok(SignedInView {
            sign_in: self.view(visitor).await?,
            session: has_session.then_some(token),
        })
    }

    /// The state of a sign-in whose person has this session.
    pub(crate) async fn proven_by(
        &self,
        record: &SignInRecord,
        client: &FoundClient,
        session: &ProviderSession,
    ) -> Result<ProvenSignIn> {
        let keys = &self.service.key_sets;
        let keys = keys.of(self.shared(), &self.place.tenant).await?;
        let made = || subject(&client.party.subjects, &session.handle, &keys.subjects);
        let acr = self
            .service
            .parts
            .acr
            .met(&record.request.acr, &session.factors);
        let mut amr: Vec<String> = Vec::new();
        for method in session.factors.iter().map(|factor| factor.amr()) {
            if !amr.iter().any(|one| one == method) {
                amr.push(method.to_owned());
            }
        }
        let person = ProvenSubject {
            subject: session.subject.clone().unwrap_or_else(made),
            handle: session.handle.clone(),
            token: session.token.clone(),
            authentication: Authentication {
                at: session.at,
                acr: acr.map(str::to_owned),
                amr,
                sid: Some(session.sid.clone()),
            },
        };
        let agreed = self.agreed_before(record, client, &person.handle).await?;
        Ok(ProvenSignIn { person, agreed })
    }

    /// What the person agreed to before, if they need not be asked now.
    async fn agreed_before(
        &self,
        record: &SignInRecord,
        client: &FoundClient,
        handle: &str,
    ) -> Result<Option<AgreedTo>> {
        let question = question(record, client);
        if question.is_empty() {
            let claims = Vec::new();
            let scope = record.request.scope.clone();
            return Ok(Some(AgreedTo { claims, scope }));
        }
        if record.request.prompts.consent {
            return Ok(None);
        }
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let found = ConsentRecord::find(shared, tenant, &client.party.id, handle).await?;
        let same = found.filter(|found| found.question == question.hash());
        Ok(same.map(|found| found.agreed))
    }

    /// Whether a subject is the one that the client expects, if it expects one.
    pub(crate) fn is_expected(&self, record: &SignInRecord, subject: &str) -> bool {
        let demanded = record.request.demanded_subject();
        let mut expected = record.hinted.as_deref().into_iter().chain(demanded);
        expected.all(|expected| ct_eq(expected.as_bytes(), subject.as_bytes()))
    }

    /// Refuses challenges that do not suffice for the request.
    async fn suffices(&self, open: &OpenSignIn, given: &[Challenge]) -> Result<()> {
        let mut given: Vec<FactorKind> = given.iter().map(|one| one.factor).collect();
        given.sort();
        given.dedup();
        let wanted = self.factors(&open.record).await?;
        let is_met = |factors: &Vec<FactorKind>| factors.iter().all(|one| given.contains(one));
        match wanted.iter().any(is_met) {
            true => Ok(()),
            false => Err(Error::bad_request("factors-insufficient")),
        }
    }

    /// The combinations of factors that suffice for a request.
    pub(crate) async fn factors(&self, record: &SignInRecord) -> Result<Vec<Vec<FactorKind>>> {
        let known = self.service.parts.system.factors_at(&self.place.tenant);
        let known = known.await.map_err(|error| fault(&error))?;
        let by_class = self.service.parts.acr.factors(&record.request.acr, &known);
        if !by_class.is_empty() || record.request.acr_is_essential {
            return Ok(by_class);
        }
        // Classes that are not essential are a wish (OpenID Connect Core §3.1.2.1).
        let alone = known.into_iter().filter(|factor| factor.stands_alone());
        Ok(alone.map(|factor| vec![factor]).collect())
    }

    pub(crate) async fn open(&self, visitor: &SignInVisitor) -> Result<OpenSignIn> {
        let (id, tenant) = (record_id(&visitor.sign_in), &self.place.tenant);
        let records = &self.service.records;
        let found = records
            .find(&self.shared().store, tenant, SIGN_IN, &id)
            .await?;
        let (record, version) = found.ok_or_else(over)?;
        let given = visitor.browser.as_ref();
        let given = given.map(|secret| sha256(secret.expose().as_bytes()));
        // A sign-in that began in a browser goes on there alone: another browser cannot use its address.
        let is_here = match (&record.browser, given) {
            (None, _) => true,
            (Some(kept), Some(given)) => ct_eq(kept, &given),
            (Some(_), None) => false,
        };
        if !is_here || record.expires <= self.shared().clock.now() {
            return Err(over());
        }
        let client = self.clients().active(&record.request.client_id).await?;
        let client = client.ok_or_else(over)?;
        Ok(OpenSignIn {
            id,
            record,
            version,
            client,
        })
    }

    pub(crate) async fn shown(&self, sign_in: &str, open: &OpenSignIn) -> Result<SignInView> {
        let (record, party) = (&open.record, &open.client.party);
        let question = question(record, &open.client);
        let stage = match &record.state {
            SignInState::Asked(_) => SignInStage::Authentication,
            SignInState::Proven(proven) if proven.agreed.is_none() => SignInStage::Consent,
            _ => SignInStage::Agreed,
        };
        Ok(SignInView {
            id: sign_in.to_owned(),
            client: AskingClientView {
                client_id: party.id.clone(),
                names: party.names.clone(),
                logo_uri: party.logo_uri.clone(),
                logo: open.client.logo().map(str::to_owned),
                policy_uri: party.policy_uri.clone(),
                tos_uri: party.tos_uri.clone(),
            },
            stage,
            factors: self.factors(record).await?,
            scopes: question.scopes.iter().map(str::to_owned).collect(),
            essential: question.claims.essential.into_iter().collect(),
            voluntary: question.claims.voluntary.into_iter().collect(),
            ui_locales: record.request.ui_locales.clone(),
            login_hint: record.request.login_hint.clone(),
            redirect_uri: record.request.redirect_uri.clone(),
            expires: record.expires,
        })
    }

    pub(crate) fn asking(&self, open: &OpenSignIn, visitor: &SignInVisitor) -> AskingClient {
        AskingClient {
            tenant: self.place.tenant.clone(),
            client_id: open.client.party.id.clone(),
            relying_party: open.client.party.relying_party.clone(),
            transaction: transaction(&open.id),
            from: visitor.from.clone(),
        }
    }

    pub(crate) fn step<I, R>(
        &self,
        step: fn(&mut SignInRecord, &I, &Round<'_>) -> Result<Next<R>>,
    ) -> SignInStep<'_, I, R> {
        SignInStep {
            records: &self.service.records,
            step,
        }
    }

    /// Takes a step of a sign-in that was read.
    pub(crate) async fn drive<M: Machine<Record = SignInRecord>>(
        &self,
        machine: &M,
        open: OpenSignIn,
        input: M::Input,
    ) -> Result<M::Reply> {
        let found = Some((open.record, open.version));
        let at = self.at(&open.id);
        let driven = self.shared().drive_from(machine, at, found, input).await?;
        Ok(driven.reply)
    }

    pub(crate) fn at<'a>(&'a self, id: &'a str) -> At<'a> {
        At {
            tenant: &self.place.tenant,
            id,
        }
    }

    fn place_for<'a>(&'a self, sign_in: &'a str) -> Result<CrowdPlace<'a>> {
        let place = self.service.attempts.enter(sign_in);
        let kind = ErrorKind::TooMany { retry_after: SOON };
        place.ok_or(Error::new(kind, "sign-in-busy"))
    }
}

/// What a person is asked to agree to.
pub(crate) fn question(record: &SignInRecord, client: &FoundClient) -> ConsentQuestion {
    ConsentQuestion {
        claims: record.request.question(&client.party),
        scopes: record.request.asked_scopes(),
    }
}

struct ProvenInput {
    proven: ProvenSignIn,
    session: Option<Put>,
}

fn prove_step(
    record: &mut SignInRecord,
    input: &ProvenInput,
    round: &Round<'_>,
) -> Result<Next<()>> {
    record.asked()?;
    record.state = SignInState::Proven(Box::new(ProvenSignIn {
        person: input.proven.person.clone(),
        agreed: input.proven.agreed.clone(),
    }));
    let next = Next::written(round, ());
    Ok(match &input.session {
        Some(session) => next.put(session.clone()),
        None => next,
    })
}

fn exhausted() -> Error {
    let kind = ErrorKind::TooMany { retry_after: 300 };
    Error::new(kind, "sign-in-attempts-exhausted")
}
