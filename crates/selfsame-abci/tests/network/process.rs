//! A node as a separate process, so that it can be killed; requests are lines.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_did::Did;
use selfsame_driver::clock::Clock;
use selfsame_ledger::trust_root;
use selfsame_proof::read::{Bundle, Question, ReadOutcome, ReadPolicy, TrustRoot, judge};
use selfsame_registry::{Genesis, Transaction};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;

/// The maximum time for anything that is not a fault.
pub const PATIENCE: Duration = Duration::from_secs(180);
/// The error that a client gets when the node's process has ended.
pub const GONE: &str = "the node is gone";

type Answers = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<String, String>>>>>;

/// A node's process.
pub struct NodeProcess {
    child: tokio::sync::Mutex<Child>,
    pub id: u32,
    input: tokio::sync::Mutex<Option<ChildStdin>>,
    answers: Answers,
    /// The log for its operator.
    log: Arc<Mutex<Vec<String>>>,
    last: AtomicU64,
}

impl NodeProcess {
    /// Starts a node with a command that begins with `on`, and waits until it is ready; returns the reason if it gives
    /// up.
    pub async fn start(on: &[String], home: &Path, limits: &[String]) -> Result<Self, String> {
        // A file above its size limit must be an error that the node handles, not a signal.
        let mut child = Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; exec "$@""#, "sh"])
            .args(on)
            .arg(program())
            .arg(home)
            .arg(engine())
            .args(limits)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let (output, errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (answers, log) = (Answers::default(), Arc::<Mutex<Vec<String>>>::default());
        let ready = enter(&answers, 0);
        let (told, said) = (answers.clone(), log.clone());
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let (id, answer) = line.split_once(' ').unwrap();
                let answer = match answer.split_once(' ').unwrap_or((answer, "")) {
                    ("ok", answer) => Ok(answer.to_owned()),
                    (_, reason) => Err(reason.to_owned()),
                };
                let waiting = told.lock().unwrap().remove(&id.parse().unwrap());
                // A client that stopped waiting needs no answer.
                let _ = waiting.map(|waiting| waiting.send(answer));
            }
            told.lock().unwrap().clear();
        });
        let reading = tokio::spawn(async move {
            let mut lines = BufReader::new(errors).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                said.lock().unwrap().push(line);
            }
        });
        let ready = tokio::time::timeout(PATIENCE, ready).await;
        if ready.expect("the node starts in time").is_err() {
            reading.await.unwrap();
            return Err(log.lock().unwrap().join("\n"));
        }
        Ok(Self {
            id: child.id().unwrap(),
            child: tokio::sync::Mutex::new(child),
            input: tokio::sync::Mutex::new(input),
            answers,
            log,
            last: AtomicU64::new(0),
        })
    }

    /// Stops the node in an orderly way.
    pub async fn stop(&self) {
        self.input.lock().await.take();
        let mut child = self.child.lock().await;
        let status = tokio::time::timeout(PATIENCE, child.wait()).await;
        let log = || self.log.lock().unwrap().join("\n");
        let status = status.unwrap_or_else(|_| panic!("it does not stop: {}", log()));
        assert!(status.unwrap().success(), "{}", log());
    }

    /// Sends SIGKILL, like a machine that loses power.
    pub async fn kill(&self) {
        let mut child = self.child.lock().await;
        child.start_kill().unwrap();
        child.wait().await.unwrap();
    }

    /// Whether the operator's log contains this text.
    pub fn said(&self, text: &str) -> bool {
        !self.last_said(text).is_empty()
    }

    /// The log's lines that contain this text.
    pub fn last_said(&self, text: &str) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let lines = log.iter().filter(|line| line.contains(text));
        lines.cloned().collect()
    }

    /// Sends a request to the node. Returns an error also if the node is gone.
    pub async fn ask(&self, request: &str) -> Result<String, String> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let answer = enter(&self.answers, id);
        let line = format!("{id} {request}\n");
        let mut input = self.input.lock().await;
        let open = input.as_mut().ok_or(GONE)?;
        let written = open.write_all(line.as_bytes()).await;
        drop(input);
        written.map_err(|_| GONE)?;
        answer.await.map_err(|_| GONE)?
    }

    pub async fn submit(&self, transaction: &Transaction) -> Result<String, String> {
        let bytes = hex_encode(&transaction.to_bytes());
        self.ask(&format!("submit {bytes}")).await
    }

    /// Writes as a client does, and retries while it is told to.
    pub async fn write(&self, transaction: &Transaction) -> String {
        loop {
            match self.submit(transaction).await {
                Ok(receipt) => return receipt,
                Err(reason) if reason.starts_with("Unavailable") => {}
                Err(reason) => panic!("{reason}"),
            }
        }
    }

    /// The node's answer for a key of the state, as judged by a reader that has only the genesis.
    pub async fn proves(&self, genesis: &Genesis, key: &[u8]) -> Option<Vec<u8>> {
        self.reads(key, &trust_root(genesis)).await.0
    }

    /// The node's answer as judged by a reader with this trust root, and the trust root it leads to.
    pub async fn reads(&self, key: &[u8], trust: &TrustRoot) -> (Option<Vec<u8>>, TrustRoot) {
        let (bundle, outcome, led_to) = self.judged(key, trust, 0).await;
        assert_eq!(outcome, ReadOutcome::Verified);
        (bundle.value, led_to.unwrap())
    }

    /// The node's answer for a reader whose clock is wrong by these seconds, with the reader's verdict.
    pub async fn judged(
        &self,
        key: &[u8],
        trust: &TrustRoot,
        wrong_by: i64,
    ) -> (Bundle, ReadOutcome, Option<TrustRoot>) {
        let bundle = self
            .ask(&format!("read {}", hex_encode(key)))
            .await
            .unwrap();
        let bundle = Bundle::from_bytes(&hex_decode(&bundle).unwrap()).unwrap();
        let policy = ReadPolicy {
            max_age: Some(120),
            ..ReadPolicy::genuine(5)
        };
        let clock = Clock::default();
        match wrong_by {
            ahead @ 0.. => clock.advance(ahead.unsigned_abs()),
            behind => clock.set_back(behind.unsigned_abs()),
        }
        let question = Question {
            key,
            policy: &policy,
            now: clock.now(),
        };
        let report = judge(&bundle, &question, trust);
        (bundle, report.outcome, report.trust)
    }

    pub async fn resolves(&self, did: &Did) -> bool {
        self.ask(&format!("resolve {did}")).await.unwrap() == "found"
    }

    /// The newest complete note.
    pub async fn note(&self) -> Option<String> {
        let note = self.ask("note").await.unwrap();
        let note = String::from_utf8(hex_decode(&note).unwrap()).unwrap();
        (!note.is_empty()).then_some(note)
    }
}

fn enter(answers: &Answers, id: u64) -> oneshot::Receiver<Result<String, String>> {
    let (sender, receiver) = oneshot::channel();
    answers.lock().unwrap().insert(id, sender);
    receiver
}

/// The path of the example `node`, beside this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap().join("examples");
    let program = folder.join("node");
    assert!(
        program.is_file(),
        "the example `node` is built with all targets: cargo test -p selfsame-abci"
    );
    program
}

/// CometBFT's path, as xtask gives it or where xtask builds it.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells the tests where the engine is"
)]
pub fn engine() -> PathBuf {
    let built = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/cometbft/cometbft"
    );
    let engine = std::env::var_os("SELFSAME_COMETBFT").map_or_else(|| built.into(), PathBuf::from);
    assert!(
        engine.is_file(),
        "CometBFT is missing; build it: cargo xtask cometbft"
    );
    engine
}
