//! What eSignet's interface keeps beside a sign-in: the hash of its details, and how often each call was made.
//!
//! The fourth delivery of a code and the fourth authentication of one transaction are refused, and block the person for
//! five minutes, for callers from the same network: nobody locks out a person from elsewhere.

use std::net::IpAddr;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{encoding, hash};
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::instance_key;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::otp::{crowded, neighbourhood};

const TRANSACTION: &str = "esignet_transaction";
const BLOCKED: &str = "esignet_blocked";
/// Seconds for which a person is blocked.
pub const BLOCK: u64 = 300;
/// Calls of one kind in one transaction.
const CALLS_MAX: u32 = 3;
const RACES_MAX: usize = 16;

/// The transactions of an instance.
pub struct Transactions {
    store: Store,
    clock: Clock,
    naming: OnceCell<SealingKey>,
}

/// A call that is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CountedCall {
    /// A one-time password is sent.
    SendOtp,
    /// A person is authenticated.
    Authenticate,
}

/// Who is named in a call, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct NamedPerson<'a> {
    /// The identifier that the person typed in.
    pub individual_id: &'a str,
    /// The address of their browser, if known.
    pub from: Option<IpAddr>,
}

/// Why a call is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TransactionRefusal {
    /// There is no such transaction, or it is over.
    Unknown,
    /// The hash is not that of the transaction's details.
    WrongHash,
    /// The call was made too often; the person is blocked from now on.
    NoAttemptsLeft,
    /// The person is blocked.
    Blocked,
    /// This instance failed.
    Failed(Error),
}

#[derive(Deserialize, Serialize)]
struct TransactionRecord {
    details_hash: String,
    sends: u32,
    attempts: u32,
}

impl TransactionRecord {
    fn count(&mut self, call: CountedCall) -> &mut u32 {
        match call {
            CountedCall::SendOtp => &mut self.sends,
            CountedCall::Authenticate => &mut self.attempts,
        }
    }
}

