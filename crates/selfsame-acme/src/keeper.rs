//! The task of a process that keeps its listener's certificates: it shows what is given, orders what is due while it is
//! this process's turn, and waits after failures.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use instant_acme::{Account, CertificateIdentifier};
use rustls_pki_types::CertificateDer;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::turn::{Shift, WorkTurn};
use selfsame_http::origin::Origin;
use selfsame_http::serve::further::FurtherListener;
use selfsame_http::serve::plain::PlainDoor;
use selfsame_http::tls::Tls;
use selfsame_store::{Store, TenantId};
use selfsame_terminal::exit::Failure;
use tokio::net::TcpListener;
use url::Url;

use crate::account::AccountTerms;
use crate::answers::{AnswerPlaces, ChallengeAnswers};
use crate::call::DirectoryCalls;
use crate::failure::AcmeFailure;
use crate::order::OrderTools;
use crate::plan::{GivenCertificate, HostInput, RenewalWindow};
use crate::records::{AccountRecord, HostRecord, TURN};
use crate::settings::{AcmeSettings, is_orderable};
use crate::shown::ShownHosts;

/// The longest sleep between two looks at the records, alone and beside other processes: these may have been given a
/// certificate, or asked by an authority.
const LOOKED_EVERY: Duration = Duration::from_secs(20);
const LOOKED_EVERY_BESIDE: Duration = Duration::from_secs(2);
/// The shortest one.
const BREATH: Duration = Duration::from_secs(1);
/// How often the turn is renewed. It ends by itself after ten seconds.
const TURN_EVERY: Duration = Duration::from_secs(3);
/// How long one order may take.
const ORDER_MOST: Duration = Duration::from_secs(600);
/// How often one order begins again at once: the nonce was not taken, or the authority has forgotten the account, of which
/// one order makes one anew.
const AGAIN_MOST: usize = 12;
/// The name of the work that one process does.
const WORK: &str = "certificates";

/// Finds the hosts of the organisations of an instance.
pub struct OrganisationHosts(Box<dyn Fn() -> FoundHosts + Send + Sync>);

type FoundHosts = BoxFuture<'static, selfsame_driver::Result<Vec<String>>>;

impl OrganisationHosts {
    /// The hosts that this function finds each time.
    pub fn by<F>(find: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = selfsame_driver::Result<Vec<String>>> + Send + 'static,
    {
        Self(Box::new(move || -> FoundHosts { Box::pin(find()) }))
    }
}

/// What the task needs.
pub struct AcmeParts {
    /// `[tls.acme]`.
    pub settings: AcmeSettings,
    /// The instance's store.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// The listener's certificates.
    pub tls: Tls,
    /// The instance's origin.
    pub origin: Url,
    /// The hosts of its organisations.
    pub hosts: OrganisationHosts,
    /// The listener without TLS, if `[tls.acme] listen` is set.
    pub listener: Option<TcpListener>,
}

/// What an order stands on.
struct Desk {
    store: Store,
    clock: Clock,
    terms: AccountTerms,
    calls: DirectoryCalls,
    answers: ChallengeAnswers,
    without_tls: bool,
    /// Whether other processes use the store.
    is_beside: bool,
}

/// The hosts of an instance.
#[derive(Debug, Eq, PartialEq)]
struct InstanceHosts {
    /// Those that the authority is asked for: the instance's own and those of its organisations, or those that the settings
    /// list; without those that have another certificate, and those that no authority can look up.
    ordered: BTreeSet<String>,
    /// Those that are served over TLS, with whichever certificate.
    served: BTreeSet<String>,
}

impl InstanceHosts {
    /// The hosts of this instance. `further` are those of the settings.
    fn of(
        own: &str,
        further: &[String],
        organisations: &[String],
        has_another: impl Fn(&str) -> bool,
    ) -> Self {
        let wanted = match further.is_empty() {
            true => organisations,
            false => further,
        };
        let with_own = |others: &[String]| -> BTreeSet<String> {
            let others = others.iter().cloned();
            std::iter::once(own.to_owned()).chain(others).collect()
        };
        let mut ordered = with_own(wanted);
        ordered.retain(|host| is_orderable(host) && !has_another(host));
        let mut served = with_own(organisations);
        served.extend(further.iter().cloned());
        served.retain(|host| ordered.contains(host) || has_another(host));
        Self { ordered, served }
    }
}

/// The task.
struct Keeper {
    desk: Desk,
    shown: ShownHosts,
    turn: WorkTurn,
    tls: Tls,
    own: String,
    listed: Vec<String>,
    hosts: OrganisationHosts,
}

impl AcmeParts {
    /// Starts the task. Returns the listener without TLS, to be served beside the main one.
    ///
    /// # Errors
    /// As [`AcmeSettings::check`], and if the calls can't be set up.
    pub fn start(self) -> Result<Option<FurtherListener>, Failure> {
        let is_beside = self.store.is_shared();
        self.start_as(is_beside)
    }

