//! Transactions: an author's operations in one encoding, signed by the author and, if the network requires it, by an
//! endorser.

use selfsame_crypto::hash::sha256;
use selfsame_did::selfsame::Network;

use crate::agreement::Acceptance;
use crate::encoding::{optional, write_optional};
use crate::identifier::Identifier;
use crate::operation::{Operation, Since};
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

/// Maximum size of a transaction that is read, whatever the network's rules.
pub const MAX_TRANSACTION_BYTES: usize = 256 * 1024;
/// Maximum number of operations of a transaction.
pub const MAX_OPERATIONS: usize = 256;
/// Maximum number of an author's signatures, and of an endorser's.
pub const MAX_SIGNATURES: usize = 4;

const DOMAIN: &str = "selfsame/transaction/1";

/// The part of a transaction that is signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Body {
    /// The network it is for.
    pub network: String,
    /// The author.
    pub author: Identifier,
    /// Any number the author has not used before.
    pub nonce: u64,
    /// The operations, 1 to [`MAX_OPERATIONS`]: all of them are applied, in this order, or none.
    pub operations: Vec<Operation>,
    /// The endorser, who signs too.
    pub endorser: Option<Identifier>,
    /// The author agreement that the author accepts, if the network has one.
    pub agreement: Option<Acceptance>,
}

/// A signature by a key of its signer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signature {
    /// The key's fragment, without `#`.
    pub key: String,
    /// 64 bytes: Ed25519, or r and s of ECDSA with P-256 and SHA-256.
    pub bytes: [u8; 64],
}

/// A body without signatures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnsignedTransaction {
    body: Body,
    bytes: Vec<u8>,
}

/// A body that names an endorser, with the signatures of its author alone. It becomes a transaction once the endorser
/// has signed it too.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthoredTransaction {
    unsigned: UnsignedTransaction,
    signatures: Vec<Signature>,
}

/// A body with signatures. The machine verifies them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transaction {
    unsigned: UnsignedTransaction,
    signatures: Vec<Signature>,
    endorsements: Vec<Signature>,
}

impl Body {
    /// A body with several operations, without endorser and agreement.
    pub fn new(
        network: &Network,
        author: Identifier,
        nonce: u64,
        operations: Vec<Operation>,
    ) -> Self {
        Self {
            network: network.as_str().to_owned(),
            author,
            nonce,
            operations,
            endorser: None,
            agreement: None,
        }
    }
}

impl UnsignedTransaction {
    /// A transaction of one operation, to be signed by its author alone.
    pub fn new(network: &Network, author: Identifier, nonce: u64, operation: Operation) -> Self {
        Self::of(Body::new(network, author, nonce, vec![operation]))
    }

    /// Any transaction to be signed. Signing fails if the result could not be read again.
    pub fn of(body: Body) -> Self {
        let bytes = body.to_cbor();
        Self { body, bytes }
    }

    /// The body to be signed.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The signed bytes, for the author and for the endorser.
    pub fn signing_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The transaction signed by one key.
    pub fn signed(self, key: &str, signature: &[u8]) -> Result<Transaction, Malformed> {
        self.signed_by(vec![Signature::new(key, signature)?])
    }

    /// The transaction signed by several keys of its author.
    pub fn signed_by(self, signatures: Vec<Signature>) -> Result<Transaction, Malformed> {
        self.endorsed_by(signatures, Vec::new())
    }

    /// The transaction signed by keys of its author and by keys of its endorser.
    pub fn endorsed_by(
        self,
        signatures: Vec<Signature>,
        endorsements: Vec<Signature>,
    ) -> Result<Transaction, Malformed> {
        let transaction = Transaction {
            unsigned: self,
            signatures,
            endorsements,
        };
        // A transaction that could not be read again must not be sent.
        Transaction::from_bytes(&transaction.to_bytes())
    }

    /// The transaction signed by keys of its author, for the endorser that it names.
    pub fn authored(self, signatures: Vec<Signature>) -> Result<AuthoredTransaction, Malformed> {
        let authored = AuthoredTransaction {
            unsigned: self,
            signatures,
        };
        AuthoredTransaction::from_bytes(&authored.to_bytes())
    }
}

