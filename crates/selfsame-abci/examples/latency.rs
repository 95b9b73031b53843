//! How long single writes take on a network of four validators on loopback, all in this process but the engines:
//! `cargo run --release -p selfsame-abci --example latency -- COMETBFT [WRITES [WRITERS]]` prints one JSON object.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "this program measures and prints"
)]

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_abci::{Addresses, Beginning, Engine, Home, Member, Network, Node, Setup, Signer};
use selfsame_app::clock::Clock;
use selfsame_app::keys::Keys;
use selfsame_app::registry::Registry;
use selfsame_app::{Error, Result};
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use selfsame_registry::{Content, Genesis, Identifier, Operation, Rules, Transaction, Unsigned};
use selfsame_store::ledger::SqliteLedger;
use selfsame_store::{Memory, Store, TenantId, Vault};
use tokio::task::JoinSet;

const VALIDATORS: usize = 4;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let engine = arguments
        .first()
        .map_or("target/cometbft/cometbft", String::as_str);
    let number = |at: usize, default: usize| {
        let text = arguments.get(at);
        text.map_or(Ok(default), |text| text.parse().map_err(Error::internal))
    };
    let (writes, writers) = (number(1, 200)?, number(2, 1)?);
    let engine = Engine::at(Path::new(engine)).await?;
    let folder = tempfile::tempdir().map_err(Error::internal)?;
    let nodes = start(folder.path(), engine).await?;
    let node = nodes[0].clone();
    let genesis = Genesis::from_bytes(&node.genesis().await?).map_err(Error::internal)?;
    // The first block waits for the engines to find each other.
    for _ in 0..5 {
        node.submit(&creation(&genesis)?).await?;
    }
    let began = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..writers {
        let transactions: Vec<Transaction> = (0..writes / writers)
            .map(|_| creation(&genesis))
            .collect::<Result<_>>()?;
        let node = node.clone();
        running.spawn(async move {
            let mut times = Vec::with_capacity(transactions.len());
            for transaction in &transactions {
                let began = Instant::now();
                node.submit(transaction).await?;
                times.push(began.elapsed());
            }
            Ok::<_, Error>(times)
        });
    }
    let mut times: Vec<Duration> = Vec::new();
    for written in running.join_all().await {
        times.extend(written?);
    }
    let took = began.elapsed().as_secs_f64();
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let figures = serde_json::json!({
        "validators": VALIDATORS,
        "writers": writers,
        "writes": times.len(),
        "p50_ms": at(50).as_secs_f64() * 1e3,
        "p99_ms": at(99).as_secs_f64() * 1e3,
        "max_ms": at(100).as_secs_f64() * 1e3,
        "writes_s": times.len() as f64 / took,
    });
    println!("{figures}");
    for node in &nodes {
        node.stop().await;
    }
    Ok(())
}

async fn start(folder: &Path, engine: Engine) -> Result<Vec<Arc<Node>>> {
    let held: Vec<TcpListener> = (0..2 * VALIDATORS)
        .map(|_| TcpListener::bind("127.0.0.1:0").map_err(Error::internal))
        .collect::<Result<_>>()?;
    let address = |held: &TcpListener| held.local_addr().map_err(Error::internal);
    let mut members = Vec::new();
    for (n, pair) in held.chunks(2).enumerate() {
        let addresses = Addresses {
            p2p: address(&pair[0])?,
            rpc: address(&pair[1])?,
        };
        let name = format!("node-{n}");
        members.push(Member { name, addresses });
    }
    drop(held);
    let beginning = Beginning {
        name: "latency".to_owned(),
        time: Clock::default().now(),
        rules: Rules::default(),
        authorities: Vec::new(),
    };
    let network = Network::create(folder, beginning, &members)?;
    let mut nodes = Vec::new();
    for path in network.homes() {
        nodes.push(Arc::new(node(path, engine.clone()).await?));
    }
    Ok(nodes)
}

async fn node(path: &Path, engine: Engine) -> Result<Node> {
    let home = Home::open(path)?;
    let vault = Vault::from_master(SealingKey::from_bytes(random_seed()));
    let keys = Keys::new(Store::open(Arc::new(Memory::new()), vault).await?);
    let tenant = TenantId::parse("registry").map_err(Error::internal)?;
    let key = home.checkpoint_key()?;
    let handle = KeyHandle::of(key.public());
    keys.import(&tenant, key).await?;
    let name = home.name().to_owned();
    let signer = Signer {
        name,
        keys,
        tenant,
        key: handle,
    };
    let ledger = Arc::new(SqliteLedger::open(path.join("ledger.db"))?);
    let setup = Setup::new((home, engine), ledger, (signer, Clock::default()));
    Node::start(setup).await
}

/// Somebody registers a DID.
fn creation(genesis: &Genesis) -> Result<Transaction> {
    let key = PrivateKey::generate(KeyType::Ed25519).map_err(Error::internal)?;
    let id = Identifier::of_key(key.public()).ok_or_else(|| Error::internal("no identifier"))?;
    let content = Content::of_key("key-1", key.public().clone());
    let unsigned = Unsigned::new(&genesis.network(), id, 0, Operation::CreateDid(content));
    let signature = key
        .sign(unsigned.signing_bytes())
        .map_err(Error::internal)?;
    unsigned
        .signed("key-1", &signature)
        .map_err(Error::internal)
}
