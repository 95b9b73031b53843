//! Consensus without an engine: validators that never fail, each with its own clock and its own machine.

use selfsame_crypto::time::UnixTime;
use selfsame_registry::{
    Applied, Block, Genesis, Head, Receipt, Refusal, StateMachine, Transaction, Writes,
};

/// Validators that decide one block after the other.
pub struct Consensus {
    validators: Vec<Validator>,
    /// The times in the validators' last votes, in seconds. The next header has their median.
    votes: Vec<i64>,
}

/// One validator: its ledger, and the error of its clock in seconds.
struct Validator {
    wrong_by: i64,
    machine: StateMachine,
    head: Head,
    state: Writes,
    nodes: Writes,
}

/// A decided block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decided {
    /// The time in its header.
    pub header: UnixTime,
    /// The head of each validator after the block.
    pub heads: Vec<Head>,
    /// The machine's results, equal for all validators.
    pub results: Vec<Result<Receipt, Refusal>>,
}

impl Consensus {
    /// Creates validators of equal power. `wrong_by` has the error of each clock, in seconds.
    pub fn new(genesis: &Genesis, wrong_by: &[i64]) -> Self {
        let validator = |wrong_by: &i64| Validator {
            wrong_by: *wrong_by,
            machine: StateMachine::new(genesis.clone()),
            head: Head::of_genesis(genesis),
            state: Writes::new(),
            nodes: Writes::new(),
        };
        Self {
            votes: vec![genesis.time().0.cast_signed(); wrong_by.len()],
            validators: wrong_by.iter().map(validator).collect(),
        }
    }

    /// Sets the error of a validator's clock, in seconds.
    pub fn set_clock(&mut self, validator: usize, wrong_by: i64) {
        self.validators[validator].wrong_by = wrong_by;
    }

    /// Makes the validators vote for the block before the first at real time `now`.
    pub fn begin(&mut self, now: UnixTime) {
        let header = self.header();
        self.vote(now, header);
    }

    /// Decides a block at real time `now`.
    ///
    /// # Panics
    /// If the machine cannot continue, or two validators disagree.
    pub fn decide(&mut self, now: UnixTime, transactions: &[Transaction]) -> Decided {
        let header = self.header();
        let mut applied: Vec<Applied> = Vec::with_capacity(self.validators.len());
        for validator in &mut self.validators {
            applied.push(validator.apply(header, transactions));
        }
        for other in &applied {
            assert_eq!(other, &applied[0], "two validators do not agree");
        }
        self.vote(now, header);
        let heads = self.validators.iter();
        Decided {
            header,
            heads: heads.map(|validator| validator.head.clone()).collect(),
            results: applied.swap_remove(0).results,
        }
    }

    fn vote(&mut self, now: UnixTime, header: UnixTime) {
        let vote = |validator: &Validator| {
            // CometBFT, BFT time: the time of a vote is not before its block, whatever the clock says.
            let clock = now.0.cast_signed() + validator.wrong_by;
            clock.max(header.0.cast_signed())
        };
        self.votes = self.validators.iter().map(vote).collect();
    }

    /// CometBFT, BFT time: the median of the votes for the previous block, weighted by power; of two, the lower one.
    fn header(&self) -> UnixTime {
        let mut votes = self.votes.clone();
        votes.sort_unstable();
        let median = votes[votes.len().div_ceil(2) - 1];
        UnixTime(median.unsigned_abs())
    }
}

impl Validator {
    fn apply(&mut self, time: UnixTime, transactions: &[Transaction]) -> Applied {
        let block = Block { time, transactions };
        let applied = self
            .machine
            .apply(&self.head, &block, &self.state, &self.nodes)
            .expect("the machine goes on");
        self.state.extend(applied.objects.clone());
        self.state.extend(applied.marks.clone());
        self.nodes.extend(applied.tree.nodes.clone());
        for stale in &applied.tree.stale {
            self.nodes.remove(stale);
        }
        self.head = applied.head.clone();
        applied
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selfsame_crypto::{KeyType, PrivateKey};
    use selfsame_proof::validators::{Validator, ValidatorSet};
    use selfsame_registry::{Content, Identifier, Operation, Rules, UnsignedTransaction};

    use super::*;

    const BEGAN: u64 = 1_700_000_000;
    const MINUTES: i64 = 600;

    fn genesis() -> Genesis {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let validator = Validator {
            name: "one".to_owned(),
            key: key.public().clone(),
            power: 1,
            consensus: None,
        };
        let set = ValidatorSet::new(vec![validator]).unwrap();
        Genesis::new("test", UnixTime(BEGAN), set, Rules::default()).unwrap()
    }

    fn creation(genesis: &Genesis) -> Transaction {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let id = Identifier::of_key(key.public()).unwrap();
        let content = Content::of_key("key-1", key.public().clone());
        let unsigned =
            UnsignedTransaction::new(&genesis.network(), id, 0, Operation::CreateDid(content));
        let signature = key.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed("key-1", &signature).unwrap()
    }

    /// The difference between the third block's header and real time, in seconds.
    fn off_by(wrong_by: [i64; 4]) -> i64 {
        let genesis = genesis();
        let mut consensus = Consensus::new(&genesis, &wrong_by);
        let mut off = 0;
        for second in [1_000, 1_010, 1_020] {
            let decided = consensus.decide(UnixTime(BEGAN + second), &[creation(&genesis)]);
            assert!(decided.results.iter().all(Result::is_ok));
            // A header has the time of the votes for the previous block, ten seconds ago.
            off = decided.header.0.cast_signed() - (BEGAN + second - 10).cast_signed();
        }
        off
    }

    #[test]
    fn one_clock_of_four_that_is_wrong_by_minutes_moves_no_header() {
        for wrong_by in [MINUTES, -MINUTES] {
            for validator in 0..4 {
                let mut clocks = [0; 4];
                clocks[validator] = wrong_by;
                assert_eq!(off_by(clocks), 0, "{clocks:?}");
            }
        }
    }

    #[test]
    fn headers_are_wrong_by_minutes_only_where_half_of_the_clocks_are() {
        assert_eq!(off_by([MINUTES, MINUTES, 0, 0]), 0);
        assert_eq!(off_by([MINUTES, MINUTES, MINUTES, 0]), MINUTES);
        assert_eq!(off_by([-MINUTES, -MINUTES, 0, 0]), -MINUTES);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Whatever the clocks do, the ledger's time never goes back, and all validators agree.
        #[test]
        fn whatever_the_clocks_do_time_never_goes_back_and_all_agree(
            clocks in proptest::collection::vec(proptest::array::uniform4(-1_200_i64..1_200), 1..8)
        ) {
            let genesis = genesis();
            let mut consensus = Consensus::new(&genesis, &[0; 4]);
            let (mut now, mut before) = (BEGAN + 10_000, BEGAN);
            for wrong_by in clocks {
                for (validator, wrong_by) in wrong_by.into_iter().enumerate() {
                    consensus.set_clock(validator, wrong_by);
                }
                let decided = consensus.decide(UnixTime(now), &[creation(&genesis)]);
                let receipt = decided.results[0].unwrap();
                prop_assert!(receipt.time.0 >= before);
                prop_assert_eq!(receipt.time, decided.header);
                let hash = decided.heads[0].app_hash();
                prop_assert!(decided.heads.iter().all(|head| head.app_hash() == hash));
                (now, before) = (now + 1, receipt.time.0);
            }
        }
    }
}
