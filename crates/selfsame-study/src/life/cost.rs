//! What a credential costs from its offer to its refusal: time, processor, bytes over the loopback and to the disk.

use std::path::Path;
use std::time::{Duration, Instant};

use selfsame_bench::Error;
use selfsame_bench::process::{ServerProcess, usage};
use selfsame_bench::report::{Bar, Figure};

use super::LifeBench;
use super::parties::Parties;

/// How many times a credential is presented in its life.
const PRESENTATIONS: usize = 10;
/// The longest wait for a status list, and the pause between looks.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

/// What was used so far.
#[derive(Clone, Copy)]
struct LifeUsage {
    at: Instant,
    cpu_ms: f64,
    wire: u64,
    written: u64,
}

/// What a part of the life used, for one credential.
struct LifeShare {
    name: &'static str,
    ms: f64,
    cpu_ms: f64,
    wire: f64,
    written: f64,
}

/// Lets credentials live, all at the same stage of their lives.
pub async fn measure(bench: &mut LifeBench<'_>) -> Result<(), Error> {
    let data = bench.scratch.join("life");
    let mut server = bench.program.start(&data, "").await?;
    let parties = Parties::in_one(&server);
    let count = bench.plan.credentials;
    bench.progress.begin("people", count as u64);
    let mut people = Vec::with_capacity(count);
    for number in 0..count {
        people.push(parties.person(number).await?);
        bench.progress.advance(1);
    }
    warm(&parties, 1_000_000).await?;
    // A server that ends folds its log into its files, so that these alone are counted.
    server.stop().await?;
    let before = stored(&data);
    server.start_again().await?;
    warm(&parties, 1_000_001).await?;
    let shares = lived(bench, &server, &parties, &people).await?;

    let mut refused = 0;
    for person in &people {
        refused += usize::from(parties.present_anew(person).await? != "valid");
    }
    server.stop().await?;
    // The credential that warmed the server up again is there too.
    let grown = stored(&data).saturating_sub(before) as f64 / (count + 1) as f64;
    tell(bench, &shares);
    let kept = Figure::new("life_stored_bytes", grown, "B");
    bench
        .figures
        .push(kept.note("what stays on the disk, with the records of all presentations"));
    let refused = Figure::new("life_refused_after", refused as f64, "credentials");
    let all = count as f64;
    bench.figures.push(
        refused
            .bar(Bar::AtLeast(all))
            .note(format!("of {count} that were revoked")),
    );
    Ok(())
}

/// A credential for each person: issued, presented, revoked. Returns what each part used.
async fn lived(
    bench: &LifeBench<'_>,
    server: &ServerProcess,
    parties: &Parties,
    people: &[String],
) -> Result<Vec<LifeShare>, Error> {
    let count = people.len();
    let mut shares = Vec::new();
    bench.progress.begin("credentials issued", count as u64);
    let before = LifeUsage::of(server);
    let mut offers = Vec::with_capacity(count);
    for person in people {
        offers.push(parties.issue(person).await?);
        bench.progress.advance(1);
    }
    shares.push(before.share("issuance", LifeUsage::of(server), count));

    let all = count * PRESENTATIONS;
    bench.progress.begin("presentations", all as u64);
    let before = LifeUsage::of(server);
    for person in people {
        for _ in 0..PRESENTATIONS {
            expect("valid", &parties.present(person).await?)?;
            bench.progress.advance(1);
        }
    }
    shares.push(before.share("presentations", LifeUsage::of(server), count));

    bench.progress.begin("revocations", count as u64);
    let mut issued = Vec::with_capacity(count);
    for offer in &offers {
        issued.push(parties.issued(offer).await?);
    }
    let before = LifeUsage::of(server);
    for id in &issued {
        parties.revoke(id).await?;
        bench.progress.advance(1);
    }
    until_published(parties, &issued).await?;
    shares.push(before.share("revocation", LifeUsage::of(server), count));
    Ok(shares)
}

/// One whole life beforehand, so that what is fetched and made once is not counted.
async fn warm(parties: &Parties, number: usize) -> Result<(), Error> {
    let person = parties.person(number).await?;
    parties.issue(&person).await?;
    expect("valid", &parties.present(&person).await?)
}

