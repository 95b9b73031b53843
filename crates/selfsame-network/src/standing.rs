//! What one node proves: the state of its network, verified from a trust root.

use std::path::Path;

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_ledger::trust_root;
use selfsame_proof::checkpoint;
use selfsame_proof::read::{Bundle, Question, ReadPolicy, ReadReport, TrustRoot, judge};
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::Genesis;
use serde::Serialize;
use url::Url;

use crate::{Believed, NetworkError, NodeClient, files};

/// Maximum difference between clocks, in seconds.
const SKEW: u64 = 60;

/// The state of the network, as a node proves it.
#[derive(Clone, Serialize)]
pub struct NodeStanding {
    /// The block of its newest checkpoint.
    pub height: u64,
    /// The number of transactions up to there.
    pub transactions: u64,
    /// The time of that block.
    pub time: String,
    /// The age of the checkpoint, in seconds.
    pub age_s: u64,
    /// Blocks behind the node with the highest block.
    pub lag: u64,
    /// The checkpoint that proves it.
    #[serde(skip)]
    pub checkpoint: checkpoint::Standing,
    /// The validators that signed it.
    #[serde(skip)]
    pub signers: Vec<String>,
    /// The present validators, with their powers.
    #[serde(skip)]
    pub set: Vec<(String, u64)>,
}

/// Whether a node is named by its URL, not by its folder.
#[must_use]
pub fn is_url(node: &str) -> bool {
    node.starts_with("http://") || node.starts_with("https://")
}

/// The base URL of a node that is named by its URL or by its folder.
///
/// # Errors
/// If it is neither.
pub fn url_of(node: &str) -> Result<Url, NetworkError> {
    if is_url(node) {
        return Url::parse(node)
            .map_err(|error| NetworkError::environment(format!("{node}: {error}")));
    }
    if !Path::new(node).exists() {
        return Err(NetworkError::environment(
            "neither a node's folder nor a URL that begins with http:// or https://",
        ));
    }
    files::url_of(Path::new(node))
}

/// Verifies that a node is of the network of this trust root, or of its own genesis without one.
///
/// # Errors
/// Why it is not.
pub(crate) async fn proven(
    url: &Url,
    root: &mut Option<TrustRoot>,
    believed: &Believed,
) -> Result<(), NetworkError> {
    ask(url, root, believed).await.map(drop)
}

/// Reads the validators from a node, with all proofs; also returns the trust root that they lead to.
///
/// # Errors
/// If the node proves nothing under this root, or under its own genesis without one.
pub(crate) async fn ask(
    url: &Url,
    root: &mut Option<TrustRoot>,
    believed: &Believed,
) -> Result<(NodeStanding, Option<TrustRoot>), NetworkError> {
    let client = NodeClient::new(url, believed)?;
    let own = genesis_of(&client).await?;
    let root = root.get_or_insert_with(|| own.clone());
    if root.origin != own.origin {
        return Err(NetworkError::no(format!(
            "it is of network {}, not of {}",
            network_of(&own),
            network_of(root)
        )));
    }
    let now = Clock::default().now();
    let (bundle, report) = validators_of(&client, root.clone(), now).await?;
    let (true, Some(as_of), Some(set)) = (report.is_verified(), report.as_of, &bundle.value) else {
        return Err(NetworkError::no(broken(&report)));
    };
    let set = ValidatorSet::from_bytes(set)
        .map_err(|malformed| NetworkError::no(format!("its validators: {malformed}")))?;
    let trust = report.trust.clone();
    let standing = NodeStanding {
        height: as_of.height,
        transactions: as_of.size,
        time: as_of.time.rfc3339(),
        age_s: now.seconds_since(as_of.time),
        lag: 0,
        checkpoint: as_of,
        signers: report.signers,
        set: set
            .validators()
            .iter()
            .map(|validator| (validator.name.clone(), validator.power))
            .collect(),
    };
    Ok((standing, trust))
}

/// A node's answer about the validators, verified. If there were more changes of the validators than one answer holds,
/// continues from the trust root it leads to.
async fn validators_of(
    client: &NodeClient,
    mut root: TrustRoot,
    now: UnixTime,
) -> Result<(Bundle, ReadReport), NetworkError> {
    let policy = ReadPolicy::genuine(SKEW);
    let question = Question {
        key: STATE_KEY,
        policy: &policy,
        now,
    };
    loop {
        let (key, from) = (base64url_encode(STATE_KEY), root.from_height);
        let path = format!("registry/read?key={key}&trusted_height={from}");
        let bundle = Bundle::from_bytes(&client.get(&path).await?)
            .map_err(|_| NetworkError::no("its answer is malformed".to_owned()))?;
        let report = judge(&bundle, &question, &root);
        match &report.leads_to {
            Some(next) if next.from_height > root.from_height => root = next.clone(),
            _ => return Ok((bundle, report)),
        }
    }
}

/// The trust root from a node's genesis, unverified.
pub(crate) async fn genesis_of(client: &NodeClient) -> Result<TrustRoot, NetworkError> {
    let genesis = Genesis::from_bytes(&client.get("registry/genesis").await?)
        .map_err(|_| NetworkError::no("its genesis is malformed".to_owned()))?;
    Ok(trust_root(&genesis))
}

/// The network of a trust root.
pub(crate) fn network_of(root: &TrustRoot) -> &str {
    root.origin
        .strip_prefix("selfsame/")
        .unwrap_or(&root.origin)
}

fn broken(report: &ReadReport) -> String {
    let rule = report.rules.iter().find(|rule| rule.passed == Some(false));
    rule.map_or_else(
        || "its answer proves nothing".to_owned(),
        |rule| format!("its answer breaks rule `{}`: {}", rule.name, rule.detail),
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A standing with this age and height, for tests.
    pub fn standing((age_s, height): (u64, u64)) -> NodeStanding {
        NodeStanding {
            height,
            transactions: 1,
            time: String::new(),
            age_s,
            lag: 0,
            checkpoint: checkpoint::Standing {
                height,
                time: UnixTime(0),
                size: 1,
                log: [0; 32],
                state: [0; 32],
            },
            signers: Vec::new(),
            set: Vec::new(),
        }
    }
}
