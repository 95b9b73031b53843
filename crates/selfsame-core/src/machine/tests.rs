//! The driver, driven by a toy protocol against a host on loopback.

mod proven;
mod toy;
mod traced;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::Reason;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::record::decode;
use selfsame_net::{Net, Settings};
use selfsame_store::{Batch, Memory, OutboxId, Store, TenantId, Vault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::config::{ResolverConfig, SharedConfig, TrustConfig};
use crate::shared::{Correspondent, Resources, Shared};
use toy::{Guest, State, Visit};

/// A host that answers with these texts in turn, and what it was told.
struct Host {
    door: Url,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Host {
    async fn saying(answers: &[&'static str]) -> Self {
        let answers = answers.to_vec();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let door = format!("http://{}/door", listener.local_addr().unwrap());
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let hearing = heard.clone();
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !String::from_utf8_lossy(&request).contains("word=") {
                    stream.read_buf(&mut request).await.unwrap();
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let (_, word) = request.split_once("word=").unwrap();
                hearing.lock().unwrap().push(word.to_owned());
                let (status, body) = match answer.strip_prefix('!') {
                    Some(body) => ("400 Bad Request", body),
                    None => ("200 OK", answer),
                };
                let length = body.len();
                let response = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                stream.write_all(response.as_bytes()).await.unwrap();
            }
        });
        Self {
            door: door.parse().unwrap(),
            heard,
        }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// An instance that may call the host, with the guest's machine.
struct World {
    shared: Arc<Shared>,
    guest: Arc<Guest>,
    visit: Visit,
}

impl World {
    async fn of(host: &Host) -> Self {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::default()), vault)
            .await
            .unwrap();
        let settings = Settings {
            own_origins: vec![host.door.origin()],
            native_roots: false,
            ..Settings::default()
        };
        let config = SharedConfig {
            origin: "http://localhost:9/".parse().unwrap(),
            trust: TrustConfig::default(),
            resolver: ResolverConfig::default(),
            organisations: crate::config::OrganisationsConfig::default(),
        };
        let resources = Resources {
            keys: Keys::new(store.clone()),
            store,
            net: Net::new(settings).unwrap(),
            clock: Clock::default(),
            registry: None,
        };
        let shared = Arc::new(Shared::new(config, resources).unwrap());
        let visit = Visit {
            door: host.door.clone(),
            state: State::Greeting,
            until: shared.clock.now().plus(60),
        };
        Self {
            shared,
            guest: Arc::default(),
            visit,
        }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Begins the visit; its first call is in the outbox.
    async fn begin(&self, id: &str) -> Option<OutboxId> {
        let now = self.shared.clock.now();
        let batch = Batch::new(tenant()).enqueue(self.visit.hello(id, now));
        let (put, visit) = (self.visit.put(id), self.visit.clone());
        let begun = self.shared().begin(&self.guest, put, visit, batch).await;
        begun.unwrap()
    }

    async fn state(&self) -> State {
        self.state_of("v").await
    }

    async fn state_of(&self, id: &str) -> State {
        let store = &self.shared().store;
        let record = store.read(&tenant(), Guest::KIND, id).await.unwrap();
        decode::<Visit>(&record.unwrap().value).unwrap().state
    }

    /// The number of entries that wait, and the number that were given up.
    async fn outbox(&self) -> (u64, u64) {
        let backlog = self.shared.store.backlog().await.unwrap();
        (backlog.pending, backlog.dead)
    }

    /// Carries out the entries that are due, as the worker does.
    async fn work(&self) {
        let shared = self.shared();
        let later = shared.clock.now().plus(3_600);
        for leased in shared.store.due(later, 10).await.unwrap() {
            if let Err(error) = self.guest.clone().carry_out(shared, &leased).await {
                shared.put_off(&leased, &error, Some(&*self.guest)).await;
            }
        }
    }
}

fn tenant() -> TenantId {
    TenantId::parse("toy").unwrap()
}

fn inside() -> State {
    let room = "room 7".to_owned();
    State::Inside { room }
}

const KIND_HOST: &[&str] = &["what is two and two?", "room 7"];

#[tokio::test]
async fn a_protocol_of_three_messages_goes_on_by_itself_and_ends_with_a_reply_and_an_event() {
    let host = Host::saying(KIND_HOST).await;
    let world = World::of(&host).await;
    let mut events = world.shared.events.reader().await.unwrap();
    let first = world.begin("v").await;
    let reply = world.shared().go_on(&world.guest, first).await.unwrap();
    assert_eq!(reply, Some(inside()));
    assert_eq!(world.state().await, inside());
    assert_eq!(host.heard(), ["hello", "four"]);
    assert_eq!(events.next().await.unwrap().id, "v");
    assert_eq!(world.outbox().await, (0, 0));
}

#[tokio::test]
async fn calls_that_a_process_left_behind_are_carried_out_by_the_outbox() {
    let host = Host::saying(KIND_HOST).await;
    let world = World::of(&host).await;
    world.begin("v").await;
    world.work().await;
    assert_eq!(world.state().await, inside());
    assert_eq!(world.outbox().await, (0, 0));
}

#[tokio::test]
async fn a_call_waits_until_those_before_it_in_its_lane_are_answered() {
    let riddle = "what is two and two?";
    let host = Host::saying(&[riddle, riddle, "room 7", "room 8"]).await;

    let world = World::of(&host).await;
    world.begin("v").await;
    let second = world.begin("w").await;
    let reply = world.shared().go_on(&world.guest, second).await.unwrap();
    assert_eq!(reply, None);
    assert!(host.heard().is_empty());
    for _ in 0..4 {
        world.work().await;
    }
    assert_eq!(world.state().await, inside());
    let room = "room 8".to_owned();
    assert_eq!(world.state_of("w").await, State::Inside { room });
}

#[tokio::test]
async fn a_call_whose_time_is_over_is_not_made() {
    let host = Host::saying(KIND_HOST).await;
    let mut world = World::of(&host).await;
    world.visit.until = world.shared.clock.now();
    world.begin("v").await;
    world.work().await;
    let reason = Reason::new("host-late");
    assert_eq!(world.state().await, State::Outside { reason });
    assert!(host.heard().is_empty());
    assert_eq!(world.outbox().await, (0, 0));
}

#[tokio::test]
async fn a_step_that_refuses_its_answer_for_good_ends_the_record_and_leaves_a_dead_letter() {
    let host = Host::saying(&["!go away"]).await;
    let world = World::of(&host).await;
    world.begin("v").await;
    world.work().await;
    let reason = Reason::new("host-rude");
    assert_eq!(world.state().await, State::Outside { reason });
    assert_eq!(world.outbox().await, (0, 1));
}

/// A machine on the guest's records that loses as many races as it is told: another input comes in between.
struct Crowded {
    guest: Arc<Guest>,
    shared: Arc<Shared>,
    races: AtomicUsize,
    steps: AtomicUsize,
}

#[async_trait]
impl Machine for Crowded {
    const KIND: &'static str = Guest::KIND;
    type Record = Visit;
    type Input = ();
    type Reply = ();

    fn records(&self) -> &RecordCache<Visit> {
        self.guest.records()
    }

    async fn prepare(&self, at: At<'_>, visit: &Visit, (): &mut ()) -> Result<()> {
        let races = &self.races;
        let lost = races.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        });
        if lost.is_ok() {
            let batch = Batch::new(at.tenant.clone()).put(visit.put(at.id));
            self.shared.store.commit(batch).await?;
        }
        Ok(())
    }

    fn step(&self, visit: &mut Visit, (): &(), round: &Round<'_>) -> Result<Step<Next<()>>> {
        self.steps.fetch_add(1, Ordering::SeqCst);
        visit.state = inside();
        Ok(Step::Done(Next::written(round, ())))
    }
}

#[tokio::test]
async fn a_step_that_loses_a_race_is_taken_again_on_the_new_record_but_not_for_ever() {
    let host = Host::saying(KIND_HOST).await;
    let world = World::of(&host).await;
    world.begin("v").await;
    let (tenant, id) = (tenant(), "v");
    let at = At {
        tenant: &tenant,
        id,
    };
    for (races, steps) in [(0, 1), (5, 6), (9, 8)] {
        let crowded = Crowded {
            guest: world.guest.clone(),
            shared: world.shared().clone(),
            races: AtomicUsize::new(races),
            steps: AtomicUsize::new(0),
        };
        let driven = world.shared().drive(&crowded, at, ()).await;
        assert_eq!(driven.is_ok(), races < 8, "{races} races");
        assert_eq!(crowded.steps.load(Ordering::SeqCst), steps);
    }
    assert_eq!(world.state().await, inside());
}
