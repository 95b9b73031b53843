//! Measures an index: how fast entries are indexed, and how long searches take.
//!
//! `cargo run --release -p selfsame-book-index --example search -- 2000000` uses a file in a temporary directory; a
//! second argument is the address of a PostgreSQL database.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program that measures and prints"
)]

use std::time::{Duration, Instant};

use selfsame_book::facts::{AddressFact, AttributeFact, BookFacts, NameFact, TopicKey};
use selfsame_book::query::{FacetKind, SearchQuery};
use selfsame_book_index::backend::AfterNumber;
use selfsame_book_index::search::{autocomplete, search};
use selfsame_book_index::{
    BookIndex, BookName, IndexChange, IndexedEntry, PostgresIndex, SqliteIndex,
};
use selfsame_postgres::Address;

/// Entries that are indexed at once.
const AT_ONCE: u64 = 1_000;
/// Searches of each kind.
const SEARCHES: u64 = 1_000;
/// Credentials of the topic that has many.
const MANY: u64 = 10_000;

const ENDINGS: [&str; 6] = [
    "Ltd.",
    "Inc.",
    "Holdings Ltd.",
    "Corporation",
    "Services Ltd.",
    "& Co",
];
const CITIES: [&str; 8] = [
    "Vancouver",
    "Victoria",
    "Surrey",
    "Burnaby",
    "Richmond",
    "Kelowna",
    "Nanaimo",
    "Kamloops",
];

/// Numbers that look random and are the same in each run (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A word of one to four syllables; the first words are much more frequent than the later ones.
    fn word(&mut self) -> String {
        let rank = self
            .below(200_000)
            .min(self.below(200_000))
            .min(self.below(200_000));
        word(rank)
    }
}

/// The word of a rank.
fn word(rank: u64) -> String {
    const FIRST: [&str; 12] = ["b", "k", "d", "f", "gr", "l", "m", "n", "st", "r", "t", "v"];
    const THEN: [&str; 10] = ["a", "e", "i", "o", "u", "ai", "on", "er", "an", "el"];
    let mut draw = Draw(rank);
    let mut word = String::new();
    for _ in 0..2 + draw.below(3) {
        word.push_str(FIRST[draw.below(12) as usize]);
        word.push_str(THEN[draw.below(10) as usize]);
    }
    word
}

fn name(number: u64) -> String {
    let mut draw = Draw(number.wrapping_mul(7_919));
    let words = 1 + draw.below(3);
    let words: Vec<String> = (0..words).map(|_| draw.word()).collect();
    let ending = ENDINGS[draw.below(6) as usize];
    format!("{} {ending}", words.join(" "))
}

fn entry(number: u64) -> IndexedEntry {
    let mut draw = Draw(number);
    let mut facts = BookFacts::about(key(number));
    facts.names = vec![NameFact {
        kind: "entity_name".to_owned(),
        text: name(number),
    }];
    facts.addresses = vec![AddressFact {
        civic_address: Some(format!("{} {} Street", 1 + draw.below(9_999), draw.word())),
        city: Some(CITIES[draw.below(8) as usize].to_owned()),
        ..AddressFact::default()
    }];
    facts.attributes = vec![AttributeFact {
        kind: "entity_type".to_owned(),
        is_facet: true,
        value: format!("T{}", draw.below(12)),
    }];
    indexed("registration", number, facts)
}

fn key(number: u64) -> TopicKey {
    TopicKey {
        kind: "registration".to_owned(),
        source_id: format!("BC{number:07}"),
    }
}

fn permit(number: u64) -> IndexedEntry {
    let mut facts = BookFacts::about(key(0));
    facts.founds = false;
    facts.cardinality = format!("[\"{number}\"]");
    facts.attributes = vec![AttributeFact {
        kind: "permit".to_owned(),
        is_facet: false,
        value: number.to_string(),
    }];
    indexed("permit", number, facts)
}

fn indexed(kind: &str, number: u64, facts: BookFacts) -> IndexedEntry {
    let at = i64::try_from(number % 1_000_000_000).unwrap();
    IndexedEntry {
        credential_id: format!("{kind} {number}"),
        type_id: kind.to_owned(),
        issuer: "did:web:registry.example".to_owned(),
        facts,
        effective: at,
        entered: at,
    }
}