fn expect(wanted: &str, outcome: &str) -> Result<(), Error> {
    match outcome == wanted {
        true => Ok(()),
        false => Err(Error::Server(format!(
            "the verdict is `{outcome}` where `{wanted}` was expected"
        ))),
    }
}

/// Waits until the status lists show all revocations. Those of a second share one list.
#[expect(clippy::disallowed_methods, reason = "the wait has an end")]
async fn until_published(parties: &Parties, issued: &[String]) -> Result<(), Error> {
    let began = Instant::now();
    for id in issued {
        while !parties.is_published(id).await? {
            if began.elapsed() > PATIENCE {
                return Err(Error::Server(
                    "the status list was not published".to_owned(),
                ));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
    Ok(())
}

/// The figures of each part, and of all together.
fn tell(bench: &mut LifeBench<'_>, shares: &[LifeShare]) {
    let whole = LifeShare {
        name: "whole",
        ms: shares.iter().map(|share| share.ms).sum(),
        cpu_ms: shares.iter().map(|share| share.cpu_ms).sum(),
        wire: shares.iter().map(|share| share.wire).sum(),
        written: shares.iter().map(|share| share.written).sum(),
    };
    for share in shares.iter().chain([&whole]) {
        let name = share.name;
        bench.figures.extend([
            Figure::new(format!("life_ms_{name}"), share.ms, "ms"),
            Figure::new(format!("life_cpu_ms_{name}"), share.cpu_ms, "ms"),
            Figure::new(format!("life_wire_bytes_{name}"), share.wire, "B"),
            Figure::new(format!("life_written_bytes_{name}"), share.written, "B"),
        ]);
    }
}

impl LifeUsage {
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    fn of(server: &ServerProcess) -> Self {
        let id = server.id();
        Self {
            at: Instant::now(),
            cpu_ms: scheduled_ms(id).unwrap_or_else(|| usage(id).cpu_s * 1e3),
            wire: loopback_bytes(),
            written: written_bytes(id),
        }
    }

    /// What was used since, for one of these many credentials.
    fn share(self, name: &'static str, now: Self, count: usize) -> LifeShare {
        let each = |amount: f64| amount / count.max(1) as f64;
        LifeShare {
            name,
            ms: each(now.at.duration_since(self.at).as_secs_f64() * 1e3),
            cpu_ms: each(now.cpu_ms - self.cpu_ms),
            wire: each(now.wire.saturating_sub(self.wire) as f64),
            written: each(now.written.saturating_sub(self.written) as f64),
        }
    }
}

/// The time that all threads of a process have run, which is finer than the hundredths of a second of its `stat`.
fn scheduled_ms(process: u32) -> Option<f64> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let mut nanoseconds = 0.0;
    for task in tasks.flatten() {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds / 1e6)
}

/// The bytes that went over the loopback, each once, with the headers of TCP and IP.
fn loopback_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start);
    let line = lines.find_map(|line| line.strip_prefix("lo:"));
    let received = line.and_then(|line| line.split_whitespace().next());
    received.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// The bytes that a process has had written to storage (proc_pid_io(5)).
fn written_bytes(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("write_bytes:"));
    line.and_then(|bytes| bytes.trim().parse().ok())
        .unwrap_or(0)
}

/// The size of all files below a folder.
fn stored(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => stored(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_run_and_the_loopback_is_counted() {
        let ran = scheduled_ms(std::process::id());
        assert!(ran.is_none_or(|ms| ms > 0.0));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let before = loopback_bytes();
        let address = listener.local_addr().unwrap();
        let sent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        sent.send_to(&[0; 1_000], address).unwrap();
        assert!(loopback_bytes() >= before + 1_000);
    }

    #[test]
    fn the_files_of_a_folder_are_counted_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b"), [0; 300]).unwrap();
        std::fs::write(folder.path().join("c"), [0; 40]).unwrap();
        assert_eq!(stored(folder.path()), 340);
    }
}
