//! An identity system that is down for a while, as people see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use selfsame_identity::mock::MockIdentities;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskingClient, ClaimsOrder, IdentityFault, IdentityFaultKind, IdentitySystem, OtpOrder, OtpSent,
    PersonClaims, ProvenPerson, SignInAttempt,
};

use super::world::{Setting, UserInterface, World};

/// The mock identity system, unless it is down.
struct Unsteady {
    mock: MockIdentities,
    is_down: Arc<AtomicBool>,
}

impl Unsteady {
    fn check(&self) -> Result<(), IdentityFault> {
        match self.is_down.load(Ordering::SeqCst) {
            true => Err(IdentityFault::new(IdentityFaultKind::Unavailable)),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl IdentitySystem for Unsteady {
    fn name(&self) -> &str {
        "unsteady"
    }

    fn factors(&self) -> Vec<FactorKind> {
        self.mock.factors()
    }

    async fn send_otp(
        &self,
        asking: &AskingClient,
        order: &OtpOrder,
    ) -> Result<OtpSent, IdentityFault> {
        self.check()?;
        IdentitySystem::send_otp(&self.mock, asking, order).await
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> Result<ProvenPerson, IdentityFault> {
        self.check()?;
        self.mock.authenticate(asking, attempt).await
    }

    async fn exchange(
        &self,
        asking: &AskingClient,
        order: &ClaimsOrder,
    ) -> Result<PersonClaims, IdentityFault> {
        self.check()?;
        self.mock.exchange(asking, order).await
    }
}

#[tokio::test]
async fn while_the_identity_system_is_down_nothing_is_counted_and_afterwards_the_sign_in_goes_on() {
    let is_down = Arc::new(AtomicBool::new(false));
    let down = is_down.clone();
    let world = World::with(Setting::Legacy, |mock| {
        Arc::new(Unsteady {
            mock,
            is_down: down,
        })
    })
    .await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    let away = |is_away| is_down.store(is_away, Ordering::SeqCst);
    away(true);
    for _ in 0..8 {
        assert_eq!(
            interface.send_otp("987654321").await.code(),
            "send_otp_failed"
        );
    }
    away(false);
    assert!(interface.send_otp("987654321").await.has("\"errors\":[]"));
    away(true);
    for _ in 0..8 {
        let refused = interface.authenticate("987654321", "111111").await;
        assert_eq!(refused.code(), "unknown_error");
    }
    away(false);
    let proven = interface.authenticate("987654321", "111111").await;
    assert!(proven.has("\"errors\":[]"), "{proven:?}");
    interface.auth_code(&["name"]).await;
    away(true);
    let refused = interface.token(&client).await;
    assert!(refused.status >= 500, "{refused:?}");
    away(false);
    // The code was not used up.
    let token = interface.token(&client).await;
    assert!(token.has("\"id_token\""), "{token:?}");
}
