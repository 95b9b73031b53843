//! The study's layout: two providers and two mock identity systems behind nginx, on PostgreSQL.

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::port::free_port;
use selfsame_bench::process::{Program, ServerProcess};
use selfsame_bench::report::{Bar, Figure, FigureTable};
use selfsame_store_bench::balancer::{BalancedPort, Balancer};
use selfsame_store_bench::database::BenchDatabase;

use crate::SignInBench;
use crate::caller::BenchRequest;
use crate::loads::{LoadedProvider, PacedTime, first, paced};
use crate::over_time::p90_over_time;
use crate::people::BenchPeople;
use crate::round::SignInRound;
use crate::seven::{BELOW, EsignetProvider};
use crate::stage::{IDENTITIES, ProcessUsage};
use crate::study::{self, LIMITS_MS};
use crate::watch::{ProcessWatch, WatchedProcess};

/// What the tables and charts are about.
const WHOSE: &str = "Two providers behind nginx on PostgreSQL, a second of delay";
/// How much later the identity systems answer, in milliseconds.
const DELAY_MS: u32 = 1_000;
/// The names of the processes.
const PROVIDERS: [&str; 2] = ["first provider", "second provider"];
const IDENTITY_SYSTEMS: [&str; 2] = ["first identity system", "second identity system"];
/// What processes of one kind share beside the database. The first one makes it.
const SHARED: [&str; 2] = ["master-key", "operator-token"];
/// The calls of the mock identity system, by the parts of their addresses.
const MOCK_CALLS: [&str; 3] = ["send-otp", "kyc-auth", "kyc-exchange"];

/// A process of the layout.
struct LaidOut {
    name: &'static str,
    server: ServerProcess,
}

/// Two processes of one kind, and the port of nginx in front of them.
struct BalancedPair {
    processes: Vec<LaidOut>,
    port: u16,
}

/// The layout; dropping it ends all processes.
struct StudyLayout {
    _registry: ServerProcess,
    _balancers: [Balancer; 2],
    identities: BalancedPair,
    providers: BalancedPair,
}

/// What two processes of one kind are started with.
struct PairPlan<'a> {
    names: [&'static str; 2],
    settings: String,
    schema: &'a str,
    arguments: Vec<String>,
}

/// Starts the layout on this database and measures.
pub async fn measure(
    bench: &mut SignInBench<'_>,
    program: &Program,
    database: &str,
) -> Result<(), Error> {
    BenchDatabase::during(database, async |database| {
        measured(bench, program, database).await
    })
    .await
}

async fn measured(
    bench: &mut SignInBench<'_>,
    program: &Program,
    database: &BenchDatabase,
) -> Result<(), Error> {
    let layout = bench.laid_out(program, database).await?;
    let people = BenchPeople::new(bench.plan.people);
    let identities = BenchClient::new(&layout.identities.base());
    people
        .register(&identities, IDENTITIES, bench.progress)
        .await?;
    let client = BenchClient::new(&layout.providers.base());
    let operator = layout.providers.operator();
    let provider = EsignetProvider::find(client, BELOW, operator).await?;
    let at = LoadedProvider {
        party: provider.party().await?,
        provider,
        people,
    };
    first(&at).await?;
    let round = bench.paced_layout(&layout, &at).await;
    bench.tell_layout(&round);
    bench.tell_mock_calls(&layout).await
}

impl BalancedPair {
    fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn operator(&self) -> &str {
        let first = self.processes.first();
        first.map_or("", |first| first.server.operator.as_str())
    }
}

impl StudyLayout {
    fn processes(&self) -> impl Iterator<Item = &LaidOut> {
        let all = self.providers.processes.iter();
        all.chain(&self.identities.processes)
    }

    fn used(&self) -> Vec<ProcessUsage> {
        let used = self.processes().map(|process| ProcessUsage {
            name: process.name,
            usage: process.server.usage(),
        });
        used.collect()
    }

    fn watch(&self) -> ProcessWatch {
        let watched = self.processes().map(|process| WatchedProcess {
            name: process.name,
            id: process.server.id(),
        });
        ProcessWatch::begin(&watched.collect::<Vec<_>>())
    }
}

