//! What is varied: how both sides prove who they are, how a DID is looked up, and who meets whom.

use serde::{Deserialize, Serialize};

/// How one side proves who it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By a chain of three certificates.
    X509,
    /// By a verifiable credential.
    Vc,
    /// By a DID.
    Did,
}

impl Way {
    /// As in the paper's tables.
    pub const ALL: [Self; 3] = [Self::X509, Self::Vc, Self::Did];
    /// Those with a DID to look up.
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

/// Where a peer's DID document comes from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lookup {
    /// From memory.
    Cached,
    /// From a node of the registry, over TLS; each identity appears once, so that nothing of it is known before.
    Cold,
    /// From the peer itself with the registry's proof, under a checkpoint whose signatures were verified before.
    Stapled,
    /// The same under a checkpoint that is new to the verifier, each time.
    StapledUnknown,
}

impl Lookup {
    /// Those beside a cache.
    pub const BESIDE: [Self; 3] = [Self::Cold, Self::Stapled, Self::StapledUnknown];

    /// What its figures' names begin with.
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

/// How both sides prove who they are.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Cell {
    /// The server.
    pub server: Way,
    /// The client, if it does.
    pub client: Option<Way>,
}

impl Cell {
    /// The server alone proves who it is.
    #[must_use]
    pub const fn alone(server: Way) -> Self {
        Self {
            server,
            client: None,
        }
    }

    /// Both do.
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

    /// Whether nobody shows anything but certificates.
    #[must_use]
    pub fn is_x509(self) -> bool {
        (self.server, self.client.unwrap_or(self.server)) == (Way::X509, Way::X509)
    }
}

/// Who meets in a handshake.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Draw {
    /// The server's place among its side.
    pub server: usize,
    /// The client's.
    pub client: usize,
}

impl Draw {
    /// So many draws among so many identities a side, the same for the same seed.
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

/// Draws nobody twice. Identities are made by chance, so that one after the other is as random as any order.
#[derive(Debug, Default)]
pub struct Deck(usize);

impl Deck {
    /// So many draws, of those who were not drawn before; begins again when there is nobody left.
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

/// The step of SplitMix64: every number gives another that looks like chance.
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
    fn a_deck_gives_nobody_twice_before_everybody_was_drawn() {
        let mut deck = Deck::default();
        let mut drawn = deck.draw(3, 8);
        drawn.extend(deck.draw(5, 8));
        let places: Vec<usize> = drawn.iter().map(|draw| draw.server).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(deck.draw(1, 8)[0].server, 0);
    }
}
