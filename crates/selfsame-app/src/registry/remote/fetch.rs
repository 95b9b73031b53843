//! Fetching an object: one node after the other, until one proves what it says.

use std::sync::Arc;

use selfsame_proof::checkpoint::Standing;
use selfsame_proof::read::Bundle;

use super::kept::Fork;
use super::known::{Fetch, Fetched, Fetching, Known, Refused, Why};
use super::node::Node;
use super::nodes::{For, better, named};
use super::{Network, Remote};
use crate::error::{Error, Result};

/// Fetches for the readers of a network.
pub(super) struct Fetcher<'r> {
    pub(super) remote: &'r Remote,
    pub(super) network: &'r Network,
}

/// What came of asking the nodes, as long as none proved anything.
#[derive(Default)]
struct Asked {
    failed: Option<Error>,
    /// Whether one is only behind.
    behind: bool,
    /// The newest answer that is older than a network's that goes on.
    newest: Option<(Standing, Bundle, Arc<Node>)>,
}

impl Fetch for Fetcher<'_> {
    fn fetch<'a>(&'a self, known: &'a Known, key: &'a [u8]) -> Fetching<'a> {
        Box::pin(async move {
            let nodes = &self.remote.nodes;
            let mut asked = Asked::default();
            for node in nodes.turn(For::Reads)? {
                match node.read(key, known.trust().from_height).await {
                    Ok(bundle) => match known.accept(key, &bundle) {
                        Ok(as_of) => return self.found((bundle, as_of), &node).await,
                        Err(refused) => self.refused(&mut asked, (node, bundle), refused).await?,
                    },
                    Err(error) => {
                        let error = nodes.failed(&node, (For::Reads, error))?;
                        asked.failed = Some(better(asked.failed, error));
                    }
                }
            }
            self.standing_still(asked, known, key).await
        })
    }
}

impl Fetcher<'_> {
    async fn found(
        &self,
        (bundle, as_of): (Bundle, Standing),
        node: &Arc<Node>,
    ) -> Result<Option<Fetched>> {
        self.remote.keep(self.network).await;
        self.remote.compare(self.network, node).await?;
        Ok(Some((bundle.value, as_of)))
    }

    async fn refused(
        &self,
        asked: &mut Asked,
        (node, bundle): (Arc<Node>, Bundle),
        refused: Refused,
    ) -> Result<()> {
        let lied = match refused.why {
            Why::Fork(height, notes) => {
                let fork = Fork {
                    found: self.remote.clock.now(),
                    height: height.max(self.network.known.height()),
                    notes: *notes,
                    nodes: ["seen before".to_owned(), node.name()],
                };
                return Err(self.remote.stop(self.network, fork).await);
            }
            Why::Behind => {
                asked.behind = true;
                false
            }
            Why::Old(standing) => {
                let newer = |(newest, ..): &(Standing, Bundle, Arc<Node>)| {
                    (newest.height, newest.time) < (standing.height, standing.time)
                };
                if asked.newest.as_ref().is_none_or(newer) {
                    asked.newest = Some((standing, bundle, node.clone()));
                }
                false
            }
            Why::Lie => true,
        };
        let error = self.remote.nodes.refused(&node, (lied, *refused.error));
        asked.failed = Some(better(asked.failed.take(), error));
        Ok(())
    }

    /// No node has a fresh checkpoint: too few validators are left to sign one. What they signed last holds, since
    /// nothing can have changed without them; that all nodes hide something newer is believed impossible for so long
    /// only as the operator says.
    async fn standing_still(
        &self,
        asked: Asked,
        known: &Known,
        key: &[u8],
    ) -> Result<Option<Fetched>> {
        if let Some((_, bundle, node)) = asked.newest {
            let as_of = known
                .accept_old(key, &bundle, self.remote.standstill)
                .map_err(|refused| named(&node, *refused.error))?;
            tracing::warn!(
                height = as_of.height,
                time = %as_of.time.rfc3339(),
                "the registry stands still; reads are as of its last checkpoint"
            );
            return self.found((bundle, as_of), &node).await;
        }
        match asked.failed {
            _ if asked.behind => Ok(None),
            Some(error) => Err(error),
            None => Err(Error::internal("a registry without nodes")),
        }
    }
}
