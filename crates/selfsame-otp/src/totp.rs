//! Codes of authenticator apps: time-based one-time passwords (RFC 6238).

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Secret, SecretString, encoding, hash};
use serde::{Deserialize, Serialize};

use crate::digits;
use crate::sent::OtpMeter;

/// Seconds of a time step (RFC 6238 §5.2 recommends 30).
pub const STEP: u64 = 30;
/// The digits of a code.
pub const DIGITS: usize = 6;
/// Steps before and after the present one whose codes are accepted too, because clocks differ (RFC 6238 §5.2).
const DRIFT: u64 = 1;
/// RFC 4226 §4, R6 recommends 160 bits.
const SECRET_BYTES: usize = 20;

/// The secret that a person's authenticator app has too.
#[derive(Clone, Debug)]
pub struct TotpSecret(Secret);

/// The hash function of the codes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TotpHash {
    /// SHA-1, the only one that all apps know.
    #[default]
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// How a code was judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TotpVerdict {
    /// It is right, and of this time step, which the caller stores before it lets the person in.
    Right(u64),
    /// It is right, but a code of its time step or a later one was accepted before (RFC 6238 §5.2).
    Replayed,
    /// It is wrong.
    Wrong,
}

/// A person's authenticator app. It serialises as a record.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TotpRecord {
    /// The secret, base64url.
    secret: String,
    /// The time step of the code that was accepted last.
    last: Option<u64>,
}

/// What follows from a code that was typed in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TotpOutcome {
    /// It is right. The caller stores the records before it lets the person in.
    Accepted,
    /// It is wrong. The caller stores the records.
    Wrong,
    /// It was accepted before; the next one is accepted. Nothing changed.
    Replayed,
    /// A guess is taken after this number of seconds. Nothing changed.
    Pause {
        /// Seconds to wait; never 0.
        seconds: u64,
    },
}

impl TotpRecord {
    /// An app that has this secret.
    #[must_use]
    pub fn new(secret: &TotpSecret) -> Self {
        Self {
            secret: encoding::base64url_encode(secret.expose()),
            last: None,
        }
    }

    /// The secret. A damaged one accepts no code.
    #[must_use]
    pub fn secret(&self) -> TotpSecret {
        let bytes = encoding::base64url_decode(&self.secret);
        TotpSecret::from_bytes(Secret::new(bytes.unwrap_or_default()))
    }

    /// Judges a code that was typed in, and counts a wrong one in each of the allowances.
    pub fn enter(
        &mut self,
        typed: &SecretString,
        meters: &mut [OtpMeter],
        now: UnixTime,
    ) -> TotpOutcome {
        let pauses = meters.iter().map(|meter| meter.used.until_guess(now));
        if let Some(seconds) = pauses.max().filter(|seconds| *seconds > 0) {
            return TotpOutcome::Pause { seconds };
        }
        match self.secret().judge(typed, self.last, now) {
            TotpVerdict::Right(step) => {
                self.last = Some(step);
                for meter in meters {
                    meter.used.was_right(&meter.limits);
                }
                TotpOutcome::Accepted
            }
            TotpVerdict::Replayed => TotpOutcome::Replayed,
            TotpVerdict::Wrong => {
                for meter in meters {
                    meter.used.was_wrong(&meter.limits, now);
                }
                TotpOutcome::Wrong
            }
        }
    }
}

impl TotpSecret {
    /// A secret made from fresh random bytes.
    #[must_use]
    pub fn new(random: [u8; SECRET_BYTES]) -> Self {
        Self(Secret::new(random.to_vec()))
    }

    /// A secret that was stored.
    #[must_use]
    pub fn from_bytes(secret: Secret) -> Self {
        Self(secret)
    }

    /// The secret itself, to be stored sealed.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.0.expose()
    }

    /// The secret as apps take it when it is typed in: base32 in capitals.
    #[must_use]
    pub fn typed(&self) -> SecretString {
        let lower = SecretString::new(encoding::base32_lower_encode(self.0.expose()));
        SecretString::new(lower.expose().to_ascii_uppercase())
    }

    /// The code of a time step (RFC 4226 §5.3).
    #[must_use]
    pub fn code(&self, hash: TotpHash, step: u64) -> SecretString {
        self.code_of(hash, step, DIGITS)
    }

    /// Judges a code that was typed in. `last` is the step of the code that was accepted last.
    #[must_use]
    pub fn judge(&self, typed: &SecretString, last: Option<u64>, now: UnixTime) -> TotpVerdict {
        let Some(typed) = digits::read(typed, DIGITS) else {
            return TotpVerdict::Wrong;
        };
        let present = now.0.checked_div(STEP).unwrap_or_default();
        let steps = present.saturating_sub(DRIFT)..=present.saturating_add(DRIFT);
        // All of them are compared, so that the time does not tell which one it was.
        let equal = |step: &u64| {
            let code = self.code(TotpHash::Sha1, *step);
            hash::ct_eq(code.expose().as_bytes(), typed.expose().as_bytes())
        };
        let right: Vec<u64> = steps.filter(equal).collect();
        let fresh = right
            .iter()
            .find(|step| last.is_none_or(|last| **step > last));
        match (fresh, right.is_empty()) {
            (Some(step), _) => TotpVerdict::Right(*step),
            (None, false) => TotpVerdict::Replayed,
            (None, true) => TotpVerdict::Wrong,
        }
    }

    /// The address that an app reads from a QR code (the key URI format that all apps share).
    #[must_use]
    pub fn uri(&self, issuer: &str, account: &str) -> SecretString {
        let (issuer, account) = (escaped(issuer), escaped(account));
        let secret = self.typed();
        let secret = secret.expose();
        SecretString::new(format!(
            "otpauth://totp/{issuer}:{account}?secret={secret}&issuer={issuer}&digits={DIGITS}&period={STEP}"
        ))
    }

    fn code_of(&self, hash: TotpHash, step: u64, digits: usize) -> SecretString {
        let (key, counter) = (self.0.expose(), step.to_be_bytes());
        let tag = match hash {
            TotpHash::Sha1 => hash::hmac_sha1(key, &[&counter]).to_vec(),
            TotpHash::Sha256 => hash::hmac_sha256(key, &[&counter]).to_vec(),
            TotpHash::Sha512 => hash::hmac_sha512(key, &[&counter]).to_vec(),
        };
        let offset = usize::from(tag.last().copied().unwrap_or_default() & 0xf);
        let four = tag.iter().skip(offset).take(4);
        let number = four.fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
        let text = format!("{:0digits$}", number & 0x7fff_ffff);
        let start = text.len().saturating_sub(digits);
        SecretString::new(text.get(start..).unwrap_or_default().to_owned())
    }
}

