use std::collections::BTreeSet;

use super::*;

fn secret(seed: u8) -> [u8; 16] {
    let digest = hash::sha256(&[seed]);
    digest[..16].try_into().unwrap()
}

fn words(seed: u8) -> Vec<String> {
    let text = RecoveryWords::of(secret(seed)).text();
    text.expose().split(' ').map(str::to_owned).collect()
}

fn fault(words: &[String]) -> WordsFault {
    RecoveryWords::parse(&words.join(" "))
        .map(|_| ())
        .unwrap_err()
}

#[test]
fn the_list_has_1024_words_that_differ_in_their_first_four_letters() {
    let list: Vec<&str> = LIST.lines().collect();
    assert_eq!(list.len(), 1_024);
    assert!(list.is_sorted());
    let begins: BTreeSet<&str> = list.iter().map(|word| &word[..4]).collect();
    assert_eq!(begins.len(), 1_024);
    for word in list {
        assert!(
            word.bytes().all(|letter| letter.is_ascii_lowercase()),
            "{word}"
        );
    }
}

#[test]
fn words_are_read_as_people_type_them() {
    for seed in 0..50 {
        let right = words(seed);
        let typed = [
            right.join(" "),
            format!(" {}\r\n", right.join("\n ")).to_uppercase(),
            right
                .iter()
                .map(|word| &word[..4])
                .collect::<Vec<_>>()
                .join("\t"),
        ];
        for typed in typed {
            let read = RecoveryWords::parse(&typed).unwrap().text();
            assert_eq!(read.expose(), right.join(" "));
        }
    }
    let extreme = [[0; 16], [0xFF; 16]].map(|secret| RecoveryWords::of(secret).text());
    for text in extreme {
        assert_eq!(
            RecoveryWords::parse(text.expose()).unwrap().text().expose(),
            text.expose()
        );
    }
}

#[test]
fn one_wrong_word_is_named_by_its_place_whichever_word_it_is() {
    let list: Vec<&str> = LIST.lines().collect();
    let right = words(7);
    for place in 0..COUNT {
        for other in list
            .iter()
            .filter(|other| **other != right[place])
            .step_by(17)
        {
            let mut wrong = right.clone();
            wrong[place] = (*other).to_owned();
            assert_eq!(fault(&wrong), WordsFault::Wrong(place + 1), "{other}");
        }
        let mut unknown = right.clone();
        unknown[place] = format!("{}x", right[place]);
        assert_eq!(fault(&unknown), WordsFault::Unknown(place + 1));
    }
}

#[test]
fn missing_words_and_exchanged_ones_are_refused() {
    let right = words(9);
    assert_eq!(fault(&right[..14]), WordsFault::Count(14));
    assert_eq!(fault(&[]), WordsFault::Count(0));
    assert_eq!(
        fault(&vec!["zebra".to_owned(); 400]),
        WordsFault::Count(400)
    );
    for place in 1..COUNT {
        let mut exchanged = right.clone();
        exchanged.swap(0, place);
        assert!(RecoveryWords::parse(&exchanged.join(" ")).is_err() || right[0] == right[place]);
    }
}

#[test]
fn no_message_has_a_word() {
    let mut wrong = words(3);
    wrong[4] = "topsecret".to_owned();
    assert!(!fault(&wrong).to_string().contains("topsecret"));
}
