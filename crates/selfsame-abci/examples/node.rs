//! A node as a process: its folder and the engine's program are its arguments, requests come line by line over its
//! input (`ID submit HEX`, `ID resolve DID`, `ID head`, `ID note`, `ID read KEY`, `ID log FIRST COUNT`), answers go out over its
//! output (`ID ok …`, `ID error KIND: REASON`). It stops when its input ends.
#![allow(
    clippy::disallowed_macros,
    clippy::print_stdout,
    reason = "this program speaks over its output"
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use selfsame_abci::{Engine, Home, Node, Setup, Signer};
use selfsame_app::clock::Clock;
use selfsame_app::keys::Keys;
use selfsame_app::registry::Registry;
use selfsame_app::{Error, Result};
use selfsame_crypto::KeyHandle;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_did::{Did, Options};
use selfsame_store::ledger::SqliteLedger;
use selfsame_store::{Memory, Store, TenantId, Vault};
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter("info,tower_abci=warn,cometbft=warn")
        .with_writer(std::io::stderr)
        .init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, engine] = arguments.as_slice() else {
        eprintln!("usage: node FOLDER COMETBFT");
        return ExitCode::from(2);
    };
    match run(Path::new(home), Path::new(engine)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error.reason);
            ExitCode::FAILURE
        }
    }
}

async fn run(path: &Path, engine: &Path) -> Result<()> {
    let home = Home::open(path)?;
    let ledger = Arc::new(SqliteLedger::open(path.join("ledger.db"))?);
    let made_from = (home.clone(), Engine::at(engine).await?);
    let signed_by = (signer(&home).await?, Clock::default());
    let node = Arc::new(Node::start(Setup::new(made_from, ledger, signed_by)).await?);
    println!("0 ok ready");
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let node = node.clone();
        tokio::spawn(async move {
            let (id, request) = line.split_once(' ').unwrap_or((&line, ""));
            match answer(&node, request).await {
                Ok(answer) => println!("{id} ok {answer}"),
                Err(error) => println!("{id} error {:?}: {}", error.kind, error.reason),
            }
        });
    }
    node.stop().await;
    Ok(())
}

async fn answer(node: &Node, request: &str) -> Result<String> {
    match request.split(' ').collect::<Vec<_>>().as_slice() {
        ["submit", hex] => {
            let bytes = hex_decode(hex).map_err(|_| Error::bad_request("not hexadecimal"))?;
            let receipt = node.submit_bytes(&bytes).await?;
            Ok(format!("{} {}", receipt.seq_no, receipt.height))
        }
        ["resolve", did] => {
            let did = Did::parse(did).map_err(|_| Error::bad_request("no DID"))?;
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
            let key = hex_decode(key).map_err(|_| Error::bad_request("not hexadecimal"))?;
            let bundle = node.read(&key, 0).await?;
            Ok(hex_encode(&bundle.to_bytes()))
        }
        ["log", first, count] => {
            let number = |text: &str| {
                text.parse::<usize>()
                    .map_err(|_| Error::bad_request("no number"))
            };
            let first = u64::try_from(number(first)?).map_err(Error::internal)?;
            let entries = node.entries(first, number(count)?).await?;
            let hashes: Vec<String> = entries.into_iter().map(|entry| entry.hash).collect();
            Ok(hashes.join(" "))
        }
        _ => Err(Error::bad_request("no such request")),
    }
}

/// The key from the node's folder, in a store that is gone with the process.
async fn signer(home: &Home) -> Result<Signer> {
    let vault = Vault::from_master(SealingKey::from_bytes(random_seed()));
    let keys = Keys::new(Store::open(Arc::new(Memory::new()), vault).await?);
    let tenant = TenantId::parse("registry").map_err(Error::internal)?;
    let key = home.checkpoint_key()?;
    let handle = KeyHandle::of(key.public());
    keys.import(&tenant, key).await?;
    Ok(Signer {
        name: home.name().to_owned(),
        keys,
        tenant,
        key: handle,
    })
}
