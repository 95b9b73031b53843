//! Checkpoints: the head of a log as the text of a signed note (C2SP tlog-checkpoint).

use selfsame_crypto::encoding::{base64_decode, base64_encode};
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;

use crate::ProofError;
use crate::log::{Hash, TreeHead};
use crate::note::{SignedNote, VerifierKey};
use crate::validators::ValidatorSet;

/// The maximum number of extension lines.
pub const MAX_EXTENSIONS: usize = 16;

const STATE: &str = "state";
const HEIGHT: &str = "height";
const TIME: &str = "time";
const APP_DOMAIN: &[u8] = b"selfsame/app/1";

/// The head of a log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checkpoint {
    /// The log's identifier.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root hash.
    pub root: Hash,
    /// Extension lines. For those of a block see [`Checkpoint::of_block`].
    pub extensions: Vec<String>,
}

/// The state of a registry after a block, as its checkpoint states it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Standing {
    /// The block's height.
    pub height: u64,
    /// The block's time.
    pub time: UnixTime,
    /// The number of transactions in the log.
    pub size: u64,
    /// The root of the log.
    pub log: Hash,
    /// The root of the state tree.
    pub state: Hash,
}

impl Standing {
    /// The digest of log and state that a network agrees on: SHA-256 of `selfsame/app/1`, the size of the log (8 bytes,
    /// big endian), its root and the root of the state tree. A block without transactions does not change it.
    pub fn app_hash(&self) -> Hash {
        sha256_parts(&[APP_DOMAIN, &self.size.to_be_bytes(), &self.log, &self.state])
    }

    /// The log's size and root.
    pub fn tree_head(&self) -> TreeHead {
        TreeHead {
            size: self.size,
            root: self.log,
        }
    }
}

/// A checkpoint signed by a quorum of validators.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Agreed {
    /// The agreed standing.
    pub standing: Standing,
    /// The names of the signers.
    pub signers: Vec<String>,
}

impl Checkpoint {
    /// The checkpoint of a block, with lines `state <base64>`, `height <decimal>` and `time <unix>`.
    pub fn of_block(origin: &str, standing: &Standing) -> Self {
        Self {
            origin: origin.to_owned(),
            size: standing.size,
            root: standing.log,
            extensions: vec![
                format!("{STATE} {}", base64_encode(&standing.state)),
                format!("{HEIGHT} {}", standing.height),
                format!("{TIME} {}", standing.time.0),
            ],
        }
    }

    /// The standing in a block's checkpoint. An error if a line is missing or malformed.
    pub fn standing(&self) -> Result<Standing, ProofError> {
        let bad = |line| ProofError::Checkpoint(line);
        let state = self.extension(STATE).and_then(hash);
        let height = self.extension(HEIGHT).and_then(decimal);
        Ok(Standing {
            height: height.ok_or(bad("it has no line for the height"))?,
            time: self.time().ok_or(bad("it has no line for the time"))?,
            size: self.size,
            log: self.root,
            state: state.ok_or(bad("it has no line for the state"))?,
        })
    }

    /// Reads a block's checkpoint of a known network, which validators with more than two thirds of the power must have
    /// signed. Other signatures are ignored, but an invalid one of a validator is an error.
    pub fn agreed(
        note: &SignedNote,
        origin: &str,
        set: &ValidatorSet,
    ) -> Result<Agreed, ProofError> {
        let keys = set.verifier_keys(origin)?;
        let signers = note.signers(&keys)?;
        let signed = |name: &str| {
            let is = |key: &VerifierKey| key.name().strip_prefix(origin) == Some(name);
            signers.iter().any(|signer| is(signer.key))
        };
        let named = |name: &str| signed(&format!("/{name}"));
        if !set.is_quorum(set.power_of(|validator| named(&validator.name))) {
            return Err(ProofError::Untrusted);
        }
        let checkpoint = Self::parse(note.text())?;
        if checkpoint.origin != origin {
            return Err(ProofError::Checkpoint("it is of another log"));
        }
        let validators = set.validators().iter().map(|validator| &validator.name);
        Ok(Agreed {
            standing: checkpoint.standing()?,
            signers: validators.filter(|name| named(name)).cloned().collect(),
        })
    }

    /// The time of the last block, if the checkpoint states it.
    pub fn time(&self) -> Option<UnixTime> {
        decimal(self.extension(TIME)?).map(UnixTime)
    }

