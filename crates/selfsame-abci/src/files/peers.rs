//! The nodes that a node connects to: those it was created with, and those that its operator admits later. A peer may
//! submit transactions without a token, so the engine asks before it connects (`filter_peers`).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};

use super::{Home, NODE, NodeEntry, read_node};
use crate::notes::replace;

/// The maximum number of admitted nodes.
const PEERS_MAX: usize = 1_024;
/// An engine's name is an address of 20 bytes, in lower-case hex.
const NAME_DIGITS: usize = 40;
/// Nodes that are not admitted may try at any rate; the log reports them at most once in this many seconds.
const TOLD_AGAIN: u64 = 60;

/// Answers for a running node, from the current contents of its folder.
#[derive(Debug)]
pub(crate) struct Peers {
    home: PathBuf,
    told: Mutex<Option<UnixTime>>,
}

impl Peers {
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            home: home.path.clone(),
            told: Mutex::default(),
        }
    }

    /// Whether the engine may connect to the node of this name. If the folder can't be read, it may not.
    pub(crate) fn admits(&self, name: &str, now: UnixTime) -> bool {
        let node = read_node(&self.home.join(NODE));
        let admitted = node.is_ok_and(|node| node.peers.iter().any(|peer| name_of(peer) == name));
        if !admitted && self.tells(now) {
            tracing::warn!(node = %name.get(..NAME_DIGITS).unwrap_or(name), "a node that is not admitted was refused: `selfsame registry admit` admits a node");
        }
        admitted
    }

    /// The nodes that are currently admitted; `None` if the folder can't be read.
    pub(crate) fn admitted(&self) -> Option<BTreeSet<String>> {
        let node = read_node(&self.home.join(NODE)).ok()?;
        let names = node.peers.iter();
        Some(names.map(|peer| name_of(peer).to_owned()).collect())
    }

    fn tells(&self, now: UnixTime) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.is_none_or(|last| now.seconds_since(last) >= TOLD_AGAIN);
        if is_due {
            *told = Some(now);
        }
        is_due
    }
}

impl Home {
    /// The name and address of this node's engine, `<name>@<address>`; `None` for a folder of an earlier build.
    #[must_use]
    pub fn peer(&self) -> Option<&str> {
        self.node.peer.as_deref()
    }

    /// Admits a further node: `<name>@<address>`, as `join` prints it. It replaces an admitted node with an equal name,
    /// and takes effect at once in a running node.
    ///
    /// # Errors
    /// `BadRequest` if `peer` is not a node's name and address or there are too many, `Internal` if the disk fails.
    pub fn admit(&self, peer: &str) -> Result<()> {
        let peer = checked(peer)?;
        self.change(|peers| {
            peers.retain(|known| name_of(known) != name_of(peer));
            peers.push(peer.to_owned());
        })
    }

    /// Stops admitting a node, given by its name or by `<name>@<address>`. A running node restarts its engine, which
    /// closes the connection. Returns false if the node was not admitted.
    ///
    /// # Errors
    /// `BadRequest` for this node itself, `Internal` if the disk fails.
    pub fn dismiss(&self, peer: &str) -> Result<bool> {
        let name = name_of(peer);
        if self.peer().map(name_of) == Some(name) {
            return Err(Error::bad_request("peer-is-itself"));
        }
        let mut found = false;
        self.change(|peers| {
            let before = peers.len();
            peers.retain(|known| name_of(known) != name);
            found = peers.len() < before;
        })?;
        Ok(found)
    }

    fn change(&self, act: impl FnOnce(&mut Vec<String>)) -> Result<()> {
        let file = self.path.join(NODE);
        let mut node: NodeEntry = read_node(&file)?;
        act(&mut node.peers);
        if node.peers.len() > PEERS_MAX {
            return Err(Error::bad_request("peers-limit").with("maximum", &PEERS_MAX));
        }
        write(&file, &node)
    }
}

fn write(file: &Path, node: &NodeEntry) -> Result<()> {
    let text = serde_json::to_string_pretty(node).map_err(Error::internal)?;
    replace(file, &text).map_err(|error| Error::internal(format!("{}: {error}", file.display())))
}

fn name_of(peer: &str) -> &str {
    peer.split_once('@').map_or(peer, |(name, _)| name)
}

fn checked(peer: &str) -> Result<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_peer = peer.split_once('@').is_some_and(|(name, at)| {
        name.len() == NAME_DIGITS && name.bytes().all(is_digit) && at.parse::<SocketAddr>().is_ok()
    });
    match is_peer {
        true => Ok(peer),
        false => Err(Error::bad_request("peer-malformed").with("peer", &format!("{peer:?}"))),
    }
}
