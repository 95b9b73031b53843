//! The erasure of an organisation: what it has of people is removed at once; what others need to verify the credentials
//! that it issued is kept for a time, and then destroyed with its keys. Each stage is a record, so that a crash only
//! delays the next one.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind};
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};

use super::OrganisationName;
use super::view::{ErasureView, OrganisationState};

/// The erasure of an organisation, as kept.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Erasure {
    begun: UnixTime,
    until: UnixTime,
    stage: ErasureStage,
}

/// How far an erasure is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ErasureStage {
    /// What the organisation has of people is being removed.
    Removing,
    /// What others need to verify is kept.
    Kept,
    /// The keys and all records are being destroyed.
    Destroying,
    /// Nothing is left but the name.
    Over,
}

/// What the duty does for an erasure now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ErasureWork {
    /// Remove what the organisation has of people.
    Remove,
    /// Note that nothing is served any more from now on, then destroy.
    Close,
    /// Destroy the keys and all records.
    Destroy,
}

/// Which erasures the duty looks at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Urgency {
    /// Those that have work now.
    Now,
    /// Those that wait for the end of their time.
    Later,
}

impl Erasure {
    /// An erasure that begins now, after which what others need is kept for this number of seconds.
    pub(super) fn begin(now: UnixTime, kept_seconds: u64) -> Self {
        Self {
            begun: now,
            until: now.plus(kept_seconds),
            stage: ErasureStage::Removing,
        }
    }

    /// The erasure with the end of its time now, unless that has passed.
    pub(super) fn hastened(mut self, now: UnixTime) -> Self {
        self.until = self.until.min(now);
        self
    }

    /// What is to be done for it now.
    #[must_use]
    pub fn work(&self, now: UnixTime) -> Option<ErasureWork> {
        match self.stage {
            ErasureStage::Removing => Some(ErasureWork::Remove),
            ErasureStage::Kept if now >= self.until => Some(ErasureWork::Close),
            ErasureStage::Destroying => Some(ErasureWork::Destroy),
            ErasureStage::Kept | ErasureStage::Over => None,
        }
    }

    /// The erasure once this work is done.
    pub(super) fn after(mut self, work: ErasureWork) -> Self {
        self.stage = match work {
            ErasureWork::Remove => ErasureStage::Kept,
            ErasureWork::Close => ErasureStage::Destroying,
            ErasureWork::Destroy => ErasureStage::Over,
        };
        self
    }

    /// Whether what others need to verify is still served.
    #[must_use]
    pub fn publishes(&self, now: UnixTime) -> bool {
        let is_kept = matches!(self.stage, ErasureStage::Removing | ErasureStage::Kept);
        is_kept && now < self.until
    }

    /// Whether nothing is left but the name.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == ErasureStage::Over
    }

    /// The state of the organisation.
    pub(super) fn state(&self) -> OrganisationState {
        match self.stage {
            ErasureStage::Removing => OrganisationState::Erasing,
            _ => OrganisationState::Erased,
        }
    }

    /// It as it is shown.
    #[must_use]
    pub fn view(&self) -> ErasureView {
        ErasureView {
            begun: self.begun.rfc3339(),
            until: self.until.rfc3339(),
            over: self.is_over(),
        }
    }

    /// The tag that finds it, until it is over.
    pub(super) fn tag(&self) -> Option<Tag> {
        let urgency = match self.stage {
            ErasureStage::Removing | ErasureStage::Destroying => Urgency::Now,
            ErasureStage::Kept => Urgency::Later,
            ErasureStage::Over => return None,
        };
        Some(urgency.tag())
    }
}

impl Urgency {
    pub(super) fn tag(self) -> Tag {
        let value = match self {
            Self::Now => "now",
            Self::Later => "later",
        };
        Tag::hashed("erasure", value)
    }
}

/// The refusal of whatever an organisation that is erased would do.
#[must_use]
pub fn erased(name: &OrganisationName) -> Error {
    Error::new(ErrorKind::Gone, "organisation-erased").with("name", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: UnixTime = UnixTime(1_000);

    #[test]
    fn an_erasure_removes_then_keeps_until_its_time_then_destroys() {
        let erasure = Erasure::begin(BEGUN, 100);
        assert_eq!(erasure.work(BEGUN), Some(ErasureWork::Remove));
        assert_eq!(erasure.state(), OrganisationState::Erasing);
        assert!(erasure.publishes(BEGUN));
        let kept = erasure.after(ErasureWork::Remove);
        assert_eq!(kept.work(UnixTime(1_099)), None);
        assert_eq!(kept.state(), OrganisationState::Erased);
        assert!(kept.publishes(UnixTime(1_099)));
        assert_eq!(kept.work(UnixTime(1_100)), Some(ErasureWork::Close));
        assert!(!kept.publishes(UnixTime(1_100)));
        let closed = kept.after(ErasureWork::Close);
        // Whatever the clock says meanwhile.
        assert_eq!(closed.work(BEGUN), Some(ErasureWork::Destroy));
        assert!(!closed.publishes(BEGUN));
        let over = closed.after(ErasureWork::Destroy);
        assert!(over.is_over() && over.work(UnixTime(u64::MAX)).is_none());
        assert!(over.tag().is_none());
    }

    #[test]
    fn an_erasure_is_hastened_and_never_prolonged() {
        let kept = Erasure::begin(BEGUN, 100).after(ErasureWork::Remove);
        let hastened = kept.clone().hastened(UnixTime(1_010));
        assert_eq!(hastened.work(UnixTime(1_010)), Some(ErasureWork::Close));
        let late = kept.hastened(UnixTime(2_000));
        assert_eq!(late.until, UnixTime(1_100));
    }
}