impl AuthoredTransaction {
    /// Reads it strictly.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > MAX_TRANSACTION_BYTES {
            return Err(Malformed("a transaction is too long"));
        }
        Self::from_cbor(bytes)
    }

    /// The bytes that the author sends to the endorser.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// The signed body.
    pub fn body(&self) -> &Body {
        self.unsigned.body()
    }

    /// The bytes that the endorser signs: those that the author has signed.
    pub fn signing_bytes(&self) -> &[u8] {
        self.unsigned.signing_bytes()
    }

    /// The identity of the transaction that it becomes.
    pub fn hash(&self) -> [u8; 32] {
        sha256(self.signing_bytes())
    }

    /// The transaction, signed by keys of the endorser too.
    pub fn endorsed(self, endorsements: Vec<Signature>) -> Result<Transaction, Malformed> {
        self.unsigned.endorsed_by(self.signatures, endorsements)
    }
}

impl Signature {
    /// A signature of 64 bytes.
    pub fn new(key: &str, signature: &[u8]) -> Result<Self, Malformed> {
        Ok(Self {
            key: key.to_owned(),
            bytes: signature
                .try_into()
                .map_err(|_| Malformed("a signature is 64 bytes"))?,
        })
    }
}

impl Transaction {
    /// Reads a transaction strictly.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > MAX_TRANSACTION_BYTES {
            return Err(Malformed("a transaction is too long"));
        }
        Self::from_cbor(bytes)
    }

    /// The transaction as it is sent and logged.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// The signed body.
    pub fn body(&self) -> &Body {
        &self.unsigned.body
    }

    /// The signed bytes.
    pub fn unsigned_bytes(&self) -> &[u8] {
        &self.unsigned.bytes
    }

    /// The author's signatures.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The endorser's signatures; empty without an endorser.
    pub fn endorsements(&self) -> &[Signature] {
        &self.endorsements
    }

    /// The transaction's identity: SHA-256 of the signed bytes, so the same request signed again
    /// is the same transaction.
    pub fn hash(&self) -> [u8; 32] {
        sha256(&self.unsigned.bytes)
    }

    /// The oldest machine version that has all its operations.
    pub(crate) fn since(&self, since: Since) -> u64 {
        let operations = self.body().operations.iter();
        operations.map(since).max().unwrap_or(1)
    }
}

impl CborItem for Transaction {
    fn write(&self, to: &mut CborWriter) {
        to.array(3)
            .item(&self.unsigned)
            .items(&self.signatures)
            .items(&self.endorsements);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        let unsigned = UnsignedTransaction::read(from)?;
        let signatures = author_signatures(from)?;
        let endorsements: Vec<Signature> = from.items()?;
        let wanted = match unsigned.body.endorser {
            Some(_) => 1..=MAX_SIGNATURES,
            None => 0..=0,
        };
        if !wanted.contains(&endorsements.len()) {
            return Err(Malformed("an endorser signs with one to four keys"));
        }
        Ok(Self {
            unsigned,
            signatures,
            endorsements,
        })
    }
}

impl CborItem for AuthoredTransaction {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).item(&self.unsigned).items(&self.signatures);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        let unsigned = UnsignedTransaction::read(from)?;
        if unsigned.body.endorser.is_none() {
            return Err(Malformed("the transaction names no endorser"));
        }
        Ok(Self {
            unsigned,
            signatures: author_signatures(from)?,
        })
    }
}

impl CborItem for UnsignedTransaction {
    fn write(&self, to: &mut CborWriter) {
        to.bytes(&self.bytes);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        let bytes = from.bytes()?.to_vec();
        let body = Body::from_cbor(&bytes)?;
        Ok(Self { body, bytes })
    }
}

fn author_signatures(from: &mut CborReader<'_>) -> Result<Vec<Signature>, Malformed> {
    let signatures: Vec<Signature> = from.items()?;
    match (1..=MAX_SIGNATURES).contains(&signatures.len()) {
        true => Ok(signatures),
        false => Err(Malformed("a transaction has one to four signatures")),
    }
}

impl CborItem for Signature {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).text(&self.key).bytes(&self.bytes);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            key: from.text()?.to_owned(),
            bytes: from.array_of()?,
        })
    }
}

impl CborItem for Body {
    fn write(&self, to: &mut CborWriter) {
        to.array(7)
            .text(DOMAIN)
            .text(&self.network)
            .item(&self.author);
        to.uint(self.nonce).items(&self.operations);
        write_optional(to, self.endorser.as_ref());
        write_optional(to, self.agreement.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(7)?;
        from.domain(DOMAIN)?;
        let network = from.text()?.to_owned();
        let author = Identifier::read(from)?;
        let nonce = from.uint()?;
        let operations: Vec<Operation> = from.items()?;
        if !(1..=MAX_OPERATIONS).contains(&operations.len()) {
            return Err(Malformed("a transaction has 1 to 256 operations"));
        }
        Ok(Self {
            network,
            author,
            nonce,
            operations,
            endorser: optional(from)?,
            agreement: optional(from)?,
        })
    }
}