/// Indexes these entries, and prints how many that were in a second.
async fn load(index: &dyn BookIndex, book: &BookName, count: u64, entry: fn(u64) -> IndexedEntry) {
    let begun = Instant::now();
    let mut next = 0;
    while next < count {
        let end = count.min(next + AT_ONCE);
        let changes = (next..end).map(|number| IndexChange::Enter(Box::new(entry(number))));
        index
            .apply(book, changes.collect(), Some(&end.to_string()))
            .await
            .unwrap();
        next = end;
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    println!("indexed {count}: {rate:.0} a second");
}

/// Prints the median, the 99th percentile and the longest of these times.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at =
        |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1_000.0;
    println!(
        "{what}: p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// A word with two neighbouring letters exchanged.
fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = letters.len() / 2;
    letters.swap(at, at - 1);
    letters.into_iter().collect()
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count: u64 = arguments
        .get(1)
        .map_or(100_000, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let index: Box<dyn BookIndex> = match arguments.get(2) {
        Some(address) => {
            Box::new(PostgresIndex::new(&Address::parse(address).unwrap(), 8).unwrap())
        }
        None => Box::new(SqliteIndex::new(folder.path())),
    };
    let book = BookName::of("measured");
    index.clear(&book).await.unwrap();
    load(&*index, &book, count, entry).await;
    load(&*index, &book, MANY, permit).await;
    let measured = Measured {
        index: &*index,
        book: &book,
        count,
    };
    measured.searches().await;
    measured.completions().await;
    measured.topic().await;
}

/// What people type.
#[derive(Clone, Copy)]
enum Typed {
    Name,
    Word,
    Beginning,
    FrequentWord,
    Misspelt,
}

impl Typed {
    const ALL: [(&'static str, Self); 5] = [
        ("two words of a name", Self::Name),
        ("one word", Self::Word),
        ("the beginning of a word", Self::Beginning),
        ("a frequent word", Self::FrequentWord),
        ("a typing error", Self::Misspelt),
    ];

    fn text(self, draw: &mut Draw, count: u64) -> String {
        match self {
            Self::Name => name(draw.below(count)),
            Self::Word => draw.word() + " ",
            Self::Beginning => draw.word().chars().take(3).collect(),
            Self::FrequentWord => "ltd ".to_owned(),
            Self::Misspelt => misspelt(&draw.word()) + " ",
        }
    }
}

/// A loaded book.
struct Measured<'a> {
    index: &'a dyn BookIndex,
    book: &'a BookName,
    /// The number of topics.
    count: u64,
}

impl Measured<'_> {
    async fn searches(&self) {
        for (seed, (what, typed)) in (1..).zip(Typed::ALL) {
            let (mut draw, mut times) = (Draw(seed), Vec::new());
            for _ in 0..SEARCHES {
                let query = SearchQuery::of(&typed.text(&mut draw, self.count)).unwrap();
                let query = query.filtered(FacetKind::Inactive, "false");
                let begun = Instant::now();
                let found = search(self.index, self.book, &query).await.unwrap();
                let page: Vec<i64> = found.ids.iter().copied().take(10).collect();
                self.index.topics(self.book, &page).await.unwrap();
                times.push(begun.elapsed());
            }
            report(what, times);
        }
    }

    async fn completions(&self) {
        let (mut draw, mut times) = (Draw(42), Vec::new());
        for _ in 0..SEARCHES {
            let name = name(draw.below(self.count));
            let typed: String = name.chars().take(2 + draw.below(6) as usize).collect();
            let query = SearchQuery::of(&typed).unwrap();
            let begun = Instant::now();
            autocomplete(self.index, self.book, &query, 10)
                .await
                .unwrap();
            times.push(begun.elapsed());
        }
        report("autocompletion", times);
    }

    async fn topic(&self) {
        let topic = selfsame_book::number::topic(&key(0));
        let mut times = Vec::new();
        for _ in 0..100 {
            let begun = Instant::now();
            self.index.topics(self.book, &[topic]).await.unwrap();
            let page = AfterNumber {
                after: None,
                limit: 100,
            };
            for set in self.index.sets(self.book, topic, page).await.unwrap() {
                self.index.credentials(self.book, set.id, 20).await.unwrap();
            }
            times.push(begun.elapsed());
        }
        report("a topic with 10,000 credentials", times);
    }
}
