//! The beginning of a sign-in: a client's request, by its parameters, as a signed object, or pushed ahead.

use selfsame_core::machine::FlowOrigin;
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_oauth::jwt::Jwt;
use selfsame_oauth::{Code, Error as Refused, Form};
use selfsame_store::{Batch, Expect, Put, StoreError};

use crate::pushed_record::{PUSHED, unknown};
use crate::read::{ReadRequest, RequestRead};
use crate::record::{SIGN_IN, SignInRecord, SignInState, UnprovenSignIn, record_id};
use crate::refusal::refuse;
use crate::service::SignIns;
use crate::session::ProviderSession;
use crate::sign_in::OpenSignIn;
use crate::spent::{SpentIds, refused, spend};
use crate::view::{BegunSignIn, Landing, PersonsAgreement, SignInStage};

/// A browser that a client sends here.
#[derive(Clone, Debug, Default)]
pub struct ArrivingBrowser {
    /// The secret that it keeps while a sign-in lasts.
    pub secret: Option<SecretString>,
    /// The token of its session.
    pub session: Option<SecretString>,
}

impl SignIns {
    /// Begins a sign-in.
    ///
    /// # Errors
    /// A refusal that the person is shown, because the client can't be trusted with it; the store's.
    pub async fn begin(&self, form: Form, browser: &ArrivingBrowser) -> Result<BegunSignIn> {
        let read = match self.read_request(form).await? {
            RequestRead::Read(read) => *read,
            RequestRead::Returned(returned) => return Ok(landed(self.returned(*returned))),
        };
        let request = read.request.clone();
        match self.begin_read(read, browser).await {
            Ok(begun) => Ok(begun),
            // What the client's request itself makes impossible goes to the client.
            Err(BeginRefusal::Client(error)) => Ok(landed(self.with_error(&request, error))),
            Err(BeginRefusal::Here(error)) => Err(error),
        }
    }

    async fn begin_read(
        &self,
        read: ReadRequest,
        browser: &ArrivingBrowser,
    ) -> std::result::Result<BegunSignIn, BeginRefusal> {
        let prompts = read.request.prompts;
        let (sign_in, open) = self.written(read, browser).await?;
        if self.factors(&open.record).await?.is_empty() {
            let reason = "no factor that is known here meets the demanded class";
            let unmet = Refused::new(Code::UnmetAuthenticationRequirements, reason);
            return Err(BeginRefusal::Client(unmet));
        }
        let view = self.shown(&sign_in, &open).await?;
        match view.stage {
            SignInStage::Agreed => {
                let landing = self.agree_to(open, &PersonsAgreement::default()).await?;
                Ok(landed(landing))
            }
            SignInStage::Authentication if prompts.none => Err(BeginRefusal::Client(Refused::new(
                Code::LoginRequired,
                "the person must prove who they are",
            ))),
            SignInStage::Consent if prompts.none => Err(BeginRefusal::Client(Refused::new(
                Code::ConsentRequired,
                "the person must agree",
            ))),
            _ => Ok(BegunSignIn::Asking(Box::new(view))),
        }
    }

    /// Writes the record of a new sign-in.
    async fn written(
        &self,
        read: ReadRequest,
        browser: &ArrivingBrowser,
    ) -> Result<(String, OpenSignIn)> {
        let ctx = self.shared().clock.ctx();
        let hinted = match &read.request.id_token_hint {
            Some(hint) => Some(self.hinted(hint).await?),
            None => None,
        };
        let secret = browser.secret.as_ref();
        let mut record = SignInRecord {
            hinted,
            browser: secret.map(|secret| sha256(secret.expose().as_bytes())),
            state: SignInState::Asked(UnprovenSignIn::default()),
            expires: ctx.now().plus(read.client.rules.lifetimes.sign_in),
            origin: Some(FlowOrigin::new(ctx.now())),
            request: read.request,
        };
        // The hint has been read, and is not kept.
        record.request.id_token_hint = None;
        if let Some(session) = self.session_for(&record, browser).await? {
            let proven = self.proven_by(&record, &read.client, &session).await?;
            if self.is_expected(&record, &proven.person.subject) {
                record.state = SignInState::Proven(Box::new(proven));
            }
        }
        let sign_in = ctx.token("sign-in");
        let id = record_id(&sign_in);
        let put = Put::new(SIGN_IN, &id, encode(&record)?).expires(record.expires);
        let put = record.tags().into_iter().fold(put, Put::tag);
        let mut batch = Batch::new(self.place.tenant.clone());
        if let Some(pushed) = &read.pushed {
            batch = pushed.taken(batch);
        }
        batch = spend(
            batch.expect(SIGN_IN, &id, Expect::Absent).put(put),
            &SpentIds::of_tokens(read.spent),
        );
        let committed = match self.shared().store.commit(batch).await {
            Ok(committed) => committed,
            // Another browser took the request meanwhile.
            Err(StoreError::Conflict { kind, .. }) if kind == PUSHED => return Err(unknown()),
            Err(other) => return Err(refused(other)),
        };
        let version = committed.versions.first().copied();
        let version = version.ok_or_else(|| Error::internal("a sign-in has no version"))?;
        let client = read.client;
        let open = OpenSignIn {
            id,
            record,
            version,
            client,
        };
        Ok((sign_in, open))
    }

    /// The browser's session, if it will do for this request.
    async fn session_for(
        &self,
        record: &SignInRecord,
        browser: &ArrivingBrowser,
    ) -> Result<Option<ProviderSession>> {
        let prompts = record.request.prompts;
        let Some(token) = &browser.session else {
            return Ok(None);
        };
        if prompts.login || prompts.select_account {
            return Ok(None);
        }
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let found = ProviderSession::find(shared, tenant, token).await?;
        let now = shared.clock.now();
        let is_recent = |session: &ProviderSession| {
            let age = now.seconds_since(session.at);
            record.request.max_age.is_none_or(|most| age < most)
        };
        let wanted = self.factors(record).await?;
        let suffices = |session: &ProviderSession| {
            let given = |factors: &Vec<_>| factors.iter().all(|one| session.factors.contains(one));
            wanted.iter().any(given)
        };
        let system = &self.service.parts.system;
        let keeps = |session: &ProviderSession| system.keeps_sessions(&session.token);
        Ok(found.filter(|found| keeps(found) && is_recent(found) && suffices(found)))
    }

    /// The subject of an ID token that a client sent as a hint. It may have expired (OpenID Connect Core §3.1.2.1).
    pub(crate) async fn hinted(&self, hint: &str) -> Result<String> {
        let malformed = || {
            refuse(
                Code::InvalidRequest,
                "id_token_hint is not a token by this provider",
            )
        };
        let jwt = Jwt::parse(hint).map_err(|_| malformed())?;
        let (shared, tenant) = (self.shared(), &self.place.tenant);
        let keys = &self.service.key_sets;
        let keys = keys.for_token(shared, tenant, hint).await?;
        let is_ours = jwt.text("iss") == Some(self.place.issuer())
            && jwt
                .verify_with(&keys.published, &[jwt.header().alg])
                .is_ok();
        let subject = jwt.text("sub").filter(|_| is_ours);
        subject.map(str::to_owned).ok_or_else(malformed)
    }
}

/// Where a refusal goes.
enum BeginRefusal {
    Client(Refused),
    Here(Error),
}

impl From<Error> for BeginRefusal {
    fn from(error: Error) -> Self {
        Self::Here(error)
    }
}

fn landed(landing: Landing) -> BegunSignIn {
    BegunSignIn::Landed(Box::new(landing))
}
