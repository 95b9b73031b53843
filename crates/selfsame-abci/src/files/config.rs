//! The engine's configuration: the differences from CometBFT's defaults, and the reason for each.

use serde_json::{Value, json};

use selfsame_crypto::encoding::hex_encode;

use super::{Distance, Member, StateSync};

/// The maximum size of a block, in bytes: a larger one might not reach all validators in the time for a proposal.
const BLOCK_BYTES: u64 = 512 * 1024;
/// The maximum size of evidence in a block, in bytes. The engine does not start if this is more than a block.
const EVIDENCE_BYTES: u64 = 64 * 1024;
/// The maximum size of a transaction, in bytes: half a block.
const TRANSACTION_BYTES: u64 = 256 * 1024;
/// The maximum number of waiting transactions, and their maximum size in bytes.
const MEMPOOL_TRANSACTIONS: usize = 3_000;
const MEMPOOL_BYTES: usize = 16 * 1024 * 1024;

/// How many times the configuration names a peer. The engine dials each entry after a random delay of up to three
/// seconds (`randomSleep` in its p2p/switch.go). With eight entries the first dial comes soon, and the others find the
/// peer connected.
const NAMED: usize = 8;

/// The head of the section for a node that joins late.
const STATE_SYNC: &str = "[statesync]";

/// The first height whose votes carry signatures of a checkpoint. The previous validators have signed the checkpoint of
/// a ledger that was carried over already, so the first votes carry none.
pub(crate) fn extended_from(begins_after: u64) -> u64 {
    match begins_after {
        0 => 1,
        _ => begins_after.saturating_add(2),
    }
}

/// The limits that all validators share, for CometBFT's genesis.
pub(super) fn consensus_params(begins_after: u64) -> Value {
    json!({
        "block": { "max_bytes": BLOCK_BYTES.to_string(), "max_gas": "-1" },
        "evidence": {
            "max_age_num_blocks": "100000",
            "max_age_duration": "172800000000000",
            "max_bytes": EVIDENCE_BYTES.to_string(),
        },
        "validator": { "pub_key_types": ["ed25519"] },
        "version": { "app": "0" },
        "abci": { "vote_extensions_enable_height": extended_from(begins_after).to_string() },
    })
}

/// A node's config.toml. Settings that it does not have keep CometBFT's defaults.
pub(super) fn text(member: &Member, peers: &[String]) -> String {
    let (rpc, p2p) = (member.addresses.rpc, member.addresses.p2p);
    let timeouts = timeouts(Distance::Near);
    let timeouts = timeouts
        .map(|(key, value)| format!("{key} = \"{value}\"\n"))
        .concat();
    let (name, peers) = (&member.name, vec![peers.join(","); NAMED].join(","));
    format!(
        r#"# Created with the network. The socket is named on the command line.
moniker = "{name}"
log_level = "error"
# node.json lists the admitted nodes: a connected engine may submit transactions.
filter_peers = true

[rpc]
# Only for this node's own half.
laddr = "tcp://{rpc}"

[p2p]
laddr = "tcp://{p2p}"
# Each several times: the engine waits up to three seconds, at random, before it dials one.
persistent_peers = "{peers}"
# All nodes are known: no addresses are gossiped, and several nodes may be on one machine.
pex = false
addr_book_strict = false
allow_duplicate_ip = true
flush_throttle_timeout = "2ms"
send_rate = 51200000
recv_rate = 51200000

[mempool]
# Waiting transactions are judged again if the last block may have made them invalid.
recheck = true
size = {MEMPOOL_TRANSACTIONS}
max_txs_bytes = {MEMPOOL_BYTES}
max_tx_bytes = {TRANSACTION_BYTES}

[consensus]
# The delay that a missing validator causes at its turn; a validator with more latency than this never gets a turn.
{timeouts}timeout_commit = "0s"
skip_timeout_commit = true
# A block is made when transactions wait, and every 30 seconds to show that the network runs.
create_empty_blocks = false
create_empty_blocks_interval = "30s"
peer_gossip_sleep_duration = "5ms"

[storage]
discard_abci_responses = true

[tx_index]
# The ledger stores the transactions.
indexer = "null"
"#
    )
}

/// The engine's timeouts for a proposal and for votes, and their increase in each further round.
fn timeouts(distance: Distance) -> [(&'static str, &'static str); 6] {
    let [propose, propose_delta, vote, vote_delta] = match distance {
        Distance::Near => ["300ms", "200ms", "200ms", "100ms"],
        // CometBFT's own defaults.
        Distance::Far => ["3s", "500ms", "1s", "500ms"],
    };
    [
        ("timeout_propose", propose),
        ("timeout_propose_delta", propose_delta),
        ("timeout_prevote", vote),
        ("timeout_prevote_delta", vote_delta),
        ("timeout_precommit", vote),
        ("timeout_precommit_delta", vote_delta),
    ]
}

/// A config.toml with the timeouts for a distance.
pub(super) fn with_timeouts(text: &str, distance: Distance) -> String {
    let timeouts = timeouts(distance);
    with_lines(
        text,
        &timeouts.map(|(key, value)| format!("{key} = \"{value}\"")),
    )
}

/// A config.toml with the timeouts of another one.
pub(super) fn with_timeouts_of(text: &str, other: &str) -> String {
    let keys = timeouts(Distance::Near).map(|(key, _)| key);
    let lines = other.lines().filter(|line| keys.contains(&key(line)));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    with_lines(text, &lines)
}

/// A config.toml in which these lines replace the lines for their keys.
fn with_lines(text: &str, lines: &[String]) -> String {
    let line = |line: &str| {
        let other = lines.iter().find(|other| key(other) == key(line));
        other.map_or_else(|| format!("{line}\n"), |other| format!("{other}\n"))
    };
    text.lines().map(line).collect()
}

fn key(line: &str) -> &str {
    line.split_once('=').map_or(line, |(key, _)| key.trim())
}

/// Whether a config.toml makes the engine ask us before it connects to a peer: a line before the first section.
pub(super) fn filters_peers(text: &str) -> bool {
    let top = text.lines().map(str::trim);
    let mut top = top.take_while(|line| !line.starts_with('['));
    top.any(|line| {
        let setting = line.split('#').next().unwrap_or(line).split_once('=');
        setting.is_some_and(|(key, value)| (key.trim(), value.trim()) == ("filter_peers", "true"))
    })
}

/// Whether a config.toml has a section for state sync.
pub(super) fn has_state_sync(text: &str) -> bool {
    text.lines().any(|line| line == STATE_SYNC)
}

/// A config.toml with state sync as its last section.
pub(super) fn with_state_sync(text: &str, from: &StateSync) -> String {
    let before = text.split(STATE_SYNC).next().unwrap_or(text).trim_end();
    let servers: Vec<String> = from
        .servers
        .iter()
        .map(|url| url.as_str().trim_end_matches('/').to_owned())
        .collect();
    let (servers, height, hash) = (servers.join(","), from.height, hex_encode(&from.hash));
    format!(
        r#"{before}

{STATE_SYNC}
# Only used by an engine without blocks: it begins with a snapshot of the ledger.
enable = true
rpc_servers = "{servers}"
trust_height = {height}
trust_hash = "{hash}"
trust_period = "168h0m0s"
discovery_time = "5s"
"#
    )
}
