//! What each index does.

use proptest::strategy::Strategy as _;
use selfsame_book::query::{FacetKind, Ordering, SearchQuery};
use selfsame_book_index::IndexChange;
use selfsame_book_index::backend::AfterNumber;
use selfsame_book_index::numbers::{AskedNumbers, NumberHolders, NumberedEntry};
use selfsame_book_index::search::facets;

use crate::ground::{Ground, category, enter, permit, registration, related, remove};

/// All checks as tests against one index.
macro_rules! checks {
    ($ground:expr) => {
        crate::suite::checks! { $ground;
            words_find_topics_in_any_order_and_whatever_their_case_and_accents,
            the_last_word_may_be_the_beginning_of_one,
            the_very_name_comes_first,
            typing_errors_are_forgiven_when_nothing_fits_without,
            syntax_of_search_engines_and_databases_is_only_text,
            names_and_addresses_of_several_credentials_find_their_topic_together,
            facets_filter_and_are_counted,
            a_newer_credential_of_a_set_replaces_the_facts_of_the_older,
            an_older_credential_that_comes_later_changes_nothing_in_force,
            a_change_that_is_made_twice_is_made_once,
            changes_that_come_at_once_are_all_made_and_one_that_fails_stops_no_other,
            a_revoked_topic_is_found_as_such,
            an_erased_credential_leaves_nothing_and_the_one_before_it_holds_again,
            an_erased_topic_is_not_found_by_any_of_its_words,
            facts_that_two_credentials_state_stay_until_both_are_gone,
            texts_that_begin_as_typed_are_suggested,
            relationships_are_seen_from_both_sides,
            results_are_ordered_by_date,
            sets_and_topics_are_listed_page_by_page,
            books_do_not_see_each_other,
            a_cleared_book_is_built_again_with_the_same_numbers,
            an_entry_with_the_number_of_another_name_stops_nothing,
            an_index_that_took_changes_in_any_order_answers_as_one_built_at_once,
        }
    };
    ($ground:expr; $($check:ident,)*) => {
        $(#[tokio::test]
        async fn $check() {
            crate::suite::$check(&$ground).await;
        })*
    };
}
pub(crate) use checks;

fn all() -> SearchQuery {
    SearchQuery::of("").unwrap()
}

async fn with_whales(ground: &Ground) {
    let changes = [
        ("1", "Blue Whale Catering Ltd."),
        ("2", "Whale"),
        ("3", "Café Ångström"),
        ("4", "The Whale Watchers of Victoria Incorporated"),
        ("5", "Blauwal Gaststätten GmbH"),
    ];
    let changes = changes.map(|(id, name)| enter(registration(id, name)));
    ground.apply(changes.into()).await;
}

pub async fn words_find_topics_in_any_order_and_whatever_their_case_and_accents(ground: &Ground) {
    with_whales(ground).await;
    assert_eq!(ground.found("catering BLUE").await, ["1"]);
    assert_eq!(ground.found("cafe angstrom").await, ["3"]);
    assert_eq!(ground.found("CAFÉ").await, ["3"]);
    assert_eq!(ground.found("blue gmbh").await, [""; 0]);
    assert_eq!(ground.found("").await.len(), 5);
}

pub async fn the_last_word_may_be_the_beginning_of_one(ground: &Ground) {
    with_whales(ground).await;
    assert_eq!(ground.found("blue cat").await, ["1"]);
    assert_eq!(ground.found("gaststat").await, ["5"]);
    assert_eq!(ground.found("blue cat ").await, [""; 0]);
}

pub async fn the_very_name_comes_first(ground: &Ground) {
    with_whales(ground).await;
    let found = ground.found("whale").await;
    assert_eq!(found.first().map(String::as_str), Some("2"));
    assert_eq!(found.len(), 3);
    assert_eq!(ground.found("4").await, ["4"]);
}

pub async fn typing_errors_are_forgiven_when_nothing_fits_without(ground: &Ground) {
    with_whales(ground).await;
    assert_eq!(ground.found("blue wahle caterign").await, ["1"]);
    assert_eq!(ground.found("gaststattn ").await, ["5"]);
    let found = ground.search(SearchQuery::of("victorai ").unwrap()).await;
    assert!(found.corrected && found.ids.len() == 1);
    let found = ground.search(SearchQuery::of("victoria").unwrap()).await;
    assert!(!found.corrected);
    assert_eq!(ground.found("xyzzyxyzzy").await, [""; 0]);
    let mut fuzzy = SearchQuery::of("whele").unwrap();
    fuzzy.fuzzy = true;
    assert_eq!(ground.found_by(fuzzy).await.len(), 3);
}

