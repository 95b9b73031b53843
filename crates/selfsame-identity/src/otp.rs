//! One-time passwords of people with accounts here: what is kept of them, and how they are delivered.
//!
//! Every step is one commit that expects the records as they were read, so replicas that race accept a code once and
//! count every guess.

mod delivery;
mod mail;
mod message;
mod on_screen;
mod records;
mod webhook;

use std::net::IpAddr;
use std::sync::Arc;

use selfsame_crypto::SecretString;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::instance_key;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_otp::sent::{OtpEvent, OtpOutcome, OtpPolicy, OtpRecords, OtpRefusal};
use selfsame_sign_in::identity::OtpChannel;
use selfsame_store::{Store, StoreError};
use tokio::sync::OnceCell;

pub use delivery::{OtpCarrier, OtpMessage, Undelivered};
pub use mail::MailCarrier;
pub use on_screen::OnScreen;
pub use webhook::TextGateway;

pub(crate) use records::{LoadedOtp, OtpPlace, neighbourhood};

/// A step that lost a race is taken again on the new records; more races than this are not accidental.
const RACES_MAX: usize = 16;
/// Seconds for which the codes of a sign-in are kept, so that a late one is told from one that was never sent.
const KEPT: u64 = 3_600;

/// The one-time passwords of an instance. Clones share one.
#[derive(Clone)]
pub struct OtpDesk(Arc<DeskParts>);

struct DeskParts {
    store: Store,
    clock: Clock,
    policy: OtpPolicy,
    carriers: Vec<Arc<dyn OtpCarrier>>,
    /// Names allowances without revealing whose they are.
    naming: OnceCell<SealingKey>,
}

/// A sign-in that a code is for.
#[derive(Clone, Copy, Debug)]
pub struct OtpFor<'a> {
    /// The sign-in.
    pub sign_in: &'a str,
    /// The account, by an identifier that does not change.
    pub account: &'a str,
    /// Where the person's browser calls from, if known.
    pub from: Option<IpAddr>,
}

/// Where a code goes.
#[derive(Clone, Copy, Debug)]
pub struct OtpAddress<'a> {
    /// The kind.
    pub channel: OtpChannel,
    /// The address or number.
    pub address: &'a str,
    /// The languages that the person prefers, best first.
    pub locales: &'a [String],
}

impl OtpDesk {
    /// One-time passwords in this store, delivered by these carriers.
    #[must_use]
    pub fn new(store: Store, clock: Clock, carriers: Vec<Arc<dyn OtpCarrier>>) -> Self {
        Self(Arc::new(DeskParts {
            store,
            clock,
            policy: OtpPolicy::default(),
            carriers,
            naming: OnceCell::new(),
        }))
    }

    /// Whether there is a carrier for a kind of address.
    #[must_use]
    pub fn carries(&self, channel: OtpChannel) -> bool {
        self.carrier(channel).is_ok()
    }

    /// Sends a code. One that can't be handed to the carrier counts for nothing, and the one before it stays valid.
    ///
    /// # Errors
    /// `TooMany` with the time to wait; `Unavailable` if the carrier is away; `BadRequest` if it refuses the address, or
    /// it has no such code; the store's.
    pub async fn send(&self, what: OtpFor<'_>, to: OtpAddress<'_>) -> Result<()> {
        let carrier = self.carrier(to.channel)?;
        let (code, number) = match self.step(what, &OtpEvent::Send).await? {
            OtpOutcome::Deliver { code, number } => (code, number),
            OtpOutcome::Refused(refusal) => return Err(refused(refusal)),
            other => return Err(Error::internal(format!("sending ended as {other:?}"))),
        };
        let message = OtpMessage {
            sign_in: what.sign_in,
            to,
            code: &code,
            number,
            lifetime: self.0.policy.lifetime,
        };
        match carrier.deliver(&message).await {
            Ok(()) => Ok(()),
            Err(Undelivered::Refused) => Err(Error::bad_request("otp-address-refused")),
            Err(Undelivered::Away) => {
                self.step(what, &OtpEvent::NotDelivered(number)).await?;
                Err(carrier_away())
            }
        }
    }

