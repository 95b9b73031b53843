//! This program's provider: the study's load with and without delay, sign-ins without pauses, many at once.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Bar, Figure};
use serde_json::json;

use crate::SignInBench;
use crate::bench_token::BenchToken;
use crate::loads::{LoadedProvider, SignInProvider, at_once, at_rate, first, paced, unpaused};
use crate::over_time::p90_over_time;
use crate::party::{BenchParty, REDIRECT_URI, SignedWith};
use crate::people::BenchPeople;
use crate::round::{SignInRound, errors};
use crate::seven::{ACR, BELOW, EsignetProvider};
use crate::stage::{IDENTITIES, IdentityStaging, SignInStaging, StagedSignIns, identity_system};
use crate::standard::StandardProvider;
use crate::study::{self, DELEGATED};

/// How much later the study's identity system answers.
const DELAY: Duration = Duration::from_secs(1);
/// The rate of an open load, as a part of the rate without pauses.
const OPEN_PART: f64 = 0.8;

/// What all parts of the measurement give.
#[derive(Default)]
struct AllErrors {
    paced: usize,
    saturated: usize,
    why: Option<String>,
}

impl AllErrors {
    fn paced(&mut self, round: &SignInRound<7>) {
        self.paced += round.failed();
        self.keep(round.why.as_ref());
    }

    fn saturated<const N: usize>(&mut self, round: &SignInRound<N>) {
        self.saturated += round.failed();
        self.keep(round.why.as_ref());
    }

    fn keep(&mut self, why: Option<&String>) {
        self.why = self.why.take().or_else(|| why.cloned());
    }
}

/// Starts the processes and measures.
pub async fn measure(bench: &mut SignInBench<'_>, program: &Program) -> Result<(), Error> {
    let people = BenchPeople::new(bench.plan.people);
    let identities = identity_system(program, bench.scratch, IdentityStaging::UNDELAYED).await?;
    let client = BenchClient::new(&identities.base);
    people.register(&client, IDENTITIES, bench.progress).await?;
    drop(identities);
    let mut all = AllErrors::default();
    rsa(bench, program, &people, &mut all).await?;
    delayed(bench, program, &people, &mut all).await?;
    ec(bench, program, &people, &mut all).await?;
    if let Some(token) = BenchToken::make(bench.scratch, program)? {
        in_token(bench, &token, &people, &mut all).await?;
    }
    let why = all.why.as_deref();
    bench.push(errors("errors", all.paced, why));
    bench.push(errors("errors_saturated", all.saturated, why));
    Ok(())
}

/// Tokens signed by RSA, an identity system that answers at once.
async fn rsa(
    bench: &mut SignInBench<'_>,
    program: &Program,
    people: &BenchPeople,
    all: &mut AllErrors,
) -> Result<(), Error> {
    let stage = bench
        .stage(program, "rsa", IdentityStaging::UNDELAYED)
        .await?;
    let at = esignet(&stage, people, SignedWith::Rsa).await?;
    let round = bench.paced(&stage, &at, "At the study's pace").await;
    all.paced(&round);
    let p90 = Figure::new("p90_ms", round.p90(|_| true), "ms");
    bench.push(p90.bar(Bar::AtMost(10.0)).note("the slowest call's"));
    bench.push(Figure::new("rss_mb", stage.used_of_provider().rss_mb, "MB"));
    let round = bench.unpaused(&stage, &at, "rsa").await;
    bench.tell_calls("Without pauses, RSA", &round);
    all.saturated(&round);
    let rate = round.sign_ins_s();
    let figure = Figure::new("signins_s_rsa", rate, "1/s");
    bench.push(figure.study(study::SIGN_INS_S).bar(Bar::AtLeast(600.0)));
    let part = bench.plan.unpaused;
    let round = at_rate(&at, rate * OPEN_PART, part).await;
    all.saturated(&round);
    bench.tell_calls(
        "At a fixed rate, four fifths of that without pauses, RSA",
        &round,
    );
    Ok(())
}

