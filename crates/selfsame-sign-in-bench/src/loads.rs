//! The loads: users at the study's pace, users without pauses, sign-ins at a fixed rate, and many at once.

use std::time::Duration;

use selfsame_bench::{Error, Progress};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::party::BenchParty;
use crate::people::BenchPeople;
use crate::round::{SignInRound, WalkedSignIn};
use crate::seven::EsignetProvider;
use crate::standard::StandardProvider;
use crate::study::USERS;
use crate::walk::UserPace;

/// Users without pauses.
pub const UNPAUSED: usize = 64;

/// Who signs in, where, and to which relying party.
#[derive(Clone)]
pub struct LoadedProvider<P> {
    /// The provider.
    pub provider: P,
    /// The relying party.
    pub party: BenchParty,
    /// The people.
    pub people: BenchPeople,
}

/// A provider by which a person signs in.
pub trait SignInProvider: Clone + Send + Sync + 'static {
    /// One complete sign-in of the next person.
    fn sign_in(
        at: &LoadedProvider<Self>,
        pace: Option<&mut UserPace>,
    ) -> impl Future<Output = WalkedSignIn> + Send;
}

impl SignInProvider for EsignetProvider {
    async fn sign_in(at: &LoadedProvider<Self>, pace: Option<&mut UserPace>) -> WalkedSignIn {
        at.provider.walk(&at.party, &at.people.next(), pace).await
    }
}

impl SignInProvider for StandardProvider {
    async fn sign_in(at: &LoadedProvider<Self>, pace: Option<&mut UserPace>) -> WalkedSignIn {
        at.provider.walk(&at.party, &at.people.next(), pace).await
    }
}

/// The first sign-in, for which a provider may make keys and connections that all others use.
///
/// # Errors
/// If it fails.
pub async fn first<P: SignInProvider>(at: &LoadedProvider<P>) -> Result<(), Error> {
    match P::sign_in(at, None).await.failed {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// How long the study's users sign in, how they arrive, and their pace.
#[derive(Clone, Copy, Debug)]
pub struct PacedTime {
    /// All of it.
    pub all: Duration,
    /// The time in which the users arrive.
    pub ramp: Duration,
    /// How far the calls of a user are apart.
    pub apart: Duration,
}

/// The study's users at the study's pace: each begins a sign-in when the last one has ended.
pub async fn paced(
    at: &LoadedProvider<EsignetProvider>,
    time: PacedTime,
    progress: &dyn Progress,
) -> SignInRound<7> {
    let round = SignInRound::begin();
    let until = Instant::now() + time.all;
    let mut users = JoinSet::new();
    for user in 0..USERS {
        let at = at.clone();
        let later = time.ramp.mul_f64(user as f64 / USERS as f64);
        users.spawn(async move {
            sleep(later).await;
            let (mut pace, mut walked) = (UserPace::new(time.apart), Vec::new());
            while Instant::now() < until {
                walked.push(SignInProvider::sign_in(&at, Some(&mut pace)).await);
            }
            walked
        });
    }
    let ticking = tokio::time::timeout_at(until, async {
        loop {
            sleep(Duration::from_secs(1)).await;
            progress.advance(1);
        }
    });
    let (round, _) = tokio::join!(round.of(users, || ()), ticking);
    round
}

/// Users without pauses, for a time.
pub async fn unpaused<P: SignInProvider, const CALLS: usize>(
    at: &LoadedProvider<P>,
    time: Duration,
) -> SignInRound<CALLS> {
    let round = SignInRound::begin();
    let until = Instant::now() + time;
    let mut users = JoinSet::new();
    for _ in 0..UNPAUSED {
        let at = at.clone();
        users.spawn(async move {
            let mut walked = Vec::new();
            while Instant::now() < until {
                walked.push(P::sign_in(&at, None).await);
            }
            walked
        });
    }
    round.of(users, || ()).await
}

/// Sign-ins that begin at a fixed rate, whatever those before do.
pub async fn at_rate(
    at: &LoadedProvider<EsignetProvider>,
    rate: f64,
    time: Duration,
) -> SignInRound<7> {
    let round = SignInRound::begin();
    let mut ticks = interval(Duration::from_secs_f64(1.0 / rate.max(1.0)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let until = Instant::now() + time;
    let mut users = JoinSet::new();
    while Instant::now() < until {
        ticks.tick().await;
        let at = at.clone();
        users.spawn(async move { vec![SignInProvider::sign_in(&at, None).await] });
    }
    round.of(users, || ()).await
}

/// A number of sign-ins at once. They arrive over a time, so that the connections are made one after another.
pub async fn at_once(
    at: &LoadedProvider<EsignetProvider>,
    count: usize,
    ramp: Duration,
) -> SignInRound<7> {
    let round = SignInRound::begin();
    let mut users = JoinSet::new();
    for user in 0..count {
        let at = at.clone();
        let later = ramp.mul_f64(user as f64 / count as f64);
        users.spawn(async move {
            sleep(later).await;
            vec![SignInProvider::sign_in(&at, None).await]
        });
    }
    round.of(users, || ()).await
}