impl Transactions {
    /// The transactions in this store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            naming: OnceCell::new(),
        }
    }

    /// Keeps the hash of the details of a sign-in for as long as the sign-in lasts.
    ///
    /// # Errors
    /// The store's.
    pub async fn open(&self, sign_in: &str, details_hash: String, seconds: u64) -> Result<()> {
        let record = TransactionRecord {
            details_hash,
            sends: 0,
            attempts: 0,
        };
        let put = Put::new(TRANSACTION, id(sign_in), encode(&record)?);
        let put = put.expires(self.clock.now().plus(seconds));
        // A sign-in whose details are lost is begun again.
        let batch = Batch::new(TenantId::instance()).put(put).deferred();
        self.store.commit(batch).await?;
        Ok(())
    }

    /// Checks that a caller has seen the details of a sign-in.
    ///
    /// # Errors
    /// `Unknown`, `WrongHash`, `Failed`.
    pub async fn check(
        &self,
        sign_in: &str,
        details_hash: &str,
    ) -> std::result::Result<(), TransactionRefusal> {
        self.read(sign_in, details_hash).await.map(drop)
    }

    /// Checks that a caller has seen the details, that the person is not blocked, and that the call was not made too
    /// often; counts it.
    ///
    /// # Errors
    /// All of [`TransactionRefusal`].
    pub async fn admit(
        &self,
        sign_in: &str,
        details_hash: &str,
        call: CountedCall,
        person: NamedPerson<'_>,
    ) -> std::result::Result<(), TransactionRefusal> {
        let block = self.block_id(person).await?;
        for _ in 0..RACES_MAX {
            let (mut record, version) = self.read(sign_in, details_hash).await?;
            let count = record.count(call);
            *count = count.saturating_add(1);
            if *count > CALLS_MAX {
                self.block(&block).await?;
                return Err(TransactionRefusal::NoAttemptsLeft);
            }
            if self.is_blocked(&block).await? {
                return Err(TransactionRefusal::Blocked);
            }
            if self.write(sign_in, &record, version).await? {
                return Ok(());
            }
        }
        Err(TransactionRefusal::Failed(crowded()))
    }

    /// Takes back one [`Self::admit`]: the identity system was away, so nothing was tried.
    ///
    /// # Errors
    /// The store's.
    pub async fn give_back(&self, sign_in: &str, call: CountedCall) -> Result<()> {
        for _ in 0..RACES_MAX {
            let (instance, id) = (TenantId::instance(), id(sign_in));
            let Some(read) = self.store.read(&instance, TRANSACTION, &id).await? else {
                return Ok(());
            };
            let mut record: TransactionRecord = decode(&read.value)?;
            let count = record.count(call);
            *count = count.saturating_sub(1);
            if self.write(sign_in, &record, read.version).await? {
                return Ok(());
            }
        }
        Err(crowded())
    }

    async fn read(
        &self,
        sign_in: &str,
        details_hash: &str,
    ) -> std::result::Result<(TransactionRecord, u64), TransactionRefusal> {
        let (instance, id) = (TenantId::instance(), id(sign_in));
        let read = self.store.read(&instance, TRANSACTION, &id).await?;
        let read = read.ok_or(TransactionRefusal::Unknown)?;
        let record: TransactionRecord = decode(&read.value)?;
        match hash::ct_eq(record.details_hash.as_bytes(), details_hash.as_bytes()) {
            true => Ok((record, read.version)),
            false => Err(TransactionRefusal::WrongHash),
        }
    }

    /// Whether the record was written: nobody else had changed it. The count is durable with the next durable commit:
    /// what a power cut loses of it is bounded by the identity system's own limits.
    async fn write(&self, sign_in: &str, record: &TransactionRecord, version: u64) -> Result<bool> {
        let batch = Batch::new(TenantId::instance());
        let batch = batch.update_version(TRANSACTION, &id(sign_in), version, encode(record)?);
        match self.store.commit(batch.deferred()).await {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    async fn block(&self, block: &str) -> Result<()> {
        let put = Put::new(BLOCKED, block, Vec::new());
        let put = put.expires(self.clock.now().plus(BLOCK));
        // A block that is there already does not grow: nobody keeps a person blocked by trying on.
        let batch = Batch::new(TenantId::instance()).expect(BLOCKED, block, Expect::Absent);
        match self.store.commit(batch.put(put)).await {
            Ok(_) => tracing::warn!(seconds = BLOCK, "a person is blocked after too many calls"),
            Err(StoreError::Conflict { .. }) => {}
            Err(other) => return Err(other.into()),
        }
        Ok(())
    }

    async fn is_blocked(&self, block: &str) -> Result<bool> {
        let instance = TenantId::instance();
        let version = self.store.version(&instance, BLOCKED, block).await?;
        Ok(version.is_some())
    }

    async fn block_id(&self, person: NamedPerson<'_>) -> Result<String> {
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

impl From<Error> for TransactionRefusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<StoreError> for TransactionRefusal {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

fn id(sign_in: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[b"transaction\0", sign_in.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_store::{Memory, Vault};

    use super::*;

    struct World {
        transactions: Transactions,
        clock: Clock,
    }

    impl World {
        async fn new() -> Self {
            let clock = Clock::default();
            let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
            let now = clock.clone();
            let clock_fn = Arc::new(move || now.now());
            let store = Store::open_with_clock(Arc::new(Memory::new()), vault, clock_fn);
            let transactions = Transactions::new(store.await.unwrap(), clock.clone());
            let world = Self {
                transactions,
                clock,
            };
            world.open("one").await;
            world
        }

        async fn open(&self, sign_in: &str) {
            let opened = self.transactions.open(sign_in, "hash".to_owned(), 600);
            opened.await.unwrap();
        }

        async fn admit(
            &self,
            sign_in: &str,
            call: CountedCall,
        ) -> std::result::Result<(), TransactionRefusal> {
            self.admit_from(sign_in, call, [192, 0, 2, 1]).await
        }

        async fn admit_from(
            &self,
            sign_in: &str,
            call: CountedCall,
            from: [u8; 4],
        ) -> std::result::Result<(), TransactionRefusal> {
            let person = NamedPerson {
                individual_id: "maja",
                from: Some(from.into()),
            };
            self.transactions.admit(sign_in, "hash", call, person).await
        }
    }

    #[tokio::test]
    async fn each_call_is_made_three_times_and_the_fourth_blocks_for_five_minutes() {
        let world = World::new().await;
        for call in [CountedCall::SendOtp, CountedCall::Authenticate] {
            for _ in 0..3 {
                assert_eq!(world.admit("one", call).await, Ok(()));
            }
        }
        let fourth = world.admit("one", CountedCall::Authenticate).await;
        assert_eq!(fourth, Err(TransactionRefusal::NoAttemptsLeft));
        world.open("two").await;
        let blocked = world.admit("two", CountedCall::SendOtp).await;
        assert_eq!(blocked, Err(TransactionRefusal::Blocked));
        // Elsewhere the same person goes on.
        let elsewhere = world
            .admit_from("two", CountedCall::SendOtp, [203, 0, 113, 1])
            .await;
        assert_eq!(elsewhere, Ok(()));
        // Trying on does not make it longer.
        world.clock.advance(BLOCK - 1);
        let fourth = world.admit("one", CountedCall::Authenticate).await;
        assert_eq!(fourth, Err(TransactionRefusal::NoAttemptsLeft));
        world.clock.advance(1);
        assert_eq!(world.admit("two", CountedCall::SendOtp).await, Ok(()));
    }

    #[tokio::test]
    async fn calls_that_race_are_all_counted() {
        let world = World::new().await;
        let call = || world.admit("one", CountedCall::SendOtp);
        let (a, b, c, d, e) = tokio::join!(call(), call(), call(), call(), call());
        let admitted = [a, b, c, d, e].iter().filter(|one| one.is_ok()).count();
        assert_eq!(admitted, 3);
    }

    #[tokio::test]
    async fn a_call_that_reached_nobody_is_not_counted() {
        let world = World::new().await;
        for _ in 0..10 {
            world.admit("one", CountedCall::SendOtp).await.unwrap();
            let back = world.transactions.give_back("one", CountedCall::SendOtp);
            back.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_caller_who_has_not_seen_the_details_is_refused() {
        let world = World::new().await;
        let check = |sign_in, hash| world.transactions.check(sign_in, hash);
        assert_eq!(check("one", "hash").await, Ok(()));
        assert_eq!(
            check("one", "other").await,
            Err(TransactionRefusal::WrongHash)
        );
        assert_eq!(check("two", "hash").await, Err(TransactionRefusal::Unknown));
        world.clock.advance(600);
        assert_eq!(check("one", "hash").await, Err(TransactionRefusal::Unknown));
    }
}
