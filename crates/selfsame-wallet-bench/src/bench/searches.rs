//! Searches of the loaded book by anybody: words, their beginnings, typing errors, completions, and an organisation that has
//! many credentials.

use std::time::Instant;

use selfsame_bench::Error;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use serde_json::Value;

use super::WalletBench;
use super::loading::load_letters;
use super::names::{Draw, business};
use super::site::{BookSite, KEEPER, TokenApi, lacks};

const SEARCH: &str = "/api/v4/search/topic";
/// How many times the organisation with many credentials is opened.
const OPENED: usize = 20;
/// The place of that organisation among those that are loaded.
const ABOUT: u64 = 0;

/// What people type.
#[derive(Clone, Copy)]
enum TypedText {
    /// A whole name.
    Name,
    /// A word of many names.
    Word,
    /// The beginning of a word.
    Beginning,
    /// A name with a typing error in its first word.
    Misspelt,
}

/// The times of searches, and how many were refused or given up.
#[derive(Default)]
struct SearchTimes {
    sample: Sample,
    failed: u32,
}

/// Measures the searches, then loads the many credentials and opens their organisation.
pub(super) async fn measure(bench: &mut WalletBench<'_>, site: &BookSite) -> Result<(), Error> {
    let exact = [TypedText::Name, TypedText::Word, TypedText::Beginning];
    let (mut all, mut failed) = (Sample::default(), 0);
    for (seed, typed) in (1..).zip(exact) {
        let times = searched(bench, site, typed, seed).await?;
        all.extend(&times.sample);
        failed += times.failed;
    }
    for (name, share) in [("search_p50_ms", 0.5), ("search_p99_ms", 0.99)] {
        bench.push(Figure::new(name, all.quantile(share), "ms"));
    }
    let misspelt = searched(bench, site, TypedText::Misspelt, 4).await?;
    let completed = completed(bench, site).await;
    for (name, times) in [
        ("search_misspelt_p99_ms", misspelt),
        ("autocomplete_p99_ms", completed),
    ] {
        bench.push(Figure::new(name, times.sample.quantile(0.99), "ms"));
        failed += times.failed;
    }
    let figure = Figure::new("searches_failed", f64::from(failed), "");
    bench.push(figure.bar(Bar::AtMost(0.0)));
    let opened = opened(bench, site).await?;
    let many = bench.run.plan.many;
    let figure = Figure::of("open_10000_ms", &opened, "ms");
    bench.push(figure.note(format!("an organisation with {many} credentials")));
    Ok(())
}

impl TypedText {
    fn text(self, draw: &mut Draw, count: u64) -> String {
        let name = business(draw.below(count)).legal_name;
        let word = name.split(' ').next().unwrap_or_default();
        match self {
            Self::Name => name,
            Self::Word => draw.word(),
            Self::Beginning => word.chars().take(3).collect(),
            Self::Misspelt => name.replacen(word, &misspelt(word), 1),
        }
    }

    /// Whether the search must find something.
    const fn is_there(self) -> bool {
        matches!(self, Self::Name | Self::Beginning)
    }
}

/// A word with two neighbouring letters in its middle exchanged.
fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    if middle > 0 {
        letters.swap(middle, middle - 1);
    }
    letters.into_iter().collect()
}

async fn searched(
    bench: &WalletBench<'_>,
    site: &BookSite,
    typed: TypedText,
    seed: u64,
) -> Result<SearchTimes, Error> {
    let (count, number) = (bench.run.plan.records as u64, bench.run.plan.searches);
    bench.progress.begin("searching", number as u64);
    let (mut draw, mut times) = (Draw::of(seed), SearchTimes::default());
    for _ in 0..number {
        let asked = query(SEARCH, &typed.text(&mut draw, count));
        let found = times.search(&site.operator, &asked).await;
        if let Some(found) = found.filter(|found| typed.is_there() && found["total"] == 0) {
            return Err(lacks(&asked, &found));
        }
        bench.progress.advance(1);
    }
    Ok(times)
}

async fn completed(bench: &WalletBench<'_>, site: &BookSite) -> SearchTimes {
    let (count, number) = (bench.run.plan.records as u64, bench.run.plan.searches);
    bench.progress.begin("completing", number as u64);
    let (mut draw, mut times) = (Draw::of(5), SearchTimes::default());
    for _ in 0..number {
        let name = business(draw.below(count)).legal_name;
        let length = 2 + usize::try_from(draw.below(6)).unwrap_or_default();
        let typed: String = name.chars().take(length).collect();
        let asked = query("/api/v4/search/autocomplete", &typed);
        times.search(&site.operator, &asked).await;
        bench.progress.advance(1);
    }
    times
}

/// Opens the organisation: the topic, and the first page of its credentials.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn opened(bench: &WalletBench<'_>, site: &BookSite) -> Result<Sample, Error> {
    let many = bench.run.plan.many;
    let topic = load_letters(site, ABOUT, many, bench.progress).await?;
    let shown = format!("/api/v4/topic/{topic}");
    let sets = format!("{shown}/credential-set");
    let mut sample = Sample::default();
    for _ in 0..OPENED {
        let began = Instant::now();
        site.operator.get(KEEPER, &shown).await?;
        let answer = site.operator.get(KEEPER, &sets).await?;
        sample.add(began.elapsed());
        if answer.as_array().is_none_or(Vec::is_empty) {
            return Err(lacks(&sets, &answer));
        }
    }
    Ok(sample)
}

impl SearchTimes {
    /// Searches, and counts the time also if the search was refused or given up. Returns what was found.
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    async fn search(&mut self, caller: &TokenApi, asked: &str) -> Option<Value> {
        let began = Instant::now();
        let answer = caller.get(KEEPER, asked).await.ok();
        self.sample.add(began.elapsed());
        self.failed += u32::from(answer.is_none());
        answer
    }
}

/// An address with what was typed.
fn query(path: &str, typed: &str) -> String {
    let start = format!("{path}?");
    let length = start.len();
    let mut asked = url::form_urlencoded::Serializer::for_suffix(start, length);
    asked.append_pair("q", typed);
    asked.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_exchanges_two_letters() {
        assert_eq!(misspelt("Grunai"), "Grnuai");
        assert_eq!(misspelt("K"), "K");
        assert_eq!(misspelt(""), "");
    }

    #[test]
    fn what_is_typed_is_written_as_a_query() {
        assert_eq!(
            query("/search", "Kaffee & Söhne"),
            "/search?q=Kaffee+%26+S%C3%B6hne"
        );
    }
}
