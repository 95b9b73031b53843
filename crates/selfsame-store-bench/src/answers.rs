//! How long a wallet with very many cards takes to answer a request, beside one with ten.

use std::time::Instant;

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::flow::{self, Operator, PASSWORD, SAMPLE, STUDY_FORMAT};
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use selfsame_crypto::{encoding, hash};
use serde_json::{Value, json};

use crate::StoreBench;

/// Cards of the small wallet.
const FEW: usize = 10;
/// Cards that are taken in by one request.
const PORTION: usize = 40;
/// Answers of each wallet in one round, and rounds for each round of the other measurements.
const ANSWERS: usize = 20;
const ROUNDS: usize = 5;
/// A wallet that answers.
struct AnsweringWallet<'a> {
    client: &'a BenchClient,
    operator: Operator<'a>,
    person: String,
}

/// Measures answers of a wallet with ten cards and of one with very many of the same type, in turns, on one server. The
/// newest card of each is genuine, and the answer is verified; the others fill the wallet.
pub async fn measure(bench: &mut StoreBench<'_>) -> Result<(), Error> {
    let data = bench.target.scratch.join("answers");
    let server = bench.target.program.start_with(&data, "", &[]).await?;
    let client = BenchClient::new(&server.base);
    let operator = Operator::main(&server.operator);
    let mut wallets = Vec::new();
    for (number, cards) in [(1, FEW), (2, bench.plan.cards)] {
        let wallet = AnsweringWallet {
            client: &client,
            operator,
            person: flow::register(&client, number).await?,
        };
        wallet.fill(bench, cards).await?;
        flow::issue(&client, operator, &wallet.person, STUDY_FORMAT).await?;
        wallets.push(wallet);
    }
    let mut ratios = Sample::default();
    let rounds = bench.plan.rounds.saturating_mul(ROUNDS);
    bench.progress.begin("answers of wallets", rounds as u64);
    for round in 0..rounds {
        let mut medians = Vec::new();
        for wallet in &wallets {
            let mut times = Sample::default();
            for _ in 0..ANSWERS {
                times.push(wallet.answer().await?);
            }
            medians.push(times.median());
        }
        // The first round warms the caches.
        if let ([few, many], true) = (medians.as_slice(), round > 0) {
            ratios.push(many / few);
        }
        bench.progress.advance(1);
    }
    let note = format!("a wallet with {} cards", bench.plan.cards);
    let figure = Figure::of("answer_ratio_1000000", &ratios, "").bar(Bar::AtMost(1.2));
    bench.figures.push(figure.note(note));
    Ok(())
}

impl AnsweringWallet<'_> {
    /// Fills the wallet up to this number of cards: a genuine one, and altered ones without a valid signature.
    async fn fill(&self, bench: &StoreBench<'_>, cards: usize) -> Result<(), Error> {
        flow::issue(self.client, self.operator, &self.person, STUDY_FORMAT).await?;
        let genuine = self.exported().await?;
        bench.progress.begin("filling a wallet", cards as u64);
        let numbers: Vec<usize> = (1..cards).collect();
        for some in numbers.chunks(PORTION) {
            let rows = some.iter().map(|number| altered(&genuine, *number));
            let rows: Option<Vec<Value>> = rows.collect();
            let body = json!({ "credentials": rows });
            let path = "/api/wallet/credentials/import";
            let taken = self.client.post(path, &self.person, &body).await?;
            let is_stored = |row: &Value| row["state"] == "stored";
            let items = taken["items"].as_array();
            if !items.is_some_and(|items| items.iter().all(is_stored)) {
                return Err(unexpected(path, &taken));
            }
            bench.progress.advance(some.len() as u64);
        }
        Ok(())
    }

    /// The one card as a line of an export, without its key.
    async fn exported(&self) -> Result<Value, Error> {
        let path = "/api/wallet/exports";
        let new = json!({ "password": PASSWORD });
        let begun = self.client.post(path, &self.person, &new).await?;
        let id = begun["id"].as_str().unwrap_or_default();
        let path = format!("{path}/{id}");
        let mut listed = self.client.get(&path, &self.person).await?;
        let mut card = listed["items"][0].take();
        match card.as_object_mut() {
            Some(members) => {
                members.remove("holder");
                Ok(card)
            }
            None => Err(unexpected(&path, &listed)),
        }
    }

    /// Answers a request; returns the milliseconds that the wallet took.
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    async fn answer(&self) -> Result<f64, Error> {
        let request = json!({"type": SAMPLE, "format": STUDY_FORMAT});
        let token = self.operator.token;
        let asked = self
            .client
            .post("/api/verifier/requests", token, &request)
            .await?;
        let answer = json!({"request": asked["uri"], "policy": "newest"});
        let began = Instant::now();
        let path = "/api/wallet/requests/answer";
        self.client.post(path, &self.person, &answer).await?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }
}

/// The line of another credential like this one, without a valid signature.
fn altered(genuine: &Value, number: usize) -> Option<Value> {
    let mut parts = genuine["credential"].as_str()?.split('.');
    let [header, payload, rest] = [parts.next()?, parts.next()?, parts.next()?];
    let payload = encoding::base64url_decode(payload).ok()?;
    let mut payload: Value = serde_json::from_slice(&payload).ok()?;
    payload["jti"] = json!(format!("urn:selfsame:filler:{number}"));
    let payload = encoding::base64url_encode(payload.to_string().as_bytes());
    let credential = format!("{header}.{payload}.{rest}");
    let mut altered = genuine.clone();
    altered["key"] = encoding::base64url_encode(&hash::sha256(credential.as_bytes())).into();
    altered["credential"] = credential.into();
    Some(altered)
}

fn unexpected(what: &str, got: &Value) -> Error {
    Error::Call {
        what: what.to_owned(),
        why: format!("unexpected answer {got}"),
    }
}
