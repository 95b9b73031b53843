//! All orders of some nodes, one at a time: there are n! of them.

use crate::rdf::Blank;

/// The orders of `nodes`, by Heap's algorithm without recursion.
pub(super) struct Permutations {
    nodes: Vec<Blank>,
    counters: Vec<usize>,
    at: usize,
    is_first: bool,
}

impl Permutations {
    pub fn new(nodes: Vec<Blank>) -> Self {
        Self {
            counters: vec![0; nodes.len()],
            nodes,
            at: 1,
            is_first: true,
        }
    }

    /// The next order.
    pub fn next(&mut self) -> Option<&[Blank]> {
        if self.is_first {
            self.is_first = false;
            return Some(&self.nodes);
        }
        while let Some(counter) = self.counters.get_mut(self.at) {
            if *counter < self.at {
                let other = if self.at.is_multiple_of(2) {
                    0
                } else {
                    *counter
                };
                *counter = counter.saturating_add(1);
                self.nodes.swap(other, self.at);
                self.at = 1;
                return Some(&self.nodes);
            }
            *counter = 0;
            self.at = self.at.saturating_add(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_order_comes_once() {
        for (length, count) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
            let mut all = Permutations::new((0..length).collect());
            let mut seen = BTreeSet::new();
            while let Some(order) = all.next() {
                assert!(seen.insert(order.to_vec()));
            }
            assert_eq!(seen.len(), count);
        }
    }
}