impl SignInBench<'_> {
    /// Starts a registry, two identity systems and two providers, and nginx in front of each two.
    async fn laid_out(
        &self,
        program: &Program,
        database: &BenchDatabase,
    ) -> Result<StudyLayout, Error> {
        let data = self.scratch.join("layout");
        let registry_data = data.join("registry");
        let role = ["--role", "registry"].map(str::to_owned);
        let registry = program.start_with(&registry_data, "", &role).await?;
        let token = registry_data.join("operator-token").display().to_string();
        let at = registry.base.replace("127.0.0.1", "localhost");
        let registry_at = ["--registry", &at, "--registry-token-file", &token].map(str::to_owned);
        let plan = |names, settings, schema| PairPlan {
            names,
            settings,
            schema,
            arguments: registry_at.to_vec(),
        };
        let mock = format!("[sign_in]\npeople = \"mock\"\n[sign_in.mock]\ndelay_ms = {DELAY_MS}\n");
        let mocks = plan(IDENTITY_SYSTEMS, mock, "identities");
        let identities = self.pair(program, database, mocks).await?;
        let before_mocks = identities.balancer(&data.join("nginx-identities")).await?;
        let origin = format!("http://localhost:{}", identities.port);
        let settings = format!(
            "[sign_in]\npeople = \"mock\"\nesignet = true\n[sign_in.mock]\n\
             url = \"{origin}{IDENTITIES}/\"\ntime_out = 20\n"
        );
        let mut providers = plan(PROVIDERS, settings, "providers");
        let trusted = ["--trust-origin".to_owned(), origin];
        providers.arguments.extend(trusted);
        let providers = self.pair(program, database, providers).await?;
        let before_providers = providers.balancer(&data.join("nginx-providers")).await?;
        Ok(StudyLayout {
            _registry: registry,
            _balancers: [before_mocks, before_providers],
            identities,
            providers,
        })
    }

    /// Two processes of one kind on one schema.
    async fn pair(
        &self,
        program: &Program,
        database: &BenchDatabase,
        plan: PairPlan<'_>,
    ) -> Result<BalancedPair, Error> {
        let data = self.scratch.join("layout").join(plan.schema);
        let address = database.address(&database.schema(plan.schema));
        let settings = format!(
            "{}[database]\nurl = {address:?}\nconnections = 9\n[limits]\nconnections = 16384\n",
            plan.settings
        );
        let port = free_port()?;
        let own = format!("http://localhost:{port}/");
        let mut arguments = plan.arguments;
        let roles = ["--role", "issuer,wallet,verifier", "--origin", &own];
        arguments.extend(roles.map(str::to_owned));
        let mut processes = Vec::new();
        for (number, name) in plan.names.into_iter().enumerate() {
            let folder = data.join(format!("process-{number}"));
            if number > 0 {
                std::fs::create_dir_all(&folder)?;
                for file in SHARED {
                    std::fs::copy(data.join("process-0").join(file), folder.join(file))?;
                }
            }
            let server = program.start_with(&folder, &settings, &arguments).await?;
            processes.push(LaidOut { name, server });
        }
        Ok(BalancedPair { processes, port })
    }

    async fn paced_layout(
        &mut self,
        layout: &StudyLayout,
        at: &LoadedProvider<EsignetProvider>,
    ) -> SignInRound<7> {
        self.progress.begin(WHOSE, self.plan.paced.as_secs());
        let (before, watch) = (layout.used(), layout.watch());
        let time = PacedTime {
            ramp: self.plan.layout_ramp,
            ..self.plan.paced_time()
        };
        let round = paced(at, time, self.progress).await;
        let mut used = layout.used();
        for (now, before) in used.iter_mut().zip(&before) {
            now.usage.cpu_s -= before.usage.cpu_s;
        }
        self.tell_calls(WHOSE, &round);
        self.tell_processes(WHOSE, &used, round.seconds);
        let drawn = |what: &str| format!("{WHOSE}: {what}");
        self.draw(drawn("p90 of each call, ms"), p90_over_time(&round));
        self.draw(drawn("processor, % of one core"), watch.cpu());
        self.draw(drawn("memory, MB"), watch.memory());
        round
    }

    /// The figures, with the study's limits.
    fn tell_layout(&mut self, round: &SignInRound<7>) {
        self.push(round.errors("layout_errors"));
        let all: usize = round.calls.iter().map(|sample| sample.len()).sum();
        let rate = all as f64 / round.seconds.max(f64::EPSILON);
        self.push(Figure::new("layout_requests_s", rate, "1/s"));
        let is_delegated = |call: usize| study::DELEGATED.get(call).copied().unwrap_or(false);
        let light = round.p90(|call| !is_delegated(call));
        let light = Figure::new("layout_p90_ms", light, "ms").bar(Bar::AtMost(100.0));
        self.push(light.note("the slowest of the four calls that are not delayed"));
        let delayed = Figure::new("layout_p90_ms_delayed", round.p90(is_delegated), "ms");
        let delayed = delayed
            .study(study::DELEGATED_P90)
            .bar(Bar::AtMost(1_500.0));
        self.push(delayed.note("the slowest of the three delayed calls"));
        let above = (0..LIMITS_MS.len()).filter(|call| {
            let limit = LIMITS_MS.get(*call).copied().unwrap_or_default();
            round.p90(|one| one == *call) > limit
        });
        let above = Figure::new("layout_calls_above_limit", above.count() as f64, "");
        self.push(above.bar(Bar::AtMost(0.0)));
    }

    /// The identity systems' own table, from what they count: the average time of each call.
    async fn tell_mock_calls(&mut self, layout: &StudyLayout) -> Result<(), Error> {
        // Both answer to the name of the two alone, and nginx lets them answer in turns.
        let client = BenchClient::new(&layout.identities.base());
        let mut pages = Vec::new();
        for _ in &layout.identities.processes {
            let page = BenchRequest::get(&client, "/metrics").send().await?;
            pages.push(page.success()?.text());
        }
        let title = format!("{WHOSE}: the calls of the identity systems, ms");
        let mut table = FigureTable::new(title, &["samples", "average"]);
        for call in MOCK_CALLS {
            let sum = |what: &str| pages.iter().map(|page| counted(page, call, what)).sum();
            let (count, seconds): (f64, f64) = (sum("count"), sum("sum"));
            let average = seconds / count.max(1.0) * 1e3;
            table.row(call, &[Some(count), Some(average)]);
        }
        self.tables.push(table);
        Ok(())
    }
}

