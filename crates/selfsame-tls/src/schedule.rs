//! The key schedule (RFC 8446 §7.1): from the shared secret to the keys of each direction, Finished and exporters.

use std::fmt;
use std::sync::OnceLock;

use crate::alert::Refusal;
use crate::provider::{Block, Cipher, Expander, Opener, Sealer};

/// A traffic secret of one direction.
#[derive(Clone)]
pub(crate) struct Traffic {
    cipher: Cipher,
    secret: Block,
}

impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Traffic(secret)")
    }
}

impl Traffic {
    pub(crate) fn sealer(&self) -> Sealer {
        self.cipher.sealer(&self.secret)
    }

    pub(crate) fn opener(&self) -> Opener {
        self.cipher.opener(&self.secret)
    }

    pub(crate) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// `verify_data` of a Finished over this transcript hash (§4.4.4).
    pub(crate) fn finished(&self, transcript: &[u8]) -> Result<Vec<u8>, Refusal> {
        let expander = self.cipher.expander(&self.secret);
        let key = expand_block(self.cipher, &expander, "finished", &[])?;
        Ok(self.cipher.mac(&key, transcript))
    }

    /// The traffic secret after a KeyUpdate (§7.2).
    pub(crate) fn next(&self) -> Result<Self, Refusal> {
        let expander = self.cipher.expander(&self.secret);
        Ok(Self {
            cipher: self.cipher,
            secret: expand_block(self.cipher, &expander, "traffic upd", &[])?,
        })
    }

    #[cfg(test)]
    pub(crate) fn secret(&self) -> &[u8] {
        self.secret.as_ref()
    }
}

/// The early secret, from a ticket's secret or from nothing.
pub(crate) struct Early {
    cipher: Cipher,
    resumed: Option<Expander>,
}

impl Early {
    pub(crate) fn new(cipher: Cipher, resumed: Option<&Block>) -> Self {
        let resumed = resumed.map(|secret| cipher.extract(None, Some(secret.as_ref())));
        Self { cipher, resumed }
    }

    /// The binder, which proves that the ticket's secret is known, over a hello up to its binders (§4.2.11.2).
    pub(crate) fn binder(&self, transcript: &[u8]) -> Result<Vec<u8>, Refusal> {
        let secret = derive_empty(self.cipher, self.resumed()?, "res binder")?;
        let cipher = self.cipher;
        Traffic { cipher, secret }.finished(transcript)
    }

    /// The traffic secret for early data, from the transcript hash of the hello.
    pub(crate) fn traffic(&self, transcript: &[u8]) -> Result<Traffic, Refusal> {
        let cipher = self.cipher;
        let secret = expand_block(cipher, self.resumed()?, "c e traffic", transcript)?;
        Ok(Traffic { cipher, secret })
    }

    fn resumed(&self) -> Result<&Expander, Refusal> {
        let nothing = Refusal::internal("no session is resumed");
        self.resumed.as_ref().ok_or(nothing)
    }

    /// The handshake secrets, from the shared secret and the transcript hash up to ServerHello.
    pub(crate) fn handshake(self, shared: &[u8], transcript: &[u8]) -> Result<Handshake, Refusal> {
        let cipher = self.cipher;
        let derived = match &self.resumed {
            Some(secret) => derive_empty(cipher, secret, "derived")?,
            None => derived_of_nothing(cipher)?,
        };
        let current = cipher.extract(Some(&derived), Some(shared));
        let traffic = |label| {
            let secret = expand_block(cipher, &current, label, transcript)?;
            Ok(Traffic { cipher, secret })
        };
        Ok(Handshake {
            client: traffic("c hs traffic")?,
            server: traffic("s hs traffic")?,
            cipher,
            current,
        })
    }
}

/// The handshake traffic secrets, and the secret that the master secret is derived from.
pub(crate) struct Handshake {
    pub(crate) client: Traffic,
    pub(crate) server: Traffic,
    cipher: Cipher,
    current: Expander,
}

impl fmt::Debug for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handshake(secret)")
    }
}

impl Handshake {
    /// The application secrets, from the transcript hash up to the server's Finished.
    pub(crate) fn application(&self, transcript: &[u8]) -> Result<Application, Refusal> {
        let cipher = self.cipher;
        let derived = derive_empty(cipher, &self.current, "derived")?;
        let master = cipher.extract(Some(&derived), None);
        let secret = |label| expand_block(cipher, &master, label, transcript);
        let traffic = |label| secret(label).map(|secret| Traffic { cipher, secret });
        Ok(Application {
            client: traffic("c ap traffic")?,
            server: traffic("s ap traffic")?,
            exporter: Exporter {
                cipher,
                secret: secret("exp master")?,
            },
            master: Master(cipher, master),
        })
    }
}

