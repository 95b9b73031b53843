//! Measures what a block and the registry's pages cost as a ledger grows: `cargo run --release -p selfsame-abci
//! --example growth -- [OPERATIONS]` applies and stores blocks of eight transactions with 128 operations each. It
//! prints one line for every 32 blocks, and at the end requests pages as a browser does.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "this program measures and prints"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_crypto::hash::sha256;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_ledger::LocalRegistry;
use selfsame_ledger::browse::{Browser, IndyLedger, SearchCriteria, ViewPage};
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_registry::transaction::Body;
use selfsame_registry::{
    Block, Content, Genesis, Identifier, Operation, Rules, Transaction, UnsignedTransaction,
};
use selfsame_store::ledger::SqliteLedger;
use selfsame_store::{Memory, Store, Vault};

const BATCH: u64 = 128;
const TRANSACTIONS: u64 = 8;
/// The number of blocks for one line of output.
const BLOCKS: u64 = 32;

#[tokio::main]
async fn main() -> Result<()> {
    let wanted = std::env::args().nth(1);
    let wanted = wanted.map_or(Ok(400_000), |text| text.parse().map_err(Error::internal))?;
    let folder = tempfile::tempdir().map_err(Error::internal)?;
    let file = folder.path().join("ledger.db");
    let registry = open(&file).await?;
    grow(&registry, &file, wanted).await?;
    pages(&registry).await
}

async fn open(file: &Path) -> Result<Embedded> {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open(Arc::new(Memory::new()), vault).await?;
    let (keys, ledger) = (Keys::new(store.clone()), SqliteLedger::open(file)?);
    let mut setup = Setup::new("growth", Arc::new(ledger), store, keys, Clock::default());
    setup.rules = Rules {
        author_quota: u64::MAX,
        ..Rules::default()
    };
    Embedded::open(setup).await
}

async fn grow(registry: &Embedded, file: &Path, wanted: u64) -> Result<()> {
    let ledger = registry
        .ledger()
        .ok_or_else(|| Error::internal("no ledger"))?;
    let mut author = Author::new(ledger.genesis())?;
    let mut head = ledger.head()?;
    let mut next = vec![author.creation()?];
    let (mut operations, mut apply, mut append) = (0, Duration::ZERO, Duration::ZERO);
    println!("operations   judged ms a block   stored ms a block   operations/s   file MB");
    while operations < wanted {
        for _ in 0..BLOCKS {
            let block = Block {
                time: head.time,
                transactions: &next,
            };
            let began = Instant::now();
            let applied = ledger.apply(&head, &block).map_err(Error::internal)?;
            apply += began.elapsed();
            if applied.logged.len() != next.len() {
                return Err(Error::internal("a transaction was refused"));
            }
            let began = Instant::now();
            ledger.append(&next, &applied).await?;
            append += began.elapsed();
            head = applied.head;
            next = (0..TRANSACTIONS)
                .map(|_| author.anchors())
                .collect::<Result<_>>()?;
            operations += BATCH * TRANSACTIONS;
        }
        let each = |time: Duration| time.as_secs_f64() * 1_000.0 / BLOCKS as f64;
        let rate = (BLOCKS * TRANSACTIONS * BATCH) as f64 / (apply + append).as_secs_f64();
        let size = std::fs::metadata(file).map_or(0, |file| file.len()) / 1_000_000;
        let (judged, stored) = (each(apply), each(append));
        println!("{operations:10}   {judged:17.1}   {stored:17.1}   {rate:12.0}   {size:7}");
        (apply, append) = (Duration::ZERO, Duration::ZERO);
    }
    Ok(())
}

async fn pages(registry: &Embedded) -> Result<()> {
    let browser = Browser::of(registry)?;
    let began = Instant::now();
    loop {
        let asked = Instant::now();
        let found = browser.search(&SearchCriteria::default(), None, 20).await?;
        let (searched, waited) = (found.searched, asked.elapsed().as_millis());
        println!(
            "index: {searched} of {} transactions, answered after {waited} ms",
            found.transactions
        );
        if searched == found.transactions {
            break;
        }
    }
    println!(
        "index complete after {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let kind = SearchCriteria {
        kind: Some("anchor_status"),
        ..SearchCriteria::default()
    };
    let text = |text| SearchCriteria {
        text: Some(text),
        ..SearchCriteria::default()
    };
    let searches = [
        ("all", SearchCriteria::default()),
        ("a kind", kind),
        ("a rare word", text("77777")),
        ("a word of all", text("issuer")),
        ("begun words", text("issuer 7")),
    ];
    for (name, search) in searches {
        let asked = Instant::now();
        let first = browser.search(&search, None, 20).await?;
        let took = asked.elapsed().as_secs_f64() * 1_000.0;
        println!("{name}: {} found, {took:.1} ms", first.total);
    }
    for number in [1, 500, 1_000] {
        let page = ViewPage {
            kind: None,
            text: None,
            page: number,
            size: 100,
        };
        let asked = Instant::now();
        let found = browser.view(IndyLedger::Domain, &page).await?;
        let took = asked.elapsed().as_secs_f64() * 1_000.0;
        println!(
            "page {number} of the ledger of {}: {took:.1} ms",
            found.total
        );
    }
    Ok(())
}

struct Author {
    genesis: Genesis,
    key: PrivateKey,
    id: Identifier,
    nonce: u64,
    lists: u64,
}

impl Author {
    fn new(genesis: &Genesis) -> Result<Self> {
        let key = PrivateKey::generate(KeyType::Ed25519).map_err(Error::internal)?;
        Ok(Self {
            genesis: genesis.clone(),
            id: Identifier::of_key(key.public()).ok_or_else(|| Error::internal("no identifier"))?,
            key,
            nonce: 0,
            lists: 0,
        })
    }

    fn creation(&mut self) -> Result<Transaction> {
        let content = Content::of_key("key-1", self.key.public().clone());
        self.transaction(vec![Operation::CreateDid(content)])
    }

    fn anchors(&mut self) -> Result<Transaction> {
        let lists = self.lists..self.lists + BATCH;
        self.lists += BATCH;
        let anchor = |number| {
            let list = format!("https://issuer.example/status/{number}");
            Operation::AnchorStatus {
                digest: sha256(list.as_bytes()),
                issued: self.genesis.time(),
                list,
            }
        };
        self.transaction(lists.map(anchor).collect())
    }

    fn transaction(&mut self, operations: Vec<Operation>) -> Result<Transaction> {
        self.nonce += 1;
        let body = Body::new(&self.genesis.network(), self.id, self.nonce, operations);
        let unsigned = UnsignedTransaction::of(body);
        let signature = self
            .key
            .sign(unsigned.signing_bytes())
            .map_err(Error::internal)?;
        unsigned
            .signed("key-1", &signature)
            .map_err(Error::internal)
    }
}