    /// As [`Self::start`], with other processes on the same store.
    #[cfg(test)]
    pub(crate) fn start_beside(self) -> Result<Option<FurtherListener>, Failure> {
        self.start_as(true)
    }

    fn start_as(self, is_beside: bool) -> Result<Option<FurtherListener>, Failure> {
        self.settings.check(Some(&self.origin))?;
        let origin = Origin::of(&self.origin);
        let origin = origin.map_err(|error| Failure::environment(error.to_string()))?;
        let door = PlainDoor::default();
        let without_tls = self.listener.is_some();
        let listener = self
            .listener
            .map(|listener| door.listener(listener, &origin));
        let directory = self.settings.directory()?;
        let calls = DirectoryCalls::new(&directory, self.settings.roots()?);
        let calls = calls.map_err(|error| Failure::environment(error.to_string()))?;
        let own = self.origin.host_str().unwrap_or_default().to_owned();
        let process = self.clock.ctx().token("acme/process");
        let terms = AccountTerms {
            directory: directory.into(),
            contact: self.settings.contact.clone(),
            external: self.settings.external()?,
        };
        let answers = ChallengeAnswers::new(AnswerPlaces {
            store: self.store.clone(),
            clock: self.clock.clone(),
            tls: self.tls.clone(),
            door,
            is_beside,
        });
        describe();
        let keeper = Keeper {
            shown: ShownHosts::new(self.tls.clone(), &own),
            turn: WorkTurn::of(TURN, WORK, &process),
            tls: self.tls,
            own,
            listed: self.settings.hosts,
            hosts: self.hosts,
            desk: Desk {
                store: self.store,
                clock: self.clock,
                terms,
                calls,
                answers,
                without_tls,
                is_beside,
            },
        };
        tokio::spawn(keeper.run());
        Ok(listener)
    }
}

impl Keeper {
    async fn run(mut self) {
        loop {
            let pause = pause_after(self.round()).await;
            tokio::time::sleep(pause).await;
        }
    }

    /// Shows what there is, and does the most urgent piece of work. Returns how long to sleep.
    async fn round(&mut self) -> selfsame_driver::Result<Duration> {
        let hosts = self.wanted().await?;
        let records = self.look(&hosts).await?;
        let now = self.desk.clock.now();
        let next = records
            .iter()
            .min_by_key(|record| (record.state.next(), record.host != self.own));
        let Some(next) = next.filter(|record| record.state.next() <= now) else {
            self.give_turn_back().await;
            return Ok(self.pause(next.map(|record| record.state.next()), now));
        };
        let desk = &self.desk;
        if !self.turn.hold(desk.shift(&TenantId::instance())).await? {
            return Ok(LOOKED_EVERY_BESIDE);
        }
        // Another process may have done it since.
        let mut record = HostRecord::read(&desk.store, &next.host).await?;
        record.state = record.state.of_directory(&desk.terms.directory);
        if record.state.next() > now {
            return Ok(Duration::ZERO);
        }
        if !in_turn(desk, &mut self.turn, &mut record).await? {
            tracing::warn!("another process orders certificates now");
            return Ok(LOOKED_EVERY_BESIDE);
        }
        self.look(&hosts).await?;
        Ok(BREATH)
    }

    async fn give_turn_back(&mut self) {
        let owner = TenantId::instance();
        self.turn.release(self.desk.shift(&owner)).await;
    }

    fn pause(&self, next: Option<UnixTime>, now: UnixTime) -> Duration {
        let longest = match self.desk.is_beside {
            true => LOOKED_EVERY_BESIDE,
            false => LOOKED_EVERY,
        };
        let next = next.map_or(longest, |next| Duration::from_secs(next.seconds_since(now)));
        next.clamp(BREATH, longest)
    }

    async fn wanted(&self) -> selfsame_driver::Result<InstanceHosts> {
        let organisations = (self.hosts.0)().await?;
        let has_another = |host: &str| self.tls.is_listed(host);
        Ok(InstanceHosts::of(
            &self.own,
            &self.listed,
            &organisations,
            has_another,
        ))
    }

