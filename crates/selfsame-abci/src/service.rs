//! The engine's socket: four connections, each served by its part of the application, on separate threads.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use selfsame_driver::{Error, Result};
use tendermint::abci::response::{Echo, PrepareProposal};
use tendermint::v0_38::abci::{
    ConsensusRequest, ConsensusResponse, InfoRequest, InfoResponse, MempoolRequest,
    MempoolResponse, SnapshotRequest, SnapshotResponse,
};
use tokio::sync::{Mutex, mpsc, oneshot};
use tower::Service;
use tower_abci::BoxError;
use tower_abci::v038::Server;

use crate::application::{Application, Consensus, Halt};

/// One thread judges a block while the other answers for the mempool.
const THREADS: usize = 2;
/// The maximum time to finish storing a block before the socket is closed.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// The socket that the engine connects to. Dropping it stops it, after the block under way.
pub(crate) struct Socket {
    path: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    /// Receives the reason when this half can't continue.
    halted: mpsc::Receiver<Halt>,
    ended: Option<oneshot::Receiver<()>>,
}

impl Socket {
    /// Listens at `path`, in a folder that only this user can access.
    pub(crate) fn listen(path: &Path, application: Application) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("abci")
            .enable_all()
            .build()
            .map_err(Error::internal)?;
        remove_stale(path)?;
        let (halt, halted) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let (end, ended) = oneshot::channel();
        let face = ConnectionFace::new(application, halt.clone())?;
        let at = path.to_owned();
        let serve = async move {
            let server = Server::builder()
                .consensus(face.clone())
                .mempool(face.clone())
                .info(face.clone())
                .snapshot(face)
                .finish();
            let Some(server) = server else {
                return;
            };
            tokio::select! {
                _ = stopped => {}
                ended = server.listen_unix(at) => {
                    let reason = ended.err().map(|error| error.to_string()).unwrap_or_default();
                    let _ = halt.try_send(Halt(format!("can't listen at the socket: {reason}")));
                }
            }
        };
        let run = move || {
            runtime.block_on(serve);
            runtime.shutdown_timeout(LAST_WORDS);
            let _ = end.send(());
        };
        std::thread::Builder::new()
            .name("abci".to_owned())
            .spawn(run)
            .map_err(Error::internal)?;
        Ok(Self {
            path: path.to_owned(),
            stop: Some(stop),
            halted,
            ended: Some(ended),
        })
    }

    /// Waits until this half can't continue; returns the reason.
    pub(crate) async fn halted(&mut self) -> Halt {
        match self.halted.recv().await {
            Some(halt) => halt,
            None => Halt("the socket was closed".to_owned()),
        }
    }

    /// Stops after the block under way is stored.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        if let Some(ended) = self.ended.take() {
            // The thread sends a message or is gone; either is enough.
            let _ = ended.await;
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

fn remove_stale(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::internal(format!("{}: {error}", path.display()))),
    }
}

/// The application as each connection sees it.
#[derive(Clone)]
struct ConnectionFace {
    application: Arc<Application>,
    consensus: Arc<Mutex<Consensus>>,
    halt: mpsc::Sender<Halt>,
}

type ServiceAnswer<T> = Pin<Box<dyn Future<Output = std::result::Result<T, BoxError>> + Send>>;

impl ConnectionFace {
    fn new(application: Application, halt: mpsc::Sender<Halt>) -> Result<Self> {
        let application = Arc::new(application);
        let consensus = Consensus::new(application.clone())?;
        Ok(Self {
            consensus: Arc::new(Mutex::new(consensus)),
            application,
            halt,
        })
    }

