//! The rules of codes that are sent, written as a history that is judged anew at each event.

use crate::AllowanceLimits;
use crate::sent::{OtpPolicy, OtpRefusal};

/// What happened so far.
#[derive(Clone, Default)]
pub(super) struct Model {
    pub history: Vec<Happened>,
    /// Codes that were made, each with what became of it.
    pub codes: Vec<MadeCode>,
}

#[derive(Clone, Copy)]
pub(super) struct Happened {
    pub at: u64,
    pub what: What,
}

#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum What {
    /// A code was made, and left this instance unless `lost`.
    Sent {
        lost: bool,
    },
    Wrong,
    Right,
}

#[derive(Clone, Copy)]
pub(super) struct MadeCode {
    pub made: u64,
    pub wrong: u32,
    pub used: bool,
    /// Whether it could not be delivered before anyone typed in anything.
    pub withdrawn: bool,
}

#[derive(Debug, Eq, PartialEq)]
pub(super) enum Judged {
    Sent,
    Accepted,
    Wrong { left: u32 },
    Refused(OtpRefusal),
}

impl Model {
    pub(super) fn send(&mut self, limits: &[AllowanceLimits], now: u64) -> Judged {
        let pauses = limits.iter().map(|limits| {
            let (send, guess) = self.open_from(limits);
            send.max(guess)
        });
        if let Some(refused) = pause(pauses, now) {
            return refused;
        }
        self.tell(now, What::Sent { lost: false });
        self.codes.push(MadeCode {
            made: now,
            wrong: 0,
            used: false,
            withdrawn: false,
        });
        Judged::Sent
    }

    /// The code that was made last could not be delivered.
    pub(super) fn lose(&mut self) {
        let sent = self.history.iter_mut().rev();
        let mut sent = sent.filter(|one| matches!(one.what, What::Sent { .. }));
        sent.next().unwrap().what = What::Sent { lost: true };
        let code = self.codes.last_mut().unwrap();
        code.withdrawn = code.wrong == 0 && !code.used;
    }

    /// Somebody types in the code of this place; `None` for one that was never made.
    pub(super) fn enter(
        &mut self,
        code: Option<usize>,
        limits: &[AllowanceLimits],
        now: u64,
    ) -> Judged {
        let pauses = limits.iter().map(|limits| self.open_from(limits).1);
        if let Some(refused) = pause(pauses, now) {
            return refused;
        }
        let Some(current) = self.codes.iter().rposition(|code| !code.withdrawn) else {
            return Judged::Refused(OtpRefusal::NoCode);
        };
        let policy = POLICY;
        let sent = &mut self.codes[current];
        if sent.used {
            return Judged::Refused(OtpRefusal::Used);
        }
        if sent.wrong >= policy.wrong_max {
            return Judged::Refused(OtpRefusal::Void);
        }
        if now >= sent.made + policy.lifetime {
            return Judged::Refused(OtpRefusal::Expired);
        }
        if code == Some(current) {
            sent.used = true;
            self.tell(now, What::Right);
            return Judged::Accepted;
        }
        sent.wrong += 1;
        let left = policy.wrong_max - sent.wrong;
        self.tell(now, What::Wrong);
        Judged::Wrong { left }
    }

    fn tell(&mut self, at: u64, what: What) {
        self.history.push(Happened { at, what });
    }

    /// When the next code, and the next guess, may come.
    fn open_from(&self, limits: &AllowanceLimits) -> (u64, u64) {
        let mut history = self.history.iter();
        let cleared = history
            .rposition(|one| one.what == What::Right && limits.right_clears)
            .map_or(0, |place| place + 1);
        // The window that the last count is in; what came before it is over.
        let (mut window, mut begun) = (&self.history[cleared..], None);
        for (place, one) in self.history.iter().enumerate().skip(cleared) {
            let over = begun.is_none_or(|begun| one.at >= begun + limits.window);
            if one.what != What::Right && over {
                (window, begun) = (&self.history[place..], Some(one.at));
            }
        }
        let nth = |wanted: What, most: u32| {
            let mut times = window.iter().filter(|one| one.what == wanted);
            let last = times.clone().next_back().map(|one| one.at);
            let reached = times.nth(most as usize - 1).is_some();
            last.filter(|_| reached)
                .map_or(0, |last| last + limits.pause)
        };
        // A code that was lost ends the pause after the one before it, which was over when it was made.
        let lost_last = window
            .iter()
            .rev()
            .find(|one| matches!(one.what, What::Sent { .. }))
            .is_some_and(|one| one.what == What::Sent { lost: true });
        let send = match lost_last {
            true => 0,
            false => nth(What::Sent { lost: false }, limits.sends),
        };
        (send, nth(What::Wrong, limits.wrong))
    }
}

/// A small policy, so that eight events reach its limits.
pub(super) const POLICY: OtpPolicy = OtpPolicy {
    lifetime: 100,
    wrong_max: 2,
};

fn pause(ends: impl Iterator<Item = u64>, now: u64) -> Option<Judged> {
    let end = ends.max().filter(|end| *end > now)?;
    let seconds = end - now;
    Some(Judged::Refused(OtpRefusal::Pause { seconds }))
}
