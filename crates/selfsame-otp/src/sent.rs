//! A code that is sent to a person, from the first delivery to the one time that it is accepted.
//!
//! Nothing dead-ends: from each state a code can be sent, now or after a pause whose length the refusal says, and the
//! code that was sent last is accepted.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{SecretString, encoding, hash};
use serde::{Deserialize, Serialize};

use crate::digits;
use crate::{AllowanceLimits, OtpAllowance};

/// The digits of a code.
pub const DIGITS: usize = 6;
const CODES: u64 = 1_000_000;

/// The limits of one code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OtpPolicy {
    /// Seconds for which a code is accepted.
    pub lifetime: u64,
    /// Wrong guesses after which a code is void.
    pub wrong_max: u32,
}

impl Default for OtpPolicy {
    fn default() -> Self {
        Self {
            lifetime: 180,
            wrong_max: 3,
        }
    }
}

/// The codes of one sign-in. It serialises as a record.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct OtpRecord {
    /// How many codes were made.
    made: u64,
    state: OtpState,
}

/// The state of a sign-in's codes.
#[derive(Clone, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum OtpState {
    /// No code was sent yet.
    #[default]
    Unsent,
    /// A code was sent.
    Sent(SentCode),
    /// The code is void after wrong guesses.
    Void,
    /// The code was accepted.
    Used,
}

/// A code that was sent. The code itself is not kept.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
struct SentCode {
    digest: String,
    expires: UnixTime,
    wrong: u32,
    /// The state before, to return to if the code can't be delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<OtpState>>,
}

/// What happens to a sign-in's codes.
#[derive(Clone, Debug)]
pub enum OtpEvent {
    /// The person asks for a code.
    Send,
    /// The code of this number could not be handed to any carrier.
    NotDelivered(u64),
    /// The person typed in a code.
    Enter(SecretString),
}

/// What follows from an event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OtpOutcome {
    /// This code is to be delivered, once the records are stored.
    Deliver {
        /// The code.
        code: SecretString,
        /// Its number, for [`OtpEvent::NotDelivered`].
        number: u64,
    },
    /// The undelivered code is withdrawn and counts for nothing; a code sent before it is accepted again.
    Withdrawn,
    /// The code is right, and used up.
    Accepted,
    /// The code is wrong.
    Wrong {
        /// Guesses left at this code; 0 if another must be sent.
        left: u32,
    },
    /// Nothing changed.
    Refused(OtpRefusal),
}

/// Why nothing changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OtpRefusal {
    /// What was typed is not six digits. It does not count as a guess.
    NotDigits,
    /// No code was sent.
    NoCode,
    /// The code is too old; another can be sent.
    Expired,
    /// The code is void after wrong guesses; another can be sent.
    Void,
    /// The code was accepted before; another can be sent.
    Used,
    /// The next code, or the next guess, is taken after this number of seconds.
    Pause {
        /// Seconds to wait; never 0.
        seconds: u64,
    },
}

/// An allowance with its limits.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct OtpMeter {
    /// What was used.
    pub used: OtpAllowance,
    /// The limits.
    pub limits: AllowanceLimits,
}

/// The records that one step changes together.
#[derive(Debug)]
pub struct OtpRecords<'a> {
    /// The sign-in, whose digests are made with this text: a digest says nothing about another sign-in.
    pub bound_to: &'a str,
    /// Its codes.
    pub codes: &'a mut OtpRecord,
    /// The account's, the address's and the pair's allowances, as far as they are known.
    pub meters: &'a mut [OtpMeter],
}

