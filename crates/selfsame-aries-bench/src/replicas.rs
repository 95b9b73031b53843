//! The study's second round: two of each agent on one PostgreSQL database, behind nginx.

use selfsame_bench::Error;
use selfsame_bench::port::free_port;
use selfsame_bench::process::Program;
use selfsame_bench::report::Figure;
use selfsame_store_bench::balancer::{BalancedPort, Balancer};
use selfsame_store_bench::database::BenchDatabase;

use crate::AriesBench;
use crate::agents::Kind;
use crate::closed::{self, Paused};
use crate::stage::{AgentPorts, AriesStage, Between, ROLES, StagedServer};
use crate::study;

/// The users of the study's second round.
const USERS: usize = 120;
/// The processes, each with all three agents.
const NAMES: [&str; 2] = ["first process", "second process"];
/// What the processes share beside the database. The first one makes it.
const SHARED: [&str; 2] = ["master-key", "operator-token"];

/// Starts agents on this database and measures.
pub async fn measure(
    bench: &mut AriesBench<'_>,
    program: &Program,
    database: &str,
) -> Result<(), Error> {
    BenchDatabase::during(database, async |database| {
        measured(bench, program, database).await
    })
    .await
}

async fn measured(
    bench: &mut AriesBench<'_>,
    program: &Program,
    database: &BenchDatabase,
) -> Result<(), Error> {
    let stage = stage(bench, program, database).await?;
    let paused = Paused::round(bench, &stage, USERS).await;
    let label = format!("{USERS}_replicas");
    let errors = paused.round.errors(format!("errors_{label}"));
    bench.push(errors.study(0.0));
    let calls = Figure::new(format!("calls_s_{label}"), paused.calls_s(), "1/s");
    bench.push(match bench.plan.quick {
        true => calls,
        false => calls.study(study::REPLICAS_CALLS_S),
    });
    let cpu = Figure::new(format!("cpu_percent_{label}"), paused.cpu_percent(), "%");
    bench.push(cpu);
    let whose = format!("{USERS} users, two of each agent behind nginx");
    closed::tell(bench, &whose, &paused);
    Ok(())
}

/// Two processes with all three agents, on one database, behind nginx, with a registry in a process of its own.
async fn stage(
    bench: &AriesBench<'_>,
    program: &Program,
    database: &BenchDatabase,
) -> Result<AriesStage, Error> {
    let data = bench.scratch.join("replicas");
    let registry = bench.registry(program, &data).await?;
    let outside = AgentPorts::of_three()?;
    let origin = free_port()?;
    let mut arguments = registry.arguments;
    let own = format!("http://localhost:{origin}/");
    arguments.extend(["--role", "issuer,wallet,verifier", "--origin", &own].map(str::to_owned));
    let address = database.address(&database.schema("aries"));
    let mut servers = vec![registry.server];
    let mut routes = vec![route(origin)];
    routes.extend(
        outside
            .into_iter()
            .flat_map(|one| [route(one.admin), route(one.inbound)]),
    );
    for (number, name) in NAMES.into_iter().enumerate() {
        let folder = data.join(format!("process-{number}"));
        if number > 0 {
            std::fs::create_dir_all(&folder)?;
            for file in SHARED {
                std::fs::copy(data.join("process-0").join(file), folder.join(file))?;
            }
        }
        let mut settings = format!("[database]\nurl = {address:?}\nconnections = 9\n");
        let mut inside = Vec::new();
        let ports = AgentPorts::of_three()?;
        for ((role, outside), ports) in ROLES.into_iter().zip(outside).zip(ports) {
            settings.push_str(&ports.settings(role, outside.inbound, ""));
            inside.extend([ports.admin, ports.inbound]);
        }
        let server = program.start_with(&folder, &settings, &arguments).await?;
        inside.insert(0, port_of(&server.base)?);
        for (route, port) in routes.iter_mut().zip(inside) {
            route.processes.push(port);
        }
        servers.push(StagedServer { name, server });
    }
    let between = Between {
        balancer: Some(Balancer::start(&data.join("nginx"), &routes).await?),
        ..Between::default()
    };
    Ok(AriesStage {
        servers,
        between,
        data: None,
        cast: bench.cast_at(outside, Kind::Vaccination).await?,
    })
}

/// A port without processes yet.
fn route(listens: u16) -> BalancedPort {
    BalancedPort {
        listens,
        processes: Vec::new(),
    }
}

/// The port of a base URL.
fn port_of(base: &str) -> Result<u16, Error> {
    let port = base.rsplit(':').next().and_then(|port| port.parse().ok());
    port.ok_or_else(|| Error::Server(format!("{base} has no port")))
}