pub async fn syntax_of_search_engines_and_databases_is_only_text(ground: &Ground) {
    with_whales(ground).await;
    let odd = "x'); DROP TABLE topics; -- \" * NEAR(";
    ground.apply(vec![enter(registration("o'dd", odd))]).await;
    for text in [
        "whale\" OR \"1",
        "whale*",
        "names:whale",
        "NEAR(blue whale)",
        "-whale",
        "{facets} : whale",
        "^whale",
        "whale & !blue",
        "'; DROP TABLE search; --",
        "%",
        "_",
        "\\",
        "\u{0}",
        "whale <-> blue",
        ":*",
        "(((((",
        "\u{f0001}",
        "\u{10ffff}",
    ] {
        ground.search(SearchQuery::of(text).unwrap()).await;
        ground.suggested(text).await;
        ground.search(category(all(), text)).await;
    }
    assert_eq!(ground.found("drop table").await, ["o'dd"]);
    let topic = ground.topic("o'dd").await.unwrap();
    assert_eq!(topic.names[0].text, odd);
    assert_eq!(ground.found("").await.len(), 6);
}

pub async fn names_and_addresses_of_several_credentials_find_their_topic_together(ground: &Ground) {
    with_whales(ground).await;
    ground
        .apply(vec![
            enter(permit("1", "77", 3_000)),
            enter(permit("2", "78", 3_000)),
        ])
        .await;
    assert_eq!(ground.found("catering 77 main").await, ["1"]);
    let topic = ground.topic("1").await.unwrap();
    assert_eq!(topic.addresses[0].text, "77 Main Street, Victoria");
    assert_eq!(topic.main.type_id, "registration");
}

pub async fn facets_filter_and_are_counted(ground: &Ground) {
    with_whales(ground).await;
    ground
        .apply(vec![
            enter(permit("1", "77", 3_000)),
            enter(permit("2", "78", 3_000)),
        ])
        .await;
    let whales = SearchQuery::of("whale").unwrap();
    assert_eq!(
        ground.found_by(category(whales.clone(), "food")).await,
        ["2", "1"]
    );
    assert_eq!(ground.found_by(category(all(), "food")).await.len(), 2);
    assert_eq!(ground.found_by(category(all(), "liquor")).await, [""; 0]);
    let number = selfsame_book::number::issuer("did:web:health.example").to_string();
    let by_issuer = all().filtered(FacetKind::Issuer, number);
    assert_eq!(ground.found_by(by_issuer).await.len(), 2);
    let active = all().filtered(FacetKind::Inactive, "false");
    assert_eq!(ground.found_by(active).await.len(), 5);
    let found = ground.search(whales).await;
    let counted = facets(&*ground.index, &ground.book, &found).await.unwrap();
    let food = counted
        .iter()
        .find(|one| one.facet == "c:permit_kind::food");
    assert_eq!(food.unwrap().count, 2);
}

pub async fn a_newer_credential_of_a_set_replaces_the_facts_of_the_older(ground: &Ground) {
    let old = registration("1", "Old Name");
    let mut new = registration("1", "New Name");
    new.effective = 5_000;
    ground.apply(vec![enter(old), enter(new)]).await;
    assert_eq!(ground.found("old").await, [""; 0]);
    assert_eq!(ground.found("new name").await, ["1"]);
    let topic = ground.topic("1").await.unwrap();
    let sets = ground
        .index
        .sets(
            &ground.book,
            topic.id,
            AfterNumber {
                after: None,
                limit: 10,
            },
        )
        .await
        .unwrap();
    assert_eq!(sets.len(), 1);
    assert_eq!(
        (sets[0].first_effective, sets[0].last_effective),
        (1_000, 5_000)
    );
    let history = ground
        .index
        .credentials(&ground.book, sets[0].id, 10)
        .await
        .unwrap();
    let latest: Vec<bool> = history.iter().map(|one| one.latest).collect();
    assert_eq!(latest, [true, false]);
    assert_eq!(sets[0].latest, history[0].id);
}

pub async fn an_older_credential_that_comes_later_changes_nothing_in_force(ground: &Ground) {
    let mut new = registration("1", "New Name");
    new.effective = 5_000;
    ground.apply(vec![enter(new)]).await;
    ground
        .apply(vec![enter(registration("1", "Old Name"))])
        .await;
    assert_eq!(ground.found("new").await, ["1"]);
    assert_eq!(ground.found("old").await, [""; 0]);
}

