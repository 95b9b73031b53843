//! People who are blocked at eSignet's interface for five minutes, after too many attempts in one sign-in. A block is for
//! callers from the same network: a caller cannot lock out a person who is elsewhere.

use std::net::IpAddr;

use selfsame_crypto::encoding;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::Result;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::instance_key;
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use tokio::sync::OnceCell;

use crate::otp::neighbourhood;

const BLOCKED: &str = "esignet_blocked";
/// Seconds for which a person is blocked.
pub const BLOCK: u64 = 300;

/// The blocked people of an instance.
pub struct BlockedPeople {
    store: Store,
    clock: Clock,
    naming: OnceCell<SealingKey>,
}

/// Who is named in a call, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct NamedPerson<'a> {
    /// The identifier that the person typed in.
    pub individual_id: &'a str,
    /// The address of their browser, if known.
    pub from: Option<IpAddr>,
}

impl BlockedPeople {
    /// The blocked people in this store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            naming: OnceCell::new(),
        }
    }

    /// Blocks a person. A block that is there already does not grow: a caller cannot keep a person blocked by further attempts.
    ///
    /// # Errors
    /// The store's.
    pub async fn block(&self, person: NamedPerson<'_>) -> Result<()> {
        let id = self.id(person).await?;
        let put = Put::new(BLOCKED, &id, Vec::new());
        let put = put.expires(self.clock.now().plus(BLOCK));
        let batch = Batch::new(TenantId::instance()).expect(BLOCKED, &id, Expect::Absent);
        match self.store.commit(batch.put(put)).await {
            Ok(_) => tracing::warn!(seconds = BLOCK, "a person is blocked after too many calls"),
            Err(StoreError::Conflict { .. }) => {}
            Err(other) => return Err(other.into()),
        }
        Ok(())
    }

    /// Whether a person is blocked.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_blocked(&self, person: NamedPerson<'_>) -> Result<bool> {
        let (instance, id) = (TenantId::instance(), self.id(person).await?);
        let version = self.store.version(&instance, BLOCKED, &id).await?;
        Ok(version.is_some())
    }

    async fn id(&self, person: NamedPerson<'_>) -> Result<String> {
        let key = || instance_key(&self.store, &self.clock, "blocks of eSignet's interface");
        let key = self.naming.get_or_try_init(key).await?;
        let network = person.from.map(neighbourhood);
        let network = network
            .map(|network| network.to_string())
            .unwrap_or_default();
        let text = format!("{network}\0{}", person.individual_id);
        Ok(encoding::base64url_encode(&key.mac(text.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_store::{Memory, Vault};

    use super::*;

    fn maja(from: [u8; 4]) -> NamedPerson<'static> {
        NamedPerson {
            individual_id: "maja",
            from: Some(from.into()),
        }
    }

    #[tokio::test]
    async fn a_person_is_blocked_for_five_minutes_for_callers_from_the_same_network() {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let clock_fn = Arc::new(move || now.now());
        let store = Store::open_with_clock(Arc::new(Memory::new()), vault, clock_fn);
        let blocked = BlockedPeople::new(store.await.unwrap(), clock.clone());
        let (here, elsewhere) = (maja([192, 0, 2, 1]), maja([203, 0, 113, 1]));
        assert!(!blocked.is_blocked(here).await.unwrap());
        blocked.block(here).await.unwrap();
        assert!(blocked.is_blocked(here).await.unwrap());
        assert!(!blocked.is_blocked(elsewhere).await.unwrap());
        // Trying on does not make it longer.
        clock.advance(BLOCK - 1);
        blocked.block(here).await.unwrap();
        clock.advance(1);
        assert!(!blocked.is_blocked(here).await.unwrap());
    }
}
