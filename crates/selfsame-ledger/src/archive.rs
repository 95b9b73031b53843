//! A registry as one stream: its genesis, the transactions of every block, and the checkpoint that proves them.
//!
//! Frames of deterministic CBOR, each after its length (4 bytes, big-endian): the genesis, the blocks in order, the
//! end. An import trusts none of it: the machine validates every transaction again, and the checkpoint must match the
//! result.

use std::io::{Read, Write};
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::{Handover, TrustRoot};
use selfsame_registry::{Block, Genesis, Head, StateMachine, Transaction};
use selfsame_store::ledger::{LedgerStore, MAX_ENTRIES};

use crate::ledger::Ledger;
use crate::network::{log_origin, trust_root};

const DOMAIN: &str = "selfsame/export/1";
const BLOCK: &str = "block";
const END: &str = "end";
/// The longest frame: the largest block that the rules allow, with a handover.
const FRAME_MAX: usize = 64 * 1024 * 1024;

/// A summary of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Archived {
    /// The network.
    pub network: Network,
    /// The height of its last block.
    pub height: u64,
    /// The number of its transactions.
    pub transactions: u64,
    /// The app hash after that block, on which the validators agree.
    pub app_hash: [u8; 32],
    /// The checkpoint that proves all of it.
    pub checkpoint: String,
}

impl Archived {
    fn new(network: &Network, head: &Head, checkpoint: &str) -> Self {
        Self {
            network: network.clone(),
            height: head.height,
            transactions: head.log.size(),
            app_hash: head.app_hash(),
            checkpoint: checkpoint.to_owned(),
        }
    }
}

/// Writes a ledger up to the block of a signed checkpoint.
///
/// # Errors
/// `BadRequest` if the checkpoint is not of this ledger, `Internal` if the ledger can't be read or the stream can't be
/// written.
pub fn export(ledger: &Ledger, checkpoint: &str, to: &mut dyn Write) -> Result<Archived> {
    let genesis = ledger.genesis();
    let standing = standing_of(checkpoint, &log_origin(&genesis.network()))?;
    let last = match standing.height {
        0 => Head::of_genesis(genesis),
        height => ledger.block(height)?,
    };
    if !is_of(&standing, &last) {
        return Err(Error::bad_request("checkpoint-of-other-ledger"));
    }
    let mut written = Frames { stream: to };
    written.put(&Frame::Genesis(genesis.to_bytes()))?;
    let mut before = 0;
    for height in 1..=standing.height {
        let head = ledger.block(height)?;
        let size = head.log.size();
        written.put(&Frame::Block {
            height,
            time: head.time,
            transactions: transactions(ledger, before, size)?,
            handover: match height {
                1 => None,
                _ => ledger.handover(height.saturating_sub(1))?.map(Box::new),
            },
        })?;
        before = size;
    }
    written.put(&Frame::End(checkpoint.to_owned()))?;
    written.stream.flush().map_err(broken)?;
    Ok(Archived::new(&genesis.network(), &last, checkpoint))
}

/// The transactions with the numbers from `from + 1` to `to`.
fn transactions(ledger: &Ledger, from: u64, to: u64) -> Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    let mut next = from.saturating_add(1);
    while next <= to {
        let end = to.saturating_add(1).min(next.saturating_add(MAX_ENTRIES));
        let placed = ledger.store().entries(next..end)?;
        if placed.is_empty() {
            return Err(Error::internal("an entry of the ledger is missing"));
        }
        all.extend(placed.into_iter().map(|placed| placed.entry.bytes));
        next = end;
    }
    Ok(all)
}

