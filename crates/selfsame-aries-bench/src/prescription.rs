//! Prescriptions by 60 users, as the study's Figure 9: with a proof of non-revocation and without, and with revocations.

use selfsame_bench::Error;
use selfsame_bench::report::{Bar, Figure};
use serde_json::json;
use tokio::task::JoinSet;

use crate::AriesBench;
use crate::agents::Kind;
use crate::closed::Round;
use crate::think::Thinking;

const USERS: usize = 60;
/// The places of a revocation registry.
const PLACES: u32 = 1_000;

/// Measures the three kinds of runs.
pub async fn measure(bench: &mut AriesBench<'_>) -> Result<(), Error> {
    for (name, kind, revokes) in [
        ("without_revocation", Kind::Vaccination, false),
        ("non_revoked", Kind::Prescription(PLACES), false),
        ("revoked", Kind::Prescription(PLACES), true),
    ] {
        let stage = bench.stage(&format!("prescription-{name}"), kind).await?;
        bench
            .progress
            .begin(&format!("60 users, {name}"), USERS as u64);
        let mut tasks = JoinSet::new();
        for user in 0..USERS {
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
                walked
            });
        }
        let mut round = Round::default();
        while let Some(walked) = tasks.join_next().await {
            if let Ok(walked) = walked {
                round.add(walked);
            }
            bench.progress.advance(1);
        }
        let means = round.steps.iter().map(Sample::mean);
        let sum: f64 = means.sum();
        bench
            .figures
            .push(Figure::new(format!("scenario_ms_60_{name}"), sum, "ms"));
        let errors = Figure::new(format!("errors_60_{name}"), round.failed as f64, "");
        let errors = errors.bar(Bar::AtMost(0.0));
        bench.figures.push(match round.why {
            Some(why) => errors.note(why),
            None => errors,
        });
    }
    Ok(())
}
