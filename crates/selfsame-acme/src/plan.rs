//! What is known of a host's certificate, and when something is to be done about it. Time and randomness are arguments.

use selfsame_crypto::SecretString;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize, Serializer};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Seconds until the next order after so many refusals in a row; the last counts for all further ones. Authorities
/// limit failed orders for a host by the hour.
const AFTER_REFUSALS: &[u64] = &[15, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, DAY];
/// The same while the directory does not answer, which costs it nothing.
const AFTER_SILENCE: &[u64] = &[15, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];
/// The longest wait that a directory is granted, in seconds.
const LONGEST_WAIT: u64 = 7 * DAY;
/// How often a directory is at least, and at most, asked when to renew, in seconds.
const LOOK_AGAIN: (u64, u64) = (MINUTE, DAY);

/// What is known of the certificate of one host.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostState {
    /// The directory that all this is about.
    directory: String,
    /// The certificate that is shown.
    certificate: Option<KeptCertificate>,
    /// The order that was begun for the next one.
    order: Option<BegunOrder>,
    /// Failures in a row.
    failures: u32,
    /// Nothing is ordered before.
    not_before: UnixTime,
}

/// A certificate that an authority has given.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptCertificate {
    /// Chain, key and times.
    pub given: GivenCertificate,
    /// When the next one is ordered.
    pub renew_at: UnixTime,
    /// When the directory is asked when to renew it (RFC 9773).
    pub look_at: UnixTime,
}

/// A certificate as an authority gives it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct GivenCertificate {
    /// The chain in PEM, the host's own certificate first.
    pub chain: String,
    /// Its private key, PKCS#8 in PEM.
    #[serde(serialize_with = "exposed")]
    pub key: SecretString,
    /// When it begins to be valid.
    pub begins: UnixTime,
    /// When the first certificate of the chain ends.
    pub ends: UnixTime,
}

/// An order that an authority has accepted.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BegunOrder {
    /// Its URL.
    pub url: String,
    /// The key of the certificate to come, PKCS#8 in PEM.
    #[serde(serialize_with = "exposed")]
    pub key: SecretString,
}

/// The times between which a directory wants a certificate renewed (RFC 9773 §4.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenewalWindow {
    /// The first time.
    pub start: UnixTime,
    /// The last time.
    pub end: UnixTime,
    /// Seconds until it is asked again.
    pub look_after: u64,
}

/// Who made an order fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Trouble {
    /// The authority refused it. The order is over.
    Refused,
    /// The authority did not answer, or not in a form that it promised. The order may go on.
    Silent,
}

/// What happened to a host's certificate.
#[derive(Debug)]
pub(crate) enum HostInput {
    /// The authority accepted an order.
    Begun(BegunOrder),
    /// The order that was begun is of no use any more.
    Lost,
    /// The authority gave the certificate.
    Given(GivenCertificate),
    /// It did not.
    Failed {
        /// Who made it fail.
        trouble: Trouble,
        /// Seconds that the authority asks for.
        retry_after: Option<u64>,
    },
    /// The directory said when to renew.
    Advised(RenewalWindow),
    /// The directory does not say when to renew.
    Unadvised,
}

impl HostState {
    /// The state as this directory sees it. What another directory was asked does not count; its certificate is shown until
    /// this one has given one.
    pub fn of_directory(mut self, directory: &str) -> Self {
        if self.directory == directory {
            return self;
        }
        if let Some(certificate) = &mut self.certificate {
            certificate.renew_at = UnixTime(0);
            certificate.look_at = UnixTime(u64::MAX);
        }
        Self {
            directory: directory.to_owned(),
            certificate: self.certificate,
            ..Self::default()
        }
    }

    /// The certificate that is shown.
    pub fn certificate(&self) -> Option<&KeptCertificate> {
        self.certificate.as_ref()
    }

    /// The order that was begun.
    pub fn order(&self) -> Option<&BegunOrder> {
        self.order.as_ref()
    }

    /// Failures in a row.
    #[cfg(test)]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// When the next certificate is ordered.
    pub fn due_at(&self) -> UnixTime {
        let wanted = self
            .certificate
            .as_ref()
            .map_or(UnixTime(0), |certificate| certificate.renew_at);
        wanted.max(self.not_before)
    }

