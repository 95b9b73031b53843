//! Which other nodes a node speaks to: those it was made with, and those its operator admits later. Who speaks to one
//! may hand transactions in without a token, so the engine asks before it does (`filter_peers`).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use selfsame_app::{Error, Result};
use selfsame_crypto::time::UnixTime;

use super::{Home, NODE, Node, read_node};
use crate::notes::replace;

/// So many nodes may be admitted.
const PEERS_MAX: usize = 1_024;
/// A name among the engines is an address of 20 bytes, in lower-case hex.
const NAME_DIGITS: usize = 40;
/// Nodes that are not admitted may come as often as they like; the log says so once in so many seconds.
const TOLD_AGAIN: u64 = 60;

/// Answers for a running node, by what its folder says at that moment.
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

    /// Whether the engine may speak to the node of this name. Where the folder can't be read it may not.
    pub(crate) fn admits(&self, name: &str, now: UnixTime) -> bool {
        let node = read_node(&self.home.join(NODE));
        let admitted = node.is_ok_and(|node| node.peers.iter().any(|peer| name_of(peer) == name));
        if !admitted && self.tells(now) {
            tracing::warn!(node = %name.get(..NAME_DIGITS).unwrap_or(name), "a node that is not admitted here was turned away: `selfsame registry admit` admits one");
        }
        admitted
    }

    /// Those that are admitted at this moment; none where the folder can't be read.
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
    /// How other engines find this node's: `<name>@<address>`; none for a folder of an earlier build.
    #[must_use]
    pub fn peer(&self) -> Option<&str> {
        self.node.peer.as_deref()
    }

    /// Admits a further node: `<name>@<address>`, as `join` prints it. One that has this name already is replaced. The
    /// running node knows at once.
    ///
    /// # Errors
    /// `BadRequest` if this names no node or there are too many, `Internal` if the disk fails.
    pub fn admit(&self, peer: &str) -> Result<()> {
        let peer = checked(peer)?;
        self.change(|peers| {
            peers.retain(|known| name_of(known) != name_of(peer));
            peers.push(peer.to_owned());
        })
    }

    /// Admits a node no longer, by its name or by `<name>@<address>`. A running node starts its engine again, which ends
    /// the connection. False if it was not admitted.
    ///
    /// # Errors
    /// `BadRequest` for this node itself, `Internal` if the disk fails.
    pub fn dismiss(&self, peer: &str) -> Result<bool> {
        let name = name_of(peer);
        if self.peer().map(name_of) == Some(name) {
            return Err(Error::bad_request("this is the node's own name"));
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
        let mut node: Node = read_node(&file)?;
        act(&mut node.peers);
        if node.peers.len() > PEERS_MAX {
            return Err(Error::bad_request(format!(
                "a node admits {PEERS_MAX} others at most"
            )));
        }
        write(&file, &node)
    }
}

fn write(file: &Path, node: &Node) -> Result<()> {
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
        false => Err(
            Error::bad_request(format!("{peer:?} names no node")).with_hint(
                "`selfsame registry join` prints the name: 40 digits, @, an IP address and a port",
            ),
        ),
    }
}