    /// The checkpoint as an unsigned note.
    pub fn to_note(&self) -> Result<SignedNote, ProofError> {
        let text = self.text();
        // A line that would read back differently is refused before the note can be signed.
        match Self::parse(&text) {
            Ok(read) if read == *self => SignedNote::new(text),
            Ok(_) => Err(ProofError::Checkpoint("a line has a line break")),
            Err(error) => Err(error),
        }
    }

    /// The text of the note.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\n{}\n{}\n",
            self.origin,
            self.size,
            base64_encode(&self.root)
        );
        for extension in &self.extensions {
            text.push_str(extension);
            text.push('\n');
        }
        text
    }

    /// Reads a checkpoint of a known log, which at least one of the keys must have signed.
    pub fn open(note: &str, origin: &str, keys: &[VerifierKey]) -> Result<Self, ProofError> {
        let note = SignedNote::parse(note)?;
        let checkpoint = Self::parse(note.verify(keys)?)?;
        if checkpoint.origin != origin {
            return Err(ProofError::Checkpoint("it is of another log"));
        }
        Ok(checkpoint)
    }

    /// Parses the text of a note strictly. The caller must have verified it, see [`Checkpoint::open`].
    pub fn parse(text: &str) -> Result<Self, ProofError> {
        let bad = ProofError::Checkpoint;
        let body = text
            .strip_suffix('\n')
            .ok_or(bad("its last line does not end"))?;
        let mut lines = body.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(bad("it has fewer than three lines"));
        };
        let extensions: Vec<String> = lines.map(str::to_owned).collect();
        if origin.is_empty() || extensions.iter().any(String::is_empty) {
            return Err(bad("it has an empty line"));
        }
        if extensions.len() > MAX_EXTENSIONS {
            return Err(bad("it has too many extension lines"));
        }
        Ok(Self {
            origin: origin.to_owned(),
            size: decimal(size).ok_or(bad("its size is not a decimal number"))?,
            root: hash(root).ok_or(bad("its root is not a hash"))?,
            extensions,
        })
    }

    /// The value of an extension line; `None` if it is absent or occurs twice.
    fn extension(&self, name: &str) -> Option<&str> {
        let value =
            |line: &'_ str| -> bool { line.split_once(' ').is_some_and(|(n, _)| n == name) };
        let mut found = self.extensions.iter().filter(|line| value(line));
        match (found.next(), found.next()) {
            (Some(line), None) => line.split_once(' ').map(|(_, value)| value),
            _ => None,
        }
    }
}

/// A hash in base64.
pub(crate) fn hash(text: &str) -> Option<Hash> {
    base64_decode(text).ok()?.try_into().ok()
}

