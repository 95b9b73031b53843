//! The encoding of tickets, and the strike register.

use proptest::prelude::*;
use selfsame_credential::status::{Purpose, Reference};
use selfsame_credential::validity::Validity;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;

use super::Ticketed;
use super::strikes::{StrikeRegister, Strikes};
use super::ticket_keys::TicketKeys;
use crate::codec::Vc;
use crate::identity::{Credential, Peer, PeerKind};
use crate::named::{Suite, VcFormat};
use crate::provider::Block;

fn did(text: &str) -> Did {
    Did::parse(text).unwrap()
}

fn kinds() -> impl Strategy<Value = PeerKind> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..300);
    prop_oneof![
        Just(PeerKind::Anonymous),
        proptest::collection::vec(bytes(), 0..4).prop_map(PeerKind::Certificate),
        Just(PeerKind::Did(did("did:web:one.example"))),
        (bytes(), any::<u64>()).prop_map(|(bytes, index)| {
            let credential = credential(bytes, index);
            PeerKind::Credential(Box::new(credential))
        }),
    ]
}

fn credential(bytes: Vec<u8>, index: u64) -> Credential {
    Credential {
        vc: Vc {
            format: VcFormat::COSE,
            bytes,
        },
        issuer: did("did:web:other.example"),
        key_id: "did:web:other.example#1".to_owned(),
        subject: did("did:web:one.example"),
        validity: Validity {
            not_before: None,
            expires: Some(UnixTime(index)).filter(|time| time.0 != 0),
        },
        types: vec!["One".to_owned(), "Two".to_owned()],
        claims: serde_json::Map::from_iter([("dns".to_owned(), "one.example".into())]),
        statuses: vec![
            Reference::token("https://issuer.example/1", index),
            Reference::bitstring("https://issuer.example/2", index, Purpose::Suspension),
        ],
    }
}

fn ticketed(kind: PeerKind, times: [u64; 4], protocol: Option<Vec<u8>>) -> Ticketed {
    let [verified_at, until, as_of, end] = times.map(UnixTime);
    let some = |time: UnixTime| (time.0 != 0).then_some(time);
    Ticketed {
        suite: Suite::AES_128_GCM_SHA256,
        secret: Block::new(&[5; 32]),
        policy: [1; 32],
        wishes: [2; 32],
        protocol,
        epoch: 9,
        verified_at,
        until,
        issued_at: as_of,
        age_add: 0x0102_0304,
        early: 7,
        peer: Peer {
            key: some(as_of).map(|_| [3; 32]),
            until: some(end),
            ..Peer::remembered(kind, some(as_of))
        },
    }
}

proptest! {
    #[test]
    fn a_ticket_says_what_was_put_into_it_and_nothing_if_it_is_cut(
        kind in kinds(),
        times in any::<[u64; 4]>(),
        protocol in proptest::option::of(proptest::collection::vec(any::<u8>(), 1..20)),
    ) {
        let ticketed = ticketed(kind, times, protocol);
        let bytes = ticketed.write().unwrap();
        let read = Ticketed::read(&bytes).unwrap();
        prop_assert_eq!(&read.write().unwrap(), &bytes);
        prop_assert_eq!(&read.peer.kind, &ticketed.peer.kind);
        prop_assert_eq!(read.peer.until, ticketed.peer.until);
        prop_assert_eq!(read.peer.key, ticketed.peer.key);
        prop_assert_eq!(read.protocol, ticketed.protocol);
        prop_assert_eq!(read.secret.as_ref(), ticketed.secret.as_ref());
        for at in 0..bytes.len() {
            prop_assert!(Ticketed::read(&bytes[..at]).is_none());
        }
    }
}

#[test]
fn every_bit_of_a_sealed_ticket_counts() {
    let keys = TicketKeys::new([3; 32]);
    let ticketed = ticketed(PeerKind::Anonymous, [1, 2, 0, 0], None);
    let sealed = keys.seal(&ticketed, [4; 12]).unwrap();
    assert!(keys.open(&sealed).is_some());
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(keys.open(&changed).is_none(), "bit {bit}");
    }
    // The sealed ticket does not contain the secret in plaintext.
    assert!(!sealed.windows(32).any(|part| part == [5; 32]));
}

#[test]
fn who_shows_more_than_fits_gets_no_ticket() {
    let chain = vec![vec![0; 20_000]];
    let ticketed = ticketed(PeerKind::Certificate(chain), [1, 2, 0, 0], None);
    assert!(ticketed.write().is_none());
    assert!(TicketKeys::new([3; 32]).seal(&ticketed, [0; 12]).is_none());
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let keys = TicketKeys::new([3; 32]);
    let ticketed = ticketed(PeerKind::Anonymous, [1, 2, 0, 0], None);
    let shown = format!("{keys:?} {ticketed:?}");
    assert_eq!(
        shown,
        "TicketKeys { lifetime: 86400, count: 2, .. } Ticketed(secret)"
    );
}

/// A hello's hash.
fn hello(number: u8) -> [u8; 32] {
    [number; 32]
}

#[test]
fn a_register_forgets_what_is_over_and_takes_nothing_while_it_is_full() {
    let at = |seconds: u64| UnixTime(1000 + seconds);
    let register = StrikeRegister::new(2, at(0));
    assert_eq!(register.since(), at(0));
    assert!(register.strike(&hello(1), at(10), at(0)));
    assert!(register.strike(&hello(2), at(20), at(0)));
    assert!(!register.strike(&hello(3), at(30), at(9)));
    assert!(register.strike(&hello(3), at(30), at(10)));
    assert!(!register.strike(&hello(2), at(20), at(10)));
    // The clock is set back: a hello that may have been removed is refused.
    assert!(!register.strike(&hello(1), at(10), at(0)));
    assert!(!register.strike(&hello(4), at(40), at(0)));
}

proptest! {
    /// Hellos arrive in any order, each while it is fresh: none is accepted twice, and the register stays within its
    /// bound.
    #[test]
    fn no_hello_is_taken_twice_while_it_is_fresh(
        comes in proptest::collection::vec((0..12_u8, 0..60_u64), 1..200),
    ) {
        let register = StrikeRegister::new(6, UnixTime(0));
        let mut taken = Vec::new();
        for (number, now) in comes {
            let (from, until) = (u64::from(number) * 4, u64::from(number) * 4 + 21);
            if now < from || now >= until {
                continue;
            }
            if register.strike(&hello(number), UnixTime(until), UnixTime(now)) {
                prop_assert!(!taken.contains(&number), "{number} at {now}");
                taken.push(number);
            }
        }
    }
}
