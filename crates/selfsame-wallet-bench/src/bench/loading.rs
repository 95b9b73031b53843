//! The direct load: claims that the keeper of the book vouches for itself, in requests of a thousand.

use std::time::Instant;

use selfsame_bench::{Error, Progress, tasks};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::names::business;
use super::site::{BookSite, KEEPER, TokenApi, lacks};

const PATH: &str = "/api/book/quick-load";
/// Rows of a request.
const AT_ONCE: u64 = 1_000;
/// Requests under way together.
const LOADERS: usize = 4;
/// The parts of a load whose rates are drawn.
const PARTS: u64 = 20;

/// A loaded book.
pub(super) struct LoadedBook {
    /// Credentials a second, each found by searches when its request is answered.
    pub rate: f64,
    /// The rate of each part, over the number of credentials.
    pub over: Vec<(f64, f64)>,
}

/// Loads incorporations of this number of businesses.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) async fn load(
    site: &BookSite,
    count: usize,
    progress: &dyn Progress,
) -> Result<LoadedBook, Error> {
    let count = count as u64;
    progress.begin("loading the book directly", count);
    let step = (count / PARTS).max(AT_ONCE);
    let (began, mut at, mut done) = (Instant::now(), Instant::now(), 0_u64);
    let mut over = Vec::new();
    let mut loading = JoinSet::new();
    let mut first = 0;
    let mut drawn = 0;
    while done < count {
        while loading.len() < LOADERS && first < count {
            let last = count.min(first + AT_ONCE);
            let operator = site.operator.clone();
            loading.spawn(async move {
                let rows = (first..last).map(|number| business(number).incorporation());
                send(&operator, "incorporation", rows.collect()).await
            });
            first = last;
        }
        let loaded = tasks::ended(&mut loading).await?;
        progress.advance(loaded);
        done += loaded;
        if done - drawn >= step {
            let rate = (done - drawn) as f64 / at.elapsed().as_secs_f64().max(f64::EPSILON);
            over.push((done as f64, rate));
            (at, drawn) = (Instant::now(), done);
        }
    }
    let rate = done as f64 / began.elapsed().as_secs_f64().max(f64::EPSILON);
    Ok(LoadedBook { rate, over })
}

/// Loads this number of clearance letters about one business, which the book has. Returns the number of its topic.
pub(super) async fn load_letters(
    site: &BookSite,
    about: u64,
    count: usize,
    progress: &dyn Progress,
) -> Result<i64, Error> {
    progress.begin("loading credentials of one organisation", count as u64);
    let business = business(about);
    let letter = |number: usize| {
        let mut claims = business.incorporation();
        for name in ["org_type", "corp_num"] {
            claims.remove(name);
        }
        claims.insert("end_date".to_owned(), "2099-12-31".into());
        let reference = format!("TEST-CL-{number:07}");
        claims.insert("letter_reference".to_owned(), reference.into());
        claims
    };
    let numbers: Vec<usize> = (0..count).collect();
    for portion in numbers.chunks(usize::try_from(AT_ONCE).unwrap_or(1)) {
        let rows = portion.iter().map(|number| letter(*number)).collect();
        progress.advance(send(&site.operator, "clearance-letter", rows).await?);
    }
    // The same incorporation again tells the number of the topic.
    let load = json!({"type": "incorporation", "rows": [{"claims": business.incorporation()}]});
    let answer = site.operator.post(KEEPER, PATH, &load).await?;
    let topic = answer["items"][0]["topic_id"].as_i64();
    topic.ok_or_else(|| lacks(PATH, &answer))
}

/// Loads rows of a type. Returns how many are new.
async fn send(
    operator: &TokenApi,
    type_id: &str,
    rows: Vec<Map<String, Value>>,
) -> Result<u64, Error> {
    let sent = rows.len();
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|claims| json!({ "claims": claims }))
        .collect();
    let load = json!({"type": type_id, "rows": rows});
    let answer = operator.post(KEEPER, PATH, &load).await?;
    match answer["items"].as_array().map(Vec::len) {
        Some(loaded) if loaded == sent => Ok(loaded as u64),
        _ => Err(lacks(PATH, &answer)),
    }
}

#[cfg(test)]
mod tests {
    use selfsame_types::TypeDefinition;

    use super::*;
    use crate::permits::PERMITS;

    #[test]
    fn a_request_of_loaded_businesses_fits_its_limit_and_their_type() {
        let rows: Vec<Value> = (0..AT_ONCE)
            .map(|number| json!({"claims": business(number).incorporation()}))
            .collect();
        let load = json!({"type": "incorporation", "rows": rows}).to_string();
        assert!(load.len() < 1024 * 1024, "{}", load.len());
        let definition: TypeDefinition = PERMITS[0].booked().unwrap();
        let filled = definition.fill(&business(3).incorporation(), false);
        assert!(filled.is_ok());
    }
}
