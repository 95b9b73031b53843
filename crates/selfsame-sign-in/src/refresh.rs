//! Redeems a refresh token (RFC 6749 §6). One that comes a second time ends the sign-in: somebody else has it (RFC 9700
//! §4.14.2).

use async_trait::async_trait;
use selfsame_core::machine::{At, FlowStage, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use selfsame_oauth::grant::Refresh;
use selfsame_oauth::{Code, ScopeSet};
use selfsame_oidc::token::{AccessFacts, GrantedTokens};
use selfsame_store::Tag;

use crate::plan::{TokenPlan, id_claims};
use crate::record::{GrantedSignIn, HandedCode, RefreshState, SIGN_IN, SignInRecord, SignInState};
use crate::redeem::StepTokens;
use crate::refusal::refuse;
use crate::service::SignIns;
use crate::spent::{spend, used};
use crate::token::TokenCall;

/// The number of former refresh tokens of a sign-in that are known again.
const SPENT_MAX: usize = 16;

impl SignIns {
    pub(crate) async fn refresh(
        &self,
        call: &TokenCall,
        refresh: &Refresh,
    ) -> Result<GrantedTokens> {
        let handed = HandedCode::read(&refresh.refresh_token)?;
        let refreshing = RefreshingTokens {
            of: self,
            call,
            refresh,
            handed: &handed,
        };
        let at = self.at(&handed.record);
        let driven = self.shared().drive(&refreshing, at, ()).await?;
        let tokens = driven.reply?.tokens;
        tokens.ok_or_else(|| Error::internal("tokens were not signed"))
    }
}

/// The machine that redeems a refresh token.
struct RefreshingTokens<'a> {
    of: &'a SignIns,
    call: &'a TokenCall,
    refresh: &'a Refresh,
    handed: &'a HandedCode,
}

impl RefreshingTokens<'_> {
    /// The tokens, and the refresh token from now on; `None` if the token was used before.
    fn judged(
        &self,
        record: &SignInRecord,
        round: &Round<'_>,
    ) -> Result<Option<(TokenPlan, RefreshState)>> {
        let SignInState::Granted(granted) = &record.state else {
            return Err(unknown());
        };
        let kept = granted.refresh.as_ref().ok_or_else(unknown)?;
        let is_over = record.expires <= round.ctx.now();
        if is_over || record.request.client_id != self.call.client.party.id {
            return Err(unknown());
        }
        if kept.spent.iter().any(|spent| self.handed.is(spent)) {
            return Ok(None);
        }
        let is_bound = granted.jkt.is_some() && !self.call.is_confidential();
        if !self.handed.is(&kept.hash) || (is_bound && granted.jkt != self.call.jkt) {
            return Err(unknown());
        }
        // Attestation-based client authentication, draft -07 §10.3: by the same instance, not by the same client alone.
        if granted.instance != self.call.instance {
            return Err(unknown());
        }
        self.of.check_holder(&granted.scope, self.call)?;
        let plan = self.plan(record, granted, round)?;
        let mut state = kept.clone();
        if let Some(secret) = &plan.refresh {
            state.spent.push(state.hash);
            let surplus = state.spent.len().saturating_sub(SPENT_MAX);
            state.spent.drain(..surplus);
            state.hash = sha256(secret.expose().as_bytes());
        }
        Ok(Some((plan, state)))
    }

    fn plan(
        &self,
        record: &SignInRecord,
        granted: &GrantedSignIn,
        round: &Round<'_>,
    ) -> Result<TokenPlan> {
        let scope = self.scope(&granted.scope)?;
        let rotates = self.call.client.rules.rotates_refresh_tokens;
        let drawn = || SecretString::from(round.ctx.token("sign-in/refresh"));
        Ok(TokenPlan {
            subject: granted.subject.clone(),
            authentication: granted.authentication.clone(),
            id_claims: id_claims(record, &granted.claims, &scope),
            details: self.of.granted_details(&record.request, &scope),
            access: AccessFacts {
                sign_in: round.at.id.to_owned(),
                number: round.ctx.token("sign-in/access"),
                scope,
                jkt: self.call.jkt.clone(),
            },
            refresh: rotates.then(drawn),
            now: round.ctx.now(),
        })
    }

    /// RFC 6749 §6: no more scopes than were granted.
    fn scope(&self, granted: &ScopeSet) -> Result<ScopeSet> {
        match &self.refresh.scope {
            None => Ok(granted.clone()),
            Some(fewer) if fewer.is_within(granted) => Ok(fewer.clone()),
            Some(_) => Err(refuse(
                Code::InvalidScope,
                "the scope exceeds what was granted",
            )),
        }
    }
}

#[async_trait]
impl Machine for RefreshingTokens<'_> {
    const KIND: &'static str = SIGN_IN;
    type Record = SignInRecord;
    type Input = ();
    type Reply = Result<StepTokens>;

    fn records(&self) -> &RecordCache<SignInRecord> {
        &self.of.service.records
    }

    fn tags(&self, record: &SignInRecord) -> Option<Vec<Tag>> {
        Some(record.tags())
    }

    fn expires(&self, record: &SignInRecord) -> Option<UnixTime> {
        Some(record.expires)
    }

    fn flow(&self, record: &SignInRecord) -> Option<FlowStage> {
        Some(record.stage())
    }

    fn step(
        &self,
        record: &mut SignInRecord,
        (): &(),
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>> {
        let Some((plan, state)) = self.judged(record, round)? else {
            tracing::warn!(
                client = self.call.client.party.id,
                "a refresh token came a second time"
            );
            record.state = SignInState::Ended;
            return Ok(Step::Done(Next::written(round, Err(unknown()))));
        };
        if let SignInState::Granted(granted) = &mut record.state {
            granted.refresh = Some(state);
            granted.jkt = self.call.jkt.clone();
        }
        let lifetime = self.call.client.rules.lifetimes.refresh_token;
        record.expires = round.ctx.now().plus(lifetime);
        let mut next = Next::written(round, Ok(StepTokens::planned(plan)));
        next.batch = spend(next.batch, &self.call.spent);
        Ok(Step::Done(next))
    }

    async fn complete(
        &self,
        _: At<'_>,
        _: &mut SignInRecord,
        next: Next<Self::Reply>,
    ) -> Result<Next<Self::Reply>> {
        self.of.signed(self.call, next).await
    }

    fn absent(&self, (): &()) -> Result<Self::Reply> {
        Ok(Err(unknown()))
    }

    fn conflict(&self, kind: &str) -> Option<Error> {
        used(kind)
    }
}

fn unknown() -> Error {
    let reason = "the refresh token is unknown, expired, used, or of another client";
    refuse(Code::InvalidGrant, reason)
}
