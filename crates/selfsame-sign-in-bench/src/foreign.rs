//! A provider of others with eSignet's interface: what can be measured of it from outside.

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::report::Figure;

use crate::SignInBench;
use crate::loads::{LoadedProvider, first, paced, unpaused};
use crate::over_time::p90_over_time;
use crate::people::BenchPeople;
use crate::round::SignInRound;
use crate::seven::{BELOW, EsignetProvider};
use crate::study;

/// A foreign provider. People are added to its mock identity system.
#[derive(Clone, Debug)]
pub struct ForeignProvider {
    /// Its URL, such as `http://localhost:8088/v1/esignet`.
    pub provider: String,
    /// That of the mock identity system behind it; without it, the people are there.
    pub identities: Option<String>,
    /// The token with which clients are registered; empty if none is needed.
    pub token: String,
}

/// A URL in its origin and its path.
struct SplitUrl<'a> {
    origin: &'a str,
    path: &'a str,
}

/// The path of a URL that has none is this.
fn split<'a>(url: &'a str, otherwise: &'a str) -> SplitUrl<'a> {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(begin..).and_then(|rest| rest.find('/'));
    match end.map(|end| url.split_at(begin + end)) {
        Some((origin, path)) if path.len() > 1 => SplitUrl { origin, path },
        _ => SplitUrl {
            origin: url.trim_end_matches('/'),
            path: otherwise,
        },
    }
}

/// Measures a foreign provider.
pub async fn measure(bench: &mut SignInBench<'_>, foreign: &ForeignProvider) -> Result<(), Error> {
    let people = BenchPeople::new(bench.plan.people);
    if let Some(identities) = &foreign.identities {
        let SplitUrl { origin, path } = split(identities, crate::stage::IDENTITIES);
        let client = BenchClient::new(origin);
        people.register(&client, path, bench.progress).await?;
    }
    let SplitUrl { origin, path } = split(&foreign.provider, BELOW);
    let client = BenchClient::new(origin);
    let provider = EsignetProvider::find(client, path, &foreign.token).await?;
    let at = LoadedProvider {
        party: provider.party().await?,
        provider,
        people,
    };
    first(&at).await?;
    at_pace(bench, &at).await;
    let seconds = bench.plan.unpaused;
    bench.progress.begin("sign-ins without pauses", 1);
    let round: SignInRound<7> = unpaused(&at, seconds).await;
    bench.progress.advance(1);
    bench.tell_calls("Without pauses", &round);
    let rate = Figure::new("signins_s_rsa", round.sign_ins_s(), "1/s");
    bench.push(rate.study(study::SIGN_INS_S));
    bench.push(round.errors("errors_saturated"));
    Ok(())
}

/// The study's users at their pace.
async fn at_pace(bench: &mut SignInBench<'_>, at: &LoadedProvider<EsignetProvider>) {
    let seconds = bench.plan.paced.as_secs();
    bench
        .progress
        .begin("sign-ins at the study's pace", seconds);
    let round = paced(at, bench.plan.paced_time(), bench.progress).await;
    bench.tell_calls("At the study's pace", &round);
    let title = format!("{}p90 of each call, ms", bench.prefix);
    bench.draw(title, p90_over_time(&round));
    bench.push(round.errors("errors"));
    let p90 = Figure::new("p90_ms", round.p90(|_| true), "ms");
    bench.push(p90.study(study::DELEGATED_P90));
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use selfsame_bench::Silent;

    use super::*;
    use crate::fake_provider::FakeProvider;
    use crate::{SignInPlan, SignInRun};

    #[tokio::test]
    async fn a_foreign_provider_has_the_figures_that_can_be_measured_from_outside() {
        let fake = FakeProvider::start("").await;
        let foreign = ForeignProvider {
            provider: fake.origin().to_owned(),
            identities: Some(fake.origin().to_owned()),
            token: String::new(),
        };
        let plan = SignInPlan {
            people: 1,
            paced: Duration::from_millis(300),
            ramp: Duration::from_millis(100),
            requests_s: 10_000,
            unpaused: Duration::from_millis(200),
            ..SignInPlan::QUICK
        };
        let run = SignInRun {
            program: None,
            database: None,
            foreign: Some(&foreign),
            plan,
            scratch: Path::new("/nowhere"),
        };
        let found = crate::run(run, &Silent).await.unwrap();
        let figures = &found.report.figures;
        let names: Vec<&str> = figures.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            names,
            ["errors", "p90_ms", "signins_s_rsa", "errors_saturated"]
        );
        assert!(found.report.table().len() > 20);
        assert_eq!((figures[0].value, figures[3].value), (0.0, 0.0));
        assert!(figures[2].value > 1.0 && !found.charts.is_empty());
        assert_eq!(fake.bodies("/identity").len(), 1);
    }

    #[test]
    fn a_url_without_a_path_gets_the_usual_one() {
        for (url, origin, path) in [
            ("http://a:1", "http://a:1", "/usual"),
            ("http://a:1/", "http://a:1", "/usual"),
            ("http://a:1/v1/esignet", "http://a:1", "/v1/esignet"),
        ] {
            let found = split(url, "/usual");
            assert_eq!((found.origin, found.path), (origin, path), "{url}");
        }
    }
}
