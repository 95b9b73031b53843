//! The parameters that vary: how both sides authenticate, how a DID is looked up, and which identities meet.

use serde::{Deserialize, Serialize};

/// How one side authenticates.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// With a chain of three certificates.
    X509,
    /// With a verifiable credential.
    Vc,
    /// With a DID.
    Did,
}

impl Way {
    /// All, in the order of the paper's tables.
    pub const ALL: [Self; 3] = [Self::X509, Self::Vc, Self::Did];
    /// Those that need a DID look-up.
    pub const WITH_DID: [Self; 2] = [Self::Vc, Self::Did];

    /// Its name in figures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X509 => "x509",
            Self::Vc => "vc",
            Self::Did => "did",
        }
    }
}

/// The source of a peer's DID document.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lookup {
    /// From memory.
    Cached,
    /// From a node of the registry, over TLS. Each identity appears once, so that nothing about it is cached.
    Cold,
    /// From the peer itself with the registry's proof, under a checkpoint whose signatures were verified before.
    Stapled,
    /// From the peer itself with the registry's proof, under a checkpoint that is new to the verifier each time.
    StapledUnknown,
}

impl Lookup {
    /// All except the cache.
    pub const BESIDE: [Self; 3] = [Self::Cold, Self::Stapled, Self::StapledUnknown];

    /// The prefix of its figures' names.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Cached => "",
            Self::Cold => "cold_",
            Self::Stapled => "stapled_",
            Self::StapledUnknown => "stapled_unknown_",
        }
    }
}

/// How both sides authenticate.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Cell {
    /// The server's identity.
    pub server: Way,
    /// The client's identity, if it authenticates.
    pub client: Option<Way>,
}

impl Cell {
    /// Only the server authenticates.
    #[must_use]
    pub const fn alone(server: Way) -> Self {
        Self {
            server,
            client: None,
        }
    }

    /// Both sides authenticate.
    #[must_use]
    pub const fn both(server: Way, client: Way) -> Self {
        Self {
            server,
            client: Some(client),
        }
    }

    /// The ten cells of the paper.
    pub const ALL: [Self; 10] = [
        Self::alone(Way::X509),
        Self::alone(Way::Vc),
        Self::alone(Way::Did),
        Self::both(Way::X509, Way::X509),
        Self::both(Way::Vc, Way::Vc),
        Self::both(Way::Did, Way::Did),
        Self::both(Way::X509, Way::Vc),
        Self::both(Way::X509, Way::Did),
        Self::both(Way::Vc, Way::X509),
        Self::both(Way::Did, Way::X509),
    ];

    /// Whether both sides use only certificates.
    #[must_use]
    pub fn is_x509(self) -> bool {
        (self.server, self.client.unwrap_or(self.server)) == (Way::X509, Way::X509)
    }
}

/// The identities that meet in a handshake.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Draw {
    /// The server's index on its side.
    pub server: usize,
    /// The client's index on its side.
    pub client: usize,
}

impl Draw {
    /// Makes `count` random draws among `size` identities on each side; equal seeds give equal draws.
    #[must_use]
    pub fn random(seed: u64, count: u64, size: usize) -> Vec<Self> {
        let at = |number: u64, which: u64| {
            let place = mixed(seed ^ number.wrapping_mul(2).wrapping_add(which));
            usize::try_from(place % (size.max(1) as u64)).unwrap_or(0)
        };
        (0..count)
            .map(|number| Self {
                server: at(number, 0),
                client: at(number, 1),
            })
            .collect()
    }
}

/// Draws each identity once. Identities are generated at random, so their order is as random as any other.
#[derive(Debug, Default)]
pub struct Deck(usize);

impl Deck {
    /// Draws `count` identities that were not drawn before; starts again when all were drawn.
    pub fn draw(&mut self, count: usize, size: usize) -> Vec<Draw> {
        let mut next = || {
            let place = self.0 % size.max(1);
            self.0 = self.0.wrapping_add(1);
            Draw {
                server: place,
                client: place,
            }
        };
        (0..count).map(|_| next()).collect()
    }
}

/// A step of SplitMix64: a number that looks random, computed from `number`.
#[must_use]
pub fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_same_for_one_seed_and_reach_everybody() {
        let drawn = Draw::random(7, 400, 8);
        assert_eq!(drawn[..5], Draw::random(7, 5, 8));
        for place in 0..8 {
            assert!(drawn.iter().any(|draw| draw.server == place));
            assert!(drawn.iter().any(|draw| draw.client == place));
        }
        assert!(drawn.iter().all(|draw| draw.server < 8 && draw.client < 8));
        assert!(drawn.iter().any(|draw| draw.server != draw.client));
    }

    #[test]
    fn a_deck_draws_every_peer_before_it_draws_one_twice() {
        let mut deck = Deck::default();
        let mut drawn = deck.draw(3, 8);
        drawn.extend(deck.draw(5, 8));
        let places: Vec<usize> = drawn.iter().map(|draw| draw.server).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(deck.draw(1, 8)[0].server, 0);
    }
}