pub async fn a_change_that_is_made_twice_is_made_once(ground: &Ground) {
    let entry = registration("1", "Blue Whale");
    for _ in 0..3 {
        ground
            .apply(vec![enter(entry.clone()), enter(entry.clone())])
            .await;
    }
    ground.apply(vec![remove(&entry), remove(&entry)]).await;
    ground.apply(vec![remove(&entry)]).await;
    assert_eq!(ground.found("").await, [""; 0]);
}

pub async fn changes_that_come_at_once_are_all_made_and_one_that_fails_stops_no_other(
    ground: &Ground,
) {
    let mut applying = tokio::task::JoinSet::new();
    for number in 0..70 {
        let (index, book) = (ground.index.clone(), ground.book.clone());
        // PostgreSQL stores no character zero.
        let gap = if number == 7 { '\0' } else { ' ' };
        let entry = registration(&number.to_string(), &format!("Blue{gap}Whale{number:02}"));
        applying.spawn(async move {
            let applied = index.apply(&book, vec![enter(entry)], None).await;
            (number, applied)
        });
    }
    while let Some(applied) = applying.join_next().await {
        let (number, applied) = applied.unwrap();
        assert!(number == 7 || applied.is_ok(), "{number}: {applied:?}");
    }
    let found = ground.found("whale").await;
    assert!((69..=70).contains(&found.len()), "{}", found.len());
    assert_eq!(ground.found("blue whale1").await.len(), 10);
}

pub async fn a_revoked_topic_is_found_as_such(ground: &Ground) {
    with_whales(ground).await;
    let revoke = |at| IndexChange::Revoke {
        credential_id: registration("2", "Whale").credential_id,
        at,
    };
    ground.apply(vec![revoke(9_000)]).await;
    ground.apply(vec![revoke(9_999)]).await;
    let revoked = |value: &str| {
        SearchQuery::of("whale")
            .unwrap()
            .filtered(FacetKind::Revoked, value)
    };
    assert_eq!(ground.found_by(revoked("true")).await, ["2"]);
    assert_eq!(ground.found_by(revoked("false")).await.len(), 2);
    assert_eq!(ground.topic("2").await.unwrap().main.revoked, Some(9_000));
}

pub async fn an_erased_credential_leaves_nothing_and_the_one_before_it_holds_again(
    ground: &Ground,
) {
    let old = registration("1", "Old Name");
    let mut new = registration("1", "Embarrassing Name");
    new.effective = 5_000;
    ground.apply(vec![enter(old), enter(new.clone())]).await;
    ground.apply(vec![remove(&new)]).await;
    assert_eq!(ground.found("embarrassing").await, [""; 0]);
    assert_eq!(ground.found("old").await, ["1"]);
    assert_eq!(
        ground
            .index
            .credential(&ground.book, &new.credential_id)
            .await
            .unwrap(),
        None
    );
    assert!(
        !ground
            .index
            .knows(&ground.book, "embarrassing", true)
            .await
            .unwrap()
    );
    assert!(
        ground
            .index
            .similar(&ground.book, "embarassing", 10)
            .await
            .unwrap()
            .is_empty()
    );
}

pub async fn an_erased_topic_is_not_found_by_any_of_its_words(ground: &Ground) {
    with_whales(ground).await;
    let entry = registration("secret-7", "Private Person");
    ground.apply(vec![enter(entry.clone())]).await;
    ground.apply(vec![remove(&entry)]).await;
    for text in ["private", "person", "secret-7", "secret", "privat"] {
        assert_eq!(ground.found(text).await, [""; 0], "{text}");
        assert_eq!(ground.suggested(text).await, [""; 0], "{text}");
    }
    assert_eq!(ground.topic("secret-7").await, None);
    assert_eq!(ground.found("").await.len(), 5);
}

pub async fn facts_that_two_credentials_state_stay_until_both_are_gone(ground: &Ground) {
    with_whales(ground).await;
    let same = |number: &str| {
        let mut entry = permit("1", number, 3_000);
        entry.facts.addresses[0].civic_address = Some("5 Harbour Road".to_owned());
        entry
    };
    let (one, other) = (same("1"), same("2"));
    ground
        .apply(vec![enter(one.clone()), enter(other.clone())])
        .await;
    ground.apply(vec![remove(&one)]).await;
    assert_eq!(ground.found("harbour").await, ["1"]);
    let topic = ground.topic("1").await.unwrap();
    let says = topic.addresses[0].credential;
    assert_eq!(
        says,
        selfsame_book::number::credential(&other.credential_id)
    );
    ground.apply(vec![remove(&other)]).await;
    assert_eq!(ground.found("harbour").await, [""; 0]);
}