    /// Reads the states of the hosts that are ordered for, and shows what they have.
    async fn look(&mut self, hosts: &InstanceHosts) -> selfsame_driver::Result<Vec<HostRecord>> {
        let desk = &self.desk;
        let mut records = HostRecord::all(&desk.store).await?;
        records.retain(|record| hosts.ordered.contains(&record.host));
        let known: BTreeSet<String> = records.iter().map(|one| one.host.clone()).collect();
        for host in hosts.ordered.difference(&known) {
            records.push(HostRecord::read(&desk.store, host).await?);
        }
        for record in &mut records {
            let state = std::mem::take(&mut record.state);
            record.state = state.of_directory(&desk.terms.directory);
        }
        self.shown.show(&records);
        desk.answers.show(&hosts.served).await?;
        let now = desk.clock.now();
        let waiting = records.iter().filter(|record| !record.state.is_served(now));
        metrics::gauge!("selfsame_acme_hosts_waiting").set(waiting.count() as f64);
        Ok(records)
    }
}

/// How long to sleep after a round. One that panics does not end the task: what it knows is in the records, from which the
/// next round begins.
async fn pause_after(round: impl Future<Output = selfsame_driver::Result<Duration>>) -> Duration {
    match AssertUnwindSafe(round).catch_unwind().await {
        Ok(Ok(pause)) => pause,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the listener's certificates can't be looked after now");
            LOOKED_EVERY
        }
        Err(_) => {
            tracing::error!("the work on the listener's certificates panicked; it begins again");
            LOOKED_EVERY
        }
    }
}

/// Works on a host for as long as it is this process's turn; false once it is another's.
async fn in_turn(
    desk: &Desk,
    turn: &mut WorkTurn,
    record: &mut HostRecord,
) -> selfsame_driver::Result<bool> {
    let owner = TenantId::instance();
    let work = desk.work(record);
    tokio::pin!(work);
    let mut every = tokio::time::interval(TURN_EVERY);
    loop {
        tokio::select! {
            done = &mut work => return done.map(|()| true),
            _ = every.tick() => if !turn.hold(desk.shift(&owner)).await? {
                return Ok(false);
            }
        }
    }
}

impl Desk {
    fn shift<'a>(&'a self, owner: &'a TenantId) -> Shift<'a> {
        Shift {
            store: &self.store,
            clock: &self.clock,
            owner,
        }
    }

    /// Asks when to renew, or orders, whichever is due.
    async fn work(&self, record: &mut HostRecord) -> selfsame_driver::Result<()> {
        if record.state.due_at() > self.clock.now() {
            return self.ask_when(record).await;
        }
        let ended = tokio::time::timeout(ORDER_MOST, self.order(record)).await;
        let late = || AcmeFailure::silent("no-decision", "the order takes too long");
        let input = match ended.unwrap_or_else(|_| Err(late())) {
            Ok(given) => {
                let (host, ends) = (&record.host, given.ends.rfc3339());
                tracing::info!(host, ends, "an authority has given a certificate");
                count("given");
                HostInput::Given(given)
            }
            Err(failure) => {
                self.tell(&failure, record);
                count("failed");
                HostInput::Failed {
                    trouble: failure.trouble,
                    retry_after: failure.retry_after,
                }
            }
        };
        record.step(&self.store, input, &self.clock.ctx()).await?;
        let (host, next) = (&record.host, record.state.due_at().rfc3339());
        tracing::info!(host, next, "the next order of a certificate has its time");
        self.answers.end(&record.host).await
    }

    fn tell(&self, failure: &AcmeFailure, record: &HostRecord) {
        let (host, directory) = (&record.host, &self.terms.directory);
        let (problem, detail) = (&failure.problem, &failure.detail);
        tracing::warn!(host, directory, problem, detail, "no certificate was given");
    }

    /// Orders, and again at once while only the nonce or the account was at fault.
    async fn order(&self, record: &mut HostRecord) -> Result<GivenCertificate, AcmeFailure> {
        // What an earlier call was told is not about this order.
        self.calls.take_wait();
        let mut last = AcmeFailure::silent("not-tried", "");
        let mut is_made_anew = false;
        for _ in 0..AGAIN_MOST {
            let failure = match self.order_once(record).await {
                Ok(given) => return Ok(given),
                Err(failure) => failure,
            };
            if failure.is_lost_account() && !is_made_anew {
                is_made_anew = true;
                tracing::warn!(
                    directory = self.terms.directory,
                    "the authority does not know the account any more: another one is made"
                );
                AccountRecord::forget(&self.store).await?;
            } else if !failure.is_bad_nonce() {
                let retry_after = self.calls.take_wait();
                return Err(AcmeFailure {
                    retry_after,
                    ..failure
                });
            }
            last = failure;
        }
        Err(last)
    }

