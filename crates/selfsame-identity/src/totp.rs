//! Authenticator apps of people with accounts here, as a second factor.

use std::net::IpAddr;

use selfsame_crypto::SecretString;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_otp::totp::{TotpOutcome, TotpRecord, TotpSecret};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::otp::{LoadedOtp, OtpDesk, OtpFor, OtpPlace, crowded, paused};

/// The authenticator app of an account.
const TOTP: &str = "totp";
const RACES_MAX: usize = 16;

/// The authenticator apps of an instance. Their guesses count with those at codes that are sent.
#[derive(Clone)]
pub struct Authenticators {
    desk: OtpDesk,
}

/// An app that an account has or is about to have.
#[derive(Deserialize, Serialize)]
struct AppRecord {
    app: TotpRecord,
    /// Whether a code of it was accepted: it counts from then on.
    is_confirmed: bool,
}

impl Authenticators {
    /// The authenticator apps, in the store of these one-time passwords.
    #[must_use]
    pub fn new(desk: OtpDesk) -> Self {
        Self { desk }
    }

    /// Makes a secret for an account's app. It counts once [`Self::enter`] has accepted a code of it.
    ///
    /// # Errors
    /// `Conflict` if the account has an app already, and the store's.
    pub async fn enrol(&self, account: &str) -> Result<TotpSecret> {
        let read = self.read(account).await?;
        if read.as_ref().is_some_and(|(record, _)| record.is_confirmed) {
            return Err(Error::new(ErrorKind::Conflict, "totp-exists"));
        }
        let secret = TotpSecret::new(self.desk.clock().ctx().random("authenticator app"));
        let record = AppRecord {
            app: TotpRecord::new(&secret),
            is_confirmed: false,
        };
        let expect = read.map_or(Expect::Absent, |(_, version)| Expect::Version(version));
        let batch = Batch::new(TenantId::instance()).expect(TOTP, account, expect);
        let put = Put::new(TOTP, account, encode(&record)?);
        self.desk.store().commit(batch.put(put)).await?;
        Ok(secret)
    }

    /// The secret of an app that an account is about to have: no code of it was accepted yet.
    ///
    /// # Errors
    /// The store's.
    pub async fn pending(&self, account: &str) -> Result<Option<TotpSecret>> {
        let read = self.read(account).await?;
        let pending = read.filter(|(record, _)| !record.is_confirmed);
        Ok(pending.map(|(record, _)| record.app.secret()))
    }

    /// Whether an account has an app.
    ///
    /// # Errors
    /// The store's.
    pub async fn has(&self, account: &str) -> Result<bool> {
        let read = self.read(account).await?;
        Ok(read.is_some_and(|(record, _)| record.is_confirmed))
    }

    /// Takes the app from an account.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove(&self, account: &str) -> Result<()> {
        let batch = Batch::new(TenantId::instance()).delete(TOTP, account);
        self.desk.store().commit(batch).await?;
        Ok(())
    }

    /// Takes a code that a person typed in. Each time step counts once, on all replicas together.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong code, a code that was used, and an account without an app; `TooMany` with the time
    /// to wait; the store's.
    pub async fn enter(
        &self,
        account: &str,
        code: &SecretString,
        from: Option<IpAddr>,
    ) -> Result<()> {
        let what = OtpFor {
            sign_in: "totp",
            account,
            from,
        };
        let place = OtpPlace::of(what, self.desk.naming().await?);
        for _ in 0..RACES_MAX {
            let Some((mut record, version)) = self.read(account).await? else {
                return Err(unproven(Reason::new("totp-absent")));
            };
            let mut loaded = LoadedOtp::read(self.desk.store(), &place).await?;
            let now = self.desk.clock().now();
            let outcome = record.app.enter(code, &mut loaded.meters, now);
            match outcome {
                TotpOutcome::Pause { seconds } => return Err(paused(seconds)),
                TotpOutcome::Replayed => return Err(unproven(Reason::new("totp-used"))),
                TotpOutcome::Accepted => record.is_confirmed = true,
                TotpOutcome::Wrong => {}
            }
            let batch = Batch::new(TenantId::instance());
            let batch = batch.expect(TOTP, account, Expect::Version(version));
            let batch = batch.put(Put::new(TOTP, account, encode(&record)?));
            let batch = loaded.counted(&place, batch)?;
            match self.desk.store().commit(batch).await {
                Ok(_) if outcome == TotpOutcome::Accepted => return Ok(()),
                Ok(_) => return Err(unproven(Reason::new("totp-wrong"))),
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(crowded())
    }

    async fn read(&self, account: &str) -> Result<Option<(AppRecord, u64)>> {
        let instance = TenantId::instance();
        let record = self.desk.store().read(&instance, TOTP, account).await?;
        let read = record.map(|record| Ok((decode(&record.value)?, record.version)));
        read.transpose()
    }
}

fn unproven(reason: Reason) -> Error {
    Error::of(ErrorKind::Unauthenticated, reason)
}
