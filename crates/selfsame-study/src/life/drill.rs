//! The drill: registry, issuer, wallet and verifier are a process each; each is killed once while the others go on.

use std::time::{Duration, Instant};

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::process::ServerProcess;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;

use super::LifeBench;
use super::parties::{Parties, Party};

/// How long it may take until everything works again, and the pause between tries.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(20);
/// How many credentials are there before the first kill.
const BEFORE: usize = 5;

/// The four processes.
struct FourProcesses {
    /// Each with its name; the names are those of the roles.
    servers: Vec<NamedServer>,
    parties: Parties,
}

struct NamedServer {
    name: &'static str,
    server: ServerProcess,
}

/// What happened around the kills of one process.
#[derive(Default)]
struct DrillOutcome {
    issues: bool,
    presents: bool,
    ready: Sample,
    back: Sample,
    lost: usize,
}

/// Starts four processes and kills each in its turn.
pub async fn measure(bench: &mut LifeBench<'_>) -> Result<(), Error> {
    let mut four = FourProcesses::start(bench).await?;
    let person = four.parties.person(0).await?;
    for _ in 0..BEFORE {
        four.parties.issue(&person).await?;
    }
    present(&four.parties, &person).await?;
    for place in 0..four.servers.len() {
        let Some(name) = four.servers.get(place).map(|one| one.name) else {
            continue;
        };
        bench
            .progress
            .begin(&format!("{name} killed"), bench.plan.kills as u64);
        let mut outcome = DrillOutcome::default();
        for _ in 0..bench.plan.kills {
            four.kill(place, &person, &mut outcome).await?;
            bench.progress.advance(1);
        }
        tell(bench, name, &outcome);
    }
    Ok(())
}

fn tell(bench: &mut LifeBench<'_>, name: &str, outcome: &DrillOutcome) {
    let whether = |holds: bool| f64::from(u8::from(holds));
    let of = |what: &str| format!("drill_{what}_{name}");
    let lost = Figure::new(of("lost"), outcome.lost as f64, "credentials");
    bench.figures.extend([
        Figure::new(of("issues"), whether(outcome.issues), "")
            .note("1: credentials are issued while it is away"),
        Figure::new(of("presents"), whether(outcome.presents), "")
            .note("1: credentials are presented and verified while it is away"),
        Figure::new(of("ready_s"), outcome.ready.median(), "s"),
        Figure::new(of("back_s"), outcome.back.median(), "s")
            .note("from its start until a credential is issued, presented and verified"),
        lost.bar(Bar::AtMost(0.0))
            .note("that the wallet had acknowledged before the kill"),
    ]);
}

async fn present(parties: &Parties, person: &str) -> Result<(), Error> {
    match parties.present(person).await?.as_str() {
        "valid" => Ok(()),
        other => Err(Error::Server(format!("the verdict is `{other}`"))),
    }
}

impl FourProcesses {
    async fn start(bench: &LifeBench<'_>) -> Result<Self, Error> {
        let data = bench.scratch.join("drill");
        let role = async |name: &'static str, more: &[String]| {
            let mut arguments = vec!["--role".to_owned(), name.to_owned()];
            arguments.extend_from_slice(more);
            let data = data.join(name);
            let server = bench.program.start_with(&data, "", &arguments).await?;
            Ok::<_, Error>(NamedServer { name, server })
        };
        bench.progress.begin("four processes", 4);
        let registry = role("registry", &[]).await?;
        let token = data.join("registry").join("operator-token");
        let anchored = [
            "--registry".to_owned(),
            origin(&registry),
            "--registry-token-file".to_owned(),
            token.display().to_string(),
        ];
        let issuer = role("issuer", &anchored).await?;
        let trusting = |servers: &[&NamedServer]| {
            let each = servers.iter();
            each.flat_map(|one| ["--trust-origin".to_owned(), origin(one)])
                .collect::<Vec<_>>()
        };
        let mut arguments = [&anchored[..], &trusting(&[&issuer])].concat();
        for did in dids(&issuer).await? {
            arguments.extend(["--trust-issuer".to_owned(), did]);
        }
        let verifier = role("verifier", &arguments).await?;
        let arguments = [&anchored[..], &trusting(&[&issuer, &verifier])].concat();
        let wallet = role("wallet", &arguments).await?;
        let parties = Parties {
            issuer: Party::of(&issuer.server),
            wallet: Party::of(&wallet.server),
            verifier: Party::of(&verifier.server),
        };
        Ok(Self {
            servers: vec![registry, issuer, wallet, verifier],
            parties,
        })
    }

    /// Kills one process, tries what goes on without it, and starts it again.
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    async fn kill(
        &mut self,
        place: usize,
        person: &str,
        outcome: &mut DrillOutcome,
    ) -> Result<(), Error> {
        let held = self.parties.held(person).await?;
        let Some(NamedServer { server, .. }) = self.servers.get_mut(place) else {
            return Ok(());
        };
        server.crash()?;
        let issued = self.parties.issue(person).await.is_ok();
        outcome.issues = issued;
        outcome.presents = present(&self.parties, person).await.is_ok();
        let began = Instant::now();
        server.start_again().await?;
        outcome.ready.push(server.ready.as_secs_f64());
        let mut acknowledged = held + usize::from(issued);
        loop {
            let is_issued = self.parties.issue(person).await.is_ok();
            acknowledged += usize::from(is_issued);
            if is_issued && present(&self.parties, person).await.is_ok() {
                break;
            }
            if began.elapsed() > PATIENCE {
                return Err(Error::Server("does not work again after a kill".to_owned()));
            }
            tokio::time::sleep(AGAIN).await;
        }
        outcome.back.push(began.elapsed().as_secs_f64());
        let now = self.parties.held(person).await?;
        outcome.lost += acknowledged.saturating_sub(now);
        Ok(())
    }
}

fn origin(one: &NamedServer) -> String {
    format!("{}/", one.server.base.replace("127.0.0.1", "localhost"))
}

/// The DIDs in an issuer's credentials, which a verifier must trust.
async fn dids(issuer: &NamedServer) -> Result<Vec<String>, Error> {
    let server = &issuer.server;
    let client = BenchClient::new(&server.base);
    let status = client.get("/api/status", &server.operator).await?;
    let dids = status["issuer_dids"].as_array().into_iter().flatten();
    Ok(dids
        .filter_map(|did| did.as_str().map(str::to_owned))
        .collect())
}
