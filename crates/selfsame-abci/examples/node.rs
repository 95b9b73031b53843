//! A node as a process. Its arguments are its folder, the engine's program, and limits (`deadline=SECONDS`,
//! `waiting=COUNT`, `retained=BLOCKS`, `machine=VERSION`). It reads requests from its input, one a line (`ID submit
//! HEX`, `ID resolve DID`, `ID head`, `ID note`, `ID read KEY`, `ID log FIRST COUNT`, `ID trouble`, `ID misbehaviour`,
//! `ID slow MILLISECONDS`, `ID clock SECONDS`), and writes answers to its output (`ID ok …`, `ID error KIND: REASON`).
//! It stops when its input ends.
#![allow(
    clippy::disallowed_macros,
    clippy::print_stdout,
    reason = "this program speaks over its output"
)]

use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_abci::{CheckpointKey, Engine, Home, Node, Setup};
use selfsame_catalogue::english;
use selfsame_crypto::KeyHandle;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_did::{Did, Options};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_ledger::{LocalRegistry, Registry, ServedRegistry, parse_transaction};
use selfsame_store::backend::Meter;
use selfsame_store::ledger::{Block, Head, LedgerStore, Placed, SqliteLedger};
use selfsame_store::{Memory, Store, StoreError, TenantId, Vault};
use tokio::io::{AsyncBufReadExt, BufReader};

type StoreResult<T> = std::result::Result<T, StoreError>;

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter("info,tower_abci=warn,cometbft=warn")
        .with_writer(std::io::stderr)
        .init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, engine, limits @ ..] = arguments.as_slice() else {
        eprintln!("usage: node FOLDER COMETBFT [LIMIT=NUMBER]...");
        return ExitCode::from(2);
    };
    match run((Path::new(home), Path::new(engine)), limits).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", english(&error.reason));
            ExitCode::FAILURE
        }
    }
}

/// A node, with the disk and the clock that tests can change.
struct Subject {
    node: Node,
    disk: Arc<SlowDisk>,
    clock: Clock,
}

async fn run((path, engine): (&Path, &Path), limits: &[String]) -> Result<()> {
    let home = Home::open(path)?;
    let disk = Arc::new(SlowDisk {
        ledger: SqliteLedger::open(path.join("ledger.db"))?,
        milliseconds: AtomicU64::new(0),
    });
    let clock = Clock::default();
    let (engine, signer) = (Engine::at(engine).await?, signer(&home).await?);
    let mut setup = Setup::new(home.clone(), engine, disk.clone(), signer, clock.clone());
    for limit in limits {
        let (name, number) = limit.split_once('=').unwrap_or((limit, ""));
        match name {
            "deadline" => setup.deadline = Duration::from_secs(number_of(number)?),
            "waiting" => setup.waiting_max = number_of(number)?,
            "retained" => setup.retained_blocks = number_of(number)?,
            "machine" => setup.machine_version = number_of(number)?,
            _ => return Err(wrong(format!("no such limit: {name}"))),
        }
    }
    let node = Node::start(setup).await?;
    let subject = Arc::new(Subject { node, disk, clock });
    println!("0 ok ready");
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let subject = subject.clone();
        tokio::spawn(async move {
            let (id, request) = line.split_once(' ').unwrap_or((&line, ""));
            match answer(&subject, request).await {
                Ok(answer) => println!("{id} ok {answer}"),
                Err(error) => println!("{id} error {:?}: {}", error.kind, english(&error.reason)),
            }
        });
    }
    subject.node.stop().await;
    Ok(())
}

fn number_of<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| wrong("no number"))
}

