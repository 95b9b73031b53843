//! Properties of the registry's checkpoints, proofs and reads, and of transactions of its log.

use selfsame_crypto::encoding::base64_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::entries::{ProvenEntries, ProvenEntry};
use selfsame_proof::log::{Frontier, Hash, LogRead, inclusion, leaf_hash};
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_proof::read::{Bundle, Question, ReadPolicy, ReadReport, TrustRoot, judge};
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::tree::{Proof, ReadError};
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};

const RECORDED: &str = include_str!("../../../selfsame-proof/vectors/read-two-handovers.txt");

/// A signed note, the text of a checkpoint, or a verifier key: each has exactly one encoding.
pub fn checkpoint(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let note = SignedNote::parse(text).is_ok_and(|note| {
        assert_eq!(note.to_string(), text, "a note has one form");
        assert_eq!(note.signers(&[]), Ok(vec![]), "no key, no signer");
        true
    });
    let checkpoint = Checkpoint::parse(text).is_ok_and(|checkpoint| {
        assert_eq!(checkpoint.text(), text, "a checkpoint has one form");
        if let Ok(standing) = checkpoint.standing() {
            let ours = Checkpoint::of_block(&checkpoint.origin, &standing);
            assert_eq!(ours.standing(), Ok(standing), "it says the same again");
        }
        true
    });
    let key = text.parse().is_ok_and(|key: VerifierKey| {
        assert_eq!(key.to_string().parse(), Ok(key), "a key reads back");
        true
    });
    note | checkpoint | key
}

/// A read bundle, or a part of one: each has exactly one encoding, and a bundle that verifies from the recorded trust
/// root agrees with the recorded registry.
pub fn read(data: &[u8]) -> bool {
    let one_form = |written: Option<Vec<u8>>| {
        if let Some(written) = &written {
            assert_eq!(written, data, "it has one form");
        }
        written.is_some()
    };
    let parts = [
        one_form(Proof::from_bytes(data).ok().map(|proof| proof.to_bytes())),
        one_form(
            ValidatorSet::from_bytes(data)
                .ok()
                .map(|set| set.to_bytes()),
        ),
        one_form(
            TrustRoot::from_bytes(data)
                .ok()
                .map(|trust| trust.to_bytes()),
        ),
        one_form(Frontier::from_bytes(data).ok().map(|log| log.to_bytes())),
        one_form(
            ProvenReads::from_bytes(data)
                .ok()
                .map(|reads| reads.to_bytes()),
        ),
    ];
    let bundle = Bundle::from_bytes(data);
    one_form(bundle.as_ref().ok().map(Bundle::to_bytes));
    if let Ok(bundle) = &bundle {
        let report = judged(bundle);
        if let Some(standing) = report.trust.and_then(|trust| trust.seen) {
            let genuine = Bundle::from_bytes(&recorded("present")).expect("the vector is read");
            let signed = judged(&genuine).as_of;
            assert_eq!(Some(standing), signed, "nothing else was signed");
            let kept = kept(&genuine);
            let there = kept.iter().find(|(key, _)| *key == bundle.key);
            // A gap's two neighbours prove that every key between them is absent.
            assert_eq!(
                bundle.value.as_ref(),
                there.map(|(_, object)| object),
                "nothing is made up, and nothing that is kept is hidden"
            );
        }
    }
    bundle.is_ok() || parts.contains(&true)
}

/// The contents of the recorded registry: keys and objects.
fn kept(genuine: &Bundle) -> [(Vec<u8>, Vec<u8>); 4] {
    let validators = genuine.handovers.last().expect("it has two").set.to_bytes();
    let object = genuine.value.as_ref().expect("it is there");
    [
        (STATE_KEY, &*validators),
        (&genuine.key, object),
        (b"did/did:selfsame:main:bob", b"another"),
        (b"schema/1", b"a schema"),
    ]
    .map(|(key, object): (&[u8], &[u8])| (key.to_vec(), object.to_vec()))
}

/// Transactions of a log as a node returns them: an answer has exactly one encoding, and an entry that is proven to be
/// in the log equals the entry there.
pub fn registry_log(data: &[u8]) -> bool {
    let Ok(answer) = ProvenEntries::from_bytes(data) else {
        return false;
    };
    assert_eq!(answer.to_bytes(), data, "it has one form");
    let log = LoggedBytes::new();
    let numbers: Vec<u64> = answer.entries.iter().map(|entry| entry.seq_no).collect();
    if let Ok(proven) = answer.clone().judged(&numbers, &log.standing()) {
        for entry in proven {
            let genuine = LoggedBytes::at(entry.seq_no);
            assert_eq!(entry.transaction, genuine, "nothing else is in the log");
        }
    }
    let whole: Vec<u64> = (1..=LOGGED).collect();
    if let Ok(proven) = answer.judged(&whole, &log.standing()) {
        assert_eq!(proven.len(), whole.len(), "nothing is left out");
    }
    true
}

