//! Rules for checkpoints, proofs and reads of the registry.

use selfsame_crypto::encoding::base64_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::log::Frontier;
use selfsame_proof::note::{SignedNote, VerifierKey};
use selfsame_proof::read::{Bundle, Policy, Question, Report, TrustRoot, judge};
use selfsame_proof::tree::Proof;
use selfsame_proof::validators::ValidatorSet;

const RECORDED: &str = include_str!("../../../selfsame-proof/vectors/read-two-handovers.txt");

/// A signed note, the text of a checkpoint, or a verifier key: what is read has one form.
pub fn checkpoint(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let note = SignedNote::parse(text).is_ok_and(|note| {
        assert_eq!(note.to_string(), text, "a note has one form");
        assert_eq!(note.signers(&[]), Ok(vec![]), "nobody has no signature");
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

/// A read bundle, or a part of one: what is read has one form, and a bundle that verifies from the
/// recorded trust root says what the recorded one does.
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
    ];
    let bundle = Bundle::from_bytes(data);
    one_form(bundle.as_ref().ok().map(Bundle::to_bytes));
    if let Ok(bundle) = &bundle {
        let report = judged(bundle);
        if let Some(standing) = report.trust.and_then(|trust| trust.seen) {
            let recorded = (recorded("present"), recorded("absent"));
            let genuine = [recorded.0, recorded.1].map(|bytes| {
                let genuine = Bundle::from_bytes(&bytes).expect("the vector is read");
                let seen: Option<Standing> = judged(&genuine).as_of;
                (genuine.key, genuine.value, seen)
            });
            let says = (bundle.key.clone(), bundle.value.clone(), Some(standing));
            assert!(genuine.contains(&says), "nothing else was signed");
        }
    }
    bundle.is_ok() || parts.contains(&true)
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
    vec![
        bundle.to_bytes(),
        absent.to_bytes(),
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

/// The last word of the vector's line that begins with a name.
fn recorded(name: &str) -> Vec<u8> {
    let mut lines = RECORDED.lines().map(|line| line.split(' '));
    let line = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words));
    let word = line
        .and_then(Iterator::last)
        .expect("the vector has the line");
    base64_decode(word).expect("the vector is base64")
}

fn judged(bundle: &Bundle) -> Report {
    let trust = TrustRoot::from_bytes(&recorded("trust")).expect("the vector is read");
    let policy = Policy {
        max_age: None,
        skew: 0,
        behind: 0,
        witnesses: vec![],
        witnesses_needed: 0,
    };
    let question = Question {
        key: &bundle.key,
        policy: &policy,
        now: UnixTime(u64::MAX),
    };
    judge(bundle, &question, &trust)
}