async fn answer(subject: &Subject, request: &str) -> Result<String> {
    let node = &subject.node;
    match request.split(' ').collect::<Vec<_>>().as_slice() {
        ["submit", hex] => {
            let bytes = hex_decode(hex).map_err(|_| wrong("not hexadecimal"))?;
            let receipt = node.submit(&parse_transaction(&bytes)?).await?;
            Ok(format!("{} {}", receipt.seq_no, receipt.height))
        }
        ["resolve", did] => {
            let did = Did::parse(did).map_err(|_| wrong("no DID"))?;
            let found = node.resolve(&did, &Options::default()).await;
            Ok(if found.document.is_some() {
                "found"
            } else {
                "none"
            }
            .to_owned())
        }
        ["head"] => {
            let head = node.ledger().head()?;
            let hash = hex_encode(&head.app_hash());
            Ok(format!("{} {} {hash}", head.height, head.log.size()))
        }
        ["note"] => Ok(match node.noted() {
            Some(noted) => hex_encode(noted.text.as_bytes()),
            None => String::new(),
        }),
        ["read", key] => {
            let key = hex_decode(key).map_err(|_| wrong("not hexadecimal"))?;
            let bundle = node.read(&key, 0).await?;
            Ok(hex_encode(&bundle.to_bytes()))
        }
        ["log", first, count] => {
            let entries = node
                .ledger()
                .transactions(number_of(first)?, number_of(count)?)?;
            let bytes = entries.iter().map(|placed| hex_encode(&placed.entry.bytes));
            Ok(bytes.collect::<Vec<_>>().join(" "))
        }
        ["misbehaviour"] => {
            let health = node.health()?;
            let all = health.into_iter().flat_map(|health| health.misbehaviour);
            let all = all.map(|one| format!("{} {} {}", one.validator, one.kind, one.count));
            Ok(all.collect::<Vec<_>>().join(","))
        }
        ["trouble"] => Ok(node.trouble().unwrap_or_default()),
        ["slow", milliseconds] => {
            let slow = &subject.disk.milliseconds;
            slow.store(number_of(milliseconds)?, Ordering::Relaxed);
            Ok(String::new())
        }
        ["clock", seconds] => {
            match number_of::<i64>(seconds)? {
                seconds @ 0.. => subject.clock.advance(seconds.unsigned_abs()),
                seconds => subject.clock.set_back(seconds.unsigned_abs()),
            }
            Ok(subject.clock.now().0.to_string())
        }
        _ => Err(wrong("no such request")),
    }
}

/// The key from the node's folder, in a key store in memory.
async fn signer(home: &Home) -> Result<CheckpointKey> {
    let vault = Vault::from_master(SealingKey::from_bytes(random_seed()));
    let keys = Keys::new(Store::open(Arc::new(Memory::new()), vault).await?);
    let tenant = TenantId::parse("registry").map_err(Error::internal)?;
    let key = home.checkpoint_key()?;
    let handle = KeyHandle::of(key.public());
    keys.import(&tenant, key).await?;
    Ok(CheckpointKey {
        name: home.name().to_owned(),
        keys,
        tenant,
        key: handle,
    })
}

/// A ledger on a disk that tests can slow down.
struct SlowDisk {
    ledger: SqliteLedger,
    milliseconds: AtomicU64,
}

#[async_trait]
impl LedgerStore for SlowDisk {
    fn get(&self, key: &[u8]) -> StoreResult<Option<Vec<u8>>> {
        self.ledger.get(key)
    }

    fn key(&self, place: &[u8; 32]) -> StoreResult<Option<Vec<u8>>> {
        self.ledger.key(place)
    }

    fn node(&self, key: &[u8]) -> StoreResult<Option<Vec<u8>>> {
        self.ledger.node(key)
    }

    fn head(&self) -> StoreResult<Option<Head>> {
        self.ledger.head()
    }

    fn block(&self, height: u64) -> StoreResult<Option<Vec<u8>>> {
        self.ledger.block(height)
    }

    fn entry(&self, seq: u64) -> StoreResult<Option<Placed>> {
        self.ledger.entry(seq)
    }

    fn entries(&self, seqs: Range<u64>) -> StoreResult<Vec<Placed>> {
        self.ledger.entries(seqs)
    }

    fn by_hash(&self, hash: &[u8; 32]) -> StoreResult<Option<u64>> {
        self.ledger.by_hash(hash)
    }

    async fn append(&self, block: Block) -> StoreResult<Head> {
        let slow = self.milliseconds.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(slow)).await;
        self.ledger.append(block).await
    }

    fn meter(&self) -> &Meter {
        self.ledger.meter()
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::of(ErrorKind::BadRequest, Reason::text(what))
}
