//! Signs for the key store: a few sessions, each on a thread of its own, since a module blocks while a token works.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::{Algorithm, KeyType, PublicKey};
use selfsame_driver::hsm::{Hsm, HsmKey};
use selfsame_driver::{Error, Result};
use tokio::sync::{Semaphore, oneshot};

use crate::failed::{LATER, TokenResult};
use crate::figures;
use crate::session::TokenSession;
use crate::token::Token;

/// Maximum number of sessions.
pub const SESSIONS_MAX: u16 = 64;
/// Requests that may wait for a session; more are refused.
const WAITING_MAX: usize = 256;
/// How long a request waits for its answer, with the time that it waits for a session.
const DEADLINE: Duration = Duration::from_secs(10);

type Work = Box<dyn FnOnce(&Token, &mut Option<TokenSession>) + Send>;

/// Sessions with a token. They are opened when they are needed, and again when they are lost.
#[derive(Clone)]
pub struct HsmPool {
    work: Sender<Work>,
    places: Arc<Semaphore>,
    deadline: Duration,
}

impl HsmPool {
    /// A pool of this many sessions, 1 to [`SESSIONS_MAX`]. The first session is opened now, so that a token that is
    /// absent or refuses the PIN is known at the start.
    ///
    /// # Errors
    /// `BadRequest` for a number of sessions that can't be, `Unavailable` if the first session can't be opened.
    pub fn open(token: &Token, sessions: u16) -> Result<Self> {
        if !(1..=SESSIONS_MAX).contains(&sessions) {
            return Err(Error::bad_request("hsm-sessions-limits").with("maximum", &SESSIONS_MAX));
        }
        let (work, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let mut first = None;
        token.within(&mut first, |session| session.info())?;
        for _ in 0..sessions {
            let (queue, token, session) = (queue.clone(), token.clone(), first.take());
            std::thread::Builder::new()
                .name("hsm".to_owned())
                .spawn(move || take_turns(&queue, &token, session))
                .map_err(Error::internal)?;
        }
        Ok(Self {
            work,
            places: Arc::new(Semaphore::new(WAITING_MAX)),
            deadline: DEADLINE,
        })
    }

    /// The same pool, whose requests wait this long.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Does something in one of the sessions. A call that is under way can't be stopped: a session whose token does not
    /// answer stays taken, and requests that wait too long are refused meanwhile.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Fn(&mut TokenSession) -> TokenResult<T> + Send + 'static,
    ) -> Result<T> {
        let place = self.places.clone().try_acquire_owned();
        let place = place.map_err(|_| Error::new(LATER, "hsm-busy"))?;
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |token, session| {
            // If the answer is closed, its caller has stopped waiting.
            if !answer.is_closed() {
                let _ = answer.send(token.within(session, work));
            }
            drop(place);
        });
        self.work.send(work).map_err(Error::internal)?;
        match tokio::time::timeout(self.deadline, answered).await {
            Ok(Ok(done)) => done,
            Ok(Err(gone)) => Err(Error::internal(gone)),
            Err(_) => {
                let seconds = self.deadline.as_secs();
                Err(Error::new(LATER, "hsm-deadline").with("seconds", &seconds))
            }
        }
    }
}

#[async_trait]
impl Hsm for HsmPool {
    async fn find(&self, label: &str) -> Result<PublicKey> {
        let label = label.to_owned();
        self.run(move |session| session.public(&label)).await
    }

    async fn create(&self, label: &str, kind: KeyType) -> Result<PublicKey> {
        let label = label.to_owned();
        self.run(move |session| session.create_pair(&label, kind))
            .await
    }

    async fn sign_with(&self, key: &HsmKey, algorithm: Algorithm, bytes: &[u8]) -> Result<Vec<u8>> {
        let since = figures::now();
        let (key, bytes) = (key.clone(), bytes.to_vec());
        let signing = self.run(move |session| session.sign(&key, algorithm, &bytes));
        let signature = signing.await;
        figures::signature(signature.is_ok(), since);
        signature
    }
}

/// Works until the last handle of the pool is dropped.
fn take_turns(queue: &Mutex<Receiver<Work>>, token: &Token, mut session: Option<TokenSession>) {
    loop {
        let work = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => break,
        };
        match work {
            Ok(work) => work(token, &mut session),
            Err(_) => break,
        }
    }
    token.close(session);
}