/// Percent-encoded, all but unreserved characters (RFC 3986 §2.3).
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, Appendix B.
    const VECTORS: [(u64, [&str; 3]); 6] = [
        (59, ["94287082", "46119246", "90693936"]),
        (1_111_111_109, ["07081804", "68084774", "25091201"]),
        (1_111_111_111, ["14050471", "67062674", "99943326"]),
        (1_234_567_890, ["89005924", "91819424", "93441116"]),
        (2_000_000_000, ["69279037", "90698825", "38618901"]),
        (20_000_000_000, ["65353130", "77737706", "47863826"]),
    ];

    fn secret(length: usize) -> TotpSecret {
        let digits = b"1234567890".iter().copied().cycle().take(length);
        TotpSecret::from_bytes(Secret::new(digits.collect()))
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let hashes = [
            (TotpHash::Sha1, 20),
            (TotpHash::Sha256, 32),
            (TotpHash::Sha512, 64),
        ];
        for (time, codes) in VECTORS {
            for ((hash, length), code) in hashes.into_iter().zip(codes) {
                let made = secret(length).code_of(hash, time / STEP, 8);
                assert_eq!(made.expose(), code, "{hash:?} at {time}");
                let six = secret(length).code(hash, time / STEP);
                assert_eq!(six.expose(), &code[2..]);
            }
        }
    }

    #[test]
    fn a_code_is_right_one_step_early_or_late_and_no_more() {
        let secret = secret(20);
        let now = UnixTime(2_000_000_000);
        let present = now.0 / STEP;
        for (step, right) in [(2, false), (1, true), (0, true)] {
            for step in [present - step, present + step] {
                let verdict = secret.judge(&secret.code(TotpHash::Sha1, step), None, now);
                assert_eq!(verdict == TotpVerdict::Right(step), right, "{step}");
            }
        }
        assert_eq!(secret.judge(&"".into(), None, now), TotpVerdict::Wrong);
    }

    #[test]
    fn a_time_step_counts_once_and_an_earlier_one_not_after_it() {
        let secret = secret(20);
        let (now, mut last) = (UnixTime(2_000_000_000), None);
        let present = now.0 / STEP;
        let code = |step| secret.code(TotpHash::Sha1, step);
        let verdict = secret.judge(&code(present), last, now);
        assert_eq!(verdict, TotpVerdict::Right(present));
        last = Some(present);
        for step in [present, present - 1] {
            assert_eq!(secret.judge(&code(step), last, now), TotpVerdict::Replayed);
        }
        let next = secret.judge(&code(present + 1), last, now);
        assert_eq!(next, TotpVerdict::Right(present + 1));
    }

    #[test]
    fn guesses_are_bounded_and_a_right_code_counts_once() {
        let secret = secret(20);
        let mut record = TotpRecord::new(&secret);
        let mut meters = [OtpMeter {
            used: crate::OtpAllowance::default(),
            limits: crate::AllowanceLimits::PAIR,
        }];
        let now = UnixTime(2_000_000_000);
        let code = secret.code(TotpHash::Sha1, now.0 / STEP);
        assert_eq!(record.enter(&code, &mut meters, now), TotpOutcome::Accepted);
        assert_eq!(record.enter(&code, &mut meters, now), TotpOutcome::Replayed);
        for _ in 0..crate::AllowanceLimits::PAIR.wrong {
            let wrong = record.enter(&"000000".into(), &mut meters, now);
            assert_eq!(wrong, TotpOutcome::Wrong);
        }
        let paused = record.enter(&code, &mut meters, now);
        assert_eq!(paused, TotpOutcome::Pause { seconds: 300 });
    }

    #[test]
    fn an_app_gets_the_secret_in_base32_and_names_that_are_escaped() {
        let uri = TotpSecret::new([0xff; 20]).uri("City of Ghent", "maja@example.org");
        assert_eq!(
            uri.expose(),
            "otpauth://totp/City%20of%20Ghent:maja%40example.org?secret=77777777777777777777777777777777\
             &issuer=City%20of%20Ghent&digits=6&period=30"
        );
    }
}
