//! Transactions: what an author asks of the registry, in one encoding, signed.

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_did::selfsame::Network;

use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::content::Content;
use crate::identifier::Identifier;

/// Longest transaction that is read, whatever the network's rules.
pub const MAX_TRANSACTION_BYTES: usize = 64 * 1024;
/// Most signatures of a transaction.
pub const MAX_SIGNATURES: usize = 4;

const DOMAIN: &str = "selfsame/transaction/1";

/// What is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Registers the author, whose identifier belongs to the first key.
    CreateDid(Content),
    /// Puts new content in place of the author's; the old stays readable.
    UpdateDid {
        /// The version this makes, one above the present one.
        version: u64,
        /// The new content.
        content: Content,
    },
    /// Ends the author's DID for good.
    DeactivateDid {
        /// The version this makes, one above the present one.
        version: u64,
    },
    /// Says which status list the author has issued under a URI.
    AnchorStatus {
        /// The list's URI.
        list: String,
        /// SHA-256 of the list as served.
        digest: [u8; 32],
        /// When the list was issued; later than the one anchored before.
        issued: UnixTime,
    },
}

/// What an author signs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Body {
    /// The network it is for.
    pub network: String,
    /// Whose transaction it is.
    pub author: Identifier,
    /// Any number the author has not used before.
    pub nonce: u64,
    /// What is asked.
    pub operation: Operation,
}

/// A signature by a key of the author.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signature {
    /// The key's fragment, without `#`.
    pub key: String,
    /// 64 bytes: Ed25519, or r and s of ECDSA with P-256 and SHA-256.
    pub bytes: [u8; 64],
}

/// A body that waits for its signatures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unsigned {
    body: Body,
    bytes: Vec<u8>,
}

/// A body with signatures; whether they are good is for the machine to say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transaction {
    unsigned: Unsigned,
    signatures: Vec<Signature>,
}

impl Unsigned {
    /// A transaction to be signed.
    pub fn new(network: &Network, author: Identifier, nonce: u64, operation: Operation) -> Self {
        let body = Body {
            network: network.as_str().to_owned(),
            author,
            nonce,
            operation,
        };
        let bytes = body.to_cbor();
        Self { body, bytes }
    }

    /// The bytes each signature is over.
    pub fn signing_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The transaction signed by one key.
    pub fn signed(self, key: &str, signature: &[u8]) -> Result<Transaction, Malformed> {
        let bytes = signature
            .try_into()
            .map_err(|_| Malformed("a signature is 64 bytes"))?;
        self.signed_by(vec![Signature {
            key: key.to_owned(),
            bytes,
        }])
    }

    /// The transaction signed by several keys.
    pub fn signed_by(self, signatures: Vec<Signature>) -> Result<Transaction, Malformed> {
        let transaction = Transaction {
            unsigned: self,
            signatures,
        };
        // What could not be read again is not sent.
        Transaction::from_bytes(&transaction.to_bytes())
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

    /// What was signed.
    pub fn body(&self) -> &Body {
        &self.unsigned.body
    }

    /// The bytes each signature is over.
    pub fn unsigned_bytes(&self) -> &[u8] {
        &self.unsigned.bytes
    }

    /// The signatures.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The transaction's identity: SHA-256 of the signed bytes, so the same request signed again
    /// is the same transaction.
    pub fn hash(&self) -> [u8; 32] {
        sha256(&self.unsigned.bytes)
    }
}

impl Item for Transaction {
    fn write(&self, to: &mut Writer) {
        to.array(2)
            .bytes(&self.unsigned.bytes)
            .items(&self.signatures);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        let bytes = from.bytes()?.to_vec();
        let body = Body::from_cbor(&bytes)?;
        let signatures: Vec<Signature> = from.items()?;
        if !(1..=MAX_SIGNATURES).contains(&signatures.len()) {
            return Err(Malformed("a transaction has one to four signatures"));
        }
        Ok(Self {
            unsigned: Unsigned { body, bytes },
            signatures,
        })
    }
}

impl Item for Signature {
    fn write(&self, to: &mut Writer) {
        to.array(2).text(&self.key).bytes(&self.bytes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            key: from.text()?.to_owned(),
            bytes: from.array_of()?,
        })
    }
}

impl Item for Body {
    fn write(&self, to: &mut Writer) {
        to.array(5)
            .text(DOMAIN)
            .text(&self.network)
            .item(&self.author);
        to.uint(self.nonce).item(&self.operation);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        from.domain(DOMAIN)?;
        Ok(Self {
            network: from.text()?.to_owned(),
            author: Identifier::read(from)?,
            nonce: from.uint()?,
            operation: Operation::read(from)?,
        })
    }
}

impl Item for Operation {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::CreateDid(content) => to.array(2).uint(1).item(content),
            Self::UpdateDid { version, content } => {
                to.array(3).uint(2).uint(*version).item(content)
            }
            Self::DeactivateDid { version } => to.array(2).uint(3).uint(*version),
            Self::AnchorStatus {
                list,
                digest,
                issued,
            } => to.array(4).uint(4).text(list).bytes(digest).uint(issued.0),
        };
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match (from.array()?, from.uint()?) {
            (2, 1) => Ok(Self::CreateDid(Content::read(from)?)),
            (3, 2) => Ok(Self::UpdateDid {
                version: from.uint()?,
                content: Content::read(from)?,
            }),
            (2, 3) => Ok(Self::DeactivateDid {
                version: from.uint()?,
            }),
            (4, 4) => Ok(Self::AnchorStatus {
                list: from.text()?.to_owned(),
                digest: from.array_of()?,
                issued: UnixTime(from.uint()?),
            }),
            _ => Err(Malformed("an unknown operation")),
        }
    }
}
