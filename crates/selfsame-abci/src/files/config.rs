//! The engine's configuration: what differs from CometBFT's defaults, and why.

use serde_json::{Value, json};

use super::Member;

/// Most bytes of a block: more could not be handed round within the time a proposal has.
const BLOCK_BYTES: u64 = 512 * 1024;
/// Most bytes of evidence in a block; the engine does not start if it is more than a block.
const EVIDENCE_BYTES: u64 = 64 * 1024;
/// The longest transaction: half a block.
const TRANSACTION_BYTES: u64 = 256 * 1024;
/// Most transactions that wait, and their bytes.
const MEMPOOL_TRANSACTIONS: usize = 3_000;
const MEMPOOL_BYTES: usize = 16 * 1024 * 1024;

/// The limits all validators share, as CometBFT's genesis has them.
pub(super) fn consensus_params() -> Value {
    json!({
        "block": { "max_bytes": BLOCK_BYTES.to_string(), "max_gas": "-1" },
        "evidence": {
            "max_age_num_blocks": "100000",
            "max_age_duration": "172800000000000",
            "max_bytes": EVIDENCE_BYTES.to_string(),
        },
        "validator": { "pub_key_types": ["ed25519"] },
        "version": { "app": "0" },
        "abci": { "vote_extensions_enable_height": "1" },
    })
}

/// A node's config.toml. All that is not in it is CometBFT's default.
pub(super) fn text(member: &Member, peers: &[String]) -> String {
    let (rpc, p2p) = (member.addresses.rpc, member.addresses.p2p);
    let (name, peers) = (&member.name, peers.join(","));
    format!(
        r#"# Written with the network. The socket is named on the command line.
moniker = "{name}"
log_level = "error"

[rpc]
# For this node's own half only.
laddr = "tcp://{rpc}"

[p2p]
laddr = "tcp://{p2p}"
persistent_peers = "{peers}"
# Who takes part is known: no addresses are gossiped, and several nodes may be on one machine.
pex = false
addr_book_strict = false
allow_duplicate_ip = true
flush_throttle_timeout = "2ms"
send_rate = 51200000
recv_rate = 51200000

[mempool]
# What waits is judged again where the application has a doubt.
recheck = true
size = {MEMPOOL_TRANSACTIONS}
max_txs_bytes = {MEMPOOL_BYTES}
max_tx_bytes = {TRANSACTION_BYTES}

[consensus]
# For a local network: a validator that is gone costs its turn this long.
timeout_propose = "300ms"
timeout_propose_delta = "200ms"
timeout_prevote = "200ms"
timeout_prevote_delta = "100ms"
timeout_precommit = "200ms"
timeout_precommit_delta = "100ms"
timeout_commit = "0s"
skip_timeout_commit = true
# A block is made when there is something to put into it, and now and then to show that the network lives.
create_empty_blocks = false
create_empty_blocks_interval = "30s"
peer_gossip_sleep_duration = "5ms"

[storage]
discard_abci_responses = true

[tx_index]
# The ledger has the transactions.
indexer = "null"
"#
    )
}