/// Reads a stream into an empty ledger and verifies it: transactions by the machine, changes of validators and the last
/// checkpoint by signatures, from the genesis's validators on. After an error the ledger must be discarded.
///
/// # Errors
/// `BadRequest` with the reason for a malformed, altered or incomplete stream, `Conflict` if the ledger is not empty.
pub async fn import(from: &mut (dyn Read + Send), store: Arc<dyn LedgerStore>) -> Result<Archived> {
    if store.head()?.is_some() {
        return Err(Error::new(ErrorKind::Conflict, "ledger-exists"));
    }
    let mut frames = Frames { stream: from };
    let Frame::Genesis(genesis) = frames.next()? else {
        return Err(refused(Reason::new("export-without-genesis")));
    };
    let genesis = Genesis::from_bytes(&genesis).map_err(malformed)?;
    let mut trust = trust_root(&genesis);
    let ledger = Ledger::open(store, Arc::new(StateMachine::new(genesis)))?.lagging();
    let checkpoint = loop {
        match frames.next()? {
            Frame::Genesis(_) => return Err(refused(Reason::new("export-geneses"))),
            Frame::End(checkpoint) => break checkpoint,
            Frame::Block {
                height,
                time,
                transactions,
                handover,
            } => {
                if let Some(handover) = &handover {
                    trust = handed_over(&ledger, &trust, handover)?;
                }
                append(&ledger, height, time, transactions, handover).await?;
            }
        }
    };
    if !frames.is_at_its_end()? {
        return Err(refused(Reason::new("export-too-long")));
    }
    let head = ledger.head()?;
    let note = SignedNote::parse(&checkpoint)
        .map_err(|error| refused(Reason::new("rule-broken").with("detail", &error)))?;
    let agreed = trust.agreed(&note).map_err(|error| {
        refused(Reason::new("export-checkpoint-invalid").with("detail", &error))
    })?;
    if !is_of(&agreed.standing, &head) {
        return Err(refused(Reason::new("export-checkpoint-mismatch")));
    }
    Ok(Archived::new(
        &ledger.machine().network().clone(),
        &head,
        &checkpoint,
    ))
}

/// Validates a block with the machine and stores it.
pub(super) async fn append(
    ledger: &Ledger,
    height: u64,
    time: UnixTime,
    transactions: Vec<Vec<u8>>,
    handover: Option<Box<Handover>>,
) -> Result<()> {
    let head = ledger.head()?;
    if height != head.height.saturating_add(1) {
        return Err(refused(Reason::new("export-block-missing")));
    }
    let read = transactions
        .iter()
        .map(|bytes| Transaction::from_bytes(bytes));
    let transactions: Vec<Transaction> = read
        .collect::<std::result::Result<_, _>>()
        .map_err(malformed)?;
    let block = Block {
        time,
        transactions: &transactions,
    };
    let applied = ledger.apply(&head, &block).map_err(|error| {
        refused(
            Reason::new("export-block-invalid")
                .with("height", &height)
                .with("detail", &error),
        )
    })?;
    if applied.logged.len() != transactions.len() {
        let reason = applied
            .results
            .iter()
            .find_map(|result| result.as_ref().err());
        let reason = reason.map_or_else(
            || Reason::new("transaction-twice"),
            |refusal| Reason::new("rule-broken").with("detail", refusal),
        );
        return Err(refused(
            Reason::new("export-transaction-refused")
                .with("height", &height)
                .because(reason),
        ));
    }
    ledger
        .append_and(&transactions, &applied, handover.as_deref())
        .await
}

/// The trust root after a change of validators. The new validators must be those in the state.
fn handed_over(ledger: &Ledger, trust: &TrustRoot, handover: &Handover) -> Result<TrustRoot> {
    let set = ledger
        .machine()
        .validators(ledger)
        .map_err(Error::internal)?;
    if set != handover.set {
        return Err(refused(Reason::new("export-handover-foreign")));
    }
    trust
        .after(handover)
        .map_err(|error| refused(Reason::new("export-handover-invalid").with("detail", &error)))
}

/// The standing that a checkpoint states. Its signatures are not verified.
pub(super) fn standing_of(checkpoint: &str, origin: &str) -> Result<Standing> {
    let note = SignedNote::parse(checkpoint).ok();
    let text = note
        .as_ref()
        .and_then(|note| std::str::from_utf8(note.signing_bytes()).ok());
    let read = text.and_then(|text| Checkpoint::parse(text).ok());
    read.filter(|read| read.origin == origin)
        .and_then(|read| read.standing().ok())
        .ok_or_else(|| Error::bad_request("checkpoint-foreign"))
}

