//! The same agents on one core and on two: what more processors give (the study's Table II, "vertically").

use selfsame_bench::Error;
use selfsame_bench::process::Program;
use selfsame_bench::report::Figure;

use crate::AriesBench;
use crate::agents::Kind;
use crate::open::Unpaused;
use crate::stage::Staging;
use crate::table::TableSubject;

/// Numbers of cores, with the ends of the figures' names.
const CORES: [Cores; 2] = [
    Cores {
        count: 1,
        name: "1_core",
    },
    Cores {
        count: 2,
        name: "2_cores",
    },
];

struct Cores {
    count: usize,
    name: &'static str,
}

/// Starts agents for each number of cores and measures. The load takes its part of the same cores.
pub async fn measure(bench: &mut AriesBench<'_>, program: &Program) -> Result<(), Error> {
    let mut rates = Vec::new();
    for Cores { count, name } in CORES {
        let program = Program {
            cores: Some(count),
            ..program.clone()
        };
        let staging = Staging::new(name, Kind::Vaccination);
        let stage = bench.stage(&program, staging).await?;
        bench
            .progress
            .begin(&format!("agents on {count} of the cores"), 1);
        if let Some(error) = stage.cast.walk(None).await.failed {
            return Err(error);
        }
        let unpaused = Unpaused::measured(bench, &stage).await;
        bench.progress.advance(1);
        let rate = unpaused.scenarios_s();
        rates.push(rate);
        bench.push(Figure::new(format!("scenarios_s_{name}"), rate, "1/s"));
        let cpu = format!("cpu_percent_{name}");
        bench.push(Figure::new(cpu, unpaused.cpu_percent, "%"));
        bench.push(unpaused.round.errors(format!("errors_{name}")));
        let told = TableSubject {
            whose: &format!("Without pauses, agents on {}", name.replace('_', " ")),
            users: None,
            seconds: unpaused.seconds,
        };
        bench.tell_calls(&told, &unpaused.round);
    }
    if let [one, two] = rates[..] {
        let ratio = Figure::new("cores_ratio", two / one, "");
        bench.push(ratio.note("scenarios a second on two cores by those on one"));
    }
    Ok(())
}