    async fn order_once(&self, record: &mut HostRecord) -> Result<GivenCertificate, AcmeFailure> {
        let account = self.account().await?;
        let tools = OrderTools {
            account: &account,
            answers: &self.answers,
            store: &self.store,
            clock: &self.clock,
            without_tls: self.without_tls,
        };
        tools.certificate(record).await
    }

    async fn account(&self) -> Result<Account, AcmeFailure> {
        self.terms.open(&self.store, &self.calls).await
    }

    /// Asks the directory when to renew the certificate (RFC 9773 §4).
    async fn ask_when(&self, record: &mut HostRecord) -> selfsame_driver::Result<()> {
        let input = match self.window(record).await {
            Ok(window) => HostInput::Advised(window),
            Err(failure) => {
                tracing::debug!(host = record.host, %failure, "the directory does not say when to renew");
                HostInput::Unadvised
            }
        };
        record.step(&self.store, input, &self.clock.ctx()).await
    }

    async fn window(&self, record: &HostRecord) -> Result<RenewalWindow, AcmeFailure> {
        let unknown = || AcmeFailure::silent("unnamed-certificate", "it names no authority's key");
        let kept = record.state.certificate().ok_or_else(unknown)?;
        let chain = Tls::certificates_of(kept.given.chain.as_bytes());
        let leaf = chain
            .unwrap_or_default()
            .into_iter()
            .next()
            .ok_or_else(unknown)?;
        let leaf = CertificateDer::from(leaf);
        let id = CertificateIdentifier::try_from(&leaf).map_err(|_| unknown())?;
        let (info, again) = self.account().await?.renewal_info(&id).await?;
        let time = |seconds: i64| UnixTime(u64::try_from(seconds).unwrap_or(0));
        Ok(RenewalWindow {
            start: time(info.suggested_window.start.unix_timestamp()),
            end: time(info.suggested_window.end.unix_timestamp()),
            look_after: again.as_secs(),
        })
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("selfsame_acme_orders_total", "outcome" => outcome).increment(1);
}

fn describe() {
    metrics::describe_counter!(
        "selfsame_acme_orders_total",
        "Certificates that an authority was asked for, by outcome: given or failed."
    );
    metrics::describe_gauge!(
        "selfsame_acme_hosts_waiting",
        "Hosts without a valid certificate that an authority is asked for."
    );
}

#[cfg(test)]
mod tests {
    use selfsame_driver::Error;

    use super::*;

    #[tokio::test]
    async fn a_round_that_fails_or_panics_is_followed_by_another_after_a_pause() {
        async fn panicking() -> selfsame_driver::Result<Duration> {
            panic!("a fault in a round")
        }
        let failing = async { Err(Error::internal("a fault in the store")) };
        assert_eq!(pause_after(async { Ok(BREATH) }).await, BREATH);
        assert_eq!(pause_after(failing).await, LOOKED_EVERY);
        assert_eq!(pause_after(panicking()).await, LOOKED_EVERY);
    }

    #[test]
    fn a_host_with_another_certificate_is_led_to_https_and_not_ordered_for() {
        let names = |all: &[&str]| -> Vec<String> {
            let all = all.iter().copied();
            all.map(str::to_owned).collect()
        };
        let set = |all: &[&str]| names(all).into_iter().collect::<BTreeSet<String>>();
        let organisations = names(&["id.clinic.example", "id.school.example", "localhost"]);
        let has_another = |host: &str| host == "id.clinic.example";
        let hosts = InstanceHosts::of("id.example", &[], &organisations, has_another);
        assert_eq!(hosts.ordered, set(&["id.example", "id.school.example"]));
        let served = set(&["id.clinic.example", "id.example", "id.school.example"]);
        assert_eq!(hosts.served, served);
        let further = names(&["a.example"]);
        let hosts = InstanceHosts::of("id.example", &further, &organisations, has_another);
        assert_eq!(hosts.ordered, set(&["a.example", "id.example"]));
        let served = set(&["a.example", "id.clinic.example", "id.example"]);
        assert_eq!(hosts.served, served);
    }
}