/// The application traffic secrets.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) client: Traffic,
    pub(crate) server: Traffic,
    pub(crate) exporter: Exporter,
    pub(crate) master: Master,
}

/// The master secret, kept to derive the secrets of tickets.
pub(crate) struct Master(Cipher, Expander);

impl fmt::Debug for Master {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Master(secret)")
    }
}

impl Master {
    /// The resumption secret, from the transcript hash up to the client's Finished.
    pub(crate) fn resumption(&self, transcript: &[u8]) -> Result<Resumption, Refusal> {
        let Self(cipher, master) = self;
        let secret = expand_block(*cipher, master, "res master", transcript)?;
        Ok(Resumption(*cipher, secret))
    }
}

/// The resumption secret, from which the secrets of all tickets of a connection are derived.
pub(crate) struct Resumption(Cipher, Block);

impl fmt::Debug for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resumption(secret)")
    }
}

impl Resumption {
    /// The secret of the ticket with this nonce (§4.6.1).
    pub(crate) fn secret(&self, nonce: &[u8]) -> Result<Block, Refusal> {
        let Self(cipher, secret) = self;
        expand_block(*cipher, &cipher.expander(secret), "resumption", nonce)
    }

    pub(crate) fn cipher(&self) -> Cipher {
        self.0
    }
}

/// The exporter secret, from which exported key material is derived (§7.5).
pub(crate) struct Exporter {
    cipher: Cipher,
    secret: Block,
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exporter(secret)")
    }
}

impl Exporter {
    pub(crate) fn export(
        &self,
        label: &str,
        context: &[u8],
        output: &mut [u8],
    ) -> Result<(), Refusal> {
        let expander = self.cipher.expander(&self.secret);
        let secret = derive_empty(self.cipher, &expander, label)?;
        let context = self.cipher.hash(context);
        let length = output.len();
        let info = Info::new("exporter", context.as_ref(), length)?;
        self.cipher.expander(&secret).fill(&info.parts(), output)
    }
}

/// The "derived" secret after an early secret without a ticket: a public constant of each hash.
fn derived_of_nothing(cipher: Cipher) -> Result<Block, Refusal> {
    static KNOWN: [OnceLock<Block>; 2] = [const { OnceLock::new() }; 2];
    let [sha256, sha384] = &KNOWN;
    let known = match cipher.hash_len() {
        32 => sha256,
        _ => sha384,
    };
    if let Some(derived) = known.get() {
        return Ok(derived.clone());
    }
    let derived = derive_empty(cipher, &cipher.extract(None, None), "derived")?;
    Ok(known.get_or_init(|| derived).clone())
}

/// Derive-Secret with no messages.
fn derive_empty(cipher: Cipher, expander: &Expander, label: &str) -> Result<Block, Refusal> {
    expand_block(cipher, expander, label, cipher.hash(&[]).as_ref())
}

/// HKDF-Expand-Label of one block.
fn expand_block(
    cipher: Cipher,
    expander: &Expander,
    label: &str,
    context: &[u8],
) -> Result<Block, Refusal> {
    let info = Info::new(label, context, cipher.hash_len())?;
    Ok(expander.block(&info.parts()))
}

/// HkdfLabel (§7.1).
struct Info<'a> {
    length: [u8; 2],
    label_length: [u8; 1],
    label: &'a [u8],
    context_length: [u8; 1],
    context: &'a [u8],
}

const PREFIX: &[u8] = b"tls13 ";

impl<'a> Info<'a> {
    fn new(label: &'a str, context: &'a [u8], length: usize) -> Result<Self, Refusal> {
        let overlong =
            |_| Refusal::internal("a label or an output of the key schedule is too long");
        let label_length = PREFIX.len().saturating_add(label.len());
        Ok(Self {
            length: u16::try_from(length).map_err(overlong)?.to_be_bytes(),
            label_length: [u8::try_from(label_length).map_err(overlong)?],
            label: label.as_bytes(),
            context_length: [u8::try_from(context.len()).map_err(overlong)?],
            context,
        })
    }

    fn parts(&self) -> [&[u8]; 6] {
        [
            &self.length,
            &self.label_length,
            PREFIX,
            self.label,
            &self.context_length,
            self.context,
        ]
    }
}

#[cfg(test)]
mod tests;