pub async fn texts_that_begin_as_typed_are_suggested(ground: &Ground) {
    with_whales(ground).await;
    ground.apply(vec![enter(permit("1", "77", 3_000))]).await;
    assert_eq!(ground.suggested("wha").await[0], "Whale");
    assert!(
        ground
            .suggested("blue wh")
            .await
            .contains(&"Blue Whale Catering Ltd.".to_owned())
    );
    assert_eq!(
        ground.suggested("77 ma").await,
        ["77 Main Street, Victoria"]
    );
    assert_eq!(ground.suggested("b").await.len(), 2);
    assert_eq!(ground.suggested("").await, [""; 0]);
}

pub async fn relationships_are_seen_from_both_sides(ground: &Ground) {
    with_whales(ground).await;
    let owned = related(permit("1", "77", 3_000), "owned by", "2");
    let lost = related(permit("1", "78", 3_000), "owned by", "unknown");
    ground.apply(vec![enter(owned.clone()), enter(lost)]).await;
    let mut named = registration("2", "A Whale by Another Name");
    named.facts.cardinality = "[1]".to_owned();
    named.facts.names[0].kind = "trade_name".to_owned();
    ground.apply(vec![enter(named)]).await;
    let of = async |source_id: &str| {
        let topic = ground.topic(source_id).await.unwrap();
        ground
            .index
            .neighbours(&ground.book, topic.id, 10)
            .await
            .unwrap()
    };
    let mut one = of("1").await;
    one.sort_by_key(|neighbour| neighbour.name.clone());
    assert_eq!(one.len(), 2);
    assert_eq!(
        (one[0].name.as_deref(), one[1].name.as_deref()),
        (None, Some("Whale"))
    );
    let other = of("2").await;
    assert!(other[0].is_from_other && other[0].relation.topic.source_id == "1");
    ground.apply(vec![remove(&owned)]).await;
    assert!(of("2").await.is_empty());
}

pub async fn results_are_ordered_by_date(ground: &Ground) {
    for (id, at) in [("1", 300), ("2", 100), ("3", 200)] {
        let mut entry = registration(id, "Same Name");
        entry.effective = at;
        ground.apply(vec![enter(entry)]).await;
    }
    let by = |ordering| SearchQuery {
        ordering,
        ..SearchQuery::of("same").unwrap()
    };
    assert_eq!(
        ground.found_by(by(Ordering::EffectiveDate)).await,
        ["2", "3", "1"]
    );
    assert_eq!(
        ground.found_by(by(Ordering::EffectiveDateDescending)).await,
        ["1", "3", "2"]
    );
    let revoke = IndexChange::Revoke {
        credential_id: registration("3", "Same Name").credential_id,
        at: 900,
    };
    ground.apply(vec![revoke]).await;
    for ordering in [Ordering::RevokedDate, Ordering::RevokedDateDescending] {
        assert_eq!(ground.found_by(by(ordering)).await[0], "3");
    }
}

pub async fn sets_and_topics_are_listed_page_by_page(ground: &Ground) {
    with_whales(ground).await;
    let permits = (0..25).map(|number| enter(permit("1", &number.to_string(), 3_000 + number % 7)));
    ground.apply(permits.collect()).await;
    let topic = ground.topic("1").await.unwrap();
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = ground
            .index
            .sets(&ground.book, topic.id, AfterNumber { after, limit: 10 })
            .await
            .unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        seen.extend(page.iter().map(|set| set.last_effective));
    }
    assert_eq!(seen.len(), 26);
    assert!(seen.is_sorted_by(|one, other| one >= other));
    let first = ground
        .index
        .all_topics(
            &ground.book,
            AfterNumber {
                after: None,
                limit: 3,
            },
        )
        .await
        .unwrap();
    let second = AfterNumber {
        after: first.last().copied(),
        limit: 3,
    };
    let second = ground.index.all_topics(&ground.book, second).await.unwrap();
    assert_eq!((first.len(), second.len()), (3, 2));
}

pub async fn books_do_not_see_each_other(ground: &Ground) {
    with_whales(ground).await;
    let other = selfsame_book_index::BookName::of("organisation/other");
    let found = selfsame_book_index::search::search(&*ground.index, &other, &all())
        .await
        .unwrap();
    assert!(found.ids.is_empty());
    assert_eq!(ground.index.cursor(&other).await.unwrap(), None);
    assert_eq!(
        ground.index.cursor(&ground.book).await.unwrap().as_deref(),
        Some("1")
    );
}

