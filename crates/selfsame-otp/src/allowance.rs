//! How many codes and guesses an account, a network or an address gets.

use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};

/// The limits of one account, network or address.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct AllowanceLimits {
    /// Codes sent within a window before each further one costs a pause.
    pub sends: u32,
    /// Wrong guesses within a window before each further one costs a pause.
    pub wrong: u32,
    /// Seconds after which both counts start anew.
    pub window: u64,
    /// Seconds of a pause.
    pub pause: u64,
    /// Whether a right code ends the counts. Not where others could clear their own guesses that way.
    pub right_clears: bool,
}

impl AllowanceLimits {
    /// For one account from one network: a person and their browser.
    pub const PAIR: Self = Self {
        sends: 5,
        wrong: 9,
        window: 3_600,
        pause: 300,
        right_clears: true,
    };
    /// For one account from anywhere. The pause is short enough that a person gets a turn beside somebody who guesses.
    pub const ACCOUNT: Self = Self {
        sends: 10,
        wrong: 30,
        window: 3_600,
        pause: 300,
        right_clears: false,
    };
    /// For one address and any accounts; many people may share it.
    pub const ADDRESS: Self = Self {
        sends: 50,
        wrong: 50,
        window: 3_600,
        pause: 30,
        right_clears: false,
    };
}

/// What one account, network or address has used of its limits. It serialises as a record.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct OtpAllowance {
    sends: u32,
    wrong: u32,
    since: UnixTime,
    next_send: UnixTime,
    next_guess: UnixTime,
}

impl OtpAllowance {
    /// Seconds until a code can be sent; 0 for now. While no guess is taken, none is sent either.
    #[must_use]
    pub fn until_send(&self, now: UnixTime) -> u64 {
        let at = self.next_send.max(self.next_guess);
        at.seconds_since(now)
    }

    /// Seconds until a guess is taken; 0 for now.
    #[must_use]
    pub fn until_guess(&self, now: UnixTime) -> u64 {
        self.next_guess.seconds_since(now)
    }

    /// The time from which it says nothing any more.
    #[must_use]
    pub fn ends(&self, limits: &AllowanceLimits) -> UnixTime {
        let window = self.since.plus(limits.window);
        window.max(self.next_send).max(self.next_guess)
    }

    pub(crate) fn sent(&mut self, limits: &AllowanceLimits, now: UnixTime) {
        self.turn_window(limits, now);
        self.sends = self.sends.saturating_add(1);
        if self.sends >= limits.sends {
            self.next_send = now.plus(limits.pause);
        }
    }

    /// Takes back one [`Self::sent`]: the code did not leave this instance.
    pub(crate) fn not_sent(&mut self) {
        self.sends = self.sends.saturating_sub(1);
        self.next_send = UnixTime::default();
    }

    pub(crate) fn was_wrong(&mut self, limits: &AllowanceLimits, now: UnixTime) {
        self.turn_window(limits, now);
        self.wrong = self.wrong.saturating_add(1);
        if self.wrong >= limits.wrong {
            self.next_guess = now.plus(limits.pause);
        }
    }

    pub(crate) fn was_right(&mut self, limits: &AllowanceLimits) {
        if limits.right_clears {
            *self = Self::default();
        }
    }

    fn turn_window(&mut self, limits: &AllowanceLimits, now: UnixTime) {
        if now >= self.since.plus(limits.window) {
            *self = Self {
                since: now,
                ..Self::default()
            };
        }
    }
}
