//! Linked sign-ins: a wallet that scans a code from a browser's screen goes on with the browser's sign-in there.

use selfsame_crypto::{encoding, hash};
use selfsame_driver::clock::Clock;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, Record, Store, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::otp::crowded;

/// A code on a browser's screen.
const CODE: &str = "esignet_link_code";
/// The codes of a sign-in.
const OFFERED: &str = "esignet_link_offer";
/// A wallet's half of a sign-in.
const LINKED: &str = "esignet_linked";
/// Seconds for which a code can be scanned.
pub const CODE_SECONDS: u64 = 60;
/// Seconds for which a linked sign-in lasts.
const LINKED_SECONDS: u64 = 600;
/// Codes of one sign-in.
const CODES_MAX: u32 = 10;
const CODE_CHARACTERS: &[u8; 62] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const CODE_LENGTH: usize = 15;

/// The links of an instance.
pub struct Links {
    store: Store,
    clock: Clock,
}

/// What a wallet has agreed to for a person.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct LinkedAgreement {
    /// The claims.
    pub claims: Vec<String>,
    /// The scopes.
    pub scopes: Vec<String>,
}

/// A sign-in that a wallet has taken over.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LinkedSignIn {
    /// The sign-in.
    pub sign_in: String,
    /// What was agreed to, once it was.
    pub agreement: Option<LinkedAgreement>,
}

#[derive(Deserialize, Serialize)]
struct CodeRecord {
    sign_in: String,
    /// The wallet's half, once it was scanned.
    linked: Option<String>,
}

#[derive(Default, Deserialize, Serialize)]
struct OfferRecord {
    made: u32,
}

impl Links {
    /// The links in this store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// Makes a code for a browser's screen.
    ///
    /// # Errors
    /// `TooMany` after ten of them, and the store's.
    pub async fn offer(&self, sign_in: &str) -> Result<String> {
        let ctx = self.clock.ctx();
        let random: [u8; 8 * CODE_LENGTH] = ctx.random("link code");
        let character = |bytes: &[u8]| {
            let number = bytes
                .iter()
                .fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
            let place = usize::try_from(number % 62).unwrap_or_default();
            CODE_CHARACTERS.get(place).copied().map(char::from)
        };
        let code: String = random.chunks(8).filter_map(character).collect();
        let (offer, expect) = self.found::<OfferRecord>(OFFERED, sign_in).await?;
        let made = offer.unwrap_or_default().made;
        if made >= CODES_MAX {
            let kind = ErrorKind::TooMany {
                retry_after: CODE_SECONDS,
            };
            return Err(Error::new(kind, "link-codes-exhausted"));
        }
        let end = ctx.now().plus(CODE_SECONDS);
        let record = CodeRecord {
            sign_in: sign_in.to_owned(),
            linked: None,
        };
        let offer = OfferRecord {
            made: made.saturating_add(1),
        };
        let batch = Batch::new(TenantId::instance())
            .put(Put::new(CODE, id(CODE, &code), encode(&record)?).expires(end))
            .expect(OFFERED, &id(OFFERED, sign_in), expect)
            .put(
                Put::new(OFFERED, id(OFFERED, sign_in), encode(&offer)?)
                    .expires(ctx.now().plus(LINKED_SECONDS)),
            );
        match self.store.commit(batch).await {
            Ok(_) => Ok(code),
            Err(StoreError::Conflict { .. }) => Err(crowded()),
            Err(other) => Err(other.into()),
        }
    }

    /// Takes over a sign-in by its code, once. Returns the wallet's name for it.
    ///
    /// # Errors
    /// `Gone` for a code that is unknown, over or used; the store's.
    pub async fn take_over(&self, code: &str) -> Result<String> {
        let place = id(CODE, code);
        let read = self.store.read(&TenantId::instance(), CODE, &place).await?;
        let read = read.ok_or_else(gone)?;
        let mut record: CodeRecord = decode(&read.value)?;
        if record.linked.is_some() {
            return Err(gone());
        }
        let ctx = self.clock.ctx();
        let linked = ctx.token("linked transaction");
        record.linked = Some(linked.clone());
        let sign_in = LinkedSignIn {
            sign_in: record.sign_in.clone(),
            agreement: None,
        };
        let end = ctx.now().plus(LINKED_SECONDS);
        let put = Put::new(LINKED, id(LINKED, &linked), encode(&sign_in)?).expires(end);
        // The browser asks by the code until the sign-in has ended.
        let code = Put::new(CODE, &place, encode(&record)?).expires(end);
        let batch = Batch::new(TenantId::instance());
        let batch = batch.expect(CODE, &place, Expect::Version(read.version));
        match self.store.commit(batch.put(code).put(put)).await {
            Ok(_) => Ok(linked),
            Err(StoreError::Conflict { .. }) => Err(gone()),
            Err(other) => Err(other.into()),
        }
    }