impl OtpRecords<'_> {
    /// Takes a step. The caller stores the records unless the outcome is `Refused`, before it acts on the outcome.
    pub fn step(&mut self, event: &OtpEvent, policy: &OtpPolicy, ctx: &Ctx) -> OtpOutcome {
        match event {
            OtpEvent::Send => self.send(policy, ctx),
            OtpEvent::NotDelivered(number) => self.withdraw(*number),
            OtpEvent::Enter(typed) => match digits::read(typed, DIGITS) {
                Some(code) => self.enter(&code, policy, ctx.now()),
                None => OtpOutcome::Refused(OtpRefusal::NotDigits),
            },
        }
    }

    fn send(&mut self, policy: &OtpPolicy, ctx: &Ctx) -> OtpOutcome {
        let now = ctx.now();
        if let Some(seconds) = self.longest(|used| used.until_send(now)) {
            return OtpOutcome::Refused(OtpRefusal::Pause { seconds });
        }
        for meter in &mut *self.meters {
            meter.used.sent(&meter.limits, now);
        }
        let code = SecretString::new(format!("{:06}", ctx.below("one-time password", CODES)));
        let before = match std::mem::take(&mut self.codes.state) {
            // Only the last code can come back: one step is enough for a carrier that is away.
            OtpState::Sent(sent) => OtpState::Sent(SentCode {
                before: None,
                ..sent
            }),
            other @ (OtpState::Unsent | OtpState::Void | OtpState::Used) => other,
        };
        self.codes.made = self.codes.made.saturating_add(1);
        self.codes.state = OtpState::Sent(SentCode {
            digest: digest(self.bound_to, &code),
            expires: now.plus(policy.lifetime),
            wrong: 0,
            before: Some(Box::new(before)),
        });
        let number = self.codes.made;
        OtpOutcome::Deliver { code, number }
    }

    fn withdraw(&mut self, number: u64) -> OtpOutcome {
        for meter in &mut *self.meters {
            meter.used.not_sent();
        }
        if let OtpState::Sent(sent) = &mut self.codes.state
            && self.codes.made == number
            && let Some(before) = sent.before.take()
        {
            self.codes.state = *before;
        }
        OtpOutcome::Withdrawn
    }

    fn enter(&mut self, code: &SecretString, policy: &OtpPolicy, now: UnixTime) -> OtpOutcome {
        if let Some(seconds) = self.longest(|used| used.until_guess(now)) {
            return OtpOutcome::Refused(OtpRefusal::Pause { seconds });
        }
        let sent = match &mut self.codes.state {
            OtpState::Unsent => return OtpOutcome::Refused(OtpRefusal::NoCode),
            OtpState::Void => return OtpOutcome::Refused(OtpRefusal::Void),
            OtpState::Used => return OtpOutcome::Refused(OtpRefusal::Used),
            OtpState::Sent(sent) if now >= sent.expires => {
                return OtpOutcome::Refused(OtpRefusal::Expired);
            }
            OtpState::Sent(sent) => sent,
        };
        let entered = digest(self.bound_to, code);
        if hash::ct_eq(sent.digest.as_bytes(), entered.as_bytes()) {
            self.codes.state = OtpState::Used;
            for meter in &mut *self.meters {
                meter.used.was_right(&meter.limits);
            }
            return OtpOutcome::Accepted;
        }
        sent.wrong = sent.wrong.saturating_add(1);
        // Somebody has seen this code or guesses at it: it was delivered, and nothing before it comes back.
        sent.before = None;
        let left = policy.wrong_max.saturating_sub(sent.wrong);
        if left == 0 {
            self.codes.state = OtpState::Void;
        }
        for meter in &mut *self.meters {
            meter.used.was_wrong(&meter.limits, now);
        }
        OtpOutcome::Wrong { left }
    }

    /// The longest pause that an allowance demands; `None` if all are open.
    fn longest(&self, pause: impl Fn(&OtpAllowance) -> u64) -> Option<u64> {
        let pauses = self.meters.iter().map(|meter| pause(&meter.used));
        pauses.max().filter(|seconds| *seconds > 0)
    }
}

fn digest(bound_to: &str, code: &SecretString) -> String {
    let parts = [
        b"one-time password\0".as_slice(),
        bound_to.as_bytes(),
        b"\0",
        code.expose().as_bytes(),
    ];
    encoding::base64url_encode(&hash::sha256_parts(&parts))
}
