use selfsame_crypto::time::UnixTime;

use super::*;

fn record() -> MovedRecord {
    MovedRecord {
        kind: "card".to_owned(),
        id: "1".to_owned(),
        version: 7,
        expires: None,
        tags: Vec::new(),
        value: vec![1],
    }
}

fn tally(records: &[MovedRecord]) -> RowTally {
    let mut tally = RowTally::default();
    records.iter().for_each(|record| tally.add(record));
    tally
}

#[test]
fn each_part_of_a_record_changes_the_sum_and_the_order_does_not() {
    let other = MovedRecord {
        id: "2".to_owned(),
        ..record()
    };
    let both = tally(&[record(), other.clone()]);
    assert_eq!(both, tally(&[other.clone(), record()]));
    assert_eq!(both.count(), 2);
    assert_eq!(both.difference(&tally(&[other, record()])), None);
    let changes: [fn(&mut MovedRecord); 6] = [
        |one| one.kind.push('s'),
        |one| one.id.push('0'),
        |one| one.version += 1,
        |one| one.expires = Some(UnixTime(0)),
        |one| one.tags = vec![0, 0, 0, 0],
        |one| one.value.push(0),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut changed = record();
        change(&mut changed);
        assert_ne!(
            tally(&[changed]).sum(),
            tally(&[record()]).sum(),
            "{number}"
        );
    }
}

#[test]
fn a_difference_names_the_kind_and_what_differs() {
    let (one, none) = (tally(&[record()]), tally(&[]));
    let said = "of the kind \"card\" there are 0, not 1";
    assert_eq!(one.difference(&none).as_deref(), Some(said));
    let said = "of the kind \"card\" there are 1, not 0";
    assert_eq!(none.difference(&one).as_deref(), Some(said));
    let changed = MovedRecord {
        value: vec![2],
        ..record()
    };
    let said = "a record of the kind \"card\" has other content";
    assert_eq!(one.difference(&tally(&[changed])).as_deref(), Some(said));
}