    /// The wallet's name for the sign-in of a browser's code; `None` until it is scanned.
    ///
    /// # Errors
    /// `Gone` for a code that is unknown, over or of another sign-in; the store's.
    pub async fn scanned(&self, sign_in: &str, code: &str) -> Result<Option<String>> {
        let (record, _) = self.found::<CodeRecord>(CODE, code).await?;
        let record = record.filter(|record| record.sign_in == sign_in);
        Ok(record.ok_or_else(gone)?.linked)
    }

    /// The sign-in that a wallet has taken over.
    ///
    /// # Errors
    /// `Gone` if it is unknown or over; the store's.
    pub async fn linked(&self, linked: &str) -> Result<LinkedSignIn> {
        let (record, _) = self.found(LINKED, linked).await?;
        record.ok_or_else(gone)
    }

    /// Keeps what a person agreed to in their wallet, for the browser to end the sign-in with.
    ///
    /// # Errors
    /// `Gone` if the sign-in is unknown, over or was agreed to before; the store's.
    pub async fn agree(&self, linked: &str, agreement: LinkedAgreement) -> Result<()> {
        let place = id(LINKED, linked);
        let read = self
            .store
            .read(&TenantId::instance(), LINKED, &place)
            .await?;
        let read: Record = read.ok_or_else(gone)?;
        let mut record: LinkedSignIn = decode(&read.value)?;
        if record.agreement.is_some() {
            return Err(gone());
        }
        record.agreement = Some(agreement);
        let batch = Batch::new(TenantId::instance());
        let batch = batch.update(LINKED, &read, encode(&record)?);
        match self.store.commit(batch).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => Err(gone()),
            Err(other) => Err(other.into()),
        }
    }

    async fn found<T: serde::de::DeserializeOwned>(
        &self,
        kind: &str,
        name: &str,
    ) -> Result<(Option<T>, Expect)> {
        let read = self
            .store
            .read(&TenantId::instance(), kind, &id(kind, name))
            .await?;
        Ok(match read {
            Some(record) => (
                Some(decode(&record.value)?),
                Expect::Version(record.version),
            ),
            None => (None, Expect::Absent),
        })
    }
}

fn id(kind: &str, name: &str) -> String {
    let parts = [kind.as_bytes(), b"\0", name.as_bytes()];
    encoding::base64url_encode(&hash::sha256_parts(&parts))
}

fn gone() -> Error {
    Error::new(ErrorKind::Gone, "link-over")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_crypto::seal::SealingKey;
    use selfsame_store::{Memory, Vault};

    use super::*;

    async fn links() -> (Links, Clock) {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let store =
            Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
        (Links::new(store.await.unwrap(), clock.clone()), clock)
    }

    #[tokio::test]
    async fn a_code_is_scanned_once_and_the_browser_ends_what_the_wallet_agreed_to() {
        let (links, _) = links().await;
        let code = links.offer("sign-in").await.unwrap();
        assert_eq!(code.len(), CODE_LENGTH);
        assert_eq!(links.scanned("sign-in", &code).await, Ok(None));
        assert!(links.scanned("another", &code).await.is_err());
        let (one, other) = tokio::join!(links.take_over(&code), links.take_over(&code));
        assert_eq!(
            [one.is_ok(), other.is_ok()]
                .iter()
                .filter(|ok| **ok)
                .count(),
            1
        );
        let linked = one.or(other).unwrap();
        assert_eq!(
            links.scanned("sign-in", &code).await,
            Ok(Some(linked.clone()))
        );
        assert_eq!(links.linked(&linked).await.unwrap().agreement, None);
        let agreement = LinkedAgreement {
            claims: vec!["name".to_owned()],
            scopes: Vec::new(),
        };
        links.agree(&linked, agreement.clone()).await.unwrap();
        assert!(
            links
                .agree(&linked, LinkedAgreement::default())
                .await
                .is_err()
        );
        assert_eq!(
            links.linked(&linked).await.unwrap().agreement,
            Some(agreement)
        );
    }

    #[tokio::test]
    async fn codes_end_after_a_minute_and_there_are_ten_of_them() {
        let (links, clock) = links().await;
        let code = links.offer("sign-in").await.unwrap();
        clock.advance(CODE_SECONDS);
        assert!(links.take_over(&code).await.is_err());
        for _ in 1..CODES_MAX {
            links.offer("sign-in").await.unwrap();
        }
        let refused = links.offer("sign-in").await.unwrap_err();
        assert_eq!(refused.reason.id(), "link-codes-exhausted");
    }
}