/// An ASCII decimal number without leading zeros.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with('0');
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if canonical && digits {
        text.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use selfsame_crypto::{KeyType, PrivateKey};

    const EXAMPLE: &str = include_str!("../vectors/checkpoint-example.txt");
    const ORIGIN: &str = "registry.example/main";

    fn checkpoint() -> Checkpoint {
        Checkpoint::of_block(ORIGIN, &standing())
    }

    #[test]
    fn the_example_of_the_specification_reads() {
        let note = EXAMPLE.split_once("----\n").unwrap().1;
        let (text, _) = note.rsplit_once("\n\n").unwrap();
        assert!(SignedNote::parse(note).is_ok());
        let read = Checkpoint::parse(&format!("{text}\n")).unwrap();
        assert_eq!(
            (read.origin.as_str(), read.size),
            ("example.com/behind-the-sofa", 20_852_163)
        );
        assert_eq!(read.text(), format!("{text}\n"));
        assert_eq!(read.time(), None);
        assert!(read.standing().is_err());
    }

    #[test]
    fn a_signed_checkpoint_opens_with_the_right_key_and_origin_only() {
        let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let other = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let key = VerifierKey::new(ORIGIN, private.public()).unwrap();
        let stranger = VerifierKey::new(ORIGIN, other.public()).unwrap();
        let mut note = checkpoint().to_note().unwrap();
        let signature = private.sign(note.signing_bytes()).unwrap();
        note.sign(&key, signature).unwrap();
        let note = note.to_string();
        let keys = [key];
        let read = Checkpoint::open(&note, ORIGIN, &keys).unwrap();
        assert_eq!(read, checkpoint());
        assert_eq!(read.time(), Some(UnixTime(1_800_000_000)));
        assert_eq!(
            Checkpoint::open(&note, "other.example", &keys),
            Err(ProofError::Checkpoint("it is of another log"))
        );
        assert_eq!(
            Checkpoint::open(&note, ORIGIN, &[stranger]),
            Err(ProofError::Untrusted)
        );
        let tampered = note.replace("\n7\n", "\n8\n");
        assert_eq!(
            Checkpoint::open(&tampered, ORIGIN, &keys),
            Err(ProofError::BadSignature)
        );
    }

    fn standing() -> Standing {
        Standing {
            height: 30,
            time: UnixTime(1_800_000_000),
            size: 7,
            log: [1; 32],
            state: [2; 32],
        }
    }

    #[test]
    fn the_checkpoint_of_a_block_says_where_the_registry_stood() {
        let checkpoint = Checkpoint::of_block(ORIGIN, &standing());
        let (log, state) = (base64_encode(&[1; 32]), base64_encode(&[2; 32]));
        assert_eq!(
            checkpoint.text(),
            format!("{ORIGIN}\n7\n{log}\nstate {state}\nheight 30\ntime 1800000000\n")
        );
        let read = Checkpoint::parse(&checkpoint.text()).unwrap();
        assert_eq!(read.standing(), Ok(standing()));
    }

    #[test]
    fn a_checkpoint_without_state_height_or_time_or_with_two_is_of_no_block() {
        let good = Checkpoint::of_block(ORIGIN, &standing());
        for line in 0..3 {
            let mut without = good.clone();
            let removed = without.extensions.remove(line);
            let mut twice = good.clone();
            twice.extensions.push(removed);
            let mut malformed = good.clone();
            malformed.extensions[line].push('x');
            for bad in [without, twice, malformed] {
                assert!(
                    matches!(bad.standing(), Err(ProofError::Checkpoint(_))),
                    "{bad:?}"
                );
            }
        }
    }

    #[test]
    fn the_app_hash_is_that_of_log_and_state_and_not_of_the_block() {
        let hash = standing().app_hash();
        let mut bytes = b"selfsame/app/1".to_vec();
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 7]);
        bytes.extend([1; 32]);
        bytes.extend([2; 32]);
        assert_eq!(hash, selfsame_crypto::hash::sha256(&bytes));
        let later = Standing {
            height: 31,
            time: UnixTime(1_900_000_000),
            ..standing()
        };
        assert_eq!(later.app_hash(), hash);
        let other = Standing {
            size: 8,
            ..standing()
        };
        assert_ne!(other.app_hash(), hash);
    }

    #[test]
    fn malformed_checkpoints_are_refused() {
        let good = checkpoint().text();
        assert!(Checkpoint::parse(&good).is_ok());
        let root = base64_encode(&[1; 32]);
        for bad in [
            String::new(),
            "\n".to_owned(),
            good.trim_end().to_owned(),
            format!("{ORIGIN}\n7\n"),
            format!("\n7\n{root}\n"),
            format!("{ORIGIN}\n07\n{root}\n"),
            format!("{ORIGIN}\n+7\n{root}\n"),
            format!("{ORIGIN}\n-7\n{root}\n"),
            format!("{ORIGIN}\n\n{root}\n"),
            format!("{ORIGIN}\n18446744073709551616\n{root}\n"),
            format!("{ORIGIN}\n7\n{}\n", base64_encode(&[1; 31])),
            format!("{ORIGIN}\n7\n{}\n", root.trim_end_matches('=')),
            format!("{ORIGIN}\n7\n{root}\n\nx\n"),
            format!("{ORIGIN}\n7\n{root}\n{}", "x\n".repeat(MAX_EXTENSIONS + 1)),
        ] {
            assert!(
                matches!(Checkpoint::parse(&bad), Err(ProofError::Checkpoint(_))),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_checkpoint_that_would_read_back_differently_is_never_signed() {
        for origin in ["", "a\n9", "a\tb"] {
            let broken = Checkpoint {
                origin: origin.to_owned(),
                ..checkpoint()
            };
            assert!(broken.to_note().is_err(), "{origin:?}");
        }
        let broken = Checkpoint {
            extensions: vec!["a\nb".to_owned()],
            ..checkpoint()
        };
        assert!(broken.to_note().is_err());
    }

    #[test]
    fn an_extension_that_stands_twice_has_no_value() {
        let mut twice = checkpoint();
        twice.extensions.push("time 1".to_owned());
        assert_eq!(twice.time(), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_checkpoint_in_one_form_or_refused(text in "(\\PC|\n|0|AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=){0,20}") {
            if let Ok(checkpoint) = Checkpoint::parse(&text) {
                prop_assert_eq!(checkpoint.text(), text);
            }
        }
    }
}