pub async fn a_cleared_book_is_built_again_with_the_same_numbers(ground: &Ground) {
    with_whales(ground).await;
    let before = ground.topic("1").await.unwrap();
    ground.index.clear(&ground.book).await.unwrap();
    assert_eq!(ground.found("whale").await, [""; 0]);
    assert_eq!(ground.index.cursor(&ground.book).await.unwrap(), None);
    with_whales(ground).await;
    assert_eq!(ground.topic("1").await.unwrap(), before);
}

pub async fn an_entry_with_the_number_of_another_name_stops_nothing(ground: &Ground) {
    // Two topics with one number, found by a search of some seconds.
    let first = registration("1084f0dcd2c38", "First");
    let second = registration("e7bb945de7a60", "Second");
    let third = related(registration("3", "Third"), "beside", "e7bb945de7a60");
    let entries = [&first, &second, &third].map(|entry| NumberedEntry {
        credential_id: &entry.credential_id,
        type_id: &entry.type_id,
        facts: &entry.facts,
    });
    let asked = AskedNumbers::of(&entries);
    let holders = async || {
        let holders = ground.index.holders(&ground.book, &asked).await;
        holders.unwrap()
    };
    assert_eq!(holders().await, NumberHolders::default());
    let entered = [&first, &second, &third].map(|entry| enter(entry.clone()));
    ground.apply(entered.into()).await;
    assert_eq!(ground.found("first").await, ["1084f0dcd2c38"]);
    assert_eq!(ground.found("second").await, [""; 0]);
    let third = ground.topic("3").await.unwrap();
    let beside = ground.index.neighbours(&ground.book, third.id, 10).await;
    assert_eq!(beside.unwrap()[0].name, None);
    let held = holders().await;
    assert_eq!(
        (held.topics.len(), held.credentials.len(), held.sets.len()),
        (2, 2, 2)
    );
    let clash = held.clash(&entries).unwrap();
    assert_eq!(
        (clash.place, clash.name.as_str()),
        (1, "registration e7bb945de7a60")
    );
}

/// Whatever happened before, the index answers as one that was given only what is left.
pub async fn an_index_that_took_changes_in_any_order_answers_as_one_built_at_once(ground: &Ground) {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let acts = proptest::collection::vec(
        (0..4_usize, 0..3_usize, 0..4_i64, proptest::bool::ANY),
        1..40,
    );
    for _ in 0..20 {
        let acts = acts.new_tree(&mut runner).unwrap();
        let acts = proptest::strategy::ValueTree::current(&acts);
        ground.index.clear(&ground.book).await.unwrap();
        let mut left = std::collections::BTreeMap::new();
        for (topic, number, at, is_removed) in acts {
            let entry = permit(&format!("t{topic}"), &format!("{number}"), 1_000 + at);
            let entry = related(entry, "beside", &format!("t{number}"));
            match is_removed {
                true => {
                    ground.apply(vec![remove(&entry)]).await;
                    left.remove(&entry.credential_id);
                }
                false => {
                    ground.apply(vec![enter(entry.clone())]).await;
                    left.insert(entry.credential_id.clone(), entry);
                }
            }
        }
        let shown = answers(ground).await;
        ground.index.clear(&ground.book).await.unwrap();
        ground.apply(left.into_values().map(enter).collect()).await;
        assert_eq!(shown, answers(ground).await);
    }
}

/// What an index answers to several questions.
async fn answers(ground: &Ground) -> Vec<String> {
    let mut answers = Vec::new();
    for number in 0..4 {
        let source_id = format!("t{number}");
        answers.push(format!(
            "{:?}",
            ground.found(&format!("{number} main")).await
        ));
        answers.push(format!(
            "{:?}",
            ground.suggested(&format!("{number} ma")).await
        ));
        let Some(mut topic) = ground.topic(&source_id).await else {
            answers.push("absent".to_owned());
            continue;
        };
        // Which of several credentials is named for a fact, and when the topic was created, depends on the order.
        let facts = topic.addresses.iter_mut().chain(&mut topic.attributes);
        facts.for_each(|fact| fact.credential = 0);
        (
            topic.created,
            topic.updated,
            topic.main_set.created,
            topic.main_set.updated,
        ) = (0, 0, 0, 0);
        answers.push(format!("{topic:?}"));
        let neighbours = ground
            .index
            .neighbours(&ground.book, topic.id, 10)
            .await
            .unwrap();
        answers.push(format!("{neighbours:?}"));
    }
    let found = ground.search(all()).await;
    answers.push(format!(
        "{:?}",
        facets(&*ground.index, &ground.book, &found).await.unwrap()
    ));
    answers
}
