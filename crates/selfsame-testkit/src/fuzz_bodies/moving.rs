//! The file of a moved tenant: its lines, and what they say once opened; and records of wallets as they are kept.

use std::io::BufReader;

use selfsame_askar::{RecordKind, RecordTag, WalletRecord};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Secret, SecretString, frame};
use selfsame_moving::line::{FileHeader, LineReader, LineSeal, ReadLine};
use selfsame_moving::part::{MovedPart, MovedRecord};
use selfsame_moving::wallet::KeptRecord;
use selfsame_store::TenantId;

/// A file, what a line says, or a kept record. What is read has one form; lines are the text between line feeds; a line
/// that was not sealed does not open.
pub fn moved_tenant(data: &[u8]) -> bool {
    let mut lines = LineReader::new(BufReader::with_capacity(16, data));
    let mut text = Vec::new();
    let seal = LineSeal::new(&SealingKey::from_bytes([7; 32]), &header());
    while let Ok(Some(line)) = lines.next_line() {
        let ReadLine::Bytes(line) = line else {
            panic!("no line is too long");
        };
        assert!(seal.open(&line).is_err());
        text.extend_from_slice(&line);
        text.push(b'\n');
    }
    assert_eq!(
        text.strip_suffix(b"\n").unwrap_or_default(),
        data.strip_suffix(b"\n").unwrap_or(data)
    );
    if let Ok(header) = FileHeader::parse(data) {
        let again = FileHeader::parse(header.to_line().as_bytes());
        assert_eq!(again.ok(), Some(header));
        return true;
    }
    if let Some(part) = MovedPart::parse(data) {
        assert_eq!(part.to_bytes().expose(), data);
        return true;
    }
    let kept = KeptRecord::parse(data);
    if let Some(kept) = &kept {
        assert_eq!(
            KeptRecord::bytes(&kept.profile, &kept.record).expose(),
            data
        );
    }
    kept.is_some()
}

fn header() -> FileHeader {
    FileHeader::draw(TenantId::parse("o-1").expect("it is a name"))
}

pub(super) fn moved_tenant_seeds() -> Vec<Vec<u8>> {
    let record = MovedRecord {
        kind: "card".to_owned(),
        id: "1".to_owned(),
        version: 7,
        expires: Some(UnixTime(9)),
        tags: frame::join(&[b"tag", b"other"]),
        value: vec![3; 40],
    };
    let counter = MovedPart::Counter {
        name: "places".to_owned(),
        next: 1024,
    };
    let kept = WalletRecord {
        kind: RecordKind::Item,
        category: "connection".to_owned(),
        name: "one".to_owned(),
        value: Secret::new(b"value of some length".to_vec()),
        tags: vec![RecordTag {
            name: "state".to_owned(),
            value: SecretString::from("new"),
            plaintext: true,
        }],
        expiry: None,
    };
    vec![
        header().to_line().into_bytes(),
        MovedPart::Record(record).to_bytes().expose().to_vec(),
        counter.to_bytes().expose().to_vec(),
        KeptRecord::bytes("first", &kept).expose().to_vec(),
    ]
}
