//! The service manager of systemd: what it is told, and the credentials that it passes on (sd_notify(3),
//! systemd.exec(5) "Credentials").

use std::ffi::OsString;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The credential with the master key (`LoadCredential=master-key:FILE`).
const MASTER_KEY: &str = "master-key";
/// How many parts of the process are reading their files again.
static RELOADS: AtomicUsize = AtomicUsize::new(0);

/// The socket of the service manager. Without one, nothing is sent.
pub struct ServiceManager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// The service manager that started this process, if one did and wants to be told.
    #[must_use]
    pub fn of_environment() -> Self {
        let watchdog = variable("WATCHDOG_USEC").and_then(|text| microseconds(&text));
        Self {
            socket: variable("NOTIFY_SOCKET").and_then(|name| connected(&name)),
            watchdog: watchdog.filter(|_| is_for_this_process(variable("WATCHDOG_PID"))),
        }
    }

    /// The service serves.
    pub fn ready(&self) {
        self.tell("READY=1\n");
    }

    /// The service has been told to end, and lets open requests finish.
    pub fn stopping(&self) {
        self.tell("STOPPING=1\n");
    }

    /// How often the service manager wants to hear that the process is well: twice within the time after which it would
    /// end the process.
    #[must_use]
    pub fn watchdog(&self) -> Option<Duration> {
        self.socket.as_ref()?;
        self.watchdog.map(|time| time / 2)
    }

    /// The process is well.
    pub fn is_well(&self) {
        self.tell("WATCHDOG=1\n");
    }

    /// A manager that no longer listens is no reason to stop serving.
    fn tell(&self, state: &str) {
        if let Some((socket, manager)) = &self.socket
            && let Err(error) = socket.send_to_addr(state.as_bytes(), manager)
        {
            tracing::warn!(%error, "systemd can't be told the state of the service");
        }
    }
}

/// A part of the process that reads its files again. The service manager hears when the first begins and when the last
/// has ended.
pub struct Reloading(());

impl Reloading {
    /// Begins. The parts that the same signal woke begin too, before this one goes on.
    pub async fn begin() -> Self {
        if RELOADS.fetch_add(1, Ordering::SeqCst) == 0 {
            // sd_notify(3): the time lets the manager tell this reload from an earlier one.
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            let now = Duration::try_from(now).unwrap_or_default().as_micros();
            let state = format!("RELOADING=1\nMONOTONIC_USEC={now}\n");
            ServiceManager::of_environment().tell(&state);
        }
        let reloading = Self(());
        tokio::task::yield_now().await;
        reloading
    }
}

impl Drop for Reloading {
    fn drop(&mut self) {
        if RELOADS.fetch_sub(1, Ordering::SeqCst) == 1 {
            ServiceManager::of_environment().ready();
        }
    }
}

/// The file of the master key, if the service manager passed one on.
#[must_use]
pub fn master_key() -> Option<PathBuf> {
    let file = PathBuf::from(variable("CREDENTIALS_DIRECTORY")?).join(MASTER_KEY);
    file.exists().then_some(file)
}

/// An address with `@` at its beginning has no file (unix(7), "abstract").
fn connected(name: &OsString) -> Option<(UnixDatagram, SocketAddr)> {
    let address = match name.as_bytes().split_first()? {
        (b'@', rest) => SocketAddr::from_abstract_name(rest),
        (b'/', _) => SocketAddr::from_pathname(name),
        _ => return None,
    };
    Some((UnixDatagram::unbound().ok()?, address.ok()?))
}

fn microseconds(text: &OsString) -> Option<Duration> {
    let time: u64 = text.to_str()?.parse().ok()?;
    (time > 0).then(|| Duration::from_micros(time))
}

/// A process that a service starts inherits the environment, but not the watchdog.
fn is_for_this_process(named: Option<OsString>) -> bool {
    let own = std::process::id().to_string();
    named.is_none_or(|named| named.to_str() == Some(&own))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the service manager speaks by the environment; none of it is an option of a person"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(name: &str) -> ServiceManager {
        ServiceManager {
            socket: connected(&name.into()),
            watchdog: Some(Duration::from_secs(30)),
        }
    }

    fn heard(listening: &UnixDatagram) -> String {
        let mut bytes = [0; 128];
        let length = listening.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    #[test]
    fn a_manager_at_a_path_or_an_abstract_address_is_told_each_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("selfsame-test-{}", std::process::id());
        let abstract_address = SocketAddr::from_abstract_name(&name).unwrap();
        for (listening, at) in [
            (
                UnixDatagram::bind(&path).unwrap(),
                path.display().to_string(),
            ),
            (
                UnixDatagram::bind_addr(&abstract_address).unwrap(),
                format!("@{name}"),
            ),
        ] {
            let manager = manager(&at);
            manager.ready();
            assert_eq!(heard(&listening), "READY=1\n");
            manager.is_well();
            assert_eq!(heard(&listening), "WATCHDOG=1\n");
            manager.stopping();
            assert_eq!(heard(&listening), "STOPPING=1\n");
            assert_eq!(manager.watchdog(), Some(Duration::from_secs(15)));
        }
    }

    #[test]
    fn without_a_manager_or_after_its_end_nothing_fails() {
        for name in ["", "relative", "/nowhere/notify"] {
            manager(name).ready();
        }
        assert_eq!(manager("relative").watchdog(), None);
    }

    #[test]
    fn a_watchdog_is_for_the_process_that_it_names_and_has_a_time() {
        let own = std::process::id().to_string();
        assert!(is_for_this_process(None) && is_for_this_process(Some(own.into())));
        assert!(!is_for_this_process(Some("1".into())));
        assert_eq!(
            microseconds(&"250000".into()),
            Some(Duration::from_millis(250))
        );
        for wrong in ["0", "", "-1", "ten"] {
            assert_eq!(microseconds(&wrong.into()), None, "{wrong}");
        }
    }
}