    /// Does what [`Self::send`] does for an unknown person, as far as the caller can tell: neither the answer
    /// nor its time says whether there is an account.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    pub async fn pretend(&self, what: OtpFor<'_>, to: OtpAddress<'_>) -> Result<()> {
        let carrier = self.carrier(to.channel)?;
        let number = match self.step(what, &OtpEvent::Send).await? {
            OtpOutcome::Deliver { number, .. } => number,
            OtpOutcome::Refused(refusal) => return Err(refused(refusal)),
            other => return Err(Error::internal(format!("sending ended as {other:?}"))),
        };
        match carrier.is_there().await {
            true => Ok(()),
            false => {
                self.step(what, &OtpEvent::NotDelivered(number)).await?;
                Err(carrier_away())
            }
        }
    }

    /// The code that is shown on the screen for a sign-in, if a carrier brings codes to people like that.
    ///
    /// # Errors
    /// The store's.
    pub async fn on_screen(&self, sign_in: &str) -> Result<Option<SecretString>> {
        for carrier in &self.0.carriers {
            if let Some(code) = carrier.shown(sign_in).await? {
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    /// Takes a code that a person typed in. A right one is used up.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong code, and for one that is too old, void or used; `TooMany` with the time to wait;
    /// the store's.
    pub async fn enter(&self, what: OtpFor<'_>, code: &SecretString) -> Result<()> {
        match self.step(what, &OtpEvent::Enter(code.clone())).await? {
            OtpOutcome::Accepted => Ok(()),
            OtpOutcome::Wrong { left: 0 } => Err(unproven(Reason::new("otp-wrong-and-void"))),
            OtpOutcome::Wrong { left } => {
                Err(unproven(Reason::new("otp-wrong").with("left", &left)))
            }
            OtpOutcome::Refused(refusal) => Err(refused(refusal)),
            other => Err(Error::internal(format!("a code ended as {other:?}"))),
        }
    }

    /// Takes a step on the records as they are, again while another replica changes them.
    async fn step(&self, what: OtpFor<'_>, event: &OtpEvent) -> Result<OtpOutcome> {
        let place = OtpPlace::of(what, self.naming().await?);
        for _ in 0..RACES_MAX {
            let mut loaded = LoadedOtp::read(&self.0.store, &place).await?;
            let ctx = self.0.clock.ctx();
            let mut records = OtpRecords {
                bound_to: what.sign_in,
                codes: &mut loaded.codes,
                meters: &mut loaded.meters,
            };
            let outcome = records.step(event, &self.0.policy, &ctx);
            if matches!(outcome, OtpOutcome::Refused(_)) {
                return Ok(outcome);
            }
            let batch = loaded.written(&place, ctx.now().plus(KEPT))?;
            match self.0.store.commit(batch).await {
                Ok(_) => return Ok(outcome),
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(crowded())
    }

    fn carrier(&self, channel: OtpChannel) -> Result<&Arc<dyn OtpCarrier>> {
        let mut carriers = self.0.carriers.iter();
        let found = carriers.find(|carrier| carrier.channel() == channel);
        found.ok_or_else(|| Error::bad_request("otp-channel-absent"))
    }

    pub(crate) async fn naming(&self) -> Result<&SealingKey> {
        let key = || instance_key(&self.0.store, &self.0.clock, "allowances of sign-ins");
        self.0.naming.get_or_try_init(key).await
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

/// The refusal of a step.
fn refused(refusal: OtpRefusal) -> Error {
    match refusal {
        OtpRefusal::NotDigits => unproven(Reason::new("otp-not-digits")),
        OtpRefusal::NoCode => unproven(Reason::new("otp-not-sent")),
        OtpRefusal::Expired => unproven(Reason::new("otp-expired")),
        OtpRefusal::Void => unproven(Reason::new("otp-void")),
        OtpRefusal::Used => unproven(Reason::new("otp-used")),
        OtpRefusal::Pause { seconds } => paused(seconds),
    }
}

pub(crate) fn paused(seconds: u64) -> Error {
    tracing::warn!(
        seconds,
        "one-time passwords of an account or a network pause"
    );
    let kind = ErrorKind::TooMany {
        retry_after: seconds,
    };
    Error::new(kind, "otp-paused")
}

pub(crate) fn crowded() -> Error {
    Error::new(ErrorKind::TooMany { retry_after: 1 }, "sign-ins-crowded")
}

fn unproven(reason: Reason) -> Error {
    Error::of(ErrorKind::Unauthenticated, reason)
}

fn carrier_away() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 30 };
    Error::new(kind, "otp-carrier-away")
}

#[cfg(test)]
mod tests;