/// Whether a checkpoint is of this block. It may have been signed again later, if no block followed.
pub(super) fn is_of(standing: &Standing, head: &Head) -> bool {
    let of_block = head.standing();
    standing.time >= of_block.time
        && *standing
            == Standing {
                time: standing.time,
                ..of_block
            }
}

fn refused(reason: Reason) -> Error {
    Error::bad_request("export-refused").because(reason)
}

fn malformed(malformed: Malformed) -> Error {
    refused(Reason::new("rule-broken").with("detail", &malformed))
}

fn broken(error: std::io::Error) -> Error {
    Error::internal(format!("the export can't be written: {error}"))
}

/// One frame of a stream.
enum Frame {
    Genesis(Vec<u8>),
    Block {
        height: u64,
        time: UnixTime,
        transactions: Vec<Vec<u8>>,
        /// The handover to the validators that the block before set.
        handover: Option<Box<Handover>>,
    },
    End(String),
}

impl CborItem for Frame {
    fn write(&self, to: &mut CborWriter) {
        match self {
            Self::Genesis(genesis) => {
                to.array(2).text(DOMAIN).bytes(genesis);
            }
            Self::Block {
                height,
                time,
                transactions,
                handover,
            } => {
                to.array(5).text(BLOCK).uint(*height).uint(time.0);
                to.array(transactions.len());
                for transaction in transactions {
                    to.bytes(transaction);
                }
                to.array(usize::from(handover.is_some()));
                if let Some(handover) = handover {
                    to.item(&**handover);
                }
            }
            Self::End(checkpoint) => {
                to.array(2).text(END).text(checkpoint);
            }
        }
    }

    fn read(from: &mut CborReader<'_>) -> std::result::Result<Self, Malformed> {
        let length = from.array()?;
        match (from.text()?, length) {
            (DOMAIN, 2) => from.bytes().map(|genesis| Self::Genesis(genesis.to_vec())),
            (END, 2) => from
                .text()
                .map(|checkpoint| Self::End(checkpoint.to_owned())),
            (BLOCK, 5) => {
                let (height, time) = (from.uint()?, UnixTime(from.uint()?));
                let transactions = (0..from.array()?).map(|_| from.bytes().map(<[u8]>::to_vec));
                let transactions = transactions.collect::<std::result::Result<_, _>>()?;
                let mut handovers: Vec<Handover> = from.items()?;
                let handover = handovers.pop().map(Box::new);
                match handovers.is_empty() {
                    true => Ok(Self::Block {
                        height,
                        time,
                        transactions,
                        handover,
                    }),
                    false => Err(Malformed("a block has more than one handover")),
                }
            }
            _ => Err(Malformed("a frame has an unknown kind or version")),
        }
    }
}

/// The frames of a stream.
struct Frames<S> {
    stream: S,
}

impl Frames<&mut dyn Write> {
    fn put(&mut self, frame: &Frame) -> Result<()> {
        let bytes = frame.to_cbor();
        let length = u32::try_from(bytes.len()).map_err(Error::internal)?;
        self.stream
            .write_all(&length.to_be_bytes())
            .map_err(broken)?;
        self.stream.write_all(&bytes).map_err(broken)
    }
}

impl Frames<&mut (dyn Read + Send)> {
    fn next(&mut self) -> Result<Frame> {
        let ends = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => refused(Reason::new("export-incomplete")),
            _ => Error::internal(format!("the export can't be read: {error}")),
        };
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).map_err(ends)?;
        let length = usize::try_from(u32::from_be_bytes(length)).map_err(Error::internal)?;
        if length > FRAME_MAX {
            return Err(refused(Reason::new("export-frame-long")));
        }
        // Memory grows with the bytes that arrive, not with the length that the frame claims.
        let mut bytes = Vec::new();
        let limit = u64::try_from(length).map_err(Error::internal)?;
        let read = self
            .stream
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(ends)?;
        if read != length {
            return Err(refused(Reason::new("export-incomplete")));
        }
        Frame::from_cbor(&bytes).map_err(malformed)
    }

    fn is_at_its_end(&mut self) -> Result<bool> {
        let mut next = [0];
        let read = self.stream.read(&mut next);
        Ok(read.map_err(Error::internal)? == 0)
    }
}
