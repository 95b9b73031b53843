//! Properties of the messages between a log and its witnesses.

use selfsame_crypto::PrivateKey;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::note::{SignedNote, VerifierKey, cosigned};
use selfsame_proof::witness::{AddCheckpoint, parse_size, take_cosignature};

use super::tls::KEY;

const EXAMPLE: &str = include_str!("../../../selfsame-proof/vectors/witness-example.txt");
const NOW: UnixTime = UnixTime(1_800_000_000);

/// A request, an answer 409, or an answer 200 to a known request: each has exactly one encoding, and a cosignature
/// taken from an answer is one that the witness made.
pub fn witness(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let call = AddCheckpoint::parse(text).is_ok_and(|call| {
        assert_eq!(call.to_string(), text, "a call has one form");
        true
    });
    let size = parse_size(text).is_ok_and(|size| {
        assert_eq!(format!("{size}\n"), text, "a size has one form");
        true
    });
    call | size | answer(text)
}

fn answer(text: &str) -> bool {
    let known = WitnessedCheckpoint::new();
    let mut note = known.note.clone();
    let taken = take_cosignature(&mut note, text, &known.key, NOW);
    let Ok(time) = taken else {
        assert_eq!(note, known.note, "what is refused changes nothing");
        return false;
    };
    assert_eq!(time, NOW, "it signed once, then");
    let keys = [known.key];
    let signers = note.signers(&keys).expect("what is taken is good");
    assert_eq!(signers.len(), 1, "no other key's signature counts");
    true
}

/// A checkpoint and a witness's answer to it, equal in every run.
struct WitnessedCheckpoint {
    note: SignedNote,
    key: VerifierKey,
    answer: String,
}

impl WitnessedCheckpoint {
    fn new() -> Self {
        let pkcs8 = hex_decode(KEY).expect("it is hex");
        let private = PrivateKey::from_pkcs8(&pkcs8).expect("it is a key");
        let key = VerifierKey::witness("witness.example/w1", private.public());
        let key = key.expect("it is a name");
        let checkpoint = Checkpoint {
            origin: "registry.example/main".to_owned(),
            size: 7,
            root: [7; 32],
            extensions: Vec::new(),
        };
        let note = checkpoint.to_note().expect("it is a checkpoint");
        let message = cosigned(&checkpoint.text(), NOW).expect("it is a time");
        let signature = private.sign(&message).expect("it signs");
        let bytes = [NOW.0.to_be_bytes().as_slice(), &signature].concat();
        let mut signed = note.clone();
        signed.sign(&key, bytes).expect("it is its signature");
        let written = signed.to_string();
        let (_, answer) = written.rsplit_once("\n\n").expect("it is signed");
        Self {
            note,
            key,
            answer: answer.to_owned(),
        }
    }
}

/// Requests, sizes and answers.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let known = WitnessedCheckpoint::new();
    let call = EXAMPLE.split("---- call\n").nth(1);
    let call = call.and_then(|rest| rest.split("---- ").next());
    let answers = EXAMPLE.split("---- answer\n").nth(1);
    let (call, answers) = (
        call.expect("the vector has a call"),
        answers.expect("the vector has an answer"),
    );
    vec![
        call.as_bytes().to_vec(),
        b"20852163\n".to_vec(),
        known.answer.clone().into_bytes(),
        [answers, &known.answer].concat().into_bytes(),
    ]
}
