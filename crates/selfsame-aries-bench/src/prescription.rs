//! Prescriptions by 60 users, as the study's Figure 9: with a proof of non-revocation and without, and with revocations.

use selfsame_bench::Error;
use selfsame_bench::process::Program;
use selfsame_bench::report::Figure;
use selfsame_bench::statistics::Sample;
use serde_json::json;
use tokio::task::JoinSet;

use crate::AriesBench;
use crate::agents::Kind;
use crate::round::Round;
use crate::stage::Staging;
use crate::think::Thinking;

const USERS: usize = 60;
/// The places of a revocation registry.
const PLACES: u32 = 1_000;

/// Measures the three kinds of runs.
pub async fn measure(bench: &mut AriesBench<'_>, program: &Program) -> Result<(), Error> {
    for (name, kind, revokes) in [
        ("without_revocation", Kind::Vaccination, false),
        ("non_revoked", Kind::Prescription(PLACES), false),
        ("revoked", Kind::Prescription(PLACES), true),
    ] {
        let data = format!("prescription-{name}");
        let stage = bench.stage(program, Staging::new(&data, kind)).await?;
        let count = USERS.div_ceil(bench.plan.thinned);
        bench
            .progress
            .begin(&format!("60 users, {name}"), count as u64);
        let mut tasks = JoinSet::new();
        for user in 0..count {
            let (cast, haste) = (stage.cast.clone(), bench.plan.haste);
            tasks.spawn(async move {
                let mut walked = cast.walk(Some(Thinking::new(haste, user))).await;
                if revokes && walked.failed.is_none() {
                    let body = json!({"cred_ex_id": walked.cred_ex_id, "publish": true});
                    walked.failed = cast
                        .issuer
                        .post("/revocation/revoke", "", &body)
                        .await
                        .err();
                }
                vec![walked]
            });
        }
        let round = Round::of(tasks, || bench.progress.advance(1)).await;
        let sum: f64 = round.steps.iter().map(Sample::mean).sum();
        bench.push(Figure::new(format!("scenario_ms_60_{name}"), sum, "ms"));
        bench.push(round.errors(format!("errors_60_{name}")));
    }
    Ok(())
}