    /// Returns the answer. After a halt it never returns: the engine could not continue with a wrong answer, so it is
    /// stopped instead.
    async fn answer<T>(
        self,
        answer: std::result::Result<T, Halt>,
    ) -> std::result::Result<T, BoxError> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(halt) => {
                // The first reason is enough.
                let _ = self.halt.try_send(halt);
                std::future::pending().await
            }
        }
    }

    async fn consensus(
        &self,
        request: ConsensusRequest,
    ) -> std::result::Result<ConsensusResponse, Halt> {
        let mut consensus = self.consensus.lock().await;
        Ok(match request {
            ConsensusRequest::InitChain(request) => {
                ConsensusResponse::InitChain(consensus.init(&request)?)
            }
            ConsensusRequest::PrepareProposal(request) => {
                let txs = consensus.prepare(request);
                ConsensusResponse::PrepareProposal(PrepareProposal { txs })
            }
            ConsensusRequest::ProcessProposal(request) => {
                ConsensusResponse::ProcessProposal(consensus.process(&request))
            }
            ConsensusRequest::ExtendVote(request) => {
                ConsensusResponse::ExtendVote(consensus.extend(&request).await?)
            }
            ConsensusRequest::VerifyVoteExtension(request) => {
                ConsensusResponse::VerifyVoteExtension(consensus.verify(&request))
            }
            ConsensusRequest::FinalizeBlock(request) => {
                ConsensusResponse::FinalizeBlock(consensus.finalize(&request)?)
            }
            ConsensusRequest::Commit => ConsensusResponse::Commit(consensus.commit().await?),
        })
    }

    async fn snapshot(
        &self,
        request: SnapshotRequest,
    ) -> std::result::Result<SnapshotResponse, Halt> {
        let application = &self.application;
        Ok(match request {
            SnapshotRequest::ListSnapshots => {
                // The first call hashes the whole log; the engine's other requests do not wait for it.
                let application = Arc::clone(application);
                let listed = tokio::task::spawn_blocking(move || application.snapshots());
                let listed = listed.await.map_err(|error| Halt(error.to_string()))?;
                SnapshotResponse::ListSnapshots(listed?)
            }
            SnapshotRequest::OfferSnapshot(request) => {
                SnapshotResponse::OfferSnapshot(application.offered(&request).await?)
            }
            SnapshotRequest::LoadSnapshotChunk(request) => {
                SnapshotResponse::LoadSnapshotChunk(application.chunk(&request))
            }
            SnapshotRequest::ApplySnapshotChunk(request) => {
                let (answer, done) = application.take(&request).await?;
                if done {
                    // Consensus continues from there.
                    let consensus = Consensus::new(application.clone());
                    let consensus = consensus.map_err(Halt::from)?;
                    *self.consensus.lock().await = consensus;
                }
                SnapshotResponse::ApplySnapshotChunk(answer)
            }
        })
    }

    fn info(&self, request: InfoRequest) -> std::result::Result<InfoResponse, Halt> {
        Ok(match request {
            InfoRequest::Info(_) => InfoResponse::Info(self.application.info()?),
            InfoRequest::Echo(request) => InfoResponse::Echo(Echo {
                message: request.message,
            }),
            InfoRequest::Query(request) => InfoResponse::Query(self.application.query(&request)),
        })
    }
}

fn ready<E>() -> Poll<std::result::Result<(), E>> {
    Poll::Ready(Ok(()))
}

impl Service<ConsensusRequest> for ConnectionFace {
    type Response = ConsensusResponse;
    type Error = BoxError;
    type Future = ServiceAnswer<ConsensusResponse>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), BoxError>> {
        ready()
    }

    fn call(&mut self, request: ConsensusRequest) -> Self::Future {
        let face = self.clone();
        Box::pin(async move {
            let answer = face.consensus(request).await;
            face.answer(answer).await
        })
    }
}

impl Service<MempoolRequest> for ConnectionFace {
    type Response = MempoolResponse;
    type Error = BoxError;
    type Future = ServiceAnswer<MempoolResponse>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), BoxError>> {
        ready()
    }

    fn call(&mut self, MempoolRequest::CheckTx(request): MempoolRequest) -> Self::Future {
        let application = self.application.clone();
        Box::pin(async move { Ok(MempoolResponse::CheckTx(application.check(&request))) })
    }
}

impl Service<InfoRequest> for ConnectionFace {
    type Response = InfoResponse;
    type Error = BoxError;
    type Future = ServiceAnswer<InfoResponse>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), BoxError>> {
        ready()
    }

    fn call(&mut self, request: InfoRequest) -> Self::Future {
        let answer = self.info(request);
        Box::pin(self.clone().answer(answer))
    }
}

impl Service<SnapshotRequest> for ConnectionFace {
    type Response = SnapshotResponse;
    type Error = BoxError;
    type Future = ServiceAnswer<SnapshotResponse>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), BoxError>> {
        ready()
    }

    fn call(&mut self, request: SnapshotRequest) -> Self::Future {
        let face = self.clone();
        Box::pin(async move {
            let answer = face.snapshot(request).await;
            face.answer(answer).await
        })
    }
}
