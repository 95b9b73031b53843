//! Several identity systems as one: the system that knows the people, and those by which they can sign in besides.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_crypto::SecretString;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskedElsewhere, AskingClient, ClaimsOrder, ElsewhereOrder, IdentityFault, IdentitySystem,
    OtpOrder, OtpSent, PersonClaims, ProvenPerson, SignInAttempt,
};
use selfsame_store::TenantId;
use url::Url;

/// Between the name of a further system and its own token.
const SEPARATOR: char = '\n';

/// A system that knows the people, and further ones. No factor is of two systems.
pub struct JoinedSystems {
    people: Arc<dyn IdentitySystem>,
    further: Vec<Arc<dyn IdentitySystem>>,
}

impl JoinedSystems {
    /// These systems as one.
    #[must_use]
    pub fn new(people: Arc<dyn IdentitySystem>, further: Vec<Arc<dyn IdentitySystem>>) -> Self {
        Self { people, further }
    }

    /// The further system that checks one of these factors.
    fn further(&self, factors: &[FactorKind]) -> Option<&Arc<dyn IdentitySystem>> {
        let checks = |system: &&Arc<dyn IdentitySystem>| {
            let known = system.factors();
            factors.iter().any(|factor| known.contains(factor))
        };
        self.further.iter().find(checks)
    }

    /// The system that gave a token, and the token as it gave it.
    fn giver(&self, token: &SecretString) -> TokenGiver<'_> {
        let parts = token.expose().split_once(SEPARATOR);
        let found = parts.and_then(|(name, own)| {
            let mut further = self.further.iter();
            let system = further.find(|system| system.name() == name)?;
            Some(TokenGiver {
                system,
                token: own.into(),
            })
        });
        found.unwrap_or_else(|| TokenGiver {
            system: &self.people,
            token: token.clone(),
        })
    }
}

/// A system, and the token that it gave.
struct TokenGiver<'s> {
    system: &'s Arc<dyn IdentitySystem>,
    token: SecretString,
}

#[async_trait]
impl IdentitySystem for JoinedSystems {
    fn name(&self) -> &str {
        self.people.name()
    }

    fn factors(&self) -> Vec<FactorKind> {
        let further = self.further.iter().flat_map(|system| system.factors());
        self.people.factors().into_iter().chain(further).collect()
    }

    async fn factors_at(&self, tenant: &TenantId) -> Result<Vec<FactorKind>, IdentityFault> {
        let mut factors = self.people.factors_at(tenant).await?;
        for system in &self.further {
            factors.extend(system.factors_at(tenant).await?);
        }
        Ok(factors)
    }

    fn keeps_sessions(&self, token: &SecretString) -> bool {
        let given = self.giver(token);
        given.system.keeps_sessions(&given.token)
    }

    fn account(&self, token: &SecretString) -> Option<String> {
        let given = self.giver(token);
        given.system.account(&given.token)
    }

    async fn ask(
        &self,
        asking: &AskingClient,
        order: &ElsewhereOrder,
    ) -> Result<AskedElsewhere, IdentityFault> {
        let system = self.further(&[order.factor]).unwrap_or(&self.people);
        system.ask(asking, order).await
    }

    async fn awaiting(&self, query: &str) -> Result<Url, IdentityFault> {
        let system = self.further(&[FactorKind::Upstream]);
        system.unwrap_or(&self.people).awaiting(query).await
    }

    async fn send_otp(
        &self,
        asking: &AskingClient,
        order: &OtpOrder,
    ) -> Result<OtpSent, IdentityFault> {
        self.people.send_otp(asking, order).await
    }

    async fn code_on_screen(
        &self,
        asking: &AskingClient,
    ) -> Result<Option<SecretString>, IdentityFault> {
        self.people.code_on_screen(asking).await
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> Result<ProvenPerson, IdentityFault> {
        let factors: Vec<FactorKind> = attempt.challenges.iter().map(|one| one.factor).collect();
        let Some(system) = self.further(&factors) else {
            return self.people.authenticate(asking, attempt).await;
        };
        let person = system.authenticate(asking, attempt).await?;
        let token = format!("{}{SEPARATOR}{}", system.name(), person.token.expose());
        Ok(ProvenPerson {
            token: token.into(),
            ..person
        })
    }

    async fn exchange(
        &self,
        asking: &AskingClient,
        order: &ClaimsOrder,
    ) -> Result<PersonClaims, IdentityFault> {
        let TokenGiver { system, token } = self.giver(&order.token);
        let own = ClaimsOrder {
            token,
            ..order.clone()
        };
        system.exchange(asking, &own).await
    }
}
