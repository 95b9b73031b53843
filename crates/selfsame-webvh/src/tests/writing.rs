//! What is written is read: logs through their life, and the approvals of witnesses.

use selfsame_crypto::PrivateKey;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Options};
use serde_json::{Value, json};

use super::kit::{did_key, document, key, multikey, now};
use crate::{
    Approval, Log, LogReading, Next, ParameterChange, UnsignedEntry, Witnesses, WriteError,
    commitment, create, draft, update,
};

fn line(unsigned: UnsignedEntry, key: &PrivateKey) -> Vec<u8> {
    let signature = key.sign(unsigned.bytes()).unwrap();
    unsigned.signed(&signature)
}

fn keys(key: &PrivateKey, next: Option<&PrivateKey>) -> ParameterChange {
    ParameterChange {
        update_keys: Some(vec![multikey(key)]),
        next_key_hashes: Some(next.iter().map(|key| commitment(key.public())).collect()),
        ..ParameterChange::default()
    }
}

struct Life {
    text: Vec<u8>,
    log: Log,
}

impl Life {
    fn begin(change: ParameterChange, key: &PrivateKey) -> Self {
        let unsigned = create(&document(), change, key.public(), now()).unwrap();
        let log = Log::of(&unsigned.did).unwrap();
        let mut life = Self {
            text: Vec::new(),
            log,
        };
        life.append(line(unsigned, key));
        life
    }

    fn append(&mut self, line: Vec<u8>) -> LogReading {
        self.text.extend(line);
        let reading = self.log.read(&self.text, now());
        assert_eq!(reading.fault(), None);
        self.log = reading.log().clone();
        reading
    }

    fn update(&mut self, change: ParameterChange, key: &PrivateKey) -> LogReading {
        let state = self.log.state(self.log.versions().last().unwrap()).unwrap();
        let next = Next {
            state: &state,
            change,
        };
        let unsigned = update(&self.log, next, key.public(), now()).unwrap();
        self.append(line(unsigned, key))
    }

    fn refused(&self, change: ParameterChange, key: &PrivateKey) -> Option<WriteError> {
        let next = Next {
            state: &document(),
            change,
        };
        update(&self.log, next, key.public(), now()).err()
    }
}

#[test]
fn a_log_is_made_rotated_and_ended() {
    let all = [key(), key(), key()];
    let mut life = Life::begin(keys(&all[0], Some(&all[1])), &all[0]);
    life.update(keys(&all[1], Some(&all[2])), &all[1]);
    let end = ParameterChange {
        deactivated: Some(true),
        ..keys(&all[2], None)
    };
    let ended = life.update(end, &all[2]).resolve(&Options::default());
    assert!(ended.document_metadata.deactivated);
    assert_eq!(
        life.refused(ParameterChange::default(), &all[2]),
        Some(WriteError::Ended)
    );
    let times: Vec<_> = life
        .log
        .versions()
        .iter()
        .map(|version| version.time)
        .collect();
    assert!(times.is_sorted_by(|one, next| one < next));
}

#[test]
fn what_would_not_verify_is_not_written() {
    let (one, two) = (key(), key());
    let refused = create(&document(), keys(&two, None), one.public(), now()).err();
    assert_eq!(refused, Some(WriteError::Unauthorised));
    let refused = create(&document(), ParameterChange::default(), one.public(), now()).err();
    assert!(matches!(refused, Some(WriteError::Parameters(_))));
    let refused = create(&json!({}), keys(&one, None), one.public(), now()).err();
    assert!(matches!(refused, Some(WriteError::Subject(_))));
    let life = Life::begin(keys(&one, Some(&two)), &one);
    assert!(matches!(
        life.refused(keys(&one, None), &one),
        Some(WriteError::Parameters(_))
    ));
    assert_eq!(
        life.refused(keys(&two, None), &one),
        Some(WriteError::Unauthorised)
    );
    let portable = ParameterChange {
        portable: Some(true),
        ..keys(&two, None)
    };
    assert!(matches!(
        life.refused(portable, &two),
        Some(WriteError::Parameters(_))
    ));
}

#[test]
fn witnesses_approve_what_is_written() {
    let (author, witness) = (key(), key());
    let ids = vec![Did::parse(&did_key(&witness)).unwrap()];
    let change = ParameterChange {
        witness: Some(Witnesses { threshold: 1, ids }),
        ..keys(&author, None)
    };
    let unsigned = create(&document(), change, author.public(), now()).unwrap();
    let (did, id) = (unsigned.did.clone(), unsigned.version_id.clone());
    let text = line(unsigned, &author);
    let approval = Approval::new(&id, witness.public(), now()).unwrap();
    let signature = witness.sign(approval.bytes()).unwrap();
    let file = Value::Array(vec![approval.signed(&signature)]).to_string();
    let reading = Log::of(&did).unwrap().read(&text, now());
    let reading = reading.witnessed(Some(file.as_bytes()), now());
    assert_eq!(reading.fault(), None);
    let metadata = reading.resolve(&Options::default()).document_metadata;
    assert_eq!(metadata.of_method["witness"]["threshold"], "1");
}

#[test]
fn a_draft_of_a_did_web_becomes_a_log_that_names_it() {
    let key = key();
    let web = Did::parse("did:web:localhost%3A8080:dids:a1").unwrap();
    let mut document = Document::new(web.clone());
    document.add_key("key-1", key.public(), true).unwrap();
    let unsigned = create(&draft(&document), keys(&key, None), key.public(), now()).unwrap();
    let did = unsigned.did.clone();
    let text = line(unsigned, &key);
    let found = Log::of(&did)
        .unwrap()
        .read(&text, now())
        .resolve(&Options::default());
    let found = found.document().unwrap();
    assert_eq!(found.also_known_as, [web.to_string()]);
    assert!(did.as_str().ends_with(":localhost%3A8080:dids:a1"));
    assert_eq!(found.methods().count(), 1);
}

#[test]
fn entries_written_at_an_earlier_time_than_the_last_are_still_later() {
    let key = key();
    let mut life = Life::begin(keys(&key, None), &key);
    let state = life.log.state(&life.log.versions()[0]).unwrap();
    let next = Next {
        state: &state,
        change: ParameterChange::default(),
    };
    let early = UnixTime(now().0 - 200);
    let unsigned = update(&life.log, next, key.public(), early).unwrap();
    let line = line(unsigned, &key);
    assert!(
        String::from_utf8(line.clone())
            .unwrap()
            .contains("00:10:00.001Z")
    );
    life.append(line);
}
