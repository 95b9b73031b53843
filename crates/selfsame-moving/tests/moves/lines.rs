//! Files with wrong, cut off, repeated, missing and enormous lines: each is told by its place, and the rest goes in.

use selfsame_moving::line::LINE_MAX;
use selfsame_moving::{Arrived, FaultyLine, LineFault, MoveError, TenantImport};
use selfsame_store::{Page, Store, TenantId};

use crate::home::{Home, acme, passphrase};

/// The lines of a file, each with its line feed.
fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn faults(arrived: &Arrived) -> Vec<(u64, LineFault)> {
    let named = arrived.faults.iter();
    named
        .map(|FaultyLine { line, fault }| (*line, *fault))
        .collect()
}

async fn cards(store: &Store) -> u64 {
    store.weight(&acme(), "card", 9_999).await.unwrap().records
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_wrong_line_is_told_by_its_place_the_rest_goes_in_and_a_second_run_completes() {
    let first = Home::in_a_file().with_acme("suspended", 100).await;
    let file = first.export().await.unwrap();
    let other = first.export().await.unwrap();
    let mut wrong = lines(&file.text);
    let count = wrong.len() as u64;
    assert_eq!(count, file.exported.lines);
    wrong[9] = b"not a line\n".to_vec();
    let length = wrong[14].len();
    wrong[14].truncate(length / 2);
    wrong[14].push(b'\n');
    wrong[19] = [vec![b'x'; LINE_MAX + 1], b"\n".to_vec()].concat();
    wrong[24] = lines(&other.text)[24].clone();
    let changed = wrong[29][30];
    wrong[29][30] = if changed == b'A' { b'B' } else { b'A' };
    wrong.remove(39);
    let again = wrong[43].clone();
    wrong.insert(49, again);
    let wrong = wrong.concat();

    let second = Home::in_a_file();
    let arrived = second.import(&wrong).await.unwrap();
    let expected = [
        (10, LineFault::Malformed),
        (15, LineFault::Malformed),
        (20, LineFault::TooLong),
        (25, LineFault::Changed),
        (30, LineFault::Changed),
        (50, LineFault::Again),
    ];
    assert_eq!(faults(&arrived), expected);
    assert_eq!((arrived.missing, arrived.complete), (6, false));
    assert_eq!(arrived.new + 6, file.exported.records);
    let store = second.open().await;
    assert!(cards(&store).await >= 80);
    let (instance, page) = (TenantId::instance(), Page::first(1));
    let known = store.list(&instance, "organisation", &page).await.unwrap();
    assert_eq!(known, [], "it is not known before all is in");
    drop(store);

    let completed = second.import(&file.text).await.unwrap();
    assert!(completed.complete, "{completed:?}");
    assert_eq!((completed.new, completed.faulty), (6, 0));
    assert_eq!(completed.hash, file.exported.hash);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_cut_off_anywhere_goes_in_up_to_there() {
    let first = Home::in_a_file().with_acme("suspended", 10).await;
    let file = first.export().await.unwrap();
    let all = lines(&file.text);
    let last = all.last().unwrap().len();
    // Without its last line feed it is whole; without its last line it is not.
    let whole = &file.text[..file.text.len() - 1];
    let second = Home::in_a_file();
    let without_end = &file.text[..file.text.len() - last];
    let arrived = second.import(without_end).await.unwrap();
    assert_eq!((arrived.complete, arrived.faulty), (false, 0));
    assert_eq!(arrived.new, file.exported.records);
    assert!(second.import(whole).await.unwrap().complete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_in_another_order_and_lines_after_the_last_are_told() {
    let first = Home::in_a_file().with_acme("suspended", 10).await;
    let file = first.export().await.unwrap();
    let mut swapped = lines(&file.text);
    swapped.swap(5, 6);
    let last = swapped.last().unwrap().clone();
    swapped.push(last);
    let arrived = Home::in_a_file().import(&swapped.concat()).await.unwrap();
    let end = file.exported.lines + 1;
    let expected = [(7, LineFault::Again), (end, LineFault::Unknown)];
    assert_eq!(faults(&arrived), expected);
    assert!(!arrived.complete);
}

#[tokio::test]
async fn another_passphrase_and_what_is_no_such_file_are_refused_at_once() {
    let first = Home::in_a_file().with_acme("suspended", 5).await;
    let file = first.export().await.unwrap();
    let wrong = TenantImport::open(&file.text[..], &"rain on the road".into());
    assert!(matches!(wrong.err(), Some(MoveError::KeyWrong)));
    let text = String::from_utf8(file.text).unwrap();
    let renamed = text.replacen(crate::home::ACME, "o-3", 1);
    let renamed = TenantImport::open(renamed.as_bytes(), &passphrase());
    assert!(matches!(renamed.err(), Some(MoveError::KeyWrong)));
    let first_line = text.lines().next().unwrap();
    for foreign in ["", "\n", "{}\n{}\n", "hello", first_line] {
        let opened = TenantImport::open(foreign.as_bytes(), &passphrase());
        assert!(
            matches!(opened.err(), Some(MoveError::Foreign(_))),
            "{foreign}"
        );
    }
}