    /// When there is something to do next.
    pub fn next(&self) -> UnixTime {
        let look = self
            .certificate
            .as_ref()
            .map(|certificate| certificate.look_at);
        self.due_at().min(look.unwrap_or(UnixTime(u64::MAX)))
    }

    /// Whether clients would accept the certificate that is shown.
    pub fn is_served(&self, now: UnixTime) -> bool {
        let certificate = self.certificate.as_ref();
        certificate.is_some_and(|certificate| certificate.given.ends > now)
    }

    /// What is known after this.
    pub fn step(mut self, input: HostInput, ctx: &Ctx) -> Self {
        match input {
            HostInput::Begun(order) => self.order = Some(order),
            HostInput::Lost => self.order = None,
            HostInput::Given(given) => {
                self.order = None;
                self.failures = 0;
                self.not_before = UnixTime(0);
                self.certificate = Some(KeptCertificate::of(given, ctx));
            }
            HostInput::Failed {
                trouble,
                retry_after,
            } => {
                if trouble == Trouble::Refused {
                    self.order = None;
                }
                self.failures = self.failures.saturating_add(1);
                let wait = wait(trouble, self.failures, ctx);
                let wait = wait.max(retry_after.unwrap_or(0).min(LONGEST_WAIT));
                self.not_before = ctx.now().plus(wait);
            }
            HostInput::Advised(window) => {
                if let Some(certificate) = &mut self.certificate {
                    certificate.heed(window, ctx);
                }
            }
            HostInput::Unadvised => {
                if let Some(certificate) = &mut self.certificate {
                    certificate.look_at = ctx.now().plus(DAY);
                }
            }
        }
        self
    }
}

impl KeptCertificate {
    /// Renewed after two thirds of its life, so that a third is left for an authority that is down; a twentieth at most
    /// later, so that not all hosts come at once.
    fn of(given: GivenCertificate, ctx: &Ctx) -> Self {
        let life = given.ends.seconds_since(given.begins);
        let later = ctx.below("acme/renewal", life / 20);
        let renew_at = given.begins.plus(life / 3 * 2).plus(later);
        let look_at = ctx.now().plus((life / 3).min(DAY));
        Self {
            given,
            renew_at,
            look_at,
        }
    }

    /// RFC 9773 §4.2: a uniformly random time in the window, and at once if the window is over. A time that was chosen
    /// before stays if it is in the window. The end of the certificate bounds the window.
    fn heed(&mut self, window: RenewalWindow, ctx: &Ctx) {
        let now = ctx.now();
        let (shortest, longest) = LOOK_AGAIN;
        self.look_at = now.plus(window.look_after.clamp(shortest, longest));
        let life = self.given.ends.seconds_since(self.given.begins);
        let start = window.start.max(now);
        let end = window.end.min(self.given.ends.minus(life / 12));
        if end <= start {
            self.renew_at = now;
        } else if self.renew_at < start || self.renew_at > end {
            let later = ctx.below("acme/window", end.seconds_since(start));
            self.renew_at = start.plus(later);
        }
    }
}

/// Seconds until the next order, up to a quarter more than the table says.
fn wait(trouble: Trouble, failures: u32, ctx: &Ctx) -> u64 {
    let table = match trouble {
        Trouble::Refused => AFTER_REFUSALS,
        Trouble::Silent => AFTER_SILENCE,
    };
    let nth = usize::try_from(failures)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let wait = table.get(nth).or(table.last()).copied().unwrap_or(DAY);
    wait.saturating_add(ctx.below("acme/wait", wait / 4))
}

