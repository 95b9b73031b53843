//! A fake witness (C2SP tlog-witness), which tests can make misbehave.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_bench::fake_server::{FakeServer, ReceivedRequest, Reply};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::log::{Frontier, TreeHead, verify_consistency};
use selfsame_proof::note::{SignedNote, VerifierKey, cosigned};
use selfsame_proof::witness::{AddCheckpoint, SIZE_MEDIA_TYPE};

/// How a witness behaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Manner {
    /// It follows the specification.
    Honest,
    /// It breaks each connection.
    Down,
    /// It delays each answer by this time.
    Slow(Duration),
    /// It signs another note than the one it received.
    SignsAnother,
    /// It signs with another key under its own name.
    WrongKey,
    /// It claims another key's signature as its own.
    Forges,
    /// It answers with another size each time.
    NeverSatisfied,
    /// It answers with something that is not a witness's answer.
    Babbles,
}

/// A running witness; dropping it stops it.
pub struct Witness {
    late: FakeServer,
    shared: Arc<WitnessShared>,
}

struct WitnessShared {
    name: String,
    private: PrivateKey,
    key: VerifierKey,
    inner: Mutex<WitnessParts>,
}

struct WitnessParts {
    manner: Manner,
    /// The time of its clock.
    now: UnixTime,
    /// The keys of the logs it knows, by origin.
    logs: BTreeMap<String, VerifierKey>,
    /// Size and root of the last checkpoint it cosigned, by origin.
    latest: BTreeMap<String, TreeHead>,
    /// The HTTP statuses of its answers.
    answered: Vec<u16>,
}

impl Witness {
    /// Starts a witness of that name, which knows no log, on a free port of loopback.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start(name: &str, now: UnixTime) -> Self {
        let private = PrivateKey::generate(KeyType::Ed25519).expect("there is randomness");
        let key = VerifierKey::witness(name, private.public()).expect("it is a name");
        let shared = Arc::new(WitnessShared {
            name: name.to_owned(),
            private,
            key,
            inner: Mutex::new(WitnessParts {
                manner: Manner::Honest,
                now,
                logs: BTreeMap::new(),
                latest: BTreeMap::new(),
                answered: Vec::new(),
            }),
        });
        let answering = shared.clone();
        let late = FakeServer::start(move |asked| answering.answer(asked)).await;
        Self {
            late: late.expect("loopback has a free port"),
            shared,
        }
    }

    /// Its submission prefix.
    #[must_use]
    pub fn address(&self) -> &str {
        self.late.address()
    }

    /// Its verifier key.
    #[must_use]
    pub fn key(&self) -> &VerifierKey {
        &self.shared.key
    }

    /// Adds a log to those it knows; `origin` is the name of the log and `key` its verifier key.
    pub fn knows(&self, origin: &str, key: VerifierKey) {
        self.inner().logs.insert(origin.to_owned(), key);
    }

    /// Sets its behaviour from now on.
    pub fn behaves(&self, manner: Manner) {
        self.inner().manner = manner;
    }

    /// Forgets the checkpoints it has seen, which no witness may do.
    pub fn forgets(&self) {
        self.inner().latest.clear();
    }

    /// The size of the log when it last cosigned a checkpoint; 0 if it never did.
    #[must_use]
    pub fn has_seen(&self, origin: &str) -> u64 {
        self.inner().latest.get(origin).map_or(0, |head| head.size)
    }

    /// The HTTP statuses of its answers so far.
    #[must_use]
    pub fn answered(&self) -> Vec<u16> {
        self.inner().answered.clone()
    }

    fn inner(&self) -> MutexGuard<'_, WitnessParts> {
        self.shared.inner()
    }
}

