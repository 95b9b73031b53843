//! A registry that did not run for a while, and a clock that tells for how long.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::ErrorKind;
use selfsame_ledger::embedded::Embedded;
use selfsame_ledger::{LocalRegistry, Registry, ServedRegistry, checkpoint_verifier, log_origin};
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_registry::Genesis;

use crate::world::{Actor, World};

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

/// A registry with a DID, stopped as an instance stops it, and the time of that.
async fn stopped(world: &World) -> (Actor, UnixTime) {
    let registry = world.open().await;
    let actor = Actor::new(&registry).await;
    registry.submit(&actor.create()).await.unwrap();
    registry.times().unwrap().note(&world.store).await.unwrap();
    (actor, world.clock.now())
}

async fn signed_at(registry: &Embedded) -> UnixTime {
    let status = registry.status().await.unwrap();
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    let origin = log_origin(&genesis.network());
    let key = checkpoint_verifier(&genesis).unwrap();
    let checkpoint = Checkpoint::open(&status.checkpoint, &origin, &[key]);
    checkpoint.unwrap().time().unwrap()
}

async fn writes_nothing(registry: &Embedded, actor: &mut Actor) {
    let before = registry.ledger().unwrap().head().unwrap();
    let change = actor.rotate(2);
    let refused = registry.submit(&change).await.unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::Unavailable { .. }));
    assert_eq!(refused.code, Some("clock_doubted"), "{refused}");
    assert!(!refused.is_refusal(), "the outbox sends it again");
    assert_eq!(refused.reason.id(), "clock-unconfirmed");
    assert_eq!(registry.ledger().unwrap().head().unwrap(), before);
}

#[tokio::test]
async fn a_registry_that_starts_with_a_clock_far_ahead_writes_nothing_until_it_is_vouched_for() {
    for world in World::all().await {
        let (mut actor, last) = stopped(&world).await;
        world.clock.set_ahead(30 * DAY);
        let registry = world.open().await;
        writes_nothing(&registry, &mut actor).await;
        assert!(registry.times().unwrap().view().doubt.is_some());
        // Meanwhile checkpoints are signed with the true time, even after a restart.
        assert!(signed_at(&registry).await.seconds_since(last) < 60);
        registry.times().unwrap().note(&world.store).await.unwrap();
        let registry = world.open().await;
        assert!(signed_at(&registry).await.seconds_since(last) < 60);

        let newcomer = Actor::new(&registry).await;
        let before = world.clock.now();
        let times = registry.times().unwrap();
        times.vouch();
        times.note(&world.store).await.unwrap();
        assert_eq!(times.view().doubt, None);
        let written = registry.submit(&newcomer.create()).await.unwrap();
        assert!(written.time >= before);
        // The operator need not vouch for it a second time.
        let registry = world.open().await;
        let newcomer = Actor::new(&registry).await;
        registry.submit(&newcomer.create()).await.unwrap();
    }
}

#[tokio::test]
async fn a_registry_that_was_away_on_a_machine_that_went_on_does_not_doubt_the_clock() {
    for world in World::all().await {
        let (mut actor, last) = stopped(&world).await;
        world.clock.advance(7 * DAY);
        let registry = world.open().await;
        assert_eq!(registry.times().unwrap().view().doubt, None);
        let written = registry.submit(&actor.rotate(2)).await.unwrap();
        assert!(written.time.seconds_since(last) >= 7 * DAY);
        // Only the time that has passed counts, not the leap of the clock beyond it.
        registry.times().unwrap().note(&world.store).await.unwrap();
        world.clock.advance(7 * DAY);
        world.clock.set_ahead(2 * HOUR);
        let registry = world.open().await;
        assert!(registry.times().unwrap().view().doubt.is_some());
    }
}

#[tokio::test]
async fn a_machine_that_was_off_for_less_than_an_hour_raises_no_question() {
    for world in World::all().await {
        let (mut actor, _) = stopped(&world).await;
        world.clock.start_machine();
        world.clock.set_ahead(HOUR - 60);
        let registry = world.open().await;
        registry.submit(&actor.rotate(2)).await.unwrap();
    }
}

#[tokio::test]
async fn a_machine_that_was_off_for_a_week_goes_on_as_soon_as_a_time_server_has_set_its_clock() {
    for world in World::all().await {
        let (mut actor, last) = stopped(&world).await;
        world.clock.start_machine();
        world.clock.set_ahead(7 * DAY);
        let registry = world.open().await;
        writes_nothing(&registry, &mut actor).await;
        world.clock.synchronize();
        let newcomer = Actor::new(&registry).await;
        let written = registry.submit(&newcomer.create()).await.unwrap();
        assert!(written.time.seconds_since(last) >= 7 * DAY);
        // A time server does not vouch for the clock after a leap.
        world.clock.set_ahead(30 * DAY);
        let late = Actor::new(&registry).await;
        let refused = registry.submit(&late.create()).await.unwrap_err();
        assert!(refused.to_string().contains("clock-leapt"), "{refused}");
    }
}

#[tokio::test]
async fn a_registry_that_never_noted_anything_goes_by_its_last_block() {
    for world in World::all().await {
        let registry = world.open().await;
        let mut actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
        drop(registry);
        world.clock.set_ahead(HOUR - 60);
        drop(world.open().await);
        world.clock.set_ahead(HOUR);
        writes_nothing(&world.open().await, &mut actor).await;
    }
}
