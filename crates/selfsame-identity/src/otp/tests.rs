//! One-time passwords in a store that two replicas share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use selfsame_store::{Memory, Vault};

use super::*;

/// A carrier that keeps what it got, unless it is away.
#[derive(Default)]
struct Pigeon {
    is_away: AtomicBool,
    got: Mutex<Vec<String>>,
}

#[async_trait]
impl OtpCarrier for Arc<Pigeon> {
    fn channel(&self) -> OtpChannel {
        OtpChannel::Email
    }

    async fn deliver(&self, message: &OtpMessage<'_>) -> std::result::Result<(), Undelivered> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(Undelivered::Away);
        }
        let code = message.code.expose().to_owned();
        self.got.lock().unwrap().push(code);
        Ok(())
    }

    async fn is_there(&self) -> bool {
        !self.is_away.load(Ordering::SeqCst)
    }
}

struct World {
    replicas: [OtpDesk; 2],
    pigeon: Arc<Pigeon>,
    clock: Clock,
}

impl World {
    async fn new() -> Self {
        let clock = Clock::default();
        let backend = Arc::new(Memory::new());
        let pigeon = Arc::<Pigeon>::default();
        let mut replicas = Vec::new();
        for _ in 0..2 {
            let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
            let now = clock.clone();
            let clock_fn = Arc::new(move || now.now());
            let store = Store::open_with_clock(backend.clone(), vault, clock_fn);
            let carriers: Vec<Arc<dyn OtpCarrier>> = vec![Arc::new(pigeon.clone())];
            replicas.push(OtpDesk::new(store.await.unwrap(), clock.clone(), carriers));
        }
        let [one, other] = replicas.try_into().ok().unwrap();
        Self {
            replicas: [one, other],
            pigeon,
            clock,
        }
    }

    async fn send(&self) -> Result<String> {
        let address = OtpAddress {
            channel: OtpChannel::Email,
            address: "maja@example.org",
            locales: &[],
        };
        self.replicas[0].send(maja(), address).await?;
        Ok(self.pigeon.got.lock().unwrap().last().unwrap().clone())
    }

    async fn enter(&self, replica: usize, code: &str) -> Result<()> {
        self.replicas[replica].enter(maja(), &code.into()).await
    }
}

fn maja() -> OtpFor<'static> {
    OtpFor {
        sign_in: "sign-in",
        account: "maja",
        from: Some([192, 0, 2, 1].into()),
    }
}

fn reason(result: Result<()>) -> String {
    result.unwrap_err().reason.id().to_owned()
}

#[tokio::test]
async fn a_code_that_one_replica_sent_is_accepted_once_however_many_race_for_it() {
    let world = World::new().await;
    for _ in 0..4 {
        let code = world.send().await.unwrap();
        let entered = tokio::join!(
            world.enter(0, &code),
            world.enter(1, &code),
            world.enter(0, &code),
            world.enter(1, &code)
        );
        let entered = [entered.0, entered.1, entered.2, entered.3];
        assert_eq!(entered.iter().filter(|one| one.is_ok()).count(), 1);
        assert_eq!(reason(world.enter(1, &code).await), "otp-used");
    }
}

#[tokio::test]
async fn while_the_carrier_is_away_nothing_is_counted_and_the_person_is_told() {
    let world = World::new().await;
    let code = world.send().await.unwrap();
    world.pigeon.is_away.store(true, Ordering::SeqCst);
    for _ in 0..50 {
        let away = world.send().await.unwrap_err();
        assert_eq!(away.kind, ErrorKind::Unavailable { retry_after: 30 });
        assert_eq!(away.reason.id(), "otp-carrier-away");
    }
    // The code that was delivered before is accepted, and when the carrier is back another can be sent.
    world.enter(0, &code).await.unwrap();
    world.pigeon.is_away.store(false, Ordering::SeqCst);
    let code = world.send().await.unwrap();
    world.enter(1, &code).await.unwrap();
}

#[tokio::test]
async fn a_person_whom_nobody_knows_gets_the_same_answers() {
    let world = World::new().await;
    let nobody = OtpFor {
        account: "nobody",
        ..maja()
    };
    let address = OtpAddress {
        channel: OtpChannel::Email,
        address: "nobody@example.org",
        locales: &[],
    };
    let desk = &world.replicas[0];
    desk.pretend(nobody, address).await.unwrap();
    assert!(world.pigeon.got.lock().unwrap().is_empty());
    assert_eq!(
        reason(desk.enter(nobody, &"000000".into()).await),
        "otp-wrong"
    );
    world.pigeon.is_away.store(true, Ordering::SeqCst);
    assert_eq!(
        reason(desk.pretend(nobody, address).await),
        "otp-carrier-away"
    );
    world.pigeon.is_away.store(false, Ordering::SeqCst);
    for _ in 0..4 {
        desk.pretend(nobody, address).await.unwrap();
    }
    assert_eq!(reason(desk.pretend(nobody, address).await), "otp-paused");
}

#[tokio::test]
async fn wrong_codes_are_counted_by_all_replicas_together_and_a_pause_ends() {
    let world = World::new().await;
    let mut wrong = 0;
    loop {
        let code = world.send().await;
        let Ok(code) = code else { break };
        let other = if code == "000000" { "000001" } else { "000000" };
        for guess in 0..3 {
            if reason(world.enter(guess % 2, other).await).starts_with("otp-wrong") {
                wrong += 1;
            }
        }
    }
    assert_eq!(wrong, 9);
    world.clock.advance(300);
    let code = world.send().await.unwrap();
    world.enter(1, &code).await.unwrap();
}

#[tokio::test]
async fn there_is_no_code_without_a_carrier_for_it() {
    let world = World::new().await;
    let phone = OtpAddress {
        channel: OtpChannel::Phone,
        address: "9427357934",
        locales: &[],
    };
    let refused = world.replicas[0].send(maja(), phone).await;
    assert_eq!(reason(refused), "otp-channel-absent");
    assert_eq!(reason(world.enter(0, "123456").await), "otp-not-sent");
    let code = world.send().await.unwrap();
    world.clock.advance(180);
    assert_eq!(reason(world.enter(0, &code).await), "otp-expired");
    assert_eq!(reason(world.enter(0, "12345").await), "otp-not-digits");
}