/// An identity system that answers a second later: at the study's pace, and many at once.
async fn delayed(
    bench: &mut SignInBench<'_>,
    program: &Program,
    people: &BenchPeople,
    all: &mut AllErrors,
) -> Result<(), Error> {
    let delayed = IdentityStaging {
        delay: DELAY,
        ..IdentityStaging::UNDELAYED
    };
    let stage = bench.stage(program, "delayed", delayed).await?;
    let at = esignet(&stage, people, SignedWith::Rsa).await?;
    let whose = "At the study's pace, a second of delay";
    let round = bench.paced(&stage, &at, whose).await;
    all.paced(&round);
    let is_delegated = |call| DELEGATED.get(call).copied().unwrap_or(false);
    let p90 = Figure::new("p90_ms_delayed", round.p90(is_delegated), "ms");
    let p90 = p90.study(study::DELEGATED_P90).bar(Bar::AtMost(1_010.0));
    bench.push(p90.note("the slowest of the three delayed calls"));
    let count = bench.plan.at_once;
    let part = format!("{count} sign-ins at once");
    bench.progress.begin(&part, 1);
    let (before, watch) = (stage.used(), stage.watch());
    let round = at_once(&at, count, bench.plan.ramp / 6).await;
    bench.progress.advance(1);
    bench.tell_calls(&part, &round);
    bench.tell_processes(&part, &stage.used_since(&before), round.seconds);
    bench.draw(format!("{part}: memory, MB"), watch.memory());
    let most = Figure::new("rss_mb_5000", stage.used_of_provider().peak_mb, "MB");
    let most = most.bar(Bar::AtMost(250.0));
    bench.push(match bench.plan.quick {
        true => most.note(format!("{count} sign-ins only")),
        false => most,
    });
    bench.push(round.errors("errors_5000"));
    Ok(())
}

/// Tokens and the identity system's claims signed by ES256: by eSignet's interface, and standard sign-ins.
async fn ec(
    bench: &mut SignInBench<'_>,
    program: &Program,
    people: &BenchPeople,
    all: &mut AllErrors,
) -> Result<(), Error> {
    let identity = IdentityStaging {
        signed_with: SignedWith::Ec,
        ..IdentityStaging::UNDELAYED
    };
    let stage = bench.stage(program, "ec", identity).await?;
    let at = esignet(&stage, people, SignedWith::Ec).await?;
    let round = bench.unpaused(&stage, &at, "ec").await;
    bench.tell_calls("Without pauses, ES256", &round);
    all.saturated(&round);
    let rate = Figure::new("signins_s_ec", round.sign_ins_s(), "1/s");
    bench.push(rate.bar(Bar::AtLeast(900.0)));
    let at = LoadedProvider {
        party: party(&stage, &[]).await?,
        provider: StandardProvider::find(stage.client()).await?,
        people: people.clone(),
    };
    first(&at).await?;
    let round = bench.unpaused(&stage, &at, "standard").await;
    bench.tell_standard("Standard sign-ins without pauses, ES256", &round);
    all.saturated(&round);
    let rate = Figure::new("standard_s", round.sign_ins_s(), "1/s");
    bench.push(rate.bar(Bar::AtLeast(1_500.0)));
    Ok(())
}

/// Tokens signed by RSA in SoftHSM, which the study's deployment left to meet its limits.
async fn in_token(
    bench: &mut SignInBench<'_>,
    token: &BenchToken,
    people: &BenchPeople,
    all: &mut AllErrors,
) -> Result<(), Error> {
    let staging = SignInStaging {
        name: "pkcs11",
        identity: IdentityStaging::UNDELAYED,
        token: Some(&token.uri),
    };
    let stage = StagedSignIns::start(&token.program, bench.scratch, staging).await?;
    let at = esignet(&stage, people, SignedWith::Rsa).await?;
    let round = bench.unpaused(&stage, &at, "pkcs11").await;
    bench.tell_calls("Without pauses, RSA in SoftHSM", &round);
    all.saturated(&round);
    bench.push(Figure::new("signins_s_pkcs11", round.sign_ins_s(), "1/s"));
    Ok(())
}