impl BalancedPair {
    /// nginx in front of both, with its files in this directory.
    async fn balancer(&self, folder: &std::path::Path) -> Result<Balancer, Error> {
        let mut processes = Vec::new();
        for process in &self.processes {
            processes.push(port_of(&process.server.base)?);
        }
        let listens = self.port;
        Balancer::start(folder, &[BalancedPort { listens, processes }]).await
    }
}

/// What a page of metrics says of the calls whose address has this part.
fn counted(page: &str, call: &str, what: &str) -> f64 {
    let begin = format!("selfsame_http_request_seconds_{what}{{");
    let part = format!("/{call}/");
    let lines = page.lines();
    let lines = lines.filter(|line| line.starts_with(&begin) && line.contains(&part));
    let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    values.sum()
}

/// The port of a base URL.
fn port_of(base: &str) -> Result<u16, Error> {
    let port = base.rsplit(':').next().and_then(|port| port.parse().ok());
    port.ok_or_else(|| Error::Server(format!("{base} has no port")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_all_versions_of_an_address_are_counted_together() {
        let page = "selfsame_http_request_seconds_count{method=\"POST\",route=\"/v1/mock-identity-system/kyc-auth/{party}/{client}\"} 3
selfsame_http_request_seconds_count{method=\"POST\",route=\"/v1/mock-identity-system/v2/kyc-auth/{party}/{client}\"} 4
selfsame_http_request_seconds_sum{method=\"POST\",route=\"/v1/mock-identity-system/kyc-auth/{party}/{client}\"} 1.5
selfsame_http_request_seconds_count{method=\"POST\",route=\"/v1/mock-identity-system/send-otp/{party}/{client}\"} 9
";
        assert!((counted(page, "kyc-auth", "count") - 7.0).abs() < f64::EPSILON);
        assert!((counted(page, "kyc-auth", "sum") - 1.5).abs() < f64::EPSILON);
        assert!((counted(page, "kyc-exchange", "count")).abs() < f64::EPSILON);
    }
}
