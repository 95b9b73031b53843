//! Redeems a code (RFC 6749 §4.1.3). A code that comes a second time ends what it gave (§4.1.2).

use async_trait::async_trait;
use selfsame_core::machine::{At, FlowResult, FlowStage, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use selfsame_oauth::Code;
use selfsame_oauth::grant::{CodeRedemption, GrantType};
use selfsame_oidc::token::{AccessFacts, GrantedTokens};
use selfsame_store::Tag;

use crate::identity::{AskingClient, ClaimsOrder, IdentityFaultKind};
use crate::plan::{TokenPlan, id_claims};
use crate::record::{
    CodedSignIn, GrantedSignIn, HandedCode, KeptClaims, RefreshState, SIGN_IN, SignInRecord,
    SignInState, transaction,
};
use crate::refusal::{fault, refuse};
use crate::service::SignIns;
use crate::spent::{check_unspent, spend, used};
use crate::token::TokenCall;

/// The scope with which a client asks for a refresh token (OpenID Connect Core §11).
const OFFLINE: &str = "offline_access";

impl SignIns {
    pub(crate) async fn redeem(
        &self,
        call: &TokenCall,
        redemption: &CodeRedemption,
    ) -> Result<GrantedTokens> {
        let handed = HandedCode::read(&redemption.code)?;
        let redeeming = RedeemingCode {
            of: self,
            call,
            redemption,
            handed: &handed,
        };
        let at = self.at(&handed.record);
        let driven = self.shared().drive(&redeeming, at, None).await?;
        let tokens = driven.reply?.tokens;
        tracing::info!(client = call.client.party.id, "a code was redeemed");
        tokens.ok_or_else(|| Error::internal("tokens were not signed"))
    }
}

/// The machine that redeems a code.
struct RedeemingCode<'a> {
    of: &'a SignIns,
    call: &'a TokenCall,
    redemption: &'a CodeRedemption,
    handed: &'a HandedCode,
}

/// The tokens of a step: planned by it, then made.
pub(crate) struct StepTokens {
    pub plan: Option<TokenPlan>,
    pub tokens: Option<GrantedTokens>,
}

impl StepTokens {
    pub fn planned(plan: TokenPlan) -> Self {
        Self {
            plan: Some(plan),
            tokens: None,
        }
    }
}

/// What a presented code is.
enum PresentedCode<'r> {
    /// One that can be redeemed.
    Fresh(&'r CodedSignIn),
    /// One that was.
    Used,
}

impl RedeemingCode<'_> {
    fn judged<'r>(&self, record: &'r SignInRecord) -> Result<PresentedCode<'r>> {
        let is_over = record.expires <= self.of.shared().clock.now();
        if is_over || record.request.client_id != self.call.client.party.id {
            return Err(unknown());
        }
        match &record.state {
            SignInState::Coded(coded) if self.handed.is(&coded.code) => {
                self.fits(record)?;
                Ok(PresentedCode::Fresh(coded))
            }
            SignInState::Granted(granted) if self.handed.is(&granted.code) => {
                Ok(PresentedCode::Used)
            }
            _ => Err(unknown()),
        }
    }

    /// Whether the redemption is by the client that made the request.
    fn fits(&self, record: &SignInRecord) -> Result<()> {
        let refused = |reason| Err(refuse(Code::InvalidGrant, reason));
        let request = &record.request;
        let given = self.redemption.redirect_uri.as_ref();
        let is_missing = given.is_none() && request.names_redirect_uri;
        if is_missing || given.is_some_and(|given| *given != request.redirect_uri) {
            return refused("redirect_uri is not that of the request");
        }
        let verifier = self.redemption.code_verifier.as_ref();
        match (&request.challenge, verifier) {
            (Some(challenge), Some(verifier)) if challenge.is_met_by(verifier.expose()) => {}
            (None, None) => {}
            // RFC 9700 §2.1.1: a verifier without a challenge is a downgrade.
            _ => return refused("code_verifier does not fit the code challenge"),
        }
        if request.dpop_jkt.is_some() && request.dpop_jkt != self.call.jkt {
            return refused("the code is bound to another key");
        }
        self.of.check_holder(&request.scope, self.call)
    }

    fn granted(
        &self,
        coded: &CodedSignIn,
        claims: KeptClaims,
        refresh: Option<&SecretString>,
    ) -> GrantedSignIn {
        GrantedSignIn {
            handle: coded.person.handle.clone(),
            subject: coded.person.subject.clone(),
            authentication: coded.person.authentication.clone(),
            scope: coded.agreed.scope.clone(),
            claims,
            code: coded.code,
            jkt: self.call.jkt.clone(),
            instance: self.call.instance.clone(),
            refresh: refresh.map(|secret| RefreshState {
                hash: sha256(secret.expose().as_bytes()),
                spent: Vec::new(),
            }),
            revoked: Vec::new(),
        }
    }

    fn redeemed(
        &self,
        record: &mut SignInRecord,
        claims: &KeptClaims,
        round: &Round<'_>,
    ) -> Result<TokenPlan> {
        let PresentedCode::Fresh(coded) = self.judged(record)? else {
            return Err(unknown());
        };
        let party = &self.call.client.party;
        let scope = coded.agreed.scope.clone();
        let may_refresh = party.grants.contains(&GrantType::RefreshToken) && scope.has(OFFLINE);
        let drawn = || SecretString::from(round.ctx.token("sign-in/refresh"));
        let refresh = may_refresh.then(drawn);
        let mut id_claims = id_claims(record, claims, &scope);
        if let (Some(claims), Some(nonce)) = (&mut id_claims, &record.request.nonce) {
            claims.insert("nonce".to_owned(), nonce.as_str().into());
        }
        let plan = TokenPlan {
            subject: coded.person.subject.clone(),
            authentication: coded.person.authentication.clone(),
            access: AccessFacts {
                sign_in: round.at.id.to_owned(),
                number: round.ctx.token("sign-in/access"),
                scope,
                jkt: self.call.jkt.clone(),
            },
            id_claims,
            refresh,
            details: self
                .of
                .granted_details(&record.request, &coded.agreed.scope),
            now: round.ctx.now(),
        };
        let granted = self.granted(coded, claims.clone(), plan.refresh.as_ref());
        let lifetimes = self.call.client.rules.lifetimes;
        let lasts = match may_refresh {
            true => lifetimes.refresh_token,
            false => lifetimes.access_token,
        };
        record.state = SignInState::Granted(Box::new(granted));
        record.expires = round.ctx.now().plus(lasts);
        Ok(plan)
    }
}

