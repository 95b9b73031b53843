//! Whether a node is ready to validate: it has caught up with the others, and none of them is silent. A new validator
//! counts as lost until it has caught up, so the network could tolerate one lost validator less.

use std::collections::BTreeSet;
use std::time::Duration;

use selfsame_proof::read::TrustRoot;
use tokio::time::Instant;
use url::Url;

use crate::standing::{NodeStanding, ask};
use crate::{Believed, NetworkError};

/// How long to wait for late validators: without transactions, a block is made every 30 s.
const PATIENCE: Duration = Duration::from_secs(70);
const NOT_RUNNING: &str = "start it with `selfsame registry node`, and add it once it has caught up; --force adds it at once";
/// The signatures of the quickest two thirds complete a block, so a slow validator is missing from many.
const STILL_NOT: &str = "an idle network makes a block every 30 s: try again while clients write to it; --force adds the node at once";
const AGAIN: Duration = Duration::from_millis(500);

/// A node that is to validate, and the network that it is measured by.
pub struct Candidacy {
    /// A node of the network, which proves its validators.
    pub node: Url,
    /// The new node.
    pub newcomer: Url,
    /// The trust root to verify with.
    pub root: TrustRoot,
    /// Further certificates that are trusted.
    pub believed: Believed,
}

impl Candidacy {
    /// Waits until the new node is ready to validate; tells once what it waits for.
    ///
    /// # Errors
    /// Why it is not ready.
    pub async fn ready(&self, tell: impl Fn(&str)) -> Result<(), NetworkError> {
        let begun = Instant::now();
        let (mut signed, mut told) = (BTreeSet::new(), false);
        let standing =
            async |url: &Url| match ask(url, &mut Some(self.root.clone()), &self.believed).await {
                Ok((standing, _)) => Ok(standing),
                Err(error) => Err(error.at(url.as_str())),
            };
        loop {
            let network = standing(&self.node).await?;
            let newcomer = standing(&self.newcomer).await;
            let newcomer = newcomer.map_err(|error| error.hint(NOT_RUNNING))?;
            signed.extend(network.signers.iter().cloned());
            let Some(why) = obstacle(&network, &newcomer, &signed) else {
                return Ok(());
            };
            if begun.elapsed() >= PATIENCE {
                return Err(NetworkError::no(why).hint(STILL_NOT));
            }
            if !told {
                tell(&why);
                told = true;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// What prevents it: the new node's lag, or validators that signed none of the checkpoints seen.
fn obstacle(
    network: &NodeStanding,
    newcomer: &NodeStanding,
    signed: &BTreeSet<String>,
) -> Option<String> {
    let lag = network.height.saturating_sub(newcomer.height);
    if lag > 0 {
        return Some(format!("the new node is {lag} blocks behind"));
    }
    let set: BTreeSet<String> = network.set.iter().map(|(name, _)| name.clone()).collect();
    let silent: Vec<String> = set.difference(signed).cloned().collect();
    (!silent.is_empty()).then(|| format!("no signature seen yet from: {}", silent.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standing::tests::standing;

    #[test]
    fn a_newcomer_that_is_behind_waits_and_so_does_one_where_a_validator_is_silent() {
        let set = ["a", "b", "c"].map(str::to_owned);
        let mut network = standing((1, 30));
        network.set = set.iter().map(|name| (name.clone(), 1)).collect();
        let all = BTreeSet::from(set);
        let why =
            |height, signed: &BTreeSet<String>| obstacle(&network, &standing((1, height)), signed);
        assert_eq!(why(30, &all), None);
        assert_eq!(why(31, &all), None, "it is further by now");
        assert_eq!(why(28, &all).unwrap(), "the new node is 2 blocks behind");
        let mut some = all;
        some.remove("b");
        assert_eq!(why(30, &some).unwrap(), "no signature seen yet from: b");
    }
}
