//! A proxy's metrics in Prometheus format, on a loopback address of their own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selfsame_tls::identity::PeerKind;
use selfsame_tls_io::{Carried, Error, Lapse, name_of, tls_error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Maximum size of a request's head, in bytes.
const MOST_HEAD: usize = 4096;
/// Time-out of a request.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of concurrent readers.
const READERS: usize = 8;
/// Maximum number of peers counted by name.
const MOST_PEERS: usize = 256;
/// The name for all other peers.
const OTHERS: &str = "other";
const BREATH: Duration = Duration::from_millis(50);

/// The counters.
#[derive(Debug, Default)]
pub struct Figures {
    full: AtomicU64,
    resumed: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
    open: AtomicU64,
    turned_away: AtomicU64,
    reloaded: AtomicU64,
    not_reloaded: AtomicU64,
    refusals: Mutex<BTreeMap<Refused, u64>>,
    peers: Mutex<BTreeMap<CountedPeer, u64>>,
}

/// A peer that was admitted, and how it authenticated.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct CountedPeer {
    by: &'static str,
    name: String,
}

/// Who refused whom, and why; each field has one of a few fixed texts.
#[derive(Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
struct Refused {
    by: &'static str,
    alert: &'static str,
    rule: &'static str,
}

impl Refused {
    fn of(error: &selfsame_tls::Error) -> Self {
        use selfsame_tls::Error as Tls;
        match error {
            Tls::Refused(refusal) => Self {
                by: "us",
                alert: refusal.alert.as_str(),
                rule: refusal.reason,
            },
            Tls::Alerted(alert) => Self {
                by: "peer",
                alert: alert.as_str(),
                ..Self::default()
            },
            Tls::Truncated | Tls::Misused(_) => Self::by("network"),
        }
    }

    fn by(by: &'static str) -> Self {
        Self {
            by,
            ..Self::default()
        }
    }
}

/// An open connection; dropping it counts it as closed.
pub(crate) struct Open(Arc<Figures>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Figures {
    /// A connection was accepted.
    pub(crate) fn open(self: &Arc<Self>) -> Open {
        self.open.fetch_add(1, Ordering::Relaxed);
        Open(Arc::clone(self))
    }

    /// A connection was turned away for want of room.
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// A handshake with this peer succeeded.
    pub(crate) fn accepted(&self, peer: &PeerKind, is_resumed: bool) {
        self.know(peer);
        let count = if is_resumed {
            &self.resumed
        } else {
            &self.full
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a peer by its name. Each name is a line in the metrics, and anyone with a credential may create names, so
    /// those beyond the limit are counted together.
    fn know(&self, kind: &PeerKind) {
        let mut known = CountedPeer {
            by: way_of(kind),
            name: name_of(kind),
        };
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if !peers.contains_key(&known) && peers.len() >= MOST_PEERS {
            known.name = OTHERS.to_owned();
        }
        let count = peers.entry(known).or_default();
        *count = count.saturating_add(1);
    }

    /// A handshake failed.
    pub(crate) fn refused(&self, error: &Error) {
        self.count(match error {
            Error::Tls(error) => Refused::of(error),
            Error::Io(_) => Refused::by("network"),
            Error::TimedOut | Error::Silent => Refused::by("time"),
            Error::Crowded => Refused::by("room"),
        });
    }

    /// This end closed an open connection.
    pub(crate) fn lapsed(&self, lapse: &Lapse) {
        self.count(match lapse {
            Lapse::Over(refusal) | Lapse::Unknown(refusal) => {
                Refused::of(&selfsame_tls::Error::Refused(*refusal))
            }
            Lapse::Longest => Refused::by("time"),
        });
    }

    /// A connection ended after carrying these bytes. In TLS 1.3 a server's refusal follows the client's handshake.
    pub(crate) fn ended(&self, carried: Carried, ended: &io::Result<()>) {
        self.up.fetch_add(carried.up, Ordering::Relaxed);
        self.down.fetch_add(carried.down, Ordering::Relaxed);
        let refused = ended.as_ref().err().and_then(tls_error).map(Refused::of);
        if let Some(refused) = refused.filter(|refused| refused.by == "peer") {
            self.count(refused);
        }
    }

    /// The identity was read again, or could not be read.
    pub fn reloaded(&self, is_new: bool) {
        let count = match is_new {
            true => &self.reloaded,
            false => &self.not_reloaded,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self, refused: Refused) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let count = refusals.entry(refused).or_default();
        *count = count.saturating_add(1);
    }

    fn render_peers(&self, text: &mut String) {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let labelled = |(CountedPeer { by, name }, count): (&CountedPeer, &u64)| {
            (format!("by=\"{by}\",peer=\"{}\"", escaped(name)), *count)
        };
        let peers: Vec<(String, u64)> = peers.iter().map(labelled).collect();
        let peers: Vec<_> = peers
            .iter()
            .map(|(labels, count)| (labels.as_str(), *count))
            .collect();
        let help = "Successful handshakes, by the peer's kind of authentication and its name.";
        counter(text, "peers", help, &peers);
    }

    /// Serves `GET /metrics` there until the process ends. They show who is admitted and refused, so the address should
    /// be on loopback.
    pub fn serve(self: Arc<Self>, listener: TcpListener) {
        let room = Arc::new(Semaphore::new(READERS));
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(BREATH).await;
                    continue;
                };
                let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                    continue;
                };
                let figures = Arc::clone(&self);
                tokio::spawn(async move {
                    let _late = tokio::time::timeout(PATIENCE, answer(stream, &figures)).await;
                    drop(place);
                });
            }
        });
    }

    /// The text of `/metrics`.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        counter(
            &mut text,
            "handshakes",
            "Successful handshakes, by kind.",
            &[
                ("kind=\"full\"", of(&self.full)),
                ("kind=\"resumed\"", of(&self.resumed)),
            ],
        );
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let refusals: Vec<(String, u64)> = refusals
            .iter()
            .map(|(Refused { by, alert, rule }, count)| {
                let labels = format!("by=\"{by}\",alert=\"{alert}\",rule=\"{rule}\"");
                (labels, *count)
            })
            .collect();
        let help = "Failed handshakes, by the side that refused, the alert and the broken rule.";
        let refusals: Vec<_> = refusals
            .iter()
            .map(|(labels, count)| (labels.as_str(), *count))
            .collect();
        counter(&mut text, "refusals", help, &refusals);
        self.render_peers(&mut text);
        let help = "Bytes carried by closed connections, up to the service and down from it.";
        counter(
            &mut text,
            "carried_bytes",
            help,
            &[
                ("direction=\"up\"", of(&self.up)),
                ("direction=\"down\"", of(&self.down)),
            ],
        );
        counter(
            &mut text,
            "turned_away",
            "Connections closed because a limit was reached.",
            &[("", of(&self.turned_away))],
        );
        counter(
            &mut text,
            "reloads",
            "Times the identity was read again.",
            &[
                ("result=\"taken\"", of(&self.reloaded)),
                ("result=\"failed\"", of(&self.not_reloaded)),
            ],
        );
        let _never_fails = write!(
            text,
            "# HELP selfsame_tls_connections_open Connections that are open.\n\
             # TYPE selfsame_tls_connections_open gauge\nselfsame_tls_connections_open {}\n",
            of(&self.open)
        );
        text
    }
}