#[async_trait]
impl Machine for RedeemingCode<'_> {
    const KIND: &'static str = SIGN_IN;
    type Record = SignInRecord;
    type Input = Option<KeptClaims>;
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

    fn result(&self, record: &SignInRecord) -> Option<FlowResult> {
        record.result()
    }

    /// Asks the identity system for the claims, once: its token may count once.
    async fn prepare(
        &self,
        at: At<'_>,
        record: &SignInRecord,
        claims: &mut Option<KeptClaims>,
    ) -> Result<()> {
        let PresentedCode::Fresh(coded) = self.judged(record)? else {
            return Ok(());
        };
        if claims.is_some() {
            return Ok(());
        }
        // What is refused in the end must not use up the identity system's token.
        let store = &self.of.shared().store;
        check_unspent(store, at.tenant, &self.call.spent).await?;
        let party = &self.call.client.party;
        let asking = AskingClient {
            tenant: at.tenant.clone(),
            client_id: party.id.clone(),
            relying_party: party.relying_party.clone(),
            transaction: transaction(at.id),
            from: None,
        };
        let order = ClaimsOrder {
            handle: coded.person.handle.clone(),
            subject: coded.person.subject.clone(),
            token: coded.person.token.clone(),
            claims: coded.agreed.claims.clone(),
            locales: record.request.claims_locales.clone(),
        };
        let exchanged = self.of.service.parts.system.exchange(&asking, &order).await;
        let given = exchanged.map_err(|error| match error.kind {
            IdentityFaultKind::WrongChallenge | IdentityFaultKind::UnknownPerson => {
                refuse(Code::InvalidGrant, "the identity system's token is over")
            }
            _ => fault(&error),
        })?;
        *claims = Some(given.into());
        Ok(())
    }

    fn step(
        &self,
        record: &mut SignInRecord,
        claims: &Option<KeptClaims>,
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>> {
        if let PresentedCode::Used = self.judged(record)? {
            tracing::warn!(
                client = self.call.client.party.id,
                "a code came a second time"
            );
            record.state = SignInState::Ended;
            return Ok(Step::Done(Next::written(round, Err(unknown()))));
        }
        let unprepared = || Error::internal("a code is redeemed without claims");
        let claims = claims.as_ref().ok_or_else(unprepared)?;
        let plan = self.redeemed(record, claims, round)?;
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

    fn absent(&self, _: &Self::Input) -> Result<Self::Reply> {
        Ok(Err(unknown()))
    }

    fn conflict(&self, kind: &str) -> Option<Error> {
        used(kind)
    }
}

impl SignIns {
    /// A step whose tokens are signed. It is taken before the commit, so that no code is used up without them.
    pub(crate) async fn signed(
        &self,
        call: &TokenCall,
        mut next: Next<Result<StepTokens>>,
    ) -> Result<Next<Result<StepTokens>>> {
        if let Ok(step) = &mut next.reply
            && let Some(plan) = step.plan.take()
        {
            step.tokens = Some(self.make(&call.client, plan).await?);
        }
        Ok(next)
    }
}

fn unknown() -> Error {
    let reason = "the code is unknown, expired, used, or of another client";
    refuse(Code::InvalidGrant, reason)
}