/// The provider by eSignet's interface, with a client, after a first sign-in.
async fn esignet(
    stage: &StagedSignIns,
    people: &BenchPeople,
    signed_with: SignedWith,
) -> Result<LoadedProvider<EsignetProvider>, Error> {
    let provider = EsignetProvider::find(stage.client(), BELOW, stage.operator()).await?;
    let party = match signed_with {
        SignedWith::Rsa => provider.party().await?,
        SignedWith::Ec => party(stage, &[ACR]).await?,
    };
    let at = LoadedProvider {
        provider,
        party,
        people: people.clone(),
    };
    first(&at).await?;
    Ok(at)
}

/// Registers a client as an operator, who alone can choose ES256 for its tokens. It demands these classes.
async fn party(stage: &StagedSignIns, classes: &[&str]) -> Result<BenchParty, Error> {
    let party = BenchParty::new(SignedWith::Ec)?;
    let body = json!({
        "client_id": &*party.client_id,
        "client_name": "Bench",
        "redirect_uris": [REDIRECT_URI],
        "token_endpoint_auth_method": "private_key_jwt",
        "id_token_signed_response_alg": party.signed_with.algorithm(),
        "jwks": {"keys": [party.jwk()]},
        "relying_party_id": "mock-relying-party-id",
        "default_acr_values": classes,
    });
    let path = "/api/sign-in/clients";
    stage.client().post(path, stage.operator(), &body).await?;
    Ok(party)
}

impl SignInBench<'_> {
    async fn stage(
        &self,
        program: &Program,
        name: &str,
        identity: IdentityStaging,
    ) -> Result<StagedSignIns, Error> {
        let staging = SignInStaging {
            name,
            identity,
            token: None,
        };
        StagedSignIns::start(program, self.scratch, staging).await
    }

    /// The study's users at their pace, with what the processes use and write.
    async fn paced(
        &mut self,
        stage: &StagedSignIns,
        at: &LoadedProvider<EsignetProvider>,
        whose: &str,
    ) -> SignInRound<7> {
        self.progress.begin(whose, self.plan.paced.as_secs());
        let (before, watch) = (stage.used(), stage.watch());
        let round = paced(at, self.plan.paced_time(), self.progress).await;
        self.tell_calls(whose, &round);
        self.tell_processes(whose, &stage.used_since(&before), round.seconds);
        let drawn = |what: &str| format!("{whose}: {what}");
        self.draw(drawn("p90 of each call, ms"), p90_over_time(&round));
        self.draw(drawn("processor, % of one core"), watch.cpu());
        self.draw(drawn("memory, MB"), watch.memory());
        round
    }

    /// Users without pauses, with what the processes use and write for a sign-in.
    async fn unpaused<P: SignInProvider, const CALLS: usize>(
        &mut self,
        stage: &StagedSignIns,
        at: &LoadedProvider<P>,
        name: &str,
    ) -> SignInRound<CALLS> {
        let whose = format!("without pauses, {name}");
        self.progress.begin(&whose, 1);
        let (before, written) = (stage.used(), stage.written());
        let round = unpaused(at, self.plan.unpaused).await;
        self.progress.advance(1);
        let used = stage.used_since(&before);
        self.tell_processes(&whose, &used, round.seconds);
        let each = |amount: f64| amount / round.finished.max(1) as f64;
        for (process, of) in used.iter().zip(["cpu_ms", "identity_cpu_ms"]) {
            let ms = each(process.usage.cpu_s * 1e3);
            self.push(Figure::new(format!("{of}_{name}"), ms, "ms"));
        }
        if name == "rsa" {
            let now = stage.written();
            let grown = |before: u64, now: u64| each(now.saturating_sub(before) as f64);
            let records = grown(written.records, now.records);
            self.push(Figure::new("stored_bytes", records, "B"));
            self.push(Figure::new("log_bytes", grown(written.log, now.log), "B"));
        }
        round
    }
}
