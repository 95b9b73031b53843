//! The genesis of a network: its name, its first validators, its first members, its first rules.

use std::collections::BTreeSet;

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_did::selfsame::Network;
use selfsame_proof::validators::{Validator, ValidatorSet};

use crate::authority::Role;
use crate::encoding::public_key;
use crate::identifier::Identifier;
use crate::rules::Rules;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

const DOMAIN: &str = "selfsame/genesis/1";
const MAX_NAME_BYTES: usize = 64;
const MAX_MEMBERS: usize = 256;

/// The genesis of a network. Its digest is the network's identifier, so a DID is enough to check a genesis.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Genesis {
    name: String,
    time: UnixTime,
    validators: ValidatorSet,
    members: Vec<Member>,
    rules: Rules,
}

/// A first member of a network. The member's DID has one key, named `key-1`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    /// The member's key, Ed25519 or P-256; the identifier belongs to it.
    pub key: PublicKey,
    /// The member's role.
    pub role: Role,
}

impl Member {
    /// The identifier of the member's DID.
    pub fn id(&self) -> Option<Identifier> {
        Identifier::of_key(&self.key)
    }
}

impl Genesis {
    /// A network without members: no DID has a role in it, and none can get one.
    pub fn new(
        name: &str,
        time: UnixTime,
        validators: ValidatorSet,
        rules: Rules,
    ) -> Result<Self, Malformed> {
        let genesis = Self {
            name: name.to_owned(),
            time,
            validators,
            members: Vec::new(),
            rules,
        };
        genesis.check().map(|()| genesis)
    }

    /// The network with its first members; at least one must be a trustee.
    pub fn with_members(self, members: Vec<Member>) -> Result<Self, Malformed> {
        let genesis = Self { members, ..self };
        genesis.check().map(|()| genesis)
    }

    /// The encoded genesis, as published.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads a published genesis.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_cbor(bytes)
    }

    /// The identifier of the network: the digest of the encoded genesis.
    pub fn network(&self) -> Network {
        Network::of_genesis(&self.to_bytes())
    }

    /// The network's name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time of the genesis; no block is earlier.
    pub fn time(&self) -> UnixTime {
        self.time
    }

    /// The first validators, who sign the network's checkpoints.
    pub fn validators(&self) -> &ValidatorSet {
        &self.validators
    }

    /// The first members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The rules the network begins with.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    fn check(&self) -> Result<(), Malformed> {
        let printable = self
            .name
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'+');
        if !(1..=MAX_NAME_BYTES).contains(&self.name.len()) || !printable {
            return Err(Malformed(
                "a network's name is 1 to 64 printable characters without spaces and plus",
            ));
        }
        if !self.validators.agrees_on_an_engine() {
            return Err(Malformed(
                "all validators have a key in a consensus engine, or none has",
            ));
        }
        let mut validators = self.validators.validators().iter();
        validators.try_for_each(Validator::has_points)?;
        self.has_members_who_can_sign()?;
        self.rules.check()
    }

    fn has_members_who_can_sign(&self) -> Result<(), Malformed> {
        if self.members.len() > MAX_MEMBERS {
            return Err(Malformed("a network begins with at most 256 members"));
        }
        let signs = |member: &Member| {
            matches!(member.key.key_type(), KeyType::Ed25519 | KeyType::P256)
                && member.key.is_point()
                && member.id().is_some()
        };
        if !self.members.iter().all(signs) {
            return Err(Malformed("a member's key is Ed25519 or P-256"));
        }
        let ids: BTreeSet<_> = self.members.iter().map(Member::id).collect();
        if ids.len() != self.members.len() {
            return Err(Malformed("a member stands there twice"));
        }
        let governed = self
            .members
            .iter()
            .any(|member| member.role == Role::Trustee);
        match governed || self.members.is_empty() {
            true => Ok(()),
            false => Err(Malformed("where there are members, one is a trustee")),
        }
    }
}

impl CborItem for Genesis {
    fn write(&self, to: &mut CborWriter) {
        to.array(6).text(DOMAIN).text(&self.name).uint(self.time.0);
        to.items(&self.members)
            .item(&self.validators)
            .item(&self.rules);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(6)?;
        from.domain(DOMAIN)?;
        let genesis = Self {
            name: from.text()?.to_owned(),
            time: UnixTime(from.uint()?),
            members: from.items()?,
            validators: ValidatorSet::read(from)?,
            rules: Rules::read(from)?,
        };
        genesis.check().map(|()| genesis)
    }
}

impl CborItem for Member {
    fn write(&self, to: &mut CborWriter) {
        to.array(2)
            .bytes(&self.key.to_multicodec())
            .item(&self.role);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            key: public_key(from)?,
            role: Role::read(from)?,
        })
    }
}