/// A label value, escaped for the text format.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

fn counter(text: &mut String, name: &str, help: &str, values: &[(&str, u64)]) {
    let name = format!("selfsame_tls_{name}_total");
    let _never_fails = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
    for (labels, value) in values {
        let _never_fails = match labels.is_empty() {
            true => writeln!(text, "{name} {value}"),
            false => writeln!(text, "{name}{{{labels}}} {value}"),
        };
    }
}

/// How a peer authenticated.
#[must_use]
pub fn way_of(kind: &PeerKind) -> &'static str {
    match kind {
        PeerKind::Anonymous => "nobody",
        PeerKind::Certificate(_) => "certificate",
        PeerKind::Did(_) => "did",
        PeerKind::Credential(_) => "credential",
    }
}

async fn answer(mut stream: TcpStream, figures: &Figures) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        let count = stream.read(&mut chunk).await?;
        head.extend_from_slice(chunk.get(..count).unwrap_or_default());
        if count == 0 || head.len() > MOST_HEAD {
            return Ok(());
        }
    }
    let (status, body) = match head.starts_with(b"GET /metrics HTTP/1.") {
        true => ("200 OK", figures.render()),
        false => ("404 Not Found", "see /metrics\n".to_owned()),
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use selfsame_did::Did;
    use selfsame_tls::Alert;

    use super::*;

    #[test]
    fn what_happened_is_counted_by_what_it_was() {
        let figures = Arc::new(Figures::default());
        let open = figures.open();
        figures.accepted(&PeerKind::Anonymous, false);
        let did = PeerKind::Did(Did::parse("did:web:a.example").unwrap());
        figures.accepted(&did, true);
        figures.accepted(&did, true);
        let alerted = selfsame_tls::Error::Alerted(Alert::CertificateRevoked);
        figures.refused(&Error::Tls(alerted));
        figures.refused(&Error::TimedOut);
        let carried = Carried { up: 3, down: 5 };
        figures.ended(carried, &Err(io::Error::other(alerted)));
        figures.ended(carried, &Ok(()));
        figures.reloaded(true);
        let text = figures.render();
        for line in [
            "selfsame_tls_handshakes_total{kind=\"full\"} 1\n",
            "selfsame_tls_handshakes_total{kind=\"resumed\"} 2\n",
            "selfsame_tls_peers_total{by=\"nobody\",peer=\"nobody\"} 1\n",
            "selfsame_tls_peers_total{by=\"did\",peer=\"did:web:a.example\"} 2\n",
            "selfsame_tls_refusals_total{by=\"peer\",alert=\"certificate_revoked\",rule=\"\"} 2\n",
            "selfsame_tls_refusals_total{by=\"time\",alert=\"\",rule=\"\"} 1\n",
            "selfsame_tls_carried_bytes_total{direction=\"up\"} 6\n",
            "selfsame_tls_carried_bytes_total{direction=\"down\"} 10\n",
            "selfsame_tls_turned_away_total 0\n",
            "selfsame_tls_reloads_total{result=\"taken\"} 1\n",
            "selfsame_tls_connections_open 1\n",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        drop(open);
        assert!(
            figures
                .render()
                .contains("selfsame_tls_connections_open 0\n")
        );
    }

    #[test]
    fn so_many_peers_are_counted_by_name_and_all_others_together() {
        let figures = Figures::default();
        for number in 0..300 {
            let did = Did::parse(&format!("did:web:n{number}.example")).unwrap();
            figures.accepted(&PeerKind::Did(did), false);
        }
        let text = figures.render();
        let lines = text.lines();
        let named = lines.filter(|line| line.starts_with("selfsame_tls_peers_total{"));
        assert_eq!(named.count(), MOST_PEERS + 1);
        assert!(text.contains("{by=\"did\",peer=\"other\"} 44\n"), "{text}");
    }

    #[test]
    fn a_name_cannot_leave_its_label() {
        assert_eq!(escaped("CN=a\"} 1\n\\"), "CN=a\\\"} 1\\n\\\\");
    }
}