impl WitnessShared {
    fn inner(&self) -> MutexGuard<'_, WitnessParts> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, asked: &ReceivedRequest) -> Reply {
        // Check and record are one step, so that two simultaneous requests cannot move the recorded size back.
        let mut inner = self.inner();
        let mut reply = match inner.manner {
            Manner::Down => Reply::default(),
            Manner::Babbles => said(200, "no signature\n"),
            Manner::NeverSatisfied => size(u64::try_from(inner.answered.len() % 2).unwrap_or(0)),
            _ => self.judged(&mut inner, asked),
        };
        if let Manner::Slow(after) = inner.manner {
            reply.after = after;
        }
        inner.answered.push(reply.status);
        reply
    }

    /// Answers in the order of the specification (C2SP tlog-witness, add-checkpoint).
    fn judged(&self, inner: &mut WitnessParts, asked: &ReceivedRequest) -> Reply {
        if asked.method != "POST" || asked.path != "/add-checkpoint" {
            return said(404, "");
        }
        let body = String::from_utf8_lossy(&asked.body);
        let Ok(call) = AddCheckpoint::parse(&body) else {
            return said(400, "");
        };
        let note = call.note().to_string();
        let origin = note.lines().next().unwrap_or_default();
        let Some(key) = inner.logs.get(origin) else {
            return said(404, "");
        };
        let Ok(shown) = Checkpoint::open(&note, origin, std::slice::from_ref(key)) else {
            return said(403, "");
        };
        if call.old() > shown.size {
            return said(400, "");
        }
        let empty = Frontier::new().tree_head();
        let latest = *inner.latest.get(origin).unwrap_or(&empty);
        if call.old() != latest.size {
            return size(latest.size);
        }
        let head = TreeHead {
            size: shown.size,
            root: shown.root,
        };
        let is_consistent = match (latest.size, head.size) {
            (0, 0) => head == empty && call.proof().is_empty(),
            (0, _) => call.proof().is_empty(),
            _ => verify_consistency(latest, head, call.proof()).is_ok(),
        };
        if !is_consistent {
            return said(422, "");
        }
        let line = self.cosign(inner, call.note());
        inner.latest.insert(shown.origin, head);
        said(200, &line)
    }

    fn cosign(&self, inner: &WitnessParts, note: &SignedNote) -> String {
        let text = std::str::from_utf8(note.signing_bytes()).expect("a note is text");
        let text = match inner.manner {
            Manner::SignsAnother => format!("{text}another line\n"),
            _ => text.to_owned(),
        };
        let other = PrivateKey::generate(KeyType::Ed25519).expect("there is randomness");
        let private = match inner.manner {
            Manner::WrongKey | Manner::Forges => &other,
            _ => &self.private,
        };
        let by = VerifierKey::witness(&self.name, private.public()).expect("it is a name");
        let message = cosigned(&text, inner.now).expect("it is a time");
        let signature = private.sign(&message).expect("it signs");
        let bytes = [inner.now.0.to_be_bytes().as_slice(), &signature].concat();
        let mut alone = SignedNote::new(text).expect("it is a text");
        alone.sign(&by, bytes).expect("it is its signature");
        let mut line = last_line(&alone);
        if inner.manner == Manner::Forges {
            line = renamed(&line, &by, &self.key);
        }
        line
    }
}

/// The same signature under the id of another key.
fn renamed(line: &str, from: &VerifierKey, to: &VerifierKey) -> String {
    use selfsame_crypto::encoding::{base64_decode, base64_encode, hex_decode};

    let id = |key: &VerifierKey| {
        let vkey = key.to_string();
        let id = vkey.split('+').nth(1).expect("a key has three parts");
        hex_decode(id).expect("its id is in hex")
    };
    let (head, encoded) = line.trim_end().rsplit_once(' ').expect("it is a line");
    let bytes = base64_decode(encoded).expect("it is base64");
    let signature = bytes.strip_prefix(id(from).as_slice());
    let signature = signature.expect("it begins with the id");
    format!("{head} {}\n", base64_encode(&[&id(to), signature].concat()))
}

fn last_line(note: &SignedNote) -> String {
    let written = note.to_string();
    let (_, lines) = written.rsplit_once("\n\n").expect("it is signed");
    lines.to_owned()
}

fn said(status: u16, body: &str) -> Reply {
    Reply {
        status,
        content_type: "text/plain; charset=utf-8",
        body: body.as_bytes().to_vec(),
        ..Reply::default()
    }
}

fn size(size: u64) -> Reply {
    Reply {
        content_type: SIZE_MEDIA_TYPE,
        ..said(409, &format!("{size}\n"))
    }
}