/// The number of entries in the log.
const LOGGED: u64 = 7;

/// A small log with known entries.
struct LoggedBytes(Frontier, Vec<Hash>);

impl LoggedBytes {
    fn new() -> Self {
        let (mut log, mut leaves) = (Frontier::new(), Vec::new());
        for number in 1..=LOGGED {
            let leaf = leaf_hash(&Self::at(number));
            log.append(leaf);
            leaves.push(leaf);
        }
        Self(log, leaves)
    }

    fn at(number: u64) -> Vec<u8> {
        format!("entry {number}").into_bytes()
    }

    fn standing(&self) -> Standing {
        Standing {
            height: 3,
            time: UnixTime(1_800_000_000),
            size: self.0.size(),
            log: self.0.root(),
            state: [0; 32],
        }
    }

    fn answer(&self, numbers: &[u64]) -> Vec<u8> {
        let entry = |number: &u64| ProvenEntry {
            seq_no: *number,
            height: 3,
            time: UnixTime(1_800_000_000),
            transaction: Self::at(*number),
            path: inclusion(number - 1, self.0.size(), self).expect("the log has it"),
        };
        let bundle = Bundle::from_bytes(&recorded("present")).expect("the vector is read");
        let entries = numbers.iter().map(entry).collect();
        ProvenEntries { bundle, entries }.to_bytes()
    }
}

impl LogRead for LoggedBytes {
    fn hashes(&self, level: u8, first: u64, count: u64) -> Result<Vec<Hash>, ReadError> {
        assert_eq!(level, 0, "it has fewer leaves than a tile");
        let [first, count] = [first, count].map(|n| usize::try_from(n).expect("it is small"));
        Ok(self.1[first..first + count].to_vec())
    }
}

/// Answers about a log of seven entries.
pub(super) fn log_seeds() -> Vec<Vec<u8>> {
    let log = LoggedBytes::new();
    let whole: Vec<u64> = (1..=LOGGED).collect();
    let seeds: [&[u64]; 3] = [&whole, &[4], &[]];
    seeds.map(|numbers| log.answer(numbers)).to_vec()
}

/// Notes, checkpoints and keys.
pub(super) fn checkpoint_seeds() -> Vec<Vec<u8>> {
    let bundle = Bundle::from_bytes(&recorded("present")).expect("the vector is read");
    let note = &bundle.note;
    let (text, _) = note.rsplit_once("\n\n").expect("a note has signatures");
    let key = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
    vec![
        note.clone().into_bytes(),
        format!("{text}\n").into_bytes(),
        key.as_bytes().to_vec(),
    ]
}

/// Bundles and their parts.
pub(super) fn read_seeds() -> Vec<Vec<u8>> {
    let bundle = Bundle::from_bytes(&recorded("present")).expect("the vector is read");
    let absent = Bundle::from_bytes(&recorded("absent")).expect("the vector is read");
    let also_absent = Bundle {
        key: b"did/~one".to_vec(),
        ..absent.clone()
    };
    vec![
        bundle.to_bytes(),
        absent.to_bytes(),
        also_absent.to_bytes(),
        bundle.proof.to_bytes(),
        absent.proof.to_bytes(),
        bundle
            .handovers
            .iter()
            .map(|handover| handover.set.to_bytes())
            .next_back()
            .expect("it has two"),
        recorded("trust"),
        Frontier::new().to_bytes(),
    ]
}

/// The last word of the vector's line that begins with `name`.
fn recorded(name: &str) -> Vec<u8> {
    let mut lines = RECORDED.lines().map(|line| line.split(' '));
    let line = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words));
    let word = line
        .and_then(Iterator::last)
        .expect("the vector has the line");
    base64_decode(word).expect("the vector is base64")
}

fn judged(bundle: &Bundle) -> ReadReport {
    let trust = TrustRoot::from_bytes(&recorded("trust")).expect("the vector is read");
    let policy = ReadPolicy::genuine(0);
    let question = Question {
        key: &bundle.key,
        policy: &policy,
        now: UnixTime(u64::MAX),
    };
    judge(bundle, &question, &trust)
}
