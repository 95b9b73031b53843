//! Limits the memory that status lists take. A list can be a thousand times larger inflated than on the wire.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use selfsame_credential::status::{List, MAX_LIST_BYTES, MAX_TOKEN_BYTES, StatusError};
use selfsame_crypto::time::UnixTime;
use selfsame_net::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that all status lists may take together: cached ones, and those that verifications in progress use.
const BYTES: usize = 64 * 1024 * 1024;
/// Bytes of these for cached lists that no verification uses.
pub(super) const KEPT_BYTES: usize = 40 * 1024 * 1024;
/// How long a reader waits for room; verifications take less.
const WAIT: Duration = Duration::from_secs(5);

/// Room for a limited number of bytes of status lists.
#[derive(Clone, Debug)]
pub(crate) struct ListRoom {
    left: Arc<Semaphore>,
    wait: Duration,
}

/// Why a status list that was fetched can't be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Unread {
    /// It is not a status list.
    Wrong(StatusError),
    /// Too many other lists are in use.
    NoRoom,
}

impl From<StatusError> for Unread {
    fn from(error: StatusError) -> Self {
        Self::Wrong(error)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(error) => error.fmt(formatter),
            Self::NoRoom => formatter.write_str("too many status lists are being read now"),
        }
    }
}

impl Default for ListRoom {
    fn default() -> Self {
        Self {
            left: Arc::new(Semaphore::new(BYTES)),
            wait: WAIT,
        }
    }
}

impl ListRoom {
    /// Reads the status list at `uri`. Reserves room before inflating the list; the room is free once the list is
    /// dropped.
    pub async fn read(
        &self,
        uri: &str,
        response: &Response,
        now: UnixTime,
    ) -> Result<List, Unread> {
        let mut place = self.take(most(response.body.len())).await?;
        let content_type = response.content_type.as_deref();
        let list = List::parse(uri, content_type, &response.body, now)?;
        let excess = place.num_permits().saturating_sub(list.weight());
        drop(place.split(excess));
        Ok(list.holding(place))
    }

    async fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Unread> {
        let bytes = u32::try_from(bytes).map_err(|_| Unread::NoRoom)?;
        let taken = self.left.clone().acquire_many_owned(bytes);
        match tokio::time::timeout(self.wait, taken).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(Unread::NoRoom),
        }
    }
}

/// The most memory that reading a list of `body` bytes takes: a buffer that doubles, plus a few copies of the token.
const fn most(body: usize) -> usize {
    MAX_LIST_BYTES
        .saturating_mul(2)
        .saturating_add(body.saturating_mul(4))
}

// Even with the cache full, the longest list can be read.
const _: () = assert!(KEPT_BYTES + most(MAX_TOKEN_BYTES) <= BYTES);

#[cfg(test)]
mod tests {
    use selfsame_credential::status::{Bits, Terms, Width, token_list};
    use serde_json::json;

    use super::*;

    const NOW: UnixTime = UnixTime(1_800_000_000);
    const URI: &str = "https://issuer.example/status/1";

    /// A list of the maximum size inflated, which is short on the wire, and is not held by its few other bytes.
    fn fetched() -> Response {
        let header = json!({"alg": "ES256"}).as_object().cloned().unwrap();
        let terms = Terms {
            uri: URI,
            issuer: "did:web:issuer.example",
            header: &header,
            issued_at: NOW,
            expires_at: None,
            ttl: None,
        };
        let mut bits = Bits::new(Width::Eight, MAX_LIST_BYTES as u64).unwrap();
        for index in (0..MAX_LIST_BYTES as u64).step_by(8) {
            bits.set(index, 1).unwrap();
        }
        let token = token_list::encode(&bits, &terms).unwrap();
        Response {
            status: 200,
            content_type: None,
            cache_max_age: None,
            etag: None,
            retry_after: None,
            challenge: None,
            dpop_nonce: None,
            attestation_challenge: None,
            replay_nonce: None,
            location: None,
            body: token.finish(&[0; 64]).into_bytes().into(),
        }
    }

    #[tokio::test]
    async fn status_lists_that_are_looked_at_together_take_a_limited_number_of_bytes() {
        let room = ListRoom {
            wait: Duration::from_millis(200),
            ..ListRoom::default()
        };
        let response = fetched();
        assert!(response.body.len() < MAX_LIST_BYTES / 100);
        let mut held = Vec::new();
        let refused = loop {
            match room.read(URI, &response, NOW).await {
                Ok(list) => held.push(list),
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused, Unread::NoRoom);
        let taken: usize = held.iter().map(List::weight).sum();
        assert!(taken <= BYTES, "{taken}");
        // As many lists as there is room for, less what inflating one more may take.
        assert!(
            taken + most(response.body.len()) + MAX_LIST_BYTES > BYTES,
            "{taken}"
        );
        assert_eq!(room.left.available_permits(), BYTES - taken);
        // A response that is not a list keeps no room, and a waiting reader gets the room that others give back.
        let wrong = Response {
            body: "x".into(),
            ..response.clone()
        };
        let waiting = room.read(URI, &response, NOW);
        let given_back = async {
            tokio::time::sleep(room.wait / 4).await;
            held.truncate(4);
        };
        let (read, ()) = tokio::join!(waiting, given_back);
        assert!(read.is_ok());
        assert!(matches!(
            room.read(URI, &wrong, NOW).await,
            Err(Unread::Wrong(_))
        ));
        drop((read, held));
        assert_eq!(room.left.available_permits(), BYTES);
    }
}
