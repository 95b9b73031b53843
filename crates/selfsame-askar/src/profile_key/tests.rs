use minicbor::Encoder;

use super::*;

fn map(version: &str, members: &[(&str, usize)]) -> Vec<u8> {
    let mut to = Encoder::new(Vec::new());
    let count = u64::try_from(members.len()).unwrap() + 1;
    to.map(count).unwrap().str("ver").unwrap();
    to.str(version).unwrap();
    for (name, length) in members {
        to.str(name).unwrap().bytes(&vec![1; *length]).unwrap();
    }
    to.into_writer()
}

#[test]
fn the_key_of_a_profile_has_a_version_and_six_keys_in_any_order() {
    let mut members = MEMBERS.map(|name| (name, 32));
    assert!(ProfileKey::parse(&map("1", &members)).is_ok());
    members.reverse();
    assert!(ProfileKey::parse(&map("1", &members)).is_ok());
}

#[test]
fn another_version_is_not_supported() {
    let members = MEMBERS.map(|name| (name, 32));
    let parsed = ProfileKey::parse(&map("2", &members));
    assert!(matches!(parsed, Err(WalletError::Unsupported(_))));
}

#[test]
fn a_key_that_is_missing_twice_there_unknown_or_of_another_length_is_damage() {
    let all = MEMBERS.map(|name| (name, 32));
    let mut wrong = vec![
        map("1", &all[1..]),
        map("1", &[&all[..], &all[..1]].concat()),
        map("1", &[&all[..], &[("new", 32)]].concat()),
        [map("1", &all), vec![0]].concat(),
        Vec::new(),
        vec![0xbf, 0xff],
        vec![0; BYTES_MAX + 1],
    ];
    for at in 0..all.len() {
        for length in [31, 33] {
            let mut one = all;
            one[at].1 = length;
            wrong.push(map("1", &one));
        }
    }
    let whole = map("1", &all);
    wrong.extend((0..whole.len()).map(|end| whole[..end].to_vec()));
    for (number, bytes) in wrong.iter().enumerate() {
        let parsed = ProfileKey::parse(bytes);
        assert!(matches!(parsed, Err(WalletError::Damaged(_))), "{number}");
    }
}

#[test]
fn debug_output_does_not_show_a_key() {
    let key = ProfileKey::parse(&map("1", &MEMBERS.map(|name| (name, 32)))).unwrap();
    let shown = format!("{key:?}");
    assert!(!shown.contains('1'), "{shown}");
}