/// Records are sealed.
fn exposed<S: Serializer>(secret: &SecretString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: UnixTime = UnixTime(1_800_000_000);
    const HERE: &str = "https://ca.example/directory";

    fn at(now: UnixTime, seed: u8) -> Ctx {
        Ctx::new(now, [seed; 32])
    }

    fn given(begins: UnixTime, life: u64) -> GivenCertificate {
        GivenCertificate {
            chain: "chain".to_owned(),
            key: SecretString::from("key"),
            begins,
            ends: begins.plus(life),
        }
    }

    fn served(life: u64) -> HostState {
        let state = HostState::default().of_directory(HERE);
        state.step(HostInput::Given(given(NOW, life)), &at(NOW, 1))
    }

    fn failed(state: HostState, trouble: Trouble, retry_after: Option<u64>) -> HostState {
        let input = HostInput::Failed {
            trouble,
            retry_after,
        };
        state.step(input, &at(NOW, 2))
    }

    fn begun(state: HostState) -> HostState {
        let order = BegunOrder {
            url: "https://ca.example/order/1".to_owned(),
            key: SecretString::from("next key"),
        };
        state.step(HostInput::Begun(order), &at(NOW, 3))
    }

    #[test]
    fn a_host_without_a_certificate_is_due_at_once() {
        let state = HostState::default().of_directory(HERE);
        assert_eq!(state.due_at(), UnixTime(0));
        assert!(!state.is_served(NOW));
    }

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_of_its_life_and_not_all_at_once() {
        let state = served(90 * DAY);
        assert!(state.is_served(NOW) && !state.is_served(NOW.plus(90 * DAY)));
        let times: Vec<u64> = (0..40)
            .map(|seed| {
                let kept = KeptCertificate::of(given(NOW, 90 * DAY), &at(NOW, seed));
                kept.renew_at.seconds_since(NOW)
            })
            .collect();
        assert!(
            times.iter().all(|time| (60 * DAY..65 * DAY).contains(time)),
            "{times:?}"
        );
        let spread = times.iter().max().unwrap() - times.iter().min().unwrap();
        assert!(spread > DAY, "{times:?}");
    }

    #[test]
    fn after_repeated_refusals_an_authority_is_left_alone_for_an_hour_and_longer_each_time() {
        let mut state = served(90 * DAY);
        let mut waits = Vec::new();
        for _ in 0..9 {
            state = failed(state, Trouble::Refused, None);
            waits.push(state.not_before.seconds_since(NOW));
        }
        assert!(waits[0] < MINUTE, "{waits:?}");
        assert!(waits[1] >= HOUR && waits[2] >= 2 * HOUR, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= 30 * HOUR), "{waits:?}");
        assert!(state.is_served(NOW), "what was given before is shown");
        let state = state.step(HostInput::Given(given(NOW, DAY)), &at(NOW, 4));
        let wait = failed(state, Trouble::Refused, None).not_before;
        assert!(wait.seconds_since(NOW) < MINUTE, "a success ends the row");
    }

    #[test]
    fn a_directory_that_is_down_is_tried_again_within_the_hour() {
        let mut state = HostState::default().of_directory(HERE);
        for _ in 0..20 {
            state = failed(state, Trouble::Silent, None);
        }
        let wait = state.not_before.seconds_since(NOW);
        assert!((HOUR..=2 * HOUR).contains(&wait), "{wait}");
    }

    #[test]
    fn the_wait_that_an_authority_asks_for_is_kept_within_a_week() {
        let fresh = || HostState::default().of_directory(HERE);
        let wait = |asked| failed(fresh(), Trouble::Refused, Some(asked)).due_at();
        assert_eq!(wait(3 * HOUR), NOW.plus(3 * HOUR));
        assert_eq!(wait(u64::MAX), NOW.plus(7 * DAY));
        assert!(wait(0) > NOW, "an authority can't ask to be hammered");
    }

    #[test]
    fn an_order_outlives_silence_and_ends_with_a_refusal_a_loss_or_the_certificate() {
        let state = begun(HostState::default().of_directory(HERE));
        assert!(
            failed(state.clone(), Trouble::Silent, None)
                .order()
                .is_some()
        );
        assert!(
            failed(state.clone(), Trouble::Refused, None)
                .order()
                .is_none()
        );
        assert!(
            state
                .clone()
                .step(HostInput::Lost, &at(NOW, 5))
                .order()
                .is_none()
        );
        let given = HostInput::Given(given(NOW, DAY));
        assert!(state.step(given, &at(NOW, 5)).order().is_none());
    }

    #[test]
    fn another_directory_gives_a_certificate_of_its_own_while_the_old_one_is_shown() {
        let state = begun(failed(served(90 * DAY), Trouble::Refused, Some(DAY)));
        let same = state.clone().of_directory(HERE);
        assert!(same.due_at() > NOW && same.order().is_some());
        let other = state.of_directory("https://other.example/directory");
        assert!(other.due_at() <= NOW && other.order().is_none());
        assert!(other.is_served(NOW));
    }

    #[test]
    fn the_directory_says_when_to_renew_and_at_once_if_the_time_is_over() {
        let window = |start, end| RenewalWindow {
            start: NOW.plus(start),
            end: NOW.plus(end),
            look_after: 6 * HOUR,
        };
        let advised = |window, now, seed| {
            let state = served(90 * DAY).step(HostInput::Advised(window), &at(now, seed));
            (state.due_at(), state.next())
        };
        let (due, next) = advised(window(10 * DAY, 12 * DAY), NOW, 6);
        assert!(due >= NOW.plus(10 * DAY) && due <= NOW.plus(12 * DAY));
        assert_eq!(next, NOW.plus(6 * HOUR), "it is asked again");
        let later = NOW.plus(20 * DAY);
        assert_eq!(advised(window(10 * DAY, 12 * DAY), later, 7).0, later);
        // The window of a certificate of hours can be longer than its life.
        let state = served(HOUR).step(HostInput::Advised(window(0, 9 * DAY)), &at(NOW, 8));
        assert!(state.due_at() < NOW.plus(HOUR));
        // A chosen time stays.
        let state = served(90 * DAY);
        let chosen = state.due_at();
        let state = state.step(HostInput::Advised(window(50 * DAY, 70 * DAY)), &at(NOW, 9));
        assert_eq!(state.due_at(), chosen);
        let state = state.step(HostInput::Unadvised, &at(NOW, 10));
        assert_eq!((state.due_at(), state.next()), (chosen, NOW.plus(DAY)));
    }

    #[test]
    fn a_record_keeps_all_and_shows_no_key_to_a_log() {
        let state = begun(served(DAY));
        let stored = serde_json::to_string(&state).unwrap();
        let read: HostState = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.order().unwrap().key.expose(), "next key");
        assert_eq!(read.certificate().unwrap().given.key.expose(), "key");
        assert_eq!(read.due_at(), state.due_at());
        assert!(!format!("{state:?}").contains("next key"));
    }

    proptest! {
        #[test]
        fn whatever_happens_nothing_is_ordered_again_within_seconds_of_a_failure(
            happened in proptest::collection::vec((0u8..5, 0u64..200 * DAY, any::<u8>()), 1..40),
        ) {
            let mut state = HostState::default().of_directory(HERE);
            let mut now = NOW;
            for (what, number, seed) in happened {
                let ctx = at(now, seed);
                let before = state.certificate().map(|kept| kept.given.ends);
                let input = match what {
                    0 => HostInput::Given(given(now, number)),
                    1 => HostInput::Failed { trouble: Trouble::Refused, retry_after: Some(number) },
                    2 => HostInput::Failed { trouble: Trouble::Silent, retry_after: None },
                    3 => HostInput::Advised(RenewalWindow {
                        start: now.minus(number / 2),
                        end: now.plus(number),
                        look_after: number,
                    }),
                    _ => HostInput::Unadvised,
                };
                let is_given = what == 0;
                let is_failure = matches!(what, 1 | 2);
                state = state.step(input, &ctx);
                if is_failure {
                    prop_assert!(state.due_at() >= now.plus(15));
                    prop_assert!(state.not_before <= now.plus(7 * DAY));
                }
                if !is_given {
                    let after = state.certificate().map(|kept| kept.given.ends);
                    prop_assert_eq!(before, after, "a certificate is replaced by another alone");
                }
                if let Some(kept) = state.certificate() && is_given {
                    prop_assert!(kept.renew_at <= kept.given.ends);
                    prop_assert!(kept.renew_at >= kept.given.begins);
                }
                now = now.plus(number % HOUR);
            }
        }
    }
}
